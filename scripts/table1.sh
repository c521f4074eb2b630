#!/usr/bin/env bash
# The Petri nets of Table 1 of the SPIN'17 paper beside its figures: scripts/table1.sh [options of bench/table1.py]
set -euo pipefail
exec "$(dirname "$0")/../bench/table1.py" "$@"
