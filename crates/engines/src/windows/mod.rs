//! Exploration by ranks that have nothing in common but messages: each has a part of the state space, its *window*.
//!
//! Every rank has a manager and the whole system, and keeps those states that lie in its window. In each round it computes the
//! successors of what it has found last, keeps those in its window, and sends the others to whom they belong. So operations are
//! those of one process, at its speed and with all its workers; ranks meet a few times in each round, and send whole sets.
//!
//! Where there is no room to compute all successors at once, a rank takes part of what it has found last, and a round has
//! several exchanges.
//!
//! Windows consist of pieces (`pieces`). At first everything is one piece, the first rank's. When ranks have waited for one
//! that has too much to do, large pieces are cut (`cut`), all are dealt out anew, and what is known moves.
//!
//! Invariants: a rank knows states of its own window only; windows are disjoint and together everything, on all ranks the
//! same. A round that goes level by level finds exactly the states of the next level, all ranks together.
//!
//! ```
//! use tremula_diagrams::{Budget, Manager, UBig};
//! use tremula_engines::{SymbolicSystem, windows};
//! use tremula_fabric::threads;
//! use tremula_models::{Limits, read_file};
//! let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/beem/phils.2.bdd");
//! let model = read_file(path.as_ref(), &Limits::default())?;
//! let parts = threads::run(3, |fabric| {
//!     let manager = Manager::new(&Budget::new(64 << 20)).unwrap();
//!     let system = SymbolicSystem::build(&manager, &model).unwrap();
//!     let options = windows::Options { patience: 1 };
//!     let ended = windows::explore(fabric, &system, "par".parse().unwrap(), options, &mut ());
//!     assert!(ended.halt.is_none());
//!     ended.states.count(&system.state_levels).unwrap()
//! })?;
//! assert_eq!(parts.iter().sum::<UBig>().to_string(), "581");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod circle;
mod cut;
mod parcel;
mod pieces;

use crate::reach::{Observer, Round};
use crate::space::Space;
use crate::strategy::{Order, Strategy};
use crate::system::SymbolicSystem;
use circle::Circle;
use parcel::Parcel;
use pieces::Pieces;
use std::time::{Duration, Instant};
use tremula_diagrams::{Bdd, Error};
use tremula_fabric::{Fabric, FabricError};

/// Pieces are cut that are larger than this many quarters of a rank's equal share. Smaller pieces balance better, but their
/// windows make larger diagrams; measured: docs/decisions/0026-windows.md.
const LARGE_IN_QUARTERS: u64 = 5;
/// With so many pieces for each rank, none is cut any more.
const MOST_PIECES: usize = 8;
/// Windows change when as much could have been done while waiting as this part of all work so far.
const BEARABLE: u64 = 4;
/// A rank gives up if there is no room for the successors of a set that was halved so often.
const MOST_HALVINGS: u32 = 10;

/// How windows are made.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// Windows do not change before so many steps were waited for.
    pub patience: u64,
}

impl Default for Options {
    /// A few milliseconds.
    fn default() -> Options {
        Options { patience: 400_000 }
    }
}

/// Why ranks have stopped early.
#[derive(Clone, Debug)]
pub enum Halt {
    /// This rank could not go on.
    Here(Error),
    /// That rank could not.
    Elsewhere(usize),
    /// Ranks cannot reach each other.
    Fabric(FabricError),
}

impl From<FabricError> for Halt {
    fn from(error: FabricError) -> Halt {
        Halt::Fabric(error)
    }
}

/// What a rank did with its time.
#[derive(Copy, Clone, Default, Debug)]
pub struct Times {
    /// Operations on sets, collections among them.
    pub computing: Duration,
    /// Listing sets for others, and building those that came.
    pub packing: Duration,
    /// Sending and receiving.
    pub sending: Duration,
    /// Waiting for others to come.
    pub waiting: Duration,
    /// Changing windows, all included.
    pub moving: Duration,
}

/// What went on at a rank.
#[derive(Copy, Clone, Default, Debug)]
pub struct WindowFigures {
    /// What its time went to.
    pub times: Times,
    /// Words of sets that were sent.
    pub words_sent: u64,
    /// Messages that were sent, those of meetings among them.
    pub messages: u64,
    /// How often windows have changed.
    pub moves: u64,
    /// Pieces of all windows in the end.
    pub pieces: u64,
}

/// How exploration ended, on this rank.
pub struct Ended {
    /// The states that were found in this rank's window: all that can be reached, if nothing stopped it.
    pub states: Bdd,
    /// Rounds completed, those of all ranks being one.
    pub rounds: u64,
    /// Breadth-first levels; none for strategies that do not go level by level.
    pub levels: Option<u64>,
    /// What stopped it.
    pub halt: Option<Halt>,
    /// What went on.
    pub figures: WindowFigures,
}

