//! Memory that is kept for other ranks.
//!
//! A rank may drop a segment while others still use it, through the network also its own part. So parts stay registered
//! until all ranks have dropped the segment, which they tell each other whenever they allocate another one. What this rank knows of
//! the others' parts goes at the same time.

use std::collections::HashMap;
use tremula_interconnect::Registration;

/// What this rank keeps, and what it knows about who still needs it.
#[derive(Debug, Default)]
pub(super) struct Kept {
    segments: u64,
    /// By number of the segment: the part, and how many ranks have dropped it.
    parts: HashMap<u64, (Registration, usize)>,
    dropped: Dropped,
}

/// Dropped by this rank since it last told the others.
#[derive(Debug, Default)]
pub(super) struct Dropped {
    /// Numbers, which the others have to hear of.
    pub(super) segments: Vec<u64>,
    /// The parts of others that were reached through the network: by rank, and the owner's number.
    pub(super) regions: Vec<(usize, u64)>,
}

impl Kept {
    /// What was dropped since the last time.
    pub(super) fn take_dropped(&mut self) -> Dropped {
        std::mem::take(&mut self.dropped)
    }

    /// The number of a new segment, when ranks have `dropped` these. Parts that nobody needs any more are given back.
    pub(super) fn next_number(&mut self, dropped: Vec<Vec<u64>>) -> u64 {
        let ranks = dropped.len();
        dropped.into_iter().flatten().for_each(|number| self.count_drop(number, ranks));
        self.segments += 1;
        self.segments
    }

    fn count_drop(&mut self, number: u64, ranks: usize) {
        if let Some((_, drops)) = self.parts.get_mut(&number) {
            *drops += 1;
            if *drops == ranks {
                self.parts.remove(&number);
            }
        }
    }

    /// Keep this rank's part of a segment, where others reach it through the network.
    pub(super) fn keep(&mut self, number: u64, part: Option<Registration>) {
        self.parts.extend(part.map(|part| (number, (part, 0))));
    }

    /// This rank has dropped a segment, of which others have these parts.
    pub(super) fn dropped(&mut self, number: u64, regions: impl Iterator<Item = (usize, u64)>) {
        if self.parts.contains_key(&number) {
            self.dropped.segments.push(number);
            self.dropped.regions.extend(regions);
        }
    }
}
