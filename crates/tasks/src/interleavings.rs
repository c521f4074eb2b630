//! All interleavings of the protocols between workers. To run them: `scripts/loom.sh tasks`
//!
//! Each model is a few steps of what `worker` does with the real cells and deques. Waiting loops yield, which loom
//! takes as: somebody else must do something first. Where three threads would take hours, forced switches are bounded.

use crate::attention::{Attention, GIFT, HUNGRY, REQUEST, RESULT};
use crate::cells::{Outcome, Parcel, ResultCell, Transfer};
use crate::deque::{Asked, Deque, Private, Split};
use crate::patience::Patience;
use crate::plain::Plain;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Explore `body`, with at most `switches` forced ones if given, and print how many interleavings that were.
fn explore(name: &str, switches: Option<usize>, body: impl Fn() + Sync + Send + 'static) {
    let count = std::sync::Arc::new(AtomicUsize::new(0));
    let mut model = loom::model::Builder::new();
    model.preemption_bound = switches;
    model.max_branches = 10_000;
    let counter = count.clone();
    model.check(move || {
        counter.fetch_add(1, SeqCst);
        body();
    });
    println!("{name}: {} interleavings", count.load(SeqCst));
}

/// Run a closure in a thread of its own with the shared thing.
fn beside<S: 'static, R: 'static>(shared: &Arc<S>, body: impl FnOnce(&S) -> R + 'static) -> thread::JoinHandle<R> {
    let shared = shared.clone();
    thread::spawn(move || body(&shared))
}

fn wait_until(mut ready: impl FnMut() -> bool) {
    while !ready() {
        thread::yield_now();
    }
}

// ---- attention ------------------------------------------------------------------------------------------------------

/// An attention word, and what its bits announce.
struct Desk {
    attention: Attention,
    news: [AtomicU64; 2],
}

impl Desk {
    fn new() -> Arc<Desk> {
        Arc::new(Desk { attention: Attention::new(Patience::of(2)), news: Default::default() })
    }

    fn announce(&self, which: usize, bit: u32) {
        // Relaxed, so that only the bit can publish it.
        self.news[which].store(1, Ordering::Relaxed);
        self.attention.raise(bit);
    }

    fn has_news(&self, which: usize) -> bool {
        self.news[which].load(Ordering::Relaxed) == 1
    }
}

/// One thread sleeps and wakes up, and others raise bits. None of them is the first thread, which waits for the others:
/// loom would take a wake-up that comes late for the end of that wait.
fn sleeper_and<const N: usize>(bits: [u32; N], sleep: impl Fn(&Desk) + Clone + 'static) {
    let desk = Desk::new();
    let sleeper = beside(&desk, move |desk| {
        sleep(desk);
    });
    let raisers: Vec<_> =
        bits.into_iter().enumerate().map(|(which, bit)| beside(&desk, move |desk| desk.announce(which, bit))).collect();
    sleeper.join().unwrap();
    raisers.into_iter().for_each(|raiser| raiser.join().unwrap());
}

/// As in `await_answer`: lower the bit, look, and rest if there is nothing. Loom reports a deadlock if the bit is lost.
#[test]
fn a_raised_bit_wakes_and_publishes() {
    explore("one raiser, one sleeper", None, || {
        sleeper_and([RESULT], |desk| {
            desk.attention.rest(RESULT);
            assert_ne!(desk.attention.lower(RESULT) & RESULT, 0, "a rest ends for its reasons only");
            assert!(desk.has_news(0));
        });
    });
}

#[test]
fn every_raiser_is_heard() {
    explore("two raisers of different bits", Some(3), || {
        sleeper_and([RESULT, REQUEST], |desk| {
            let mut heard = 0;
            while heard != RESULT | REQUEST {
                desk.attention.rest(RESULT | REQUEST);
                heard |= desk.attention.lower(RESULT | REQUEST) & (RESULT | REQUEST);
                assert!(heard & RESULT == 0 || desk.has_news(0));
                assert!(heard & REQUEST == 0 || desk.has_news(1));
            }
        });
    });
}

#[test]
fn bits_lowered_before_looking_are_not_lost() {
    explore("two raisers of one bit, which is lowered before each look", Some(3), || {
        sleeper_and([RESULT, RESULT], |desk| {
            loop {
                desk.attention.lower(RESULT);
                if desk.has_news(0) && desk.has_news(1) {
                    break;
                }
                desk.attention.rest(RESULT);
            }
        });
    });
}

