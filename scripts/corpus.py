#!/usr/bin/env python3
"""Checks `tremula reach` on every model with a known number of states.

Every run must give exactly that number of states, the canonical number of nodes (where the file has the order in which
they were counted), and for strategies that go level by level the number of levels. A run that gives up at a limit is
listed as unfinished; anything else is a failure, and makes the exit code 1.

Examples:
  scripts/corpus.py
  scripts/corpus.py --strategies par,auto --mem 256M --timeout 20
  scripts/corpus.py --stress 1000 --max-states 20000 --max-seconds 0.1
  scripts/corpus.py --squeeze --strategies par --max-seconds 5
  scripts/corpus.py --strategies par,chaining --workers 1,2,4,8 --repeat 3 --tune worker-threshold=10
  scripts/corpus.py --launcher "mpirun -n 4 --oversubscribe --bind-to none" --strategies par --max-seconds 1
"""

import json
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import common  # noqa: E402

# Steps that the search for a small budget may take.
SQUEEZE_STEPS = 14
# No tables fit into less.
LEAST_BUDGET = 200_000
# Tables of a small model fit the smallest budget without any collection, unless they start smaller and grow late.
SMALL_TABLES = ["initial-nodes=1024", "eager-nodes=0", "live-share=0.9", "node-patience=1000000"]


def arguments():
    parser = common.corpus_parser(__doc__)
    parser.add_argument("--max-states", metavar="N", type=int, help="only models with at most so many states")
    parser.add_argument("--max-seconds", metavar="S", type=float, help="only models that took Sylvan at most so long")
    parser.add_argument("--strategies", metavar="NAMES", default="all", help="all, or a list with commas")
    parser.add_argument("--workers", metavar="LIST", type=common.comma_list, default=["1"], help="threads, default 1")
    parser.add_argument("--launcher", metavar="COMMAND", default="", help="starts several processes, as mpirun does")
    parser.add_argument("--repeat", metavar="N", type=int, default=1, help="runs of each kind, default 1")
    parser.add_argument("--timeout", metavar="S", type=float, default=120, help="seconds for each run, default 120")
    parser.add_argument("--mem", metavar="SIZE", help="budget; resident memory is then checked against it")
    parser.add_argument("--stress", metavar="N", type=int, help="collect at every Nth created node")
    parser.add_argument("--tune", metavar="KEY=VALUE", action="append", default=[], help="passed on")
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="runs at a time")
    parser.add_argument("--min-collections", metavar="K", type=int, help="fewer collections are a failure")
    parser.add_argument("--squeeze", action="store_true", help="look for a budget that forces --min-collections (5)")
    parser.add_argument("--out", metavar="FILE", help="all results as JSON")
    parser.add_argument("--quiet", action="store_true", help="no line for each run")
    return parser.parse_args()


class Checker:
    """Runs and judges."""

    def __init__(self, args):
        self.args = args
        self.binary = common.need_binary(args.binary)
        self.launcher = shlex.split(args.launcher)

    def run(self, model, strategy, workers, budget, knobs=()):
        """One run; `mistakes` and `budget` join the record."""
        args = self.args
        more = [f"--tune={knob}" for knob in [*knobs, *args.tune]]
        more += ["--mem", str(budget)] if budget else []
        more += ["--stress", str(args.stress)] if args.stress else []
        record = {"model": model.name, "strategy": strategy, "workers": workers, "budget": budget}
        how = {"workers": workers, "launcher": self.launcher}
        record |= common.reach(self.binary, model.path, strategy, args.timeout, *more, **how)
        record["mistakes"] = common.mistakes(model, strategy, record)
        over = common.over_budget(record, budget) if budget else None
        if over:
            record["mistakes"].append(over)
        return record

    def plain(self, model, strategy, workers):
        """One run, as asked for."""
        budget = common.size_bytes(self.args.mem) if self.args.mem else None
        record = self.run(model, strategy, workers, budget)
        least = self.args.min_collections
        if least and record["verdict"] == "complete" and (record["collections"] or 0) < least:
            record["mistakes"].append(f"{record['collections']} collections, not {least}")
        return record

    def squeeze(self, model, strategy, workers):
        """Runs with smaller and smaller budgets, until one forces enough collections and still suffices.

        Where no budget alone does, the tables start small too. The record returned is the one that succeeded, or else
        the first; it carries the mistakes of all runs on the way.
        """
        budget = common.size_bytes(self.args.mem) if self.args.mem else None
        tried = []
        for how, knobs in (("budget", []), ("tables", SMALL_TABLES)):
            found = self.search(model, strategy, workers, budget, knobs, tried)
            if found or tried[0]["verdict"] != "complete":
                break
        result = dict(found or tried[0])
        result["squeezed"] = how if found else None
        result["tries"] = [[r["budget"], r["verdict"], r.get("collections"), r["max_rss"]] for r in tried]
        result["mistakes"] = [f"{mistake} (budget {r['budget']})" for r in tried for mistake in r["mistakes"]]
        return result

    def search(self, model, strategy, workers, budget, knobs, tried):
        """Halves the budget from the peak of a first run on; where half is too little, looks between."""
        least = self.args.min_collections or 5
        first = self.run(model, strategy, workers, budget, knobs)
        tried.append(first)
        if first["verdict"] != "complete":
            return None
        enough, too_little = max(first["peak_bytes"], 2 * LEAST_BUDGET), 0
        for _ in range(SQUEEZE_STEPS):
            budget = (enough + too_little) // 2 if too_little else enough // 2
            if budget < LEAST_BUDGET or too_little and enough - too_little < enough // 50:
                break
            record = self.run(model, strategy, workers, budget, knobs)
            tried.append(record)
            if record["verdict"] != "complete":
                too_little = budget
            elif (record["collections"] or 0) >= least:
                return record
            else:
                enough = budget
        return None


