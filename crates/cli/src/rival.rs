//! A device that explores beside the processors: `--engine auto` takes the answer of whoever is first.
//!
//! Nothing in a model tells who that will be: saturation on one processor beats a device on many models, and the other way
//! round. So the processors begin, and where they are not done after a while, the device begins too. Whoever is done stops
//! the other one; the device is done when its answer is in the memory of the processors. Nobody waits for a device that
//! has lost.

use crate::error::catch;
use crate::subject::{Model, Subject};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tremula_bulk::Diagram;
use tremula_diagrams::{Attention, Budget, Lease};
use tremula_engines::Strategy;
use tremula_models::BddSystem;

/// How long the processors have for themselves: what takes them no longer is not worth the start of a device. Measured:
/// docs/gpu.md.
pub const HEAD_START: Duration = Duration::from_millis(100);

/// How often somebody who waits looks whether all are stopped.
pub const LOOK: Duration = Duration::from_millis(50);

/// A rival that needs more than this part of the memory is not worth what the processors lack then.
const SHARE_OF_RIVAL: usize = 4;

/// A device at work, or about to be.
pub struct Rival(Arc<Shared>);

struct Shared {
    /// Ends the device's exploration.
    attention: Attention,
    state: Mutex<State>,
    changed: Condvar,
}

/// How far the device is.
enum State {
    Competing,
    /// The processors have ended without an answer, and have given back their memory.
    Alone,
    Ended(Option<Won>),
}

/// All reachable states, as the device found them.
pub struct Explored {
    pub states: Diagram,
    pub rounds: u64,
    pub levels: Option<u64>,
    pub strategy: Strategy,
}

/// The same, and the model that they are of.
pub struct Won {
    pub explored: Explored,
    pub model: Arc<BddSystem>,
    /// The memory of the states, and of the model.
    pub leases: [Lease; 2],
}

/// What is explored, and how to stop.
pub struct Match {
    pub subject: Subject,
    pub strategy: Strategy,
    /// Stops both.
    pub both: Attention,
    /// Stops the processors.
    pub processors: Attention,
    /// Memory of both.
    pub budget: Budget,
    pub head_start: Duration,
}

/// How much is lent for an answer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Loan {
    /// Half of what the processors leave.
    Half,
    /// All that there is once they have stopped.
    All,
}

/// Lends memory; nothing if there is none, or the answer is not needed any more.
pub type Lender<'a> = &'a dyn Fn(Loan) -> Option<Lease>;

/// What a device is to do.
pub struct Task<'a> {
    pub model: &'a BddSystem,
    pub strategy: Strategy,
    /// Ends it.
    pub attention: &'a Attention,
    /// All memory there is.
    pub memory: usize,
    /// Memory for the answer.
    pub lend: Lender<'a>,
}

