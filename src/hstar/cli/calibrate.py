"""`hstar calibrate`: conformal calibration of a model, so that A* keeps a bound with a stated probability."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hstar.cli.options import Parser, flag
from hstar.cli.problems import problem_files
from hstar.cli.progress import ProgressLine, show_outcome
from hstar.errors import InputError, UnsupportedError
from hstar.files import check_files, check_writable

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel
    from hstar.recipes.calibrate import Calibration
    from hstar.sampling.optimal import Optimal

DESCRIPTION = """\
Conformal calibration: hstar shifts the values of a model so that plans of A* and IDA* with it are optimal, or
cost at most the bound times the optimum, with at least the stated probability, for problems that are drawn
as those of the calibration are. Every action counts 1. A model of a domain is calibrated by files of
`hstar sample optimal`, or by problems, which are solved here; a model of a task by other starts: problems
with its goal, or random walks; a model of a puzzle by random instances, or those of a CSV file (see
`hstar solve`), which are solved here; a model of maps by random maps like those of its training, or by .scen
files; a model of one map and one goal by random starts of that map. Use problems that neither the training
nor any choice of the model has seen."""
EXAMPLES = (
    "hstar calibrate model.hstar states.data -o calibrated.hstar --confidence 0.9",
    "hstar calibrate model.hstar folder -o calibrated.hstar --confidence 0.95 --bound 1.5",
    "hstar solve problem.pddl --search astar --heuristic calibrated.hstar",
    "hstar calibrate eight.hstar --random 200 -o calibrated.hstar --confidence 0.9",
    "hstar solve tiles:3x3 --random 5 --heuristic calibrated.hstar",
)


def configure(parser: Parser) -> None:
    add = parser.option
    parser.usage = f"{parser.prog} [OPTION ...] MODEL [DATA|PROBLEM|INSTANCES ...] -o NEW --confidence C"
    add("model", "MODEL", "Model file of hstar train.")
    text = "Files of hstar sample, data that come with hstar, PDDL files or folders; CSV, .scen or map files."
    add("given", "DATA|PROBLEM|INSTANCES", text, nargs="*", type=Path)
    add("--output -o", "NEW", "Write the calibrated model to this file; may be MODEL.", required=True)
    add("--confidence", "C", "Probability of the promise, between 0 and 1, such as 0.9.", required=True)
    add("--bound", "W", "Bound on plan cost / optimal cost; 1: optimal plans.", 1.0)
    add("--form", "NAME", "Form of the shift: additive, h - q (default for bound 1), or ratio, h / q.")
    add("--rule", "RULE", "Calibrate this rule instead of the model's own, such as quantile:0.3.")
    add("--alpha", "A", "Short for --rule likely:A.")
    add("--walks", "N", "Models of a task: number of random starts.")
    add("--random", "N", "Models of puzzles and maps: number of random problems.")
    add("--walk", "K", "With --random: the problems are ends of walks of K moves from the goal.")
    add("--blank-last", None, "The tiles of a file are meant for the goal with the blank last.")
    add("--seed", "N", "Seed of walks and random problems.", 0)
    add("--domain", "FILE", "Domain of the problems (default: domain.pddl in their directory).")
    add("--time-limit -t", "T", "Time limit of each search.", 300.0)
    add("--memory-limit -m", "M", "Memory limit of each search.", 8 << 30)
    add("--no-cache", None, "Models of puzzles: build pattern databases anew and store nothing.")
    add("--json", None, "Print one JSON object.")
    add("--quiet -q", None, "Show neither progress nor a summary.")


def run(arguments: Namespace) -> int:
    from hstar.estimates.conformal import check_bound, check_confidence, check_form
    from hstar.estimates.rules import chosen
    from hstar.models.trained_model import load_model
    from hstar.recipes.calibrate import calibrate

    check_confidence(arguments.confidence)
    check_bound(arguments.bound)
    if arguments.form is not None:
        check_form(arguments.form)
    promise = {name: getattr(arguments, name) for name in ("confidence", "bound", "form")}
    promise["rule"] = chosen(arguments.rule, arguments.alpha)
    check_files(arguments.model)
    model = load_model(arguments.model)
    kind = model.space.kind
    if kind not in _KINDS:
        raise UnsupportedError(f"models of a {kind} cannot be calibrated; those of a {', '.join(_KINDS)} can")
    read, options, searches = _KINDS[kind]
    for name in ("walks", "random", "walk", "blank_last", "domain", "no_cache"):
        if getattr(arguments, name) not in (None, False) and name not in options:
            raise InputError(f"{flag(name)} is not for models of a {kind}: {arguments.model} is one")
    check_writable(arguments.output, "model")
    with ProgressLine(arguments.quiet) as line:
        given = read(model, arguments, line)
        line.announce("evaluating the first plan ...")
        new, found = calibrate(
            model,
            given.instances,
            limits=_limits(arguments),
            cache=not arguments.no_cache,
            progress=lambda done: line.announce(f"instance {done} of {given.number} ..."),
            distribution=given.distribution,
            **promise,
        )
        new.save(arguments.output)
    found = replace(found, left_out=found.left_out + given.left_out)
    _tell(arguments, found, searches, replaced=model.calibration is not None)
    return 0


@dataclass(frozen=True)
class _Given:
    """What a model is calibrated by."""

    instances: Any  # as `hstar.recipes.calibrate` takes them
    number: int
    distribution: str = ""  # in words, what they are drawn from
    left_out: int = 0  # problems without a plan


def _of_domain(model: _Model, arguments: Namespace, line: ProgressLine) -> _Given:
    """Labelled data; problems are solved and labelled here."""
    from hstar.sampling import relational
    from hstar.sampling.optimal import NoLabelError
    from hstar.sampling.relational import RelationalData, RelationalInstance
    from hstar.spaces.task import load_task

    files, problems = _sources(arguments)
    parts, words = [relational.load(path) for path in files], model.space.words
    instances: list[RelationalInstance] = []
    for number, (domain, problem) in enumerate(problems, 1):
        line.announce(f"problem {number} of {len(problems)}: {problem.name} ...")
        task = load_task(domain, problem, unit_cost=True)
        try:
            instances.append(_limits(arguments).label(task, words, str(problem)))
        except NoLabelError:
            continue
        except InputError as error:
            raise InputError(f"the model was trained for {words.domain}: {error.message}") from None
    parts += [RelationalData(words, tuple(instances))] if instances else []
    if not parts:
        raise InputError("no problem was solved within the limits")
    data = relational.merge(parts)
    return _Given(data, len(data.instances), left_out=len(problems) - len(instances))


def _of_task(model: _Model, arguments: Namespace, line: ProgressLine) -> _Given:
    from hstar.sampling.walks import Walks
    from hstar.spaces.task import load_task

    data, problems = _sources(arguments)
    if data:
        raise InputError(f"the model is of one task, which is calibrated by its problems, not by {data[0]}")
    tasks = (load_task(domain, problem, unit_cost=True) for domain, problem in problems)
    if arguments.walks is None:
        return _Given(tasks, len(problems))
    walks = Walks(arguments.walks, seed=arguments.seed)
    return _Given((start for task in tasks for start in walks.tasks(task)), len(problems) * arguments.walks)


def _of_puzzle(model: _Model, arguments: Namespace, line: ProgressLine) -> _Given:
    from hstar.experiments.batch import CALIBRATION, distribution, random_instances
    from hstar.spaces.puzzle import Instance

    puzzle, walk = model.space.puzzle, arguments.walk
    if (len(arguments.given) == 1) == (arguments.random is not None) or len(arguments.given) > 1:
        raise InputError("a model of a puzzle is calibrated by one CSV file of instances, or by --random N")
    if arguments.random is None:
        if walk is not None:
            raise InputError("--walk is for --random, not for a file of instances")
        (path,) = arguments.given
        check_files(path)
        instances = puzzle.read(path, blank_last=arguments.blank_last)
        hard, drawn = any(one.optimal_cost is None for one in instances), f"those of {path.name}"
    else:
        if arguments.blank_last:
            raise InputError("--blank-last is for a file of instances, not for --random")
        # `hstar solve` with the same seed has others: a promise is not tested by what it was made from.
        random = random_instances(puzzle, arguments.random, arguments.seed, walk, purpose=CALIBRATION)
        instances = [Instance(one.id, one.problem) for one in random]
        hard, drawn = walk is None, distribution(walk)
    if hard and not puzzle.quickly_solved:
        raise UnsupportedError(
            f"optimal plans of {puzzle} take too long from anywhere; give --walk K, "
            "or a file of instances with their optimal_cost"
        )
    return _Given(instances, len(instances), drawn)


def _of_maps(model: _Model, arguments: Namespace, line: ProgressLine) -> _Given:
    from hstar.experiments.batch import calibration_maps

    if bool(arguments.given) == (arguments.random is not None):
        raise InputError(
            "a model of maps is calibrated by .scen files, or by --random N maps like those it was trained on"
        )
    check_files(*arguments.given)
    problems = calibration_maps(model, arguments.given, arguments.random, arguments.seed)
    names = ", ".join(path.name for path in arguments.given)
    return _Given(problems, len(problems), f"those of {names}" if names else "random maps")


def _of_goal(model: _Model, arguments: Namespace, line: ProgressLine) -> _Given:
    """Random starts of the one map."""
    from hstar.experiments.batch import CALIBRATION, random_instances
    from hstar.spaces.load import load

    if len(arguments.given) != 1 or arguments.random is None:
        raise InputError("a model of one map and one goal is calibrated by the map and --random N starts")
    check_files(*arguments.given)
    steps = {name: getattr(model.space, name) for name in ("neighbours", "cut_corners")}
    problem = load(arguments.given[0], **steps).at(goal=model.space.goal)
    drawn = random_instances(problem, arguments.random, arguments.seed, purpose=CALIBRATION)
    starts = [problem.at(one.problem.start) for one in drawn]
    return _Given(starts, len(starts), "random starts of the map")


_Model: TypeAlias = "TrainedModel[Any]"
# By the kind of space: what a model is calibrated by, the options that only some kinds have, the searches.
_KINDS: dict[str, tuple[Callable[..., _Given], tuple[str, ...], str]] = {
    "domain": (_of_domain, ("domain",), "astar and idastar"),
    "task": (_of_task, ("walks", "domain"), "astar and idastar"),
    "puzzle": (_of_puzzle, ("random", "walk", "blank_last", "no_cache"), "idastar"),
    "map": (_of_maps, ("random",), "astar"),
    "map goal": (_of_goal, ("random",), "astar"),
}


def _tell(arguments: Namespace, found: Calibration, searches: str, *, replaced: bool) -> None:
    from hstar.estimates import conformal, rules

    rule, left_out = found.rule, found.left_out
    rank = conformal.rank(rule.instances, rule.confidence)
    about = {"rank": rank, "left_out": left_out, "replaced": replaced, "promise": rule.promise}
    moved = f"h - {rule.score:.4g}" if rule.form == "additive" else f"{rule.factor:.4g} h"
    if rule.form == "additive" and rule.bound > 1:
        moved = f"{rule.bound:g} ({moved})"
    text = f"{moved}; plans of {searches} are {rule.promise}"
    text += f", {left_out} problems without a plan left out" if left_out else ""
    text += ", in place of an earlier calibration" if replaced else ""
    show_outcome(arguments, {**rules.to_json(rule), **about}, text)


def _sources(arguments: Namespace) -> tuple[list[Path], list[tuple[Path, Path]]]:
    """Files of data, and domain and problem files."""
    if not arguments.given:
        raise InputError("give files of hstar sample, or problems, to calibrate by")
    problems = [path for path in arguments.given if path.is_dir() or path.suffix == ".pddl"]
    data = [path for path in arguments.given if path not in problems]
    return data, list(problem_files(problems, arguments.domain))


def _limits(arguments: Namespace) -> Optimal:
    from hstar.sampling.optimal import Optimal

    return Optimal(arguments.time_limit, arguments.memory_limit)
