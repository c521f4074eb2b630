#!/usr/bin/env bash
# Builds the n-queens benchmark and prints each peer's median time in seconds.
#
# REPS sets the runs per peer and board (default 5), SIZES the boards (default
# "8 9 10 11"). Tremula and the peers from crates.io are always built; CUDD
# joins them if CUDD_LIB_DIR holds libcudd.a, Sylvan if it is installed below
# SYLVAN_PREFIX, BuDDy if the linker finds it (Debian: libbdd-dev).
set -euo pipefail

reps=${REPS:-5}
read -ra sizes <<<"${SIZES:-8 9 10 11}"
cd "$(dirname "$0")/queens"

# The optional peers whose libraries are at hand, as Cargo features.
features() {
    [[ -z ${CUDD_LIB_DIR:-} ]] || echo cudd
    [[ -z ${SYLVAN_PREFIX:-} ]] || echo sylvan
    if echo 'int main(void) { return 0; }' | cc -x c - -lbdd -o /dev/null 2>/dev/null; then
        echo buddy
    fi
}

# The median of the numbers on standard input.
median() {
    sort -g | awk '{ v[NR] = $1 }
        END { printf "%.3f", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# The C libraries are compiled for the host, so the Rust code is too.
export RUSTFLAGS="${RUSTFLAGS:--C target-cpu=native}"
cargo build --release --quiet --features "$(features | paste -sd, -)"
queens=${CARGO_TARGET_DIR:-target}/release/queens
mapfile -t peers < <("$queens" --peers)

log=$(mktemp)
trap 'rm -f "$log"' EXIT
for ((rep = 0; rep < reps; rep++)); do
    for size in "${sizes[@]}"; do
        for peer in "${peers[@]}"; do
            "$queens" "$peer" "$size" >>"$log"
        done
    done
done

printf '%-20s' peer
printf '%10s' "${sizes[@]}"
echo
for peer in "${peers[@]}"; do
    printf '%-20s' "$peer"
    for size in "${sizes[@]}"; do
        printf '%10s' "$(awk -v p="$peer" -v n="$size" '$1 == p && $2 == n { print $3 }' "$log" | median)"
    done
    echo
done
