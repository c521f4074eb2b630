//! What every backend must do, written once against the traits; `conformance.rs` and `processes.rs` run it.
//!
//! All ranks run the same function. Cases keep to the contracts: they flush where these ask for it, also where the backend
//! at hand does not need it. Random numbers come from fixed seeds.

use std::num::NonZeroUsize;
use std::thread;
use tremula_fabric::{
    BlockArray, Distance, Fabric, FabricError, Pending, Place, Reduction, Segment, Update, WHOLE_WORDS, mail::Mail,
    sync::Ordering,
};

/// Calls another macro with the arguments that it gets, a semicolon, and the names of all cases.
macro_rules! with_all_cases {
    ($then:ident! $($arguments:tt)*) => {
        $then! { $($arguments)*;
            ranks_are_numbered, memory_starts_as_zero_and_is_not_shared, too_much_memory_is_refused_on_all_ranks,
            puts_are_read_by_all, own_words_are_plain_memory, atomics_return_the_old_word, no_update_is_lost,
            tickets_are_given_once, a_swap_has_one_winner, words_are_read_whole,
            dropped_segments_take_their_writes_along, a_flag_publishes_what_was_flushed_before,
            each_thread_flushes_for_itself, publication_is_passed_on, a_barrier_needs_no_flush_and_can_be_used_often,
            started_operations_hand_back_words_and_buffers, a_dropped_handle_does_not_cancel,
            started_updates_are_not_lost, wrong_places_are_refused, nothing_can_be_moved,
            reductions_agree_with_a_loop, words_reach_those_they_are_for, many_collectives_stay_in_step,
            wrong_roots_and_counts_are_refused, all_ranks_hear_of_a_disagreement, ranges_cross_blocks,
            each_rank_fills_what_it_owns, array_words_are_atomic, wrong_indices_are_refused,
            mail_arrives_whole_and_in_order
        }
    };
}
pub(crate) use with_all_cases;

pub fn at(rank: usize, offset: usize) -> Place {
    Place { rank, offset }
}

/// Words that depend on the seed alone, so that each rank can tell what another has.
pub fn noise(seed: usize, length: usize) -> Vec<u64> {
    let mut state = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..length).map(|_| next()).collect()
}

/// Poll, but let others have the processor.
pub fn wait_until(mut done: impl FnMut() -> bool) {
    while !done() {
        thread::yield_now();
    }
}

// Ranks and memory.

pub fn ranks_are_numbered(fabric: &impl Fabric) {
    let (rank, ranks) = (fabric.rank(), fabric.ranks());
    let numbers = fabric.all_gather(&[rank as u64]).unwrap();
    assert_eq!(numbers, (0..ranks as u64).map(|rank| vec![rank]).collect::<Vec<_>>());
    assert_eq!(fabric.distance(rank), Ok(Distance::Same));
    assert!((0..ranks).all(|to| fabric.distance(to).is_ok()));
    assert_eq!(fabric.distance(ranks), Err(FabricError::NoSuchRank { rank: ranks, ranks }));
}

pub fn memory_starts_as_zero_and_is_not_shared(fabric: &impl Fabric) {
    for words in [0, 1, 5, 1000] {
        let (a, b) = (fabric.allocate(words).unwrap(), fabric.allocate(words).unwrap());
        assert_eq!((a.rank(), a.ranks(), a.words()), (fabric.rank(), fabric.ranks(), words));
        a.put(at(fabric.rank(), 0), &vec![u64::MAX; words]).unwrap();
        fabric.barrier();
        for rank in 0..fabric.ranks() {
            let mut copy = vec![1; words];
            b.get(at(rank, 0), &mut copy).unwrap();
            assert!(copy.iter().all(|&word| word == 0));
            a.get(at(rank, 0), &mut copy).unwrap();
            assert!(copy.iter().all(|&word| word == u64::MAX));
        }
    }
}

pub fn too_much_memory_is_refused_on_all_ranks(fabric: &impl Fabric) {
    for words in [usize::MAX, usize::MAX / 16] {
        let refused = fabric.allocate(words).err();
        assert_eq!(refused, Some(FabricError::NoMemory { rank: 0, words }));
    }
    assert_eq!(fabric.allocate(3).unwrap().words(), 3);
}

