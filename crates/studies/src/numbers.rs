//! Numbers for readers.

/// Four significant digits, but no more than six after the point.
pub(crate) fn significant(number: f64) -> String {
    let before_point = if number > 0.0 { number.log10().floor() as i32 + 1 } else { 1 };
    let decimals = (4 - before_point).clamp(0, 6) as usize;
    format!("{number:.decimals$}")
}

/// A duration in the unit that suits it.
pub(crate) fn nanoseconds(nanoseconds: f64) -> String {
    with_unit(nanoseconds, ["ns", "µs", "ms", "s"])
}

/// A length in the unit that suits it.
pub(crate) fn bytes(bytes: f64) -> String {
    with_unit(bytes, ["B", "kB", "MB", "GB"])
}

/// A number in the unit that suits it; each is a thousand of the one before.
fn with_unit(number: f64, units: [&str; 4]) -> String {
    let (value, unit) = match number {
        ..1e3 => (number, units[0]),
        ..1e6 => (number / 1e3, units[1]),
        ..1e9 => (number / 1e6, units[2]),
        _ => (number / 1e9, units[3]),
    };
    let is_whole = (value - value.round()).abs() < 1e-6;
    let decimals = usize::from(value < 10.0 && !is_whole);
    format!("{value:.decimals$} {unit}")
}

/// A count with a comma at every thousand.
pub(crate) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut result = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            result.push(',');
        }
        result.push(digit);
    }
    result
}

/// A count in at most eight characters, unless it is huge.
pub(crate) fn short_count(number: u64) -> String {
    if number < 1_000_000 { count(number) } else { format!("{:.1} M", number as f64 / 1e6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact_enough() {
        let times = [0.001_234_4, 0.123_46, 1.234_6, 123.46, 12_345.6].map(significant);
        assert_eq!(times, ["0.001234", "0.1235", "1.235", "123.5", "12346"]);
        let durations = [100.0, 1e3, 1.5e3, 1.5e4, 2e6, 3e9].map(nanoseconds);
        assert_eq!(durations, ["100 ns", "1 µs", "1.5 µs", "15 µs", "2 ms", "3 s"]);
        assert_eq!([8.0, 1024.0, 524_288.0].map(bytes), ["8 B", "1.0 kB", "524 kB"]);
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([999_999, 1_234_567].map(short_count), ["999,999", "1.2 M"]);
    }
}
