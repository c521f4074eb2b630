#!/usr/bin/env python3
"""Resident memory against the budget: peak resident memory never above --mem plus 2 % plus 30 MB.

Runs every model under several budgets, for a limited time each, and asks the kernel for the peak. A run that gives up
at a limit is fine here; a wrong answer or too much memory makes the exit code 1.

Example:
  bench/memory.py --timeout 20 --budgets 64M,256M,2G
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import common


def arguments():
    parser = common.corpus_parser(__doc__)
    parser.add_argument("--max-seconds", metavar="S", type=float, help="only models that took Sylvan at most so long")
    parser.add_argument("--budgets", metavar="SIZES", type=common.comma_list, default=["64M", "256M", "2G"])
    parser.add_argument("--strategies", metavar="NAMES", default="par", help="all, or a list with commas; default par")
    parser.add_argument("--timeout", metavar="S", type=float, default=20, help="seconds for each run, default 20")
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="runs at a time")
    parser.add_argument("--out", metavar="FILE", help="results as JSON lines, added at the end")
    parser.add_argument("--verbose", action="store_true", help="a line for each run")
    return parser.parse_args()


def main():
    args = arguments()
    binary = common.need_binary(args.binary)
    strategies = common.strategy_list(args.strategies)
    models = common.load_models(args.models, args.expected, args.only, max_seconds=args.max_seconds)
    journal = common.Journal(args.out)
    work = [(size, model, name) for size in args.budgets for model in models for name in strategies]
    progress = common.Progress(len(work))

    def perform(item):
        size, model, strategy = item
        budget = common.size_bytes(size)
        record = {"budget": size, "model": model.name, "strategy": strategy}
        record |= common.reach(binary, model.path, strategy, args.timeout, "--mem", size)
        record["resident"] = max(record["max_rss"], record.get("peak_bytes") or 0)
        record["share"] = record["resident"] / common.resident_limit(budget)
        over = common.over_budget(record, budget)
        record["mistakes"] = common.mistakes(model, strategy, record) + ([over] if over else [])
        journal.add(record)
        if args.verbose or record["mistakes"]:
            told = f"{size} {model.name} {strategy}: {record['verdict']}, {record['resident'] / 1e6:.1f} MB"
            progress.step("; ".join([told, *record["mistakes"]]))
        return record

    with ThreadPoolExecutor(max(1, args.jobs)) as pool:
        records = list(pool.map(perform, work))
    rows = []
    for size in args.budgets:
        mine = [record for record in records if record["budget"] == size]
        worst = max(mine, key=lambda record: record["share"])
        limit = common.resident_limit(common.size_bytes(size))
        complete = sum(record["verdict"] == "complete" for record in mine)
        unknown = sum(record["verdict"] == "unknown" for record in mine)
        over = sum(record["share"] > 1 for record in mine)
        share = f"{100 * worst['share']:.1f} %"
        where = f"{worst['model']} {worst['strategy']}"
        rows.append([size, len(mine), complete, unknown, f"{worst['resident'] / 1e6:.1f}", f"{limit / 1e6:.1f}"]
                    + [share, where, over])
    header = ["budget", "runs", "complete", "unknown", "worst MB", "limit MB", "share", "worst on", "violations"]
    print(common.markdown(header, rows))
    wrong = [record for record in records if record["mistakes"]]
    for record in wrong:
        print(f"WRONG: {record['budget']} {record['model']} {record['strategy']}: {'; '.join(record['mistakes'])}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
