#!/usr/bin/env bash
# Everything that must hold before a commit: scripts/test.sh
# Installs what is missing (as root), then checks style and dependency edges, runs all tests, a twentieth of the failure
# matrix and a twelfth of that over ranks, interleavings of the lock-free parts (of small models all, of larger ones those with
# few preemptions), tests between hosts, three mutants, and fuzzes the readers for FUZZ_SECONDS seconds in all (30 unless told).
# Longer checks have scripts of their own beside this one.
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
# Interleavings take one processor, and between hosts much time goes by with waiting: side by side.
step failures, hosts, and interleavings beside them
interleavings=$(mktemp)
setsid bash -c 'scripts/loom.sh && scripts/shuttle.sh 500' >"$interleavings" 2>&1 &
beside=$!
# With all that it has started, if something else fails.
trap 'kill -- "-$beside" 2>/dev/null || true; rm -f "$interleavings"' EXIT
failures() { scripts/failures.sh --binary "${CARGO_TARGET_DIR:-target}/debug/tremula" "$@"; }
failures --share 20
failures --share 12 --ranks yes
scripts/cluster-test.sh
ended=0
wait "$beside" || ended=$?
cat "$interleavings"
((ended == 0)) || { echo "test: interleavings failed" >&2; exit 1; }
step mutants
scripts/mutants.sh --smoke
step fuzz
scripts/fuzz.sh --smoke "${FUZZ_SECONDS:-30}"
echo "test: all passed in $SECONDS s"
