"""`hstar evaluate`: heuristics against each other, from starts they were not trained on."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from hstar.cli.options import Parser
from hstar.cli.runs import add_run_options, run_and_print
from hstar.errors import InputError
from hstar.files import MODEL, check_files

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
    add = parser.option
    if _asks_accuracy(parser.words):
        parser.usage = f"{parser.prog} [OPTION ...] MODEL DATA ..."
        add("model", "MODEL", "Model file of hstar train wl or truncated.")
        add("data", "DATA", "Files of hstar sample optimal, or data that come with hstar.", nargs="+")
        add(
            "--rule", "RULE", "Rule instead of the model's own: mean, clip, quantile:LEVEL, likely:ALPHA, ..."
        )
        add("--json", None, "Print one JSON object.")
        return
    parser.usage = f"{parser.prog} [OPTION ...] CONTESTANT ... PROBLEM ... -o RUN"
    add("words", "CONTESTANT | PROBLEM", "What to compare, and on what, in any order.", nargs="+")
    add("--starts", "N", "Use only the first N starts of a problem.")
    add("--walks", "N", "Number of random starts, where there are no others.", 10)
    add("--seeds", "N", "Number of trainings of each recipe, with seeds 0, 1, ...", 1)
    text = "Search of contestants that do not name one (gbfs for tasks, idastar for puzzles, else astar)."
    add("--search -s", "NAME", text)
    add("--time-limit -t", "T", "Time limit of each search.", 60.0)
    add("--cpu", None, "Limit CPU time instead of wall-clock time.")
    add("--memory-limit -m", "M", "Memory limit of each search.", 4 << 30)
    add("--train-limit", "T", "Time limit of each training.", 3600.0)
    add_run_options(parser)


def _asks_accuracy(words: Sequence[str]) -> bool:
    """Whether a model is compared with labelled states: then no run is kept."""
    output = any(word.startswith(("-o", "--output")) for word in words)
    return not output and any(word.endswith(MODEL) for word in words)


def run(arguments: argparse.Namespace) -> int:
    if hasattr(arguments, "data"):
        return _print_accuracy(arguments)
    from hstar.experiments.contestants import check_names, parse_contestant
    from hstar.experiments.problems import is_problem, read_problems
    from hstar.experiments.protocol import Limits, contestant_jobs
    from hstar.experiments.store import Store
    from hstar.registry import unknown
    from hstar.search.solve import searches

    known = [info.name for info in searches()]
    if arguments.search not in (None, *known):
        raise unknown("search", arguments.search, known)
    words = list(dict.fromkeys(arguments.words))
    problems = [word for word in words if is_problem(word)]
    contestants = [parse_contestant(word) for word in words if word not in problems]
    check_names("contestants", (one.name for one in contestants), "; give their files other names")
    if not problems or not contestants:
        missing = "PROBLEM (a folder, a file, a puzzle)" if not problems else "CONTESTANT"
        raise InputError(f"no {missing} given (see hstar evaluate --help)")
    limits = Limits(arguments.time_limit, arguments.memory_limit, arguments.train_limit, cpu=arguments.cpu)
    with Store(arguments.output) as store:
        starts = {"number": arguments.walks, "most": arguments.starts}
        sets = [read_problems(word, store, **starts) for word in problems]
        check_names("problems", (one.name for one in sets), "; put them into different runs")
        options: dict[str, Any] = {
            "limits": limits,
            "search": arguments.search,
            "seeds": range(arguments.seeds),
        }
        jobs = [
            job
            for one in sets
            for contestant in contestants
            for job in contestant_jobs(contestant, [one], store, **options)
        ]
        return run_and_print(store, jobs, arguments)


def _print_accuracy(arguments: argparse.Namespace) -> int:
    """How far a model of a domain is from the cost-to-go of labelled states."""
    from hstar.estimates.rules import parse
    from hstar.models.trained_model import load_model
    from hstar.recipes.accuracy import accuracy
    from hstar.sampling import relational

    check_files(arguments.model)
    rule = None if arguments.rule is None else parse(arguments.rule)
    model = load_model(arguments.model)
    record = accuracy(model, relational.merge(map(relational.load, arguments.data)), rule)
    if arguments.json:
        print(json.dumps(record))
        return 0
    for name, value in record.items():
        if name not in ("calibration", "by_size"):
            shown = f"{value:.4g}" if isinstance(value, float) else value
            print(f"{name.replace('_', ' '):18}  {shown}")
    for size in record["by_size"]:
        errors = f"mse {size['mse']:.4g}, ff {size['mse_ff']:.4g}, lmcut {size['mse_lmcut']:.4g}"
        print(f"{size['objects']:4d} objects        {errors}, {size['states']} states")
    for level, share in record.get("calibration", ()):
        print(f"quantile {level:4.2f}       {share:.3f} of the distances are up to it")
    return 0
