#!/usr/bin/env bash
# Runs a program built with the feature `mpi` under Slurm, on a cluster of one machine: scripts/slurm-test.sh [PROGRAM]
# PROGRAM is target/release/tremula unless told otherwise. Installs Slurm where it is missing (as root).
# The cluster has processes and a network of its own, with nothing but localhost, so it needs root. It ends with this script,
# however that ends; its files are in a temporary folder. Slurm and munge of this machine are left alone.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
cd "$(dirname "$here")/.."

fail() {
    [[ ! -s $folder/out && ! -s $folder/err ]] || head -n 40 "$folder/out" "$folder/err" >&2
    echo "slurm-test: $*" >&2
    exit 1
}

# Make the cluster's processes, network and files, and run this script in there.
outside() {
    program=$(realpath -e "${1:-${CARGO_TARGET_DIR:-target}/release/tremula}") || exit 2
    missing=()
    for package in munge slurmctld slurmd slurm-client iproute2 procps; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    ((${#missing[@]} == 0)) || scripts/install.sh slurm-test "${missing[@]}"
    if [[ $(id -u) != 0 ]] || ! unshare --net --uts --pid --fork --mount-proc true; then
        echo "slurm-test: SKIPPED: processes and networks of their own cannot be made here" >&2
        exit 0
    fi
    folder=$(mktemp -d) child=""
    trap tidy EXIT
    # Whoever ends first takes the other along, and with the first process in there all others end.
    setpriv --pdeathsig KILL unshare --net --uts --pid --fork --kill-child --mount-proc "$here" inside "$program" "$folder" &
    child=$!
    code=0
    wait "$child" || code=$?
    child=""
    exit "$code"
}

tidy() {
    if [[ -n $child ]]; then
        kill -9 "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    fi
    rm -rf "$folder"
}

inside() {
    program=$1 folder=$2
    name=$(basename "$program")
    name=${name:0:15}
    hostname localhost
    # Slurm asks for an address that is not a loopback's; this one leads nowhere else either.
    ip addr add 10.77.0.1/32 dev lo
    ip link set lo up
    start_cluster
    srun --version
    for ranks in 1 2 4; do explore "$ranks"; done
    batch
    without_pmix
    lose_rank
    cancel
    under_launch
    echo "slurm-test: all passed in $SECONDS s"
}

start_cluster() {
    umask 022
    chmod 755 "$folder"
    mkdir "$folder"/{state,spool,tmp}
    (umask 077 && head -c 1024 /dev/urandom >"$folder/key")
    # More processors than there may be, so that four ranks start anywhere.
    cat >"$folder/slurm.conf" <<END
ClusterName=tremula
SlurmctldHost=localhost
SlurmUser=root
AuthInfo=socket=$folder/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
TmpFS=$folder/tmp
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName=localhost CPUs=8
PartitionName=all Nodes=ALL Default=YES
END
    export SLURM_CONF=$folder/slurm.conf
    munged --key-file="$folder/key" --socket="$folder/munge" --pid-file="$folder/munged.pid" \
        --seed-file="$folder/seed" --log-file="$folder/munged.log" || fail "munged does not start"
    slurmctld || fail "slurmctld does not start"
    slurmd || fail "slurmd does not start"
    for ((i = 0; i < 30; i++)); do
        [[ $(timeout 5 sinfo --noheader --format %t 2>/dev/null) != idle ]] || return 0
        sleep 1
    done
    tail -n 20 "$folder"/*.log >&2
    fail "the cluster does not start"
}

# What starts ranks.
launcher=(srun)

# job OPTIONS… reach ARGS…: explore under it, with what all runs have in common; the exit code is in `code`.
job() {
    local options=()
    while [[ $1 == -* ]]; do options+=("$1") && shift; done
    code=0
    timeout 120 "${launcher[@]}" "${options[@]}" "$program" "$@" --workers 1 --json --quiet --strategy par \
        >"$folder/out" 2>"$folder/err" || code=$?
}

# result TEXT: was there one result, of one line, with this text?
result() { [[ $(wc -l <"$folder/out") == 1 ]] && grep -q "$1" "$folder/out"; }

explore() {
    job --mpi=pmix --ntasks="$1" reach testdata/beem/at.1.bdd.gz --mem 200M
    ((code == 0)) && result "\"states\":\"39354\",.*\"ranks\":$1,.*\"verdict\":\"complete\"" ||
        fail "--ntasks=$1 ended with $code, or another result"
    echo "slurm-test: explored with --ntasks=$1"
}

# In a batch job the program alone is one process, however many srun would start.
batch() {
    local run="'$program' reach testdata/beem/at.1.bdd.gz --mem 200M --workers 1 --json --quiet --strategy par"
    timeout 120 sbatch --quiet --wait --ntasks=2 --output="$folder/out" --wrap "$run && srun --mpi=pmix $run" ||
        fail "a batch job failed"
    [[ $(grep '"states":"39354"' "$folder/out" | grep -o '"ranks":[0-9]*' | xargs) == "ranks:1 ranks:2" ]] ||
        fail "a batch job is wrong"
    echo "slurm-test: one process and two ranks explored in a batch job"
}

# Processes that do not know of each other must not each print a result.
without_pmix() {
    for how in none pmi2; do
        job --mpi="$how" --ntasks=2 reach testdata/beem/at.1.bdd.gz --mem 200M
        ((code == 2)) && [[ ! -s $folder/out ]] || fail "--mpi=$how was not refused, but ended with $code"
        echo "slurm-test: --mpi=$how refused with exit code $code"
    done
}

# start RANKS: begin a long exploration, in the background.
start() {
    (
        job --job-name=long --mpi=pmix --ntasks="$1" reach testdata/sylvan/schedule_world.3.bdd --mem 500M --timeout 60
        exit "$code"
    ) &
    exploring=$!
    for ((i = 0; i < 100; i++)); do
        (($(pgrep -cx "$name") < $1)) || break
        sleep 0.1
    done
    sleep 3
    began=$SECONDS
}

# ended WHAT: wait for the end of what was started; nothing may be left after 15 seconds.
ended() {
    code=0
    wait "$exploring" || code=$?
    ((SECONDS - began < 15)) || fail "$1 ended the job after $((SECONDS - began)) s"
    ! pgrep -x "$name" >/dev/null || fail "$1 left processes behind"
}

lose_rank() {
    start 2
    pkill -9 -x --newest "$name" || fail "there is no rank to kill"
    ended "a killed rank"
    # Slurm sees the connection to PMIx break, and kills all others at once.
    ((code != 0)) && [[ ! -s $folder/out ]] || fail "a killed rank ended with $code"
    echo "slurm-test: a killed rank ends the job with exit code $code"
}

cancel() {
    start 2
    scancel --name=long
    ended scancel
    ((code == 3)) && result '"ranks":2,.*"verdict":"unknown","reason":"interrupted"' || fail "scancel ended with $code"
    echo "slurm-test: scancel ends the job with a result"
}

# The same by way of this program, which ends as the job does.
under_launch() {
    launcher=("$program" launch srun)
    explore 2
    start 2
    pkill -9 -x --newest "$name" || fail "there is no rank to kill"
    ended "a killed rank under launch"
    ((code == 70)) && [[ ! -s $folder/out ]] || fail "a killed rank ended launch with $code"
    echo "slurm-test: under launch a killed rank ends the job with exit code $code"
    start 2
    # The first process of this name is launch itself.
    pkill -TERM -x --oldest "$name"
    ended "SIGTERM for launch"
    ((code == 3)) && result '"ranks":2,.*"verdict":"unknown","reason":"interrupted"' || fail "SIGTERM ended launch with $code"
    echo "slurm-test: SIGTERM for launch ends the job with a result"
}

if [[ ${1:-} == inside ]]; then
    shift
    inside "$@"
else
    (($# <= 1)) || { sed -n '2,5s/^# //p' "$here" >&2; exit 2; }
    outside "$@"
fi