pub fn puts_are_read_by_all(fabric: &impl Fabric) {
    const LENGTH: usize = 13;
    let (rank, ranks) = (fabric.rank(), fabric.ranks());
    let segment = fabric.allocate(ranks * LENGTH + 1).unwrap();
    let words = |from: usize, to: usize| noise(from * ranks + to, LENGTH);
    for to in 0..ranks {
        segment.put(at(to, rank * LENGTH), &words(rank, to)).unwrap();
    }
    fabric.barrier();
    for owner in 0..ranks {
        let mut all = vec![9; ranks * LENGTH + 1];
        segment.get(at(owner, 0), &mut all).unwrap();
        let expected: Vec<u64> = (0..ranks).flat_map(|from| words(from, owner)).chain([0]).collect();
        assert_eq!(all, expected);
        assert_eq!(segment.get_word(at(owner, LENGTH - 1)), Ok(words(0, owner)[LENGTH - 1]));
    }
}

pub fn own_words_are_plain_memory(fabric: &impl Fabric) {
    let (rank, ranks) = (fabric.rank(), fabric.ranks());
    let next = (rank + 1) % ranks;
    let segment = fabric.allocate(2).unwrap();
    // Relaxed: the barrier orders these with the reads of others.
    segment.local()[0].store(rank as u64 + 10, Ordering::Relaxed);
    segment.put_word(at(next, 1), rank as u64 + 20).unwrap();
    fabric.barrier();
    assert_eq!(segment.get_word(at(next, 0)), Ok(next as u64 + 10));
    let previous = (rank + ranks - 1) % ranks;
    assert_eq!(segment.local()[1].load(Ordering::Relaxed), previous as u64 + 20);
    assert!(segment.mapped(rank).is_some());
    assert!(segment.mapped(ranks).is_none());
    if let Some(words) = segment.mapped(next) {
        assert_eq!(words[0].load(Ordering::Relaxed), next as u64 + 10);
    }
}

/// F1: all bytes of a word are those of one write. The first rank writes its own words again and again, the last one
/// writes others there, each alone, and all the others read both, in slices, from places that begin no line of a cache.
pub fn words_are_read_whole(fabric: &impl Fabric) {
    const ROUNDS: u64 = 400;
    const WORDS: usize = 2 * WHOLE_WORDS;
    let word = |round: u64| round << 32 | round;
    let segment = fabric.allocate(WORDS + 2).unwrap();
    let (rank, last) = (fabric.rank(), fabric.ranks() - 1);
    fabric.barrier();
    for round in 1.. {
        if rank == 0 {
            // Release: as anybody would publish something.
            segment.local()[1..=WHOLE_WORDS].iter().for_each(|own| own.store(word(round), Ordering::Release));
        }
        if rank == last {
            let place = 1 + WHOLE_WORDS + round as usize % WHOLE_WORDS;
            segment.put_word(at(0, place), word(round)).unwrap();
        }
        let mut copy = vec![0; WHOLE_WORDS];
        for start in [1, 1 + WHOLE_WORDS / 2, 1 + WHOLE_WORDS] {
            segment.get(at(0, start), &mut copy).unwrap();
            assert!(copy.iter().all(|word| word >> 32 == word & 0xFFFF_FFFF), "{copy:x?}");
        }
        if round == ROUNDS {
            segment.fetch_add(at(0, WORDS + 1), 1).unwrap();
        }
        // Nobody stops to write before all have read enough.
        if round >= ROUNDS && segment.get_word(at(0, WORDS + 1)) == Ok(fabric.ranks() as u64) {
            break;
        }
    }
    fabric.barrier();
}

/// Writes that were begun on a segment do not land in the next one, though nobody has flushed them.
pub fn dropped_segments_take_their_writes_along(fabric: &impl Fabric) {
    // So much that the network is still at work when the next segment is asked for.
    const WORDS: usize = 300_000;
    let next = (fabric.rank() + 1) % fabric.ranks();
    for _ in 0..5 {
        let segment = fabric.allocate(WORDS).unwrap();
        segment.put(at(next, 0), &vec![u64::MAX; WORDS]).unwrap();
        drop(segment);
        let other = fabric.allocate(WORDS).unwrap();
        // Relaxed: nobody writes to it.
        assert!(other.local().iter().all(|word| word.load(Ordering::Relaxed) == 0));
    }
    fabric.barrier();
}

// Atomic operations.

pub fn atomics_return_the_old_word(fabric: &impl Fabric) {
    let mine = fabric.rank();
    let segment = fabric.allocate(fabric.ranks()).unwrap();
    for rank in 0..fabric.ranks() {
        let place = at(rank, mine);
        assert_eq!(segment.fetch_add(place, 0b1100), Ok(0));
        assert_eq!(segment.fetch_and(place, 0b0110), Ok(0b1100));
        assert_eq!(segment.fetch_or(place, 0b0001), Ok(0b0100));
        assert_eq!(segment.fetch_xor(place, 0b1111), Ok(0b0101));
        assert_eq!(segment.fetch_add(place, u64::MAX), Ok(0b1010));
        assert_eq!(segment.compare_and_swap(place, 8, 1), Ok(9));
        assert_eq!(segment.compare_and_swap(place, 9, u64::MAX), Ok(9));
        assert_eq!(segment.fetch_add(place, 2), Ok(u64::MAX), "sums wrap");
        assert_eq!(segment.fetch_with(place, Update::Replace, 77), Ok(1));
        assert_eq!(segment.get_word(place), Ok(77));
    }
}

