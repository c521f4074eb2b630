//! Files made by hand decode to what they say.

mod common;

use std::io::Write;

use common::bytes::{legacy, seeds, sylvan, uneven};
use tremula_models::{BddSystem, FIRST_ACTION_VARIABLE, Layout, Limits, read_bdd, read_file, write_bdd};

fn read(bytes: &[u8]) -> BddSystem {
    read_bdd(bytes, &Limits::default()).expect("a valid file")
}

/// The system that both tiny files describe, checked on every assignment of its variables.
fn assert_is_tiny(system: &BddSystem) {
    assert_eq!(system.check(), Ok(()));
    assert_eq!((system.variables.len(), system.state_bits(), system.action_bits), (2, 2, 1));
    assert_eq!(system.groups.len(), 1);
    let group = &system.groups[0];
    assert_eq!((group.reads.as_slice(), group.writes.as_slice()), ([0].as_slice(), [0].as_slice()));
    assert_eq!(system.group_bits(group), [0]);
    let reachable = system.reachable.expect("a stored reachable set");
    for bits in 0..32_u32 {
        let value = |variable: u32| {
            let bit = if variable == FIRST_ACTION_VARIABLE { 4 } else { variable };
            bits >> bit & 1 == 1
        };
        let (x, x_next, y, action) = (value(0), value(1), value(2), value(FIRST_ACTION_VARIABLE));
        assert_eq!(system.evaluate(system.initial, value), !x && !y);
        assert_eq!(system.evaluate(reachable, value), !y);
        assert_eq!(system.evaluate(group.relation, value), x != x_next && action);
    }
}

#[test]
fn legacy_file() {
    let system = read(&legacy().0);
    assert_eq!(system.layout, Layout::Legacy);
    assert_is_tiny(&system);
}

#[test]
fn sylvan_file() {
    let system = read(&sylvan().0);
    assert_eq!(system.layout, Layout::Sylvan);
    assert_eq!(system.action_labels, [b"go"]);
    assert_is_tiny(&system);
}

#[test]
fn writing_gives_the_same_bytes() {
    let mut file = Vec::new();
    write_bdd(&read(&sylvan().0), Layout::Sylvan, &mut file).expect("written");
    assert_eq!(file, sylvan().0);
}

#[test]
fn writing_the_other_layout() {
    for (bytes, layout) in [(legacy().0, Layout::Sylvan), (sylvan().0, Layout::Legacy)] {
        let mut file = Vec::new();
        write_bdd(&read(&bytes), layout, &mut file).expect("written");
        let system = read(&file);
        assert_eq!(system.layout, layout);
        assert_is_tiny(&system);
    }
}

#[test]
fn padding_keeps_values() {
    let mut file = Vec::new();
    write_bdd(&read(&uneven().0), Layout::Legacy, &mut file).expect("written");
    let system = read(&file);
    // x is now the bits 0 and 1, of which 0 is padding; y is the bits 2 and 3, as before.
    assert_eq!(system.variables.iter().map(|variable| variable.bits).collect::<Vec<_>>(), [2, 2]);
    for bits in 0..256_u32 {
        let value = |variable: u32| bits >> variable & 1 == 1;
        let integer = |bit: u32, next: u32| 2 * u32::from(value(2 * bit + next)) + u32::from(value(2 * bit + 2 + next));
        let (x, y, x_next, y_next) = (integer(0, 0), integer(2, 0), integer(0, 1), integer(2, 1));
        assert_eq!(system.evaluate(system.initial, value), x == 1 && y == 2);
        assert_eq!(system.evaluate(system.groups[0].relation, value), x == 1 && x_next == 1 && y_next == 3);
    }
}

#[test]
fn fuzz_seeds_are_the_tiny_files() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for (name, bytes) in seeds() {
        let seed = folder.join(name);
        if std::env::var_os("WRITE_FUZZ_SEEDS").is_some() {
            std::fs::write(&seed, &bytes).expect("a written seed");
        }
        assert!(std::fs::read(&seed).is_ok_and(|found| found == bytes), "WRITE_FUZZ_SEEDS=1 renews {}", seed.display());
    }
}

#[test]
fn cubes_leave_no_nodes_behind() {
    assert_eq!(read(&legacy().0).nodes.len(), 6);
    assert_eq!(read(&legacy().0).without_reachable().nodes.len(), 6, "y is part of the initial set");
}

#[test]
fn without_reachable_drops_the_answer() {
    // The reachable set gets a node of its own, ¬(¬x ∧ y), in place of ¬y.
    let mut system = read(&sylvan().0);
    let y = tremula_models::Edge::new(1, false);
    system.nodes.push(tremula_models::Node { variable: 0, low: y, high: tremula_models::Edge::FALSE });
    system.reachable = Some(tremula_models::Edge::new(system.nodes.len() as u32, true));
    assert_eq!(system.check(), Ok(()));
    let before = system.nodes.len();
    let stripped = system.without_reachable();
    assert_eq!((stripped.nodes.len(), stripped.reachable), (before - 1, None));
    assert_eq!(stripped.check(), Ok(()));
}

#[test]
fn gzip_is_known_by_content() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&legacy().0).expect("compressed");
    let compressed = encoder.finish().expect("compressed");
    assert_is_tiny(&read(&compressed));
}

#[test]
fn file_errors_name_the_file() {
    let missing = std::path::Path::new("no/such/model.bdd");
    let error = read_file(missing, &Limits::default()).expect_err("no such file");
    assert!(error.to_string().starts_with("no/such/model.bdd: cannot read: "), "{error}");
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let error = read_file(&source, &Limits::default()).expect_err("not a model");
    assert!(error.to_string().contains("Cargo.toml: not a model: "), "{error}");
}
