//! `tremula reach` for models of list decision diagrams.

use crate::args::ReachArgs;
use crate::reach::{self, Note, Trouble, note_end, trouble};
use crate::report::Figures;
use crate::run::{Phase, Run, Setting};
use tremula_diagrams::{Attention, Error, Ldd, Manager};
use tremula_engines::ListSystem;
use tremula_models::LddSystem;

/// Explore and count; `figures` are those at the end, whatever the end.
pub fn explore(
    args: &ReachArgs,
    run: &Run,
    model: &LddSystem,
    attention: &Attention,
    figures: &mut Option<Figures>,
) -> Result<(), Trouble> {
    let manager = reach::manager(run, reach::options(args, run), attention)?;
    explore_in(args, run, model, &manager, figures)
}

/// The same in a manager.
pub fn explore_in(
    args: &ReachArgs,
    run: &Run,
    model: &LddSystem,
    manager: &Manager,
    figures: &mut Option<Figures>,
) -> Result<(), Trouble> {
    run.known().setting = Setting { format: "ldd", engine: "ldd", order: "given".to_owned() };
    let failed = |error: Error| trouble(run, error);
    let system = ListSystem::build(manager, model).map_err(failed)?;
    run.enter(Phase::Reach);
    let result = system.reach(args.strategy, &mut Note { run });
    run.enter(Phase::Count);
    *figures = Some(Figures { counters: manager.counters(), stealing: manager.stealing() });
    match result {
        Ok(reached) => {
            note_end(run, reached.rounds, reached.levels, reached.strategy);
            count(run, &reached.states).map_err(failed)
        }
        Err(stopped) => {
            note_end(run, stopped.rounds, stopped.levels, stopped.strategy);
            // What is known so far is worth telling, where that takes no more memory than there is.
            if !reach::has_lost(run, &stopped.error) {
                let _ = count(run, &stopped.states);
            }
            Err(trouble(run, stopped.error))
        }
    }
}

/// Is there anything that the user wants and lists cannot?
pub fn refuse_what_lists_cannot(args: &ReachArgs) -> Result<(), Trouble> {
    let refuse = |problem: &str| Err(Trouble::input(problem));
    if args.save_states.is_some() || args.check_stored {
        return refuse("the states of .ldd models cannot be saved or compared yet");
    }
    Ok(())
}

fn count(run: &Run, states: &Ldd) -> Result<(), Error> {
    let (count, nodes) = (states.count()?, states.node_count()?);
    let mut known = run.known();
    known.states = Some((count.to_string(), known.rounds));
    known.nodes = Some(nodes as u64);
    Ok(())
}
