#!/usr/bin/env bash
# Random schedules of the shared table and of pools, by shuttle: scripts/shuttle.sh [ITERATIONS]
# Each test runs that many (2000 unless told) and prints it. A failure prints the schedule, to be replayed.
set -euo pipefail
cd "$(dirname "$0")/.."

export SHUTTLE_ITERATIONS=${1:-2000}
export RUSTFLAGS="--cfg shuttle"
# Shuttle warns that it takes all orderings for the strongest one: weaker ones are loom's part.
export SHUTTLE_SILENCE_WARNINGS=1
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/shuttle
# Fast, with the assertions of the code on. Overflow checks are off because shuttle's stacks are not those that the
# crate `stacker` knows, and what it then computes wraps around.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
export CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=false

log=$(mktemp)
trap 'rm -f "$log"' EXIT
for crate in table tasks; do
    echo "== $crate"
    cargo test --locked --release --quiet -p "tremula-$crate" --test shuttle -- --nocapture | tee "$log"
    # A test file that is left out by its configuration passes too.
    grep -q '^running [1-9]' "$log" || { echo "shuttle: $crate has no tests" >&2; exit 1; }
done
echo "shuttle: $SHUTTLE_ITERATIONS schedules of each, done in $SECONDS s"
