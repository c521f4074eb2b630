#!/usr/bin/env bash
# Builds tremula, with what that needs, and runs it: scripts/run.sh reach MODEL
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/scripts/setup.sh"
exec cargo run --release --quiet --locked --manifest-path "$root/Cargo.toml" -p tremula -- "$@"
