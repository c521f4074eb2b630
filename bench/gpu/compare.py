#!/usr/bin/env python3
"""`--engine gpu` beside the CPU engine with all cores, in the same run: bench/gpu/compare.py [options] [MODEL...]

Models are names as in expected.csv, which lies in the folder of models; none means all files, or with --paper those that the 32
machines of the SPIN paper solved with the right number in more than a second. Runs alternate; medians are
shown with their spread. Every count is compared with the known one, if there is one. The exit code is 1 if a count is wrong,
or if an engine has no answer at all. The engine `sylvan` is Sylvan's `bddmc`, which wants files that
`bench/reach.py --convert-only` has written.

Seconds are those of exploring; with --whole, those of the whole process. `auto` is followed by how often the device had the
answer. An engine may have a knob after its strategy:
  bench/gpu/compare.py --whole --reps 3 --engines cpu:auto,gpu:par,auto:auto,auto:auto:device-delay=1000 at.5 blocks.3
"""

import argparse
import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
BINARY = REPOSITORY / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "tremula"
# Seconds that a run gets to end by itself at its time limit.
GRACE = 30
ENGINES = ["cpu", "gpu", "auto", "sylvan"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="MODEL")
    parser.add_argument("--tremula", type=Path, default=BINARY)
    parser.add_argument("--models", type=Path, default=REPOSITORY.parent / "shared" / "models")
    parser.add_argument("--paper", action="store_true", help="models that took the paper's 32 machines more than a second")
    parser.add_argument("--kind", choices=["bdd", "pnml", "ldd"], default="bdd", help="of files; all are explored in bits")
    parser.add_argument(
        "--engines", default="cpu:par,gpu:par", help="cpu, gpu, auto or sylvan, with :strategy[:knob], separated by commas"
    )
    parser.add_argument("--peer", type=Path, metavar="PATH", help="Sylvan's bddmc")
    parser.add_argument("--reps", type=positive, default=1)
    parser.add_argument("--limit", type=float, default=60, help="seconds for each run")
    parser.add_argument("--whole", action="store_true", help="measure whole processes")
    parser.add_argument("--workers", default="16")
    parser.add_argument("--mem", default="60G")
    parser.add_argument("--gpu-mem", default="32G")
    options = parser.parse_args()
    for engine in options.engines.split(","):
        kind, _, strategy = engine.partition(":")
        if kind not in ENGINES or not strategy or strategy.count(":") > 1:
            parser.error(f"--engines: {engine!r} is not one of {', '.join(ENGINES)} with a strategy, such as gpu:par")
        if kind == "sylvan" and options.peer is None:
            parser.error("--engines: sylvan wants --peer, the path of bddmc")
        if kind == "sylvan" and options.whole:
            parser.error("--whole: sylvan tells the time of exploring only")
    return options


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("expected a number from 1 on")
    return number


def known_counts(folder):
    """Numbers of states by the names of models."""
    with open(folder / "expected.csv", newline="") as file:
        return {row["model"]: row["states"] for row in csv.DictReader(file)}


