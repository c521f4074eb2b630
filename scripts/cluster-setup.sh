#!/usr/bin/env bash
# Makes sure that everything a build with the feature `mpi` needs is there: scripts/cluster-setup.sh
# Does nothing, quickly, where it is. Otherwise root gets Debian's packages; others are told what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh

# Open MPI and UCX with their headers, libclang for the bindings, RDMA drivers for UCX, and `ip` for the test hosts.
packages=(libopenmpi-dev openmpi-bin libucx-dev libclang-dev pkg-config ibverbs-providers iproute2)
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if ((${#missing[@]} > 0)); then
    scripts/install.sh cluster-setup "${missing[@]}"
fi