pub fn no_update_is_lost(fabric: &impl Fabric) {
    const ROUNDS: usize = 500;
    let (rank, ranks) = (fabric.rank(), fabric.ranks());
    let segment = fabric.allocate(5).unwrap();
    let bit = 1 << rank;
    if rank == 0 {
        segment.put_word(at(ranks - 1, 3), u64::MAX).unwrap();
    }
    fabric.barrier();
    for round in 0..ROUNDS {
        segment.fetch_add(at(ranks - 1, 0), 1).unwrap();
        segment.fetch_xor(at(ranks - 1, 1), noise(rank, round + 1)[round]).unwrap();
        // Own bits of a shared word are what we left there, whatever others do to theirs.
        assert_eq!(segment.fetch_or(at(ranks - 1, 2), bit).unwrap() & bit, 0);
        assert_eq!(segment.fetch_and(at(ranks - 1, 2), !bit).unwrap() & bit, bit);
        assert_eq!(segment.fetch_and(at(ranks - 1, 3), !bit).unwrap() & bit, bit);
        assert_eq!(segment.fetch_or(at(ranks - 1, 3), bit).unwrap() & bit, 0);
        increment_by_swaps(&segment, at(ranks - 1, 4));
    }
    fabric.barrier();
    let mut words = [0; 5];
    segment.get(at(ranks - 1, 0), &mut words).unwrap();
    let count = (ROUNDS * ranks) as u64;
    let parity = (0..ranks).flat_map(|rank| noise(rank, ROUNDS)).fold(0, |a, b| a ^ b);
    assert_eq!(words, [count, parity, 0, u64::MAX, count]);
}

pub fn increment_by_swaps(segment: &impl Segment, place: Place) {
    let mut seen = 0;
    loop {
        match segment.compare_and_swap(place, seen, seen + 1).unwrap() {
            old if old == seen => return,
            old => seen = old,
        }
    }
}

pub fn tickets_are_given_once(fabric: &impl Fabric) {
    const TICKETS: usize = 300;
    let segment = fabric.allocate(1).unwrap();
    let mine: Vec<u64> = (0..TICKETS).map(|_| segment.fetch_add(at(0, 0), 1).unwrap()).collect();
    assert!(mine.is_sorted());
    let mut all = fabric.all_gather(&mine).unwrap().concat();
    all.sort_unstable();
    assert_eq!(all, (0..(TICKETS * fabric.ranks()) as u64).collect::<Vec<_>>());
}

pub fn a_swap_has_one_winner(fabric: &impl Fabric) {
    const WORDS: usize = 300;
    let me = fabric.rank() as u64 + 1;
    let segment = fabric.allocate(WORDS).unwrap();
    let places = || (0..fabric.ranks()).flat_map(|rank| (0..WORDS).map(move |offset| at(rank, offset)));
    let won: Vec<bool> = places().map(|place| segment.compare_and_swap(place, 0, me).unwrap() == 0).collect();
    fabric.barrier();
    for (place, won) in places().zip(&won) {
        assert_eq!(segment.get_word(place).unwrap() == me, *won);
    }
    let mut wins = [won.iter().filter(|&&won| won).count() as u64];
    fabric.all_reduce(Reduction::Sum, &mut wins).unwrap();
    assert_eq!(wins, [(WORDS * fabric.ranks()) as u64]);
}

// Order of effects.

/// Data, flush, flag: who sees the flag sees the data. Each rank writes to the next, round after round without
/// barriers.
pub fn a_flag_publishes_what_was_flushed_before(fabric: &impl Fabric) {
    const ROUNDS: usize = 300;
    const LENGTH: usize = 5;
    let (rank, ranks) = (fabric.rank(), fabric.ranks());
    let next = (rank + 1) % ranks;
    let previous = (rank + ranks - 1) % ranks;
    let segment = fabric.allocate(ROUNDS * LENGTH + 1).unwrap();
    let flag = ROUNDS * LENGTH;
    for round in 0..ROUNDS {
        segment.put(at(next, round * LENGTH), &noise(rank + round, LENGTH)).unwrap();
        segment.flush(next).unwrap();
        segment.put_word(at(next, flag), round as u64 + 1).unwrap();
        segment.flush(next).unwrap();
        // Looking at whatever number has arrived, instead of waiting for ours, lets ranks drift apart.
        let arrived = segment.get_word(at(rank, flag)).unwrap() as usize;
        if arrived > 0 {
            let mut data = [0; LENGTH];
            segment.get(at(rank, (arrived - 1) * LENGTH), &mut data).unwrap();
            assert_eq!(data[..], noise(previous + arrived - 1, LENGTH));
        }
    }
    wait_until(|| segment.get_word(at(rank, flag)) == Ok(ROUNDS as u64));
    let mut data = [0; ROUNDS * LENGTH];
    segment.get(at(rank, 0), &mut data).unwrap();
    let expected: Vec<u64> = (0..ROUNDS).flat_map(|round| noise(previous + round, LENGTH)).collect();
    assert_eq!(data[..], expected);
}

