#!/usr/bin/env python3
"""Checks `tremula reach` on every Petri net with known answers.

Nets of the contest (mcc) have four known values, those of the paper (pnml) have a known number of states. A complete
answer must have exactly these values, and one that gives up at a limit no more states than there are; anything else is
wrong, and makes the exit code 1.

Examples:
  scripts/nets.py
  scripts/nets.py --folder mcc --timeout 10 --jobs 2 --workers 1
  scripts/nets.py --only 'Kanban*,pnml/FMS-100'
  scripts/nets.py --launcher "mpirun -n 3 --oversubscribe --bind-to none" --workers 1 --mem 500M --timeout 5
"""

import argparse
import csv
import json
import re
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import common  # noqa: E402

FOLDERS = ("mcc", "pnml")
VALUES = ("states", "transitions", "max_token_in_place", "max_token_per_marking")


@dataclass(frozen=True)
class Net:
    """A file and the values that are known."""

    name: str
    path: Path
    expected: dict

    @property
    def folder(self):
        return self.name.split("/")[0]

    @property
    def family(self):
        """The name without the parameters of the instance."""
        stem = self.name.split("/")[1]
        return stem.split("-PT-")[0] if "-PT-" in stem else re.split(r"[-_.]?\d", stem)[0] or stem


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", metavar="DIR", default=common.MODELS, help="default: ../shared/models")
    parser.add_argument("--binary", metavar="PATH", default=common.BINARY, help="default: target/release/tremula")
    parser.add_argument("--folder", choices=[*FOLDERS, "all"], default="all", help="default all")
    parser.add_argument("--only", metavar="NAMES", type=common.comma_list, help="only these nets; NAME* is a prefix")
    parser.add_argument("--timeout", metavar="S", type=float, default=120, help="seconds for each net, default 120")
    parser.add_argument("--mem", metavar="SIZE", default="8G", help="budget of each run, default 8G")
    parser.add_argument("--workers", metavar="N", type=int, default=2, help="threads of each run, default 2")
    parser.add_argument("--strategy", metavar="NAME", default="auto", help="default auto")
    parser.add_argument("--order", metavar="NAME", default="auto", help="default auto")
    parser.add_argument("--stress", metavar="N", type=int, help="collect at every Nth created node")
    parser.add_argument("--launcher", metavar="COMMAND", default="", help="starts several processes, as mpirun does")
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="nets at a time")
    parser.add_argument("--most", metavar="N", type=int, help="only the N nets with the fewest known states")
    parser.add_argument("--out", metavar="FILE", help="all results as JSON")
    return parser.parse_args()


def file_of(directory, stem):
    """The file of a net, compressed or not; None if it is not there."""
    paths = (directory / f"{stem}.pnml", directory / f"{stem}.pnml.gz")
    return next((path for path in paths if path.is_file()), None)


def rows_of(path):
    """The rows of a table."""
    if not path.is_file():
        common.fail(f"no {path}")
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def contest_nets(models):
    """Nets with four values."""
    for row in rows_of(models / "mcc" / "expected.csv"):
        expected = {value: common.number(row[value], int) for value in VALUES}
        yield f"mcc/{row['instance']}", {value: known for value, known in expected.items() if known is not None}


def paper_nets(models):
    """Nets with a number of states."""
    for row in rows_of(models / "expected.csv"):
        for file in row["files"].split():
            if row["states_exact"] == "yes" and re.match(r"pnml/.*\.pnml(\.gz)?$", file):
                yield re.sub(r"\.pnml(\.gz)?$", "", file), {"states": int(row["states"])}


def load_nets(args):
    """All nets that are asked for and there, by name."""
    models = Path(args.models)
    sources = {"mcc": contest_nets, "pnml": paper_nets}
    chosen = FOLDERS if args.folder == "all" else (args.folder,)
    nets, missing, seen = [], [], set()
    for name, expected in (item for folder in chosen for item in sources[folder](models)):
        path = file_of(models, name)
        if path is None:
            missing.append(name)
        elif name not in seen:
            seen.add(name)
            nets.append(Net(name, path, expected))
    nets = [net for net in nets if args.only is None or any(common.matches(net, name) for name in args.only)]
    if missing:
        print(f"not there: {', '.join(missing)}", file=sys.stderr)
    unknown = [path.name for folder in chosen for path in sorted((models / folder).glob("*.pnml*"))
               if f"{folder}/{re.sub(r'[.]pnml([.]gz)?$', '', path.name)}" not in seen]
    if unknown:
        print(f"without a known number of states: {', '.join(unknown)}", file=sys.stderr)
    if args.most:
        nets = sorted(nets, key=lambda net: net.expected["states"])[:args.most]
    if not nets:
        common.fail(f"no nets in {models}")
    return sorted(nets, key=lambda net: net.name)


