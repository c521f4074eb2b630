#!/usr/bin/env python3
"""Ranks beside one process with as many workers: bench/ranks.py [options] MODEL...

A shape is RANKSxWORKERS; 1xN is one process, without mpirun. Runs of the shapes alternate; medians are shown with their
spread, and how fast each shape is compared with the first. Every answer is compared with the known one; the exit code is 1 if
one is wrong. The program has to be built with `--features mpi`.

With --hosts (as root), every rank has a test host of its own, with TCP between them, and rank R the Rth processor alone:
  bench/ranks.py --hosts --shapes 1x2,2x1 schedule_world.2
"""

import argparse
import atexit
import os
import subprocess
import sys
from pathlib import Path

import common

# Open MPI: more ranks than processors are fine, and so is root.
LAUNCHER = ("mpirun", "--quiet", "--oversubscribe", "--bind-to", "none", "-n")
# The same on test hosts.
ON_HOSTS = (common.REPOSITORY / "scripts" / "test-hosts.sh", "mpirun", 1, "--quiet")
PINNED = ("sh", "-c", 'exec taskset -c $((OMPI_COMM_WORLD_RANK % $(nproc --all))) "$@"', "pinned")
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
    parser.add_argument("--hosts", action="store_true", help="a test host for every rank")
    return parser.parse_args()


def run(options, shape, model):
    """A record of one run."""
    ranks, workers = map(int, shape.split("x"))
    memory = f"{common.size_bytes(options.mem) // ranks >> 20}M"
    launcher = ()
    if ranks > 1:
        launcher = (*ON_HOSTS, *PINNED) if options.hosts else (*LAUNCHER, ranks)
    how = {"workers": workers, "launcher": launcher}
    return common.reach(options.binary, model.path, options.strategy, options.limit, "--mem", memory, **how)


def make_hosts(shapes):
    """As many test hosts as the shapes with several ranks all have."""
    ranks = {int(shape.split("x")[0]) for shape in shapes} - {1}
    if len(ranks) != 1:
        common.fail("--hosts wants shapes with several ranks, and as many in each")
    subprocess.run([ON_HOSTS[0], "up", str(*ranks)], check=True)


def main():
    options = arguments()
    options.binary = common.need_binary(options.binary)
    os.environ.update(AS_ROOT)
    if options.hosts:
        atexit.register(subprocess.run, [ON_HOSTS[0], "down"])
        make_hosts(options.shapes)
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
