#!/usr/bin/env python3
"""Reachability, side by side with Sylvan's `bddmc`, or strategy against strategy.

For every model that took Sylvan at least --min-sylvan seconds in the table of expected values, the peer and Tremula run
alternately, --reps times each, on the same converted file. Both times are exploration only, without loading, as the
programs print them. Both numbers of states are checked. If either exceeds the time limit on the first try, the model
counts as not comparable and is only listed.

In a virtual machine, pages that nobody has used for a while are the host's again. --warm SIZE touches memory before each
run, so that all runs find as much of it.

With --auto, all strategies of Tremula run alternately instead, and the table shows `auto` against the best single one. A
strategy is stopped when it has taken more than twice as long as `auto`, since only better ones matter.

Results are written to --out as they come, one JSON object per line: --report FILE prints the tables from such a file,
--resume goes on where a run that was cut off has ended. With --converted and --expected, nothing but this directory,
the two programs and the models is needed.

Examples:
  bench/reach.py --peer bddmc --out reach.jsonl
  bench/reach.py --peer bddmc --workers 2 --out reach-2.jsonl
  bench/reach.py --auto --out auto.jsonl --jobs 4
  bench/reach.py --convert-only converted/
  bench/reach.py --peer ./bddmc --binary ./tremula --converted converted/ --expected expected.csv --out reach.jsonl
  bench/reach.py --report reach.jsonl
"""

import argparse
import math
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import common

PEER = "peer"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", metavar="PATH", help="Sylvan's bddmc")
    parser.add_argument("--peer-strategy", metavar="NAME", default="par", help="the peer's -s, default par")
    parser.add_argument("--binary", metavar="PATH", default=common.BINARY, help="default: target/release/tremula")
    parser.add_argument("--models", metavar="DIR", default=common.MODELS, help="default: ../shared/models")
    parser.add_argument("--converted", metavar="DIR", help="models that are converted already: FAMILY/NAME.bdd")
    parser.add_argument("--convert-only", metavar="DIR", help="write the converted models into DIR, and stop")
    parser.add_argument("--expected", metavar="CSV", help="default: expected.csv in the directory of models")
    parser.add_argument("--only", metavar="NAMES", type=common.comma_list, help="only these models; NAME* is a prefix")
    parser.add_argument("--min-sylvan", metavar="S", type=float, default=1.0, help="default 1.0")
    parser.add_argument("--max-sylvan", metavar="S", type=float)
    parser.add_argument("--strategies", metavar="NAMES", default="par", help="of Tremula; default par")
    parser.add_argument("--auto", action="store_true", help="auto against every single strategy, without the peer")
    parser.add_argument("--workers", metavar="N", type=int, default=1, help="threads of both, default 1")
    parser.add_argument("--timeout", metavar="S", type=float, default=120, help="seconds for each run, default 120")
    parser.add_argument("--reps", metavar="N", type=int, default=5)
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="models at a time")
    parser.add_argument("--mem", metavar="SIZE", help="budget of Tremula")
    parser.add_argument("--warm", metavar="SIZE", type=common.size_bytes, help="memory to touch before each run")
    parser.add_argument("--tune", metavar="KEY=VALUE", action="append", default=[], help="passed on to Tremula")
    parser.add_argument("--out", metavar="FILE", help="results as JSON lines, added at the end")
    parser.add_argument("--resume", action="store_true", help="leave out the runs that --out has already")
    parser.add_argument("--report", metavar="FILE", action="append", help="print the tables from such files, and stop")
    args = parser.parse_args()
    if args.auto:
        args.strategies = "all"
    if not (args.report or args.auto or args.peer or args.convert_only):
        parser.error("one of --peer, --auto, --convert-only and --report is needed")
    if args.resume and not args.out:
        parser.error("--resume needs --out")
    return args


