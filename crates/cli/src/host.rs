//! `.bdd` and `.ldd` models by processes of one host: one table in memory that all of them address.
//!
//! Rank 0 explores as a single process does, whatever the strategy; the workers of the other ranks take part in its operations.

use crate::args::ReachArgs;
use crate::binary;
use crate::error::Failure;
use crate::lists;
use crate::numbers::{self, short};
use crate::processors::Processors;
use crate::reach::{self, Trouble};
use crate::report::Figures;
use crate::run::{Phase, Run};
use crate::together::{NoResult, Told, agree, refuse_what_ranks_cannot};
use tremula_diagrams::joint::{Follower, JointError, Leader, Setup};
use tremula_diagrams::{Counters, Lease, Manager};
use tremula_fabric::{Distance, Fabric, FabricError, Ground, Reduction};
use tremula_models::TransitionSystem;

/// *Collective.* Can all ranks address the memory of rank 0, and is that wanted? Some knobs are for those who cannot.
pub fn is_possible<F: Fabric>(args: &ReachArgs, fabric: &F) -> Result<bool, NoResult> {
    Ok(Ground::is_possible(fabric)? && !args.tune.iter().any(|knob| knob.is_for_hosts()))
}

/// *Collective.* Explore and count; gives the model back if this system does not let processes share memory after all.
pub fn explore<F: Fabric>(
    args: &ReachArgs,
    run: &Run,
    model: TransitionSystem,
    fabric: &F,
) -> Result<Result<Told, TransitionSystem>, NoResult>
where
    F::Segment: Send + Sync + 'static,
{
    agree(fabric, refuse(args, &model))?;
    let keeps = fabric.rank() == 0;
    let model = agree(fabric, if keeps { in_bits_if_wanted(args, run, model) } else { Ok(model) })?;
    let _lease = agree(fabric, charge(run, &model, keeps))?;
    let setup = plan(args, run, fabric)?;
    let segment = match fabric.allocate(setup.words()) {
        Ok(segment) => segment,
        Err(FabricError::NoMemory { .. }) => return Ok(Err(model)),
        Err(error) => return Err(error.into()),
    };
    let distance = |to| fabric.distance(to).unwrap_or(Distance::Machine);
    if fabric.rank() == 0 {
        let leader = agree(fabric, Leader::new(&setup, segment, distance).map_err(no_part))?;
        agree(fabric, Ok(()))?;
        let led = lead(args, run, model, leader);
        let own = led.as_ref().map_or([0; COLUMNS.len()], |led| led.own);
        let rows = fabric.gather(0, &own)?.unwrap_or_default();
        let Led { ended, figures, .. } = led.map_err(NoResult::Here)?;
        let of_ranks = table(&setup, &figures.counters, &rows);
        return Ok(Ok(Told { figures: Some(figures), of_ranks, ended: ended.map_err(NoResult::Here) }));
    }
    drop(model);
    agree(fabric, Ok(()))?;
    let follower = agree(fabric, Follower::new(&setup, segment, fabric.rank(), distance).map_err(no_part))?;
    run.enter(Phase::Reach);
    let done = follower.wait();
    fabric.gather(0, &[done.steals, done.gifts, done.waits])?;
    Ok(Ok(Told::elsewhere()))
}

/// Is there anything that the user wants and this cannot be?
fn refuse(args: &ReachArgs, model: &TransitionSystem) -> Result<(), Trouble> {
    refuse_what_ranks_cannot(args)?;
    match model {
        TransitionSystem::Bdd(_) => reach::refuse_what_bdds_cannot(args),
        _ => reach::refuse_what_diagrams_cannot(args),
    }
}

/// Lists as binary diagrams, if these are to explore them.
fn in_bits_if_wanted(args: &ReachArgs, run: &Run, model: TransitionSystem) -> Result<TransitionSystem, Trouble> {
    match model {
        TransitionSystem::Ldd(model) if binary::is_wanted(args) => {
            binary::of_lists(args, run, &model).map(TransitionSystem::Bdd)
        }
        model => Ok(model),
    }
}

