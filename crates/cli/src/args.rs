//! The command line: names, defaults and help texts.

use crate::bench_args::BenchArgs;
use crate::memory::Size;
use crate::tune::Tune;
use clap::{Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use tremula_engines::Strategy;
use tremula_orders::{Recipe, UnknownOrder};

const EXAMPLES: &str = "\
Examples:
  tremula reach model.pnml
  tremula reach model.bdd.gz
  tremula reach model.bdd --strategy chaining --mem 8G --timeout 600 --json
  tremula reach model.bdd --save-states states.tbdd
  tremula contains states.tbdd 0,1,0,3
  tremula info model.bdd --matrix
  tremula order model.pnml --svg picture.svg

Exit codes:
  0 complete   1 a property is violated, or a state is not contained
  2 bad usage or bad input   3 gave up at a limit   70 internal error
  130 interrupted twice";

const REACH_NOTES: &str = "\
Strategies:
  saturation  the deepest transition groups first, until they add nothing, then
              those above them, each time with everything below
  bfs         level by level, all transition groups in one sweep
  par         level by level, each group by itself, results united
  chaining    group after group, each on what is known by then
  explicit    state by state; for Petri nets with few bits per state
  auto        find out which of these pays
bfs, par and chaining take images of what the last round found; bfs-full,
par-full and chaining-full take images of everything found so far.

With --engine gpu, auto is par, and saturation closes the states under parts of
the groups in turn, the deepest first. See docs/gpu.md.

For Petri nets, saturation and auto hold a contest of orders and ways to
explore; the worker threads are for the contestants.

Under mpirun, the processes of one host hold the diagrams of a .bdd or .ldd
model together, and those of several hosts a part of the states of a .bdd model
each; for a Petri net they race different orders and strategies, and all stop
when one is done. --workers and --mem are for each process; those of one machine
share a percentage of it. See docs/cluster.md.

Orders of Petri nets:
  given, force, sloan, sloan-bipartite, cuthill-mckee, cuthill-mckee-bipartite,
  noack, tovchigrechko, p-chaining, gradient-p, units, units-force,
  gradient-units, each also with +force, +reversed or +force+reversed

While it runs:
  Ctrl-C, SIGTERM and the time limit end the run with what is known by then:
  the verdict is unknown, the exit code 3. A second Ctrl-C ends it at once.
  SIGUSR1 (kill -USR1 PID) prints on standard error where it is.

Example:
  tremula reach testdata/beem/at.1.bdd.gz --strategy chaining --mem 2G";

const ORDER_NOTES: &str = "\
What is expected of an order is told by three numbers, the less the better:
  rank    how much of what transitions do crosses the levels, as the rank of
          matrices; it decides
  spans   how far transitions reach from their first to their last place
  height  how far from the last level the tokens start; with equal ranks the
          sum of spans and height decides
The order on the second line is an exception: of all but the first, it has the
least spans.

Orders:
  given, force, sloan, sloan-bipartite, cuthill-mckee, cuthill-mckee-bipartite,
  noack, tovchigrechko, p-chaining, gradient-p, units, units-force,
  gradient-units, each also with +force, +reversed or +force+reversed

Example:
  tremula order model.pnml --order sloan+force --places --svg picture.svg";

const MCC_NOTES: &str = "\
Environment, as the contest sets it:
  BK_EXAMINATION         what to answer: StateSpace; all others are answered
                         by DO_NOT_COMPETE
  BK_INPUT               the instance; its folder is looked into if no MODEL is
                         named and this folder has no model.pnml
  BK_TIME_CONFINEMENT    seconds until the contest ends the program
  BK_MEMORY_CONFINEMENT  megabytes that the program may take
The last two may be missing. Some time and memory are left unused, so that the
program ends by itself.

Every value is one line, printed as soon as it is known. CANNOT_COMPUTE is
printed if there is none within the limits; the reason is on standard error.
The exit code is 0 then too, and 2 for wrong variables or a wrong file.

Example:
  BK_EXAMINATION=StateSpace tremula mcc testdata/pnml/Kanban-PT-00005.pnml";

const LAUNCH_NOTES: &str = "\
Launchers have exit codes of their own; this command ends with those of tremula.
If the job is lost, that is 70.

Unless the environment says otherwise, Open MPI's mpirun is told to notice a
host that is gone, and to bind no process to a processor; options on its command
line come first. The processes must be ranks of tremula.

While it runs:
  Ctrl-C and SIGTERM end the job with what is known by then: the verdict is
  unknown, the exit code 3. A second Ctrl-C ends it at once.
  SIGUSR1 (kill -USR1 PID) makes the first process print where it is.

Example:
  tremula launch mpirun -n 4 --host one,two tremula reach model.bdd.gz --mem 2G";

/// More threads than any machine has cores.
pub const MOST_WORKERS: i64 = 1024;

/// Exact reachable state sets of symbolic models
#[derive(Parser, Debug)]
#[command(name = "tremula", version, max_term_width = 80, after_help = EXAMPLES)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Compute and count all reachable states of a model
    Reach(ReachArgs),
    /// Write a model in another layout
    Convert(ConvertArgs),
    /// Describe a model: variables, groups, what reads and writes what
    Info(InfoArgs),
    /// Answer as the Model Checking Contest wants it
    Mcc(MccArgs),
    /// Compare orders for the places of a Petri net
    Order(OrderArgs),
    /// Count the states in a file written by reach --save-states
    Count(CountArgs),
    /// Tell whether states are in a file written by reach --save-states
    Contains(ContainsArgs),
    /// Print states from a file written by reach --save-states
    Pick(PickArgs),
    /// Start several processes by a launcher, and end as they do
    Launch(LaunchArgs),
    /// Measure parts of this program on this machine
    Bench(BenchArgs),
    /// Explore on a device for another process, which sends the model
    #[command(hide = true)]
    Envoy(EnvoyArgs),
}