def describe(record):
    """A record in one line."""
    parts = [record["model"], record["strategy"], record["verdict"], f"{record['wall']:.2f} s"]
    if record["workers"] != "1":
        parts.insert(2, f"{record['workers']} workers")
    if record.get("collections") is not None:
        parts.append(f"{record['collections']} collections")
    if record["budget"]:
        parts.append(f"budget {record['budget'] / 1e6:.1f} MB")
    parts.append(f"{record['max_rss'] / 1e6:.1f} MB resident")
    if record.get("squeezed"):
        parts.append(f"squeezed by {record['squeezed']}")
    if record["verdict"] == "unknown":
        parts.append(record["reason"])
    return ", ".join(parts) + "".join(f"\n    WRONG: {mistake}" for mistake in record["mistakes"])


def worst_memory(records):
    """The run with the most resident memory, in relation to its limit where it has one."""
    def share(record):
        resident = max(record["max_rss"], record.get("peak_bytes") or 0)
        return resident / (common.resident_limit(record["budget"]) if record["budget"] else 1)

    worst = max(records, key=share)
    resident = max(worst["max_rss"], worst.get("peak_bytes") or 0)
    limit = f" of {common.resident_limit(worst['budget']) / 1e6:.0f}" if worst["budget"] else ""
    return f"{resident / 1e6:.0f}{limit} MB ({worst['model']})"


def summary(args, strategies, records):
    """The table, and everything that did not end well."""
    rows = []
    for strategy, workers in [(strategy, workers) for strategy in strategies for workers in args.workers]:
        mine = [record for record in records if (record["strategy"], record["workers"]) == (strategy, workers)]
        if not mine:
            continue
        finished = [record for record in mine if record["verdict"] == "complete"]
        wrong = [record for record in mine if record["mistakes"]]
        unfinished = [record for record in mine if record["verdict"] == "unknown"]
        right = [record for record in finished if not record["mistakes"]]
        collections = [record["collections"] for record in finished if record.get("collections") is not None]
        row = [strategy, workers, len(mine), len(finished), len(right), len(wrong), len(unfinished)]
        row += [f"{min(collections)}..{max(collections)}" if collections else "-"]
        if args.squeeze:
            row += [sum(record["squeezed"] == how for record in mine) for how in ("budget", "tables")]
        rows.append(row + [f"{sum(record['wall'] for record in mine):.0f}", worst_memory(mine)])
    header = ["strategy", "workers", "runs", "finished", "right", "wrong", "unfinished", "collections"]
    header += ["by budget", "by small tables"] if args.squeeze else []
    text = [common.markdown(header + ["seconds", "most resident"], rows)]
    lists = [
        ("Wrong", lambda r: r["mistakes"]),
        ("Unfinished", lambda r: r["verdict"] == "unknown"),
    ]
    if args.squeeze:
        lists.append(("Nothing forced enough collections", lambda r: r["verdict"] == "complete" and not r["squeezed"]))
    for title, choose in lists:
        chosen = [describe(record) for record in records if choose(record)]
        if chosen:
            text += ["", f"{title}:"] + [f"  {line}" for line in chosen]
    return "\n".join(text)


def main():
    args = arguments()
    strategies = common.strategy_list(args.strategies)
    models = common.load_models(args.models, args.expected, args.only, args.max_states, args.max_seconds)
    checker = Checker(args)
    check = checker.squeeze if args.squeeze else checker.plain
    # The longest first, so that several jobs end together.
    by_time = sorted(models, key=lambda model: model.sylvan1 or 0, reverse=True)
    kinds = [(strategy, workers) for strategy in strategies for workers in args.workers] * args.repeat
    work = [(model, *kind) for model in by_time for kind in kinds]
    progress = common.Progress(len(work))

    def perform(item):
        record = check(*item)
        if record["mistakes"] or not args.quiet:
            progress.step(describe(record))
        return record

    with ThreadPoolExecutor(max(1, args.jobs)) as pool:
        records = list(pool.map(perform, work))
    if args.out:
        Path(args.out).write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    print(f"{len(models)} models\n")
    print(summary(args, strategies, records))
    sys.exit(any(record["mistakes"] for record in records))


if __name__ == "__main__":
    main()
