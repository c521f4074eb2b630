//! n-queens with binary decision diagrams, once per package.
//!
//! `queens PEER N` prints `PEER N seconds count`; `queens --peers` lists the
//! peers compiled in. The seconds cover the creation of the manager, the
//! construction of the diagram and the count of its satisfying assignments,
//! neither the start of the process nor the disposal of the manager.

mod board;
mod peers;

use std::env;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use peers::{PEERS, Peer};

/// What one run yields.
struct Outcome {
    count: u64,
    time: Duration,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--peers"] => {
            PEERS.iter().for_each(|(name, _)| println!("{name}"));
            Ok(())
        }
        [peer, size] => run(peer, size),
        _ => Err("usage: queens PEER N | queens --peers".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("queens: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Solves one board with one peer, checks the count and prints the line.
fn run(peer: &str, size: &str) -> Result<(), String> {
    let &(name, solve) =
        PEERS.iter().find(|(name, _)| *name == peer).ok_or_else(|| format!("no peer `{peer}` compiled in"))?;
    let size = size
        .parse()
        .ok()
        .filter(|size| board::SIZES.contains(size))
        .ok_or_else(|| format!("no board size in {:?}: `{size}`", board::SIZES))?;
    let Outcome { count, time } = solve(size);
    println!("{name} {size} {:.6} {count}", time.as_secs_f64());
    let expected = board::solutions(size);
    if count == expected { Ok(()) } else { Err(format!("{name} counts {count}, not {expected}")) }
}

/// Builds and counts the board of a size with the peer `P`.
fn solve<P: Peer>(size: u32) -> Outcome {
    let start = Instant::now();
    P::with_manager(size * size, |peer| {
        let queens = board::queens(peer, size);
        let count = peer.count(&queens);
        let time = start.elapsed();
        Outcome { count, time }
    })
}
