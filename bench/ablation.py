#!/usr/bin/env python3
"""What each technique is worth: every variant alternates with the default build.

A variant is the default program with one technique switched off by a cargo feature, or with one knob turned by the
hidden option `tremula reach --tune KEY=VALUE`. The table shows the time without the technique divided by the time with
it (medians of exploration only), so that more than 1 means that the technique pays; and the spread of the ratios of the
single pairs of runs.

Examples:
  bench/ablation.py --reps 5
  bench/ablation.py --build-only binaries/ --static
  bench/ablation.py --binaries binaries/ --models beem/at.5,petri-bdd/Kanban-10 --out ablation.jsonl
  bench/ablation.py --report ablation.jsonl
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import common

DEFAULT = "default"
# Cargo features that switch one technique off, with their crates.
FEATURES = [
    "tremula-table/no-prefetch",
    "tremula-table/no-huge-pages",
    "tremula-table/no-index-tags",
    "tremula-table/split-cache",
    "tremula-table/wide-cache",
    "tremula-table/scattered-cache",
    "tremula-table/scattered-index",
    "tremula-table/linear-probing",
    "tremula-table/quadratic-probing",
    "tremula-table/full-size-start",
    "tremula-table/clear-cache-on-collect",
    "tremula-diagrams/or-through-ite",
    "tremula-diagrams/cache-before-terminals",
    "tremula-diagrams/keep-identities",
    "tremula-diagrams/always-make",
]
# Knobs of the default build.
KNOBS = [
    "lanes-always=1",
    "lanes=1",
    "lanes=4",
    "lanes=16",
    "cache-per-node=0.25",
    "cache-per-node=4",
    "eager-nodes=0",
    "eager-cache=0",
    "live-share=0.5",
    "node-patience=1000000",
    "cache-patience=1000000",
]
MODEL_NAMES = ["beem/at.4", "beem/collision.3", "beem/iprotocol.3", "beem/lifts.4", "petri-bdd/Kanban-10",
               "sylvan/schedule_world.2"]
TARGET = "x86_64-unknown-linux-gnu"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", metavar="NAMES", type=common.comma_list, default=MODEL_NAMES,
                        help=f"with commas; default {','.join(MODEL_NAMES)}")
    parser.add_argument("--model-dir", metavar="DIR", default=common.MODELS, help="default: ../shared/models")
    parser.add_argument("--expected", metavar="CSV", help="default: expected.csv in the directory of models")
    parser.add_argument("--variants", metavar="NAMES", type=common.comma_list,
                        help="features without their crate, and KEY=VALUE; default all")
    parser.add_argument("--strategy", metavar="NAME", default="par")
    parser.add_argument("--workers", metavar="N", type=int, default=1, help="threads, default 1")
    parser.add_argument("--reps", metavar="N", type=int, default=5)
    parser.add_argument("--timeout", metavar="S", type=float, default=120)
    parser.add_argument("--mem", metavar="SIZE", default="2G", help="budget; default 2G")
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="models at a time")
    parser.add_argument("--binaries", metavar="DIR", help="programs that --build-only has left")
    parser.add_argument("--build-only", metavar="DIR", help="build all programs into DIR, and stop")
    parser.add_argument("--target-dir", metavar="DIR", default=os.environ.get("CARGO_TARGET_DIR"),
                        help="where cargo works; default: target/ablation")
    parser.add_argument("--cargo-jobs", metavar="N", type=int, help="passed on to cargo as -j")
    parser.add_argument("--static", action="store_true", help="for other machines: static, x86-64-v3")
    parser.add_argument("--out", metavar="FILE", help="results as JSON lines, added at the end")
    parser.add_argument("--resume", action="store_true", help="leave out the runs that --out has already")
    parser.add_argument("--report", metavar="FILE", action="append", help="print the tables from such files, and stop")
    return parser.parse_args()


def short(feature):
    """A feature without its crate."""
    return feature.split("/")[-1]


def fingerprint():
    """Of all sources: programs that are compared come from the same ones."""
    files = [common.REPOSITORY / "Cargo.lock", common.REPOSITORY / "Cargo.toml"]
    files += sorted(p for p in (common.REPOSITORY / "crates").rglob("*") if p.suffix in (".rs", ".toml"))
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name} {file.stat().st_size}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def build(args, features, directory):
    """Builds the default and one program per feature; the target directory is shared, the programs are copied."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    target = Path(args.target_dir or common.REPOSITORY / "target" / "ablation").resolve()
    environment = os.environ | {"CARGO_TARGET_DIR": str(target)}
    place = target / "release"
    command = ["cargo", "build", "--release", "--quiet", "-p", "tremula"]
    command += ["-j", str(args.cargo_jobs)] if args.cargo_jobs else []
    if args.static:
        environment["RUSTFLAGS"] = "-C target-feature=+crt-static -C target-cpu=x86-64-v3"
        command += ["--target", TARGET]
        place = target / TARGET / "release"
    sources = fingerprint()
    for feature in [None, *features]:
        name = short(feature) if feature else DEFAULT
        print(f"building {name}", file=sys.stderr, flush=True)
        # Naming the crate too makes its features reachable, whether or not the program depends on it directly.
        more = ["-p", feature.split("/")[0], "--features", feature] if feature else []
        subprocess.run([*command, *more], cwd=common.REPOSITORY, env=environment, check=True)
        if fingerprint() != sources:
            common.fail("the sources have changed meanwhile: start again, best in a checkout of its own")
        # Not the line tables: the programs are to travel.
        shutil.copy(place / "tremula", directory / name)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-debug", directory / name], check=True)
    return directory


