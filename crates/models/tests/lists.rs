//! Models of lists: real ones are read, wrong ones get an error that says where and why.

mod common;

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use common::bytes::{Bytes, lists};
use common::property::reading_lists_is_safe;
use common::random::Random;
use common::{collection, files_in, testdata};
use tremula_models::{FormatError, LddSystem, Limits, ListNode, MalformedLists, read_ldd, read_ldd_file};

fn read(bytes: &[u8]) -> Result<LddSystem, FormatError> {
    read_ldd(bytes, &Limits::default())
}

fn load(path: &Path) -> LddSystem {
    read_ldd_file(path, &Limits::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn malformed(bytes: &[u8], limits: &Limits) -> MalformedLists {
    match read_ldd(bytes, limits) {
        Err(FormatError::MalformedLists(malformed)) => malformed,
        other => panic!("expected a malformed file, got {other:?}"),
    }
}

/// Asserts where a file fails, and that the message has these words.
fn assert_fails(bytes: &[u8], offset: u64, words: &str) {
    let error = malformed(bytes, &Limits::default());
    let message = error.to_string();
    assert_eq!(error.offset, offset, "{message}");
    assert!(message.contains(words), "{message:?} should contain {words:?}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("compressed");
    encoder.finish().expect("compressed")
}

#[test]
fn the_tiny_file_is_what_it_says() {
    for file in [lists().0, gzip(&lists().0)] {
        let system = read(&file).expect("a model");
        assert_eq!(system.check(), Ok(()));
        assert_eq!((system.integers, system.initial, system.reachable), (2, 3, None));
        assert_eq!(system.node(3), Some(&ListNode { value: 0, copy: false, down: 2, right: 0 }));
        assert_eq!(system.node(LddSystem::UNIT), None);
        assert_eq!(
            (system.groups[1].reads.as_slice(), system.groups[1].writes.as_slice()),
            ([0].as_slice(), [1].as_slice())
        );
        assert_eq!((system.groups[0].relation, system.groups[1].relation), (8, 11));
        assert!(system.node(10).expect("a node").copy);
        assert_eq!(system.action_labels, [b"go"]);
    }
}

#[test]
fn labels_may_be_missing() {
    let system = read(&lists().0[..256]).expect("a model");
    assert!(system.action_labels.is_empty());
}

#[test]
fn truncations_and_flipped_bits_are_safe() {
    let file = lists().0;
    for length in (0..file.len()).filter(|&length| length != 256) {
        assert!(read(&file[..length]).is_err(), "cut at {length}");
    }
    for bit in 0..file.len() * 8 {
        let mut flipped = file.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        reading_lists_is_safe(&flipped);
    }
}

#[test]
fn no_replaced_word_causes_a_panic() {
    let extremes = [0, 1, 2, 0x7fff_ffff, 0xffff_ffff, u64::MAX >> 1, u64::MAX, 1 << 33, 1 << 62];
    for offset in 0..lists().0.len() - 7 {
        for value in extremes {
            reading_lists_is_safe(&lists().with_u64(offset, value));
        }
    }
}

#[test]
fn random_damage_is_safe() {
    let mut random = Random(1708);
    for _ in 0..20_000 {
        let mut file = lists().0;
        for _ in 0..=random.below(4) {
            let (at, from) = (random.below(file.len()), random.below(file.len()));
            match random.below(3) {
                0 => file[at] = random.next() as u8,
                1 => file[at] = file[from],
                _ => file.truncate(at.max(1)),
            }
        }
        reading_lists_is_safe(&file);
    }
}

#[test]
fn errors_name_the_place() {
    assert_fails(&[], 0, "the number of integers, found the end of the file");
    assert_fails(&lists().with_i32(0, 0), 0, "the number of integers from 1 to ");
    assert_fails(&lists().with_i32(4, 2), 4, "the initial set to be over all integers (-1), found 2");
    assert_fails(&lists().with_i32(0, 3), 48, "a set of vectors of length 3, found 2");
    assert_fails(&lists().with_u64(48, 4), 48, "a node read before (at most 3), found 4");
    assert_fails(&lists().with_u64(48, 1 << 32), 48, "a node read before, found 4294967296");
    assert_fails(&lists().with_i32(56, -1), 56, "the number of groups");
    assert_fails(&lists().with_i32(68, 2), 68, "the index of an integer read, ascending, from 0 to 1, found 2");
    let mut file = lists().0;
    file.push(0);
    assert_fails(&file, 266, "the end of the file, found 1 more byte");
    let error = malformed(&gzip(&lists().with_i32(4, 2)), &Limits::default());
    assert!(error.to_string().starts_with("byte 4 of the uncompressed data: "), "{error}");
}

/// A file whose initial set, over one integer, has these nodes.
fn initial(nodes: &[(u32, u64, u64, bool)], root: u64) -> Vec<u8> {
    Bytes::default().i32(&[1, -1]).lists(nodes).u64(&[root]).i32(&[0, 0]).0
}

#[test]
fn nodes_that_are_not_nodes() {
    assert!(read(&initial(&[(5, 1, 0, false), (4, 1, 2, false)], 3)).is_ok());
    assert_fails(&initial(&[(5, 2, 0, false)], 2), 16, "children come before it (at most 1), found 2");
    assert_fails(&initial(&[(5, 1, 2, false)], 2), 16, "children come before it (at most 1), found 2");
    assert_fails(&initial(&[(5, 0, 0, false)], 2), 16, "vectors below it");
    assert_fails(&initial(&[(5, 1, 1, false)], 2), 16, "ends with the empty set");
    assert_fails(&initial(&[(5, 1, 0, false), (5, 1, 2, false)], 3), 32, "below that to its right (5), found 5");
    assert_fails(&initial(&[(5, 1, 0, true), (4, 1, 2, false)], 3), 32, "a copy node");
    assert_fails(&initial(&[(5, 1, 0, false), (4, 2, 2, false)], 3), 32, "as long as to its right (1), found 2");
    assert_fails(&initial(&[(5, 1, 0, true)], 2), 32, "a set without copy nodes");
    assert_fails(&initial(&[(5, 1 << 40, 0, false)], 2), 16, "smaller ids");
}

#[test]
fn relations_that_are_not_relations() {
    // Relation 0 as that of a group that reads nothing: its first level is one of values written.
    assert!(read(&lists().with_u64(244, 4)).is_err());
    assert_fails(&lists().with_u64(180, 4), 180, "a relation of 2 levels, or one more, found 1");
    // A copy node where an integer is read.
    let mut file = lists().0;
    file[196 + 32 + 10] |= 1;
    assert_fails(&file, 244, "copy nodes only where an integer is written, found one on level 0");
    let tight = Limits { max_relation_nodes: 6, ..Limits::default() };
    assert!(malformed(&lists().0, &tight).to_string().contains("a limit of the reader"));
}

/// Claims of a gigabyte and more end before anything is allocated for them.
#[test]
fn large_counts_are_refused_at_once() {
    let start = Instant::now();
    for count in [1 << 26, 1 << 32, u64::MAX] {
        assert!(read(&lists().with_u64(8, count)).is_err());
    }
    for count in [1 << 18, i32::MAX] {
        assert!(read(&lists().with_i32(56, count)).is_err());
        assert!(read(&lists().with_i32(60, count)).is_err());
    }
    let zeros = gzip(&vec![0; 1 << 20]);
    let tight = Limits { max_bytes: 1 << 16, ..Limits::default() };
    assert!(matches!(read_ldd(zeros.as_slice(), &tight), Err(FormatError::TooLarge { compressed: true, .. })));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

/// A list and a vector of a hundred thousand: nothing recurs along either.
#[test]
fn long_lists_and_vectors() {
    const LONG: u32 = 100_000;
    let list: Vec<_> = (0..LONG).map(|n| (LONG - n, 1, if n == 0 { 0 } else { u64::from(n) + 1 }, false)).collect();
    assert_eq!(read(&initial(&list, u64::from(LONG) + 1)).expect("a list").check(), Ok(()));
    let vector: Vec<_> = (0..LONG).map(|n| (n, u64::from(n) + 1, 0, false)).collect();
    let file = Bytes::default().i32(&[LONG as i32, -1]).lists(&vector).u64(&[u64::from(LONG) + 1]).i32(&[0, 0]);
    assert_eq!(read(&file.0).expect("a vector").check(), Ok(()));
}

#[test]
fn small_models_are_read() {
    let files = files_in(&testdata(), "ldd");
    assert!(files.len() >= 3);
    for path in files {
        assert_eq!(load(&path).check(), Ok(()), "{}", path.display());
    }
}

#[test]
fn whole_collection() {
    let files = files_in(&collection(), "ldd");
    if files.is_empty() {
        eprintln!("no collection of models: skipped");
        return;
    }
    assert_eq!(files.len(), 17);
    for path in &files {
        let system = load(path);
        assert_eq!(system.check(), Ok(()), "{}", path.display());
        let copies = system.nodes.iter().filter(|node| node.copy).count();
        let facts = (system.integers, system.groups.len(), system.nodes.len(), copies);
        let name = path.file_name().expect("a file").to_string_lossy();
        match name.as_ref() {
            "anderson.8.ldd" => assert_eq!(facts, (22, 42, 436, 102)),
            "bakery.7.ldd.gz" => assert_eq!(facts, (20, 32, 43_457, 0)),
            "blocks.4.ldd" => assert_eq!(facts, (22, 32, 2_277, 1_385)),
            _ => {}
        }
    }
}
