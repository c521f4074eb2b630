//! `tremula bench`: studies of parts of this program, on this machine.

use crate::bench_args::{BenchArgs, BenchReachArgs, FabricArgs, FindingsArgs, GpuArgs, Study, TableArgs, TasksArgs};
use crate::error::{Exit, Failure};
use crate::gpu::{device_bytes, find};
use crate::memory::Size;
use crate::{model, output, ranks, signals, together};
use serde::Serialize;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use tremula_diagrams::Attention;
use tremula_fabric::Fabric;
use tremula_fabric::threads::{self, ThreadFabric};
use tremula_models::BddSystem;
use tremula_studies::fabric_study::{self, FabricOptions};
use tremula_studies::gpu_study::{self, GpuOptions};
use tremula_studies::ranked_study::{self, RankedOptions};
use tremula_studies::reach_study::{self, ReachOptions, words};
use tremula_studies::table_study::{self, TableOptions};
use tremula_studies::tasks_study::ranked::{self, RankedTasksOptions};
use tremula_studies::tasks_study::{self, TasksOptions};
use tremula_studies::{Picture, StudyError};

/// Runs of each version, if little time is to be spent.
const QUICK_REPS: usize = 3;

/// Make a study.
pub fn bench(args: &BenchArgs) -> Result<Exit, Failure> {
    signals::ignore_questions().map_err(|error| Failure::threads(&error))?;
    match &args.study {
        Study::Tasks(args) => tasks(args),
        Study::Table(args) => table(args),
        Study::Fabric(args) => fabric(args),
        Study::Gpu(args) => gpu(args),
        Study::Reach(args) => reach(args),
    }
}

fn gpu(args: &GpuArgs) -> Result<Exit, Failure> {
    let device = find()?;
    let usual = if args.quick { GpuOptions::quick() } else { GpuOptions::default() };
    let options = GpuOptions {
        reps: args.reps.map_or(usual.reps, |reps| reps as usize),
        bytes: args.gpu_mem.map_or(usual.bytes, |size| device_bytes(&device, Some(size))),
        models: args.models.iter().map(|path| named_model(path)).collect::<Result<_, _>>()?,
        ..usual
    };
    let report = study(&args.findings, |progress| gpu_study::run(&device, &options, progress))?;
    publish(&args.findings, "gpu", &report, &report.pictures())
}

fn reach(args: &BenchReachArgs) -> Result<Exit, Failure> {
    if args.shapes.iter().any(|shape| shape.has_several_ranks()) && !cfg!(feature = "mpi") {
        let message = "--shapes: this program was built without the feature `mpi`, which several ranks need";
        return Err(Failure::Input(message.to_owned()));
    }
    for path in &args.models {
        std::fs::File::open(path).map_err(|error| Failure::file(path, &error))?;
    }
    let options = reach_options(args)?;
    let running = options.running.clone();
    signals::end_with(move || running.process()).map_err(|error| Failure::threads(&error))?;
    let report = study(&args.findings, |progress| reach_study::run(&options, progress))?;
    publish(&args.findings, "reach", &report, &report.pictures())
}

fn reach_options(args: &BenchReachArgs) -> Result<ReachOptions, Failure> {
    let problem = |error: &std::io::Error| Failure::Internal(format!("where is this program? {error}"));
    Ok(ReachOptions {
        program: std::env::current_exe().map_err(|error| problem(&error))?,
        launcher: words(&args.launcher),
        models: args.models.clone(),
        shapes: args.shapes.clone(),
        variants: args.variants.clone(),
        more: words(&args.more),
        reps: args.reps as usize,
        strategy: args.strategy.to_string(),
        // Once, so that it is the same for all runs.
        mem_bytes: args.mem.unwrap_or_default().to_bytes(),
        timeout_seconds: args.timeout.as_secs_f64(),
        ..ReachOptions::default()
    })
}

/// A model, and its file's name without folders.
fn named_model(path: &Path) -> Result<(String, BddSystem), Failure> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok((name, model::read(path, Size::default().to_bytes(), &Attention::default())?))
}

