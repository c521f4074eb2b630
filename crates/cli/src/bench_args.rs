//! The command line of `tremula bench`.

use crate::args::{MOST_WORKERS, seconds, strategy};
use crate::memory::Size;
use clap::Subcommand;
use std::path::PathBuf;
use std::time::Duration;
use tremula_engines::Strategy;
use tremula_studies::ranked_study::TableForm;
use tremula_studies::reach_study::{LAUNCHER, Shape, Variant};
use tremula_studies::table_study::{LOADS, Mix, Subject};
use tremula_studies::tasks_study::Version;
use tremula_studies::tasks_study::ranked::Tactic;

const TASKS_NOTES: &str = "\
Every answer is checked. For each program, the sequential time comes first.

Started by mpirun it measures workers of all ranks as one crew, in memory that
all ranks of a host address, by numbers of ranks and workers: first the latency
of steals within a process and between processes, then the programs, but for
matmul, whose answer is in the memory of one process. Ranks of several hosts
have a pool each and a gate, a thread that carries tasks between them, and so
have those of one host with --gates. With --tactics it measures one process.

Examples:
  tremula bench tasks --quick --workers 1,2,4 --programs fib,uts --out results
  tremula bench tasks --quick --workers 2 --tactics steal-one,steal-half";

const TABLE_NOTES: &str = "\
Tables that read chunks of several sizes, tables that probe slot by slot, and
the program's own table. What they hold is checked after each run. The chunks
that inserts read are printed beside those that theory expects.

Started by mpirun it measures a table over all ranks at the loads 0.5, 0.8 and
0.9 unless told, in two forms: every rank reads and changes the memory of all,
in chunks, or sends nodes to their owners. Workers are those of each rank, by
default 1 and 2, and share its operations; nodes are sent by one of them. Beside
that it measures other ways from chunk to chunk (quadratic probing, requests
instead of addresses, reading ahead), slots that hold nodes (one array),
latencies of single operations, and caches of operations in both forms.

Example:
  tremula bench table --quick --load 0.5,0.9 --mixes 80/20 --out results";

const FABRIC_NOTES: &str = "\
Started alone it measures two threads, started by mpirun the ranks that there
are: memory of rank 0 itself, of a rank on the same host and of one on another.
Several ranks need a program that was built with the feature mpi.

Example:
  mpirun -n 2 tremula bench fabric --out results";

const GPU_NOTES: &str = "\
Reads and find-or-put in a table of 16 GiB (with --quick 256 MiB), look-ups of
requests in an index of 2 GiB (32 MiB), sweeps with two to a million requests at
a level, then the models. An operation of a sweep is a find-or-put of a request
or of a node.

Example:
  tremula bench gpu --out results --models at.5.bdd,collision.4.bdd";

const REACH_NOTES: &str = "\
A shape is RANKSxWORKERS: 1x4 is one process with four workers, 4x2 are four
ranks with two each. Shapes with several ranks are started by the launcher, and
need a program that was built with the feature mpi. Do not start this command
itself by mpirun. Runs take turns, and all that end have to find the same number
of states; those that give up are shown as UNKNOWN.

Speed-ups are over the first shape. With --variants, each shape is measured with
each variant; gains are over the first of them in the same shape. Arguments are
separated by blanks, and a value of --tune is joined by =, because Open MPI
takes --tune for its own.

Examples:
  tremula bench reach --shapes 1x1,1x2,2x1 --out results at.5.bdd anderson.6.bdd
  tremula bench reach --variants plain= --variants one=--tune=lanes=1 at.5.bdd";

/// `tremula bench`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  tremula bench table --quick")]
pub struct BenchArgs {
    /// What to measure.
    #[command(subcommand)]
    pub study: Study,
}

impl BenchArgs {
    /// Does the study make use of several ranks?
    pub fn knows_ranks(&self) -> bool {
        matches!(self.study, Study::Tasks(_) | Study::Table(_) | Study::Fabric(_))
    }
}

/// What to measure.
#[derive(Subcommand, Debug)]
pub enum Study {
    /// Work stealing: small programs on our pools and on those of other libraries
    Tasks(TasksArgs),
    /// The unique table: throughput and latency of find-or-put, and its probes
    Table(TableArgs),
    /// Memory of other ranks: latency and throughput of one-sided operations
    Fabric(FabricArgs),
    /// An accelerator: reads, find-or-put, levels of sweeps, whole models
    Gpu(GpuArgs),
    /// Whole explorations, by several ranks and workers
    Reach(BenchReachArgs),
}

