"""`hstar calibrate`: a model of which something can be promised."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hstar.cli.app import Parser, checked
from hstar.cli.progress import ProgressLine
from hstar.cli.tasks import check_file, check_writable, problem_files
from hstar.errors import InputError, UnsupportedError
from hstar.units import parse_count, parse_memory, parse_time

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel
    from hstar.recipes.calibrate import Calibration
    from hstar.sampling.optimal import Optimal
    from hstar.sampling.relational import RelationalData
    from hstar.spaces.puzzle import Instance, Puzzle
    from hstar.spaces.relations import Vocabulary
    from hstar.spaces.task import Task

DESCRIPTION = """\
Moves the values of a model so that a promise can be made of A* and IDA* with it: their plans are optimal, or
cost at most the bound times that, with at least this probability, for problems that are drawn as those of the
calibration are. Every action counts 1. A model of a domain is calibrated by files of `hstar sample optimal`,
or by problems, which are solved here; a model of a task by other starts: problems with its goal, or random
walks; a model of a puzzle by random instances, or those of a CSV file (see `hstar solve`), which are solved
here; a model of maps by random maps like those of its training, or by .scen files. The problems of
calibration must be others than those of the training, and nothing else of the model may have been chosen by
them."""
EXAMPLES = (
    "hstar calibrate model.hstar states.data -o calibrated.hstar --confidence 0.9",
    "hstar calibrate model.hstar folder -o calibrated.hstar --confidence 0.95 --bound 1.5",
    "hstar solve problem.pddl --search astar --heuristic calibrated.hstar",
    "hstar calibrate eight.hstar --random 200 -o calibrated.hstar --confidence 0.9",
    "hstar solve tiles:3x3 --random 5 --heuristic calibrated.hstar",
)


def configure(parser: Parser) -> None:
    """The arguments."""
    add = parser.add_argument
    parser.usage = f"{parser.prog} [OPTION ...] MODEL [DATA|PROBLEM|INSTANCES ...] -o NEW --confidence C"
    add("model", type=Path, metavar="MODEL", help="of hstar train")
    add(
        "given",
        nargs="*",
        type=Path,
        metavar="DATA|PROBLEM|INSTANCES",
        help="files of hstar sample, data that come with hstar, PDDL files, or folders of them; of a puzzle "
        "a CSV file",
    )
    add("--output", "-o", type=Path, required=True, metavar="NEW", help="the model to write; may be MODEL")
    add("--confidence", type=float, required=True, metavar="C", help="between 0 and 1, as 0.9")
    add("--bound", type=float, default=1.0, metavar="W", help="on cost by optimal cost; 1: optimal plans (1)")
    add(
        "--form",
        metavar="NAME",
        help="additive, h - q, or ratio, h / q (additive for the bound 1, else ratio)",
    )
    add("--rule", metavar="RULE", help="what is calibrated, if not the model's own rule: as quantile:0.3")
    add("--walks", type=checked(parse_count), metavar="N", help="of a model of a task: N starts by chance")
    add(
        "--random",
        type=checked(parse_count),
        metavar="N",
        help="of puzzles and maps: so many random problems",
    )
    add(
        "--walk",
        type=checked(parse_count),
        metavar="K",
        help="with --random: ends of walks of K moves from the goal",
    )
    add(
        "--blank-last", action="store_true", help="tiles of a file are meant for the goal with the blank last"
    )
    add("--alpha", type=float, metavar="A", help="short for --rule likely:A")
    add("--seed", type=checked(parse_count), default=0, metavar="N", help="of walks and instances (0)")
    add("--domain", type=Path, metavar="FILE", help="the domain (domain.pddl beside the problems)")
    add("--time-limit", "-t", type=checked(parse_time), default=300.0, metavar="T", help="of a search (5m)")
    add(
        "--memory-limit",
        "-m",
        type=checked(parse_memory),
        default=8 << 30,
        metavar="M",
        help="of a search (8G)",
    )
    add("--no-cache", action="store_true", help="of a puzzle: build databases anew; store nothing")
    add("--json", action="store_true", help="print one JSON object")
    add("--quiet", "-q", action="store_true", help="no progress, no summary")


def run(arguments: argparse.Namespace) -> int:
    """Calibrates and writes the model."""
    from hstar.estimates.conformal import check_bound, check_confidence, check_form
    from hstar.estimates.rules import chosen
    from hstar.models.trained_model import load_model

    check_confidence(arguments.confidence)
    check_bound(arguments.bound)
    if arguments.form is not None:
        check_form(arguments.form)
    rule = chosen(arguments.rule, arguments.alpha)
    check_file(arguments.model)
    model = load_model(arguments.model)
    kind = model.space.kind
    if kind not in _KINDS:
        raise UnsupportedError(f"models of a {kind} cannot be calibrated; those of a {', '.join(_KINDS)} can")
    calibrate, heeded, searches = _KINDS[kind]
    for name in _OF_SOME:
        if getattr(arguments, name) not in (None, False) and name not in heeded:
            raise InputError(
                f"--{name.replace('_', '-')} is not for models of a {kind}: {arguments.model} is one"
            )
    promise = {"bound": arguments.bound, "form": arguments.form, "rule": rule}
    check_writable(arguments.output, "model")
    with ProgressLine(arguments.quiet) as line:
        new, found = calibrate(model, arguments, promise, line)
        new.save(arguments.output)
    _tell(arguments, found, searches, replaced=model.calibration is not None)
    return 0


def _of_domain(
    model: TrainedModel[Any], arguments: argparse.Namespace, promise: _Options, line: ProgressLine
) -> _Found:
    from hstar.recipes.calibrate import calibrate

    data, left_out = _plans(model.space.words, arguments, line)
    line.announce("evaluating the plans ...")
    new, found = calibrate(model, data, arguments.confidence, **promise)
    return new, replace(found, left_out=left_out)


def _plans(
    words: Vocabulary, arguments: argparse.Namespace, line: ProgressLine
) -> tuple[RelationalData, int]:
    """All data, those of problems made now, and how many problems have no plan."""
    from hstar.sampling import relational
    from hstar.sampling.optimal import NoLabelError
    from hstar.sampling.relational import RelationalData, RelationalInstance
    from hstar.spaces.task import load_task

    parts = [relational.load(path) for path in _given(arguments) if not _is_problem(path)]
    problems = list(_problems(arguments))
    instances: list[RelationalInstance] = []
    left_out = 0
    for number, (domain, problem) in enumerate(problems, 1):
        line.announce(f"problem {number} of {len(problems)}: {problem.name} ...")
        task = load_task(domain, problem, unit_cost=True)
        try:
            instances.append(_limits(arguments).label(task, words, str(problem)))
        except NoLabelError:
            left_out += 1
        except InputError as error:
            raise InputError(f"the model was trained for {words.domain}: {error.message}") from None
    made = [RelationalData(words, tuple(instances))] if problems else []
    if problems and not instances and not parts:
        raise InputError("no problem was solved within the limits")
    return relational.merge([*parts, *made]), left_out


def _of_task(
    model: TrainedModel[Any], arguments: argparse.Namespace, promise: _Options, line: ProgressLine
) -> _Found:
    from hstar.recipes.calibrate import calibrate_starts
    from hstar.sampling.walks import Walks
    from hstar.spaces.task import load_task

    if data := next((path for path in _given(arguments) if not _is_problem(path)), None):
        raise InputError(f"the model is of one task, which is calibrated by its problems, not by {data}")
    problems = list(_problems(arguments))

    def starts() -> Iterator[Task]:
        for domain, problem in problems:
            task = load_task(domain, problem, unit_cost=True)
            if arguments.walks is None:
                yield task
            else:
                yield from Walks(arguments.walks, seed=arguments.seed).tasks(task)

    number = len(problems) * (1 if arguments.walks is None else arguments.walks)
    return calibrate_starts(
        model,
        starts(),
        arguments.confidence,
        limits=_limits(arguments),
        progress=lambda done: line.announce(f"start {done} of {number} ..."),
        **promise,
    )


def _of_puzzle(
    model: TrainedModel[Any], arguments: argparse.Namespace, promise: _Options, line: ProgressLine
) -> _Found:
    from hstar.recipes.calibrate import calibrate_puzzle

    instances, distribution = _instances(model.space.puzzle, arguments)
    line.announce("preparing the solver ...")
    return calibrate_puzzle(
        model,
        instances,
        arguments.confidence,
        time_limit=arguments.time_limit,
        cache=not arguments.no_cache,
        progress=lambda done: line.announce(f"instance {done} of {len(instances)} ..."),
        distribution=distribution,
        **promise,
    )


def _of_maps(
    model: TrainedModel[Any], arguments: argparse.Namespace, promise: _Options, line: ProgressLine
) -> _Found:
    from hstar.experiments.batch import calibration_maps
    from hstar.recipes.calibrate import calibrate_maps

    if bool(arguments.given) == (arguments.random is not None):
        raise InputError(
            "a model of maps is calibrated by .scen files, or by --random N maps like those it was trained on"
        )
    for path in arguments.given:
        check_file(path)
    problems = calibration_maps(model, arguments.given, arguments.random, arguments.seed)
    names = ", ".join(path.name for path in arguments.given)
    return calibrate_maps(
        model,
        problems,
        arguments.confidence,
        progress=lambda done: line.announce(f"problem {done} of {len(problems)} ..."),
        distribution=f"those of {names}" if names else "random maps",
        **promise,
    )


_Options: TypeAlias = dict[str, Any]
_Found: TypeAlias = "tuple[TrainedModel[Any], Calibration]"
_OF_SOME = ("walks", "random", "walk", "blank_last", "domain", "no_cache")  # options of some kinds alone
_KINDS: dict[str, tuple[Callable[..., _Found], tuple[str, ...], str]] = {
    "domain": (_of_domain, ("domain",), "astar and idastar"),
    "task": (_of_task, ("walks", "domain"), "astar and idastar"),
    "puzzle": (_of_puzzle, ("random", "walk", "blank_last", "no_cache"), "idastar"),
    "map": (_of_maps, ("random",), "astar"),
}


def _instances(puzzle: Puzzle, arguments: argparse.Namespace) -> tuple[list[Instance[Puzzle]], str]:
    """The instances, and in words what they were drawn from."""
    from hstar.experiments.batch import CALIBRATION, distribution, random_instances
    from hstar.search.puzzle_optimal import solves_all
    from hstar.spaces.puzzle import Instance

    if (len(arguments.given) == 1) == (arguments.random is not None) or len(arguments.given) > 1:
        raise InputError("a model of a puzzle is calibrated by one CSV file of instances, or by --random N")
    if arguments.random is None:
        if arguments.walk is not None:
            raise InputError("--walk is for --random, not for a file of instances")
        (path,) = arguments.given
        check_file(path)
        instances = puzzle.read(path, blank_last=arguments.blank_last)
        hard, drawn = any(one.optimal_cost is None for one in instances), f"those of {path.name}"
    else:
        if arguments.blank_last:
            raise InputError("--blank-last is for a file of instances, not for --random")
        walk = arguments.walk
        # `hstar solve` with the same seed has others: a promise is not tested by what it was made from.
        random = random_instances(puzzle, arguments.random, arguments.seed, walk, purpose=CALIBRATION)
        instances = [Instance(one.id, one.problem) for one in random]
        hard, drawn = walk is None, distribution(walk)
    if hard and not solves_all(puzzle):
        raise UnsupportedError(
            f"optimal plans of {puzzle} take too long from anywhere; give --walk K, "
            "or a file of instances with their optimal_cost"
        )
    return instances, drawn


def _tell(arguments: argparse.Namespace, found: Calibration, searches: str, *, replaced: bool) -> None:
    from hstar.estimates import conformal, rules

    rule = found.rule
    if arguments.json:
        record = {
            **rules.to_json(rule),
            "rank": conformal.rank(rule.instances, rule.confidence),
            "left_out": found.left_out,
            "replaced": replaced,
            "promise": rule.promise,
        }
        print(json.dumps(record))
    if not arguments.quiet:
        moved = f"h - {rule.score:.4g}" if rule.form == "additive" else f"{rule.factor:.4g} h"
        if rule.form == "additive" and rule.bound > 1:
            moved = f"{rule.bound:g} ({moved})"
        before = ", in place of an earlier calibration" if replaced else ""
        left_out = f", {found.left_out} problems without a plan left out" if found.left_out else ""
        print(
            f"{arguments.output}: {moved}; plans of {searches} are {rule.promise}{left_out}{before}",
            file=sys.stderr,
        )


def _is_problem(path: Path) -> bool:
    return path.is_dir() or path.suffix == ".pddl"


def _given(arguments: argparse.Namespace) -> Sequence[Path]:
    if not arguments.given:
        raise InputError("give files of hstar sample, or problems, to calibrate by")
    found: Sequence[Path] = arguments.given
    return found


def _problems(arguments: argparse.Namespace) -> Iterator[tuple[Path, Path]]:
    return problem_files([path for path in arguments.given if _is_problem(path)], arguments.domain)


def _limits(arguments: argparse.Namespace) -> Optimal:
    from hstar.sampling.optimal import Optimal

    return Optimal(arguments.time_limit, arguments.memory_limit)
