#!/usr/bin/env bash
# Compares the crates with the table in docs/architecture.md, section "Allowed edges": scripts/layers.sh
# Rejects a dependency between crates of the workspace that is not drawn there, an edge that does not point down (to a
# crate in a row above), and a crate that contains no `forbid(unsafe_code)` though the table says so.
set -euo pipefail
cd "$(dirname "$0")/.."
map=docs/architecture.md

# The rows of the table: crate, what it may depend on, unsafe; without backquotes.
rows=$(awk -F '|' '
    /^## / { inside = ($0 == "## Allowed edges") }
    inside && NF == 5 && $2 !~ /^ *(Crate|-+) *$/ { gsub(/`/, ""); print $2 "|" $3 "|" $4 }' "$map")

# The folders of the workspace crates that a manifest names, in any kind of dependency section.
dependencies() {
    awk '
        function found(package) {
            sub(/^tremula-/, "", package)
            print package == "tremula" ? "cli" : package
        }
        /^[ \t]*\[/ {
            inside = ($0 ~ /dependencies(\.[^]]*)?\][ \t]*$/)
            if (inside && match($0, /dependencies\.("|\047)?tremula[-a-z0-9_]*/)) {
                name = substr($0, RSTART, RLENGTH)
                sub(/.*dependencies\.("|\047)?/, "", name)
                found(name)
            }
            next
        }
        inside && match($0, /^[ \t]*"?tremula[-a-z0-9_]*/) {
            name = substr($0, RSTART, RLENGTH)
            gsub(/[ \t"]/, "", name)
            found(name)
            next
        }
        inside && match($0, /package[ \t]*=[ \t]*"tremula[-a-z0-9_]*/) {
            name = substr($0, RSTART, RLENGTH)
            sub(/.*"/, "", name)
            found(name)
        }' "$1" | sort -u
}

failures=0
complain() {
    echo "layers: $1" >&2
    failures=$((failures + 1))
}

# The first word of a text, and one of its words, whatever spaces and commas surround them.
word() { tr -d ' ' <<<"$1"; }
contains() { [[ " $(tr ',' ' ' <<<"$1" | xargs) " == *" $2 "* ]]; }

drawn=""
while IFS='|' read -r crate allowed unsafe; do
    crate=$(word "$crate")
    if [[ ! -f crates/$crate/Cargo.toml ]]; then
        complain "$map draws $crate, but there is no crates/$crate"
        continue
    fi
    for edge in $(tr -d ',–' <<<"$allowed"); do
        contains "$drawn" "$edge" || complain "$crate → $edge does not point to a row above"
    done
    for edge in $(dependencies "crates/$crate/Cargo.toml"); do
        contains "$allowed" "$edge" || complain "$crate depends on $edge, which $map does not draw"
    done
    root=crates/$crate/src/lib.rs
    [[ -f $root ]] || root=crates/$crate/src/main.rs
    if [[ $(word "$unsafe") == forbidden ]] && ! grep -q '^#!\[forbid(unsafe_code)\]' "$root"; then
        complain "$root lacks #![forbid(unsafe_code)]"
    fi
    drawn+=" $crate"
done <<<"$rows"

for manifest in crates/*/Cargo.toml; do
    crate=$(basename "$(dirname "$manifest")")
    contains "$drawn" "$crate" || complain "$crate is not drawn in $map"
done

if ((failures > 0)); then
    exit 1
fi
echo "layers: all edges are drawn"
