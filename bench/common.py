"""What the measuring and checking scripts share: the list of models, running a program, and small statistics."""

import argparse
import csv
import gzip
import json
import math
import mmap
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
MODELS = REPOSITORY.parent / "shared" / "models"
BINARY = REPOSITORY / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "tremula"
FAMILIES = ("beem", "petri-bdd", "promela", "sylvan")
STRATEGIES = ("auto", "saturation", "bfs", "bfs-full", "par", "par-full", "chaining", "chaining-full")
# Seconds that a program gets to end by itself at its time limit before it is killed.
GRACE = 20
# What a process may have resident beyond its budget: 2 % and 30 MB.
SLACK_SHARE, SLACK_BYTES = 1.02, 30_000_000


def fail(message):
    """Ends the script because of bad usage."""
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


@dataclass(frozen=True)
class Model:
    """A model file and what is known about it; None where something is not known."""

    name: str
    path: Path
    states: int
    nodes: int | None
    levels: int | None
    sylvan1: float | None


def number(text, kind):
    """A cell of the table of expected values."""
    return None if text in ("", "-", None) else kind(text)


def load_models(directory, expected=None, only=None, max_states=None, max_seconds=None, min_seconds=None, quiet=False):
    """The .bdd files below `directory` whose exact number of states is known, in order of name.

    Nodes are known only where the file has the variable order of the table. The bounds on seconds are about the time
    of Sylvan in the table; a model without one is so small that nobody measured it, and counts as zero.
    """
    directory = Path(directory)
    expected = Path(expected) if expected else directory / "expected.csv"
    if not expected.is_file():
        fail(f"no {expected}")
    with open(expected, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["states_exact"] == "yes"]
    models, missing = [], 0
    for row in rows:
        for file in row["files"].split():
            stem = re.sub(r"\.bdd(\.gz)?$", "", file)
            family = file.split("/")[0]
            if stem == file or family not in FAMILIES:
                continue
            # Converted files may have lost or gained the compression.
            path = next((p for p in (directory / f"{stem}.bdd", directory / f"{stem}.bdd.gz") if p.is_file()), None)
            if path is None:
                missing += 1
                continue
            model = Model(
                name=stem,
                path=path,
                states=int(row["states"]),
                nodes=None if family == "sylvan" else number(row["bdd_nodes_canonical"], int),
                levels=number(row["bfs_levels"], int),
                sylvan1=number(row["Sylvan1"], float),
            )
            models.append(model)
    if missing and not quiet:
        print(f"{missing} files named in {expected.name} are not in {directory}", file=sys.stderr)
    models = [
        model
        for model in models
        if (only is None or any(matches(model, pattern) for pattern in only))
        and (max_states is None or model.states <= max_states)
        and (max_seconds is None or (model.sylvan1 or 0.0) <= max_seconds)
        and (min_seconds is None or (model.sylvan1 or 0.0) >= min_seconds)
    ]
    if not models:
        fail(f"no models in {directory}")
    return sorted(models, key=lambda model: model.name)


def matches(model, pattern):
    """Is the model meant by `family/name`, `name`, or a part of the name that ends in `*`?"""
    if pattern.endswith("*"):
        return model.name.startswith(pattern[:-1]) or model.name.split("/")[1].startswith(pattern[:-1])
    return pattern in (model.name, model.name.split("/")[1])


def comma_list(text):
    """Names separated by commas."""
    return [item for item in text.split(",") if item]


def strategy_list(text):
    """Strategies separated by commas, or all."""
    names = list(STRATEGIES) if text == "all" else comma_list(text)
    unknown = [name for name in names if name not in STRATEGIES]
    if unknown:
        fail(f"no strategy {', '.join(unknown)}: expected all or {', '.join(STRATEGIES)}")
    return names


def size_bytes(text):
    """A size as `tremula reach --mem` reads it, without percentages."""
    match = re.fullmatch(r"([0-9.]+)\s*([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    if not match:
        fail(f"no size: {text}")
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))


def resident_limit(budget):
    """The most bytes that may be resident with a budget."""
    return budget * SLACK_SHARE + SLACK_BYTES


def need_binary(path):
    """The program, or the end."""
    path = Path(path)
    if not os.access(path, os.X_OK):
        fail(f"no program {path}: build it with cargo build --release, or name it with --binary")
    return path.resolve()


