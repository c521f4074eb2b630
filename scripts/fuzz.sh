#!/usr/bin/env bash
# Fuzzes the readers of untrusted files. Fails if a target crashes, hangs or runs out of memory.
#   scripts/fuzz.sh [SECONDS]           so long for each target (30 unless told)
#   scripts/fuzz.sh --smoke [SECONDS]   so long in all; installs nothing
#
# Uses cargo-fuzz, installing it if missing, which needs a nightly toolchain. Without one, random
# damage to small models is tried with the stable toolchain for as long; that finds less, as it
# does not see which code its inputs reach.
set -euo pipefail
cd "$(dirname "$0")/.."
smoke=false
if [[ ${1:-} == --smoke ]]; then
    smoke=true
    shift
fi
seconds=${1:-30}

# Damage at random, with the stable toolchain, then end.
fall_back() {
    echo "fuzz: $1; running the stable smoke test for $seconds s instead"
    FUZZ_SECONDS=$seconds cargo test --locked --features "${TREMULA_TEST_FEATURES:-}" --test fuzz_smoke -- --nocapture
    exit
}

# Looking must not make rustup install one.
export RUSTUP_AUTO_INSTALL=0
cargo +nightly --version >/dev/null 2>&1 || fall_back "no nightly toolchain"
# The fuzzing library is C++.
command -v c++ >/dev/null || fall_back "no C++ compiler"
if ! cargo fuzz --version >/dev/null 2>&1; then
    ! $smoke || fall_back "no cargo-fuzz"
    echo "fuzz: installing cargo-fuzz"
    cargo install cargo-fuzz --locked
fi

targets=$(cargo +nightly fuzz list)
if $smoke; then
    seconds=$((seconds / $(wc -w <<<"$targets")))
    seconds=$((seconds > 0 ? seconds : 1))
fi

# Seeds: tiny files and the models of at most 20 KiB; compressed ones too where it matters.
for target in $targets; do
    corpus=fuzz/corpus/$target
    mkdir -p "$corpus"
    find fuzz/seeds testdata \( -name '*.bdd' -o -name '*.ldd' -o -name '*.dddmp' -o -name '*.pnml' \) -size -21k -exec cp {} "$corpus/" \;
    if [[ $target == *_gz ]]; then
        for model in "$corpus"/*.bdd; do
            gzip -9 -n -c "$model" >"$model.gz"
        done
    fi
    echo "fuzz: running $target for $seconds s with cargo-fuzz"
    cargo +nightly fuzz run "$target" -- \
        -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 -verbosity=0
done
