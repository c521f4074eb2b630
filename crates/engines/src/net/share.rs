//! Who does what where several ranks race: each has contestants of its own, and the first to be done ends the race.

use super::contest::Contestant;
use super::lineup::Lineup;
use crate::strategy::{Order, Strategy};

/// What one rank tries.
#[derive(Clone, Debug)]
pub enum Share {
    /// A contest of some contestants; there is at least one.
    Contest(Lineup),
    /// An exploration round by round, in a contestant's order and grouping.
    Rounds(Box<Contestant>, Strategy),
    /// Nothing: others try everything there is.
    Nothing,
}

/// Strategies for ranks that no contestant is left for, and that no contestant has.
const INSTEAD: [Strategy; 2] =
    [Strategy { order: Order::Chaining, frontier: false }, Strategy { order: Order::Par, frontier: true }];

/// What `rank` of `ranks` tries where the user wants `strategy`; rank 0 has the favourite.
///
/// Contestants are dealt out one by one. Where there are fewer of them than ranks, the other ranks go round by round: under
/// [`Order::Auto`] in ways that no contestant has, in the favourite's order and then in the next one. A strategy that the
/// user names is the only one, so ranks that it leaves nothing for have none.
///
/// # Panics
///
/// If there is no contestant, or no such rank.
#[must_use]
pub fn share(lineup: &Lineup, strategy: Strategy, rank: usize, ranks: usize) -> Share {
    let contestants = &lineup.contestants;
    assert!(!contestants.is_empty() && rank < ranks, "a rank of those there are, and somebody to take part");
    let own: Vec<Contestant> = contestants.iter().skip(rank).step_by(ranks).cloned().collect();
    match strategy.order {
        Order::Bfs | Order::Par | Order::Chaining => in_rounds(contestants, strategy, rank),
        _ if !own.is_empty() => Share::Contest(Lineup { contestants: own, ..lineup.clone() }),
        Order::Auto => {
            let after = rank - contestants.len();
            in_rounds(contestants, INSTEAD[after % INSTEAD.len()], after / INSTEAD.len())
        }
        Order::Saturation | Order::Explicit => Share::Nothing,
    }
}

/// A strategy in one of the orders that there are, by number: contestants that differ otherwise are the same here.
fn in_rounds(contestants: &[Contestant], strategy: Strategy, number: usize) -> Share {
    let is_new = |&at: &usize| {
        let same =
            |other: &Contestant| (&other.order, other.grouped) == (&contestants[at].order, contestants[at].grouped);
        !contestants[..at].iter().any(same)
    };
    match (0..contestants.len()).filter(is_new).nth(number) {
        Some(at) => Share::Rounds(Box::new(contestants[at].clone()), strategy),
        None => Share::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::super::way::Way;
    use super::*;
    use tremula_diagrams::mdd::Saturation;

    /// Contestants with these names; those with the same letter have the same order.
    fn lineup(names: &[&str]) -> Lineup {
        let contestant = |name: &&str| Contestant {
            name: (*name).to_owned(),
            order: vec![name.bytes().next().unwrap().into()],
            way: Way::Saturation(Saturation { early: name.len() > 1 }),
            grouped: false,
        };
        Lineup { groups: Vec::new(), bounds: vec![Some(1)], contestants: names.iter().map(contestant).collect() }
    }

    /// All shares in words.
    fn shares(names: &[&str], strategy: &str, ranks: usize) -> Vec<String> {
        let (lineup, strategy) = (lineup(names), strategy.parse().unwrap());
        let in_words = |rank| match share(&lineup, strategy, rank, ranks) {
            Share::Contest(Lineup { bounds, contestants, .. }) => {
                assert_eq!(bounds, lineup.bounds);
                contestants.into_iter().map(|contestant| contestant.name).collect::<Vec<_>>().join(" ")
            }
            Share::Rounds(contestant, strategy) => format!("{strategy} {}", contestant.name),
            Share::Nothing => "nothing".to_owned(),
        };
        (0..ranks).map(in_words).collect()
    }

    #[test]
    fn contestants_are_dealt_out() {
        let names = ["a", "a2", "b", "c", "d"];
        for strategy in ["auto", "saturation", "explicit"] {
            assert_eq!(shares(&names, strategy, 1), ["a a2 b c d"]);
            assert_eq!(shares(&names, strategy, 2), ["a b d", "a2 c"]);
            assert_eq!(shares(&names, strategy, 5), names);
        }
    }

    #[test]
    fn ranks_without_contestants_go_round_by_round() {
        let expected = ["a", "a2", "b", "chaining-full a", "par a", "chaining-full b", "par b", "nothing"];
        assert_eq!(shares(&["a", "a2", "b"], "auto", 8), expected);
        for strategy in ["saturation", "explicit"] {
            assert_eq!(shares(&["a", "b"], strategy, 3), ["a", "b", "nothing"]);
        }
    }

    #[test]
    fn a_strategy_is_tried_once_in_each_order() {
        assert_eq!(shares(&["a", "a2", "b"], "bfs", 3), ["bfs a", "bfs b", "nothing"]);
        assert_eq!(shares(&["a", "b"], "chaining-full", 1), ["chaining-full a"]);
    }
}
