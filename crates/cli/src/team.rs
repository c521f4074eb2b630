//! `.bdd` models by processes of one host: a team that explores in bulk, in memory that all of them can address.
//!
//! That is fast, and takes memory for all requests of a sweep at once. Where there is too little, the ranks go on in the other
//! way, from the start.

use crate::args::ReachArgs;
use crate::error::Failure;
use crate::gpu::note_lower_bound;
use crate::numbers::{self, short};
use crate::reach::{self, Note, Trouble, count_found, note_end, trouble};
use crate::run::{Phase, Run};
use crate::together::{NoResult, Told, agree, strategy_for_ranks};
use tremula_bulk::team::{Setup, Team, join};
use tremula_bulk::{Bulk, Diagram, Figures, Graph};
use tremula_diagrams::{Attention, Error, Lease, Options};
use tremula_engines::{Reached, Stopped, Strategy, explore as explore_rounds};
use tremula_fabric::{Distance, Fabric, Reduction};
use tremula_models::BddSystem;

/// Of a rank's memory, the part that is kept for bringing states back and counting them.
const COUNT_SHARE: usize = 8;

/// *Collective.* Can all ranks address each other's memory? Knobs and forced collections are for the tables of those who
/// cannot.
pub fn is_possible<F: Fabric>(args: &ReachArgs, fabric: &F) -> Result<bool, NoResult> {
    let near = |to: usize| fabric.distance(to).is_ok_and(|distance| distance != Distance::Remote);
    let mut all = [u64::from((0..fabric.ranks()).all(near))];
    fabric.all_reduce(Reduction::Min, &mut all)?;
    Ok(all[0] == 1 && args.stress.is_none() && args.tune.is_empty())
}

/// What a rank needs of a model.
struct Ready {
    strategy: Strategy,
    graph: Graph,
    initial: Diagram,
    levels: Vec<u32>,
    _leases: [Lease; 2],
}

/// *Collective.* Explore and count; nothing if there is no room, though others may do with less.
pub fn explore<F: Fabric>(
    args: &ReachArgs,
    run: &Run,
    model: &BddSystem,
    fabric: &F,
) -> Result<Option<Told>, NoResult> {
    let ready = agree(fabric, prepare(args, run, model))?;
    let mut bytes = [(run.budget.available() / COUNT_SHARE * (COUNT_SHARE - 1)) as u64];
    fabric.all_reduce(Reduction::Min, &mut bytes)?;
    let bytes = bytes[0] as usize;
    let _lease = agree(fabric, run.budget.take(bytes).map_err(|_| Trouble::Unknown(run.memory_reason())))?;
    let setup = Setup {
        graph: &ready.graph,
        initial: &ready.initial,
        bytes,
        workers: run.workers as usize,
        attention: run.attention.clone(),
    };
    run.enter(Phase::Reach);
    let joined = join(fabric, &setup, |team| take_part(run, &ready, team, fabric.rank() == 0));
    // Too little memory, or ranks that are near but out of reach: the others may do.
    let ended = joined.unwrap_or(Ok(None));
    let no_room = fabric.all_gather(&[u64::from(matches!(ended, Ok(None)))])?;
    if no_room.iter().any(|rank| rank[0] == 1) {
        return Ok(None);
    }
    let figures = ended.map_err(NoResult::Here)?;
    Ok(figures.map(|figures| Told { figures: None, of_ranks: statistics(run, &figures) }))
}

fn prepare(args: &ReachArgs, run: &Run, model: &BddSystem) -> Result<Ready, Trouble> {
    reach::refuse_what_bdds_cannot(args)?;
    let strategy = strategy_for_ranks(args).map_err(Trouble::Failed)?;
    run.known().strategy = strategy;
    let of_model = reach::charge_for(run, model)?;
    let graph = Graph::compile(model).map_err(|error| Trouble::Failed(Failure::Internal(error.to_string())))?;
    let of_graph = run.budget.take(graph.bytes()).map_err(|_| Trouble::Unknown(run.memory_reason()))?;
    let levels = (0..model.state_bits()).map(BddSystem::current_variable).collect();
    let initial = Diagram::of_initial_states(model);
    Ok(Ready { strategy, graph, initial, levels, _leases: [of_model, of_graph] })
}

/// A rank's part: all explore, and the first one counts and tells. Nothing if there is no room: sweeps have all their requests
/// in memory at once.
fn take_part(run: &Run, ready: &Ready, team: Team<'_>, is_first: bool) -> Result<Option<Figures>, Trouble> {
    let space = Bulk::new(team, &ready.graph, Attention::default());
    if !is_first {
        let result = explore_rounds(&space, ready.strategy, &mut ());
        let is_full = result.is_err_and(|stopped| stopped.error == Error::TableFull);
        return Ok((!is_full).then(|| space.figures()));
    }
    let result = explore_rounds(&space, ready.strategy, &mut Note { run });
    run.enter(Phase::Count);
    let Ok(manager) = reach::manager(run, Options::default(), &run.attention) else { return Ok(None) };
    let counted = match result {
        Ok(Reached { states, rounds, levels, strategy }) => {
            note_end(run, rounds, levels, strategy);
            let found = space.bring_back(&states, &manager);
            found.and_then(|found| count_found(run, &found, &ready.levels, rounds))
        }
        Err(stopped) => {
            let Stopped { error, states, levels, rounds, strategy } = *stopped;
            note_end(run, rounds, levels, strategy);
            if error != Error::TableFull {
                note_lower_bound(run, &ready.levels, &space, &states, &manager);
            }
            Err(error)
        }
    };
    match counted {
        Ok(()) => Ok(Some(space.figures())),
        Err(Error::TableFull) => Ok(None),
        Err(error) => Err(trouble(run, error)),
    }
}

fn statistics(run: &Run, figures: &Figures) -> String {
    let Figures { nodes, capacity, sweeps, requests, elements, collections, bytes } = *figures;
    let [nodes, capacity, sweeps, requests, elements] = [nodes, capacity, sweeps, requests, elements].map(short);
    let (ranks, workers, each) = (run.ranks, run.workers, numbers::bytes(bytes / u64::from(run.ranks.max(1))));
    format!(
        "Team      {ranks} ranks of {workers} workers: {sweeps} sweeps, {requests} requests\n\
         \x20         of {elements} elements, {collections} collections\n\
         Table     {nodes} of {capacity} nodes in use, {each} on each rank\n"
    )
}
