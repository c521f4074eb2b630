//! `tremula reach` for Petri nets by several processes: a race.
//!
//! Each rank tries orders and strategies that no other one does, with memory and workers of its own. Whoever has found all
//! markings first says so on a board; the others stop, and the first counts. In the end every rank gives an account of its
//! part to rank 0, which tells what the decisive one says as if it were its own.

use crate::args::ReachArgs;
use crate::board::Board;
use crate::error::Failure;
use crate::net;
use crate::numbers::magnitude;
use crate::reach::Trouble;
use crate::report::Figures;
use crate::run::{Known, NetFigures, Phase, Run, Setting, Times};
use crate::together::{NoResult, Told};
use serde::{Deserialize, Serialize};
use std::sync::mpsc::channel;
use tremula_diagrams::Counters;
use tremula_fabric::bytes::{to_bytes, to_words};
use tremula_fabric::{Fabric, FabricError, Segment};
use tremula_models::PetriNet;

/// How a rank's part ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
enum End {
    /// With all figures.
    Complete,
    /// At a limit.
    Unknown(String),
    /// By bad input or a fault of the program.
    Failed(Failure),
    /// Another rank was faster.
    Beaten,
    /// There was nothing to do for it.
    Idle,
}

impl From<Trouble> for End {
    fn from(trouble: Trouble) -> End {
        match trouble {
            Trouble::Unknown(reason) => End::Unknown(reason),
            Trouble::Failed(failure) => End::Failed(failure),
        }
    }
}

impl From<FabricError> for End {
    fn from(error: FabricError) -> End {
        End::Unknown(error.to_string())
    }
}

/// What a rank tells rank 0.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Account {
    /// Was it the first that had found all markings?
    is_first: bool,
    end: End,
    found: Findings,
    /// Of its tables.
    counters: Option<[u64; Counters::FIELDS]>,
}

/// What a rank knows in the end.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Findings {
    strategy: String,
    order: String,
    rounds: u64,
    levels_only: bool,
    states: Option<(String, u64)>,
    nodes: Option<u64>,
    net: NetFigures,
    times: Times,
}

impl Findings {
    fn of(known: &Known) -> Findings {
        let Known { rounds, levels_only, nodes, times, .. } = *known;
        Findings {
            strategy: known.strategy.to_string(),
            order: known.setting.order.clone(),
            rounds,
            levels_only,
            states: known.states.clone(),
            nodes,
            net: known.net.clone(),
            times,
        }
    }

    /// Make them what is known here.
    fn write_to(self, known: &mut Known) {
        known.strategy = self.strategy.parse().expect("the name of a strategy");
        known.setting = Setting { format: "pnml", engine: "mdd", order: self.order };
        (known.rounds, known.levels_only) = (self.rounds, self.levels_only);
        (known.states, known.nodes) = (self.states, self.nodes);
        (known.net, known.times) = (self.net, self.times);
    }

    /// How many markings are known, for comparison.
    fn extent(&self) -> (usize, &str) {
        let digits = self.states.as_ref().map_or("", |(digits, _)| digits);
        (digits.len(), digits)
    }
}

/// *Collective.* Explore and count, all ranks against each other; on rank 0, what is known is then what the decisive one
/// knows.
pub fn race<F: Fabric>(args: &ReachArgs, run: &Run, net: &PetriNet, fabric: &F) -> Result<Told, NoResult>
where
    F::Segment: Send + Sync,
{
    let board = &Board::new(fabric)?;
    let accounts = std::thread::scope(|scope| {
        // The board is watched until all accounts are here: until then a limit of any rank is one of all.
        let (_until_here, over) = channel();
        let watch = std::thread::Builder::new().name("race".to_owned());
        let account = match watch.spawn_scoped(scope, move || board.watch(run, &over)) {
            Ok(_) => take_part(args, run, net, board),
            Err(error) => account(run, false, End::Failed(Failure::threads(&error)), None),
        };
        board.arrive()?;
        fabric.gather(0, &to_words(&serde_json::to_vec(&account).expect("plain data")))
    })?;
    match accounts {
        Some(accounts) => Ok(conclude(run, accounts.iter().map(|words| read(words)).collect())),
        None => Ok(Told::elsewhere()),
    }
}