def mistakes(net, ended, answer):
    """What is wrong with an answer."""
    if answer is None:
        end = "killed: it did not react to its time limit" if ended.killed else f"exit code {ended.code}"
        return [": ".join([end, *ended.stderr.strip().splitlines()[-1:]])]
    found = []
    complete = answer["verdict"] == "complete"
    if ended.code != (0 if complete else 3):
        found.append(f"exit code {ended.code} with verdict {answer['verdict']}")
    if not complete and "cut off while exploring" in (answer["reason"] or ""):
        found.append("it hangs: " + answer["reason"])
    for value, expected in net.expected.items():
        given = answer.get(value)
        # Before the end, the states are a lower bound, and what else is told is known for certain.
        bound = value == "states" and not complete
        right = given is None if bound or not complete else False
        if given is not None:
            right = int(given) <= expected if bound else int(given) == expected
        if not right:
            found.append(f"{value}: {'at least ' if bound else ''}{given}, not {expected}")
    return found


def check(args, binary, net):
    """One run and its record."""
    command = [*shlex.split(args.launcher), binary, "reach", net.path, "--json", "--quiet"]
    command += ["--timeout", args.timeout, "--mem", args.mem]
    command += ["--workers", args.workers, "--strategy", args.strategy, "--order", args.order]
    command += ["--stress", args.stress] if args.stress else []
    ended = common.run(command, args.timeout + common.GRACE)
    try:
        answer = json.loads(ended.stdout)
    except ValueError:
        answer = None
    wrong = mistakes(net, ended, answer)
    over = common.over_budget({"max_rss": ended.max_rss}, common.size_bytes(args.mem))
    answer = answer or {}
    verdict = "wrong" if wrong or over else "right" if answer["verdict"] == "complete" else "UNKNOWN"
    return {
        "net": net.name,
        "family": net.family,
        "folder": net.folder,
        "verdict": verdict,
        "wall": round(ended.wall, 6),
        "max_rss": ended.max_rss,
        "mistakes": wrong + ([over] if over else []),
        "answer": answer,
    }


def describe(record):
    """A record in one line."""
    answer = record["answer"]
    line = f"{record['wall']:8.3f} s  {record['verdict']:7}  {record['net']:48}"
    if record["verdict"] == "UNKNOWN":
        line += f"  {answer['reason']}"
    elif answer:
        line += f"  {answer['strategy']}, {answer['order']}, {answer['nodes']} nodes"
    return line + "".join(f"\n    WRONG: {mistake}" for mistake in record["mistakes"])


def summary(records):
    """The table, and the families that are not complete."""
    rows = []
    for folder in [folder for folder in FOLDERS if any(record["folder"] == folder for record in records)]:
        mine = [record for record in records if record["folder"] == folder]
        counts = [sum(record["verdict"] == verdict for record in mine) for verdict in ("right", "UNKNOWN", "wrong")]
        share = f"{100 * counts[0] / len(mine):.1f}%"
        most = max(record["max_rss"] for record in mine) / 1e6
        rows.append([folder, len(mine), *counts, share, f"{sum(record['wall'] for record in mine):.1f}", f"{most:.0f}"])
    text = [common.markdown(["folder", "nets", "right", "UNKNOWN", "wrong", "complete", "seconds", "most MB"], rows)]
    for folder in FOLDERS:
        families = {}
        for record in records:
            if record["folder"] == folder and record["verdict"] == "UNKNOWN":
                families.setdefault(record["family"], []).append(record["net"].split("/")[1])
        if families:
            text += ["", f"Unfinished in {folder}:"]
            text += [f"  {family}: {', '.join(names)}" for family, names in sorted(families.items())]
    wrong = [describe(record) for record in records if record["verdict"] == "wrong"]
    return "\n".join(text + (["", "Wrong:", *wrong] if wrong else []))


def main():
    args = arguments()
    binary = common.need_binary(args.binary)
    nets = load_nets(args)

    def perform(net):
        record = check(args, binary, net)
        print(describe(record), flush=True)
        return record

    with ThreadPoolExecutor(max(1, args.jobs)) as pool:
        records = list(pool.map(perform, nets))
    if args.out:
        Path(args.out).write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    print("\n" + summary(records))
    sys.exit(any(record["verdict"] == "wrong" for record in records))


if __name__ == "__main__":
    main()
