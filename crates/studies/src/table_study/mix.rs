//! How many operations look for a node that is there, and how many make a new one.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Shares of operations, in per cent: written `80/20` for 80 finds and 20 inserts. There are always inserts.
///
/// ```
/// use tremula_studies::table_study::Mix;
/// let mix: Mix = "80/20".parse().unwrap();
/// assert_eq!((mix.finds(), mix.inserts()), (80, 20));
/// assert!("80/30".parse::<Mix>().is_err());
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Mix {
    inserts: u64,
}

impl Mix {
    /// As many finds as inserts.
    pub const EVEN: Mix = Mix { inserts: 50 };
    /// Mostly finds.
    pub const READ_HEAVY: Mix = Mix { inserts: 20 };
    /// Mostly inserts.
    pub const WRITE_HEAVY: Mix = Mix { inserts: 80 };

    /// Operations in a hundred that look for a node that is there.
    pub fn finds(self) -> u64 {
        100 - self.inserts
    }

    /// Operations in a hundred that make a new node.
    pub fn inserts(self) -> u64 {
        self.inserts
    }
}

impl FromStr for Mix {
    type Err = String;

    fn from_str(text: &str) -> Result<Mix, String> {
        let shares =
            text.split_once('/').and_then(|(finds, inserts)| Some((finds.parse().ok()?, inserts.parse().ok()?)));
        match shares {
            Some((finds, inserts @ 1..=100)) if u64::checked_add(finds, inserts) == Some(100) => Ok(Mix { inserts }),
            _ => Err("expected per cent of finds and inserts, such as 80/20".to_owned()),
        }
    }
}

impl TryFrom<String> for Mix {
    type Error = String;

    fn try_from(text: String) -> Result<Mix, String> {
        text.parse()
    }
}

impl From<Mix> for String {
    fn from(mix: Mix) -> String {
        mix.to_string()
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.finds(), self.inserts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_are_read_as_they_are_written() {
        for mix in [Mix::EVEN, Mix::READ_HEAVY, Mix::WRITE_HEAVY, Mix { inserts: 100 }] {
            assert_eq!(mix.to_string().parse(), Ok(mix));
        }
        for text in ["", "50", "100/0", "60/60", "-1/101", "18446744073709551615/1", "50/50/0", "a/b"] {
            assert!(text.parse::<Mix>().is_err(), "{text}");
        }
    }
}
