//! Streams of words between ranks: how ranks send each other messages through segments.
//!
//! Every rank has a ring of words for each sender, in its own part of a segment. A sender writes words into the ring, many
//! at a time; the receiver reads them and tells the sender now and then how far it is. What is written at once is a frame,
//! whose header tells the receiver whether all of it has come: neither an order of writes nor a flush is needed, nor whole
//! words (F1), and one write carries a whole batch. What finds no room waits at the sender. (Zeros left by the receiver
//! would not do instead: a network may write a word twice.)
//!
//! Streams know no messages: the receiver is shown all words that have come and says how many it has understood.
//!
//! ```
//! use tremula_fabric::{mail::Mail, threads};
//! let sums = threads::run(2, |fabric| {
//!     let mail = Mail::open(fabric, 64).unwrap();
//!     mail.send(1 - mail.rank(), &[1, 2, 39]);
//!     let mut sum = 0;
//!     while sum < 42 {
//!         mail.receive(&mut |_from, words| {
//!             sum += words.iter().sum::<u64>();
//!             words.len()
//!         });
//!     }
//!     sum
//! });
//! assert_eq!(sums.unwrap(), [42, 42]);
//! ```

mod frame;

use crate::sync::Ordering;
use crate::{Fabric, FabricError, Pending, Place, Segment};
use frame::ROUND;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The receiver acknowledges after this part of a ring.
const RINGS_PER_ACKNOWLEDGEMENT: u64 = 4;

/// What [`Mail`] does, whatever the segments under it.
pub trait Post: Send + Sync {
    /// See [`Mail::rank`].
    fn rank(&self) -> usize;
    /// See [`Mail::ranks`].
    fn ranks(&self) -> usize;
    /// See [`Mail::send`].
    fn send(&self, to: usize, words: &[u64]);
    /// See [`Mail::receive`].
    fn receive(&self, understand: &mut dyn FnMut(usize, &[u64]) -> usize) -> bool;
    /// See [`Mail::help`].
    fn help(&self);
    /// See [`Mail::is_sent`].
    fn is_sent(&self) -> bool;
    /// See [`Mail::check`].
    fn check(&self);
}

impl<S: Segment + Send + Sync> Post for Mail<S>
where
    S::Words: Send,
{
    fn rank(&self) -> usize {
        Mail::rank(self)
    }
    fn ranks(&self) -> usize {
        Mail::ranks(self)
    }
    fn send(&self, to: usize, words: &[u64]) {
        Mail::send(self, to, words);
    }
    fn receive(&self, understand: &mut dyn FnMut(usize, &[u64]) -> usize) -> bool {
        Mail::receive(self, understand)
    }
    fn help(&self) {
        Mail::help(self);
    }
    fn is_sent(&self) -> bool {
        Mail::is_sent(self)
    }
    fn check(&self) {
        Mail::check(self);
    }
}

/// A rank's streams to and from all others. Any thread may use it.
pub struct Mail<S: Segment> {
    segment: S,
    /// Words of each ring.
    ring: usize,
    /// By receiver.
    outgoing: Vec<Mutex<Outgoing<S>>>,
    /// By sender.
    incoming: Mutex<Vec<Incoming<S>>>,
}

struct Outgoing<S: Segment> {
    /// Words that were written to the receiver's ring, ever, headers included.
    sent: u64,
    /// How many of them the receiver has taken, as far as is known.
    acknowledged: u64,
    /// Words to be sent; those before `first` were.
    waiting: Vec<u64>,
    first: usize,
    /// Writes under way, and the number of words before each.
    flying: Vec<(u64, S::Words)>,
}

struct Incoming<S: Segment> {
    /// Words that were taken out of the ring, ever, headers included.
    taken: u64,
    acknowledged: u64,
    /// The last acknowledgement, while it is under way: two could overtake each other.
    acknowledging: Option<S::Words>,
    /// Words that were not understood yet.
    words: Vec<u64>,
}

impl<S: Segment> Mail<S> {
    /// *Collective.* Streams between all ranks, with rings of so many words.
    ///
    /// # Panics
    /// If a ring has no room for a header and a word.
    pub fn open<F: Fabric<Segment = S>>(fabric: &F, ring: usize) -> Result<Mail<S>, FabricError> {
        assert!(ring >= 2, "a ring has room for a header and a word");
        let ranks = fabric.ranks();
        let segment = fabric.allocate(ranks * (ring + 1))?;
        let incoming = |_| Incoming { taken: 0, acknowledged: 0, acknowledging: None, words: Vec::new() };
        Ok(Mail {
            segment,
            ring,
            outgoing: (0..ranks).map(|_| Mutex::default()).collect(),
            incoming: Mutex::new((0..ranks).map(incoming).collect()),
        })
    }

    /// The number of this rank.
    pub fn rank(&self) -> usize {
        self.segment.rank()
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.segment.ranks()
    }

    /// Send words, whose highest bits are clear. They arrive in order, sooner or later, as long as this rank calls
    /// [`Mail::help`] again and again.
    ///
    /// Not collective. `words` are copied and free at once. Any thread may send; words of one call stay together, and those of
    /// several threads come in some order. What this rank did before is visible to `to` when it is shown them only as far as
    /// [F1 to F4](crate#what-a-program-may-rely-on) say: words in segments have to be flushed before.
    pub fn send(&self, to: usize, words: &[u64]) {
        debug_assert!(words.iter().all(|word| word & ROUND == 0), "a word with its highest bit");
        let mut outgoing = lock(&self.outgoing[to]);
        outgoing.waiting.extend(words);
        self.push(to, &mut outgoing);
    }

