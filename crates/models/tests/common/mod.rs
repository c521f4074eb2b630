//! What the tests of this crate share.
#![allow(dead_code, reason = "every test uses only some of it")]

pub mod bytes;
pub mod net_property;
pub mod property;
pub mod random;

use std::io::Write;
use std::path::{Path, PathBuf};

use tremula_models::{BddSystem, Limits, read_file};

/// The folder of the small models that are part of the repository.
pub fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// The folder of the full collection of models: `TREMULA_COLLECTION`, or beside the repository. It may be missing.
pub fn collection() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models");
    std::env::var_os("TREMULA_COLLECTION").map_or_else(beside, PathBuf::from)
}

/// All `.bdd` and `.bdd.gz` files in the folders of `folder`, sorted. None if it is missing.
pub fn models_in(folder: &Path) -> Vec<PathBuf> {
    files_in(folder, "bdd")
}

/// All files with this ending in the folders of `folder`, compressed or not, sorted. None if it is missing.
pub fn files_in(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.expect("a readable folder").path()).collect::<Vec<_>>()
    };
    let mut files: Vec<PathBuf> = entries(folder).iter().flat_map(|sub| entries(sub)).collect();
    files.retain(|file| {
        let name = file.to_string_lossy();
        name.strip_suffix(".gz").unwrap_or(&name).ends_with(&format!(".{ending}"))
    });
    files.sort();
    files
}

/// The value of a field in one entry of `expected.toml`.
pub fn field(entry: &str, name: &str) -> Option<String> {
    let value = entry.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
    Some(value.trim_matches('"').to_owned())
}

/// A file compressed as much as possible.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("compressed");
    encoder.finish().expect("compressed")
}

/// Reads a model that must be fine.
pub fn load(path: &Path) -> BddSystem {
    read_file(path, &Limits::default()).unwrap_or_else(|error| panic!("{error}"))
}
