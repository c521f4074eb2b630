#!/usr/bin/env python3
"""How much faster `tremula reach` is with more workers.

Every model runs with each number of workers in turn, --reps times each. One worker uses the shared table too, although it
would otherwise take a faster way; --plain shows that way instead. Times are exploration only, without loading; medians
with their spread. Every number of states is checked.

Examples:
  bench/scaling.py --only anderson.6,blocks.3 --workers 1,2,4,8,16
  bench/scaling.py --only at.5 --workers 1,16 --strategy chaining --reps 3
"""

import sys

import common


def arguments():
    parser = common.corpus_parser(__doc__)
    parser.add_argument("--workers", metavar="LIST", type=common.comma_list, default=["1", "2"], help="default 1,2")
    parser.add_argument("--strategy", metavar="NAME", default="par", help="default par")
    parser.add_argument("--plain", action="store_true", help="one worker takes the way for one worker")
    parser.add_argument("--timeout", metavar="S", type=float, default=300, help="seconds for each run, default 300")
    parser.add_argument("--reps", metavar="N", type=int, default=5)
    return parser.parse_args()


def measure(args, model):
    """Number of workers to times in order; ends the script at a wrong or missing answer."""
    times = {workers: [] for workers in args.workers}
    for _ in range(args.reps):
        for workers, seconds in times.items():
            more = ["--tune", "always-shared=1"] if workers == "1" and not args.plain else []
            answer = common.reach(args.binary, model.path, args.strategy, args.timeout, *more, workers=workers)
            wrong = common.mistakes(model, args.strategy, answer)
            if wrong or answer["verdict"] != "complete":
                common.fail(f"{model.name}, {workers} workers: {'; '.join(wrong) or answer['reason']}")
            seconds.append(answer["reach"])
    return times


def main():
    args = arguments()
    args.binary = common.need_binary(args.binary)
    models = common.load_models(args.models, args.expected, args.only, quiet=True)
    progress, rows = common.Progress(len(models)), []
    for model in models:
        times = list(measure(args, model).values())
        medians = [common.median(seconds) for seconds in times]
        cells = [cell for seconds in times for cell in (f"{common.median(seconds):.3f}", common.spread(seconds))]
        rows.append([model.name, *cells, *(f"{medians[0] / median:.2f}" for median in medians[1:])])
        progress.step(" ".join(rows[-1]))
    header = ["model", *(name for n in args.workers for name in (f"{n} s", "spread"))]
    header += [f"x{n}" for n in args.workers[1:]]
    print(common.markdown(header, rows))


if __name__ == "__main__":
    sys.exit(main())
