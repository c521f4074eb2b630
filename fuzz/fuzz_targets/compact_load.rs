//! Any bytes are diagrams or an error; diagrams come back from a file of their own.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tremula_diagrams::{Bdd, Budget, Manager};

const NODE_LIMIT: usize = 10_000;

fuzz_target!(|data: &[u8]| {
    round_trip(data);
    // Random bytes hardly ever have the right magic bytes and checksum, so most inputs would end there: supply both.
    let mut file = b"\x89TBDD\r\n\x1A".to_vec();
    file.extend(data);
    file.extend(crc32fast::hash(&file).to_le_bytes());
    round_trip(&file);
});

fn round_trip(file: &[u8]) {
    let manager = Manager::new(&Budget::new(16 << 20)).expect("enough for a small table");
    let Ok(contents) = manager.load_compact(file, NODE_LIMIT) else { return };
    manager.check().expect("loaded nodes are canonical");
    let roots: Vec<(&str, &Bdd)> = contents.roots.iter().map(|(name, f)| (name.as_str(), f)).collect();
    let metadata: Vec<(&str, &str)> = contents.metadata.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let mut again = Vec::new();
    manager.save_compact(&roots, &metadata, &mut again).expect("what was loaded can be saved");
    let copy = manager.load_compact(again.as_slice(), NODE_LIMIT).expect("what was saved can be loaded");
    assert_eq!(copy.roots, contents.roots);
    assert_eq!(copy.metadata, contents.metadata);
}
