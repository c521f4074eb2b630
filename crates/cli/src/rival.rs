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
    /// Their memory.
    pub lease: Lease,
    pub rounds: u64,
    pub levels: Option<u64>,
    pub strategy: Strategy,
}

/// The same, and the model that they are of.
pub struct Won {
    pub explored: Explored,
    pub model: Arc<BddSystem>,
    /// The memory of the model.
    pub of_model: Lease,
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

/// Memory of the processors, so many bytes of it; it may take until they have stopped.
pub type Room<'a> = &'a dyn Fn(usize) -> Option<Lease>;

/// What a device is to do.
pub struct Task<'a> {
    pub model: &'a BddSystem,
    pub strategy: Strategy,
    /// Ends it.
    pub attention: &'a Attention,
    /// All memory there is.
    pub memory: usize,
    /// For the answer.
    pub room: Room<'a>,
}

/// Explores, in the rival's thread; nothing if that cannot be, or is not needed any more.
pub trait Explorer: FnOnce(&Task<'_>) -> Option<Explored> + Send + 'static {}

impl<F: FnOnce(&Task<'_>) -> Option<Explored> + Send + 'static> Explorer for F {}

impl Rival {
    /// Let `explorer` take part.
    pub fn start(game: Match, explorer: impl Explorer) -> Rival {
        let shared = Arc::new(Shared {
            attention: game.both.of_one(),
            state: Mutex::new(State::Competing),
            changed: Condvar::new(),
        });
        let rival = Rival(Arc::clone(&shared));
        // Without memory or a thread there is no rival.
        let Ok(lease) = game.budget.take(game.subject.kept) else {
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
        let take = |bytes| game.budget.take(bytes).ok();
        // The processors go on meanwhile; what it lacks may be the memory that they have.
        let room = |bytes| take(bytes).or_else(|| self.wait_until_alone().then(|| take(bytes)).flatten());
        let (strategy, memory) = (game.strategy, game.budget.limit());
        let explored = explorer(&Task { model: &model, strategy, attention: &self.attention, memory, room: &room })?;
        lease.resize(bytes).ok()?;
        Some(Won { explored, model, of_model: lease })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envoy::explore_on;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;
    use tremula_bulk::{Graph, Twin};
    use tremula_engines::Order;
    use tremula_models::{Limits, read_file};

    const PAR: Strategy = Strategy { order: Order::Par, frontier: true };

    fn game(head_start: Duration) -> Match {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/phils.1.bdd");
        let model = Arc::new(read_file(path.as_ref(), &Limits::default()).unwrap());
        let (subject, both) = (Subject::in_bits(&model), Attention::default());
        Match { subject, strategy: PAR, processors: both.of_one(), both, budget: Budget::new(16 << 20), head_start }
    }

    fn by_twin(task: &Task<'_>) -> Option<Explored> {
        let graph = Graph::compile(task.model).ok()?;
        let twin = Twin::new(graph.clone(), &Diagram::of_initial_states(task.model), task.memory).ok()?;
        let explored = explore_on(twin, &graph, task.strategy, task.attention.clone(), &Budget::new(task.memory))?;
        Some(Explored { lease: (task.room)(explored.lease.bytes())?, ..explored })
    }

    #[test]
    fn a_rival_that_is_first_stops_the_processors() {
        let game = game(Duration::ZERO);
        let processors = game.processors.clone();
        let Won { explored, .. } = Rival::start(game, by_twin).wait().expect("a small model");
        assert!(processors.is_cancelled());
        assert!(explored.rounds > 1 && explored.levels.is_some() && explored.strategy == PAR);
        assert!(!explored.states.nodes.is_empty() && explored.lease.bytes() > 0);
    }

    #[test]
    fn processors_go_on_until_there_is_room_for_the_answer() {
        for (given_back, is_answered) in [(true, true), (false, false)] {
            let game = game(Duration::ZERO);
            let processors = game.processors.clone();
            let (budget, is_asked) = (game.budget.clone(), Arc::new(AtomicBool::new(false)));
            let asks = Arc::clone(&is_asked);
            // The processors have what the subject leaves.
            let taken = budget.take(budget.available() - game.subject.kept).unwrap();
            let rival = Rival::start(game, move |task: &Task<'_>| {
                // Released to those who look whether it has come so far.
                asks.store(true, Ordering::Release);
                by_twin(task)
            });
            // Acquires from the rival's thread.
            while !is_asked.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            assert!(!processors.is_cancelled());
            let still_taken = (!given_back).then_some(taken);
            assert_eq!(rival.wait().is_some(), is_answered);
            assert_eq!(processors.is_cancelled(), is_answered);
            drop(still_taken);
        }
    }

    #[test]
    fn a_rival_that_is_not_needed_does_not_start() {
        let began = Instant::now();
        let game = game(Duration::from_secs(3600));
        let processors = game.processors.clone();
        let rival = Rival::start(game, |_: &Task<'_>| -> Option<Explored> { panic!("started") });
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
        let rival = Rival::start(game(Duration::ZERO), |_: &Task<'_>| -> Option<Explored> { panic!("a driver") });
        assert!(rival.wait().is_none());
    }

    #[test]
    fn without_a_machine_or_when_both_are_stopped_there_is_no_answer() {
        assert!(Rival::start(game(Duration::ZERO), |_: &Task<'_>| None).wait().is_none());
        let game = game(Duration::ZERO);
        game.both.cancel();
        assert!(Rival::start(game, by_twin).wait().is_none());
    }
}