def seconds_of_paper(folder):
    """By the names of models, what 32 machines took where their number of states is right, and they took more than a second."""
    with open(folder / "expected.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["distdd_status"] == "agree"]
    seconds = {row["model"]: float(row["M32T16"]) for row in rows if row["M32T16"] not in ("", "-")}
    return {name: time for name, time in seconds.items() if time > 1}


def find_models(folder, kind, names):
    """Names and files of a kind below a folder: all of them, or for each of the names the first."""
    found = {}
    for path in sorted(folder.rglob(f"*.{kind}*")):
        found.setdefault(path.name.split(f".{kind}")[0], []).append(path)
    unknown = [name for name in names if name not in found]
    if unknown:
        sys.exit(f"there is no model {', '.join(unknown)} in {folder}")
    if names:
        return [(name, found[name][0]) for name in names]
    return [(name, path) for name, paths in found.items() for path in paths]


def run_peer(options, strategy, path):
    """Seconds that bddmc tells, and its count, which is a floating-point number."""
    words = [options.peer.resolve(), "-s", strategy, "-w", options.workers, path]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=options.limit)
    except subprocess.TimeoutExpired:
        return None, "did not end"
    seconds = re.search(rf"{strategy} Time: ([0-9.]+)", done.stdout, re.IGNORECASE)
    states = re.search(r"Final states: ([0-9.e+]+) states", done.stdout)
    if not seconds or not states:
        return None, (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return float(seconds[1]), states[1]


def is_right(engine, answer, known):
    """Is an answer the known one?"""
    if engine.startswith("sylvan"):
        return math.isclose(float(answer), int(known), rel_tol=1e-9)
    return answer == known


def command(options, engine, path):
    kind, strategy, *knobs = engine.split(":")
    engine = {"cpu": "bdd"}.get(kind, kind)
    place = ["--engine", engine, "--gpu-mem", options.gpu_mem, "--workers", options.workers, "--mem", options.mem]
    limits = ["--timeout", str(options.limit), *place, *(f"--tune={knob}" for knob in knobs)]
    return [options.tremula.resolve(), "reach", path, "--json", "--strategy", strategy, *limits]


def run(options, engine, path):
    """Seconds of exploration, or of the whole process, the count, and what found it; a reason instead if there is none."""
    kind, strategy, *_ = engine.split(":")
    if kind == "sylvan":
        return *run_peer(options, strategy, path), kind
    began = time.monotonic()
    try:
        words, patience = command(options, engine, path), options.limit + GRACE
        done = subprocess.run(words, capture_output=True, text=True, timeout=patience)
        whole = time.monotonic() - began
        result = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return None, "did not end", None
    except json.JSONDecodeError:
        return None, (done.stderr.strip().splitlines() or ["said nothing"])[-1], None
    if result["verdict"] != "complete":
        return None, result["reason"], None
    return whole if options.whole else result["seconds"]["reach"], result["states"], result["engine"]


class Tally:
    """What came out of all runs."""

    def __init__(self, engines):
        self.wrong = self.unanswered = self.unchecked = 0
        self.silent = set(engines)

    def note(self, engine, seconds, answer, known):
        """Count a run; what is to be told about it, or nothing."""
        if seconds is None:
            self.unanswered += 1
            return f"{engine}: {answer}"
        self.silent.discard(engine)
        if known is None:
            self.unchecked += 1
            return f"no known count: {answer}"
        if not is_right(engine, answer, known):
            self.wrong += 1
            return f"{engine}: WRONG {answer}, not {known}"
        return None

    def __str__(self):
        silent = f"; no answer at all by {', '.join(sorted(self.silent))}" if self.silent else ""
        return f"{self.wrong} wrong, {self.unanswered} without an answer, {self.unchecked} without a known count{silent}"


def compare(options, engines, tally, path, known):
    """Run a model with all engines in turn; a line about it."""
    times, by_device, notes = {engine: [] for engine in engines}, {engine: 0 for engine in engines}, set()
    for _ in range(options.reps):
        for engine in engines:
            seconds, answer, finder = run(options, engine, path)
            note = tally.note(engine, seconds, answer, known)
            if note:
                notes.add(note)
            if seconds is not None:
                times[engine].append(seconds)
                by_device[engine] += finder == "gpu"

    def cell(engine, all):
        if not all:
            return f"{engine} -"
        by = f" device {by_device[engine]}/{len(all)}" if engine.startswith("auto") else ""
        return f"{engine} {statistics.median(all):.3f} ({min(all):.3f}..{max(all):.3f}){by}"

    cells = [cell(engine, all) for engine, all in times.items()]
    medians = [statistics.median(all) for all in times.values() if all]
    ratio = f"{medians[0] / medians[-1]:.2f}" if len(medians) == len(engines) else "-"
    return f"{' '.join(cells)} ratio {ratio} {'; '.join(sorted(notes))}"


def main():
    options = arguments()
    known, engines = known_counts(options.models), options.engines.split(",")
    models, tally = find_models(options.models, options.kind, options.names), Tally(engines)
    paper = seconds_of_paper(options.models) if options.paper else {}
    if options.paper:
        models = [(name, path) for name, path in models if name in paper]
    names = [name for name, _ in models]
    for name, path in models:
        title = name if names.count(name) == 1 else str(path.relative_to(options.models))
        by_paper = f"paper {paper[name]:.2f} " if options.paper else ""
        print(f"{title:28} {by_paper}{compare(options, engines, tally, path, known.get(name))}", flush=True)
    print(tally)
    sys.exit(1 if tally.wrong or tally.silent else 0)


if __name__ == "__main__":
    main()
