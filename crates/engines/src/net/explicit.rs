//! Marking by marking: a list of all of them, for nets whose markings no diagram makes small.
//!
//! A marking is one word, with some bits for each variable. A transition is a mask with what it must find under it, some
//! ranges, and one number to add, so most transitions cost two instructions where they cannot fire. The list is a table in
//! which markings are looked up; those that wait to be looked at are on a stack.
//!
//! Invariants: a variable stays within the bound that its bits are for, because a transition that would carry it further
//! never fires; what semiflows bound never tries to.

use super::encoding::Encoding;
use super::system::NetSystem;
use tremula_diagrams::mdd::{Change, Mdd, MddManager};
use tremula_diagrams::{Attention, Budget, Error, Lease, Word, WordSet};

/// Where the variables are in a word, that of the first level in the highest bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packing {
    /// The greatest value of each variable.
    greatest: Vec<u32>,
    widths: Vec<u32>,
}

impl Packing {
    /// Room for all values; nothing if a variable has no bound, or all together are too wide for the widest words.
    ///
    /// `bounds` are the most tokens of each place.
    pub fn of(encoding: &Encoding, bounds: &[Option<u64>]) -> Option<Packing> {
        let greatest: Option<Vec<u32>> = encoding.variables.iter().map(|variable| variable.greatest(bounds)).collect();
        let greatest = greatest?;
        let widths: Vec<u32> = greatest.iter().map(|&value| u32::BITS - value.leading_zeros()).collect();
        // The greatest word of all stands for no marking.
        let fits = widths.iter().map(|&width| u64::from(width)).sum::<u64>() < u64::from(u128::BITS);
        fits.then_some(Packing { greatest, widths })
    }

    fn bits(&self) -> u32 {
        self.widths.iter().sum()
    }

    /// How far from the lowest bit each variable is.
    fn shifts(&self) -> Vec<u32> {
        let mut shift = self.bits();
        let below = |width: &u32| {
            shift -= width;
            shift
        };
        self.widths.iter().map(below).collect()
    }
}

/// A list of markings in the making, with words as narrow as may be.
pub enum Explicit {
    Narrow(Listing<u64>),
    Wide(Listing<u128>),
}

impl Explicit {
    /// Begin; the list may take `most_bytes` of the budget.
    pub fn new(
        system: &NetSystem,
        packing: &Packing,
        budget: &Budget,
        most_bytes: usize,
        attention: &Attention,
    ) -> Result<Explicit, Error> {
        if packing.bits() < u64::BITS {
            Listing::new(system, packing, budget, most_bytes, attention).map(Explicit::Narrow)
        } else {
            Listing::new(system, packing, budget, most_bytes, attention).map(Explicit::Wide)
        }
    }

    /// Go on until so many transitions have fired, or to the end. After [`Error::OutOfFuel`] this may be called again.
    pub fn run(&mut self, firings: Option<u64>) -> Result<(), Error> {
        match self {
            Explicit::Narrow(listing) => listing.run(firings),
            Explicit::Wide(listing) => listing.run(firings),
        }
    }

    /// The markings of the list as a diagram; they leave the list.
    pub fn diagram(&mut self, manager: &MddManager) -> Result<Mdd, Error> {
        match self {
            Explicit::Narrow(listing) => listing.diagram(manager),
            Explicit::Wide(listing) => listing.diagram(manager),
        }
    }
}

/// What a transition asks of a marking, and does to it.
struct Move<W> {
    mask: W,
    wanted: W,
    ranges: Vec<Range<W>>,
    added: W,
}

/// Values of one variable with which a transition can fire.
struct Range<W> {
    shift: u32,
    mask: W,
    least: W,
    most: W,
}

