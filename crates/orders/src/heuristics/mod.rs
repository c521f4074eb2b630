//! The heuristics, one idea per file, and their names.

mod cuthill_mckee;
mod force;
mod greedy;
mod groups;
mod names;
mod sloan;
mod units;

use tremula_models::PetriNet;

use crate::effort::Effort;
use crate::graph::Graph;
use crate::incidence::Incidence;
use crate::lists::Lists;
use crate::semiflows::Semiflows;

pub use names::{Heuristic, Recipe, UnknownOrder};

use greedy::Greed;

/// What the heuristics look at.
pub(crate) struct Material<'a> {
    pub(crate) net: &'a Incidence,
    /// The supports of the semiflows.
    flows: Lists,
    /// The units that have places.
    units: Option<Lists>,
    /// Steps that each heuristic may take.
    steps: u64,
}

impl<'a> Material<'a> {
    pub(crate) fn new(net: &PetriNet, incidence: &'a Incidence, semiflows: &Semiflows, steps: u64) -> Material<'a> {
        let flows = semiflows.flows.iter().map(|flow| flow.weights.iter().map(|&(place, _)| place));
        let units = net.units.as_ref().map(units::in_tree_order);
        Material { net: incidence, flows: Lists::new(flows), units, steps }
    }

    /// The order of one heuristic, neither refined nor reversed.
    pub(crate) fn plain(&self, heuristic: Heuristic) -> Option<Vec<u32>> {
        let net = self.net;
        let given = || (0..net.places() as u32).collect();
        let mut effort = Effort::new(self.steps);
        let effort = &mut effort;
        match heuristic {
            Heuristic::Given => Some(given()),
            Heuristic::Force => Some(force::force(&net.touched, given(), effort)),
            Heuristic::Sloan => by_graph(&Graph::of_places(net), sloan::sloan, effort),
            Heuristic::SloanBipartite => by_graph(&Graph::bipartite(net), sloan::sloan, effort),
            Heuristic::CuthillMckee => by_graph(&Graph::of_places(net), cuthill_mckee::cuthill_mckee, effort),
            Heuristic::CuthillMckeeBipartite => by_graph(&Graph::bipartite(net), cuthill_mckee::cuthill_mckee, effort),
            Heuristic::Noack => greedy::greedy(net, Greed::Noack, effort),
            Heuristic::Tovchigrechko => greedy::greedy(net, Greed::Tovchigrechko, effort),
            Heuristic::PChaining => groups::chaining(net, &self.flows, effort),
            Heuristic::GradientP => groups::gradient(net, &self.flows, effort),
            Heuristic::Units => self.units.as_ref().map(units::units),
            Heuristic::UnitsForce => self.units.as_ref().map(|units| units::units_drawn(net, units, effort)),
            Heuristic::GradientUnits => self.units.as_ref().and_then(|units| groups::gradient(net, units, effort)),
        }
    }

    /// An order drawn together by FORCE.
    pub(crate) fn refined(&self, order: Vec<u32>) -> Vec<u32> {
        force::force(&self.net.touched, order, &mut Effort::new(self.steps))
    }

    /// The order of a recipe.
    pub(crate) fn cook(&self, recipe: Recipe) -> Option<Vec<u32>> {
        let mut order = self.plain(recipe.heuristic)?;
        if recipe.refined {
            order = self.refined(order);
        }
        if recipe.reversed {
            order.reverse();
        }
        Some(order)
    }
}

/// The places of a graph in the sequence that an algorithm on graphs finds.
fn by_graph(
    graph: &Graph,
    algorithm: fn(&Graph, &mut Effort) -> Option<Vec<u32>>,
    effort: &mut Effort,
) -> Option<Vec<u32>> {
    Some(graph.only_places(algorithm(graph, effort)?))
}
