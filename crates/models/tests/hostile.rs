//! Files that are wrong get an error that says where and why; none causes a panic.

mod common;

use common::bytes::{ACTION, Bytes, FALSE, NOT, TRUE, legacy, seeds, sylvan, uneven};
use common::gzip;
use common::property::reading_is_safe;
use tremula_models::{
    BddSystem, Edge, FormatError, Layout, Limits, MAX_NODE_ID, Malformed, SystemError, WriteError, read_bdd, write_bdd,
};

fn read(bytes: &[u8]) -> Result<BddSystem, FormatError> {
    read_bdd(bytes, &Limits::default())
}

fn malformed(bytes: &[u8], limits: &Limits) -> Malformed {
    match read_bdd(bytes, limits) {
        Err(FormatError::Malformed(malformed)) => malformed,
        other => panic!("expected a malformed file, got {other:?}"),
    }
}

/// Asserts where a file fails, and that the message has these words.
fn assert_fails(bytes: &[u8], layout: Layout, offset: u64, words: &str) {
    let error = malformed(bytes, &Limits::default());
    let message = error.to_string();
    assert_eq!((error.layout, error.offset), (layout, offset), "{message}");
    assert!(message.contains(words), "{message:?} should contain {words:?}");
    assert!(message.contains(&format!("{layout} layout, byte {offset}: expected ")), "{message}");
}

#[test]
fn every_truncation_is_an_error() {
    for (_, file) in seeds() {
        for length in 0..file.len() {
            assert!(read(&file[..length]).is_err(), "cut at {length}");
        }
    }
}

#[test]
fn truncations_name_the_layout_and_the_place() {
    assert_fails(&[], Layout::Legacy, 0, "the number of integers, found the end of the file");
    assert_fails(&legacy().0[..26], Layout::Legacy, 20, "node 1 of 3 of the initial set, found the end of the file");
    assert_fails(&legacy().0[..206], Layout::Legacy, 200, "the end of the file after 6 of 8 bytes");
    assert_fails(&sylvan().0[..229], Layout::Sylvan, 228, "action label 0, found the end of the file after 1 of 2");
}

#[test]
fn every_truncation_of_gzip_is_an_error() {
    let file = gzip(&legacy().0);
    for length in 0..file.len() {
        assert!(read(&file[..length]).is_err(), "cut at {length}");
    }
    let message = read(&file[..file.len() - 9]).expect_err("cut").to_string();
    assert!(message.contains("cannot decompress, after ") && message.contains(" uncompressed bytes"), "{message}");
}

#[test]
fn no_flipped_bit_causes_a_panic() {
    for file in seeds().into_iter().flat_map(|(_, file)| [gzip(&file), file]) {
        for bit in 0..file.len() * 8 {
            let mut flipped = file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            reading_is_safe(&flipped);
        }
    }
}

#[test]
fn no_replaced_word_causes_a_panic() {
    let extremes = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, u64::MAX >> 1, NOT, u64::MAX, 1 << 40, 1 << 62];
    for file in [legacy(), sylvan(), uneven()] {
        for offset in 0..file.0.len() - 7 {
            for value in extremes {
                reading_is_safe(&file.with_u64(offset, value));
            }
        }
    }
}

#[test]
fn trailing_bytes() {
    let mut file = legacy().0;
    file.push(0);
    assert_fails(&file, Layout::Legacy, 252, "the end of the file, found 1 more byte");
    let mut file = sylvan().0;
    file.extend([0; 3]);
    assert_fails(&file, Layout::Sylvan, 230, "the end of the file, found 3 more bytes");
}

#[test]
fn offsets_in_gzip_are_uncompressed_ones() {
    let error = malformed(&gzip(&legacy().with_u64(76, 3)), &Limits::default());
    let message = error.to_string();
    assert!(message.contains("byte 76 of the uncompressed data: expected the number of integers"), "{message}");
    assert!(message.ends_with("repeated (2), found 3"), "{message}");
}

#[test]
fn head_out_of_range() {
    for integers in [0, -1, i32::MAX] {
        assert_fails(&legacy().with_i32(0, integers), Layout::Legacy, 0, "the number of integers from 1 to 500000");
    }
    assert_fails(
        &legacy().with_i32(4, 65),
        Layout::Legacy,
        4,
        "the number of bits of an integer from 1 to 64, found 65",
    );
    let bits = Bytes::default().i32(&[5, 1, 1, 1, 1, 65]);
    assert_fails(&bits.0, Layout::Sylvan, 20, "the number of bits of integer 4 from 1 to 64, found 65");
    let actions = Bytes::default().i32(&[5, 1, 1, 1, 1, 1, -2]);
    assert_fails(&actions.0, Layout::Sylvan, 24, "the number of action bits from 0 to 15777216, found -2");
    let part = sylvan().with_i32(16, 2);
    assert_fails(&part, Layout::Sylvan, 16, "the initial set to be over all integers (-1), found 2");
}

