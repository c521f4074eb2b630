//! Bytes as words, which is what ranks exchange.

/// The length, then eight bytes a word.
#[must_use]
pub fn to_words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    std::iter::once(bytes.len() as u64).chain(bytes.chunks(8).map(word)).collect()
}

/// The bytes that [`to_words`] made these words of.
///
/// # Panics
///
/// If there is no word at all.
#[must_use]
pub fn to_bytes(words: &[u64]) -> Vec<u8> {
    let mut bytes: Vec<u8> = words[1..].iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(words[0] as usize);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_as_words() {
        for length in 0..20u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(77)).collect();
            assert_eq!(to_bytes(&to_words(&bytes)), bytes);
        }
    }
}