def run_peer(args, model):
    """One run of bddmc."""
    ended = common.run([args.peer, "-s", args.peer_strategy, "-w", args.workers, model.path], args.timeout)
    seconds = re.search(rf"{args.peer_strategy} Time: ([0-9.]+)", ended.stdout, re.IGNORECASE)
    states = re.search(r"Final states: ([0-9.e+]+|inf) states", ended.stdout)
    record = {"wall": round(ended.wall, 6), "max_rss": ended.max_rss}
    if ended.killed:
        return record | {"seconds": None, "why": "time limit"}
    if ended.code != 0 or not seconds or not states:
        last = (ended.stderr.strip() or ended.stdout.strip()).splitlines()[-1:]
        return record | {"seconds": None, "why": ": ".join([f"exit code {ended.code}", *last])}
    # The peer counts in floating point.
    right = states[1] != "inf" and math.isclose(float(states[1]), model.states, rel_tol=1e-9)
    right = right or states[1] == "inf" and model.states >= 1 << 1023
    if not right:
        return record | {"seconds": None, "why": f"WRONG: {states[1]} states, not {model.states}"}
    return record | {"seconds": float(seconds[1])}


def run_own(args, model, strategy, timeout):
    """One run of Tremula."""
    more = [word for knob in args.tune for word in ("--tune", knob)] + (["--mem", args.mem] if args.mem else [])
    answer = common.reach(args.binary, model.path, strategy, timeout, *more, workers=args.workers)
    kept = ("wall", "max_rss", "load", "collections", "did", "nodes", "levels")
    record = {key: answer.get(key) for key in kept}
    wrong = common.mistakes(model, strategy, answer)
    if wrong:
        return record | {"seconds": None, "why": "WRONG: " + "; ".join(wrong)}
    if answer["verdict"] != "complete":
        return record | {"seconds": None, "why": answer["reason"]}
    return record | {"seconds": answer["reach"]}


def measure(args, model, runners, done, journal, progress):
    """Alternates the runners on a model; one that fails has no second try."""
    failed = {key[1] for key, record in done.items() if key[0] == model.name and record["seconds"] is None}
    longest = args.timeout
    for rep in range(args.reps):
        # A comparison with one side only is none; strategies can do without the others.
        if failed and not args.auto:
            break
        for runner in runners:
            if runner in failed or (model.name, runner, rep) in done:
                continue
            timeout = args.timeout if runner == "auto" else longest
            if args.warm:
                common.warm(args.warm)
            result = run_peer(args, model) if runner == PEER else run_own(args, model, runner, timeout)
            record = {"model": model.name, "sylvan1": model.sylvan1, "runner": runner, "rep": rep} | result
            journal.add(record)
            if record["seconds"] is None:
                failed.add(runner)
            elif runner == "auto":
                longest = min(args.timeout, 2 * record["seconds"] + 0.1)
    progress.step(model.name)


def times_of(records):
    """Model, then runner, to the times in order; and model, then runner, to why there is none."""
    times, failures = {}, {}
    for record in records:
        model, runner = record["model"], record["runner"]
        if record["seconds"] is None:
            failures.setdefault(model, {})[runner] = record["why"]
        else:
            times.setdefault(model, {}).setdefault(runner, []).append(record["seconds"])
    return times, failures


def report_peer(records, strategy):
    """Tremula against the peer."""
    times, failures = times_of(records)
    rows, ratios, left_out = [], {}, []
    for model in sorted(times.keys() | failures.keys()):
        mine = times.get(model, {})
        why = {who: reason for who, reason in failures.get(model, {}).items() if who in (PEER, strategy)}
        if why or PEER not in mine or strategy not in mine:
            left_out.append((model, why, mine))
            continue
        peer, own = mine[PEER], mine[strategy]
        ratios[model] = common.median(peer) / common.median(own)
        reps = min(len(peer), len(own))
        row = [model, reps, f"{common.median(peer):.3f}", common.spread(peer)]
        row += [f"{common.median(own):.3f}", common.spread(own)]
        rows.append(row + [f"{ratios[model]:.2f}"])
    header = ["model", "runs", "peer s", "peer spread", f"{strategy} s", f"{strategy} spread", "times as fast"]
    text = [f"## {strategy} against the peer, medians", "", common.markdown(header, rows), ""]
    if ratios:
        least = min(ratios, key=ratios.get)
        slower = [f"{model} {ratio:.2f}" for model, ratio in ratios.items() if ratio < 1.0]
        text.append(f"{len(ratios)} models: geometric mean {common.geometric_mean(ratios.values()):.2f}, "
                    f"median {common.median(ratios.values()):.2f}, least {ratios[least]:.2f} ({least}), "
                    f"slower than the peer: {', '.join(slower) or 'none'}")
    if left_out:
        text += ["", "Not compared:"]
        for model, why, mine in left_out:
            known = [f"{who} {common.median(seconds):.3f} s" for who, seconds in mine.items() if who in (PEER, strategy)]
            text.append(f"  {model}: " + "; ".join([f"{who}: {reason}" for who, reason in why.items()] + known))
    return "\n".join(text)


