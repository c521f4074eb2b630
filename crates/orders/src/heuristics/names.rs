//! Names of orders, as they are written on a command line.

use std::fmt;
use std::str::FromStr;

/// A way to find an order.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Heuristic {
    /// The order of the file.
    Given,
    /// FORCE, starting from the order of the file.
    Force,
    /// Sloan's order of the graph of places.
    Sloan,
    /// Sloan's order of the graph of places and transitions.
    SloanBipartite,
    /// Cuthill and McKee's order of the graph of places.
    CuthillMckee,
    /// Cuthill and McKee's order of the graph of places and transitions.
    CuthillMckeeBipartite,
    /// Greedy, by Noack's weights.
    Noack,
    /// Greedy, by Tovchigrechko's weights.
    Tovchigrechko,
    /// One P-semiflow after the other, each the one that has most in common with those before.
    PChaining,
    /// P-semiflows along the distance from one end of the net.
    GradientP,
    /// Unit after unit, as the tree of units has them.
    Units,
    /// Unit after unit, drawn together by FORCE.
    UnitsForce,
    /// Units along the distance from one end of the net.
    GradientUnits,
}

impl Heuristic {
    /// All heuristics.
    pub const ALL: [Heuristic; 13] = [
        Heuristic::Given,
        Heuristic::Force,
        Heuristic::Sloan,
        Heuristic::SloanBipartite,
        Heuristic::CuthillMckee,
        Heuristic::CuthillMckeeBipartite,
        Heuristic::Noack,
        Heuristic::Tovchigrechko,
        Heuristic::PChaining,
        Heuristic::GradientP,
        Heuristic::Units,
        Heuristic::UnitsForce,
        Heuristic::GradientUnits,
    ];

    fn name(self) -> &'static str {
        match self {
            Heuristic::Given => "given",
            Heuristic::Force => "force",
            Heuristic::Sloan => "sloan",
            Heuristic::SloanBipartite => "sloan-bipartite",
            Heuristic::CuthillMckee => "cuthill-mckee",
            Heuristic::CuthillMckeeBipartite => "cuthill-mckee-bipartite",
            Heuristic::Noack => "noack",
            Heuristic::Tovchigrechko => "tovchigrechko",
            Heuristic::PChaining => "p-chaining",
            Heuristic::GradientP => "gradient-p",
            Heuristic::Units => "units",
            Heuristic::UnitsForce => "units-force",
            Heuristic::GradientUnits => "gradient-units",
        }
    }
}

impl fmt::Display for Heuristic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A heuristic and what is done to its order: `sloan`, `sloan+force`, `sloan+reversed`, `sloan+force+reversed`.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Recipe {
    /// Where the order comes from.
    pub heuristic: Heuristic,
    /// Whether FORCE refines it.
    pub refined: bool,
    /// Whether it is turned upside down, after all else.
    pub reversed: bool,
}

impl From<Heuristic> for Recipe {
    fn from(heuristic: Heuristic) -> Recipe {
        Recipe { heuristic, refined: false, reversed: false }
    }
}

const REFINED: &str = "+force";
const REVERSED: &str = "+reversed";

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refined = if self.refined { REFINED } else { "" };
        let reversed = if self.reversed { REVERSED } else { "" };
        write!(f, "{}{refined}{reversed}", self.heuristic)
    }
}

/// The text names no order.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "unknown order `{0}`: expected one of {names}, with the ending {REFINED}, {REVERSED}, both or none",
    names = Heuristic::ALL.map(Heuristic::name).join(", ")
)]
pub struct UnknownOrder(String);

impl FromStr for Heuristic {
    type Err = UnknownOrder;

    fn from_str(text: &str) -> Result<Heuristic, UnknownOrder> {
        let named = Heuristic::ALL.into_iter().find(|heuristic| heuristic.name() == text);
        named.ok_or_else(|| UnknownOrder(text.to_owned()))
    }
}

impl FromStr for Recipe {
    type Err = UnknownOrder;

    fn from_str(text: &str) -> Result<Recipe, UnknownOrder> {
        let (rest, reversed) = without_ending(text, REVERSED);
        let (name, refined) = without_ending(rest, REFINED);
        let heuristic = name.parse().map_err(|_| UnknownOrder(text.to_owned()))?;
        Ok(Recipe { heuristic, refined, reversed })
    }
}

fn without_ending<'a>(text: &'a str, ending: &str) -> (&'a str, bool) {
    text.strip_suffix(ending).map_or((text, false), |rest| (rest, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for heuristic in Heuristic::ALL {
            assert_eq!(heuristic.to_string().parse(), Ok(heuristic));
            for (refined, reversed) in [(false, false), (false, true), (true, false), (true, true)] {
                let recipe = Recipe { heuristic, refined, reversed };
                assert_eq!(recipe.to_string().parse(), Ok(recipe));
            }
        }
        assert_eq!(Recipe::from(Heuristic::PChaining).to_string(), "p-chaining");
    }

    #[test]
    fn other_names_are_refused_with_a_list() {
        for wrong in ["", "sloane", "+force", "sloan+reversed+force", "sloan+force+force"] {
            let error = wrong.parse::<Recipe>().expect_err(wrong);
            assert!(error.to_string().contains(&format!("`{wrong}`")), "{error}");
            assert!(error.to_string().contains("tovchigrechko"), "{error}");
        }
    }
}