fn tasks(args: &TasksArgs) -> Result<Exit, Failure> {
    if ranks::are_several() {
        return ranks::run(|fabric| together::agree_on_end(fabric, ranked_tasks(args, fabric)));
    }
    if !args.tactics.is_empty() || args.gates {
        // The same study, of one rank.
        return on_threads(1, |fabric| ranked_tasks(args, fabric));
    }
    let options = tasks_options(args);
    let report = study(&args.findings, |progress| tasks_study::run(&options, progress))?;
    publish(&args.findings, "tasks", &report, &report.pictures())
}

fn ranked_tasks<F: Fabric>(args: &TasksArgs, fabric: &F) -> Result<Exit, Failure>
where
    F::Segment: Send + Sync + 'static,
{
    if !args.versions.is_empty() {
        let problem = "--versions: tactics and several ranks are for the program's own".to_owned();
        return told_once(fabric, Err(Failure::Input(problem))).map(|_: Option<()>| Exit::Complete);
    }
    let options = ranked_tasks_options(args);
    let report = study_on_ranks(fabric, &args.findings, |progress| ranked::run(fabric, &options, progress))?;
    report.map_or(Ok(Exit::Complete), |report| publish(&args.findings, "tasks-ranks", &report, &report.pictures()))
}

fn table(args: &TableArgs) -> Result<Exit, Failure> {
    if ranks::are_several() {
        return ranked_table(args);
    }
    if !args.forms.is_empty() {
        return Err(Failure::Input("--forms: only a table over several ranks has them".to_owned()));
    }
    let options = table_options(args);
    let report = study(&args.findings, |progress| table_study::run(&options, progress))?;
    publish(&args.findings, "table", &report, &report.pictures())
}

fn ranked_table(args: &TableArgs) -> Result<Exit, Failure> {
    let usual = if args.quick { RankedOptions::quick() } else { RankedOptions::default() };
    let options = RankedOptions {
        forms: given_or(&args.forms, usual.forms),
        operations: args.operations.unwrap_or(usual.operations),
        loads: given_or(&args.load, usual.loads),
        chunks: given_or(&args.chunks, usual.chunks),
        mixes: given_or(&args.mixes, usual.mixes),
        workers: given_or(&args.workers, usual.workers),
        ..usual
    };
    ranks::run(|fabric| together::agree_on_end(fabric, table_on(fabric, args, &options)))
}

fn table_on<F: Fabric>(fabric: &F, args: &TableArgs, options: &RankedOptions) -> Result<Exit, Failure>
where
    F::Segment: Sync,
{
    let report = study_on_ranks(fabric, &args.findings, |progress| ranked_study::run(fabric, options, progress))?;
    report.map_or(Ok(Exit::Complete), |report| publish(&args.findings, "table-ranks", &report, &report.pictures()))
}

fn fabric(args: &FabricArgs) -> Result<Exit, Failure> {
    let usual = if args.quick { FabricOptions::quick() } else { FabricOptions::default() };
    let options = FabricOptions { reps: args.reps.map_or(usual.reps, |reps| reps as usize), ..usual };
    if ranks::are_several() {
        return ranks::run(|fabric| together::agree_on_end(fabric, fabric_on(fabric, args, &options)));
    }
    on_threads(2, |fabric| fabric_on(fabric, args, &options))
}

fn fabric_on(fabric: &impl Fabric, args: &FabricArgs, options: &FabricOptions) -> Result<Exit, Failure> {
    let report = study_on_ranks(fabric, &args.findings, |progress| fabric_study::run(fabric, options, progress))?;
    report.map_or(Ok(Exit::Complete), |report| publish(&args.findings, "fabric", &report, &report.pictures()))
}

/// Ranks that are threads; what rank 0 comes to.
fn on_threads(ranks: usize, body: impl Fn(&ThreadFabric) -> Result<Exit, Failure> + Sync) -> Result<Exit, Failure> {
    let mut ended = threads::run(ranks, body).map_err(|lost| Failure::Internal(lost.to_string()))?;
    ended.swap_remove(0)
}