/// The same by two threads of each rank side by side; and a barrier is for what both have not flushed.
pub fn each_thread_flushes_for_itself<F: Fabric<Segment: Send + Sync>>(fabric: &F) {
    const ROUNDS: usize = 100;
    const LENGTH: usize = 5;
    // A flag after the rounds, and a word that nobody flushes.
    const WORDS: usize = ROUNDS * LENGTH + 2;
    let (rank, ranks) = (fabric.rank(), fabric.ranks());
    let (next, previous) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    let segment = fabric.allocate(2 * WORDS).unwrap();
    thread::scope(|scope| {
        for first in [0, WORDS] {
            let segment = &segment;
            scope.spawn(move || {
                let flag = first + ROUNDS * LENGTH;
                for round in 0..ROUNDS {
                    let place = at(next, first + round * LENGTH);
                    segment.put(place, &noise(first + rank + round, LENGTH)).unwrap();
                    segment.flush(next).unwrap();
                    segment.put_word(at(next, flag), round as u64 + 1).unwrap();
                    segment.flush(next).unwrap();
                    let arrived = segment.get_word(at(rank, flag)).unwrap() as usize;
                    let expected: Vec<u64> =
                        (0..arrived).flat_map(|round| noise(first + previous + round, LENGTH)).collect();
                    let mut data = vec![0; arrived * LENGTH];
                    segment.get(at(rank, first), &mut data).unwrap();
                    assert_eq!(data, expected);
                }
                segment.put_word(at(next, flag + 1), rank as u64 + 1).unwrap();
            });
        }
    });
    fabric.barrier();
    for first in [0, WORDS] {
        assert_eq!(segment.get_word(at(rank, first + WORDS - 1)), Ok(previous as u64 + 1));
    }
}

/// The same through atomic operations, and through a third rank that only passes the flag on.
pub fn publication_is_passed_on(fabric: &impl Fabric) {
    let (rank, ranks) = (fabric.rank(), fabric.ranks());
    let segment = fabric.allocate(2).unwrap();
    if rank == 0 {
        segment.put_word(at(0, 0), 42).unwrap();
        segment.flush(0).unwrap();
    } else {
        wait_until(|| segment.get_word(at(rank, 1)) == Ok(1));
        assert_eq!(segment.get_word(at(0, 0)), Ok(42));
    }
    segment.fetch_add(at((rank + 1) % ranks, 1), 1).unwrap();
}

pub fn a_barrier_needs_no_flush_and_can_be_used_often(fabric: &impl Fabric) {
    let (rank, ranks) = (fabric.rank(), fabric.ranks());
    let segment = fabric.allocate(ranks).unwrap();
    for round in 1..=1000 {
        segment.put_word(at((rank + round) % ranks, rank), round as u64).unwrap();
        fabric.barrier();
        for from in 0..ranks {
            assert_eq!(segment.get_word(at((from + round) % ranks, from)), Ok(round as u64));
        }
        fabric.barrier();
    }
}

// Handles.

pub fn started_operations_hand_back_words_and_buffers(fabric: &impl Fabric) {
    let (rank, ranks) = (fabric.rank(), fabric.ranks());
    let segment = fabric.allocate(ranks * 4).unwrap();
    let mine = |to: usize| noise(rank * ranks + to, 3);
    let mut puts: Vec<_> = (0..ranks).map(|to| segment.start_put(at(to, rank * 4), mine(to)).unwrap()).collect();
    wait_until(|| puts.iter_mut().all(Pending::test));
    for (to, put) in puts.into_iter().enumerate() {
        assert_eq!(put.wait(), mine(to), "the buffer comes back as it was");
    }
    segment.flush_all().unwrap();
    let gets: Vec<_> = (0..ranks).map(|to| segment.start_get(at(to, rank * 4), 4).unwrap()).collect();
    for (to, get) in gets.into_iter().enumerate() {
        assert_eq!(get.wait(), [mine(to), vec![0]].concat());
    }
    for to in 0..ranks {
        let counter = at(to, rank * 4 + 3);
        let mut add = segment.start_fetch_add(counter, 5).unwrap();
        wait_until(|| add.test());
        assert!(add.test(), "once true it stays true");
        assert_eq!(add.wait(), 0);
        assert_eq!(segment.start_compare_and_swap(counter, 5, 6).unwrap().wait(), 5);
        assert_eq!(segment.start_compare_and_swap(counter, 5, 7).unwrap().wait(), 6);
        assert_eq!(segment.start_fetch_with(counter, Update::Xor, 1).unwrap().wait(), 6);
        assert_eq!(segment.get_word(counter), Ok(7));
    }
}

