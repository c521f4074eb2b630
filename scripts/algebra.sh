#!/bin/sh
# Random sequences of diagram operations against their oracles, with each technique on and off.
# Usage: scripts/algebra.sh [steps], a million unless told.
set -eu
cd "$(dirname "$0")/.."

TREMULA_ALGEBRA_STEPS=${1:-1000000}
TREMULA_ALGEBRA_PEER_STEPS=$TREMULA_ALGEBRA_STEPS
export TREMULA_ALGEBRA_STEPS TREMULA_ALGEBRA_PEER_STEPS

for features in "" or-through-ite cache-before-terminals keep-identities; do
    echo "== features: ${features:-default}"
    cargo test -p tremula-diagrams --features "$features" --test random_sequences --test exhaustive
done

echo "== lists"
TREMULA_LIST_SEQUENCES=$TREMULA_ALGEBRA_STEPS cargo test --release -p tremula-diagrams --test list_sequences