/// `tremula reach`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = REACH_NOTES)]
pub struct ReachArgs {
    /// The model: a Petri net (.pnml), lists (.ldd) or a .bdd file in either
    /// layout, plain or .gz
    pub model: PathBuf,
    /// How to explore, see below
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = strategy)]
    pub strategy: Strategy,
    /// Kind of diagrams: auto, bdd, ldd (for .ldd files) or mdd (for Petri nets);
    /// or gpu, which is bdd on an NVIDIA device. With auto, a device may explore
    /// .bdd and .ldd models beside the processors
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = engine)]
    pub engine: Engine,
    /// Worker threads [default: all cores that the machine or container allows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_WORKERS))]
    pub workers: Option<u32>,
    /// Memory for everything: bytes with K, M, G or T, or a percentage of what
    /// the machine or container allows [default: 80%]
    #[arg(long, value_name = "SIZE")]
    pub mem: Option<Size>,
    /// Memory of the device, with --engine gpu and auto: bytes, or a percentage
    /// of what is free there [default: 50%]
    #[arg(long, value_name = "SIZE")]
    pub gpu_mem: Option<Size>,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,
    /// Variable order: auto, given (the model's own), or for Petri nets one of
    /// those below
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = order)]
    pub order: Order,
    /// Tell whether a Petri net can get stuck, and how; the exit code is 1 if it
    /// can
    #[arg(long)]
    pub deadlock: bool,
    /// With --deadlock: a sequence of firings that leads there, a shortest one or
    /// with --trace=any one that is found sooner
    #[arg(long, value_name = "KIND", requires = "deadlock", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "shortest", value_parser = trace)]
    pub trace: Option<TraceKind>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Save the reachable states, for count, contains and pick
    #[arg(long, value_name = "FILE")]
    pub save_states: Option<PathBuf>,
    /// Write progress as NDJSON, one object per line; at most 20 rounds per
    /// second are written
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Print table statistics too (on standard error with --json)
    #[arg(long)]
    pub stats: bool,
    /// No progress and no warnings
    #[arg(long, short)]
    pub quiet: bool,
    /// Collect garbage at every Nth created node and poison what is freed
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub stress: Option<u64>,
    /// Turn a knob of the tables, for measurements; may be given several times
    #[arg(long, value_name = "KEY=VALUE", hide = true)]
    pub tune: Vec<Tune>,
    /// Compare with the reachable set that the model file carries
    #[arg(long, hide = true)]
    pub check_stored: bool,
}