impl<W: Word> Move<W> {
    /// Nothing if the transition can never fire.
    fn new(changes: &[Change], packing: &Packing, shifts: &[u32]) -> Option<Move<W>> {
        let zero = W::from(0);
        let mut made = Move { mask: zero, wanted: zero, ranges: Vec::new(), added: zero };
        for change in changes {
            let level = change.level as usize;
            let (greatest, shift) = (packing.greatest[level], shifts[level]);
            let size = W::from(u32::try_from(change.delta.unsigned_abs()).ok()?) << shift;
            made.added = if change.delta < 0 { made.added.less(size) } else { made.added.plus(size) };
            let highest = i64::from(greatest) - change.delta.max(0);
            let most = i64::from(change.most).min(highest).min(i64::from(greatest));
            let most = u32::try_from(most).ok().filter(|&most| change.least <= most)?;
            let mask = (W::from(1) << packing.widths[level]).less(W::from(1));
            if change.least == most {
                made.mask = made.mask | mask << shift;
                made.wanted = made.wanted | W::from(most) << shift;
            } else if change.least > 0 || most < greatest {
                made.ranges.push(Range { shift, mask, least: W::from(change.least), most: W::from(most) });
            }
        }
        Some(made)
    }

    #[inline]
    fn can_fire(&self, marking: W) -> bool {
        let in_range = |range: &Range<W>| {
            let value = marking >> range.shift & range.mask;
            range.least <= value && value <= range.most
        };
        marking & self.mask == self.wanted && self.ranges.iter().all(in_range)
    }
}

/// A list of markings in the making.
pub struct Listing<W: Word> {
    moves: Vec<Move<W>>,
    widths: Vec<u32>,
    listed: WordSet<W>,
    /// Markings in the list whose successors are not.
    waiting: Vec<W>,
    waiting_lease: Lease,
    /// Successors on their way into the list.
    found: Vec<W>,
    most_listed: usize,
    budget: Budget,
    attention: Attention,
}

/// So many markings are looked at together: meanwhile the memory for their successors comes.
const BATCH: usize = 32;

impl<W: Word> Listing<W> {
    fn new(
        system: &NetSystem,
        packing: &Packing,
        budget: &Budget,
        most_bytes: usize,
        attention: &Attention,
    ) -> Result<Listing<W>, Error> {
        let shifts = packing.shifts();
        let changes = system.events.iter().map(|&event| system.manager.changes(event));
        let moves = changes.filter_map(|changes| Move::new(&changes, packing, &shifts)).collect();
        let with_value = |word: W, (&value, &shift): (&u32, &u32)| word | W::from(value) << shift;
        let start = system.encoding.initial.iter().zip(&shifts).fold(W::from(0), with_value);
        let mut listed = WordSet::new(budget, attention)?;
        listed.insert(start)?;
        Ok(Listing {
            moves,
            widths: packing.widths.clone(),
            listed,
            waiting: vec![start],
            waiting_lease: budget.take(0).map_err(|_| Error::TableFull)?,
            found: Vec::new(),
            most_listed: most_words::<W>(most_bytes),
            budget: budget.clone(),
            attention: attention.clone(),
        })
    }

    fn run(&mut self, firings: Option<u64>) -> Result<(), Error> {
        let mut left = firings.unwrap_or(u64::MAX);
        while !self.waiting.is_empty() {
            if self.attention.is_cancelled() {
                return Err(Error::Cancelled);
            }
            if left == 0 {
                return Err(Error::OutOfFuel);
            }
            if self.listed.len() > self.most_listed {
                return Err(Error::TableFull);
            }
            self.fire();
            // Looking at a marking is work, even if nothing can fire in it.
            left = left.saturating_sub((self.found.len() + BATCH) as u64);
            self.list_found()?;
        }
        Ok(())
    }

    /// Take some markings and find their successors.
    fn fire(&mut self) {
        for marking in self.waiting.drain(self.waiting.len().saturating_sub(BATCH)..) {
            for one in self.moves.iter().filter(|one| one.can_fire(marking)) {
                let successor = marking.plus(one.added);
                self.listed.prefetch(successor);
                self.found.push(successor);
            }
        }
    }

    /// Put what was found into the list; what is new there waits.
    fn list_found(&mut self) -> Result<(), Error> {
        self.lease_for(self.waiting.len() + self.found.len())?;
        for marking in self.found.drain(..) {
            if self.listed.insert(marking)? {
                self.waiting.push(marking);
            }
        }
        Ok(())
    }

