#!/usr/bin/env bash
# All interleavings of the lock-free parts, by loom: scripts/loom.sh [CRATE...]
# Without names: fabric, table and tasks. Prints how many interleavings each model has; a few minutes in all.
set -euo pipefail
cd "$(dirname "$0")/.."

export RUSTFLAGS="--cfg loom"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/loom
# Models are explored fast, with the assertions of the code on; whole-program optimisation is not worth its time here.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
export CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=false

log=$(mktemp)
trap 'rm -f "$log"' EXIT
for crate in "${@:-fabric table tasks}"; do
    for name in $crate; do
        # The cells of table and tasks are private: their models are modules of the crates.
        case $name in
        fabric) target=(--test loom) ;;
        *) target=(--lib interleavings) ;;
        esac
        echo "== $name"
        cargo test --locked --release --quiet -p "tremula-$name" "${target[@]}" -- --nocapture | tee "$log"
        # A name that matches nothing passes too.
        grep -q '^running [1-9]' "$log" || { echo "loom: $name has no models" >&2; exit 1; }
    done
done
echo "loom: done in $SECONDS s"
