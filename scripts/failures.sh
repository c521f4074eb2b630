#!/usr/bin/env bash
# The matrix in which an earlier work-stealing engine crashed or was wrong in more than half of all runs:
# scripts/failures.sh [--share N] [--binary PATH]
# schedule_world.2 and anderson.1, one to eight workers, private deques, 36 runs each: 288 runs per model, each against the
# known number of states and under a time limit, so that a hang is a failure. --share 20 does a twentieth of the runs.
set -euo pipefail
cd "$(dirname "$0")/.."

share=1 binary=${CARGO_TARGET_DIR:-target}/release/tremula
while (($#)); do
    case $1 in
        --share) share=$2 ;;
        --binary) binary=$2 ;;
        *) sed -n '2,6s/^# //p' "$0" >&2; exit 2 ;;
    esac
    shift 2
done
[[ -x $binary ]] || { echo "failures: $binary is missing: cargo build --release first" >&2; exit 2; }

runs=$(((36 + share - 1) / share)) limit=120 done=0 failed=0
declare -A expected=([sylvan/schedule_world.2.bdd]=1570340 [beem/anderson.1.bdd.gz]=352664)
for model in "${!expected[@]}"; do
    for workers in 1 2 3 4 5 6 7 8; do
        for ((run = 1; run <= runs; run++)); do
            # A low threshold, so that small operations are parallel too.
            code=0
            answer=$(timeout $((limit + 10)) "$binary" reach "testdata/$model" --strategy par --workers "$workers" \
                --tune worker-threshold=50 --timeout "$limit" --mem 1G --json --quiet 2>&1) || code=$?
            done=$((done + 1))
            if [[ $code != 0 || $answer != *"\"states\":\"${expected[$model]}\""* ]]; then
                failed=$((failed + 1))
                echo "failures: $model with $workers workers, run $run: exit code $code: ${answer:0:300}" >&2
            fi
        done
    done
done
echo "failures: $done runs, $failed failed"
((failed == 0))
