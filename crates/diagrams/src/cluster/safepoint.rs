//! A thread's part in collections that all ranks do together.
//!
//! Before marking begins nothing may be under way that carries a reference. Letters between two ranks arrive in order, so
//! two rounds of markers do: when a rank has the first marker of all others it has all their requests and answers them,
//! except for those to make nodes, which wait; when it has the second ones it has all answers.

use super::Work;
use super::letter::{Letter, Matter};
use super::place::{Answer, Place};
use super::rank::lock;
use crate::exec::Outcome;
use tremula_table::{Attendance, Ref, TableWorker};
use tremula_tasks::Board;

pub struct Presence<'a, 'p, 'r> {
    place: &'a Place<'p, 'r>,
    board: &'a Board<Work, Outcome>,
}

/// Markers for each collection.
const MARKERS: u64 = 2;

impl<'a, 'p, 'r> Presence<'a, 'p, 'r> {
    pub fn new(place: &'a Place<'p, 'r>, board: &'a Board<Work, Outcome>) -> Presence<'a, 'p, 'r> {
        Presence { place, board }
    }

    /// Send words to each other rank and wait for what they send.
    fn swap(&self, matter: Matter, mut words_for: impl FnMut(usize) -> Vec<u64>) -> Vec<(usize, Vec<u64>)> {
        let place = self.place;
        place.rank.others().for_each(|rank| place.write(rank, &Letter::Bulk { matter, words: words_for(rank) }));
        place.send_batches(1);
        let come = |rank| (rank, place.wait_for(None, || place.rank.take_bulk(rank, matter)));
        place.rank.others().map(come).collect()
    }
}

impl Attendance for Presence<'_, '_, '_> {
    fn settle(&mut self, table: &TableWorker<'_, '_>) {
        let rank = self.place.rank;
        let before = MARKERS * u64::from(rank.collections());
        for marker in 1..=MARKERS {
            self.place.tell_all(&Letter::Marker);
            self.place.wait_for(Some(table), || rank.has_markers(before + marker).then_some(()));
        }
    }

    fn begun(&mut self, roots: &mut Vec<Ref>) {
        let place = self.place;
        place.take_before_collection(self.board);
        if place.thread == 0 {
            roots.extend(lock(&place.rank.roots).iter());
        }
        place.shadows.iter().for_each(|shadow| roots.extend(shadow.borrow().iter()));
        for cell in &place.answers {
            if let Some(Answer::Made(Ok(f))) = cell.get() {
                roots.push(f);
            }
        }
        self.board.visit_results(|outcome| roots.extend(outcome.ok()));
    }

    fn exchange(&mut self, found: Vec<Ref>) -> Option<Vec<Ref>> {
        let division = self.place.rank.division;
        // Each rank tells all how much it tells in total: so all know when nobody has found anything.
        let mut total = found.len() as u64;
        let mut by_owner = vec![vec![total]; division.parts()];
        found.iter().for_each(|&f| by_owner[division.owner(f)].push(u64::from(f.index())));
        let mut told = Vec::new();
        for (_, words) in self.swap(Matter::Found, |rank| std::mem::take(&mut by_owner[rank])) {
            total += words[0];
            told.extend(words[1..].iter().map(|&index| Ref::new(index as u32, false)));
        }
        (total > 0).then_some(told)
    }

    fn exchange_marks(&mut self, own: Vec<u64>) -> Vec<Vec<u64>> {
        // Letters have words of 63 bits.
        let halves: Vec<u64> = own.iter().flat_map(|&marks| [marks & 0xFFFF_FFFF, marks >> 32]).collect();
        let mut all = vec![Vec::new(); self.place.rank.division.parts()];
        for (rank, words) in self.swap(Matter::Marks, |_| halves.clone()) {
            all[rank] = words.chunks_exact(2).map(|halves| halves[0] | halves[1] << 32).collect();
        }
        all[self.place.rank.number()] = own;
        all
    }

    fn collected(&mut self, alive: &dyn Fn(Ref) -> bool) {
        let (place, rank) = (self.place, self.place.rank);
        rank.copies.retain(place.thread, rank.threads, alive);
        if place.thread == 0 {
            rank.note_collection();
        }
    }
}
