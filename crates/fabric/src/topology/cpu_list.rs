//! Lists of processors as Linux writes them: `0-3,8,10-11`.

/// More processors than any machine has; keeps a damaged file from asking for all memory.
const MOST_CPUS: usize = 1 << 16;

/// The processors in a list, ascending and each once; nothing if the text is not a list or the list is empty.
pub(super) fn parse(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for item in text.trim().split(',') {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= MOST_CPUS {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_ranges_and_single_numbers() {
        assert_eq!(parse("0\n"), Some(vec![0]));
        assert_eq!(parse("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse("5,0-1,1"), Some(vec![0, 1, 5]));
    }

    #[test]
    fn other_texts_are_refused() {
        for wrong in ["", "\n", "a", "1-", "-1", "3-1", "1,,2", "0-99999999999999999999", "0-18446744073709551615"] {
            assert_eq!(parse(wrong), None, "{wrong:?}");
        }
    }
}
