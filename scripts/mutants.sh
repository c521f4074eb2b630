#!/usr/bin/env bash
# Plants faults in a copy of the tree and asks whether the checks notice: scripts/mutants.sh [--smoke | NAME...]
# Each mutant names the check that must kill it. A mutant that survives, that no longer fits the text, or that does not
# compile is a failure of this script, and so is a name that no mutant has. One that hangs is killed, which is said. The
# checkout itself is never changed.
# --smoke: three mutants, and a look whether the others still fit. --list: their names. LIMIT: seconds for each check (120).
set -euo pipefail
cd "$(dirname "$0")/.."
limit=${LIMIT:-120}
smoke=" index-occupy-relaxed sleep-without-look stale-allocation "
chosen=" $* "

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/mutants
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=false
export CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=false
export SHUTTLE_SILENCE_WARNINGS=1 RUST_BACKTRACE=0

scratch=$CARGO_TARGET_DIR/tree
rm -rf "$scratch"
mkdir -p "$scratch"
# With new times, or cargo would take what it built of the last mutant for up to date.
tar cf - --exclude=./target --exclude=./.git --exclude=./fuzz . | tar xmf - -C "$scratch"
log=$scratch/log

# Build or run one check, in the scratch tree: try build|run KIND ARGUMENTS...
try() {
    local stage=$1 kind=$2
    shift 2
    local test=(cargo test --locked --release --quiet)
    [[ $stage == build ]] && test+=(--no-run)
    local filter=()
    [[ $stage == run && -n ${2:-} ]] && filter=("$2")
    case $kind in
    loom) CARGO_TARGET_DIR=$CARGO_TARGET_DIR/loom RUSTFLAGS="--cfg loom" \
        "${test[@]}" -p "tremula-$1" --lib -- "interleavings::${filter[@]}" ;;
    shuttle) CARGO_TARGET_DIR=$CARGO_TARGET_DIR/shuttle RUSTFLAGS="--cfg shuttle" SHUTTLE_ITERATIONS=${3:-1000} \
        "${test[@]}" -p "tremula-$1" --test shuttle -- "${filter[@]}" ;;
    unit) "${test[@]}" -p "tremula-$1" "${@:3}" -- "${filter[@]}" ;;
    stress)
        if [[ $stage == build ]]; then
            cargo build --locked --release --quiet -p tremula
        else
            stress
        fi
        ;;
    esac
}

# Small models with a collection after every few nodes, by four workers; the counts must be right.
stress() {
    local run model every expected found
    for run in beem/bakery.1.bdd:20 beem/bakery.1.bdd:100 beem/adding.1.bdd.gz:50 beem/phils.2.bdd:7 \
        beem/protocols.1.bdd:3 beem/szymanski.1.bdd.gz:50; do
        model=${run%:*} every=${run#*:}
        expected=$(awk -F '"' -v path="$model" '/^path/ { inside = ($2 == path) } inside && /^states/ { print $2 }' \
            testdata/expected.toml)
        found=$("$CARGO_TARGET_DIR/release/tremula" reach "testdata/$model" --json --quiet --stress "$every" \
            --workers 4 --tune worker-threshold=1 | sed -n 's/.*"states":"\([0-9]*\)".*/\1/p')
        if [[ $found != "$expected" ]]; then
            echo "$model: $found states, expected $expected"
            return 1
        fi
    done
}
export -f try stress

# Does the check pass? 0 yes, 1 no, 2 it cannot be built, 3 it does not end.
passes() {
    (cd "$scratch" && try build "$@") >"$log" 2>&1 || return 2
    local code=0
    (cd "$scratch" && timeout -k 5 "$limit" bash -c 'set -euo pipefail; try run "$@"' - "$@") >"$log" 2>&1 || code=$?
    case $code in
    # A filter that matches nothing passes, too.
    0) [[ $1 == stress ]] || grep -q '^running [1-9]' "$log" || { echo "no test has run" >>"$log" && return 1; } ;;
    124 | 137) return 3 ;;
    *) return 1 ;;
    esac
}

killed=0 failed=() found=""
declare -A sound

# Put the new text of a change into a file of the scratch tree, where the old one is to be once: plant write|check FILE CHANGE
plant() {
    CHANGE=$3 python3 - "$1" "$scratch/$2" <<'PYTHON'
import os, sys
# The shell has cut the newline at the end: a change that only removes text ends in the line itself.
old, new = (os.environ["CHANGE"] + "\n").split("\n====\n")
new = new.removesuffix("\n")
mode, path = sys.argv[1:]
text = open(path).read()
if text.count(old) != 1:
    sys.exit(f"{text.count(old)} places")
if mode == "write":
    open(path, "w").write(text.replace(old, new))
PYTHON
}

