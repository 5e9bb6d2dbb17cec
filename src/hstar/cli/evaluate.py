"""`hstar evaluate`: heuristics against each other, from starts they were not trained on."""

from __future__ import annotations

import argparse
from pathlib import Path

from hstar.cli.app import Parser, checked
from hstar.cli.runs import add_run_options, run_and_print
from hstar.errors import InputError
from hstar.units import parse_count, parse_memory, parse_time

DESCRIPTION = """\
Trains where that is asked for, plans from other initial states of the same task, and prints coverage, effort
and rates as markdown. CONTESTANT is a heuristic (ff), a model file, a recipe with options (fsm,
nrsl,profile=paper,networks=10) or a configuration of Fast Downward (fd:lama-first). INSTANCE is a folder
with domain.pddl, base.pddl and the starts as further problems, or one problem file, for which random walks
make the starts. Everything finished is kept in RUN: the same command goes on after a kill."""
EXAMPLES = (
    "hstar evaluate ff goalcount problem.pddl -o runs/first --walks 3 --time-limit 5s",
    "hstar evaluate fsm,states=300,epochs=3 ff problem.pddl -o runs/second --walks 2 --time-limit 5s",
)


def configure(parser: Parser) -> None:
    """The arguments."""
    add, count = parser.add_argument, checked(parse_count)
    parser.usage = f"{parser.prog} [OPTION ...] CONTESTANT ... INSTANCE ... -o RUN"
    add(
        "words", nargs="+", metavar="CONTESTANT | INSTANCE", help="what to compare, and on what; in any order"
    )
    add("--starts", type=count, metavar="N", help="use only the first N starts of an instance")
    add("--walks", type=count, default=10, metavar="N", help="starts made for a single problem file (10)")
    add("--seeds", type=count, default=1, metavar="N", help="trainings of each recipe, seeds 0, 1, ... (1)")
    add("--search", "-s", default="gbfs", metavar="NAME", help="for all contestants that do not say (gbfs)")
    add("--time-limit", "-t", type=checked(parse_time), default=60.0, metavar="T", help="of a search (60s)")
    add(
        "--memory-limit",
        "-m",
        type=checked(parse_memory),
        default=4 << 30,
        metavar="M",
        help="of a search (4G)",
    )
    add("--train-limit", type=checked(parse_time), default=3600.0, metavar="T", help="of a training (1h)")
    add_run_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs what is missing and prints the summary."""
    from hstar.experiments import Limits, Store, evaluation_jobs, parse_contestant, read_instance
    from hstar.registry import unknown
    from hstar.search.solve import searches

    if arguments.search not in (known := [info.name for info in searches()]):
        raise unknown("search", arguments.search, known)
    if not arguments.seeds:
        raise InputError("--seeds takes 1 or more")
    paths = [Path(word) for word in arguments.words if _is_instance(word)]
    words = [word for word in dict.fromkeys(arguments.words) if not _is_instance(word)]
    if not paths or not words:
        missing = "INSTANCE (a folder or a .pddl file)" if not paths else "CONTESTANT"
        raise InputError(f"no {missing} given (see hstar evaluate --help)")
    contestants = [parse_contestant(word) for word in words]
    limits = Limits(arguments.time_limit, arguments.memory_limit, arguments.train_limit)
    with Store(arguments.output) as store:
        instances = [
            read_instance(path, store, walks=arguments.walks, most=arguments.starts)
            for path in dict.fromkeys(paths)
        ]
        seeds = range(arguments.seeds)
        jobs = evaluation_jobs(
            instances, contestants, store, limits=limits, search=arguments.search, seeds=seeds
        )
        return run_and_print(store, jobs, arguments)


def _is_instance(word: str) -> bool:
    return word.endswith(".pddl") or Path(word).is_dir()
