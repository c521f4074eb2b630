#!/usr/bin/env bash
# Installs Debian's packages, as root; others are told what is missing: scripts/install.sh WHO PACKAGES…
# WHO is the script that needs them.
set -euo pipefail
who=$1
shift
if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    echo "$who: something is missing; on Debian: sudo apt-get install $*" >&2
    exit 1
fi
echo "$who: installing $*"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$@" >/dev/null