pub fn a_dropped_handle_does_not_cancel(fabric: &impl Fabric) {
    let next = (fabric.rank() + 1) % fabric.ranks();
    let segment = fabric.allocate(2).unwrap();
    drop(segment.start_put(at(next, 0), vec![8]).unwrap());
    drop(segment.start_fetch_add(at(next, 1), 9).unwrap());
    segment.flush(next).unwrap();
    let mut words = [0; 2];
    segment.get(at(next, 0), &mut words).unwrap();
    assert_eq!(words, [8, 9]);
}

pub fn started_updates_are_not_lost(fabric: &impl Fabric) {
    const ROUNDS: usize = 200;
    let segment = fabric.allocate(1).unwrap();
    let started: Vec<_> = (0..ROUNDS).map(|_| segment.start_fetch_add(at(0, 0), 1).unwrap()).collect();
    let mut all = fabric.all_gather(&started.into_iter().map(Pending::wait).collect::<Vec<_>>()).unwrap().concat();
    all.sort_unstable();
    assert_eq!(all, (0..(ROUNDS * fabric.ranks()) as u64).collect::<Vec<_>>());
}

// Errors.

pub fn wrong_places_are_refused(fabric: &impl Fabric) {
    const WORDS: usize = 4;
    let ranks = fabric.ranks();
    let segment = fabric.allocate(WORDS).unwrap();
    let wrong = [(ranks, 0, 1), (usize::MAX, 0, 2), (0, WORDS, 1), (0, 2, 3), (0, usize::MAX, 1), (0, usize::MAX, 2)];
    for (rank, offset, length) in wrong {
        let place = at(rank, offset);
        let error = FabricError::OutOfSegment { rank, offset, length, words: WORDS, ranks };
        let mut copy = vec![3; length];
        assert_eq!(segment.get(place, &mut copy), Err(error.clone()));
        assert_eq!(copy, vec![3; length], "an error changes nothing");
        assert_eq!(segment.put(place, &vec![3; length]), Err(error.clone()));
        assert_eq!(segment.start_get(place, length).err(), Some(error.clone()));
        assert_eq!(segment.start_put(place, vec![3; length]).err(), Some(error.clone()));
        for part in [rank.to_string(), offset.to_string(), length.to_string()] {
            assert!(error.to_string().contains(&part), "{error}");
        }
    }
    for place in [at(ranks, 0), at(0, WORDS)] {
        let Place { rank, offset } = place;
        let error = FabricError::OutOfSegment { rank, offset, length: 1, words: WORDS, ranks };
        assert_eq!(segment.compare_and_swap(place, 0, 1), Err(error.clone()));
        assert_eq!(segment.fetch_add(place, 1), Err(error.clone()));
        assert_eq!(segment.start_compare_and_swap(place, 0, 1).err(), Some(error.clone()));
        assert_eq!(segment.start_fetch_add(place, 1).err(), Some(error));
    }
    assert_eq!(segment.flush(ranks), Err(FabricError::NoSuchRank { rank: ranks, ranks }));
    fabric.barrier();
    assert!(segment.local().iter().all(|word| word.load(Ordering::Relaxed) == 0), "an error changes nothing");
}

pub fn nothing_can_be_moved(fabric: &impl Fabric) {
    let segment = fabric.allocate(2).unwrap();
    for rank in 0..fabric.ranks() {
        for offset in 0..=2 {
            assert_eq!(segment.get(at(rank, offset), &mut []), Ok(()));
            assert_eq!(segment.put(at(rank, offset), &[]), Ok(()));
            assert_eq!(segment.start_get(at(rank, offset), 0).unwrap().wait(), []);
            assert_eq!(segment.start_put(at(rank, offset), Vec::new()).unwrap().wait(), []);
        }
        assert!(segment.get(at(rank, 3), &mut []).is_err());
    }
    assert!(segment.put(at(fabric.ranks(), 0), &[]).is_err());
    let empty = fabric.allocate(0).unwrap();
    assert_eq!(empty.put(at(0, 0), &[]), Ok(()));
    assert!(empty.fetch_add(at(0, 0), 1).is_err());
    assert_eq!(fabric.all_reduce(Reduction::Sum, &mut []), Ok(()));
    assert_eq!(fabric.all_gather(&[]).unwrap(), vec![Vec::<u64>::new(); fabric.ranks()]);
}