def run_variant(args, binaries, model, variant):
    """One run."""
    knob = ["--tune", variant] if "=" in variant else []
    binary = binaries / (DEFAULT if knob else variant)
    more = ["--mem", args.mem, *knob]
    answer = common.reach(binary, model.path, args.strategy, args.timeout, *more, workers=args.workers)
    record = {key: answer.get(key) for key in ("wall", "max_rss", "collections")}
    wrong = common.mistakes(model, args.strategy, answer)
    if wrong:
        return record | {"seconds": None, "why": "WRONG: " + "; ".join(wrong)}
    if answer["verdict"] != "complete":
        return record | {"seconds": None, "why": answer["reason"]}
    return record | {"seconds": answer["reach"]}


def measure(args, binaries, model, variants, done, journal, progress):
    """Alternates the default with each variant on a model; one that fails has no second try."""
    failed = {key[2] for key, record in done.items() if key[0] == model.name and record["seconds"] is None}
    for rep in range(args.reps):
        for variant in variants:
            # The default of each pair runs right beside the variant, now before, now after it.
            pair = [DEFAULT, variant] if rep % 2 == 0 else [variant, DEFAULT]
            if variant in failed or DEFAULT in failed:
                continue
            for runner in pair:
                if (model.name, variant, runner, rep) in done:
                    continue
                result = run_variant(args, binaries, model, runner)
                journal.add({"model": model.name, "variant": variant, "runner": runner, "rep": rep} | result)
                if result["seconds"] is None:
                    failed.add(runner)
        progress.step(f"{model.name}, round {rep + 1}")


def ratios(records, variant, model):
    """Time without / with: of the medians, and of each pair; None if there is no comparison."""
    mine = [record for record in records if record["variant"] == variant and record["model"] == model]
    if any(record["seconds"] is None for record in mine):
        return None
    seconds = {side: {r["rep"]: r["seconds"] for r in mine if (r["runner"] == DEFAULT) == side} for side in (True, False)}
    pairs = [seconds[False][rep] / seconds[True][rep] for rep in seconds[True] if rep in seconds[False]]
    if not pairs:
        return None
    return common.median(seconds[False].values()) / common.median(seconds[True].values()), min(pairs), max(pairs)


def report(records):
    """The tables; true if nothing was wrong."""
    variants = list(dict.fromkeys(record["variant"] for record in records))
    models = list(dict.fromkeys(record["model"] for record in records))
    by_model, overall = [], []
    for variant in variants:
        found = {model: ratios(records, variant, model) for model in models}
        cells = [f"{r[0]:.2f} ({r[1]:.2f}..{r[2]:.2f})" if r else "-" for r in found.values()]
        by_model.append([variant, *cells])
        known = [r for r in found.values() if r]
        if known:
            means = [common.geometric_mean(r[at] for r in known) for at in range(3)]
            middle = [r[0] for r in known]
            overall.append([variant, len(known), f"{means[0]:.2f}", f"{means[1]:.2f}..{means[2]:.2f}",
                            f"{min(middle):.2f}..{max(middle):.2f}"])
    print("## Time without the technique / time with it, ratio of medians (shortest..longest pair)\n")
    print(common.markdown(["variant", *models], by_model))
    print("\n## Geometric means over the models\n")
    print(common.markdown(["variant", "models", "without / with", "spread of pairs", "spread of models"], overall))
    defaults = [r for r in records if r["runner"] == DEFAULT and r["seconds"] is not None]
    print("\n## The default build, seconds\n")
    rows = []
    for model in models:
        times = [record["seconds"] for record in defaults if record["model"] == model]
        if times:
            rows.append([model, len(times), f"{common.median(times):.3f}", f"{min(times):.3f}..{max(times):.3f}"])
    print(common.markdown(["model", "runs", "median", "spread"], rows))
    failures = [record for record in records if record["seconds"] is None]
    if failures:
        print("\nNot finished:")
    for record in failures:
        print(f"  {record['model']} {record['runner']}: {record['why']}")
    return not any(record["why"].startswith("WRONG") for record in failures)


def main():
    args = arguments()
    if args.report:
        sys.exit(not report([record for path in args.report for record in common.Journal.read(path)]))
    variants = args.variants or [short(feature) for feature in FEATURES] + KNOBS
    features = [feature for feature in FEATURES if short(feature) in variants]
    unknown = [v for v in variants if "=" not in v and v not in map(short, FEATURES)]
    if unknown:
        common.fail(f"no variant {', '.join(unknown)}")
    if args.build_only:
        build(args, features, args.build_only)
        return
    models = common.load_models(args.model_dir, args.expected, args.models, quiet=True)
    if args.out and not args.resume and Path(args.out).exists():
        common.fail(f"{args.out} exists: name another file, or go on with --resume")
    earlier = common.Journal.read(args.out) if args.resume and Path(args.out).exists() else []
    done = {(r["model"], r["variant"], r["runner"], r["rep"]): r for r in earlier}
    journal = common.Journal(args.out)
    progress = common.Progress(len(models) * args.reps)
    with tempfile.TemporaryDirectory(prefix="tremula-ablation-") as directory:
        binaries = Path(args.binaries).resolve() if args.binaries else build(args, features, directory)
        missing = [name for name in [DEFAULT, *map(short, features)] if not (binaries / name).is_file()]
        if missing:
            common.fail(f"{binaries} lacks {', '.join(missing)}")
        models = common.unpacked(models, Path(directory) / "models")
        with ThreadPoolExecutor(max(1, args.jobs)) as pool:
            for result in [
                pool.submit(measure, args, binaries, m, variants, done, journal, progress) for m in models
            ]:
                result.result()
    sys.exit(not report(earlier + journal.records))


if __name__ == "__main__":
    main()
