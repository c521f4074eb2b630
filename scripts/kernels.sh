#!/usr/bin/env bash
# Compiles the kernels of crates/gpu as the program does at run time, without a device: scripts/kernels.sh
# NVRTC is used as it is installed, or else fetched from PyPI into the target folder. Where neither can be had, nothing is
# checked, which is a failure in continuous integration (CI=true).
set -euo pipefail
cd "$(dirname "$0")/.."
version=12.9.86
folder=${CARGO_TARGET_DIR:-target}/nvrtc-$version

has_nvrtc() { ldconfig -p 2>/dev/null | grep -q 'libnvrtc\.so'; }

if ! has_nvrtc; then
    if ! python3 -m pip --version >/dev/null 2>&1; then
        echo "kernels: SKIPPED: there is neither NVRTC nor pip to fetch it" >&2
        if [[ ${CI:-} == true ]]; then exit 1; fi
        exit 0
    fi
    if [[ ! -d $folder/nvidia ]]; then
        mkdir -p "$folder"
        python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$folder" "nvidia-cuda-nvrtc-cu12==$version"
        python3 -m zipfile --extract "$folder"/*.whl "$folder"
    fi
    LD_LIBRARY_PATH=$(realpath "$folder/nvidia/cuda_nvrtc/lib")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
fi
TREMULA_NEED_NVRTC=1 cargo test --locked --features "${TREMULA_TEST_FEATURES:-}" --test kernels kernels_compile
echo "kernels: done"
