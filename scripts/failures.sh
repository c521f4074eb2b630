#!/usr/bin/env bash
# The matrix in which an earlier work-stealing engine crashed or was wrong in more than half of all runs:
# scripts/failures.sh [--share N] [--binary PATH] [--ranks yes] [--tune KNOB=VALUE]
# schedule_world.2 and anderson.1, one to eight workers, private deques, 36 runs each: 288 runs per model, each against the
# known number of states and under a time limit, so that a hang is a failure. --share 20 does a twentieth of the runs.
# --ranks yes: two to four ranks under mpirun, one to four workers each, 12 runs each instead: 144 runs per model. The
# program must have been built with the feature mpi. --tune window-patience=500: each rank with a window of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

share=1 ranks=no binary=${CARGO_TARGET_DIR:-target}/release/tremula knobs=(--tune=worker-threshold=50)
while (($#)); do
    case $1 in
        --share) share=$2 ;;
        --binary) binary=$2 ;;
        --ranks) ranks=$2 ;;
        --tune) knobs+=("--tune=$2") ;;
        *) sed -n '2,9s/^# //p' "$0" >&2; exit 2 ;;
    esac
    shift 2
done
[[ -x $binary ]] || { echo "failures: $binary is missing: cargo build --release first" >&2; exit 2; }

limit=120 done=0 failed=0
declare -A expected=([sylvan/schedule_world.2.bdd]=1570340 [beem/anderson.1.bdd.gz]=352664)
if [[ $ranks == yes ]]; then
    runs=$(((12 + share - 1) / share))
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    layouts=("2 "{1,2,3,4} "3 "{1,2,3,4} "4 "{1,2,3,4})
else
    runs=$(((36 + share - 1) / share))
    layouts=("1 "{1,2,3,4,5,6,7,8})
fi

# One run: reach RANKS WORKERS MODEL. A low threshold, so that small operations are parallel too.
reach() {
    local launcher=()
    [[ $ranks == no ]] || launcher=(mpirun --quiet --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n "$1")
    timeout $((limit + 10)) "${launcher[@]}" "$binary" reach "testdata/$3" --strategy par --workers "$2" \
        "${knobs[@]}" --timeout "$limit" --mem 1G --json --quiet 2>&1
}

for model in "${!expected[@]}"; do
    for layout in "${layouts[@]}"; do
        read -r processes workers <<<"$layout"
        for ((run = 1; run <= runs; run++)); do
            code=0
            answer=$(reach "$processes" "$workers" "$model") || code=$?
            done=$((done + 1))
            if [[ $code != 0 || $answer != *"\"states\":\"${expected[$model]}\""* ]]; then
                failed=$((failed + 1))
                echo "failures: $model, $processes x $workers, run $run: exit code $code: ${answer:0:300}" >&2
            fi
        done
    done
done
echo "failures: $done runs, $failed failed"
((failed == 0))
