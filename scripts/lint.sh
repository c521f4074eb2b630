#!/usr/bin/env bash
# Format, compiler and clippy warnings, documentation, dependency edges: scripts/lint.sh
# Everything is looked at as TREMULA_TEST_FEATURES say; where that is more than nothing, the program also as it is without.
set -euo pipefail
cd "$(dirname "$0")/.."

# Is a cargo subcommand there, or can rustup add its component?
has() {
    cargo "$1" --version >/dev/null 2>&1 && return
    command -v rustup >/dev/null && rustup component add "$2" && cargo "$1" --version >/dev/null 2>&1
}

scripts/layers.sh

if has fmt rustfmt; then
    cargo fmt --all --check
else
    echo "lint: SKIPPED the format: cargo fmt is missing" >&2
fi

features=${TREMULA_TEST_FEATURES:-}
if has clippy clippy; then
    cargo clippy ${features:+--workspace} --all-targets --locked --features "$features" -- -D warnings
    [[ -z $features ]] || cargo clippy --locked -- -D warnings
else
    echo "lint: SKIPPED clippy: cargo clippy is missing" >&2
fi

RUSTDOCFLAGS="-D warnings" cargo doc ${features:+--workspace} --no-deps --locked --quiet --features "$features"
echo "lint: done"
