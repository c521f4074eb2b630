//! A few measurements of the same thing, as median and extremes.

use serde::{Deserialize, Serialize};

/// Measurements of the same thing.
///
/// ```
/// use tremula_studies::Spread;
/// let spread = Spread::of(vec![3.0, 1.0, 2.0]).unwrap();
/// assert_eq!((spread.least, spread.median, spread.greatest), (1.0, 2.0, 3.0));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The middle one, or the mean of the two in the middle.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
    /// All of them, as they came.
    pub all: Vec<f64>,
}

impl Spread {
    /// Of at least one number.
    pub fn of(all: Vec<f64>) -> Option<Spread> {
        let mut sorted = all.clone();
        sorted.sort_by(f64::total_cmp);
        let (&least, &greatest) = (sorted.first()?, sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 };
        Some(Spread { median, least, greatest, all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_number_of_measurements_has_a_median_between_two() {
        assert_eq!(Spread::of(vec![4.0, 1.0, 2.0, 8.0]).unwrap().median, 3.0);
        assert_eq!(Spread::of(vec![]), None);
    }
}
