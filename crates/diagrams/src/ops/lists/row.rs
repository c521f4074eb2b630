//! A list of nodes in the making: values in order, each with the set below it.
//!
//! Lists may be a million long, so operations do not recur along them: they walk, solve what is below each value, and put
//! the nodes together from the last to the first. The sets below are kept on the shadow stack meanwhile, which also
//! protects them; nothing else may be kept above them but for the time of a call.

use super::unite;
use crate::env::Env;
use crate::exec::{Call, Exec, Operation, Outcome};
use smallvec::SmallVec;
use tremula_table::{Interrupt, Ref};

/// Most lists are no longer.
const SHORT: usize = 8;

/// A list in the making.
#[derive(Default)]
pub struct Row {
    /// In ascending order of values, each once.
    entries: SmallVec<[Entry; SHORT]>,
    /// How many sets are kept.
    slots: u32,
    /// No entry before this one is new.
    first_new: usize,
}

#[derive(Copy, Clone)]
struct Entry {
    value: u32,
    /// Number of the kept set among those of this row.
    slot: u32,
    /// A node of an operand that may turn out to be the node to be made.
    origin: Ref,
    /// Has something been added below it, and not been looked at?
    new: bool,
}

/// A sub-problem that waits for another one to be solved beside it, and the slot of its result.
pub struct Waiting<O>(Option<(u32, Call<O>)>);

impl<O> Default for Waiting<O> {
    fn default() -> Self {
        Waiting(None)
    }
}

impl Row {
    /// The value at a position.
    #[inline]
    pub fn value(&self, at: usize) -> u32 {
        self.entries[at].value
    }

    /// The set below the value at a position.
    #[inline]
    pub fn down<E: Exec>(&self, exec: &E, at: usize) -> Ref {
        exec.kept(self.back(self.entries[at].slot))
    }

    #[inline]
    fn back(&self, slot: u32) -> usize {
        (self.slots - 1 - slot) as usize
    }

    #[inline]
    fn keep<E: Exec>(&mut self, exec: &mut E, down: Ref) -> u32 {
        exec.keep(down);
        self.slots += 1;
        self.slots - 1
    }

    #[inline]
    fn set<E: Exec>(&mut self, exec: &mut E, slot: u32, down: Ref) {
        exec.keep_instead(self.back(slot), down);
    }

    /// Add the largest value so far.
    #[inline]
    pub fn push<E: Exec>(&mut self, exec: &mut E, value: u32, origin: Ref, down: Ref) {
        let slot = self.keep(exec, down);
        self.entries.push(Entry { value, slot, origin, new: true });
    }

    /// Add all nodes of the list that begins with `set`.
    #[inline]
    pub fn push_all<E: Exec>(&mut self, exec: &mut E, mut set: Ref) {
        while set != Ref::FALSE {
            let node = exec.node(set);
            self.push(exec, node.value(), set, node.down());
            set = node.right();
        }
    }

    /// Add the largest value so far; what is below it is still to be solved, together with the one that waits.
    #[inline]
    pub fn push_call<E: Exec, O: Operation>(
        &mut self,
        exec: &mut E,
        env: &Env,
        waiting: &mut Waiting<O>,
        (value, origin): (u32, Ref),
        call: Call<O>,
    ) -> Result<(), Interrupt> {
        if let Call::Done(down) = call {
            self.push(exec, value, origin, down);
            return Ok(());
        }
        self.push(exec, value, origin, Ref::FALSE);
        let slot = self.slots - 1;
        match waiting.0.take() {
            None => waiting.0 = Some((slot, call)),
            Some((first_slot, first)) => {
                let (a, b) = exec.both(env, first, call)?;
                self.set(exec, first_slot, a);
                self.set(exec, slot, b);
            }
        }
        Ok(())
    }

    /// Solve what still waits.
    #[inline]
    pub fn settle<E: Exec, O: Operation>(
        &mut self,
        exec: &mut E,
        env: &Env,
        waiting: Waiting<O>,
    ) -> Result<(), Interrupt> {
        if let Some((slot, call)) = waiting.0 {
            let down = exec.solve(env, call)?;
            self.set(exec, slot, down);
        }
        Ok(())
    }

