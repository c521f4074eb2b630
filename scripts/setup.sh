#!/usr/bin/env bash
# Makes sure that everything a build needs is there: scripts/setup.sh
# Does nothing, quickly, where it is. Otherwise root gets Debian's packages; others are told what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v cargo >/dev/null; then
    echo "setup: cargo is missing; see https://rustup.rs" >&2
    exit 1
fi

# Cargo's own message about a manifest that is too new for it does not say what to do.
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
present=$(cargo --version | awk '{ print $2 }')
if [[ $(printf '%s\n' "$wanted" "$present" | sort -V | head -n 1) != "$wanted" ]]; then
    echo "setup: cargo $present is too old, at least $wanted is needed: rustup update stable" >&2
    exit 1
fi

# Linking needs a C compiler, and so does the assembly in the crate psm.
if command -v cc >/dev/null && echo '#include <stdlib.h>' | cc -E -x c - >/dev/null 2>&1; then
    exit 0
fi
scripts/install.sh setup gcc libc6-dev
