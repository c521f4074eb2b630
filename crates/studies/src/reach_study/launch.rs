//! Starting the program, alone or by a launcher, and waiting for its end.

use super::answer::Ended;
use super::options::{Kind, ReachOptions};
use std::env;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A run that goes on for so long after its time limit will not end by itself.
const GRACE: Duration = Duration::from_secs(30);
/// Pauses between looks at a run, whose times are its own: from short to long, so that short runs are over soon.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];
/// Open MPI does not run as root unless told so twice.
const AS_ROOT: [&str; 2] = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"];

/// Is there a program of this name, on the path if it has no folder?
pub(super) fn exists(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// The command that explores `model`.
pub(super) fn command(options: &ReachOptions, kind: &Kind, model: &Path) -> Command {
    let mut command = launched(options, kind.shape.ranks);
    let mem_bytes = options.mem_bytes / kind.shape.ranks as usize;
    command.arg("reach").arg(model).args(["--json", "--quiet", "--engine", "bdd", "--strategy", &options.strategy]);
    command.arg("--workers").arg(kind.shape.workers.to_string());
    command.arg("--mem").arg(mem_bytes.to_string());
    command.arg("--timeout").arg(options.timeout_seconds.to_string());
    command.args(&options.more).args(kind.variant.iter().flat_map(|variant| &variant.arguments));
    command
}

/// The program, by itself or as so many ranks.
fn launched(options: &ReachOptions, ranks: u32) -> Command {
    let Some((launcher, words)) = options.launcher.split_first().filter(|_| ranks > 1) else {
        return Command::new(&options.program);
    };
    let mut command = Command::new(launcher);
    command.args(words).arg("-n").arg(ranks.to_string()).arg(&options.program);
    command.envs(AS_ROOT.map(|name| (name, "1")));
    command
}

/// The process that a study waits for, if there is one. It goes on if nobody ends it when the study is ended.
#[derive(Clone, Debug, Default)]
pub struct Running(Arc<AtomicU32>);

impl Running {
    /// Its number.
    pub fn process(&self) -> Option<u32> {
        // Relaxed, here and below: a number that goes with no data.
        Some(self.0.load(Ordering::Relaxed)).filter(|&process| process != 0)
    }

    fn set(&self, process: Option<u32>) {
        self.0.store(process.unwrap_or(0), Ordering::Relaxed);
    }
}

/// Run a command to its end; none if it does not come to one long after its time limit.
pub(super) fn run(mut command: Command, timeout_seconds: f64, running: &Running) -> io::Result<Option<Ended>> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    running.set(Some(child.id()));
    let [stdout, stderr] = readers(&mut child);
    let limit = Duration::try_from_secs_f64(timeout_seconds).unwrap_or(Duration::MAX).saturating_add(GRACE);
    let code = wait(&mut child, limit);
    running.set(None);
    let Some(code) = code? else {
        child.kill()?;
        child.wait()?;
        return Ok(None);
    };
    let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().unwrap_or_default());
    Ok(Some(Ended { code, stdout, stderr }))
}

/// Threads that read what the child writes, so that it never has to wait for that.
fn readers(child: &mut Child) -> [thread::JoinHandle<String>; 2] {
    let stdout = child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
    let stderr = child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
    [stdout, stderr].map(|pipe| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before an error is all that there is.
            let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        })
    })
}

/// The exit code, if any, when the child has ended; none if that takes too long.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<Option<i32>>> {
    let (began, [mut pause, longest]) = (Instant::now(), PAUSES);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.code()));
        }
        if began.elapsed() > limit {
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (2 * pause).min(longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(options: &ReachOptions, at: usize) -> String {
        let command = command(options, &options.kinds()[at], Path::new("m.bdd"));
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ranks_share_the_memory_and_need_a_launcher() {
        let shapes = ["1x2", "4x1"].map(|text| text.parse().unwrap()).to_vec();
        let variants = vec!["wide=--tune=lanes=16".parse().unwrap()];
        let more = vec!["--stats".to_owned()];
        let options = ReachOptions { shapes, variants, more, mem_bytes: 4000, ..ReachOptions::default() };
        let rest = "reach m.bdd --json --quiet --engine bdd --strategy par";
        let alone = format!("tremula {rest} --workers 2 --mem 4000 --timeout 3600 --stats --tune=lanes=16");
        assert_eq!(line(&options, 0), alone);
        let launcher = "mpirun --quiet --oversubscribe --bind-to none -n 4";
        let four = format!("{launcher} tremula {rest} --workers 1 --mem 1000 --timeout 3600 --stats --tune=lanes=16");
        assert_eq!(line(&options, 1), four);
    }

    #[test]
    fn programs_are_looked_for() {
        assert!(exists("sh") && exists("/bin/sh"));
        assert!(!exists("no-such-launcher") && !exists("/bin/no-such-launcher") && !exists("/bin"));
    }

    #[test]
    fn commands_run_to_their_end() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo out; echo err >&2; exit 5"]);
        let running = Running::default();
        let ended = run(shell, 10.0, &running).unwrap().expect("it ends");
        assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(5), "out\n", "err\n"));
        assert_eq!(running.process(), None);
    }

    #[test]
    fn nobody_waits_for_ever() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(wait(&mut child, Duration::from_millis(20)).unwrap(), None);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
