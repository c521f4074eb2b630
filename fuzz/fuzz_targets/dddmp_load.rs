//! Any bytes are diagrams or an error; diagrams come back from a file of their own.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tremula_diagrams::{Bdd, Budget, Manager, io};

const NODE_LIMIT: usize = 10_000;
/// Files name all variables down to the lowest: without a limit, one far down would keep the fuzzer busy with names.
const LEVEL_LIMIT: u32 = 10_000;

fuzz_target!(|data: &[u8]| {
    let manager = Manager::new(&Budget::new(16 << 20)).expect("enough for a small table");
    let Ok(contents) = manager.load_dddmp(data, NODE_LIMIT) else { return };
    manager.check().expect("loaded nodes are canonical");
    if contents
        .roots
        .iter()
        .any(|(_, f)| f.support().expect("memory for a bitmap").last().is_some_and(|&level| level >= LEVEL_LIMIT))
    {
        return;
    }
    let roots: Vec<(&str, &Bdd)> = contents.roots.iter().map(|(_, f)| ("", f)).collect();
    let mut again = Vec::new();
    manager.save_dddmp(&roots, &io::numbered, &mut again).expect("what was loaded can be saved");
    let copy = manager.load_dddmp(again.as_slice(), NODE_LIMIT).expect("what was saved can be loaded");
    let functions = |contents: &io::DddmpContents| contents.roots.iter().map(|root| root.1.clone()).collect::<Vec<_>>();
    assert_eq!(functions(&copy), functions(&contents));
});
