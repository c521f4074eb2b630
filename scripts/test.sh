#!/usr/bin/env bash
# Everything that must hold before a commit: scripts/test.sh
# Installs what is missing (as root), then checks style and dependency edges, runs all tests, a twentieth of the failure
# matrix, all interleavings of the lock-free parts, three mutants, and fuzzes the readers for FUZZ_SECONDS seconds in all
# (30 unless told). Longer checks have scripts of their own beside this one.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { echo "== $* (after $SECONDS s)"; }
# Everything is compiled once: no parts for later builds, nothing for debuggers, and all tests with the feature that some of them
# need. (The build without it is checked by clippy.)
export CARGO_INCREMENTAL=0 CARGO_PROFILE_TEST_DEBUG=false TREMULA_TEST_FEATURES=tremula/mpi

step setup
scripts/cluster-setup.sh
step lint
scripts/lint.sh
step tests
cargo test --locked --features "$TREMULA_TEST_FEATURES"
step kernels
scripts/kernels.sh
step failures
scripts/failures.sh --share 20 --binary "${CARGO_TARGET_DIR:-target}/debug/tremula"
step interleavings
scripts/loom.sh
scripts/shuttle.sh 500
step mutants
scripts/mutants.sh --smoke
step cluster
scripts/cluster-test.sh
step fuzz
scripts/fuzz.sh --smoke "${FUZZ_SECONDS:-30}"
echo "test: all passed in $SECONDS s"