#[test]
fn nodes_that_are_not_nodes() {
    let high = 28; // The first word of the initial set's first node, in the Sylvan layout.
    let low = high + 8;
    let sylvan_fails = |bytes: Vec<u8>, offset, words| assert_fails(&bytes, Layout::Sylvan, offset, words);
    sylvan_fails(sylvan().with_u64(high, 1 << 62), 28, "leaves with numbers are not supported), found a leaf");
    sylvan_fails(
        sylvan().with_u64(high, 1),
        28,
        "the high child of a node to be a node read before (at most 0), found 1",
    );
    sylvan_fails(sylvan().with_u64(high, 1 << 40), 28, "the high child");
    sylvan_fails(sylvan().with_u64(low, 2 << 40 | 5), 28, "the low child of a node to be a node read before");
    sylvan_fails(
        sylvan().with_u64(low, 4 << 40),
        28,
        "a variable below 4, or from 1000000 below 1000001, found variable 4",
    );
    sylvan_fails(sylvan().with_u64(low, (ACTION + 1) << 40), 28, "found variable 1000001");
    sylvan_fails(sylvan().with_u64(high, FALSE), 28, "two different children");
    sylvan_fails(sylvan().with_u64(high + 24, 2 << 40 | 1), 44, "below its children's (2), found variable 2");
    assert_fails(&legacy().with_u64(20, 1), Layout::Legacy, 20, "the high child of a node");
}

#[test]
fn roots_that_are_not_roots() {
    assert_fails(
        &sylvan().with_u64(64, 3),
        Layout::Sylvan,
        64,
        "the root of the initial set to be a node read before (at most 2)",
    );
    assert_fails(&sylvan().with_u64(64, 1 << 40 | 2), Layout::Sylvan, 64, "the root of the initial set");
    assert_fails(
        &sylvan().with_i32(60, 2),
        Layout::Sylvan,
        60,
        "the number of roots of the initial set from 1 to 1, found 2",
    );
    assert_fails(&legacy().with_u64(200, 10), Layout::Legacy, 200, "the root of the relation of group 0");
}

#[test]
fn variables_where_they_do_not_belong() {
    let x_next_in_a_set = sylvan().with_u64(36, 1 << 40);
    assert_fails(&x_next_in_a_set, Layout::Sylvan, 64, "current-state variables only (even ones), found variable 1");
    let y_in_the_relation_of_x = sylvan().with_u64(124, 2 << 40);
    assert_fails(&y_in_the_relation_of_x, Layout::Sylvan, 168, "its group reads or writes, found variable 2");
    let y_in_the_relation_of_x = legacy().with_u64(128, 2 << 40);
    assert_fails(&y_in_the_relation_of_x, Layout::Legacy, 200, "its group reads or writes, found variable 2");
    let action_in_a_set = legacy().with_u64(228, 4);
    assert_fails(&action_in_a_set, Layout::Legacy, 228, "the reachable set to use current-state variables only");
}

#[test]
fn projections_that_are_not_lists_of_integers() {
    assert_fails(&sylvan().with_i32(84, 2), Layout::Sylvan, 84, "an integer read, ascending, from 0 to 1, found 2");
    assert_fails(&sylvan().with_i32(88, -1), Layout::Sylvan, 88, "an integer written");
    assert_fails(&sylvan().with_i32(76, 3), Layout::Sylvan, 76, "the number of integers read from 0 to 2");
    assert_fails(&sylvan().with_i32(76, 2), Layout::Sylvan, 88, "ascending, from 1 to 1, found 0");
}

#[test]
fn cubes_that_are_not_cubes() {
    assert_fails(&legacy().with_u64(84, 2), Layout::Legacy, 84, "a cube (a conjunction of positive variables)");
    assert_fails(&legacy().with_u64(84, NOT | 3), Layout::Legacy, 84, "a cube");
    assert_fails(&legacy().with_u64(84, FALSE), Layout::Legacy, 84, "a cube");
    assert_fails(
        &legacy().with_u64(84, 1),
        Layout::Legacy,
        84,
        "all current-state variables (even ones) only, found variable 2",
    );
    assert_fails(&legacy().with_u64(84, TRUE), Layout::Legacy, 84, "all 2 current-state variables, found 0 of them");
    assert_fails(&legacy().with_u64(208, 8), Layout::Legacy, 208, "all 2 variables of integers only, found variable 1");
    assert_fails(&legacy().with_u64(208, 3), Layout::Legacy, 208, "found variable 2");
    assert_fails(&legacy().with_u64(208, 4), Layout::Legacy, 208, "found variable 1000000");
    assert_fails(&legacy().with_u64(208, TRUE), Layout::Legacy, 200, "its group reads or writes, found variable 0");
}

#[test]
fn half_an_integer_in_a_cube() {
    let file = Bytes::default()
        .i32(&[1, 1, 0])
        .nodes(&[(0, FALSE, TRUE)])
        .u64(&[1, 1, 1])
        .i32(&[1])
        .nodes(&[])
        .u64(&[FALSE, 1])
        .i32(&[0]);
    assert_fails(&file.0, Layout::Legacy, 80, "all 2 variables of an integer, found 1 of its last one's");
}

