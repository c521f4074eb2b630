//! Ways to explore that are compared with each other.

use std::str::FromStr;

/// More arguments of `reach`, and what to call them. Written as in `wide=--tune lanes=16`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// As tables call it.
    pub name: String,
    /// What is added to the command line.
    pub arguments: Vec<String>,
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Variant, String> {
        let problem = || "expected NAME=ARGUMENTS, such as wide=--tune=lanes=16".to_owned();
        let (name, arguments) = text.split_once('=').filter(|(name, _)| is_name(name)).ok_or_else(problem)?;
        Ok(Variant { name: name.to_owned(), arguments: words(arguments) })
    }
}

/// Anything but an option whose value was meant to be a variant.
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('-') && !text.contains(char::is_whitespace)
}

/// Words, separated by blanks; there is no way to put a blank into one.
pub fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_equals_sign_ends_the_name() {
        let wide: Variant = "wide=--tune=lanes=16 --stress  5".parse().unwrap();
        assert_eq!((wide.name.as_str(), wide.arguments), ("wide", words("--tune=lanes=16 --stress 5")));
        assert_eq!("plain=".parse::<Variant>().unwrap().arguments, [""; 0]);
        for text in ["", "plain", "=--stats", "--tune=lanes=16", "a b="] {
            assert!(text.parse::<Variant>().is_err(), "{text}");
        }
    }
}