/// *Collective.* Find all states that can be reached, with one of the strategies that go round by round.
///
/// # Panics
/// If the strategy is another one.
pub fn explore<F: Fabric>(
    fabric: &F,
    system: &SymbolicSystem,
    strategy: Strategy,
    options: Options,
    observer: &mut dyn Observer,
) -> Ended {
    let mut explorer = Explorer::new(fabric, system, strategy, options);
    let halt = explorer.run(observer).err();
    let levels = explorer.goes_by_level().then_some(explorer.rounds);
    let Explorer { circle, pieces, moves, known, rounds, .. } = explorer;
    let Circle { times, words_sent, messages, .. } = circle;
    let figures = WindowFigures { times, words_sent, messages, moves, pieces: pieces.len() as u64 };
    Ended { states: known, rounds, levels, halt, figures }
}

/// One rank's side of an exploration.
struct Explorer<'a, F> {
    circle: Circle<'a, F>,
    system: &'a SymbolicSystem,
    strategy: Strategy,
    options: Options,
    pieces: Pieces,
    /// By rank.
    windows: Vec<Bdd>,
    /// All states found in the own window, and those that are to be explored next.
    known: Bdd,
    frontier: Bdd,
    /// What is left to explore in this round.
    rest: Bdd,
    /// How often the rest is halved before its successors are computed, for lack of room.
    halvings: u32,
    rounds: u64,
    balance: Balance,
    moves: u64,
}

/// A set, by windows.
struct Divided {
    /// What of it is in the own window.
    own: Bdd,
    /// The rest, by rank.
    parcels: Vec<Parcel>,
}

/// How things stand after an exchange, all ranks considered.
struct Exchanged {
    /// Is anything left to explore in this round?
    has_rest: bool,
    /// Has this round found new states?
    is_news: bool,
}

/// Who has done how much; the same on all ranks.
#[derive(Default)]
struct Balance {
    /// Steps of all ranks since the start.
    total: u64,
    /// Steps that ranks could have done while they waited for the one with most of them, since windows changed last.
    waited: u64,
}

impl Balance {
    /// An exchange is over, for which each rank did so many steps.
    fn note(&mut self, steps: &[u64]) {
        let (sum, most) = (steps.iter().sum::<u64>(), steps.iter().max().copied().unwrap_or(0));
        self.total += sum;
        self.waited += most * steps.len() as u64 - sum;
    }

    fn is_bad(&self, patience: u64) -> bool {
        self.waited > patience.max(self.total / BEARABLE)
    }
}