#[test]
fn claimed_counts_reserve_nothing() {
    // A few bytes that announce gigabytes: the file ends, or turns to nonsense, long before.
    let nodes = Bytes::default().i32(&[1, 1, 0]).u64(&[1 << 26]);
    assert_fails(&nodes.0, Layout::Legacy, 20, "node 1 of 67108864 of the initial set, found the end of the file");
    let error = malformed(&legacy().with_u64(12, u64::MAX), &Limits::default());
    assert!(error.to_string().contains("a limit of the reader"), "{error}");
    let groups = Bytes::default().i32(&[1, 1, 0]).nodes(&[(0, FALSE, TRUE)]).u64(&[1, 1, 1]).i32(&[i32::MAX]);
    assert_fails(&groups.0, Layout::Legacy, 64, "the number of nodes of the relation of group 0, found the end");
    assert_fails(&sylvan().with_i32(220, i32::MAX), Layout::Sylvan, 230, "the length of action label 1");
    assert_fails(&sylvan().with_i32(224, -1), Layout::Sylvan, 228, "the end of the file after 2 of 4294967295 bytes");
}

#[test]
fn limits_hold() {
    let bytes = Limits { max_bytes: 251, ..Limits::default() };
    let message = read_bdd(legacy().0.as_slice(), &bytes).expect_err("too large").to_string();
    assert_eq!(message, "larger than the limit of 251 bytes");
    let nodes = Limits { max_nodes: 8, ..Limits::default() };
    let message = malformed(&legacy().0, &nodes).to_string();
    assert!(message.contains("at most 8 nodes in the file (a limit of the reader), found 9 so far"), "{message}");
    let projections = Limits { max_projections: 1, ..Limits::default() };
    for file in [legacy(), sylvan()] {
        let message = malformed(&file.0, &projections).to_string();
        assert!(message.contains("at most 1 entries in read and write lists"), "{message}");
    }
    let work = Limits { max_relation_nodes: 7, ..Limits::default() };
    let message = malformed(&legacy().0, &work).to_string();
    assert!(message.contains("of at most 7 nodes together"), "{message}");
}

#[test]
fn decompression_bombs_are_cut_off() {
    let bomb = gzip(&vec![0; 1 << 24]);
    assert!(bomb.len() < 1 << 15);
    let limits = Limits { max_bytes: 1 << 16, ..Limits::default() };
    let message = read_bdd(bomb.as_slice(), &limits).expect_err("too large").to_string();
    assert_eq!(message, "larger than the limit of 65536 bytes when uncompressed");
}

#[test]
fn deep_diagrams_do_not_exhaust_the_stack() {
    // One chain through as many variables as there can be.
    let bits = 500_000_u64;
    let mut nodes = vec![(2 * (bits - 1), FALSE, TRUE)];
    nodes.extend((1..bits).map(|depth| (2 * (bits - 1 - depth), FALSE, depth)));
    let file = Bytes::default().i32(&[bits as i32, 1, 0]).nodes(&nodes).u64(&[NOT | bits, bits, bits]).i32(&[0, 0]);
    let system = read(&file.0).expect("a valid file");
    for layout in [Layout::Legacy, Layout::Sylvan] {
        let mut out = Vec::new();
        write_bdd(&system, layout, &mut out).expect("written");
        assert_eq!(read(&out).expect("a valid file").nodes.len(), nodes.len());
    }
}

#[test]
fn invalid_systems_are_not_written() {
    let valid = read(&sylvan().0).expect("a valid file");
    let refused = |change: &dyn Fn(&mut BddSystem)| {
        let mut system = valid.clone();
        change(&mut system);
        match write_bdd(&system, Layout::Legacy, Vec::new()) {
            Err(WriteError::Invalid(error)) => error,
            other => panic!("expected a refusal, got {other:?}"),
        }
    };
    assert_eq!(refused(&|s| s.variables.clear()), SystemError::Widths);
    assert_eq!(refused(&|s| s.variables[0].bits = u32::MAX), SystemError::Widths);
    assert_eq!(refused(&|s| s.action_bits = u32::MAX), SystemError::Widths);
    assert_eq!(refused(&|s| s.nodes[0].low = Edge::new(MAX_NODE_ID, false)), SystemError::Node { id: 1 });
    assert_eq!(refused(&|s| s.nodes[0].low = Edge::TRUE), SystemError::Node { id: 1 });
    assert_eq!(refused(&|s| s.nodes[1].variable = 3), SystemError::Node { id: 2 });
    let missing = refused(&|s| s.initial = Edge::new(99, false));
    assert_eq!(missing, SystemError::MissingNode { what: "initial set".into(), id: 99 });
    let foreign = refused(&|s| s.initial = s.groups[0].relation);
    assert!(matches!(foreign, SystemError::ForeignVariable { .. }));
    let foreign = refused(&|s| (s.groups[0].reads, s.groups[0].writes) = (vec![1], vec![]));
    assert!(foreign.to_string().contains("relation of group 0 uses variable 0"), "{foreign}");
    assert_eq!(refused(&|s| s.groups[0].reads = vec![0, 0]), SystemError::Projection { group: 0 });
    assert_eq!(refused(&|s| s.groups[0].writes = vec![2]), SystemError::Projection { group: 0 });
}
