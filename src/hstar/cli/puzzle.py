"""`hstar puzzle`: instances of a native puzzle."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.app import Parser, checked
from hstar.cli.options import parse_bound
from hstar.cli.progress import ProgressLine
from hstar.cli.promise import proven
from hstar.cli.tasks import check_file, check_writable
from hstar.errors import InputError
from hstar.units import format_count, parse_count, parse_memory, parse_time

if TYPE_CHECKING:
    from hstar.experiments.puzzles import Row
    from hstar.search.solve import Found, SearchConfig
    from hstar.spaces.puzzle import Instance, Puzzle

DESCRIPTION = """\
PUZZLE is tiles:ROWSxCOLUMNS, pancake:N or blocks:N; the search is IDA*, with --bound or --anytime one whose
plans have a proven bound. INSTANCES is a CSV file with the columns `id`, the kind of the puzzle (numbers with
blanks between them) and, if known, `optimal_cost`; without one give --random N. A line for each instance goes
to standard output, what they say together to standard error. With --output rows are kept as they come, and
the same command goes on after a kill."""
EXAMPLES = (
    "hstar puzzle tiles:3x3 --random 5",
    "hstar puzzle pancake:20 --random 3 --seed 1 --heuristic gap --json -o rows.jsonl",
    "hstar puzzle tiles:3x3 --random 5 --bound 1.5",
)
_UNSOLVED = 12
_INTERRUPTED = 130


def configure(parser: Parser) -> None:
    """The arguments."""
    add = parser.add_argument
    count = checked(parse_count)
    parser.usage = f"{parser.prog} [OPTION ...] PUZZLE [INSTANCES]"
    add("puzzle", metavar="PUZZLE", help="tiles:4x4, pancake:24, blocks:15, ...")
    add("instances", nargs="?", type=Path, metavar="INSTANCES", help="a CSV file of them")
    add(
        "--heuristic",
        "-e",
        metavar="NAME",
        help="a model file of hstar train, databases (tiles:4x4, tiles:5x5, pancake:24, blocks:15), or "
        "manhattan, misplaced, gap, blind where the puzzle has them (default: its first one; "
        "with --bound the anchor)",
    )
    add(
        "--alpha",
        type=float,
        metavar="A",
        help="of a model: probability with which a value is admissible; without it the value is the mean, or "
        "that of hstar calibrate",
    )
    add(
        "--rule",
        metavar="RULE",
        help="of a model: mean, quantile:LEVEL, or likely:A, which is --alpha A",
    )
    add(
        "--floor",
        action="store_true",
        help="of a model: no value below what is admissible, Manhattan, gap, misplaced blocks or databases "
        "if they are its inputs (default: as it was trained)",
    )
    add(
        "--truncated",
        action="store_true",
        help="of a model with a spread: nothing below that in what --alpha or the mean is taken of",
    )
    add("--nodes", type=count, metavar="N", help="evaluated states at which an instance is given up")
    add("--time-limit", "-t", type=checked(parse_time), metavar="T", help="of an instance: 30s, 5m, 1h")
    add(
        "--bound",
        type=checked(parse_bound),
        metavar="W",
        help="proven: cost of a plan to the optimum",
    )
    add(
        "--anytime",
        action="store_true",
        help="better plans, until one is optimal or a limit ends it",
    )
    add(
        "--anchor",
        metavar="NAME",
        help="with --bound: the admissible heuristic that proves (default: databases of tiles, if there are "
        "any, else the first one of the puzzle)",
    )
    add(
        "--anchor-every",
        type=count,
        metavar="N",
        help="with --bound: of so many expansions one is by the anchor; 0: as few as possible (5)",
    )
    add(
        "--memory-limit",
        "-m",
        type=checked(parse_memory),
        metavar="M",
        help="with --bound: of the process, 512M, 4G; MiB if bare",
    )
    add("--pruning", metavar="NAME", help="IDA*: moves not to follow: none, undo or automaton (undo)")
    add(
        "--table",
        type=checked(parse_memory),
        metavar="M",
        help="IDA*: memory for a table of seen states",
    )
    add(
        "--threads",
        type=count,
        metavar="N",
        help="IDA*: threads for one instance; plan and counts are those of one, unless a limit ends it (1)",
    )
    add("--random", type=count, metavar="N", help="so many random instances instead of a file")
    add("--walk", type=count, metavar="K", help="with --random: ends of walks of K moves from the goal")
    add("--seed", type=count, default=0, metavar="N", help="of --random (0)")
    add(
        "--blank-last", action="store_true", help="tiles of a file are meant for the goal with the blank last"
    )
    add("--jobs", "-j", type=count, default=1, metavar="N", help="instances at a time (1)")
    add(
        "--output", "-o", type=Path, metavar="FILE", help="rows as JSON lines; what is there is not run again"
    )
    add("--no-cache", action="store_true", help="build databases anew; store nothing")
    add("--json", action="store_true", help="print rows as JSON lines")
    add("--quiet", "-q", action="store_true", help="no progress, no summary")


# What only one of the searches heeds; asked of the other it is refused rather than ignored.
_FOR_IDASTAR = ("pruning", "table", "threads")
_FOR_FOCAL = ("anchor", "anchor_every", "memory_limit")


def _config(arguments: argparse.Namespace, bounded: bool) -> SearchConfig:
    from hstar.search.solve import SearchConfig

    for name in _FOR_IDASTAR if bounded else _FOR_FOCAL:
        if getattr(arguments, name) is not None:
            others = "--bound and --anytime" if bounded else "the search without --bound and --anytime"
            raise InputError(f"--{name.replace('_', '-')} does not go with {others}")
    limits = {"time_limit": arguments.time_limit, "max_evaluations": arguments.nodes}
    if not bounded:
        pruning = "undo" if arguments.pruning is None else arguments.pruning
        threads = 1 if arguments.threads is None else arguments.threads
        return SearchConfig(**limits, pruning=pruning, table_bytes=arguments.table or 0, threads=threads)
    if arguments.anchor_every is not None:
        limits["anchor_every"] = arguments.anchor_every
    return SearchConfig(
        **limits, bound=arguments.bound, anytime=arguments.anytime, memory_limit=arguments.memory_limit
    )


def run(arguments: argparse.Namespace) -> int:
    """Solves the instances and prints their rows."""
    from hstar.estimates.rules import chosen
    from hstar.experiments.puzzles import puzzle_anchor, puzzle_heuristic, solve_instances, summary
    from hstar.spaces.puzzles import parse_puzzle

    puzzle = parse_puzzle(arguments.puzzle)
    rule = chosen(arguments.rule, arguments.alpha)
    bounded = arguments.anytime or arguments.bound is not None
    config = _config(arguments, bounded)
    if arguments.jobs < 1:
        raise InputError("--jobs must be at least 1")
    instances = _instances(puzzle, arguments)
    if arguments.output is not None:
        check_writable(arguments.output, "rows")
    rows: list[Row] = []
    started = time.monotonic()
    try:
        with ProgressLine(arguments.quiet) as line:
            line.announce("preparing the heuristic ...")
            name, anchor = arguments.heuristic, None
            cache = not arguments.no_cache
            if bounded:
                anchor, anchor_name = puzzle_anchor(puzzle, arguments.anchor, cache=cache)
                name = name or anchor_name
            name = name or puzzle.core.heuristics[0].name
            heuristic, about = puzzle_heuristic(
                *(puzzle, name, rule),
                floor=arguments.floor,
                truncated=arguments.truncated,
                cache=cache,
            )
            if anchor is not None:
                about["anchor"] = anchor_name
                heuristic = anchor if name == anchor_name else heuristic
                config = replace(config, anchor=anchor)
            promise = None if anchor is not None else _promise(about, arguments)

            def show(record: Any = None) -> None:
                now = (
                    "" if record is None else f"  {format_count(record.evaluated)} evaluated in the next one"
                )
                solved = sum(row["status"] == "solved" for row in rows)
                seconds = time.monotonic() - started
                line.update(
                    seconds, f"{seconds:7.1f} s  {len(rows)} of {len(instances)} done, {solved} solved{now}"
                )

            def better(instance: Instance[Puzzle], found: Found) -> None:
                if arguments.anytime:
                    told = proven(found.lower_bound, found.ratio)
                    line.message(f"{instance.id}: {found.time:.2f} s: plan of cost {found.plan_cost}{told}")

            for row in solve_instances(
                instances,
                heuristic,
                config,
                {"puzzle": str(puzzle), **about},
                search="focal" if bounded else "idastar",
                on_plan=better,
                jobs=arguments.jobs,
                output=arguments.output,
                progress=show,
                file=arguments.instances,
            ):
                rows.append(row)
                told = row if promise is None or row["cost"] is None else {**row, "promise": promise}
                print(json.dumps(told) if arguments.json else _told(row), flush=True)
                show()
    except KeyboardInterrupt:
        again = f"; run the same command again to go on from {arguments.output}" if arguments.output else ""
        print(f"hstar: interrupted: {len(rows)} of {len(instances)} done{again}", file=sys.stderr)
        return _INTERRUPTED
    if not arguments.quiet:
        print(_summary(summary(rows)), file=sys.stderr)
        if promise is not None and any(row["status"] == "solved" for row in rows):
            print(f"each plan {promise['text']}", file=sys.stderr)
    return 0 if all(row["status"] == "solved" for row in rows) else _UNSOLVED


def _instances(puzzle: Puzzle, arguments: argparse.Namespace) -> list[Instance[Puzzle]]:
    from hstar.experiments.puzzles import random_instances

    if (arguments.instances is None) == (arguments.random is None):
        raise InputError("give either a file of instances or --random N")
    if arguments.instances is None:
        return random_instances(puzzle, arguments.random, arguments.seed, arguments.walk)
    if arguments.walk is not None:
        raise InputError("--walk is for --random, not for a file of instances")
    check_file(arguments.instances)
    return puzzle.read(arguments.instances, blank_last=arguments.blank_last)


def _promise(about: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any] | None:
    from hstar.cli.promise import puzzle_promise
    from hstar.estimates.rules import Calibrated, from_json
    from hstar.experiments.puzzles import distribution

    rule = from_json(about["rule"]) if "rule" in about else None
    if not isinstance(rule, Calibrated):
        return None
    drawn = None if arguments.random is None else distribution(arguments.walk)
    return puzzle_promise(rule, arguments.pruning or "undo", drawn)


def _told(row: Row) -> str:
    status = row["status"].replace("_", " ")
    cost = status if row["cost"] is None else f"{row['cost']} moves"
    if "lower_bound" in row:
        cost += proven(row["lower_bound"], row["ratio"])
        if row["cost"] is None:
            cost += f", no plan costs less than {row['lower_bound']}" if row["lower_bound"] else ""
        elif row["status"] != "solved":
            cost = f"{status}: {cost}"
    known = row["optimal_cost"] is not None and row.get("ratio") != 1
    optimal = f" (optimal {row['optimal_cost']})" if known else ""
    return f"{row['id']}: {cost}{optimal}, {row['generated']} generated, {row['search_time']:.3f} s"


def _summary(found: dict[str, Any]) -> str:
    told = [f"{found['solved']} of {found['instances']} solved"]
    if found["mean_cost"] is not None:
        told.append(f"mean cost {found['mean_cost']:.2f}")
    if found["mean_generated"] is not None:
        told.append(
            f"mean {format_count(found['mean_generated'])} generated in {found['mean_search_time']:.3f} s"
        )
    if found["with_known_optimum"]:
        told.append(f"suboptimality {found['suboptimality']:.2%}, {found['optimal']:.1%} optimal")
    return ", ".join(told)