/// What becomes of the findings.
#[derive(clap::Args, Debug)]
pub struct FindingsArgs {
    /// Print the findings as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Write the findings as JSON and as SVG pictures into a folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// No progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// `tremula bench tasks`.
#[derive(clap::Args, Debug)]
#[command(after_help = TASKS_NOTES)]
pub struct TasksArgs {
    /// Small sizes: seconds instead of minutes
    #[arg(long)]
    pub quick: bool,
    /// Numbers of workers, with several ranks those of each, separated by commas
    /// [default: 1, 2, 4 … all cores]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = workers)]
    pub workers: Vec<usize>,
    /// Runs of each version; the median counts [default: 5, with --quick 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub reps: Option<u32>,
    /// Programs: fib, queens, uts, matmul, langford, or one size of them, such as
    /// queens(15) [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub programs: Vec<String>,
    /// Pools: tremula, tremula-split, rayon, lace-ws [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = version)]
    pub versions: Vec<Version>,
    /// How work is handed over: steal-one, steal-many, steal-half, one-slot,
    /// no-sharing [default: over ranks the first two]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub tactics: Vec<Tactic>,
    /// Over ranks: a pool for each, and gates between them, as between hosts
    #[arg(long)]
    pub gates: bool,
    #[command(flatten)]
    pub findings: FindingsArgs,
}

/// `tremula bench table`.
#[derive(clap::Args, Debug)]
#[command(after_help = TABLE_NOTES)]
pub struct TableArgs {
    /// Small tables and few operations: seconds instead of minutes
    #[arg(long)]
    pub quick: bool,
    /// Numbers of workers, separated by commas [default: 1 and all cores]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = workers)]
    pub workers: Vec<usize>,
    /// Operations of each worker [default: 10000000, with --quick 100000, over ranks 20000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub operations: Option<u64>,
    /// Load factors [default: 0.1,0.3,0.5,0.65,0.7,0.8,0.9]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = load)]
    pub load: Vec<f64>,
    /// Slots read at a time [default: 8,16,32,64,128]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = chunk)]
    pub chunks: Vec<usize>,
    /// Per cent of finds and of inserts [default: 50/50,80/20,20/80]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub mixes: Vec<Mix>,
    /// What of a table over ranks: one-sided, owners, ways, latency, cache
    /// [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub forms: Vec<TableForm>,
    #[command(flatten)]
    pub findings: FindingsArgs,
}

/// `tremula bench fabric`.
#[derive(clap::Args, Debug)]
#[command(after_help = FABRIC_NOTES)]
pub struct FabricArgs {
    /// Few sizes and short measurements
    #[arg(long)]
    pub quick: bool,
    /// Measurements of each kind; the median counts [default: 5, with --quick 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub reps: Option<u32>,
    #[command(flatten)]
    pub findings: FindingsArgs,
}

/// `tremula bench gpu`.
#[derive(clap::Args, Debug)]
#[command(after_help = GPU_NOTES)]
pub struct GpuArgs {
    /// Small tables and few widths
    #[arg(long)]
    pub quick: bool,
    /// Measurements of each kind; the median counts [default: 5, with --quick 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub reps: Option<u32>,
    /// Memory of the device for sweeps and models: bytes, or a percentage of
    /// what is free there [default: 24G, with --quick 4G]
    #[arg(long, value_name = "SIZE")]
    pub gpu_mem: Option<Size>,
    /// Models (.bdd) to explore
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub models: Vec<PathBuf>,
    #[command(flatten)]
    pub findings: FindingsArgs,
}

/// `tremula bench reach`.
#[derive(clap::Args, Debug)]
#[command(after_help = REACH_NOTES)]
pub struct BenchReachArgs {
    /// The models, as tremula reach reads them
    #[arg(required = true, value_name = "MODEL")]
    pub models: Vec<PathBuf>,
    /// Ranks and workers of each; the others are compared with the first
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1x1,1x2")]
    pub shapes: Vec<Shape>,
    /// Runs of each kind; the median counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub reps: u32,
    /// How to explore, as of tremula reach
    #[arg(long, value_name = "NAME", default_value = "par", value_parser = strategy)]
    pub strategy: Strategy,
    /// Memory of all ranks together, each gets its share [default: 80%]
    #[arg(long, value_name = "SIZE")]
    pub mem: Option<Size>,
    /// Seconds after which a run gives up
    #[arg(long, value_name = "SECONDS", default_value = "3600", value_parser = seconds)]
    pub timeout: Duration,
    /// What starts several ranks; -n and their number are added
    #[arg(long, value_name = "COMMAND", default_value = LAUNCHER)]
    pub launcher: String,
    /// More arguments of reach, for all runs
    #[arg(long, value_name = "ARGS", default_value = "", allow_hyphen_values = true, hide_default_value = true)]
    pub more: String,
    /// More arguments of reach, under a name; give it several times to compare
    #[arg(long, alias = "variant", value_name = "NAME=ARGS")]
    pub variants: Vec<Variant>,
    #[command(flatten)]
    pub findings: FindingsArgs,
}

fn workers(text: &str) -> Result<usize, String> {
    let most = MOST_WORKERS as usize;
    let is_meant = |number: &usize| (1..=most).contains(number);
    text.parse().ok().filter(is_meant).ok_or_else(|| format!("expected a number of workers from 1 to {most}"))
}

fn load(text: &str) -> Result<f64, String> {
    let problem = || format!("expected a load factor from {} to {}", LOADS.start(), LOADS.end());
    text.parse().ok().filter(|load| LOADS.contains(load)).ok_or_else(problem)
}

fn chunk(text: &str) -> Result<usize, String> {
    let problem = || format!("expected one of {}", Subject::CHUNKS.map(|chunk| chunk.to_string()).join(", "));
    text.parse().ok().filter(|chunk| Subject::CHUNKS.contains(chunk)).ok_or_else(problem)
}

fn version(text: &str) -> Result<Version, String> {
    let names = || Version::PARALLEL.iter().map(|version| version.name()).collect::<Vec<_>>().join(", ");
    let known = Version::PARALLEL.iter().copied().find(|version| version.name() == text);
    known.ok_or_else(|| format!("expected one of {}", names()))
}
