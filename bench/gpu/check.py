#!/usr/bin/env python3
"""Is a device right? bench/gpu/check.py [options] [counts] [nets] [sanitizer] [memory]

What docs/gpu.md says about correctness, once more; all four parts unless told. Needs a device, `cargo build --release` and
`cargo build --release -p tremula-gpu --example explore`; the sanitizer is CUDA's.

    counts     every .bdd file, explored three times, against expected.csv
    nets       the Petri nets with the fewest markings, of those with a known number; at least 40 of them have to be answered
    sanitizer  memcheck and racecheck on small models, in pieces and with too little memory as well
    memory     too little device memory is UNKNOWN, exit code 3

Prints a line for each thing that is wrong or was not found out. The exit code is 1 if something is wrong.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from compare import BINARY, REPOSITORY, find_models, known_counts

PARTS = ["counts", "nets", "sanitizer", "memory"]
# Rounds are narrow and many, 60,372 of them: nothing for a device.
LEFT_OUT = {"resistance.1"}
# So many nets are to have their known number of markings each time.
ENOUGH_NETS = 40
# Models whose unions are large in between.
SATURATION = re.compile(r"2D8_.*|MAPK-40")
SMALL = ["beem/phils.1.bdd", "promela/fair.bdd", "beem/phils.2.bdd"]
# Does not fit into so many MiB. racecheck takes a minute and a half for it.
LARGE, TOO_LITTLE = "beem/at.1.bdd.gz", "1"
# Levels of so many requests count as wide: small models have no others.
WIDE = ["--wide", "4"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--tremula", type=Path, default=BINARY)
    parser.add_argument("--explore", type=Path, default=BINARY.parent / "examples" / "explore")
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    parser.add_argument("--models", type=Path, default=REPOSITORY.parent / "shared" / "models")
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60, help="seconds for each exploration")
    parser.add_argument("--nets", type=int, default=80, help="so many nets")
    parser.add_argument("--mib", default="32000", help="device memory for counts")
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    return options


def run(words, limit):
    """Exit code and all output; no code if it did not end."""
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit)
    except subprocess.TimeoutExpired as late:
        said = late.stdout or b""
        said = said.decode(errors="replace") if isinstance(said, bytes) else said
        return None, f"{said}not within {limit:g} s"
    return done.returncode, done.stdout.strip()


def small(name):
    return REPOSITORY / "testdata" / name


def explore_all(options, strategy, paths):
    """The answers for all of these files, by file: numbers of states, or what was said instead."""
    answers = {path: set() for path in paths}
    # One process for all of them, because a device takes longer to start than most explorations.
    command = [options.explore, "--mem", options.mib, "--strategy", strategy, *paths]
    for _ in range(options.reps):
        _, text = run(command, options.limit * len(paths))
        lines = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
        last = (text.splitlines() or ["said nothing"])[-1]
        for path in paths:
            line = lines.get(str(path), f"not explored; the last words were: {last}")
            states = re.match(r"states ([0-9]+) ", line)
            answers[path].add(states[1] if states else line)
    return answers


def check_counts(options):
    """Every .bdd file, against what is known."""
    known, wrong, right, new, silent = known_counts(options.models), 0, 0, 0, 0
    models = [(name, path) for name, path in find_models(options.models, "bdd", []) if name not in LEFT_OUT]
    found = {}
    for strategy in ["par", "saturation"]:
        is_for_saturation = strategy == "saturation"
        paths = [path for name, path in models if bool(SATURATION.fullmatch(name)) == is_for_saturation]
        found |= explore_all(options, strategy, paths) if paths else {}
    for name, path in models:
        answers = found[path]
        if answers == {known.get(name)}:
            right += 1
        elif name not in known and len(answers) == 1 and answers.copy().pop().isdigit():
            new += 1
            print(f"{path}: {', '.join(answers)} each time, and nothing to compare that with", flush=True)
        elif all(answer.isdigit() for answer in answers) or any(answer.isdigit() and answer != known.get(name) for answer in answers):
            wrong += 1
            print(f"{path}: WRONG {', '.join(sorted(answers))}, not {known.get(name, 'the same each time')}", flush=True)
        else:
            silent += 1
            print(f"{path}: NO ANSWER: {', '.join(sorted(answers))}", flush=True)
    print(f"counts: {right} right each time, {wrong} wrong, {silent} without an answer, {new} not known", flush=True)
    return wrong == 0 and silent == 0 and right > 0


def check_nets(options):
    """The nets with the fewest markings, which a lease of a device has time for."""
    known = known_counts(options.models)
    names = {name for name, _ in find_models(options.models, "pnml", []) if name in known}
    names = sorted(names, key=lambda name: (int(known[name]), name))[: options.nets]
    place = ["--tremula", options.tremula, "--models", options.models]
    limits = ["--reps", str(options.reps), "--limit", str(options.limit), "--gpu-mem", "24G"]
    words = [Path(__file__).with_name("compare.py"), "--kind", "pnml", "--engines", "gpu:par", *place, *limits, *names]
    answered = 0
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True) as comparing:
        for line in comparing.stdout:
            print(line, end="", flush=True)
            # With a note behind, a run had no answer or a wrong one.
            answered += re.search(r"gpu:par [0-9.]+ \(.*\) ratio \S+ *$", line) is not None
    print(f"nets: {answered} right each time", flush=True)
    return comparing.returncode == 0 and answered >= ENOUGH_NETS


def check_sanitizer(options):
    """The sanitizer finds nothing, whatever comes out."""
    runs = [[*WIDE, *extra, *map(small, SMALL)] for extra in ([], ["--halvings", "2"])]
    runs.append([*WIDE, "--mem", TOO_LITTLE, small(LARGE)])
    is_clean = True
    for tool in ["memcheck", "racecheck"]:
        for words in runs:
            tested = [options.sanitizer, "--tool", tool, "--error-exitcode", "1", options.explore, *words]
            code, text = run(tested, 10 * options.limit)
            title = f"sanitizer: {tool} {' '.join(str(word) for word in words)}"
            print(f"{title}: {'nothing' if code == 0 else 'NOT CLEAN'}", flush=True)
            if code != 0:
                is_clean = False
                print(text, flush=True)
    return is_clean


def check_memory(options):
    """Too little device memory is a limit, not a wrong answer."""
    is_right = True
    for size in [f"{TOO_LITTLE}M", "1000"]:
        code, text = run([options.tremula, "reach", small(LARGE), "--engine", "gpu", "--gpu-mem", size], options.limit)
        is_unknown = code == 3 and "UNKNOWN" in text
        is_right &= is_unknown
        print(f"memory: --gpu-mem {size}: {'UNKNOWN' if is_unknown else f'WRONG: {code}, {text}'}", flush=True)
    return is_right


def main():
    options = arguments()
    checks = {"counts": check_counts, "nets": check_nets, "sanitizer": check_sanitizer, "memory": check_memory}
    results = {part: checks[part](options) for part in options.parts or PARTS}
    failed = [part for part, holds in results.items() if not holds]
    print(f"check: {'all as it should be' if not failed else 'WRONG: ' + ', '.join(failed)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
