#!/usr/bin/env bash
# Builds with the feature `mpi` and runs all tests with several processes, under mpirun: scripts/cluster-test.sh
# Installs what is missing (as root). Where test hosts can be made (as root), they are, and taken away again.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/cluster-setup.sh
cargo test --locked -p tremula-interconnect
# In scripts/test.sh all of this has the feature, and has run.
if [[ -z ${TREMULA_TEST_FEATURES:-} ]]; then
    TREMULA_TEST_FEATURES=tremula/mpi scripts/lint.sh
    cargo test --locked -p tremula-fabric --features mpi --lib
    cargo test --locked --features tremula/mpi --test processes --test over_processes --test ranks
fi
cargo test --locked --features tremula/mpi --test processes --test over_processes --test ranks --no-run
tremula=$(realpath "${CARGO_TARGET_DIR:-target}/debug/tremula")

if [[ $(id -u) != 0 ]] || ! ip netns add tremula-probe; then
    echo "cluster-test: SKIPPED tests between hosts: network namespaces cannot be made here" >&2
    # Nobody would see it there.
    [[ -z ${CI:-} ]] && exit 0 || exit 1
fi
ip netns del tremula-probe
log=$(mktemp)
trap 'scripts/test-hosts.sh down; rm -f "$log"' EXIT
scripts/test-hosts.sh up 2
# program_of TEST: where it is.
program_of() {
    cargo test --locked --features tremula/mpi --test "$1" --no-run 2>&1 |
        sed -n 's/^ *Executable .*(\(.*\)).*/\1/p' | xargs realpath
}
fabric=$(program_of processes)
tables=$(program_of over_processes)

# hosts RANKS ROLE [PROGRAM]: run a test program, the fabric's unless told, in a role, with so many ranks on each of two hosts.
hosts() { timeout 60 scripts/test-hosts.sh mpirun "$1" --quiet -x "TREMULA_TEST_ROLE=$2" "${3:-$fabric}" >"$log" 2>&1; }
fail() {
    cat "$log"
    echo "cluster-test: between hosts, $*" >&2
    exit 1
}
# told TEXT: was exactly one loss told, in these words?
told() { [[ $(grep -c '^LOST: ' "$log") == 1 ]] && grep -q "^LOST: .*$1" "$log"; }

for ranks in 1 2; do
    hosts "$ranks" cases || fail "the suite failed on $ranks ranks each"
    hosts "$ranks" cases "$tables" || fail "the suite of tables failed on $ranks ranks each"
    echo "cluster-test: two hosts, $ranks ranks each: suites passed"
done
# Windows, and steps to nodes by hash and by level, collections forced, all with TCP between the hosts.
for how in "1 window-patience=500" "2 window-patience=100" "1 level-block=0" "1 level-block=16" "2 level-block=9"; do
    read -r ranks knob <<<"$how"
    timeout 120 scripts/test-hosts.sh mpirun "$ranks" --quiet "$tremula" reach "$PWD/testdata/beem/bakery.1.bdd" --workers 1 \
        --strategy par --mem 64M --json --tune="$knob" --stress 3000 >"$log" 2>&1 || fail "an exploration failed"
    grep -q '"states":"1506",' "$log" || fail "an exploration is wrong"
    echo "cluster-test: two hosts, $ranks ranks each, $knob: explored"
done
# A race over TCP: the figures of whoever is first arrive at rank 0.
for ranks in 1 2; do
    timeout 120 scripts/test-hosts.sh mpirun "$ranks" --quiet "$tremula" reach "$PWD/testdata/pnml/Kanban-PT-00005.pnml" \
        --workers 1 --mem 64M --json >"$log" 2>&1 || fail "a race failed"
    grep -q "\"states\":\"2546432\",.*\"ranks\":$((2 * ranks)),.*\"transitions\":\"24460016\"" "$log" || fail "a race is wrong"
    echo "cluster-test: two hosts, $ranks ranks each: raced"