#[test]
fn a_mark_stays_until_it_is_lowered() {
    explore("a mark beside a raise", None, || {
        let desk = Desk::new();
        let other = beside(&desk, |desk| desk.attention.mark(HUNGRY));
        desk.attention.raise(GIFT);
        other.join().unwrap();
        assert_eq!(desk.attention.lower(GIFT | HUNGRY) & (GIFT | HUNGRY), GIFT | HUNGRY);
    });
}

// ---- cells ----------------------------------------------------------------------------------------------------------

fn parcel(number: u64) -> Parcel<[u64; 4]> {
    Parcel { task: [number, number + 1, number + 2, number + 3], victim: number as u32, position: 7 }
}

fn received<T: Plain>(transfer: &Transfer) -> Option<Vec<Parcel<T>>> {
    let mut parcels = Vec::new();
    transfer.take(|parcel| parcels.push(parcel)).then_some(parcels)
}

fn awaited<T: Plain>(transfer: &Transfer) -> Vec<Parcel<T>> {
    let mut parcels = None;
    wait_until(|| {
        parcels = received(transfer);
        parcels.is_some()
    });
    parcels.unwrap()
}

#[test]
fn a_gift_is_given_by_one_or_withdrawn() {
    explore("an invitation, two givers, and its withdrawal", Some(3), || {
        let cell = Arc::new(Transfer::new());
        cell.invite();
        let givers = [10, 20].map(|number| {
            beside(&cell, move |cell| {
                let reserved = cell.is_wanted() && cell.reserve();
                if reserved {
                    cell.answer([parcel(number)]);
                }
                reserved
            })
        });
        let gift = if cell.withdraw() { None } else { Some(awaited(&cell)) };
        let given = givers.map(|giver| giver.join().unwrap());
        match gift {
            None => assert_eq!(given, [false, false]),
            Some(parcels) => assert_eq!(parcels, [parcel(if given[0] { 10 } else { 20 })]),
        }
        assert!(given != [true, true]);
    });
}

/// The slot of the second gift is the slot of the first: it must have been read.
#[test]
fn a_cell_is_reused_after_it_was_read() {
    explore("two gifts in a row", Some(3), || {
        let cell = Arc::new(Transfer::new());
        let giver = beside(&cell, |cell| {
            for number in [10, 20] {
                wait_until(|| cell.reserve());
                cell.answer([parcel(number), parcel(number + 1)]);
            }
        });
        for number in [10, 20] {
            cell.invite();
            assert_eq!(awaited(&cell), [parcel(number), parcel(number + 1)]);
        }
        giver.join().unwrap();
    });
}

#[test]
fn a_result_arrives_whole() {
    explore("a result", None, || {
        let cell = Arc::new(ResultCell::default());
        cell.expect();
        let other = beside(&cell, |cell| cell.deliver(Some(42)));
        match cell.outcome() {
            Outcome::Pending => {}
            outcome => assert_eq!(outcome, Outcome::Done(42)),
        }
        other.join().unwrap();
        assert_eq!(cell.outcome(), Outcome::Done(42));
    });
}

/// The other worker has lowered its bit and looks who wants a gift, as in `feed_hungry`: it sees the invitation, or
/// keeps the bit. The bit is there already, of somebody else who was hungry.
#[test]
fn an_invitation_is_seen_or_its_mark_stays() {
    explore("an invitation beside a look for some", None, || {
        let stage = Arc::new((Attention::new(Patience::of(2)), Transfer::new()));
        stage.0.mark(HUNGRY);
        let hungry = beside(&stage, |(attention, transfer)| {
            transfer.invite();
            attention.mark(HUNGRY);
        });
        stage.0.lower(HUNGRY);
        let seen = stage.1.is_wanted();
        hungry.join().unwrap();
        assert!(seen || stage.0.bits() & HUNGRY != 0, "nobody will think of the hungry one");
    });
}

// ---- deques ---------------------------------------------------------------------------------------------------------

/// A deque, the transfer cells of its thieves, and who ran what.
struct Stage<D> {
    deque: D,
    cells: [Transfer; 3],
    /// How often each task was run. No atomics of the model: counting must not order anything.
    runs: [AtomicUsize; 4],
}

impl<D: Deque> Stage<D> {
    fn new(request_slots: usize) -> (Arc<Stage<D>>, D::Owner<u64>) {
        let stage = Stage {
            deque: D::new(request_slots),
            cells: std::array::from_fn(|_| Transfer::new()),
            runs: Default::default(),
        };
        let owner = stage.deque.open(0);
        (Arc::new(stage), owner)
    }