/// *Collective.* A study made by all ranks: rank 0 shows progress and has the report, and a failure is told by one rank.
fn study_on_ranks<R>(
    fabric: &impl Fabric,
    args: &FindingsArgs,
    run: impl FnOnce(&mut dyn FnMut(&str)) -> Result<Option<R>, StudyError>,
) -> Result<Option<R>, Failure> {
    let tells = fabric.rank() == 0;
    if tells && ranks::are_several() {
        signals::end_rank().map_err(|error| Failure::threads(&error))?;
    }
    if told_once(fabric, if tells { make_folder(args) } else { Ok(()) })?.is_none() {
        return Ok(None);
    }
    let made = match run(&mut progress(tells && !args.quiet)) {
        Err(StudyError::Elsewhere(_)) => Ok(None),
        made => made.map_err(Failure::from),
    };
    told_once(fabric, made).map(Option::flatten)
}

/// *Collective.* Go on if all ranks can. The lowest that cannot has the failure, the others nothing.
fn told_once<T>(fabric: &impl Fabric, mine: Result<T, Failure>) -> Result<Option<T>, Failure> {
    let all = fabric.all_gather(&[u64::from(mine.is_ok())]).map_err(|error| Failure::Internal(error.to_string()))?;
    match all.iter().position(|fine| fine[0] == 0) {
        Some(lowest) if lowest != fabric.rank() => Ok(None),
        _ => mine.map(Some),
    }
}

fn tasks_options(args: &TasksArgs) -> TasksOptions {
    let usual = TasksOptions::default();
    let reps = args.reps.map(|reps| reps as usize);
    TasksOptions {
        quick: args.quick,
        reps: reps.unwrap_or(if args.quick { QUICK_REPS } else { usual.reps }),
        workers: given_or(&args.workers, usual.workers),
        programs: args.programs.clone(),
        versions: given_or(&args.versions, usual.versions),
        ..usual
    }
}

fn ranked_tasks_options(args: &TasksArgs) -> RankedTasksOptions {
    let usual = RankedTasksOptions::default();
    let TasksOptions { quick, reps, programs, .. } = tasks_options(args);
    let tactics = given_or(&args.tactics, usual.tactics);
    let gates = args.gates;
    RankedTasksOptions { workers: args.workers.clone(), quick, reps, programs, tactics, gates, ..usual }
}

fn table_options(args: &TableArgs) -> TableOptions {
    let usual = if args.quick { TableOptions::quick() } else { TableOptions::default() };
    TableOptions {
        operations: args.operations.unwrap_or(usual.operations),
        workers: given_or(&args.workers, usual.workers),
        loads: given_or(&args.load, usual.loads),
        chunks: given_or(&args.chunks, usual.chunks),
        mixes: given_or(&args.mixes, usual.mixes),
        ..usual
    }
}

fn given_or<T: Clone>(given: &[T], usual: Vec<T>) -> Vec<T> {
    if given.is_empty() { usual } else { given.to_vec() }
}

/// Make a study, with progress on standard error. The folder for its findings is there before the work begins.
fn study<R>(
    args: &FindingsArgs,
    run: impl FnOnce(&mut dyn FnMut(&str)) -> Result<R, StudyError>,
) -> Result<R, Failure> {
    make_folder(args)?;
    Ok(run(&mut progress(!args.quiet))?)
}

/// Where lines about progress go.
fn progress(is_shown: bool) -> impl FnMut(&str) {
    move |line: &str| {
        if is_shown {
            output::to_stderr(&format!("{line}\n"));
        }
    }
}

fn make_folder(args: &FindingsArgs) -> Result<(), Failure> {
    args.out
        .as_ref()
        .map_or(Ok(()), |folder| std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder, &error)))
}

/// Print the findings, and write them into the folder that was asked for.
fn publish(
    args: &FindingsArgs,
    name: &str,
    report: &(impl Serialize + Display),
    pictures: &[Picture],
) -> Result<Exit, Failure> {
    let json = serde_json::to_string(report).expect("plain data has a form in JSON") + "\n";
    if let Some(folder) = &args.out {
        write(&folder.join(format!("{name}.json")), &json)?;
        for picture in pictures {
            write(&folder.join(&picture.file_name), &picture.svg)?;
        }
    }
    output::to_stdout(&if args.json { json } else { report.to_string() })?;
    Ok(Exit::Complete)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    output::write_file(path, |out| out.write_all(text.as_bytes()).map_err(|error| Failure::file(path, &error)))
}
