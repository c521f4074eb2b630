#!/usr/bin/env python3
"""Ranks of one host beside one process with as many workers: bench/ranks.py [options] MODEL...

Models are names as in expected.csv, which lies in the folder of models. A shape is RANKSxWORKERS; 1xN is one process,
without mpirun. Runs of the shapes alternate; medians are shown with their spread, and how fast each shape is compared with
the first. Every count is compared with the known one; the exit code is 1 if one is wrong. The program has to be built with
`--features mpi`.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
BINARY = REPOSITORY / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "tremula"
# Open MPI: more ranks than processors are fine, and so is root.
LAUNCHER = ["mpirun", "--quiet", "--oversubscribe", "--bind-to", "none"]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="MODEL")
    parser.add_argument("--tremula", type=Path, default=BINARY)
    parser.add_argument("--models", type=Path, default=REPOSITORY.parent / "shared" / "models")
    parser.add_argument("--shapes", default="1x2,2x1", help="separated by commas; the first is what others are compared with")
    parser.add_argument("--strategy", default="par")
    parser.add_argument("--mem", default="8G", help="of all ranks together")
    parser.add_argument("--limit", type=float, default=120, help="seconds for each run")
    parser.add_argument("--reps", type=int, default=5)
    return parser.parse_args()


def find_model(folder, name):
    for path in sorted(folder.rglob(f"{name}.bdd*")):
        return path
    sys.exit(f"ranks.py: there is no model {name}")


def megabytes(size):
    return int(float(size[:-1]) * {"M": 1, "G": 1024}[size[-1]])


def run(options, shape, path):
    """Seconds of exploration and the count; a reason instead of the count if there is none."""
    ranks, workers = map(int, shape.split("x"))
    memory = f"{megabytes(options.mem) // ranks}M"
    words = [options.tremula.resolve(), "reach", path, "--json", "-q", "--strategy", options.strategy, "--engine", "bdd"]
    words += ["--workers", str(workers), "--mem", memory, "--timeout", str(options.limit)]
    words = [*LAUNCHER, "-n", str(ranks), *words] if ranks > 1 else words
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **AS_ROOT})
    try:
        result = json.loads(done.stdout)
    except json.JSONDecodeError:
        return None, (done.stderr.strip().splitlines() or ["said nothing"])[-1]
    if result["verdict"] != "complete":
        return None, result["reason"]
    return result["seconds"]["reach"], result["states"]


def main():
    options = arguments()
    with open(options.models / "expected.csv", newline="") as file:
        known = {row["model"]: row["states"] for row in csv.DictReader(file)}
    shapes, wrong = options.shapes.split(","), 0
    for name in options.names:
        path, times, notes = find_model(options.models, name), {shape: [] for shape in shapes}, set()
        for _ in range(options.reps):
            for shape in shapes:
                seconds, answer = run(options, shape, path)
                if seconds is None:
                    notes.add(f"{shape}: {answer}")
                    continue
                times[shape].append(seconds)
                if answer != known.get(name, answer):
                    notes.add(f"{shape}: WRONG {answer}, not {known[name]}")
                    wrong += 1
        medians = {shape: statistics.median(all) for shape, all in times.items() if all}
        first = medians.get(shapes[0])
        cells = [
            f"{shape} {medians[shape]:.2f} ({min(all):.2f}..{max(all):.2f})"
            + (f" {first / medians[shape]:.2f}x" if first else "")
            if all
            else f"{shape} -"
            for shape, all in times.items()
        ]
        print(f"{name:20} {'  '.join(cells)}  {'; '.join(sorted(notes))}", flush=True)
    print(f"{wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
