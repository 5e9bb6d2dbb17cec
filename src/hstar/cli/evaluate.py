"""`hstar evaluate`: heuristics against each other, from starts they were not trained on."""

from __future__ import annotations

import argparse

from hstar.cli import accuracy
from hstar.cli.app import Parser, checked
from hstar.cli.runs import add_run_options, run_and_print
from hstar.errors import InputError
from hstar.units import parse_count, parse_memory, parse_time

DESCRIPTION = """\
Trains where that is asked for, searches from other starts of the same space, and prints coverage, effort and
rates as markdown. CONTESTANT is a heuristic (ff, manhattan), a model file, a recipe with options (fsm,
nrsl,profile=paper,networks=10, likely-admissible) or a configuration of Fast Downward (fd:lama-first).
PROBLEM is a folder with domain.pddl, base.pddl and the starts as further problems, one problem file, a puzzle
(tiles:4x4), a map or a .scen file, or an own space (own.py:Lights); where it has no starts, random ones are
made. Everything finished is kept in RUN: the same command goes on after a kill.

MODEL DATA without -o compares a model of a domain with the labels of `hstar sample optimal`: mean squared
errors, beside those of ff, lmcut and goalcount, and how well the spread of estimates is calibrated."""
EXAMPLES = (
    "hstar evaluate ff goalcount problem.pddl -o runs/first --walks 3 --time-limit 5s",
    "hstar evaluate fsm,states=300,epochs=3 ff problem.pddl -o runs/second --walks 2 --time-limit 5s",
    "hstar evaluate manhattan misplaced tiles:3x3 -o runs/third --walks 3",
    "hstar evaluate model.hstar states.data --rule clip --json",
)


def configure(parser: Parser) -> None:
    """The arguments."""
    if accuracy.asked(parser.words):
        accuracy.configure(parser)
        return
    add, count = parser.add_argument, checked(parse_count)
    parser.usage = f"{parser.prog} [OPTION ...] CONTESTANT ... PROBLEM ... -o RUN"
    add("words", nargs="+", metavar="CONTESTANT | PROBLEM", help="what to compare, and on what; in any order")
    add("--starts", type=count, metavar="N", help="use only the first N starts of a problem")
    add("--walks", type=count, default=10, metavar="N", help="random starts, where there are no others (10)")
    add("--seeds", type=count, default=1, metavar="N", help="trainings of each recipe, seeds 0, 1, ... (1)")
    add(
        "--search",
        "-s",
        metavar="NAME",
        help="for all contestants that do not say (gbfs for tasks, idastar for puzzles, else astar)",
    )
    add("--time-limit", "-t", type=checked(parse_time), default=60.0, metavar="T", help="of a search (60s)")
    add("--cpu", action="store_true", help="limits of time count processor time, not the clock")
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
    if hasattr(arguments, "data"):
        return accuracy.run(arguments)
    from hstar.experiments import Limits, Store, contestant_jobs, parse_contestant, read_problems
    from hstar.experiments.problems import is_problem
    from hstar.registry import unknown
    from hstar.search.solve import searches

    known = [info.name for info in searches()]
    if arguments.search is not None and arguments.search not in known:
        raise unknown("search", arguments.search, known)
    if not arguments.seeds:
        raise InputError("--seeds takes 1 or more")
    words = list(dict.fromkeys(arguments.words))
    problems = [word for word in words if is_problem(word)]
    contestants = [parse_contestant(word) for word in words if word not in problems]
    if not problems or not contestants:
        missing = "PROBLEM (a folder, a file, a puzzle)" if not problems else "CONTESTANT"
        raise InputError(f"no {missing} given (see hstar evaluate --help)")
    times, memory = (arguments.time_limit, arguments.train_limit), arguments.memory_limit
    limits = Limits(times[0], memory, times[1], cpu=arguments.cpu)
    with Store(arguments.output) as store:
        sets = [
            read_problems(word, store, number=arguments.walks, most=arguments.starts) for word in problems
        ]
        names = [one.name for one in sets]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise InputError(f"two problems are called {twice}; put them into different runs")
        jobs = [
            job
            for one in sets
            for contestant in contestants
            for job in contestant_jobs(
                contestant,
                [one],
                store,
                limits=limits,
                search=arguments.search,
                seeds=range(arguments.seeds),
            )
        ]
        return run_and_print(store, jobs, arguments)