    /// Have room for so many waiting markings.
    fn lease_for(&mut self, count: usize) -> Result<(), Error> {
        if count <= self.waiting.capacity() {
            return Ok(());
        }
        let capacity = count.next_power_of_two().max(1 << 10);
        self.waiting_lease.resize(capacity * size_of::<W>()).map_err(|_| Error::TableFull)?;
        self.waiting.reserve_exact(capacity - self.waiting.len());
        Ok(())
    }

    fn diagram(&mut self, manager: &MddManager) -> Result<Mdd, Error> {
        let empty = WordSet::new(&self.budget, &self.attention)?;
        let mut words = std::mem::replace(&mut self.listed, empty).into_sorted();
        // The manager keeps a node for each of them.
        let _nodes = self.budget.take(words.len() * size_of::<u32>()).map_err(|_| Error::TableFull)?;
        manager.packed(&mut words, &self.widths)
    }
}

/// How many words a set may have so that it never takes more than some bytes, even while it grows.
fn most_words<W>(bytes: usize) -> usize {
    let mut slots = 1;
    // Growth needs the old slots and twice as many new ones.
    while 2 * slots * size_of::<W>() + slots * size_of::<W>() <= bytes {
        slots *= 2;
    }
    slots / 4 * 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::encoding::EncodedNet;
    use tremula_diagrams::mdd::{MddOptions, Saturation};
    use tremula_models::{Limits, read_pnml_file};
    use tremula_orders::{FlowLimits, Semiflows, place_bounds};

    fn kanban() -> (Budget, NetSystem, Packing) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/pnml/Kanban-PT-00005.pnml");
        let net = read_pnml_file(path.as_ref(), &Limits::default()).unwrap();
        let order: Vec<u32> = (0..net.places.len() as u32).collect();
        let net_in_order = EncodedNet::new(&net, &order, &[], &[]).unwrap();
        let bounds = place_bounds(&net, &Semiflows::of(&net, &FlowLimits::default()));
        let packing = Packing::of(&net_in_order.encoding, &bounds).unwrap();
        let budget = Budget::new(1 << 30);
        let system = NetSystem::build(net_in_order, &budget, MddOptions::default(), Attention::default()).unwrap();
        (budget, system, packing)
    }

    #[test]
    fn the_list_is_what_saturation_finds_however_often_it_is_interrupted() {
        let (budget, system, packing) = kanban();
        assert_eq!(packing.bits(), 16 * 3);
        let mut explicit = Explicit::new(&system, &packing, &budget, 1 << 30, &Attention::default()).unwrap();
        assert!(matches!(explicit, Explicit::Narrow(_)));
        let mut interruptions = 0;
        while let Err(error) = explicit.run(Some(1_000_000)) {
            assert_eq!(error, Error::OutOfFuel);
            interruptions += 1;
        }
        assert!(interruptions > 20);
        let states = explicit.diagram(&system.manager).unwrap();
        assert!(states == system.saturator(Saturation::default()).run().unwrap());
    }

    #[test]
    fn wide_words_find_the_same() {
        let (budget, system, packing) = kanban();
        let mut listing = Listing::<u128>::new(&system, &packing, &budget, 1 << 30, &Attention::default()).unwrap();
        listing.run(None).unwrap();
        assert_eq!(listing.diagram(&system.manager).unwrap().count().unwrap().to_string(), "2546432");
    }

    #[test]
    fn limits_end_it() {
        let (budget, system, packing) = kanban();
        let attention = Attention::default();
        let explicit = |bytes| Explicit::new(&system, &packing, &budget, bytes, &attention).unwrap();
        assert_eq!(explicit(1 << 20).run(None), Err(Error::TableFull));
        attention.cancel();
        assert_eq!(explicit(1 << 30).run(None), Err(Error::Cancelled));
    }

    #[test]
    fn unbounded_and_wide_nets_are_not_packed() {
        let (_, system, _) = kanban();
        assert_eq!(Packing::of(&system.encoding, &[None; 16]), None);
        assert_eq!(Packing::of(&system.encoding, &[Some(1 << 8); 16]), None);
        assert!(Packing::of(&system.encoding, &[Some(127); 16]).is_some());
    }
}
