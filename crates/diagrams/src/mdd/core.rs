//! What all operations share: the forest, nodes in the making, and what protects them.

use super::event::{Change, Event, Events};
use super::project::Plans;
use crate::error::Error;
use tremula_table::{Attention, Branch, Budget, Forest, ForestOptions, HandleSlots, Lease, Ref, SetupError};

/// How tables of multi-valued diagrams behave.
pub type MddOptions = ForestOptions;

/// A node in the making, at its level.
#[derive(Default)]
pub struct Frame {
    /// Values and children, ascending by value.
    pub branches: Vec<Branch>,
    /// When each child changed last; for saturation.
    pub changed: Vec<u32>,
    /// When events that only this value allows were let work on each child last; for saturation.
    pub fired: Vec<u32>,
    /// When each event that several values allow looked last; for saturation.
    pub looked: Vec<u32>,
}

impl Frame {
    /// All children are new, and none of so many events has looked at them.
    pub fn start_clocks(&mut self, events: usize) {
        let children = self.branches.len();
        for (clocks, len, start) in
            [(&mut self.changed, children, 1), (&mut self.fired, children, 0), (&mut self.looked, events, 0)]
        {
            clocks.clear();
            clocks.resize(len, start);
        }
    }
}

/// The state of a manager.
pub struct Core {
    pub forest: Forest,
    /// One for each level.
    pub frames: Vec<Frame>,
    pub events: Events,
    pub plans: Plans,
    pub slots: HandleSlots,
    /// Nodes that are in no frame and under no handle, and still needed.
    kept: Vec<u32>,
    /// Closures begun so far: results under different events must not be confused.
    pub closures: u32,
    /// For frames that became large; they keep their memory.
    frame_lease: Lease,
    event_lease: Lease,
}

/// Branches from which on frames need a lease.
const LARGE_FRAME: usize = 1 << 12;
/// Bytes of a branch and its clocks, twice because vectors double.
const FRAME_BRANCH_BYTES: usize = 2 * (size_of::<Branch>() + 2 * size_of::<u32>());

/// Recursion goes on in fresh memory where the stack is nearly used up; looked at once in so many levels.
const LEVELS_PER_LOOK: usize = 16;
const RED_ZONE: usize = 64 << 10;
const MORE_STACK: usize = 4 << 20;

/// Run a part of a recursion, at a level, where there is stack for it.
#[inline]
pub fn with_stack<T>(level: usize, part: impl FnOnce() -> T) -> T {
    if level.is_multiple_of(LEVELS_PER_LOOK) { stacker::maybe_grow(RED_ZONE, MORE_STACK, part) } else { part() }
}

impl Core {
    pub fn new(levels: usize, budget: &Budget, options: MddOptions, attention: Attention) -> Result<Core, SetupError> {
        Ok(Core {
            forest: Forest::new(budget, options, attention)?,
            frames: (0..levels).map(|_| Frame::default()).collect(),
            events: Events::default(),
            plans: Plans::default(),
            slots: HandleSlots::default(),
            kept: Vec::new(),
            closures: 0,
            frame_lease: budget.take(0).expect("nothing always fits"),
            event_lease: budget.take(0).expect("nothing always fits"),
        })
    }

    /// The event with these changes.
    pub fn event(&mut self, changes: &[Change]) -> Result<Event, Error> {
        let event = self.events.event(changes)?;
        let bytes = self.events.bytes();
        if bytes != self.event_lease.bytes() {
            self.event_lease.resize(bytes).map_err(|_| Error::TableFull)?;
        }
        Ok(event)
    }

    /// Make a node of the frame at `level`, and empty the frame.
    #[inline]
    pub fn pack(&mut self, level: usize) -> Result<u32, Error> {
        loop {
            self.forest.count_branches(self.frames[level].branches.len());
            if let Some(node) = self.forest.make(level as u32, &self.frames[level].branches)? {
                self.frames[level].branches.clear();
                return Ok(node);
            }
            self.make_room()?;
        }
    }

    /// What follows `value` in a node, which is not a terminal; [`Forest::EMPTY`] if nothing does.
    #[inline]
    pub fn child(&self, node: u32, value: u32) -> u32 {
        let shape = self.forest.shape(node);
        let n = self.forest.first_from(&shape, value);
        let found = (n < shape.len).then(|| self.forest.branch(&shape, n)).filter(|branch| branch.value == value);
        found.map_or(Forest::EMPTY, |branch| branch.child)
    }

    /// Fill the frame at `level` with the branches of a node.
    pub fn load_frame(&mut self, level: usize, node: u32) {
        let branches = self.forest.branches(node);
        self.frames[level].branches.clear();
        self.frames[level].branches.extend(branches);
    }

    /// Free what no handle protects, and forget what is known of it, between operations.
    pub fn collect(&mut self) {
        self.forest.collect(self.slots.iter().map(Ref::bits));
    }

    #[cold]
    fn make_room(&mut self) -> Result<(), Error> {
        let handles = self.slots.iter().map(Ref::bits);
        let in_frames = self.frames.iter().flat_map(|frame| frame.branches.iter().map(|branch| branch.child));
        Ok(self.forest.make_room(handles.chain(in_frames).chain(self.kept.iter().copied()))?)
    }

    /// Protect a node while `part` runs.
    #[inline]
    pub fn keeping<T>(&mut self, node: u32, part: impl FnOnce(&mut Core) -> T) -> T {
        self.kept.push(node);
        let result = part(self);
        self.kept.pop();
        result
    }

    /// A step that makes no node and looks up nothing: it looks for interrupts and counts as work all the same.
    #[inline]
    pub fn step_in_frame(&mut self) -> Result<(), Error> {
        self.forest.count_work();
        Ok(self.forest.attend()?)
    }

    /// The frame at `level` has one branch more: once it is large it needs memory.
    #[inline]
    pub fn frame_has_grown(&mut self, level: usize) -> Result<(), Error> {
        let branches = self.frames[level].branches.len();
        if branches >= LARGE_FRAME && branches.is_power_of_two() { self.lease_frames() } else { Ok(()) }
    }

    #[cold]
    fn lease_frames(&mut self) -> Result<(), Error> {
        let large = self.frames.iter().map(|frame| frame.branches.capacity()).filter(|&room| room >= LARGE_FRAME);
        let bytes = large.map(|room| room * FRAME_BRANCH_BYTES).sum();
        self.frame_lease.resize(bytes).map_err(|_| Error::TableFull)
    }

    /// Nodes that are in no frame and under no handle, and still needed.
    pub fn kept(&mut self) -> &mut Vec<u32> {
        &mut self.kept
    }

    /// Forget what an operation that failed has left behind.
    pub fn reset(&mut self) {
        self.frames.iter_mut().for_each(|frame| frame.branches.clear());
        self.kept.clear();
    }

    /// Protect a node by a handle's slot.
    pub fn open_slot(&mut self, node: u32) -> u32 {
        self.slots.open(Ref::from_bits(node))
    }

    /// The node under a handle.
    pub fn in_slot(&self, slot: u32) -> u32 {
        self.slots.get(slot).bits()
    }
}
