//! Axes: which values they cover, where their ticks are and what stands beside these.

use crate::numbers;

/// One axis of a panel. It covers all values that the panel shows.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// How values lie on it.
    pub scale: Scale,
    /// How values are written.
    pub unit: Unit,
}

/// How values lie on an axis.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, from zero.
    Linear,
    /// Evenly, from zero, with ticks at whole numbers only.
    Whole,
    /// Logarithmically, from one power of ten to another. Values must be above zero.
    Decades,
}

/// How values are written.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// As numbers.
    Number,
    /// One is 100 %.
    Percent,
    /// Seconds, written as milliseconds and so on.
    Seconds,
    /// Nanoseconds, written as microseconds and so on.
    Nanoseconds,
    /// Bytes, written as kilobytes and so on.
    Bytes,
}

impl Axis {
    /// An axis.
    pub fn new(label: &str, scale: Scale, unit: Unit) -> Axis {
        Axis { label: label.to_owned(), scale, unit }
    }
}

/// About so many ticks are wanted.
const TICKS: f64 = 5.0;

/// An axis that has seen its values.
pub(super) struct Ruler {
    logarithmic: bool,
    from: f64,
    to: f64,
    pub(super) ticks: Vec<(f64, String)>,
}

impl Ruler {
    pub(super) fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Ruler {
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        match axis.scale {
            Scale::Linear => Ruler::even(greatest(&values), 0.0, axis.unit),
            Scale::Whole => Ruler::even(greatest(&values), 1.0, axis.unit),
            Scale::Decades => Ruler::decades(&values, axis.unit),
        }
    }

    fn even(greatest: f64, least_step: f64, unit: Unit) -> Ruler {
        let step = round_step(greatest / TICKS).max(least_step);
        let count = (greatest / step - 1e-9).ceil().max(1.0);
        let ticks = (0..=count as usize).map(|at| at as f64 * step).map(|value| (value, unit.write(value, step)));
        Ruler { logarithmic: false, from: 0.0, to: count * step, ticks: ticks.collect() }
    }

    fn decades(values: &[f64], unit: Unit) -> Ruler {
        let above_zero = || values.iter().copied().filter(|&value| value > 0.0);
        let least = above_zero().fold(f64::INFINITY, f64::min).min(greatest(values));
        let first = least.log10().floor() as i32;
        let last = (greatest(values).log10().ceil() as i32).max(first + 1);
        let ticks = (first..=last).map(|power| 10_f64.powi(power)).map(|value| (value, unit.write(value, value)));
        Ruler { logarithmic: true, from: 10_f64.powi(first), to: 10_f64.powi(last), ticks: ticks.collect() }
    }

    /// Where a value lies: zero at the axis' beginning, one at its end.
    pub(super) fn share(&self, value: f64) -> f64 {
        if self.logarithmic {
            (value.max(self.from) / self.from).log10() / (self.to / self.from).log10()
        } else {
            (value - self.from) / (self.to - self.from)
        }
    }

    /// Both ends.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.from, self.to)
    }
}

/// The greatest of the values, or one where there is none above zero.
fn greatest(values: &[f64]) -> f64 {
    let greatest = values.iter().copied().fold(0.0, f64::max);
    if greatest > 0.0 { greatest } else { 1.0 }
}

/// The next of …, 0.1, 0.2, 0.5, 1, 2, 5, ….
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powi(step.log10().floor() as i32);
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= step * (1.0 - 1e-9));
    digit.unwrap_or(10.0) * power
}

impl Unit {
    /// `value`, as exactly as ticks that are `step` apart need it.
    fn write(self, value: f64, step: f64) -> String {
        match self {
            Unit::Number => format!("{value:.*}", decimals(step)),
            Unit::Percent => format!("{:.*} %", decimals(100.0 * step), 100.0 * value),
            Unit::Seconds | Unit::Nanoseconds | Unit::Bytes if value == 0.0 => "0".to_owned(),
            Unit::Seconds | Unit::Nanoseconds | Unit::Bytes => self.write_exactly(value),
        }
    }

    /// `value` as a reader wants to know it.
    pub(super) fn write_exactly(self, value: f64) -> String {
        match self {
            Unit::Number => numbers::significant(value),
            Unit::Percent => format!("{:.1} %", 100.0 * value),
            Unit::Seconds => numbers::nanoseconds(1e9 * value),
            Unit::Nanoseconds => numbers::nanoseconds(value),
            Unit::Bytes => numbers::bytes(value),
        }
    }
}

fn decimals(step: f64) -> usize {
    (-(step.log10() + 1e-9).floor()).max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(scale: Scale, unit: Unit, values: &[f64]) -> Vec<String> {
        let ruler = Ruler::new(&Axis { label: String::new(), scale, unit }, values.iter().copied());
        ruler.ticks.into_iter().map(|tick| tick.1).collect()
    }

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        assert_eq!(ticks(Scale::Linear, Unit::Number, &[0.1, 0.93]), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(ticks(Scale::Linear, Unit::Number, &[16.0]), ["0", "5", "10", "15", "20"]);
        assert_eq!(ticks(Scale::Whole, Unit::Number, &[2.0]), ["0", "1", "2"]);
        assert_eq!(ticks(Scale::Linear, Unit::Percent, &[1.0]), ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]);
        assert_eq!(ticks(Scale::Linear, Unit::Seconds, &[0.0024]), ["0", "500 µs", "1 ms", "1.5 ms", "2 ms", "2.5 ms"]);
        assert_eq!(ticks(Scale::Decades, Unit::Nanoseconds, &[250.0, 3e4]), ["100 ns", "1 µs", "10 µs", "100 µs"]);
        assert_eq!(ticks(Scale::Decades, Unit::Bytes, &[250.0, 3e4]), ["100 B", "1 kB", "10 kB", "100 kB"]);
    }

    #[test]
    fn odd_values_do_no_harm() {
        for scale in [Scale::Linear, Scale::Whole, Scale::Decades] {
            for values in [&[][..], &[0.0], &[f64::NAN, 1.0], &[1e-300], &[1e300]] {
                assert!((2..400).contains(&ticks(scale, Unit::Number, values).len().max(2)), "{scale:?} {values:?}");
            }
        }
    }

    #[test]
    fn shares_run_from_zero_to_one() {
        let ruler = Ruler::decades(&[10.0, 1000.0], Unit::Number);
        assert_eq!([10.0, 100.0, 1000.0].map(|value| ruler.share(value)), [0.0, 0.5, 1.0]);
    }
}