# A mutant: mutant NAME FILE CHECK ARGUMENTS... and on standard input the text to replace, a line ====, the new text.
mutant() {
    local name=$1 file=$2 change outcome=0 start=$SECONDS
    shift 2
    change=$(cat)
    case $chosen in
    " --list ") echo "$name" && return ;;
    " --smoke ")
        if [[ $smoke != *" $name "* ]]; then
            plant check "$file" "$change" || { echo "STALE     $name: its text is not once in $file"; failed+=("$name"); }
            return
        fi
        ;;
    "  ") ;;
    *) [[ $chosen == *" $name "* ]] || return 0 ;;
    esac
    found+=" $name "
    # Killing means nothing if the check fails without the mutant too, or if it is so slow that it seems to hang.
    if [[ -z ${sound[$*]:-} ]]; then
        local begun=$SECONDS
        if ! passes "$@"; then
            echo "UNSOUND   $name: '$*' fails without it" && tail -n 5 "$log"
            failed+=("$name") && return
        fi
        if ((2 * (SECONDS - begun) > limit)); then
            echo "note: '$*' and its build took $((SECONDS - begun)) of $limit s without a mutant"
        fi
        sound[$*]=1
    fi
    cp "$scratch/$file" "$scratch/original"
    if ! plant write "$file" "$change"; then
        echo "STALE     $name: its text is not once in $file"
        failed+=("$name") && return
    fi
    passes "$@" || outcome=$?
    cp "$scratch/original" "$scratch/$file"
    case $outcome in
    0) echo "SURVIVED  $name, by $*" && failed+=("$name") ;;
    1) echo "killed    $name, by $* ($((SECONDS - start)) s)" && killed=$((killed + 1)) ;;
    3) echo "killed    $name, by $*: it hangs ($((SECONDS - start)) s)" && killed=$((killed + 1)) ;;
    2) echo "BROKEN    $name does not compile" && tail -n 5 "$log" && failed+=("$name") ;;
    esac
}

# ---- orderings ------------------------------------------------------------------------------------------------------

