//! The measurements against one rank.

use super::report::{BySize, TargetReport};
use super::{COUNTER, DATA, FabricOptions, name};
use crate::{Spread, StudyError};
use std::time::Instant;
use tremula_fabric::{Distance, FabricError, Pending, Place, Segment};

/// Operations that are under way at a time.
const WINDOW: usize = 64;
/// Words of operations that are under way together, at most.
const WINDOW_WORDS: usize = 1 << 14;

/// A rank to be measured against.
pub(super) struct Target<'a, S> {
    segment: &'a S,
    rank: usize,
    options: &'a FabricOptions,
}

impl<'a, S: Segment> Target<'a, S> {
    pub(super) fn new(segment: &'a S, rank: usize, options: &'a FabricOptions) -> Target<'a, S> {
        Target { segment, rank, options }
    }

    pub(super) fn measure(&self, distance: Distance, busy: bool) -> Result<TargetReport, StudyError> {
        Ok(TargetReport {
            name: name(distance).to_owned(),
            busy,
            get: self.by_size(|words| self.get(words))?,
            put: self.by_size(|words| self.put(words))?,
            many_gets: self.by_size(|words| self.many_gets(words))?,
            many_puts: self.by_size(|words| self.many_puts(words))?,
            compare_and_swap: self.swaps()?,
            fetch_add: self.adds()?,
            many_fetch_adds: self.many_adds()?,
        })
    }

    fn at(&self, offset: usize) -> Place {
        Place { rank: self.rank, offset }
    }

    fn by_size(&self, one: impl Fn(usize) -> Result<Spread, StudyError>) -> Result<Vec<BySize>, StudyError> {
        let measured = |&words: &usize| Ok(BySize { bytes: words * size_of::<u64>(), nanoseconds: one(words)? });
        self.options.sizes.iter().map(measured).collect()
    }

    fn get(&self, words: usize) -> Result<Spread, StudyError> {
        let mut copy = vec![0; words];
        let spread = self.repeat(1, |_| self.segment.get(self.at(DATA), &mut copy))?;
        self.check(&copy)?;
        Ok(spread)
    }

    fn put(&self, words: usize) -> Result<Spread, StudyError> {
        let numbers: Vec<u64> = (DATA as u64..(DATA + words) as u64).collect();
        let spread = self.repeat(1, |_| {
            self.segment.put(self.at(DATA), &numbers)?;
            self.segment.flush(self.rank)
        })?;
        self.check_written(words)?;
        Ok(spread)
    }

    fn many_gets(&self, words: usize) -> Result<Spread, StudyError> {
        let window = (WINDOW_WORDS / words).clamp(1, WINDOW);
        let mut last = Vec::new();
        let spread = self.repeat(window, |_| {
            let started: Result<Vec<_>, _> =
                (0..window).map(|_| self.segment.start_get(self.at(DATA), words)).collect();
            started?.into_iter().for_each(|pending| last = pending.wait());
            Ok(())
        })?;
        self.check(&last)?;
        Ok(spread)
    }

    fn many_puts(&self, words: usize) -> Result<Spread, StudyError> {
        let window = (WINDOW_WORDS / words).clamp(1, WINDOW);
        let numbers: Vec<u64> = (DATA as u64..(DATA + words) as u64).collect();
        let spread = self.repeat(window, |_| {
            (0..window).try_for_each(|_| self.segment.put(self.at(DATA), &numbers))?;
            self.segment.flush(self.rank)
        })?;
        self.check_written(words)?;
        Ok(spread)
    }

    fn swaps(&self) -> Result<Spread, StudyError> {
        let before = self.segment.get_word(self.at(COUNTER))?;
        let mut expected = before;
        let mut lost = 0;
        let spread = self.repeat(1, |_| {
            let old = self.segment.compare_and_swap(self.at(COUNTER), expected, expected + 1)?;
            lost += u64::from(old != expected);
            expected += 1;
            Ok(())
        })?;
        self.check_counter(COUNTER, expected + lost)?;
        Ok(spread)
    }

    fn adds(&self) -> Result<Spread, StudyError> {
        let mut expected = self.segment.get_word(self.at(COUNTER + 1))?;
        let spread = self.repeat(1, |_| {
            expected += 1;
            self.segment.fetch_add(self.at(COUNTER + 1), 1).map(drop)
        })?;
        self.check_counter(COUNTER + 1, expected)?;
        Ok(spread)
    }

    fn many_adds(&self) -> Result<Spread, StudyError> {
        let mut expected = self.segment.get_word(self.at(COUNTER + 2))?;
        let spread = self.repeat(WINDOW, |_| {
            expected += WINDOW as u64;
            let started: Result<Vec<_>, _> =
                (0..WINDOW).map(|_| self.segment.start_fetch_add(self.at(COUNTER + 2), 1)).collect();
            for pending in started? {
                pending.wait();
            }
            Ok(())
        })?;
        self.check_counter(COUNTER + 2, expected)?;
        Ok(spread)
    }

    /// Nanoseconds for each of the `operations` that a call does, over calls that together take the time given.
    fn repeat(
        &self,
        operations: usize,
        mut call: impl FnMut(usize) -> Result<(), FabricError>,
    ) -> Result<Spread, StudyError> {
        /// Calls between two looks at the clock.
        const BATCH: usize = 16;
        // The first calls make connections.
        (0..2).try_for_each(&mut call)?;
        let mut all = Vec::with_capacity(self.options.reps);
        for _ in 0..self.options.reps {
            let (started, mut calls) = (Instant::now(), 0);
            while calls == 0 || started.elapsed() < self.options.time {
                (0..BATCH).try_for_each(&mut call)?;
                calls += BATCH;
            }
            all.push(started.elapsed().as_secs_f64() * 1e9 / (calls * operations) as f64);
        }
        Ok(Spread::of(all).expect("at least one run"))
    }

    fn check(&self, copy: &[u64]) -> Result<(), StudyError> {
        let first_wrong = (DATA as u64..).zip(copy).find(|(expected, word)| expected != *word);
        first_wrong.map_or(Ok(()), |(expected, &answer)| Err(self.wrong(answer, expected)))
    }

    fn check_written(&self, words: usize) -> Result<(), StudyError> {
        let mut copy = vec![0; words];
        self.segment.get(self.at(DATA), &mut copy)?;
        self.check(&copy)
    }

    fn check_counter(&self, offset: usize, expected: u64) -> Result<(), StudyError> {
        let answer = self.segment.get_word(self.at(offset))?;
        if answer == expected { Ok(()) } else { Err(self.wrong(answer, expected)) }
    }

    fn wrong(&self, answer: u64, expected: u64) -> StudyError {
        StudyError::WrongAnswer { run: format!("memory of rank {}", self.rank), answer, expected }
    }
}
