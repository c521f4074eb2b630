//! A device that explores beside the processors: `--engine auto` takes the answer of whoever is first.
//!
//! Nothing in a model tells who that will be: saturation on one processor beats a device on many models, and the other way
//! round. So the processors begin, and where they are not done after a while, the device begins too. Whoever is done stops
//! the other one; the device is done when its answer is in the memory of the processors. Nobody waits for a device that
//! has lost.

use crate::error::catch;
use crate::presence::Presence;
use crate::subject::{Model, Subject};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tremula_bulk::{Bulk, Diagram, Graph, Machine};
use tremula_diagrams::{Attention, Budget, Lease};
use tremula_engines::{Reached, Strategy, explore};
use tremula_models::BddSystem;

/// How long the processors have for themselves: what takes them no longer is not worth the start of a device. Measured:
/// docs/gpu.md.
pub const HEAD_START: Duration = Duration::from_millis(100);

/// How often somebody who waits looks whether all are stopped.
const LOOK: Duration = Duration::from_millis(50);

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
pub struct Won {
    pub states: Diagram,
    pub model: Arc<BddSystem>,
    /// The memory of the states, and of the model.
    pub leases: [Lease; 2],
    pub rounds: u64,
    pub levels: Option<u64>,
    pub strategy: Strategy,
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

/// Makes the machine of a rival, in the rival's thread; nothing if there is none to be had.
pub trait Opener<M>: FnOnce(&Graph, &Diagram) -> Option<M> + Send + 'static {}

impl<M, F: FnOnce(&Graph, &Diagram) -> Option<M> + Send + 'static> Opener<M> for F {}

impl Rival {
    /// Let the machine that `open` makes take part, if it makes one.
    pub fn start<M: Machine>(game: Match, open: impl Opener<M>) -> Rival {
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
        let presence = Presence::new();
        let body = move || {
            let _presence = presence;
            let processors = game.processors.clone();
            let compete =
                || shared.wait_for_start(game.head_start).then(|| shared.compete(game, lease, open)).flatten();
            // A driver that does not fit may panic: that is the device's matter only.
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
    fn compete<M: Machine>(&self, game: Match, mut lease: Lease, open: impl Opener<M>) -> Option<Won> {
        let Model { system: model, bytes } = (game.subject.make)(lease.bytes())?;
        let graph = Graph::compile(&model).ok()?;
        lease.resize(bytes + graph.bytes()).ok()?;
        let machine = open(&graph, &Diagram::of_initial_states(&model))?;
        let space = Bulk::new(machine, &graph, self.attention.clone());
        let reached = explore(&space, game.strategy, &mut ()).ok()?;
        // The processors go on meanwhile; what it lacks may be the memory that they have.
        let export = || space.export(&reached.states, &game.budget).ok();
        let (states, of_states) = export().or_else(|| self.wait_until_alone().then(export).flatten())?;
        lease.resize(bytes).ok()?;
        let Reached { rounds, levels, strategy, .. } = reached;
        Some(Won { states, model, leases: [of_states, lease], rounds, levels, strategy })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presence::is_about;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;
    use tremula_bulk::layout::Ref;
    use tremula_bulk::{Figures, Grown, Part, Root, Trouble, Twin};
    use tremula_engines::Order;
    use tremula_models::{Limits, read_file};

    const PAR: Strategy = Strategy { order: Order::Par, frontier: true };

    fn game(head_start: Duration) -> Match {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/phils.1.bdd");
        let model = Arc::new(read_file(path.as_ref(), &Limits::default()).unwrap());
        let (subject, both) = (Subject::in_bits(&model), Attention::default());
        Match { subject, strategy: PAR, processors: both.of_one(), both, budget: Budget::new(16 << 20), head_start }
    }

    fn twin(graph: &Graph, initial: &Diagram) -> Option<Twin> {
        Twin::new(graph.clone(), initial, 16 << 20).ok()
    }

    #[test]
    fn a_rival_that_is_first_stops_the_processors() {
        let game = game(Duration::ZERO);
        let processors = game.processors.clone();
        let won = Rival::start(game, twin).wait().expect("a small model");
        assert!(processors.is_cancelled());
        assert!(won.rounds > 1 && won.levels.is_some() && won.strategy == PAR);
        assert!(!won.states.nodes.is_empty() && won.leases[0].bytes() > 0);
    }

    /// A twin whose first exports fail.
    struct Clumsy {
        twin: Twin,
        /// Exports that were asked for.
        asked: Arc<AtomicUsize>,
        failing: usize,
    }

    impl Machine for Clumsy {
        fn heed(&mut self, attention: &Attention) {
            self.twin.heed(attention);
        }
        fn sweep(&mut self, roots: &[Root]) -> Result<Vec<Ref>, Trouble> {
            self.twin.sweep(roots)
        }
        fn grow(&mut self, root: &Root) -> Result<Grown, Trouble> {
            self.twin.grow(root)
        }
        fn collect(&mut self, keep: &[Ref]) -> Result<Vec<Ref>, Trouble> {
            self.twin.collect(keep)
        }
        fn export(&mut self, set: Ref, budget: &Budget) -> Result<(Diagram, Lease), Trouble> {
            // Relaxed: a count.
            let before = self.asked.fetch_add(1, Ordering::Relaxed);
            if before < self.failing { Err(Trouble::Full(Part::Host)) } else { self.twin.export(set, budget) }
        }
        fn initial(&self) -> Ref {
            self.twin.initial()
        }
        fn figures(&self) -> Figures {
            self.twin.figures()
        }
    }

    #[test]
    fn processors_go_on_until_the_answer_is_brought_back() {
        for (failing, is_answered) in [(1, true), (2, false)] {
            let (game, asked) = (game(Duration::ZERO), Arc::new(AtomicUsize::new(0)));
            let (processors, exports) = (game.processors.clone(), Arc::clone(&asked));
            let rival = Rival::start(game, move |graph: &Graph, initial: &Diagram| {
                twin(graph, initial).map(|twin| Clumsy { twin, asked, failing })
            });
            while exports.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            assert!(!processors.is_cancelled());
            assert_eq!(rival.wait().is_some(), is_answered);
            assert_eq!((exports.load(Ordering::Relaxed), processors.is_cancelled()), (2, is_answered));
        }
    }

    #[test]
    fn a_rival_that_is_not_needed_does_not_start() {
        let began = Instant::now();
        let game = game(Duration::from_secs(3600));
        let processors = game.processors.clone();
        let rival = Rival::start(game, |_: &Graph, _: &Diagram| -> Option<Twin> { panic!("started") });
        assert!(is_about());
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
        let rival = Rival::start(game(Duration::ZERO), |_: &Graph, _: &Diagram| -> Option<Twin> { panic!("a driver") });
        assert!(rival.wait().is_none());
    }

    #[test]
    fn without_a_machine_or_when_both_are_stopped_there_is_no_answer() {
        assert!(Rival::start(game(Duration::ZERO), |_: &Graph, _: &Diagram| None::<Twin>).wait().is_none());
        let game = game(Duration::ZERO);
        game.both.cancel();
        assert!(Rival::start(game, twin).wait().is_none());
    }
}
