//! Names of the strategies.

use std::fmt;
use std::str::FromStr;

/// In which order images are taken.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// Level by level, all relations in one sweep over the set.
    Bfs,
    /// Level by level, each relation by itself, results united in a tree.
    Par,
    /// Relation after relation, each on what is known by then.
    Chaining,
    /// Close the set under the deepest relations first, then under more and more of them.
    Saturation,
    /// State by state; for Petri nets.
    Explicit,
    /// Find out which of the others pays, while running.
    Auto,
}

/// A way to explore.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Strategy {
    /// The order of work.
    pub order: Order,
    /// Take images of what the last round found (true) or of everything known (false).
    pub frontier: bool,
}

impl Strategy {
    /// Let the engine choose.
    pub const AUTO: Strategy = Strategy { order: Order::Auto, frontier: true };

    /// List states one by one, which only Petri nets can.
    pub const EXPLICIT: Strategy = Strategy { order: Order::Explicit, frontier: true };

    /// Every strategy on diagrams.
    pub const ALL: [Strategy; 7] = [
        Strategy { order: Order::Bfs, frontier: true },
        Strategy { order: Order::Bfs, frontier: false },
        Strategy { order: Order::Par, frontier: true },
        Strategy { order: Order::Par, frontier: false },
        Strategy { order: Order::Chaining, frontier: true },
        Strategy { order: Order::Chaining, frontier: false },
        Strategy { order: Order::Saturation, frontier: true },
    ];
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self.order {
            Order::Bfs => "bfs",
            Order::Par => "par",
            Order::Chaining => "chaining",
            Order::Saturation => "saturation",
            Order::Explicit => "explicit",
            Order::Auto => "auto",
        };
        f.write_str(order)?;
        let has_variant = matches!(self.order, Order::Bfs | Order::Par | Order::Chaining);
        if self.frontier || !has_variant { Ok(()) } else { f.write_str("-full") }
    }
}

/// The text names no strategy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "unknown strategy `{0}`: expected auto, saturation, explicit, bfs, par or chaining, the last three also with the \
     ending -full"
)]
pub struct UnknownStrategy(String);

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<Strategy, UnknownStrategy> {
        [Strategy::AUTO, Strategy::EXPLICIT]
            .into_iter()
            .chain(Strategy::ALL)
            .find(|strategy| strategy.to_string() == text)
            .ok_or_else(|| UnknownStrategy(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for strategy in [Strategy::AUTO, Strategy::EXPLICIT].into_iter().chain(Strategy::ALL) {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        assert!("bfs-fast".parse::<Strategy>().is_err());
    }
}