/// The memory of a model in binary diagrams, which rank 0 keeps.
fn charge(run: &Run, model: &TransitionSystem, keeps: bool) -> Result<Option<Lease>, Trouble> {
    match model {
        TransitionSystem::Bdd(model) if keeps => reach::charge_for(run, model).map(Some),
        _ => Ok(None),
    }
}

/// *Collective.* What all ranks agree on: each gives all memory that it has left, and none more than another.
fn plan<F: Fabric>(args: &ReachArgs, run: &Run, fabric: &F) -> Result<Setup, NoResult> {
    let mut bytes = [run.budget.available() as u64];
    fabric.all_reduce(Reduction::Min, &mut bytes)?;
    let mut crowd = [u64::from(run.workers > Processors::agree(fabric)?.workers())];
    fabric.all_reduce(Reduction::Or, &mut crowd)?;
    let (ranks, workers, crowd) = (fabric.ranks(), run.workers as usize, crowd[0] == 1);
    Ok(Setup { ranks, workers, crowd, bytes: bytes[0] as usize * ranks, options: reach::options(args, run) })
}

fn no_part(error: JointError) -> Trouble {
    match error {
        JointError::NoGround => Trouble::Failed(Failure::Internal(error.to_string())),
        JointError::System(_) | JointError::Setup(_) => Trouble::Unknown(error.to_string()),
    }
}

/// What came of leading the others.
struct Led {
    /// Has the exploration come to its end?
    ended: Result<(), Trouble>,
    figures: Figures,
    /// What the workers of rank 0 did for others.
    own: [u64; COLUMNS.len()],
}

/// What rank 0 does: all that a single process would.
fn lead(args: &ReachArgs, run: &Run, model: TransitionSystem, leader: Leader) -> Result<Led, Trouble> {
    let led = leader.run(run.attention.clone(), |manager| {
        let mut figures = None;
        let ended = explore_in(args, run, model, manager, &mut figures);
        let done = manager.stealing().unwrap_or_default();
        let figures = figures.unwrap_or_else(|| Figures { counters: manager.counters(), stealing: None });
        Led { ended, figures, own: [done.steals, done.gifts, done.waits] }
    });
    led.map_err(no_part)
}

fn explore_in(
    args: &ReachArgs,
    run: &Run,
    model: TransitionSystem,
    manager: &Manager,
    figures: &mut Option<Figures>,
) -> Result<(), Trouble> {
    match model {
        TransitionSystem::Bdd(model) => {
            reach::with_manager(args, run, &model.without_reachable(), manager, figures).map(drop)
        }
        TransitionSystem::Ldd(model) => lists::explore_in(args, run, &model, manager, figures),
        TransitionSystem::Net(_) => Err(Trouble::input("Petri nets are explored by a race of ranks")),
    }
}

const COLUMNS: [&str; 3] = ["stolen", "given", "waits"];

/// What the workers of each rank did for others, and what each rank holds.
fn table(setup: &Setup, counters: &Counters, rows: &[Vec<u64>]) -> String {
    let (ranks, workers) = (setup.ranks, setup.workers);
    let [nodes, room] = [counters.nodes, counters.capacity].map(short);
    let each = numbers::bytes(counters.bytes / ranks as u64);
    let mut text = format!(
        "Together  {ranks} ranks of {workers} workers, in memory of the host\n\
         Table     {nodes} of {room} nodes in use, {each} for each rank\n\
         Rank      {}\n",
        COLUMNS.map(|name| format!("{name:>8}")).concat()
    );
    for (rank, row) in rows.iter().enumerate() {
        let cells: String = row.iter().map(|&value| format!("{:>8}", short(value))).collect();
        text += &format!("{rank:<10}{cells}\n");
    }
    text
}