// Collectives.

/// Elementwise over the first `ranks` ranks, one after the other.
pub fn reduced(reduction: Reduction, ranks: usize, words: impl Fn(usize) -> Vec<u64>, length: usize) -> Vec<u64> {
    let mut result = vec![reduction.identity(); length];
    for rank in 0..ranks {
        for (word, other) in result.iter_mut().zip(words(rank)) {
            *word = reduction.apply(*word, other);
        }
    }
    result
}

pub fn reductions_agree_with_a_loop(fabric: &impl Fabric) {
    let (rank, ranks) = (fabric.rank(), fabric.ranks());
    for (round, length) in [0, 1, 2, 17, 1000].into_iter().enumerate() {
        let words = |rank: usize| noise(rank * 10 + round, length);
        for reduction in Reduction::ALL {
            let all = reduced(reduction, ranks, words, length);
            let mut mine = words(rank);
            fabric.all_reduce(reduction, &mut mine).unwrap();
            assert_eq!(mine, all, "{reduction:?}");
            let mut mine = words(rank);
            fabric.scan(reduction, &mut mine).unwrap();
            assert_eq!(mine, reduced(reduction, rank, words, length), "{reduction:?}");
            let root = round % ranks;
            let mut mine = words(rank);
            fabric.reduce(root, reduction, &mut mine).unwrap();
            assert_eq!(mine, if rank == root { all } else { words(rank) }, "{reduction:?}");
        }
    }
}

pub fn words_reach_those_they_are_for(fabric: &impl Fabric) {
    let (rank, ranks) = (fabric.rank(), fabric.ranks());
    for root in 0..ranks {
        let words = |rank: usize| noise(rank + root, (rank * 3 + root) % 5);
        let mut mine = words(rank);
        fabric.broadcast(root, &mut mine).unwrap();
        assert_eq!(mine, words(root));
        let all: Vec<Vec<u64>> = (0..ranks).map(words).collect();
        assert_eq!(fabric.all_gather(&words(rank)).unwrap(), all);
        assert_eq!(fabric.gather(root, &words(rank)).unwrap(), (rank == root).then_some(all));
        let message = |from: usize, to: usize| noise(from * ranks + to, (from + 2 * to + root) % 4);
        let messages: Vec<Vec<u64>> = (0..ranks).map(|to| message(rank, to)).collect();
        let received: Vec<Vec<u64>> = (0..ranks).map(|from| message(from, rank)).collect();
        assert_eq!(fabric.all_to_all(&messages).unwrap(), received);
    }
}

pub fn many_collectives_stay_in_step(fabric: &impl Fabric) {
    let ranks = fabric.ranks() as u64;
    let mut word = [1];
    for round in 0..500 {
        let root = round % fabric.ranks();
        let mut from_root = vec![word[0] + 1];
        fabric.broadcast(root, &mut from_root).unwrap();
        word = [from_root[0]];
        fabric.all_reduce(Reduction::Sum, &mut word).unwrap();
        assert_eq!(word[0] % ranks, 0);
        word[0] /= ranks;
    }
    assert_eq!(word, [501]);
}

pub fn wrong_roots_and_counts_are_refused(fabric: &impl Fabric) {
    let ranks = fabric.ranks();
    let error = FabricError::NoSuchRank { rank: ranks, ranks };
    let mut words = vec![1];
    assert_eq!(fabric.broadcast(ranks, &mut words), Err(error.clone()));
    assert_eq!(fabric.reduce(ranks, Reduction::Sum, &mut words), Err(error.clone()));
    assert_eq!(fabric.gather(ranks, &words), Err(error));
    assert_eq!(words, [1], "an error changes nothing");
    for messages in [0, ranks - 1, ranks + 1].into_iter().filter(|&messages| messages != ranks) {
        let sent = fabric.all_to_all(&vec![vec![1]; messages]);
        assert_eq!(sent, Err(FabricError::MessageCount { messages, ranks }));
    }
}

