#!/usr/bin/env bash
# Test hosts on one machine, as network namespaces with TCP between them; needs root.
#   scripts/test-hosts.sh up N              make hosts 1 to N (2 to 9)
#   scripts/test-hosts.sh mpirun M ARGS…    mpirun with M ranks on each of them; ARGS begin with mpirun's own, if any
#   scripts/test-hosts.sh cut I, mend I     take the link of host I down, and up again
#   scripts/test-hosts.sh down              take them all away
# Each host has its own network, host name and shared memory. They share processors, files and process numbers.
set -euo pipefail

prefix=tremula
bridge=$prefix-br
network=10.77.0
here=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")

hosts() { ip -o netns list | awk -v p="$prefix-h" 'index($1, p) == 1 { print $1 }' | sort; }

up() {
    local count=$1
    [[ $count =~ ^[2-9]$ ]] || { echo "test-hosts: expected 2 to 9 hosts, not $count" >&2; exit 2; }
    down
    ip link add "$bridge" type bridge
    ip addr add "$network.254/24" dev "$bridge"
    ip link set "$bridge" up
    for ((i = 1; i <= count; i++)); do
        local host=$prefix-h$i
        ip netns add "$host"
        ip link add "$prefix-v$i" type veth peer name eth0 netns "$host"
        ip link set "$prefix-v$i" master "$bridge" up
        ip -n "$host" addr add "$network.$i/24" dev eth0
        ip -n "$host" link set eth0 up
        ip -n "$host" link set lo up
    done
}

down() {
    for host in $(hosts); do
        ip netns pids "$host" | xargs -r kill -9 2>/dev/null || true
        ip netns del "$host"
    done
    # A link goes with its namespace, but only when the last process there is gone.
    for link in $(ip -o link | awk -F '[ :@]+' -v p="$prefix-v" 'index($2, p) == 1 { print $2 }'); do
        ip link del "$link" 2>/dev/null || true
    done
    ip link del "$bridge" 2>/dev/null || true
}

# What mpirun calls instead of ssh: agent [OPTIONS] ADDRESS COMMAND…
agent() {
    while [[ $1 == -* ]]; do shift; done
    local host=$prefix-h${1##*.}
    shift
    exec ip netns exec "$host" unshare --uts --ipc --mount bash -c \
        "hostname $host && mount -t tmpfs tmpfs /dev/shm && mkdir /dev/shm/tmp && export TMPDIR=/dev/shm/tmp && $*"
}

run() {
    local slots=$1 list="" count
    shift
    count=$(hosts | wc -l)
    ((count > 0)) || { echo "test-hosts: there are none, make some with: up N" >&2; exit 2; }
    for ((i = 1; i <= count; i++)); do list+=",$network.$i:$slots"; done
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # Not every host is asked to find others by name, and a host that is gone is noticed.
    exec mpirun --host "${list#,}" -n $((count * slots)) --bind-to none --oversubscribe \
        --mca plm rsh --mca plm_rsh_agent "$here agent" --mca plm_rsh_no_tree_spawn 1 \
        --mca oob_tcp_if_include "$network.0/24" --mca btl_tcp_if_include "$network.0/24" --mca btl self,vader,tcp \
        --mca oob_tcp_keepalive_time 5 --mca oob_tcp_keepalive_intvl 2 --mca oob_tcp_keepalive_probes 3 \
        --mca pml ob1 --mca mpi_yield_when_idle 1 -x UCX_NET_DEVICES=eth0 "$@"
}

case ${1:-} in
    up) up "${2:-2}" ;;
    down) down ;;
    agent) shift; agent "$@" ;;
    mpirun) shift; run "$@" ;;
    cut) ip link set "$prefix-v$2" down ;;
    mend) ip link set "$prefix-v$2" up ;;
    *) sed -n '2,8s/^# \{0,1\}//p' "$here" >&2; exit 2 ;;
esac