done
# Work stealing through gates. That there is a report means that all answers were right.
for ranks in 1 2; do
    timeout 120 scripts/test-hosts.sh mpirun "$ranks" --quiet "$tremula" bench tasks --quick --workers 1 --reps 1 --programs queens,uts \
        --json >"$log" 2>&1 || fail "a study of tasks failed"
    tr -d ' \n' <"$log" | grep -q '"gates":true.*"between_ns":{"' || fail "nothing was stolen through a gate"
    echo "cluster-test: two hosts, $ranks ranks each: stole through gates"
done
code=0
hosts 2 barrier || code=$?
((code == 70)) && told 'rank 3 on tremula-h2 panicked' || fail "a panic ended with $code"
code=0
hosts 2 all || code=$?
((code == 70)) && told 'panicked: all of us' || fail "a panic of all ended with $code"
code=0
hosts 2 suspend || code=$?
((code == 70)) && told 'was stopped' || fail "a job that was suspended ended with $code"
code=0
timeout 60 scripts/test-hosts.sh mpirun 2 --quiet -x UCX_TLS=none-such "$tremula" reach "$PWD/testdata/beem/phils.1.bdd" \
    --workers 1 --mem 64M >"$log" 2>&1 || code=$?
((code == 2)) && [[ $(grep -c '^tremula: ' "$log") == 1 ]] && grep -q '^tremula: rank 0: start UCX: ' "$log" ||
    fail "a network that cannot be opened ended with $code"
code=0
hosts 1 stop || code=$?
((code == 70)) && told 'rank 1 on tremula-h2 has not been heard of' || fail "a stopped rank ended with $code"

# lose RANK WHAT COMMAND…: begin a long exploration, by what is in `by`, do that to a rank after a while, and wait for the end; the
# exit code is in `code`. Rank 0 is on host 1, rank 1 on host 2. What became of the launcher may be told too.
by=()
lose() {
    local rank=$1 what="$2 of host $(($1 + 1))" began
    shift 2
    code=0
    timeout 60 "${by[@]}" scripts/test-hosts.sh mpirun 1 --quiet "$tremula" reach "$PWD/testdata/beem/collision.4.bdd.gz" \
        --workers 1 --strategy par --mem 500M --quiet >"$log" 2>&1 &
    sleep 4
    began=$SECONDS
    "$@"
    wait $! || code=$?
    ((SECONDS - began < 15)) || fail "$what ended the job after $((SECONDS - began)) s"
    [[ $(grep '^tremula: ' "$log" | grep -vc '^tremula: test-hosts.sh ended with code ') == 1 ]] && grep -q "^tremula: rank $rank on tremula-h$((rank + 1)) " "$log" ||
        fail "$what ended with $code, and not with one message that names the rank"
    sleep 1
    # Of those that have ended and wait for a parent to hear of it, nobody knows the program any more.
    [[ -z $(find /proc/[0-9]*/exe -lname "$tremula" 2>/dev/null || true) ]] || fail "$what left processes behind"
}
# send SIGNAL HOST: to the rank there, not to its guard.
send() {
    comm -12 <(pgrep -x tremula | sort) <(ip netns pids "tremula-h$2" | sort) | xargs kill "-$1"
}
for rank in 0 1; do
    for signal in KILL STOP; do
        lose "$rank" "$signal" send "$signal" $((rank + 1))
        ((code == 70)) || fail "$signal ended with $code"
    done
    # Here the launcher ends first, with a code of its own.
    by=("$tremula" launch)
    lose "$rank" "the lost link" scripts/test-hosts.sh cut $((rank + 1))
    ((code == 70)) || fail "a lost link ended with $code"
    scripts/test-hosts.sh mend $((rank + 1))
    by=()
done
echo "cluster-test: two hosts: panic, no network, killed, suspended and stopped rank, and lost link end the job"
echo "cluster-test: all passed in $SECONDS s"
