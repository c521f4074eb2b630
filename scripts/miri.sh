#!/usr/bin/env bash
# Undefined behaviour in tasks and table, by Miri: scripts/miri.sh
# Needs a nightly toolchain with Miri (rustup +nightly component add miri). Slow: tests of the library parts only, and
# not those with threads that run for long (halves_never_mix, everything_is_visited_once, those of marking), nor those of memory that
# the kernel is asked to grow or to clear (grows_without_moving, clear_zeroes), nor lanes and fibers, whose stacks Miri cannot switch.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    echo "miri: SKIPPED, it is not installed: rustup toolchain install nightly --component miri" >&2
    exit 0
fi
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/miri
# Miri knows the C library's calls for memory, not the kernel's.
export RUSTFLAGS="--cfg rustix_use_libc"
export MIRIFLAGS="-Zmiri-permissive-provenance"
cargo +nightly miri test --locked -p tremula-table --lib -- --skip halves_never_mix --skip everything_is_visited_once \
    --skip marking:: --skip grows_without_moving --skip clear_zeroes
cargo +nightly miri test --locked -p tremula-tasks --lib -- --skip lanes --skip fibers
echo "miri: done in $SECONDS s"