/// What this rank does, from its share of the net's orders to its account.
fn take_part<S: Segment>(args: &ReachArgs, run: &Run, net: &PetriNet, board: &Board<S>) -> Account {
    let (mut is_first, mut figures) = (false, None);
    let mut compete = || -> Result<End, End> {
        net::refuse_what_nets_cannot(args)?;
        let seat = (board.rank(), board.ranks());
        let Some(explored) = net::markings_of_rank(args, run, net, seat, &mut figures)? else { return Ok(End::Idle) };
        is_first = board.claim()?;
        if !is_first {
            return Ok(End::Beaten);
        }
        net::evaluate(args, run, net, &explored)?;
        Ok(End::Complete)
    };
    let end = match compete() {
        Err(_) if run.is_beaten() => End::Beaten,
        Ok(end) | Err(end) => end,
    };
    account(run, is_first, end, figures)
}

/// Close the books of this rank.
fn account(run: &Run, is_first: bool, end: End, figures: Option<Figures>) -> Account {
    run.enter(Phase::Finish);
    let counters = figures.map(|figures| figures.counters.to_array());
    Account { is_first, end, found: Findings::of(&run.known()), counters }
}

fn read(words: &[u64]) -> Account {
    serde_json::from_slice(&to_bytes(words)).expect("an account of the same program")
}

/// Make the decisive account this rank's own.
fn conclude(run: &Run, mut accounts: Vec<Account>) -> Told {
    let of_ranks = accounts.iter().enumerate().map(|(rank, account)| line(rank, account)).collect();
    let Account { end, found, counters, .. } = accounts.swap_remove(decisive(&accounts));
    found.write_to(&mut run.known());
    let figures = counters.map(|counters| Figures { counters: Counters::from_array(counters), stealing: None });
    let ended = match end {
        End::Complete => Ok(()),
        End::Unknown(reason) => Err(NoResult::Here(Trouble::Unknown(reason))),
        End::Failed(failure) => Err(NoResult::Here(Trouble::Failed(failure))),
        End::Beaten | End::Idle => unreachable!("somebody was first, or rank 0 has a reason why it was not"),
    };
    Told { figures, of_ranks, ended }
}

/// Whose account counts: that of the first, or else of somebody who failed, or else of the one that got furthest.
fn decisive(accounts: &[Account]) -> usize {
    let first = accounts.iter().position(|account| account.is_first);
    let failed = || accounts.iter().position(|account| matches!(account.end, End::Failed(_)));
    let furthest = || {
        let extent = |&rank: &usize| (accounts[rank].end != End::Idle, accounts[rank].found.extent());
        // Of equals the lowest, which `max_by_key` would find last.
        (0..accounts.len()).rev().max_by_key(extent).expect("there is a rank")
    };
    first.or_else(failed).unwrap_or_else(furthest)
}