    /// Unite what is below `value` with the result of a call.
    #[inline]
    pub fn unite_call<E: Exec, O: Operation>(
        &mut self,
        exec: &mut E,
        env: &Env,
        value: u32,
        call: Call<O>,
    ) -> Result<(), Interrupt> {
        let found = exec.solve(env, call)?;
        self.unite(exec, env, value, found)
    }

    /// Unite what is below two values with the results of two calls.
    #[inline]
    pub fn unite_both<E: Exec, O: Operation>(
        &mut self,
        exec: &mut E,
        env: &Env,
        first: (u32, Call<O>),
        second: (u32, Call<O>),
    ) -> Result<(), Interrupt> {
        let (a, b) = exec.both(env, first.1, second.1)?;
        let slot = self.keep(exec, a);
        self.unite(exec, env, second.0, b)?;
        // Uniting may have kept another set above it.
        let a = exec.kept(self.back(slot));
        self.unite(exec, env, first.0, a)
    }

    /// Unite what is below `value` with `found`, which need not be protected.
    #[inline]
    pub fn unite<E: Exec>(&mut self, exec: &mut E, env: &Env, value: u32, found: Ref) -> Result<(), Interrupt> {
        if found == Ref::FALSE {
            return Ok(());
        }
        let at = match self.entries.last() {
            None => 0,
            Some(last) if last.value < value => self.entries.len(),
            _ => self.entries.partition_point(|entry| entry.value < value),
        };
        match self.entries.get(at) {
            Some(entry) if entry.value == value => {
                let slot = entry.slot;
                let known = exec.kept(self.back(slot));
                let united = match unite(known, found) {
                    Call::Done(united) => united,
                    call => {
                        exec.keep(found);
                        let united = exec.solve(env, call)?;
                        exec.release(1);
                        united
                    }
                };
                self.set(exec, slot, united);
            }
            _ => {
                let slot = self.keep(exec, found);
                self.entries.insert(at, Entry { value, slot, origin: Ref::FALSE, new: true });
            }
        }
        Ok(())
    }

    /// The set below a value, which may not be there.
    #[inline]
    pub fn below<E: Exec>(&self, exec: &E, value: u32) -> Ref {
        match self.find(value) {
            Ok(at) => self.down(exec, at),
            Err(_) => Ref::FALSE,
        }
    }

    /// Where a value is, or where it would be.
    #[inline]
    fn find(&self, value: u32) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&value, |entry| entry.value)
    }

    /// Put `down` below `value` in place of what is there, and note that it is new.
    #[inline]
    pub fn put_new<E: Exec>(&mut self, exec: &mut E, value: u32, down: Ref) {
        let at = match self.find(value) {
            Ok(at) => {
                self.set_down(exec, at, down);
                at
            }
            Err(at) => {
                let slot = self.keep(exec, down);
                self.entries.insert(at, Entry { value, slot, origin: Ref::FALSE, new: true });
                at
            }
        };
        self.entries[at].new = true;
        self.first_new = self.first_new.min(at);
    }

    /// Put `down` below the value at a position.
    #[inline]
    pub fn set_down<E: Exec>(&mut self, exec: &mut E, at: usize, down: Ref) {
        self.set(exec, self.entries[at].slot, down);
    }

    /// The position of the smallest value below which something is new; it does not count as new any longer.
    #[inline]
    pub fn take_new(&mut self) -> Option<usize> {
        let at = self.first_new + self.entries[self.first_new..].iter().position(|entry| entry.new)?;
        self.entries[at].new = false;
        self.first_new = at;
        Some(at)
    }

    /// The list of all values with something below them, and after these `tail`.
    #[inline]
    pub fn finish<E: Exec>(self, exec: &mut E, tail: Ref) -> Outcome {
        let mut list = tail;
        for entry in self.entries.iter().rev() {
            let down = exec.kept(self.back(entry.slot));
            if down == Ref::FALSE {
                continue;
            }
            if entry.origin != Ref::FALSE {
                let node = exec.node(entry.origin);
                if node.down() == down && node.right() == list {
                    list = entry.origin;
                    continue;
                }
            }
            list = exec.make_list(entry.value, down, list)?;
        }
        exec.release(self.slots as usize);
        Ok(list)
    }
}