pub fn all_ranks_hear_of_a_disagreement(fabric: &impl Fabric) {
    let ranks = fabric.ranks();
    if ranks == 1 {
        return;
    }
    let last = ranks - 1;
    let odd = fabric.rank() == last;
    let error = |call| Err(FabricError::Disagreement { call, rank: last });
    let mut words = if odd { vec![1; 3] } else { vec![1; 2] };
    assert_eq!(fabric.all_reduce(Reduction::Sum, &mut words), error("all_reduce"));
    assert_eq!(fabric.scan(Reduction::Sum, &mut words), error("scan"));
    assert_eq!(fabric.reduce(0, Reduction::Sum, &mut words), error("reduce"));
    assert!(words.iter().all(|&word| word == 1), "an error changes nothing");
    let reduction = if odd { Reduction::Min } else { Reduction::Max };
    assert_eq!(fabric.all_reduce(reduction, &mut [1]), error("all_reduce"));
    let root = if odd { ranks } else { 0 };
    assert_eq!(fabric.broadcast(root, &mut vec![1]), error("broadcast"));
    assert_eq!(fabric.gather(root, &[1]).map(drop), error("gather"));
    let messages = vec![vec![1]; if odd { 0 } else { ranks }];
    assert_eq!(fabric.all_to_all(&messages).map(drop), error("all_to_all"));
    assert_eq!(fabric.allocate(fabric.rank() / last).map(drop), error("allocate"));
    // All are in step again afterwards.
    if odd {
        fabric.barrier();
    } else {
        assert_eq!(fabric.all_reduce(Reduction::Sum, &mut [1]), error("all_reduce"));
    }
    ranks_are_numbered(fabric);
}

// Block-distributed arrays.

/// Lengths and block sizes that do not divide, with blocks longer than the array and arrays shorter than the ranks.
pub fn block_arrays<F: Fabric>(fabric: &F) -> impl Iterator<Item = BlockArray<F::Segment>> {
    let shapes = [(0, 1), (1, 1), (2, 3), (5, 100), (23, 1), (23, 4), (64, 8), (101, 7)];
    shapes.into_iter().flat_map(|(len, block)| {
        let block = NonZeroUsize::new(block).unwrap();
        [BlockArray::allocate(fabric, len, block).unwrap(), BlockArray::even(fabric, len).unwrap()]
    })
}

pub fn ranges_cross_blocks(fabric: &impl Fabric) {
    for array in block_arrays(fabric) {
        let words = noise(array.len(), array.len());
        if fabric.rank() == 0 {
            array.put(0, &words).unwrap();
        }
        fabric.barrier();
        for start in 0..=array.len() {
            for end in (start..=array.len()).step_by(3) {
                let mut copy = vec![0; end - start];
                array.get(start, &mut copy).unwrap();
                assert_eq!(copy, words[start..end]);
            }
        }
        for (index, &word) in words.iter().enumerate() {
            assert_eq!(array.get_word(index), Ok(word));
            assert_eq!(array.segment().get_word(array.place(index).unwrap()), Ok(word));
        }
    }
}

pub fn each_rank_fills_what_it_owns(fabric: &impl Fabric) {
    for array in block_arrays(fabric) {
        let mut owned = [0];
        for (index, word) in array.local() {
            assert_eq!(array.place(index).unwrap().rank, fabric.rank());
            // Relaxed: the barrier orders this with the reads of others.
            word.store(index as u64 + 1, Ordering::Relaxed);
            owned[0] += 1;
        }
        assert_eq!(owned[0] as usize, array.owned(fabric.rank()).map(|range| range.len()).sum());
        fabric.barrier();
        let mut all = vec![0; array.len()];
        array.get(0, &mut all).unwrap();
        assert_eq!(all, (1..=array.len() as u64).collect::<Vec<_>>());
        fabric.all_reduce(Reduction::Sum, &mut owned).unwrap();
        assert_eq!(owned[0] as usize, array.len(), "each index has one owner");
    }
}

pub fn array_words_are_atomic(fabric: &impl Fabric) {
    let me = fabric.rank() as u64;
    for array in block_arrays(fabric) {
        let claims = BlockArray::even(fabric, array.len()).unwrap();
        for index in 0..array.len() {
            array.fetch_add(index, index as u64).unwrap();
            array.fetch_with(index, Update::Add, 1).unwrap();
            claims.compare_and_swap(index, 0, me + 1).unwrap();
        }
        fabric.barrier();
        for index in 0..array.len() {
            assert_eq!(array.get_word(index), Ok((index as u64 + 1) * fabric.ranks() as u64));
            assert!((1..=fabric.ranks() as u64).contains(&claims.get_word(index).unwrap()));
        }
        fabric.barrier();
        for index in array.owned(fabric.rank()).flatten() {
            array.put_word(index, me).unwrap();
            array.flush_all().unwrap();
            assert_eq!(array.get_word(index), Ok(me));
        }
    }
}

