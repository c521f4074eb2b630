//! Random damage to small models: what the fuzz targets check, without their tooling.
//!
//! Runs a fixed number of steps, or for `FUZZ_SECONDS` seconds if that variable is set. The
//! seed is fixed, so that a failure comes back.

mod common;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use common::bytes::seeds;
use common::net_property::reading_a_net_is_safe;
use common::property::reading_is_safe;
use common::random::Random;
use common::{files_in, models_in, testdata};

const SEED: u64 = 2017;
const STEPS: u64 = 20_000;
/// Files larger than this are damaged too rarely in places that matter.
const LARGEST: usize = 20 << 10;

/// Changes a few bits, bytes or words of `file`, or its length.
fn damage(file: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(file.len());
        match random.below(6) {
            0 => file[at] ^= 1 << random.below(8),
            1 => file[at] = random.next() as u8,
            2 => file[at] = file[at].wrapping_add(1),
            3 => file.truncate(at.max(1)),
            4 => {
                let end = (at + 1 + random.below(32)).min(file.len());
                file.drain(at..end);
                file.push(0);
            }
            _ => {
                let from = random.below(file.len());
                let end = (from + 16).min(file.len());
                let copied = file[from..end].to_vec();
                file.splice(at..at, copied);
            }
        }
    }
}

/// Reads damaged copies of the seeds, for as long as told. Each kind of files gets a part of that time.
fn damage_all(mut seeds: Vec<Vec<u8>>, read: impl Fn(&[u8])) {
    const KINDS: f64 = 2.0;
    seeds.retain(|seed| seed.len() <= LARGEST);
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse::<f64>().ok());
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds / KINDS));

    let mut random = Random(SEED);
    let mut steps = 0;
    while end.map_or(steps < STEPS, |end| Instant::now() < end) {
        let mut file = seeds[random.below(seeds.len())].clone();
        damage(&mut file, &mut random);
        read(&file);
        steps += 1;
    }
    println!("{steps} damaged files, seed {SEED}");
}

fn contents(paths: &[PathBuf]) -> impl Iterator<Item = Vec<u8>> {
    paths.iter().map(|path| std::fs::read(path).expect("a model"))
}

#[test]
fn damaged_models_are_read_safely() {
    let mut files: Vec<Vec<u8>> = seeds().into_iter().map(|(_, file)| file).collect();
    files.extend(contents(&models_in(&testdata())));
    damage_all(files, reading_is_safe);
}

#[test]
fn damaged_nets_are_read_safely() {
    let mut files = vec![include_bytes!("../../../fuzz/seeds/all.pnml").to_vec()];
    files.extend(contents(&files_in(&testdata(), "pnml")));
    damage_all(files, reading_a_net_is_safe);
}
