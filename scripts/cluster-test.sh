#!/usr/bin/env bash
# Builds with the feature `mpi` and runs all tests with several processes, under mpirun: scripts/cluster-test.sh
# Installs what is missing (as root).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/cluster-setup.sh
if cargo clippy --version >/dev/null 2>&1; then
    cargo clippy --locked -p tremula-interconnect -p tremula-fabric --features tremula-fabric/mpi --all-targets -- -D warnings
fi
cargo test --locked -p tremula-interconnect
cargo test --locked -p tremula-fabric --features mpi --lib --test processes
echo "cluster-test: all passed in $SECONDS s"
