#!/usr/bin/env bash
# Tests of fabric, tasks, table and diagrams under ThreadSanitizer and AddressSanitizer: scripts/sanitize.sh [thread|address]
# Works with the stable toolchain. Each sanitizer must first find a planted fault; then the tests run without a single
# suppression. Several minutes each. NO_BUILD_STD=1 tries ThreadSanitizer without its own standard library.
set -euo pipefail
cd "$(dirname "$0")/.."

# Sanitizers are options that stable compilers have but do not offer.
export RUSTC_BOOTSTRAP=1
host=$(rustc -vV | sed -n 's/^host: //p')
base=${CARGO_TARGET_DIR:-target}

# ThreadSanitizer must see every atomic access. In the standard library that rustup installs it does not: a Mutex that
# is waited for, a thread that is parked and the last owner of an Arc synchronise there, and all of these would be
# reported as races. So the library is compiled too, from the component rust-src.
library=()
needs_source() {
    [[ -n ${NO_BUILD_STD:-} ]] && return
    if [[ ! -d $(rustc --print sysroot)/lib/rustlib/src/rust/library ]]; then
        if ! { command -v rustup >/dev/null && rustup component add rust-src; }; then
            echo "sanitize: the source of the standard library is missing (rustup component add rust-src)" >&2
            exit 1
        fi
    fi
    library=(-Zbuild-std)
}

# cargo test under the sanitizer $1, without the three longest tests, which have one thread. Entries of the operation cache are read and
# written by assembly, which no sanitizer sees: `instrumented` leaves them to portable-atomic, and the other flag keeps that from assembly,
# which it does by itself with a nightly compiler only.
tests() {
    local sanitizer=$1 flags="-Zsanitizer=$1 -Cunsafe-allow-abi-mismatch=sanitizer"
    shift
    flags+=" --cfg instrumented --cfg portable_atomic_sanitize_thread"
    # One test at a time: rustix asks the kernel for memory without the sanitizer's knowledge, so what one test did at
    # an address that another one gets afterwards must be ordered, or it looks like a race.
    CARGO_TARGET_DIR=$base/$sanitizer RUSTFLAGS=$flags \
        cargo test --locked --quiet --target "$host" "${library[@]}" "$@" -- --test-threads 1 --skip a_million_steps \
        --skip the_same_steps --skip deep_diagrams
}

# The sanitizer $1 must stop the planted test $2 with a message like $3.
must_find() {
    local output
    if output=$(tests "$1" -p tremula-table --features planted-faults --test planted "$2" 2>&1); then
        echo "sanitize: $1 has overlooked the planted fault '$2'" >&2
        exit 1
    fi
    if ! grep -q "$3" <<<"$output"; then
        echo "$output" | tail -n 20 >&2
        echo "sanitize: the planted fault '$2' failed, but not because $1 found it" >&2
        exit 1
    fi
    echo "sanitize: $1 finds the planted fault '$2'"
}

# A sanitizer makes everything ten times as slow, and more where workers wait for processors.
export LEDGER_OPERATIONS=200000
packages=(-p tremula-fabric -p tremula-tasks -p tremula-table -p tremula-diagrams --lib --tests)
# A test asks for more memory than there is and expects to be refused.
export TSAN_OPTIONS="halt_on_error=1 allocator_may_return_null=1 ${TSAN_OPTIONS:-}"
# Lanes switch stacks, which the sanitizer takes for a use after return.
export ASAN_OPTIONS="detect_stack_use_after_return=0 allocator_may_return_null=1 ${ASAN_OPTIONS:-}"

for sanitizer in "${@:-thread address}"; do
    for name in $sanitizer; do
        echo "== $name"
        case $name in
        thread)
            needs_source
            must_find thread race "ThreadSanitizer: data race"
            ;;
        address)
            library=()
            must_find address overflow "AddressSanitizer: heap-buffer-overflow"
            ;;
        *)
            echo "sanitize: no sanitizer '$name'" >&2
            exit 1
            ;;
        esac
        tests "$name" "${packages[@]}"
    done
done
echo "sanitize: done in $SECONDS s"