    /// Show what has come: `understand` gets the sender and its words, and returns how many of them it has understood; the
    /// others will be shown again, with more. Returns whether anything has come. Does nothing while another thread does it.
    ///
    /// Not collective, and waits for nobody. What `understand` is shown is its own until it returns; the sender may then reuse
    /// the room of what was understood. `understand` may [`Mail::send`], but not receive.
    pub fn receive(&self, understand: &mut dyn FnMut(usize, &[u64]) -> usize) -> bool {
        let mut incoming = match self.incoming.try_lock() {
            Ok(incoming) => incoming,
            Err(std::sync::TryLockError::WouldBlock) => return false,
            Err(std::sync::TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        let mut any = false;
        for (from, incoming) in incoming.iter_mut().enumerate() {
            if self.take(from, incoming) {
                any = true;
                let understood = understand(from, &incoming.words);
                incoming.words.drain(..understood);
            }
        }
        any
    }

    /// Help what was sent along, and what others have sent.
    pub fn help(&self) {
        for (to, outgoing) in self.outgoing.iter().enumerate() {
            let mut outgoing = lock(outgoing);
            if !outgoing.is_empty() {
                self.push(to, &mut outgoing);
            }
        }
        if let Ok(mut incoming) = self.incoming.try_lock() {
            incoming.iter_mut().enumerate().for_each(|(from, incoming)| self.acknowledge(from, incoming));
        }
    }

    /// Has everything left this rank? It can stop to [`Mail::help`] then.
    pub fn is_sent(&self) -> bool {
        self.outgoing.iter().all(|outgoing| lock(outgoing).is_empty())
    }

    /// End this rank if another is lost, where only a call of the fabric finds out.
    pub fn check(&self) {
        // An error comes to a rank that is unwinding already.
        let _ = self.segment.get_word(Place { rank: self.rank(), offset: 0 });
    }

    /// Write as much as there is room for.
    fn push(&self, to: usize, outgoing: &mut Outgoing<S>) {
        outgoing.flying.retain_mut(|(_, pending)| !pending.test());
        while outgoing.first < outgoing.waiting.len() {
            // Acquire: the receiver has read those words before. Acknowledgements of several threads may overtake each other.
            let acknowledged = self.segment.local()[self.acknowledgement(to)].load(Ordering::Acquire);
            outgoing.acknowledged = outgoing.acknowledged.max(acknowledged);
            // A place is written again only after the write before has ended, too.
            let free_before = outgoing.flying.iter().map(|&(start, _)| start).fold(outgoing.acknowledged, u64::min);
            let room = self.ring - (outgoing.sent - free_before) as usize;
            let at = outgoing.sent as usize % self.ring;
            let most = room.min(self.ring - at);
            // A header alone is worth it where the ring ends.
            if most == 0 || most == 1 && at + 1 < self.ring {
                break;
            }
            let waiting = &outgoing.waiting[outgoing.first..];
            let words = &waiting[..waiting.len().min(most - 1).min(frame::MOST)];
            outgoing.first += words.len();
            let frame = frame::frame(self.ring, outgoing.sent, words);
            let (before, length) = (outgoing.sent, frame.len() as u64);
            outgoing.flying.extend(self.write(to, at, frame).map(|pending| (before, pending)));
            outgoing.sent += length;
        }
        if outgoing.first * 2 > outgoing.waiting.len() {
            outgoing.waiting.drain(..outgoing.first);
            outgoing.first = 0;
        }
    }

    /// Write to the ring of this rank at `to`. What comes back is under way.
    fn write(&self, to: usize, at: usize, frame: Vec<u64>) -> Option<S::Words> {
        let place = Place { rank: to, offset: self.rank() * self.ring + at };
        if let Some(memory) = self.segment.mapped(to) {
            // Release: what the words speak of comes before them.
            let cells = memory[place.offset..].iter();
            cells.zip(frame).for_each(|(cell, word)| cell.store(word, Ordering::Release));
            return None;
        }
        // The place exists; a lost rank is noticed by who calls `check`.
        self.segment.start_put(place, frame).ok().and_then(|mut pending| (!pending.test()).then_some(pending))
    }

    /// Take what is in the ring of `from`. Returns whether there was anything.
    fn take(&self, from: usize, incoming: &mut Incoming<S>) -> bool {
        let ring = &self.segment.local()[from * self.ring..][..self.ring];
        let known = incoming.words.len();
        while let Some(length) = frame::read(ring, incoming.taken, &mut incoming.words) {
            incoming.taken += length as u64;
        }
        self.acknowledge(from, incoming);
        incoming.words.len() != known
    }

    /// Tell `from` how far this rank is, if that is news, and the last time is over.
    fn acknowledge(&self, from: usize, incoming: &mut Incoming<S>) {
        if incoming.acknowledging.as_mut().is_some_and(|pending| !pending.test()) {
            return;
        }
        incoming.acknowledging = None;
        if (incoming.taken - incoming.acknowledged) * RINGS_PER_ACKNOWLEDGEMENT >= self.ring as u64 {
            let place = Place { rank: from, offset: self.acknowledgement(self.rank()) };
            // The place exists; a lost rank is noticed by who calls `check`.
            incoming.acknowledging = self.segment.start_put(place, vec![incoming.taken]).ok();
            incoming.acknowledged = incoming.taken;
        }
    }

    /// Where in a sender's part `receiver` says how far it is.
    fn acknowledgement(&self, receiver: usize) -> usize {
        self.ranks() * self.ring + receiver
    }
}

impl<S: Segment> Default for Outgoing<S> {
    fn default() -> Outgoing<S> {
        Outgoing { sent: 0, acknowledged: 0, waiting: Vec::new(), first: 0, flying: Vec::new() }
    }
}

impl<S: Segment> Outgoing<S> {
    fn is_empty(&self) -> bool {
        self.first == self.waiting.len() && self.flying.is_empty()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics half way through a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