@dataclass
class Run:
    """A program that has ended."""

    stdout: str
    stderr: str
    code: int
    wall: float
    # Bytes, by the kernel's account. It begins with what this script had resident when it started the program.
    max_rss: int
    killed: bool


def run(command, limit):
    """Runs a program, kills it after `limit` seconds, and asks the kernel what it has used."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        lock, state = threading.Lock(), {"ended": False, "killed": False}

        def kill():
            with lock:
                if not state["ended"]:
                    state["killed"] = True
                    os.kill(process.pid, signal.SIGKILL)

        timer = threading.Timer(limit, kill)
        timer.daemon = True
        timer.start()
        try:
            # The process stays a zombie until it is reaped below, so its number cannot be somebody else's.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        except BaseException:
            kill()
            raise
        finally:
            wall = time.monotonic() - started
            with lock:
                state["ended"] = True
            timer.cancel()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Run(
            stdout=out.read().decode(errors="replace"),
            stderr=err.read().decode(errors="replace"),
            code=process.returncode,
            wall=wall,
            max_rss=usage.ru_maxrss * 1024,
            killed=state["killed"],
        )


def warm(size):
    """Touches so much memory on all processors, and gives it back.

    The kernel of a virtual machine gives free pages back to its host after a second or two, and getting them again can
    take longer than a short run. So whoever runs next would be measured by how long the one before has taken.
    """
    processors = len(os.sched_getaffinity(0))
    share = -(-size // processors // mmap.PAGESIZE) * mmap.PAGESIZE
    children = []
    for _ in range(processors):
        child = os.fork()
        if child == 0:
            try:
                with mmap.mmap(-1, share, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
                    memory.madvise(mmap.MADV_HUGEPAGE)
                    memory[:: mmap.PAGESIZE] = bytes(share // mmap.PAGESIZE)
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    for child in children:
        _, status = os.waitpid(child, 0)
        if status != 0:
            fail(f"there is no room to touch {size} bytes")


def reach(binary, path, strategy, timeout, *more, engine="bdd", workers=1, launcher=()):
    """Runs `tremula reach`, by a launcher if there is one, and returns a flat record of everything worth keeping."""
    command = [*launcher, binary, "reach", path, "--strategy", strategy, "--timeout", timeout, "--json", "--stats", "--quiet"]
    # The engine is named because with `auto` a device would race, where there is one.
    command += ["--engine", engine, "--workers", workers]
    ended = run([*command, *more], timeout + GRACE)
    record = {"code": ended.code, "wall": round(ended.wall, 6), "max_rss": ended.max_rss}
    try:
        answer = json.loads(ended.stdout)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or "verdict" not in answer:
        end = "killed: it did not react to its time limit" if ended.killed else f"exit code {ended.code}"
        last = ended.stderr.strip().splitlines()[-1:]
        return record | {"verdict": "none", "reason": ": ".join([end, *last])}
    record |= {
        "verdict": answer["verdict"],
        "reason": answer["reason"],
        "states": answer["states"],
        "nodes": answer["nodes"],
        "ranks": answer["ranks"],
        "levels": answer["levels"],
        "did": answer["strategy"],
        "load": answer["seconds"]["load"],
        "reach": answer["seconds"]["reach"],
        "peak_bytes": answer["peak_bytes"],
    }
    collections = re.search(r"^Garbage\s+([\d,' ]+) collections", ended.stderr, re.MULTILINE)
    record["collections"] = int(re.sub(r"\D", "", collections[1])) if collections else None
    table = re.search(r"^Table\s.*nodes in use", ended.stderr, re.MULTILINE)
    record["table"] = table[0].split(None, 1)[1] if table else None
    return record


def mistakes(model, strategy, record):
    """What is wrong with a record of `reach`; nothing if the answer is right, or honestly unknown."""
    if record["verdict"] == "unknown":
        found = [] if record["code"] == 3 else [f"exit code {record['code']} with verdict unknown"]
        if "cut off while exploring" in record["reason"]:
            found.append("it hangs: " + record["reason"])
        if record["states"] is not None and int(record["states"]) > model.states:
            found.append(f"at least {record['states']} states, of {model.states}")
        return found
    if record["verdict"] != "complete":
        return [record["reason"] or f"verdict {record['verdict']}"]
    found = [] if record["code"] == 0 else [f"exit code {record['code']} with verdict complete"]
    if record["states"] != str(model.states):
        found.append(f"{record['states']} states, not {model.states}")
    # Ranks with windows do not know the nodes of all states together.
    is_told = record["nodes"] is not None or record["ranks"] == 1
    if model.nodes is not None and is_told and record["nodes"] != model.nodes:
        found.append(f"{record['nodes']} nodes, not {model.nodes}")
    by_level = strategy.split("-")[0] in ("bfs", "par")
    if model.levels is not None and record["levels"] != model.levels and (by_level or record["levels"] is not None):
        found.append(f"{record['levels']} levels, not {model.levels}")
    return found


def over_budget(record, budget):
    """Why a record has too much resident memory, or None."""
    resident = max(record["max_rss"], record.get("peak_bytes") or 0)
    if resident <= resident_limit(budget):
        return None
    return f"{resident / 1e6:.1f} MB resident, {resident_limit(budget) / 1e6:.1f} MB allowed"


def convert(binary, models, directory):
    """Writes all models in the layout that peers read, and returns them at their new places."""
    converted = []
    for model in models:
        path = Path(directory) / f"{model.name}.bdd"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file():
            ended = run([binary, "convert", model.path, path, "--layout", "sylvan"], 600)
            if ended.code != 0:
                fail(f"{model.name} is not converted: {ended.stderr.strip()}")
        converted.append(Model(**(vars(model) | {"path": path})))
    return converted


def unpacked(models, directory):
    """The same models without compression, so that loading does not blur what is measured."""
    found = []
    for model in models:
        path = model.path
        if path.suffix == ".gz":
            path = Path(directory) / f"{model.name}.bdd"
            path.parent.mkdir(parents=True, exist_ok=True)
            with gzip.open(model.path) as source, open(path, "wb") as target:
                shutil.copyfileobj(source, target)
        found.append(Model(**(vars(model) | {"path": path})))
    return found


def median(values):
    """The median."""
    return statistics.median(values)


def spread(values):
    """Shortest and longest."""
    return f"{min(values):.3f}..{max(values):.3f}"


def geometric_mean(values):
    """The geometric mean; of nothing, it is not a number."""
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def markdown(header, rows):
    """A table; the first column is text, the others are numbers."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(header, *rows)]

    def line(cells):
        padded = [cells[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:])]
        return "| " + " | ".join(padded) + " |"

    rule = "|" + "-" * (widths[0] + 2) + "".join("|" + "-" * (width + 1) + ":" for width in widths[1:]) + "|"
    return "\n".join([line(header), rule, *map(line, rows)])


