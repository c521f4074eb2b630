//! Numbers for people: grouped digits, short amounts, bytes, durations.

use std::time::Duration;

/// Decimal digits in groups of three.
pub fn grouped(digits: &str) -> String {
    let first = digits.len() % 3;
    let (head, rest) = digits.split_at(first);
    let groups = rest.as_bytes().chunks(3).map(|group| std::str::from_utf8(group).expect("digits are ASCII"));
    std::iter::once(head).filter(|head| !head.is_empty()).chain(groups).collect::<Vec<_>>().join(",")
}

/// Decimal digits with their magnitude only, as in `1.24e27`, rounded down; short ones stay as they are.
pub fn magnitude(digits: &str) -> String {
    if digits.len() <= 6 {
        return digits.to_owned();
    }
    format!("{}.{}e{}", &digits[..1], &digits[1..3], digits.len() - 1)
}

/// An amount in at most five characters: `999`, `1.2k`, `34M`, `5.6G`.
pub fn short(amount: u64) -> String {
    scaled(amount as f64, 1000.0, ["", "k", "M", "G", "T", "P", "E"])
}

/// Bytes in at most five characters, in powers of 1024: `512`, `1.2K`, `34M`.
pub fn short_bytes(bytes: u64) -> String {
    scaled(bytes as f64, 1024.0, ["", "K", "M", "G", "T", "P", "E"])
}

/// Bytes with their unit: `34 MiB`.
pub fn bytes(bytes: u64) -> String {
    scaled(bytes as f64, 1024.0, [" bytes", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"])
}

fn scaled(mut value: f64, step: f64, units: [&str; 7]) -> String {
    let mut unit = 0;
    // Amounts that would be rounded up to the next unit belong there.
    while value >= step - 0.5 && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let one_decimal = unit > 0 && value < 9.95;
    if one_decimal { format!("{value:.1}{}", units[unit]) } else { format!("{value:.0}{}", units[unit]) }
}

/// A duration as on a clock: `3.2s`, `59s`, `2m05s`, `3h04m`.
pub fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..=9 => format!("{:.1}s", duration.as_secs_f64()),
        10..=59 => format!("{seconds}s"),
        60..=3599 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// Hundredths of a part in a whole, without decimals: `43%`.
pub fn percent(part: u64, whole: u64) -> String {
    format!("{:.0}%", ratio(part, whole) * 100.0)
}

/// A part of a whole; nothing of nothing is nothing.
pub fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_from_the_right() {
        assert_eq!(grouped("1"), "1");
        assert_eq!(grouped("123"), "123");
        assert_eq!(grouped("1234567"), "1,234,567");
    }

    #[test]
    fn magnitudes_keep_three_digits() {
        assert_eq!(magnitude("999999"), "999999");
        assert_eq!(magnitude("41465543"), "4.14e7");
    }

    #[test]
    fn amounts_are_short() {
        for (amount, text) in [(0, "0"), (999, "999"), (1000, "1.0k"), (99_960, "100k"), (999_700, "1.0M")] {
            assert_eq!(short(amount), text);
        }
        assert_eq!(bytes(64 << 20), "64 MiB");
        assert_eq!(short_bytes(1536), "1.5K");
        assert!(short(u64::MAX).len() <= 5);
    }

    #[test]
    fn clocks_change_units() {
        let show = |seconds| clock(Duration::from_secs_f64(seconds));
        assert_eq!([show(3.25), show(59.9), show(125.0), show(11_040.0)], ["3.2s", "59s", "2m05s", "3h04m"]);
    }
}