impl<'a, F: Fabric> Explorer<'a, F> {
    fn new(fabric: &'a F, system: &'a SymbolicSystem, strategy: Strategy, options: Options) -> Explorer<'a, F> {
        assert!(
            matches!(strategy.order, Order::Bfs | Order::Par | Order::Chaining),
            "{strategy} does not go round by round"
        );
        let circle = Circle::new(fabric);
        let (all, nothing) = (system.manager.constant(true), system.nothing());
        let windows = (0..circle.ranks()).map(|rank| if rank == 0 { all.clone() } else { nothing.clone() }).collect();
        let own = if circle.rank() == 0 { system.initial() } else { nothing };
        Explorer {
            circle,
            system,
            strategy,
            options,
            pieces: Pieces::whole(),
            windows,
            known: own.clone(),
            rest: own.clone(),
            frontier: own,
            halvings: 0,
            rounds: 0,
            balance: Balance::default(),
            moves: 0,
        }
    }

    fn goes_by_level(&self) -> bool {
        self.strategy.order != Order::Chaining
    }

    fn run(&mut self, observer: &mut dyn Observer) -> Result<(), Halt> {
        loop {
            let is_complete = !self.round()?;
            observer.round(&Round {
                number: self.rounds,
                is_level: self.goes_by_level(),
                states: &self.known,
                frontier: &self.frontier,
                strategy: self.strategy,
            });
            if is_complete {
                return Ok(());
            }
            if self.balance.is_bad(self.options.patience) {
                let began = Instant::now();
                self.move_windows()?;
                self.circle.times.moving += began.elapsed();
            }
        }
    }

    /// One round of all ranks; false if none of them has found anything new.
    fn round(&mut self) -> Result<bool, Halt> {
        let from = if self.strategy.frontier { &self.frontier } else { &self.known };
        self.rest = from.clone();
        self.frontier = self.system.nothing();
        let is_news = loop {
            let Exchanged { has_rest, is_news } = self.exchange()?;
            if !has_rest {
                break is_news;
            }
        };
        self.rounds += 1;
        Ok(is_news)
    }

    /// *Collective.* Explore as much of the rest as there is room for.
    fn exchange(&mut self) -> Result<Exchanged, Halt> {
        let before = self.steps();
        let found = self.successors_of_some();
        let own = self.spread(found)?;
        let grown = self.timed(|explorer| explorer.grow(own?));
        let [has_rest, is_news] = [&self.rest, &self.frontier].map(|set| u64::from(!set.is_false()));
        let ((), all) = self.circle.meet(grown, &[self.steps() - before, has_rest, is_news])?;
        self.balance.note(&all.iter().map(|words| words[0]).collect::<Vec<_>>());
        let any = |word: usize| all.iter().any(|words| words[word] == 1);
        Ok(Exchanged { has_rest: any(1), is_news: any(2) })
    }

    /// Look-ups in the operation cache: what work is measured by.
    fn steps(&self) -> u64 {
        self.system.manager.counters().lookups
    }

    fn timed<T>(&mut self, compute: impl FnOnce(&mut Self) -> T) -> T {
        let began = Instant::now();
        let result = compute(self);
        self.circle.times.computing += began.elapsed();
        result
    }

    /// Where all of the rest leads, or as much of it as there is room for, divided by windows.
    fn successors_of_some(&mut self) -> Result<Divided, Error> {
        let mut some = self.rest.clone();
        for _ in 0..self.halvings {
            some = cut::first_half(&some)?.unwrap_or(some);
        }
        loop {
            let found = self.timed(|explorer| explorer.successors(&some)).and_then(|found| self.divide(found));
            let may_be_less = matches!(found, Err(Error::TableFull)) && self.halvings < MOST_HALVINGS;
            let half = if may_be_less { cut::first_half(&some)? } else { None };
            let Some(half) = half else {
                self.rest = self.rest.minus(&some)?;
                self.halvings = self.halvings.saturating_sub(1);
                return found;
            };
            some = half;
            self.halvings += 1;
        }
    }

    /// Where states lead, in whatever window.
    fn successors(&self, from: &Bdd) -> Result<Bdd, Error> {
        let (system, nothing) = (self.system, self.system.nothing());
        match self.strategy.order {
            Order::Bfs => system.next_of_all(from),
            // Subtracting what is known from each image keeps the unions small.
            Order::Par => system.new_images(from, if self.strategy.frontier { &self.known } else { &nothing }),
            _ => (0..system.relations()).try_fold(from.clone(), |known, relation| system.fire(&known, relation)),
        }
    }

    /// *Collective.* Send the states of other windows to their owners; those of the own window, with what others have sent.
    /// Whether these could be united is for the next meeting.
    fn spread(&mut self, divided: Result<Divided, Error>) -> Result<Result<Bdd, Error>, Halt> {
        let (own, parcels) = match divided {
            Ok(Divided { own, parcels }) => (own, Ok(parcels)),
            Err(error) => (self.system.nothing(), Err(error)),
        };
        let received = self.circle.exchange(&self.system.manager, parcels)?;
        let began = Instant::now();
        // Each parcel is gone when it is united.
        let unite = |union: Bdd, parcel: Parcel| union.or(&parcel::unpack(&self.system.manager, &parcel.words)?);
        let union = received.into_iter().try_fold(own, unite);
        self.circle.times.packing += began.elapsed();
        Ok(union)
    }

    /// What of a set is in the own window, and parcels for the others.
    fn divide(&mut self, set: Bdd) -> Result<Divided, Error> {
        let began = Instant::now();
        let rank = self.circle.rank();
        let pack = |(owner, window): (usize, &Bdd)| match owner == rank {
            true => Ok(Parcel::default()),
            false => parcel::pack(&set.and(window)?),
        };
        let own = set.and(&self.windows[rank]);
        let parcels = self.windows.iter().enumerate().map(pack).collect::<Result<_, _>>();
        self.circle.times.packing += began.elapsed();
        Ok(Divided { own: own?, parcels: parcels? })
    }

    /// Add what was found to what is known.
    fn grow(&mut self, found: Bdd) -> Result<(), Error> {
        let new = found.minus(&self.known)?;
        // Its nodes may be needed for what comes.
        drop(found);
        self.known = self.known.or(&new)?;
        self.frontier = self.frontier.or(&new)?;
        Ok(())
    }

    // ---- windows that change ------------------------------------------------------------------------------------

    /// *Collective.* Cut large pieces, deal all of them out anew, and bring everything to where it belongs then. Where some rank
    /// has no room for that, all stays as it is until ranks have waited for each other as long again.
    fn move_windows(&mut self) -> Result<(), Halt> {
        self.balance.waited = 0;
        let Some(sizes) = self.sizes_after_cuts()? else { return Ok(()) };
        let ranks = self.circle.ranks();
        let before = (self.pieces.clone(), self.windows.clone());
        self.pieces.deal(ranks, &sizes);
        let made = (0..ranks).map(|rank| self.window(rank)).collect::<Result<Vec<_>, _>>();
        (self.windows, _) = self.circle.meet(made, &[])?;
        let [known, frontier] = [&self.known, &self.frontier].map(Bdd::clone).map(|set| self.divide(set));
        let Some((known, frontier)) = self.circle.if_all_have_room(known.and_then(|known| Ok((known, frontier?))))?
        else {
            (self.pieces, self.windows) = before;
            return Ok(());
        };
        self.known = self.moved(known)?;
        self.frontier = self.moved(frontier)?;
        self.moves += 1;
        Ok(())
    }

    /// *Collective.* Cut large pieces until there is none; the sizes of all, if all ranks have room to look at them.
    fn sizes_after_cuts(&mut self) -> Result<Option<Vec<u64>>, Halt> {
        let mut sizes = self.sizes()?;
        while let Some(known) = &sizes
            && self.pieces.len() < MOST_PIECES * self.circle.ranks()
            && self.cut_large(known)?
        {
            sizes = self.sizes()?;
        }
        Ok(sizes)
    }

    /// *Collective.* What all ranks have of a set that lies in the own window.
    fn moved(&mut self, set: Divided) -> Result<Bdd, Halt> {
        let own = self.spread(Ok(set))?;
        Ok(self.circle.meet(own, &[])?.0)
    }

    /// *Collective.* Nodes of what is known and of what is new in each piece, if all ranks have room to look.
    fn sizes(&mut self) -> Result<Option<Vec<u64>>, Halt> {
        let mine: Vec<usize> = self.pieces.of(self.circle.rank()).collect();
        let sizes = mine.iter().map(|&piece| self.size(piece)).collect::<Result<Vec<u64>, Error>>();
        let Some(words) = self.circle.if_all_have_room(sizes)? else { return Ok(None) };
        let ((), all) = self.circle.meet(Ok(()), &words)?;
        let mut sizes = vec![0; self.pieces.len()];
        for (rank, words) in all.iter().enumerate() {
            self.pieces.of(rank).zip(words).for_each(|(piece, &size)| sizes[piece] = size);
        }
        Ok(Some(sizes))
    }

    fn size(&self, piece: usize) -> Result<u64, Error> {
        let cube = self.system.manager.cube(self.pieces.cube(piece))?;
        Ok((self.known.and(&cube)?.node_count()? + self.frontier.and(&cube)?.node_count()?) as u64)
    }

    /// *Collective.* Have all pieces cut that are too large; false if none was.
    fn cut_large(&mut self, sizes: &[u64]) -> Result<bool, Halt> {
        let large = sizes.iter().sum::<u64>() * LARGE_IN_QUARTERS / (4 * self.circle.ranks() as u64);
        let is_large = |piece: &usize| sizes[*piece] > large;
        let mine: Vec<usize> = self.pieces.of(self.circle.rank()).filter(is_large).collect();
        let cuts = mine.iter().map(|&piece| self.where_to_cut(piece)).collect::<Result<Vec<_>, Error>>();
        let words = cuts.iter().flatten().map(|level| level.map_or(u64::MAX, u64::from)).collect::<Vec<_>>();
        let (_, all) = self.circle.meet(cuts, &words)?;
        let before = self.pieces.len();
        for (rank, words) in all.iter().enumerate() {
            let large: Vec<usize> = self.pieces.of(rank).filter(|&piece| piece < before && is_large(&piece)).collect();
            for (piece, &level) in large.into_iter().zip(words).filter(|(_, level)| **level != u64::MAX) {
                self.pieces.cut(piece, level as u32);
            }
        }
        Ok(self.pieces.len() > before)
    }

    fn where_to_cut(&self, piece: usize) -> Result<Option<u32>, Error> {
        let cube = self.pieces.cube(piece);
        let inside = self.system.manager.cube(cube).and_then(|inside| self.known.and(&inside));
        let level = inside.and_then(|inside| cut::best_level(&inside, cube));
        // Without room to look for a cut the piece stays whole.
        if level == Err(Error::TableFull) { Ok(None) } else { level }
    }

    /// The window of a rank, from its pieces.
    fn window(&self, rank: usize) -> Result<Bdd, Error> {
        let manager = &self.system.manager;
        self.pieces
            .of(rank)
            .try_fold(manager.constant(false), |window, piece| window.or(&manager.cube(self.pieces.cube(piece))?))
    }
}
