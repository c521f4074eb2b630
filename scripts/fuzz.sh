#!/usr/bin/env bash
# Fuzzes the readers of untrusted files: scripts/fuzz.sh [SECONDS per target, default 30].
# Fails if a target crashes, hangs or runs out of memory.
#
# Uses cargo-fuzz, installing it if missing, which needs a nightly toolchain. Without one, random
# damage to small models is tried with the stable toolchain for as long; that finds less, as it
# does not see which code its inputs reach.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-30}

if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "fuzz: no nightly toolchain; running the stable smoke test for $seconds s instead"
    FUZZ_SECONDS=$seconds cargo test --release -p tremula-models --test fuzz_smoke -- --nocapture
    exit
fi

if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "fuzz: installing cargo-fuzz"
    cargo install cargo-fuzz --locked
fi

# Seeds: tiny files and the models of at most 20 KiB; compressed ones too where it matters.
for target in $(cargo +nightly fuzz list); do
    corpus=fuzz/corpus/$target
    mkdir -p "$corpus"
    find fuzz/seeds testdata -name '*.bdd' -size -21k -exec cp {} "$corpus/" \;
    if [[ $target == *_gz ]]; then
        for model in "$corpus"/*.bdd; do
            gzip -9 -n -c "$model" >"$model.gz"
        done
    fi
    echo "fuzz: running $target for $seconds s with cargo-fuzz"
    cargo +nightly fuzz run "$target" -- \
        -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 -verbosity=0
done
