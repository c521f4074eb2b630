//! How many processes explore, with how many workers each.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How many processes explore, with how many workers each. Written as in `2x4`: two ranks of four workers.
///
/// ```
/// use tremula_studies::reach_study::Shape;
/// let shape: Shape = "2x4".parse()?;
/// assert_eq!((shape.ranks, shape.workers, shape.all_workers()), (2, 4, 8));
/// # Ok::<(), String>(())
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Processes.
    pub ranks: u32,
    /// Workers of each of them.
    pub workers: u32,
}

impl Shape {
    /// More ranks, and more workers of each, than there are anywhere.
    pub const MOST: u32 = 1024;

    /// Workers of all ranks together.
    pub fn all_workers(self) -> u32 {
        self.ranks * self.workers
    }

    /// Does it take a launcher?
    pub fn has_several_ranks(self) -> bool {
        self.ranks > 1
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}x{}", self.ranks, self.workers)
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        let number = |text: &str| text.parse().ok().filter(|number| (1..=Shape::MOST).contains(number));
        let shape = |(ranks, workers)| Some(Shape { ranks: number(ranks)?, workers: number(workers)? });
        let problem = || format!("expected RANKSxWORKERS, such as 2x4, each from 1 to {}", Shape::MOST);
        text.split_once('x').and_then(shape).ok_or_else(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read_as_they_are_written() {
        for text in ["1x1", "2x1", "16x1024"] {
            assert_eq!(text.parse::<Shape>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "2", "x", "2x", "x2", "0x1", "1x0", "1x1025", "-1x1", "1x1x1", "1 x 1", "two x one"] {
            assert!(text.parse::<Shape>().unwrap_err().contains("such as 2x4"), "{text}");
        }
    }
}
