#!/usr/bin/env python3
"""Saturation on list decision diagrams, side by side with Sylvan's `lddmc -s sat`.

For every `.ldd` model the peer and Tremula run alternately, --reps times each. Both times are exploration only, as the
programs print them, and both numbers of states must be equal. A model on which either exceeds the time limit on the first
try is only listed.

Examples:
  bench/lists.py --peer lddmc
  bench/lists.py --peer lddmc --workers 2 --only 'collision*,blocks.3'
"""

import argparse
import gzip
import re
import shutil
import sys
import tempfile
from pathlib import Path

import common


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", metavar="PATH", required=True, help="Sylvan's lddmc")
    parser.add_argument("--binary", metavar="PATH", default=common.BINARY, help="default: target/release/tremula")
    parser.add_argument("--models", metavar="DIR", default=common.MODELS, help="default: ../shared/models")
    parser.add_argument("--only", metavar="NAMES", type=common.comma_list, help="only these models; NAME* is a prefix")
    parser.add_argument("--workers", metavar="N", type=int, default=1, help="threads of both, default 1")
    parser.add_argument("--timeout", metavar="S", type=float, default=60, help="seconds for each run, default 60")
    parser.add_argument("--reps", metavar="N", type=int, default=5)
    return parser.parse_args()


def models(args, directory):
    """Names and uncompressed files."""
    for path in sorted((Path(args.models) / "sylvan").glob("*.ldd*")):
        name = path.name.removesuffix(".gz").removesuffix(".ldd")
        if args.only and not any(name == only or only.endswith("*") and name.startswith(only[:-1]) for only in args.only):
            continue
        if path.suffix == ".gz":
            plain = Path(directory) / f"{name}.ldd"
            with gzip.open(path) as source, open(plain, "wb") as target:
                shutil.copyfileobj(source, target)
            path = plain
        yield name, path


def run_peer(args, path):
    """Seconds and states, or nothing."""
    ended = common.run([args.peer, "-s", "sat", "-w", args.workers, path], args.timeout)
    seconds = re.search(r"SAT Time: ([0-9.]+)", ended.stdout)
    states = re.search(r"Final states: ([0-9]+) states", ended.stdout)
    return (float(seconds[1]), states[1]) if seconds and states else None


def run_own(args, path):
    """Seconds and states, or nothing."""
    answer = common.reach(args.binary, path, "saturation", args.timeout, engine="ldd", workers=args.workers)
    return (answer["reach"], answer["states"]) if answer["verdict"] == "complete" else None


def compare(args, path):
    """Seconds of the peer and of Tremula, or why there are none."""
    peer, own = [], []
    for _ in range(args.reps):
        runs = run_peer(args, path), run_own(args, path)
        if None in runs:
            return "time limit of the " + ("peer" if runs[0] is None else "program")
        if runs[0][1] != runs[1][1]:
            return f"WRONG: {runs[0][1]} and {runs[1][1]} states"
        peer.append(runs[0][0])
        own.append(runs[1][0])
    return peer, own


def main():
    args = arguments()
    args.binary = common.need_binary(args.binary)
    rows, ratios, unfinished = [], [], []
    with tempfile.TemporaryDirectory() as directory:
        for name, path in models(args, directory):
            times = compare(args, path)
            if isinstance(times, str):
                unfinished.append(f"{name}: {times}")
                continue
            peer, own = times
            ratios.append(common.median(peer) / common.median(own))
            seconds = [f"{common.median(peer):.3f}", common.spread(peer), f"{common.median(own):.3f}", common.spread(own)]
            rows.append([name, *seconds, f"{ratios[-1]:.2f}"])
            print(f"{name}: {ratios[-1]:.2f}", file=sys.stderr)
    print(common.markdown(["model", "peer s", "peer spread", "ours s", "ours spread", "times as fast"], rows))
    print(f"\n{len(rows)} models, {args.workers} workers: geometric mean {common.geometric_mean(ratios):.2f}")
    print("".join(f"not compared: {line}\n" for line in unfinished), end="")
    sys.exit(any("WRONG" in line for line in unfinished))


if __name__ == "__main__":
    main()