impl ReachArgs {
    /// What is meant by `tremula reach MODEL`.
    pub fn of(model: PathBuf) -> ReachArgs {
        ReachArgs {
            model,
            strategy: Strategy::AUTO,
            engine: Engine::Auto,
            workers: None,
            mem: None,
            gpu_mem: None,
            timeout: None,
            order: Order::Auto,
            deadlock: false,
            trace: None,
            json: false,
            save_states: None,
            events: None,
            stats: false,
            quiet: false,
            stress: None,
            tune: Vec::new(),
            check_stored: false,
        }
    }

    /// How many threads compute.
    pub fn workers(&self) -> u32 {
        let allowed = || u32::try_from(tremula_fabric::topology::cpu_limit()).unwrap_or(1);
        self.workers.unwrap_or_else(allowed).clamp(1, MOST_WORKERS as u32)
    }
}

/// `tremula envoy`, which this program starts by itself.
#[derive(clap::Args, Debug)]
pub struct EnvoyArgs {
    /// How to explore
    #[arg(long, value_parser = strategy)]
    pub strategy: Strategy,
    /// Bytes for everything
    #[arg(long)]
    pub mem: usize,
    /// Memory of the device
    #[arg(long)]
    pub gpu_mem: Option<Size>,
    /// Have the twin explore instead of a device
    #[arg(long)]
    pub twin: bool,
}

/// `tremula convert`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  tremula convert model.bdd model-sylvan.bdd.gz --layout sylvan")]
pub struct ConvertArgs {
    /// The model: a .bdd file in either layout, plain or .gz
    pub model: PathBuf,
    /// The file to write; compressed if it ends in .gz
    pub out: PathBuf,
    /// The layout to write
    #[arg(long, value_enum, default_value_t = LayoutName::Sylvan)]
    pub layout: LayoutName,
    /// Keep the reachable set, if the model file carries one
    #[arg(long)]
    pub keep_reachable: bool,
}

/// `tremula info`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  tremula info model.bdd --matrix --svg matrix.svg")]
pub struct InfoArgs {
    /// The model: a Petri net (.pnml), lists (.ldd) or a .bdd file in either
    /// layout, plain or .gz
    pub model: PathBuf,
    /// Print which group reads (r), writes (w) or reads and writes (+) what, or
    /// which transition takes (t), gives (g) or does both (+) where
    #[arg(long)]
    pub matrix: bool,
    /// Draw that matrix into an SVG file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// `tremula mcc`.
#[derive(clap::Args, Debug)]
#[command(after_help = MCC_NOTES)]
pub struct MccArgs {
    /// A folder with a file model.pnml, or such a file [default: this folder]
    pub model: Option<PathBuf>,
}

/// `tremula order`.
#[derive(clap::Args, Debug)]
#[command(after_help = ORDER_NOTES)]
pub struct OrderArgs {
    /// The model: a Petri net (.pnml), plain or .gz
    pub model: PathBuf,
    /// Only this order, one of those below; auto means all
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = order)]
    pub order: Order,
    /// List the places in the best order or in the named one, one per line, that
    /// of the first level first
    #[arg(long)]
    pub places: bool,
    /// Draw what transitions do to places in that order into an SVG file:
    /// columns are places, rows are transitions by the first place they touch
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `tremula count`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  tremula count states.tbdd")]
pub struct CountArgs {
    /// A file written by reach --save-states
    pub file: PathBuf,
}

