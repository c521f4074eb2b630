#!/usr/bin/env python3
"""The Petri nets of Table 1 of the SPIN'17 paper: its times, the best published since, and Tremula's.

Columns, all in seconds: T1x16, T32x16 and Sylvan-16 are the paper's (1 and 32 machines of 16 cores, and Sylvan on 16
cores); `published` is the best of any tool on one machine; `ours` is the median wall time of the whole process
`tremula reach FILE --workers 2 --json`, parsing and the choice of an order included. Every count is checked; a wrong one
makes the exit code 1. A star marks rows where we are not the fastest.

Examples:
  bench/table1.py
  bench/table1.py --reps 9 --markdown
  bench/table1.py --only 'Kanban-50,SwimmingPool*' --order sloan
"""

import argparse
import csv
import json
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import common

# The rows, in the order of the paper, and the files that are not called as the row is.
ROWS = {
    "2D8_gradient_5x5_150": "pnml/2D8_gradient_5x5_150",
    "ARMCacheCoherence": "mcc/ARMCacheCoherence-PT-none",
    "BridgeAndVehicles-V20-P20-N20": "pnml/BridgeAndVehicles-V20-P20-N20-unfolded",
    "cs_repetitions-4": "pnml/cs_repetitions-4-unfolded",
    "erk-000100": "pnml/erk-000100",
    "FMS-100": "pnml/FMS-100",
    "Kanban-50": "pnml/Kanban-50",
    "Philosophers-100": "pnml/Philosophers-100",
    "Philosophers-200": "pnml/Philosophers-200",
    "sg-2-1-2": "pnml/sg-2-1-2",
    "soli1": "pnml/soli1",
    "SwimmingPool-5": "pnml/SwimmingPool-5",
    "SwimmingPool-6": "pnml/SwimmingPool-6",
    "SwimmingPool-7": "pnml/SwimmingPool-7",
    "TokenRing-20": "mcc/TokenRing-PT-020",
}

# Seconds and tool: the best of table 1.1 in ../shared/docs/algorithms.md, on one machine. MCC'20 are wall times of the
# contest of 2020 on 4 cores; TACAS'19 is the artifact of the paper on parallel saturation, on 1 core.
PUBLISHED = {
    "erk-000100": (0.28, "GreatSPN, MCC'20"),
    "FMS-100": (2.0, "GreatSPN, MCC'20"),
    "Kanban-50": (0.53, "GreatSPN, MCC'20"),
    "Philosophers-200": (0.029, "MEDDLY, TACAS'19"),
    "SwimmingPool-7": (4.0, "SMART, MCC'20"),
    "TokenRing-20": (14.8, "GreatSPN, MCC'20"),
}

# Times of the paper for nets that are not in expected.csv; from the same table 1.1.
PAPER = {"TokenRing-20": {"M32T16": 614.0, "Sylvan16": 2811.0}}

PAPER_COLUMNS = ("M1T16", "M32T16", "Sylvan16")


@dataclass(frozen=True)
class Row:
    """A net, its states, and the times of others."""

    name: str
    path: Path
    states: int
    paper: dict


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", metavar="DIR", default=common.MODELS, help="default: ../shared/models")
    parser.add_argument("--binary", metavar="PATH", default=common.BINARY, help="default: target/release/tremula")
    parser.add_argument("--only", metavar="NAMES", type=common.comma_list, help="only these rows; NAME* is a prefix")
    parser.add_argument("--reps", metavar="N", type=int, default=5, help="runs of each net, default 5")
    parser.add_argument("--workers", metavar="N", type=int, default=2, help="threads, default 2")
    parser.add_argument("--timeout", metavar="S", type=float, default=120, help="seconds for each run, default 120")
    parser.add_argument("--mem", metavar="SIZE", help="budget of each run")
    parser.add_argument("--order", metavar="NAME", default="auto", help="default auto")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    parser.add_argument("--out", metavar="FILE", help="all runs as JSON lines, added at the end")
    return parser.parse_args()


