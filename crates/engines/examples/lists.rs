//! Explores `.ldd` models and prints the number of states, the time and the counters of the tables.
//!
//! Usage: `lists STRATEGY WORKERS FILE...`

use std::time::Instant;
use tremula_diagrams::{Attention, Budget, Manager, Options};
use tremula_engines::{ListSystem, Strategy};
use tremula_models::{Limits, read_ldd_file};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let strategy: Strategy = arguments.next().ok_or("a strategy is missing")?.parse()?;
    let workers = arguments.next().ok_or("the number of workers is missing")?.parse()?;
    for path in arguments {
        let model = read_ldd_file(path.as_ref(), &Limits::default())?;
        let options = Options { workers, ..Options::default() };
        let manager = Manager::with_options(&Budget::new(8 << 30), options, Attention::default())?;
        let system = ListSystem::build(&manager, &model)?;
        let start = Instant::now();
        let reached = system.reach(strategy, &mut ()).map_err(|stopped| stopped.error)?;
        let seconds = start.elapsed().as_secs_f64();
        let counters = manager.counters();
        println!(
            "{path} {} states {} nodes {seconds:.4} s; created {} looked up {} hits {} collections {}",
            reached.states.count()?,
            reached.states.node_count()?,
            counters.created,
            counters.lookups,
            counters.hits,
            counters.collections
        );
    }
    Ok(())
}
