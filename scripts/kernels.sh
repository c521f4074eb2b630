#!/usr/bin/env bash
# Compiles the kernels of crates/gpu as the program does at run time, without a device: scripts/kernels.sh
# NVRTC is used as it is installed, or else fetched from PyPI into the target folder.
set -euo pipefail
cd "$(dirname "$0")/.."
version=12.9.86
folder=${CARGO_TARGET_DIR:-target}/nvrtc-$version

has_nvrtc() { ldconfig -p 2>/dev/null | grep -q 'libnvrtc\.so'; }

if ! has_nvrtc; then
    if [[ ! -d $folder/nvidia ]]; then
        python3 - "$version" "$folder" <<'PYTHON'
# A wheel is an archive: no pip is needed to look into it.
import hashlib, io, json, sys, urllib.request, zipfile
version, folder = sys.argv[1:]
about = f"https://pypi.org/pypi/nvidia-cuda-nvrtc-cu12/{version}/json"
files = json.load(urllib.request.urlopen(about, timeout=60))["urls"]
wheel = next(f for f in files if f["filename"].endswith(".whl") and "manylinux" in f["filename"] and "x86_64" in f["filename"])
data = urllib.request.urlopen(wheel["url"], timeout=600).read()
if hashlib.sha256(data).hexdigest() != wheel["digests"]["sha256"]:
    sys.exit("kernels: the wheel is damaged")
archive = zipfile.ZipFile(io.BytesIO(data))
archive.extractall(folder, [name for name in archive.namelist() if "/lib/" in name])
PYTHON
    fi
    LD_LIBRARY_PATH=$(realpath "$folder/nvidia/cuda_nvrtc/lib")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
fi
TREMULA_NEED_NVRTC=1 cargo test --locked -p tremula-gpu --test kernels kernels_compile
echo "kernels: done"