def report_auto(records):
    """`auto` against the best single strategy."""
    times, failures = times_of(records)
    singles = [name for name in common.STRATEGIES if name != "auto"]
    rows, ratios, missing = [], {}, []
    for model in sorted(times.keys() | failures.keys()):
        medians = {name: common.median(values) for name, values in times.get(model, {}).items() if name != PEER}
        best = min((name for name in singles if name in medians), key=medians.get, default=None)
        cells = [f"{medians[name]:.3f}" if name in medians else "-" for name in common.STRATEGIES]
        if best and "auto" in medians:
            ratios[model] = medians["auto"] / medians[best]
            rows.append([model, *cells, best, f"{ratios[model]:.2f}"])
        else:
            rows.append([model, *cells, best or "-", "-"])
            if best:
                missing.append(f"{model} ({failures.get(model, {}).get('auto', 'not run')})")
    text = ["## auto against the best single strategy, medians in seconds", ""]
    text += [common.markdown(["model", *common.STRATEGIES, "best", "auto / best"], rows), ""]
    if ratios:
        worst = max(ratios, key=ratios.get)
        over = [f"{model} {ratio:.2f}" for model, ratio in ratios.items() if ratio > 1.2]
        text.append(f"{len(ratios)} models: auto / best has geometric mean "
                    f"{common.geometric_mean(ratios.values()):.2f}, most {ratios[worst]:.2f} ({worst}), "
                    f"above 1.2: {', '.join(over) or 'none'}")
    if missing:
        text.append(f"auto does not finish where a single strategy does: {', '.join(missing)}")
    return "\n".join(text)


def report(records):
    """All tables that the records are good for; true if nothing was wrong."""
    runners = {record["runner"] for record in records}
    if PEER in runners:
        for strategy in (name for name in common.STRATEGIES if name in runners):
            print(report_peer(records, strategy) + "\n")
    if len(runners - {PEER}) == len(common.STRATEGIES):
        print(report_auto(records) + "\n")
    wrong = [record for record in records if record["seconds"] is None and record["why"].startswith("WRONG")]
    for record in wrong:
        print(f"{record['model']} {record['runner']}: {record['why']}")
    return not wrong


def main():
    args = arguments()
    if args.report:
        sys.exit(not report([record for path in args.report for record in common.Journal.read(path)]))
    args.binary = common.need_binary(args.binary)
    source = args.converted or args.models
    models = common.load_models(
        source,
        args.expected or (common.MODELS / "expected.csv" if args.converted else None),
        args.only,
        min_seconds=args.min_sylvan,
        max_seconds=args.max_sylvan,
        quiet=bool(args.converted),
    )
    if args.convert_only:
        print(f"{len(common.convert(args.binary, models, args.convert_only))} models in {args.convert_only}")
        return
    runners = ([] if args.auto else [PEER]) + common.strategy_list(args.strategies)
    if PEER in runners:
        args.peer = common.need_binary(args.peer)
    if args.out and not args.resume and Path(args.out).exists():
        common.fail(f"{args.out} exists: name another file, or go on with --resume")
    earlier = common.Journal.read(args.out) if args.resume and Path(args.out).exists() else []
    done = {(record["model"], record["runner"], record["rep"]): record for record in earlier}
    journal = common.Journal(args.out)
    progress = common.Progress(len(models))
    with tempfile.TemporaryDirectory(prefix="tremula-reach-") as directory:
        if args.converted:
            models = common.unpacked(models, directory)
        else:
            models = common.convert(args.binary, models, directory)
        # The long ones first, so that none is left alone at the end.
        models.sort(key=lambda model: -(model.sylvan1 or 0.0) if args.jobs > 1 else 0)
        with ThreadPoolExecutor(max(1, args.jobs)) as pool:
            for result in [pool.submit(measure, args, m, runners, done, journal, progress) for m in models]:
                result.result()
    sys.exit(not report(earlier + journal.records))


if __name__ == "__main__":
    main()