/// A rank's part in one line.
fn line(rank: usize, Account { is_first, end, found, .. }: &Account) -> String {
    let (strategy, order) = (&found.strategy, &found.order);
    let end = match end {
        _ if *is_first => format!("first, with {strategy} in the order {order}"),
        End::Idle => "nothing to do".to_owned(),
        End::Beaten => "beaten".to_owned(),
        End::Complete => "complete".to_owned(),
        End::Failed(failure) => failure.to_string(),
        End::Unknown(reason) => match &found.states {
            Some((digits, _)) => format!("{reason}, at {} states", magnitude(digits)),
            None => reason.clone(),
        },
    };
    format!("Rank {rank:<5}{end}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Size;
    use std::time::{Duration, Instant};
    use tremula_fabric::threads;
    use tremula_models::{Limits, read_pnml_file};

    fn run(args: &ReachArgs) -> Run {
        Run::new(args, Instant::now()).unwrap()
    }

    fn net(name: &str) -> (ReachArgs, PetriNet) {
        let path = format!("{}/../../testdata/pnml/{name}.pnml", env!("CARGO_MANIFEST_DIR"));
        let net = read_pnml_file(path.as_ref(), &Limits::default()).unwrap();
        (ReachArgs { workers: Some(1), mem: Some(Size::Bytes(64 << 20)), ..ReachArgs::of(path.into()) }, net)
    }

    /// What became of a race of threads: what each knows, and what rank 0 would tell.
    fn outcome(args: &ReachArgs, net: &PetriNet, ranks: usize) -> (Vec<Run>, Result<Told, NoResult>) {
        let outcomes = threads::run(ranks, |fabric| {
            let run = run(args);
            let told = race(args, &run, net, fabric);
            (run, told)
        });
        let (runs, mut told): (Vec<Run>, Vec<_>) = outcomes.unwrap().into_iter().unzip();
        (runs, told.swap_remove(0))
    }

    #[test]
    fn rank_0_knows_what_the_first_has_found() {
        let (args, net) = net("Kanban-PT-00005");
        for ranks in 1..=4 {
            let (runs, told) = outcome(&args, &net, ranks);
            let Ok(Told { figures, of_ranks, ended: Ok(()) }) = told else { panic!("no result") };
            assert!(figures.is_some_and(|figures| figures.counters.created > 0));
            let lines: Vec<&str> = of_ranks.lines().collect();
            assert_eq!(lines.len(), ranks, "{of_ranks}");
            assert_eq!(lines.iter().filter(|line| line.contains("first, with saturation")).count(), 1, "{of_ranks}");
            assert_eq!(lines.iter().filter(|line| line.contains("beaten")).count(), ranks - 1, "{of_ranks}");
            let known = runs[0].known();
            assert_eq!(known.states.as_ref().map(|(digits, _)| digits.as_str()), Some("2546432"));
            assert_eq!(known.net.transitions.as_deref(), Some("24460016"));
            assert!(of_ranks.contains(&format!("in the order {}\n", known.setting.order)), "{of_ranks}");
            assert!(known.times.reach > Duration::ZERO);
        }
    }

    #[test]
    fn ranks_beyond_the_contestants_take_part() {
        let (args, net) = net("ERK-PT-000001");
        let args = ReachArgs { order: crate::args::Order::Chosen("given".parse().unwrap()), ..args };
        let (runs, told) = outcome(&args, &net, 9);
        let Ok(Told { of_ranks, ended: Ok(()), .. }) = told else { panic!("no result") };
        let ended = |words: &str| of_ranks.lines().filter(|line| line.contains(words)).count();
        assert_eq!((ended("first"), ended("first") + ended("beaten") + ended("nothing")), (1, 9), "{of_ranks}");
        assert_eq!(runs[0].known().setting.order, "given");
        assert_eq!(runs[0].known().states.as_ref().map(|(digits, _)| digits.as_str()), Some("13"));
    }

    #[test]
    fn without_memory_nobody_wins() {
        let (args, net) = net("ERK-PT-100000");
        let args = ReachArgs { mem: Some(Size::Bytes(2 << 20)), ..args };
        let (_, told) = outcome(&args, &net, 2);
        let Ok(Told { ended: Err(NoResult::Here(Trouble::Unknown(reason))), .. }) = told else {
            panic!("an answer, or another reason")
        };
        assert!(reason.contains("budget"), "{reason}");
    }

    fn sample(is_first: bool, end: End, states: Option<&str>) -> Account {
        let run = run(&ReachArgs::of("m".into()));
        run.known().states = states.map(|digits| (digits.to_owned(), 3));
        account(&run, is_first, end, None)
    }

    #[test]
    fn the_first_decides_and_else_who_got_furthest() {
        let (unknown, failed) = (|| End::Unknown("why".to_owned()), End::Failed(Failure::Input("no".to_owned())));
        let first = sample(true, unknown(), None);
        let [few, many] = ["99", "100"].map(|digits| sample(false, unknown(), Some(digits)));
        let [nothing, idle] = [unknown(), End::Idle].map(|end| sample(false, end, None));
        let broken = sample(false, failed, None);
        let cases: [(&[&Account], usize); 5] = [
            (&[&many, &first, &broken], 1),
            (&[&many, &few, &broken], 2),
            (&[&few, &many, &nothing], 1),
            (&[&few, &few, &nothing], 0),
            (&[&idle, &idle, &nothing], 2),
        ];
        for (accounts, expected) in cases {
            let accounts: Vec<Account> = accounts.iter().map(|&account| account.clone()).collect();
            assert_eq!(decisive(&accounts), expected, "{accounts:?}");
        }
    }

    #[test]
    fn accounts_arrive_as_they_were_sent() {
        let run = run(&ReachArgs::of("m".into()));
        {
            let mut known = run.known();
            known.net.deadlock = Some(true);
            known.net.deadlock_marking = Some([("p".to_owned(), "2".into())].into_iter().collect());
            known.net.deadlock_trace = Some(vec!["t".to_owned(), "\u{e4}\"".to_owned()]);
            known.states = Some(("123456789012345678901234567890".to_owned(), 7));
            known.nodes = Some(12);
            known.times.count = Duration::from_micros(5);
        }
        let counters = Counters { created: 5, bytes: u64::MAX, ..Counters::default() };
        let sent = account(&run, true, End::Complete, Some(Figures { counters, stealing: None }));
        let arrived = read(&to_words(&serde_json::to_vec(&sent).unwrap()));
        assert_eq!(arrived, sent);
        assert_eq!(arrived.counters.map(Counters::from_array), Some(counters));
        let other = self::run(&ReachArgs::of("m".into()));
        arrived.found.clone().write_to(&mut other.known());
        assert_eq!(Findings::of(&other.known()), arrived.found);
    }
}
