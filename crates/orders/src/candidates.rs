//! All orders that there are, the most promising first.

use rustc_hash::FxHashSet;
use tremula_models::PetriNet;

use crate::heuristics::{Heuristic, Material, Recipe};
use crate::incidence::Incidence;
use crate::score::{Judge, Score};
use crate::semiflows::Semiflows;

/// What the search for orders may cost. Steps take some nanoseconds each; being no times, they make the result the same
/// on every machine.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Steps that each heuristic may take. Those that need more have no order, but FORCE then has the best one so far.
    pub heuristic_steps: u64,
    /// Steps that the coupling of each order may take.
    pub metric_steps: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { heuristic_steps: 8_000_000, metric_steps: 5_000_000 }
    }
}

/// An order and what is expected of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Where it comes from; of several with the same order, the first.
    pub recipe: Recipe,
    /// The place of each level; level 0 is the root.
    pub order: Vec<u32>,
    /// How good it is expected to be.
    pub score: Score,
}

/// The order of one recipe: the place of each level, level 0 being the root.
///
/// None if the net lacks what the recipe needs (units, semiflows), or if it would be too much work.
#[must_use]
pub fn order(net: &PetriNet, recipe: impl Into<Recipe>, semiflows: &Semiflows, limits: &Limits) -> Option<Vec<u32>> {
    let incidence = Incidence::new(net);
    Material::new(net, &incidence, semiflows, limits.heuristic_steps).cook(recipe.into())
}

/// The orders of all recipes, best score first, no order twice.
#[must_use]
pub fn candidates(net: &PetriNet, semiflows: &Semiflows, limits: &Limits) -> Vec<Candidate> {
    let incidence = Incidence::new(net);
    let material = Material::new(net, &incidence, semiflows, limits.heuristic_steps);
    let judge = Judge::new(net, &incidence, limits.metric_steps);
    let mut found = Found { judge: &judge, seen: FxHashSet::default(), candidates: Vec::new() };
    for heuristic in Heuristic::ALL {
        let Some(order) = material.plain(heuristic) else { continue };
        let refined = material.refined(order.clone());
        found.add(Recipe { heuristic, refined: false, reversed: false }, order);
        found.add(Recipe { heuristic, refined: true, reversed: false }, refined);
    }
    // Stable: among equals the sequence of the heuristics decides.
    found.candidates.sort_by_key(|candidate| candidate.score);
    found.candidates
}

struct Found<'a> {
    judge: &'a Judge<'a>,
    /// Only asked, never iterated over.
    seen: FxHashSet<Vec<u32>>,
    candidates: Vec<Candidate>,
}

impl Found<'_> {
    /// Adds an order and its reverse, unless they are known. Both have the same coupling.
    fn add(&mut self, recipe: Recipe, order: Vec<u32>) {
        let reversed: Vec<u32> = order.iter().rev().copied().collect();
        let mut coupling = None;
        for (recipe, order) in [(recipe, order), (Recipe { reversed: true, ..recipe }, reversed)] {
            if !self.seen.insert(order.clone()) {
                continue;
            }
            let coupling = *coupling.get_or_insert_with(|| self.judge.coupling(&order));
            let score = self.judge.score(&order, coupling);
            self.candidates.push(Candidate { recipe, order, score });
        }
    }
}
