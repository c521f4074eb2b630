#!/usr/bin/env python3
"""Ranks of one host beside one process with as many workers: bench/ranks.py [options] MODEL...

A shape is RANKSxWORKERS; 1xN is one process, without mpirun. Runs of the shapes alternate; medians are shown with their
spread, and how fast each shape is compared with the first. Every answer is compared with the known one; the exit code is 1 if
one is wrong. The program has to be built with `--features mpi`.
"""

import argparse
import os
import sys
from pathlib import Path

import common

# Open MPI: more ranks than processors are fine, and so is root.
LAUNCHER = ("mpirun", "--quiet", "--oversubscribe", "--bind-to", "none", "-n")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="MODEL", help="family/name, name, or a part of it that ends in *")
    parser.add_argument("--binary", type=Path, default=common.BINARY)
    parser.add_argument("--models", type=Path, default=common.MODELS)
    parser.add_argument("--shapes", type=common.comma_list, default=["1x2", "2x1"], help="the others are compared with the first")
    parser.add_argument("--strategy", default="par")
    parser.add_argument("--mem", default="8G", help="of all ranks together")
    parser.add_argument("--limit", type=float, default=120, help="seconds for each run")
    parser.add_argument("--reps", type=int, default=5)
    return parser.parse_args()


def run(options, shape, model):
    """A record of one run."""
    ranks, workers = map(int, shape.split("x"))
    memory = f"{common.size_bytes(options.mem) // ranks >> 20}M"
    launcher = (*LAUNCHER, ranks) if ranks > 1 else ()
    how = {"workers": workers, "launcher": launcher}
    return common.reach(options.binary, model.path, options.strategy, options.limit, "--mem", memory, **how)


def main():
    options = arguments()
    options.binary = common.need_binary(options.binary)
    os.environ.update(AS_ROOT)
    rows, wrong = [], []
    for model in common.load_models(options.models, only=options.names, quiet=True):
        times = {shape: [] for shape in options.shapes}
        for _ in range(options.reps):
            for shape, seconds in times.items():
                record = run(options, shape, model)
                wrong += [f"{model.name}, {shape}: {mistake}" for mistake in common.mistakes(model, options.strategy, record)]
                if record["verdict"] == "complete":
                    seconds.append(record["reach"])
        first = times[options.shapes[0]]
        for shape, seconds in times.items():
            speed = f"{common.median(first) / common.median(seconds):.2f}" if first and seconds else "-"
            cells = [f"{common.median(seconds):.2f}", common.spread(seconds)] if seconds else ["-", "-"]
            rows.append([model.name, shape, len(seconds), *cells, speed])
    print(common.markdown(["model", "shape", "runs", "seconds", "spread", "speed"], rows))
    print("\n".join(wrong) or "no wrong answer")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