    fn run(&self, task: u64) -> u64 {
        self.runs[task as usize].fetch_add(1, SeqCst);
        100 + task
    }

    /// Turn to the deque once; run and deliver what comes.
    fn steal(&self, thief: usize) {
        self.cells[thief].expect_answer();
        let parcels = match self.deque.ask(thief) {
            Asked::Refused | Asked::Alert => Vec::new(),
            Asked::Wait => awaited(&self.cells[thief]),
            Asked::Loot(parcel) => vec![parcel],
        };
        for parcel in parcels {
            assert_eq!(parcel.victim, 0);
            let result = self.run(parcel.task);
            self.deque.deliver(parcel.position, Some(result));
        }
    }

    /// Answer all thieves that wait, with one task each.
    fn answer(&self, owner: &mut D::Owner<u64>) {
        while let Some(thief) = self.deque.next_request(owner) {
            let parcel = self.deque.give(owner, thief);
            self.cells[thief].answer(parcel);
        }
    }

    /// Take the youngest task back and run it, or wait for its result, answering meanwhile.
    fn sync(&self, owner: &mut D::Owner<u64>, task: u64) {
        if let Some(own) = self.deque.pop(owner) {
            assert_eq!(own, task);
            self.run(own);
            return;
        }
        wait_until(|| {
            self.answer(owner);
            self.deque.youngest(owner).0 != Outcome::Pending
        });
        assert_eq!(self.deque.youngest(owner).0, Outcome::Done(100 + task));
        self.deque.forget_youngest(owner);
    }

    fn close(&self, owner: &mut D::Owner<u64>) {
        wait_until(|| {
            self.answer(owner);
            self.deque.close()
        });
    }

    fn check(&self, tasks: usize) {
        let runs: Vec<usize> = self.runs.iter().map(|count| count.load(SeqCst)).collect();
        assert!(runs.iter().enumerate().all(|(task, &count)| count == usize::from(task < tasks)), "{runs:?}");
    }
}

/// The owner spawns `tasks`, looks for thieves, syncs them all and closes; each thief asks once.
fn share_out<D: Deque>(request_slots: usize, tasks: u64, thieves: usize) {
    let (stage, mut owner) = Stage::<D>::new(request_slots);
    let others: Vec<_> = (1..=thieves).map(|thief| beside(&stage, move |stage| stage.steal(thief))).collect();
    for task in 0..tasks {
        stage.deque.push(&mut owner, task);
    }
    stage.answer(&mut owner);
    for task in (0..tasks).rev() {
        stage.sync(&mut owner, task);
    }
    stage.close(&mut owner);
    others.into_iter().for_each(|other| other.join().unwrap());
    stage.check(tasks as usize);
}

#[test]
fn a_private_deque_answers_one_thief() {
    explore("private deque, two tasks, one thief", None, || share_out::<Private>(1, 2, 1));
}

/// With two slots loom does not end: it never lets one of the three waiting loops see what it waits for. That is left
/// to the schedules of `tests/shuttle.rs`.
#[test]
fn a_private_deque_answers_two_thieves() {
    explore("private deque, two tasks, two thieves, one slot", Some(2), || share_out::<Private>(1, 2, 2));
}

#[test]
fn a_split_deque_is_shared_with_one_thief() {
    explore("split deque, three tasks, one thief", None, || share_out::<Split>(0, 3, 1));
}

#[test]
fn a_split_deque_is_shared_with_two_thieves() {
    explore("split deque, two tasks, two thieves", Some(3), || share_out::<Split>(0, 2, 2));
    explore("split deque, three tasks, two thieves", Some(2), || share_out::<Split>(0, 3, 2));
}

/// The word of the ends returns to an earlier value, and the slot to an earlier use.
#[test]
fn a_split_deque_uses_a_slot_again() {
    explore("split deque, one slot used for two tasks, one thief that asks twice", Some(3), || {
        let (stage, mut owner) = Stage::<Split>::new(0);
        let other = beside(&stage, |stage| {
            stage.steal(1);
            stage.steal(1);
        });
        for task in 0..2 {
            stage.deque.push(&mut owner, task);
            stage.answer(&mut owner);
            stage.sync(&mut owner, task);
        }
        other.join().unwrap();
        stage.check(2);
    });
}