/// `tremula contains`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Prints one line per state. The exit code is 0 if all states are contained and
1 if one is not.

Example:
  tremula contains states.tbdd 0,1,0,3 2,2,0,3")]
pub struct ContainsArgs {
    /// A file written by reach --save-states
    pub file: PathBuf,
    /// The integers of a state, in the model's order, separated by commas
    #[arg(required = true, value_name = "STATE")]
    pub states: Vec<String>,
}

/// `tremula pick`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  tremula pick states.tbdd -n 5")]
pub struct PickArgs {
    /// A file written by reach --save-states
    pub file: PathBuf,
    /// How many states, from the smallest on
    #[arg(short, value_name = "K", default_value_t = 1)]
    pub n: u64,
}

/// `tremula launch`.
#[derive(clap::Args, Debug)]
#[command(after_help = LAUNCH_NOTES)]
pub struct LaunchArgs {
    /// The launcher, mpirun or srun, and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    #[arg(value_names = ["COMMAND", "ARGS"])]
    pub words: Vec<OsString>,
}

/// Layouts of `.bdd` files, as named on the command line.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
pub enum LayoutName {
    /// A width for each integer, read and write lists
    Sylvan,
    /// The layout of 2016: one width, no difference between read and write
    Legacy,
}

/// What explores.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Engine {
    /// What suits the model.
    Auto,
    /// Binary decision diagrams.
    Bdd,
    /// List decision diagrams.
    Ldd,
    /// Multi-valued decision diagrams.
    Mdd,
    /// Binary decision diagrams on an accelerator.
    Gpu,
}

/// Which way to a deadlock is wanted.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum TraceKind {
    /// In as few firings as possible.
    Shortest,
    /// One that is found soon.
    Any,
}

/// Orders of variables.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Order {
    /// What suits the model.
    Auto,
    /// This one.
    Chosen(Recipe),
}

pub fn strategy(name: &str) -> Result<Strategy, String> {
    name.parse().map_err(|error: tremula_engines::UnknownStrategy| error.to_string())
}

fn trace(name: &str) -> Result<TraceKind, String> {
    match name {
        "shortest" => Ok(TraceKind::Shortest),
        "any" => Ok(TraceKind::Any),
        _ => Err("expected shortest or any".to_owned()),
    }
}

fn engine(name: &str) -> Result<Engine, String> {
    match name {
        "auto" => Ok(Engine::Auto),
        "bdd" => Ok(Engine::Bdd),
        "mdd" => Ok(Engine::Mdd),
        "ldd" => Ok(Engine::Ldd),
        "gpu" => Ok(Engine::Gpu),
        "explicit" => Err("not available yet".to_owned()),
        _ => Err("expected auto, bdd, ldd, mdd or gpu".to_owned()),
    }
}

fn order(name: &str) -> Result<Order, String> {
    match name {
        "auto" => Ok(Order::Auto),
        _ => name.parse().map(Order::Chosen).map_err(|error: UnknownOrder| error.to_string()),
    }
}

pub fn seconds(text: &str) -> Result<Duration, String> {
    let problem = || "expected a number of seconds".to_owned();
    text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn defaults_are_the_same_everywhere() {
        let Command::Reach(parsed) = Args::parse_from(["tremula", "reach", "m"]).command else { panic!("reach") };
        assert_eq!(format!("{parsed:?}"), format!("{:?}", ReachArgs::of("m".into())));
    }

    /// This command's help, and that of those below it.
    fn assert_narrow(command: &clap::Command) {
        for command in command.get_subcommands() {
            let help = command.clone().term_width(80).render_long_help().to_string();
            assert!(help.lines().all(|line| line.chars().count() <= 80), "{}:\n{help}", command.get_name());
            assert_narrow(command);
        }
    }

    #[test]
    fn help_fits_a_narrow_terminal() {
        let mut command = Args::command();
        command.build();
        assert_narrow(&command);
    }
}