pub fn wrong_indices_are_refused(fabric: &impl Fabric) {
    for array in block_arrays(fabric) {
        let words = array.len();
        assert_eq!(array.is_empty(), words == 0);
        for (index, length) in [(words, 1), (0, words + 1), (words + 1, 0), (usize::MAX, 2)] {
            let error = Err(FabricError::OutOfArray { index, length, words });
            assert_eq!(array.get(index, &mut vec![0; length]), error);
            assert_eq!(array.put(index, &vec![1; length]), error);
        }
        assert_eq!(array.get(words, &mut []), Ok(()));
        let error = Err(FabricError::OutOfArray { index: words, length: 1, words });
        assert_eq!(array.get_word(words), error);
        assert_eq!(array.fetch_add(words, 1), error);
        assert_eq!(array.compare_and_swap(words, 0, 1), error);
        fabric.barrier();
        assert!(array.local().all(|(_, word)| word.load(Ordering::Relaxed) == 0), "an error changes nothing");
    }
}

// Lost ranks. In each of these the highest rank is lost, and the others would wait for ever.

pub fn panic_on_last_rank(fabric: &impl Fabric) {
    assert_ne!(fabric.rank(), fabric.ranks() - 1, "as it should");
}

pub fn a_panic_releases_those_in_a_barrier(fabric: &impl Fabric) {
    fabric.barrier();
    panic_on_last_rank(fabric);
    fabric.barrier();
    unreachable!("a barrier without all ranks");
}

pub fn a_panic_releases_those_in_a_collective(fabric: &impl Fabric) {
    fabric.allocate(3).unwrap();
    panic_on_last_rank(fabric);
    let _ = fabric.all_gather(&[1]);
    unreachable!("a collective without all ranks");
}

pub fn a_panic_releases_those_that_poll(fabric: &impl Fabric) {
    let segment = fabric.allocate(1).unwrap();
    panic_on_last_rank(fabric);
    wait_until(|| segment.get_word(at(fabric.rank(), 0)) == Ok(1));
}

pub fn a_panic_releases_those_that_sleep(fabric: &impl Fabric) {
    if fabric.rank() == fabric.ranks() - 1 {
        thread::sleep(std::time::Duration::from_millis(20));
    }
    panic_on_last_rank(fabric);
    fabric.barrier();
}

pub fn destructors_may_wait_while_a_rank_unwinds(fabric: &impl Fabric) {
    struct WaitOnDrop<'a, F: Fabric>(&'a F);
    impl<F: Fabric> Drop for WaitOnDrop<'_, F> {
        fn drop(&mut self) {
            self.0.barrier();
            assert!(!thread::panicking() || self.0.all_gather(&[1]).is_err());
        }
    }
    let _guard = WaitOnDrop(fabric);
    panic_on_last_rank(fabric);
}

pub fn an_early_end_releases_those_that_wait(fabric: &impl Fabric) {
    fabric.barrier();
    if fabric.rank() != fabric.ranks() - 1 {
        fabric.barrier();
    }
}

// Mail.

/// Streams in all directions at once, in batches of all sizes up to more than a ring holds; receivers look at three words
/// at a time.
pub fn mail_arrives_whole_and_in_order(fabric: &impl Fabric) {
    [(30, 2), (60, 3), (300, 5), (6000, 97), (210_000, 4099)]
        .into_iter()
        .for_each(|(words, ring)| exchange_mail(fabric, words, ring));
}

fn exchange_mail(fabric: &impl Fabric, total: usize, ring: usize) {
    let mail = Mail::open(fabric, ring).unwrap();
    let stream = |from: usize, to: usize| -> Vec<u64> {
        noise(from * 100 + to, total).into_iter().map(|word| word >> 1).collect()
    };
    let outgoing: Vec<Vec<u64>> = (0..fabric.ranks()).map(|to| stream(fabric.rank(), to)).collect();
    let mut incoming = vec![Vec::new(); fabric.ranks()];
    let mut sent = 0;
    while sent < total || !mail.is_sent() || incoming.iter().any(|words: &Vec<u64>| words.len() < total) {
        let batch = (1 + sent * 7 % (2 * ring)).min(total - sent);
        for (to, words) in outgoing.iter().enumerate() {
            mail.send(to, &words[sent..sent + batch]);
        }
        sent += batch;
        mail.receive(&mut |from, words| {
            let understood = words.len() / 3 * 3;
            incoming[from].extend_from_slice(&words[..understood]);
            understood
        });
        mail.help();
        mail.check();
        thread::yield_now();
    }
    for (from, words) in incoming.iter().enumerate() {
        assert_eq!(*words, stream(from, fabric.rank()));
    }
    fabric.barrier();
}