mutant index-occupy-relaxed crates/table/src/shared/cells.rs loom table equal_nodes <<'END'
compare_exchange(empty, word, Ordering::Release, Ordering::Acquire)
====
compare_exchange(empty, word, Ordering::Relaxed, Ordering::Acquire)
END
mutant index-lost-race-relaxed crates/table/src/shared/cells.rs loom table '' <<'END'
compare_exchange(empty, word, Ordering::Release, Ordering::Acquire)
====
compare_exchange(empty, word, Ordering::Release, Ordering::Relaxed)
END
mutant index-get-relaxed crates/table/src/shared/cells.rs loom table '' <<'END'
bytemuck::cast(self.0.load(Ordering::Acquire))
====
bytemuck::cast(self.0.load(Ordering::Relaxed))
END
mutant meeting-number-relaxed crates/table/src/shared/rendezvous.rs loom table a_meeting <<'END'
self.meetings.cell().store(meeting.wrapping_add(1), Ordering::Release);
====
self.meetings.cell().store(meeting.wrapping_add(1), Ordering::Relaxed);
END
mutant meeting-arrival-relaxed crates/table/src/shared/rendezvous.rs loom table a_meeting <<'END'
self.arrived.fetch_add(1, Ordering::AcqRel)
====
self.arrived.fetch_add(1, Ordering::Relaxed)
END
mutant result-deliver-relaxed crates/tasks/src/cells.rs loom tasks '' <<'END'
{ DONE } else { FAILED }, Ordering::Release)
====
{ DONE } else { FAILED }, Ordering::Relaxed)
END
mutant result-outcome-relaxed crates/tasks/src/cells.rs loom tasks '' <<'END'
match self.state.load(Ordering::Acquire) {
====
match self.state.load(Ordering::Relaxed) {
END
mutant transfer-answer-relaxed crates/tasks/src/cells.rs loom tasks '' <<'END'
store(ANSWERED + count, Ordering::Release)
====
store(ANSWERED + count, Ordering::Relaxed)
END
mutant transfer-take-relaxed crates/tasks/src/cells.rs loom tasks '' <<'END'
let state = self.state.load(Ordering::Acquire);
====
let state = self.state.load(Ordering::Relaxed);
END
mutant attention-raise-relaxed crates/tasks/src/attention.rs loom tasks '' <<'END'
let before = self.word.cell().fetch_or(bits, Ordering::AcqRel);
====
let before = self.word.cell().fetch_or(bits, Ordering::Relaxed);
END
mutant split-exchange-relaxed crates/tasks/src/deque/split.rs loom tasks '' <<'END'
compare_exchange(seen, wanted, Ordering::AcqRel, Ordering::Relaxed)
====
compare_exchange(seen, wanted, Ordering::Relaxed, Ordering::Relaxed)
END

# ---- steps left out or in the wrong order ---------------------------------------------------------------------------

mutant no-compare-after-lost-race crates/table/src/shared/worker.rs loom table '' <<'END'
Err(other) => word = other,
====
Err(_) => return None,
END
mutant torn-entry crates/table/src/wide.rs unit table halves_never_mix --lib <<'END'
    pub fn store(&self, value: u128) {
====
    pub fn store(&self, value: u128) {
        for half in 0..2 {
            // SAFETY: none, this is a mutant.
            unsafe { self.0.get().cast::<u64>().add(half).write_volatile((value >> (64 * half)) as u64) };
        }
        if value != 1 << 100 {
            return;
        }
END
mutant sleep-without-look crates/tasks/src/attention.rs loom tasks a_raised_bit <<'END'
        while seen & reasons == 0 {
            self.word.sleep_while(seen);
            seen = self.bits();
        }
====
        self.word.sleep_while(self.bits());
        let _ = (&mut seen, reasons);
END
mutant raise-wakes-nobody crates/tasks/src/attention.rs loom tasks '' <<'END'
        if before & SLEEPING != 0
====
        if before & SLEEPING & bits != 0
END
mutant meeting-wakes-nobody crates/table/src/shared/rendezvous.rs loom table '' <<'END'
            self.meetings.wake_all();
        } else {
====
        } else {
END
mutant split-thief-does-not-exchange crates/tasks/src/deque/split.rs loom tasks '' <<'END'
        if !self.exchange(seen, pack(tail + 1, split)) {
            return Asked::Refused;
        }
====
        self.ends.store(pack(tail + 1, split), Ordering::Release);
END
mutant private-close-forgets-requests crates/tasks/src/deque/private.rs loom tasks '' <<'END'
            matches!(closed, Ok(_) | Err(CLOSED))
====
            let _ = closed;
            slot.swap(CLOSED, Ordering::Relaxed);
            true
END
mutant gift-to-whoever-withdrew crates/tasks/src/cells.rs loom tasks '' <<'END'
        self.state.compare_exchange(WANTED, RESERVED, Ordering::Acquire, Ordering::Relaxed).is_ok()
====
        self.state.swap(RESERVED, Ordering::Acquire) == WANTED
END
mutant result-bit-lowered-after-the-look crates/tasks/src/worker.rs shuttle tasks '' <<'END'
    fn attend(&mut self) {
====
    fn attend(&mut self) {
        self.me.attention.lower(RESULT | GIFT);
END
mutant hunger-lowered-after-the-scan crates/tasks/src/worker.rs shuttle tasks everybody 20000 <<'END'
        if wanting {
            self.me.attention.mark(HUNGRY);
        }
====
        if wanting {
            self.me.attention.mark(HUNGRY);
        } else {
            self.me.attention.lower(HUNGRY);
        }
END

mutant gate-keeps-a-panic-to-itself crates/tasks/src/worker/gate.rs unit tasks a_panic_anywhere --test gate <<'END'
            gate.far.poison(gate.run);
====
END
mutant gate-takes-small-tasks crates/tasks/src/crew.rs unit tasks small_tasks_stay --test gate <<'END'
        self.is_here(number) && !(number == self.here.start && self.gated.load(Ordering::Relaxed))
====
        self.is_here(number)
END
mutant gate-loses-result-cells crates/tasks/src/gate.rs unit tasks more_tasks_pass --test gate <<'END'
        self.free.push(self.imports.swap_remove(at).position);
====
        self.imports.swap_remove(at);
END

# ---- safepoints -----------------------------------------------------------------------------------------------------

mutant stale-allocation crates/table/src/shared/safepoint.rs shuttle table collection <<'END'
        self.allocation = crate::allocation::Allocation::default();
====
END
mutant dead-cache-entries crates/table/src/shared/safepoint.rs shuttle table collection <<'END'
tuning::KEEP_CACHE && entry.lives(|f| self.is_live(f))
====
tuning::KEEP_CACHE && entry.lives(|f| f == f.regular() || self.is_live(f))
END
mutant share-off-by-one crates/table/src/shared/safepoint.rs shuttle table collection <<'END'
    at(number)..at(number + 1)
====
    at(number)..at(number + 1).saturating_sub(1).max(at(number))
END
mutant due-lowered-after-the-meeting crates/table/src/shared/safepoint.rs shuttle table a_demand <<'END'
        if self.number == 0 {
            // Relaxed: the last meeting orders it before the next demand.
            self.shared.control.due.store(0, Ordering::Relaxed);
        }
        self.shared.control.rendezvous.meet()
====
        self.shared.control.rendezvous.meet()?;
        if self.number == 0 {
            self.shared.control.due.store(0, Ordering::Relaxed);
        }
        Ok(())
END
mutant marking-drops-a-batch crates/table/src/shared/marking.rs shuttle table '' <<'END'
        for (cell, position) in batch.positions.iter().zip(stack.drain(..length)) {
            cell.store(position, Ordering::Relaxed);
        }
        batch.length.store(length, Ordering::Relaxed);
        self.marking.ready.store(ready + 1, Ordering::Relaxed);
====
        let _ = (batch, stack.drain(..length));
END
mutant marking-lock-relaxed crates/table/src/shared/marking.rs loom table what_is_handed_over <<'END'
        self.marking.lock.store(false, Ordering::Release);
====
        self.marking.lock.store(false, Ordering::Relaxed);
END
mutant marking-ends-untold crates/table/src/shared/marking.rs loom table what_is_handed_over <<'END'
        self.tell(Wakes::All);
====
END
mutant marking-hears-late crates/table/src/shared/marking.rs loom table what_is_handed_over <<'END'
        let heard = self.news.cell().load(Ordering::Relaxed);
        self.asleep.store(self.asleep.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        drop(held);
====
        self.asleep.store(self.asleep.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        drop(held);
        let heard = self.news.cell().load(Ordering::Relaxed);
END
mutant marking-sleeps-unheard-of crates/table/src/shared/marking.rs shuttle table collection <<'END'
        self.asleep.store(self.asleep.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        drop(held);
====
        drop(held);
END
mutant marking-is-not-broken-up crates/table/src/shared/marking.rs loom table marking_that_is_broken_up <<'END'
        self.lock().end();
====
END
mutant marks-overwritten crates/table/src/shared/cells.rs shuttle table '' <<'END'
        self.get() & bit == 0 && self.0.fetch_or(bit, Ordering::Relaxed) & bit == 0
====
        let before = self.get();
        self.set(before | bit);
        before & bit == 0
END
mutant stretch-claimed-twice crates/table/src/shared/worker.rs shuttle table collection <<'END'
            let start = shared.control.next_word.fetch_add(size, Ordering::Relaxed);
====
            let start = shared.control.next_word.load(Ordering::Relaxed);
            shared.control.next_word.store(start + size, Ordering::Relaxed);
END
mutant roots-before-the-meeting crates/diagrams/src/threads.rs stress <<'END'
    let taken = state.take_part(|roots| {
        inbox.lower(SAFEPOINT);
        roots.extend(needed);
        inbox.arrived(|answer| roots.extend(answer.0.ok()));
    });
====
    let mut early = Vec::new();
    inbox.arrived(|answer| early.extend(answer.0.ok()));
    let taken = state.take_part(|roots| {
        inbox.lower(SAFEPOINT);
        roots.extend(needed);
        roots.extend(early.iter().copied());
    });
END
mutant safepoint-bit-lowered-late crates/diagrams/src/threads.rs stress <<'END'
    let taken = state.take_part(|roots| {
        inbox.lower(SAFEPOINT);
        roots.extend(needed);
        inbox.arrived(|answer| roots.extend(answer.0.ok()));
    });
====
    let taken = state.take_part(|roots| {
        roots.extend(needed);
        inbox.arrived(|answer| roots.extend(answer.0.ok()));
    });
    inbox.lower(SAFEPOINT);
END
mutant error-leaves-task-behind crates/diagrams/src/threads.rs unit diagrams several_workers --test full_table <<'END'
    let a = worker.solve(env, first).inspect_err(|_| drop_spawned(worker))?;
====
    let a = worker.solve(env, first)?;
END

mutant grown-cache-starts-again crates/table/src/shared/safepoint.rs unit table a_cache --test cache_growth <<'END'
            return self.spread_cache(old, new);
====
            let _ = Self::spread_cache;
            let cells = self.shared.cache.items();
            cells[self.share_of(old, LEAST_CACHE_ENTRIES)].iter().for_each(|cell| cell.set(Entry::zeroed()));
            return Ok(());
END

[[ $chosen == " --list " ]] && exit
wanted=$chosen
[[ $chosen == " --smoke " ]] && wanted=$smoke
for name in $wanted; do
    [[ $found == *" $name "* ]] || failed+=("$name, which does not exist")
done
echo "mutants: $killed killed, ${#failed[@]} not (${failed[*]:-none}), $SECONDS s"
[[ ${#failed[@]} == 0 ]]
