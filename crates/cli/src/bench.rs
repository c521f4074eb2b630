//! `tremula bench`: studies of parts of this program, on this machine.

use crate::bench_args::{BenchArgs, BenchReachArgs, FabricArgs, FindingsArgs, GpuArgs, Study, TableArgs, TasksArgs};
use crate::error::{Exit, Failure};
use crate::gpu::{device_bytes, find};
use crate::memory::Size;
use crate::{model, output, ranks, together};
use serde::Serialize;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use tremula_diagrams::Attention;
use tremula_fabric::{Fabric, Reduction, threads};
use tremula_models::BddSystem;
use tremula_studies::fabric_study::{self, FabricOptions, FabricReport};
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
        bytes: args
            .gpu_mem
            .map_or(Ok(usual.bytes), |size| device_bytes(&device, Some(size)))
            .map_err(StudyError::from)?,
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
    if !args.tactics.is_empty() {
        // The same study, of one rank.
        let alone = threads::run(1, |fabric| ranked_tasks(args, fabric));
        return alone.map_err(|lost| Failure::Internal(lost.to_string()))?.remove(0);
    }
    let options = tasks_options(args);
    let report = study(&args.findings, |progress| tasks_study::run(&options, progress))?;
    publish(&args.findings, "tasks", &report, &report.pictures())
}

/// What one rank does for the study, and rank 0 with its findings. A failure is told by one rank.
fn ranked_tasks<F: Fabric>(args: &TasksArgs, fabric: &F) -> Result<Exit, Failure>
where
    F::Segment: Send + Sync + 'static,
{
    let ready = if fabric.rank() == 0 { prepare_ranked_tasks(args) } else { Ok(()) };
    let mut is_bad = [u64::from(ready.is_err())];
    // Lost ranks end this process by other means.
    let _ = fabric.all_reduce(Reduction::Max, &mut is_bad);
    ready?;
    if is_bad != [0] {
        return Ok(Exit::Complete);
    }
    let options = ranked_tasks_options(args);
    let told = on_rank(fabric, &args.findings, |progress| match ranked::run(fabric, &options, progress) {
        Err(StudyError::Elsewhere(_)) => Ok(None),
        result => result,
    });
    told?.map_or(Ok(Exit::Complete), |report| publish(&args.findings, "tasks-ranks", &report, &report.pictures()))
}

/// What can go wrong on rank 0 alone, before others wait for it.
fn prepare_ranked_tasks(args: &TasksArgs) -> Result<(), Failure> {
    if !args.versions.is_empty() {
        return Err(Failure::Input("--versions: tactics and several ranks are for the program's own".to_owned()));
    }
    make_folder(&args.findings)
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
    let report = ranks::run(|fabric| {
        on_rank(fabric, &args.findings, |progress| ranked_study::run(fabric, &options, progress))
    })??;
    report.map_or(Ok(Exit::Complete), |report| publish(&args.findings, "table-ranks", &report, &report.pictures()))
}

fn fabric(args: &FabricArgs) -> Result<Exit, Failure> {
    let usual = if args.quick { FabricOptions::quick() } else { FabricOptions::default() };
    let options = FabricOptions { reps: args.reps.map_or(usual.reps, |reps| reps as usize), ..usual };
    let report = if ranks::are_several() {
        ranks::run(|fabric| fabric_on(fabric, args, &options))??
    } else {
        let both = threads::run(2, |fabric| fabric_on(fabric, args, &options));
        both.map_err(|lost| Failure::Internal(lost.to_string()))?.swap_remove(0)?
    };
    report.map_or(Ok(Exit::Complete), |report| publish(&args.findings, "fabric", &report, &report.pictures()))
}

fn fabric_on(
    fabric: &impl Fabric,
    args: &FabricArgs,
    options: &FabricOptions,
) -> Result<Option<FabricReport>, Failure> {
    on_rank(fabric, &args.findings, |progress| fabric_study::run(fabric, options, progress))
}

/// A study as one rank makes it: rank 0 shows progress, and has the report.
fn on_rank<R>(
    fabric: &impl Fabric,
    args: &FindingsArgs,
    run: impl FnOnce(&mut dyn FnMut(&str)) -> Result<R, StudyError>,
) -> Result<R, Failure> {
    if fabric.rank() == 0 { study(args, run) } else { Ok(run(&mut |_| ())?) }
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
    RankedTasksOptions { workers: args.workers.clone(), quick, reps, programs, tactics, ..usual }
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
    let mut progress = |line: &str| {
        if !args.quiet {
            output::to_stderr(&format!("{line}\n"));
        }
    };
    Ok(run(&mut progress)?)
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