def known(models):
    """What the tables say: the states of each file, and the times of the paper."""
    found = {}
    with open(models / "mcc" / "expected.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[f"mcc/{row['instance']}"] = (int(row["states"]), {})
    with open(models / "expected.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["states_exact"] == "yes":
                times = {column: common.number(row[column], float) for column in PAPER_COLUMNS}
                found[f"pnml/{row['model']}"] = (int(row["states"]), times)
    return found


def load_rows(args):
    """The rows that are asked for."""
    models = Path(args.models)
    if not (models / "expected.csv").is_file():
        common.fail(f"no {models / 'expected.csv'}")
    answers, rows = known(models), []
    for name, file in ROWS.items():
        if args.only and not any(matches(name, pattern) for pattern in args.only):
            continue
        path = next((p for p in (models / f"{file}.pnml", models / f"{file}.pnml.gz") if p.is_file()), None)
        if path is None:
            print(f"{file} is not there", file=sys.stderr)
            continue
        states, times = answers[file]
        rows.append(Row(name, path, states, times | PAPER.get(name, {})))
    if not rows:
        common.fail("no rows")
    return rows


def matches(name, pattern):
    """Is the row meant by its name, or by a part of it that ends in `*`?"""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def measure(args, row):
    """One run: its time and the answer."""
    command = [args.binary, "reach", row.path, "--workers", args.workers, "--json", "--timeout", args.timeout]
    command += ["--order", args.order] + (["--mem", args.mem] if args.mem else [])
    ended = common.run(command, args.timeout + common.GRACE)
    record = {"net": row.name, "wall": round(ended.wall, 6), "max_rss": ended.max_rss}
    try:
        answer = json.loads(ended.stdout)
    except ValueError:
        return record | {"wrong": True, "why": f"exit code {ended.code}: {ended.stderr.strip()[-200:]}"}
    record |= {"order": answer["order"], "seconds": answer["seconds"], "nodes": answer["nodes"]}
    if answer["verdict"] != "complete":
        return record | {"wrong": False, "why": answer["reason"]}
    if answer["states"] != str(row.states):
        return record | {"wrong": True, "why": f"{answer['states']} states, not {row.states}"}
    return record | {"wrong": False, "why": None}


def seconds(value):
    """A time with three digits or so."""
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def line(row, records):
    """The cells of a row, and whether we are the fastest."""
    times = [record["wall"] for record in records if record["why"] is None]
    published = PUBLISHED.get(row.name, (None, None))[0]
    others = [row.paper.get(column) for column in PAPER_COLUMNS]
    complete = len(times) == len(records)
    ours = common.median(times) if complete else None
    best = min((time for time in [*others, published] if time is not None), default=None)
    fastest = complete and (best is None or ours < best)
    gain = f"{best / ours:.0f}x" if complete and best and best >= 10 * ours else ""
    gain = gain or (f"{best / ours:.1f}x" if complete and best else "-")
    name = row.name if fastest else f"{row.name} *"
    cells = [name, *map(seconds, others), seconds(published), seconds(ours) if complete else "unknown"]
    return cells + [common.spread(times) if complete else "-", gain], fastest


def plain(header, rows):
    """The table without bars."""
    rows = [header, *rows]
    widths = [max(len(row[at]) for row in rows) for at in range(len(header))]
    return "\n".join("  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
                     for row in rows)


def main():
    args = arguments()
    args.binary = common.need_binary(args.binary)
    rows = load_rows(args)
    journal, progress = common.Journal(args.out), common.Progress(len(rows))
    cells, fastest, failures = [], 0, []
    for row in rows:
        records = []
        for _ in range(args.reps):
            records.append(measure(args, row))
            journal.add(records[-1])
            if records[-1]["why"]:
                failures.append(records[-1])
                break
        cell, is_fastest = line(row, records)
        cells.append(cell)
        fastest += is_fastest
        progress.step(f"{row.name}: {cell[5]}, {records[-1].get('order')}")
    header = ["net", "T1x16", "T32x16", "Sylvan-16", "published", "ours", "ours, range", "gain"]
    print((common.markdown if args.markdown else plain)(header, cells))
    print(f"\nSeconds; ours: medians of {args.reps}, {args.workers} workers. "
          f"Fastest in {fastest} of {len(rows)} rows.")
    named = [f"{name} {tool}" for name, (_, tool) in PUBLISHED.items() if name in {row.name for row in rows}]
    if named:
        print(textwrap.fill(f"Published: {'; '.join(named)}.", 100))
    for record in failures:
        print(f"{'WRONG' if record['wrong'] else 'Unknown'}: {record['net']}: {record['why']}")
    sys.exit(any(record["wrong"] for record in failures))


if __name__ == "__main__":
    main()
