#!/usr/bin/env bash
# Random find-or-put by many threads against a ledger, in an optimised build: scripts/ledger.sh [OPERATIONS]
# A thousand million operations (the default) take some minutes. Ends with an error at the first node that is lost or
# exists twice.
set -euo pipefail
cd "$(dirname "$0")/.."
LEDGER_OPERATIONS=${1:-1000000000} cargo test --locked --release --quiet -p tremula-table --test ledger -- --nocapture