/// Explores, in the rival's thread; nothing if that cannot be, or is not needed any more.
pub trait Explorer: FnOnce(&Task<'_>) -> Option<(Explored, Lease)> + Send + 'static {}

impl<F: FnOnce(&Task<'_>) -> Option<(Explored, Lease)> + Send + 'static> Explorer for F {}

impl Rival {
    /// Let `explorer` take part.
    pub fn start(game: Match, explorer: impl Explorer) -> Rival {
        let shared = Arc::new(Shared {
            attention: game.both.of_one(),
            state: Mutex::new(State::Competing),
            changed: Condvar::new(),
        });
        let rival = Rival(Arc::clone(&shared));
        // Without memory to spare or a thread there is no rival.
        let spare = game.budget.available() / SHARE_OF_RIVAL;
        let lease = if game.subject.kept <= spare { game.budget.take(game.subject.kept).ok() } else { None };
        let Some(lease) = lease else {
            shared.become_state(State::Ended(None));
            return rival;
        };
        let body = move || {
            let processors = game.processors.clone();
            let compete =
                || shared.wait_for_start(game.head_start).then(|| shared.compete(game, lease, explorer)).flatten();
            // A panic there is the device's matter only.
            let won = catch(compete).ok().flatten();
            if won.is_some() {
                processors.cancel();
            }
            shared.become_state(State::Ended(won));
        };
        if std::thread::Builder::new().name("device".to_owned()).spawn(body).is_err() {
            rival.0.become_state(State::Ended(None));
        }
        rival
    }

    /// The processors are done.
    pub fn stop(&self) {
        self.0.attention.cancel();
        // Under the lock, so that nobody misses it between a look and going to sleep.
        let _state = self.0.lock();
        self.0.changed.notify_all();
    }

    /// Wait for the device's answer, if it will have one before everything is stopped. The processors have given back their
    /// memory.
    pub fn wait(&self) -> Option<Won> {
        let mut state = self.0.lock();
        while !self.0.attention.is_cancelled() {
            match &mut *state {
                State::Ended(won) => return won.take(),
                State::Competing => {
                    *state = State::Alone;
                    self.0.changed.notify_all();
                }
                State::Alone => {}
            }
            state = self.0.sleep(state, LOOK);
        }
        None
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // What is in it changes at once, or not at all.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleep until something has changed, or for so long.
    fn sleep<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }

    fn become_state(&self, state: State) {
        *self.lock() = state;
        self.changed.notify_all();
    }

    /// False if there is no more need to start.
    fn wait_for_start(&self, head_start: Duration) -> bool {
        let go_on = |_: &mut State| !self.attention.is_cancelled();
        let _ = self.changed.wait_timeout_while(self.lock(), head_start, go_on);
        !self.attention.is_cancelled()
    }

    /// False if the processors have the answer, or all are stopped.
    fn wait_until_alone(&self) -> bool {
        let mut state = self.lock();
        while !matches!(*state, State::Alone) && !self.attention.is_cancelled() {
            state = self.sleep(state, LOOK);
        }
        !self.attention.is_cancelled()
    }

    /// The device's exploration; nothing if it does not get to the end, or its answer cannot be brought back.
    fn compete(&self, game: Match, mut lease: Lease, explorer: impl Explorer) -> Option<Won> {
        let Model { system: model, bytes } = (game.subject.make)(lease.bytes())?;
        let take = |part: usize| game.budget.take(game.budget.available() / part).ok();
        // The processors go on meanwhile; what it lacks may be the memory that they have.
        let lend = |loan| match loan {
            Loan::Half => take(2),
            Loan::All => self.wait_until_alone().then(|| take(1)).flatten(),
        };
        let (strategy, memory) = (game.strategy, game.budget.limit());
        let task = Task { model: &model, strategy, attention: &self.attention, memory, lend: &lend };
        let (explored, of_states) = explorer(&task)?;
        lease.resize(bytes).ok()?;
        Some(Won { explored, model, leases: [of_states, lease] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envoy::explore_here;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;
    use tremula_engines::Order;
    use tremula_models::{Limits, read_file};

    const PAR: Strategy = Strategy { order: Order::Par, frontier: true };

    fn game(head_start: Duration) -> Match {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/phils.1.bdd");
        let model = Arc::new(read_file(path.as_ref(), &Limits::default()).unwrap());
        let (subject, both) = (Subject::in_bits(&model), Attention::default());
        Match { subject, strategy: PAR, processors: both.of_one(), both, budget: Budget::new(16 << 20), head_start }
    }

    #[test]
    fn a_rival_that_is_first_stops_the_processors() {
        let game = game(Duration::ZERO);
        let processors = game.processors.clone();
        let Won { explored, leases, .. } = Rival::start(game, explore_here).wait().expect("a small model");
        assert!(processors.is_cancelled());
        assert!(explored.rounds > 1 && explored.levels.is_some() && explored.strategy == PAR);
        assert!(!explored.states.nodes.is_empty() && leases[0].bytes() > 0);
    }

    #[test]
    fn processors_go_on_until_there_is_memory_for_the_answer() {
        for is_given_back in [true, false] {
            let game = game(Duration::ZERO);
            let (processors, budget) = (game.processors.clone(), game.budget.clone());
            let (taken, is_asked) = (Arc::new(Mutex::new(None)), Arc::new(AtomicBool::new(false)));
            let (takes, asks) = (Arc::clone(&taken), Arc::clone(&is_asked));
            let rival = Rival::start(game, move |task: &Task<'_>| {
                // The processors have all the rest by then.
                *takes.lock().unwrap() = Some(budget.take(budget.available()).unwrap());
                // Released to those who look whether it has come so far.
                asks.store(true, Ordering::Release);
                explore_here(task)
            });
            // Acquires from the rival's thread.
            while !is_asked.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            assert!(!processors.is_cancelled());
            if is_given_back {
                drop(taken.lock().unwrap().take());
            }
            assert_eq!((rival.wait().is_some(), processors.is_cancelled()), (is_given_back, is_given_back));
        }
    }

    #[test]
    fn a_rival_that_needs_too_much_does_not_start() {
        let game = Match { budget: Budget::new(1000), ..game(Duration::ZERO) };
        let rival = Rival::start(game, |_: &Task<'_>| -> Option<(Explored, Lease)> { panic!("started") });
        assert!(matches!(*rival.0.lock(), State::Ended(None)));
    }

    #[test]
    fn a_rival_that_is_not_needed_does_not_start() {
        let began = Instant::now();
        let game = game(Duration::from_secs(3600));
        let processors = game.processors.clone();
        let rival = Rival::start(game, |_: &Task<'_>| -> Option<(Explored, Lease)> { panic!("started") });
        rival.stop();
        assert!(rival.wait().is_none() && !processors.is_cancelled());
        // The thread ends, too.
        while !matches!(*rival.0.lock(), State::Ended(None)) {
            std::thread::yield_now();
        }
        assert!(began.elapsed() < Duration::from_secs(600));
    }

    #[test]
    fn a_panic_of_the_device_is_a_lost_match() {
        let rival =
            Rival::start(game(Duration::ZERO), |_: &Task<'_>| -> Option<(Explored, Lease)> { panic!("a driver") });
        assert!(rival.wait().is_none());
    }

    #[test]
    fn without_a_machine_or_when_both_are_stopped_there_is_no_answer() {
        assert!(Rival::start(game(Duration::ZERO), |_: &Task<'_>| None).wait().is_none());
        let game = game(Duration::ZERO);
        game.both.cancel();
        assert!(Rival::start(game, explore_here).wait().is_none());
    }
}