class Journal:
    """A file of JSON lines that is complete after every line."""

    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8") if path else None
        self.lock = threading.Lock()
        self.records = []

    def add(self, record):
        """Keeps a record, here and in the file."""
        with self.lock:
            self.records.append(record)
            if self.file:
                self.file.write(json.dumps(record) + "\n")
                self.file.flush()

    @staticmethod
    def read(path):
        """The records of a file; a last line that was cut off is left out."""
        records = []
        with open(path, encoding="utf-8") as file:
            for line in file:
                try:
                    records.append(json.loads(line))
                except ValueError:
                    print(f"{path}: a line is not complete and is left out", file=sys.stderr)
        return records


class Progress:
    """One line per thing done, on standard error."""

    def __init__(self, total):
        self.total, self.done, self.lock = total, 0, threading.Lock()

    def step(self, text):
        """Something is done."""
        with self.lock:
            self.done += 1
            print(f"[{self.done}/{self.total}] {text}", file=sys.stderr, flush=True)


def corpus_parser(description):
    """A parser with the options of every script that runs over the corpus."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", metavar="DIR", default=MODELS, help="default: ../shared/models")
    parser.add_argument("--expected", metavar="CSV", help="default: expected.csv in the directory of models")
    parser.add_argument("--binary", metavar="PATH", default=BINARY, help="default: target/release/tremula")
    parser.add_argument("--only", metavar="NAMES", type=comma_list, help="only these models; NAME* is a prefix")
    return parser
