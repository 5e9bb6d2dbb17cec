"""`hstar train`: a heuristic for a task."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.app import Parser
from hstar.cli.options import Use, add_option, flag, given_options
from hstar.cli.problems import kind_of_files, problems_of
from hstar.cli.progress import ProgressLine
from hstar.cli.tasks import FILES, add_task_files, check_file, check_writable, load_files
from hstar.cli.train_grid import grid_options, grid_plan, grid_summary
from hstar.cli.train_own import PART, own_learner, own_options, own_summary
from hstar.errors import InputError
from hstar.registry import unknown
from hstar.units import format_count

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel
    from hstar.recipes.puzzle_recipe import PuzzleProgress
    from hstar.recipes.recipe import Recipe
    from hstar.training.loop import Progress

DESCRIPTION = """\
Learns a heuristic; `hstar solve` takes the model file as --heuristic. Recipes for the goal and the facts of
one task, from any initial state: rsl and nrsl (pre-images), fsm (breadth-first regression, then random
walks). For all tasks of a domain, from DATA that `hstar sample optimal` wrote: wl (linear in Weisfeiler-Leman
features), truncated (a Gaussian truncated at an admissible bound, by any of several models). DATA may be one
of the sets that come with hstar: blocksworld, ferry, gripper, visitall. For a native PUZZLE such as
tiles:4x4, pancake:24 or blocks:15, which `hstar solve` solves: likely-admissible (from the goal alone, by
tasks that it sets itself; for one planning task, too), bootstrap (from a weak heuristic and random
instances). For maps, which
`hstar solve` plans on: prolonged (prolonged backward search), from random ones, or from images, .map and
.scen files. For your own state space, own.py:NAME: prolonged (from its goals, by its predecessors) and
bootstrap (from plans that it finds itself)."""
EXAMPLES = (
    "hstar train nrsl domain.pddl problem.pddl -o model.hstar --states 500 --epochs 5",
    "hstar train nrsl problem.pddl -o model.hstar --estimate gaussian --states 500 --epochs 5",
    "hstar train fsm problem.pddl -o model.hstar --states 500 --time-limit 1m --seed 1 --patience 2",
    "hstar train wl states.data -o model.hstar",
    "hstar train wl gripper -o model.hstar",
    "hstar train truncated states.data -o model.hstar --updates 20",
    "hstar train likely-admissible tiles:3x3 -o model.hstar --profile quick --iterations 2",
    "hstar train likely-admissible problem.pddl -o model.hstar --iterations 2",
    "hstar train prolonged -o model.hstar --scenarios 20 --k-pr 2 --updates 20",
)
_GROUPS = {"sampler": "sampling", "model": "network", "training": "training"}
_PARTS = ("sampler", "model", "training", "selection", "exchange")  # of a recipe for a task
PARTS = ("sampler", "model", "estimate")
_PUZZLE = "puzzle "  # begins the part of a recipe for puzzles
_INTERRUPTED = 130


# Options.


def configure(parser: Parser) -> None:
    """The arguments; options of the parts are read from their dataclasses, one group a part."""
    from hstar.recipes import DOMAIN_RECIPES, GRID_RECIPE, PUZZLE_RECIPES, RECIPES

    owners = list(dict.fromkeys([*RECIPES, *DOMAIN_RECIPES, *PUZZLE_RECIPES, GRID_RECIPE]))
    parser.add_argument("recipe", metavar="RECIPE", help=f"one of {', '.join(owners)}")
    add_task_files(parser, "*")
    parser.usage = (
        f"{parser.prog} [OPTION ...] RECIPE {FILES} | DATA ... | PUZZLE | [MAP ...] | own.py:NAME -o MODEL"
    )
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="MODEL", help="the file to write")
    parser.add_argument(
        "--profile",
        metavar="NAME",
        help="default, whose values stand below, or the parameters as published: paper; of truncated as-run "
        "and as-intended, of likely-admissible efficiency and quick",
    )
    parser.add_argument(
        "--data", type=Path, metavar="FILE", help="learn from what hstar sample wrote instead of sampling"
    )
    parser.add_argument(
        "--held-out",
        type=Path,
        action="append",
        metavar="DATA",
        help="for a domain: what the best weights are chosen by, instead of a share of the problems",
    )
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="keep the training here after each epoch or iteration; the same command goes on from there",
    )
    parser.add_argument(
        "--unit-cost", action="store_true", help="likely-admissible of a task: count every action as cost 1"
    )
    parser.add_argument("--json", action="store_true", help="print what came of it as JSON")
    parser.add_argument("--quiet", "-q", action="store_true", help="no progress, no summary")
    groups: dict[str, argparse._ActionsContainer] = {}
    asked = _asked(parser, owners)
    if asked is not None:
        _hide(parser, asked)
    for name, uses in _options().items():
        if asked is not None:  # `hstar train RECIPE --help`: only what applies
            uses, owners = [use for use in uses if use.owner == asked], [asked]
            if not uses:
                continue
        title = _group({use.part for use in uses})
        if title is not None and title not in groups:
            groups[title] = parser.add_argument_group(title)
        add_option(parser if title is None else groups[title], name, uses, owners)


def _asked(parser: Parser, owners: list[str]) -> str | None:
    """The recipe whose help is asked for; the help then has its paper and its examples alone."""
    recipe = next((word for word in parser.words if word in owners), None)
    if recipe is None or not {"-h", "--help"} & set(parser.words):
        return None
    from hstar.recipes import recipe_info
    from hstar.spaces.load import in_words

    info = recipe_info(recipe)
    parser.description = f"{recipe} learns for {in_words(info.spaces)} ({info.paper})."
    own = [line for line in EXAMPLES if f" train {recipe} " in line]
    parser.epilog = "\n".join(["examples:", *(f"  {line}" for line in own)])
    return recipe


def _hide(parser: Parser, recipe: str) -> None:
    """Leaves options out of the help that this recipe does not have."""
    from hstar.recipes import DOMAIN_RECIPES, RECIPES
    from hstar.recipes.likely_admissible_config import NAME as GOAL_RECIPE

    has = {
        "held_out": recipe in DOMAIN_RECIPES,
        "data": recipe in RECIPES,
        "unit_cost": recipe == GOAL_RECIPE,
    }
    for action in parser._actions:
        if not has.get(action.dest, True):
            action.help = argparse.SUPPRESS


def _group(parts: set[str]) -> str | None:
    """The heading of an option that these parts have; None: of all kinds of parts, as the seed."""
    if all(part.startswith(_PUZZLE) for part in parts):
        return "recipes for puzzles"
    if all(part.startswith("grid ") for part in parts):
        return "recipe for maps"
    if all(part.startswith(PART) for part in parts):
        return "recipes for own spaces"
    if parts <= {"training"} | {part for part in parts if part not in _PARTS}:
        return "training" if "training" in parts else "recipes for domains"
    if len(parts) == 1:
        (part,) = parts
        return _GROUPS.get(part, part)
    return None


def _options() -> dict[str, list[Use]]:
    """Options of all recipes' parts by name, in the order of the parts."""
    from hstar.recipes import DOMAIN_RECIPES, PUZZLE_RECIPES, RECIPES
    from hstar.recipes.recipe import Exchange, option_fields

    found: dict[str, list[Use]] = {}
    for recipe in map(RECIPES.get, RECIPES):
        profile = next(iter(recipe.profiles.values()), {})
        exchange = {entry.name: entry for entry in fields(Exchange)}
        for part, entries in {**option_fields(recipe), "exchange": exchange}.items():
            for name, entry in entries.items():
                if part == "exchange":
                    default = getattr(recipe, name, entry.default)
                    found.setdefault(name, []).append(Use(recipe.name, part, entry, default))
                elif entry.default is not MISSING:
                    default = profile.get(name, entry.default)
                    found.setdefault(name, []).append(Use(recipe.name, part, entry, default))
    for domain_recipe in map(DOMAIN_RECIPES.get, DOMAIN_RECIPES):
        profile, told = next(iter(domain_recipe.profiles({}).values())), domain_recipe.told_defaults()
        for part, entries in domain_recipe.parts({}).items():
            for name, entry in entries.items():
                default = told.get(name, profile.get(name, entry.default))
                found.setdefault(name, []).append(Use(domain_recipe.name, part, entry, default))
    for puzzle_recipe in map(PUZZLE_RECIPES.get, PUZZLE_RECIPES):
        profile, part = next(iter(puzzle_recipe.profiles(None).values())), _PUZZLE + puzzle_recipe.name
        for entry in fields(puzzle_recipe.options):
            default = profile.get(entry.name, entry.default)
            found.setdefault(entry.name, []).append(Use(puzzle_recipe.name, part, entry, default))
    for name, use in grid_options().items():
        found.setdefault(name, []).append(use)
    for name, uses in own_options().items():  # options of other recipes are told with these
        found.setdefault(name, uses)
    return found


# The run.


def run(arguments: argparse.Namespace) -> int:
    """Trains and writes the model."""
    from hstar.recipes import DOMAIN_RECIPES, GRID_RECIPE, PUZZLE_RECIPES, RECIPES
    from hstar.recipes.likely_admissible_config import NAME as GOAL_RECIPE

    given = given_options(arguments, _options())
    if arguments.files and kind_of_files(arguments.files) == "own":
        return _train_own(arguments, given)
    if arguments.unit_cost and arguments.recipe != GOAL_RECIPE:
        raise InputError(f"--unit-cost is not an option of {arguments.recipe}")
    if arguments.recipe == GRID_RECIPE and not any(
        path.suffix in (".pddl", ".sas") for path in arguments.files
    ):
        return _train_grid(arguments, given)
    if not arguments.files:
        raise InputError(f"the following arguments are required: {FILES} (see hstar train --help)")
    if arguments.recipe in DOMAIN_RECIPES:
        return _train_domain(arguments, given)
    if arguments.held_out:
        raise InputError(f"--held-out is not an option of {arguments.recipe}")
    if arguments.recipe in PUZZLE_RECIPES:
        return _train_puzzle(arguments, given)
    if arguments.recipe not in RECIPES:
        raise unknown("recipe", arguments.recipe, [*RECIPES, *DOMAIN_RECIPES, *PUZZLE_RECIPES, GRID_RECIPE])
    return _train_task(arguments, given)


def _carry_out(
    arguments: argparse.Namespace,
    learn: Callable[[ProgressLine], TrainedModel[Any]],
    facts: Callable[[TrainedModel[Any]], dict[str, Any]],
    told: Callable[[TrainedModel[Any]], str],
) -> int:
    """Writes the model that is learned, and tells of it: in JSON its `facts`, to people what is `told`."""
    check_writable(arguments.output, "model")
    if arguments.checkpoint is not None:
        _check_checkpoint(arguments.checkpoint, arguments.output)
    started = time.monotonic()
    try:
        with ProgressLine(arguments.quiet) as line, _memory_of_torch():
            model = learn(line)
            model.save(arguments.output)
    except KeyboardInterrupt as stop:
        print(f"hstar: {_interrupted(stop, arguments.checkpoint)}", file=sys.stderr)
        return _INTERRUPTED
    total_s = time.monotonic() - started
    if arguments.json:
        times = {"total_time": total_s, "cpu_time": time.process_time()}
        print(json.dumps({"recipe": model.recipe, **facts(model), **model.summary, **times}))
    if not arguments.quiet:
        print(f"{arguments.output}: {told(model)}, {total_s:.1f} s in all", file=sys.stderr)
    return 0


def _train_task(arguments: argparse.Namespace, given: dict[str, Any]) -> int:
    """A heuristic for a task, from states that are sampled or given."""
    from hstar.models.model import start_torch
    from hstar.recipes import RECIPES, train_task
    from hstar.sampling import dataset

    recipe = RECIPES.get(arguments.recipe)
    _check(recipe, arguments, given)
    sampling_s = 0.0

    def learn(line: ProgressLine) -> TrainedModel[Any]:
        nonlocal sampling_s
        line.announce(f"translating {arguments.files[-1]} ...")
        task = load_files(arguments.files, translator=arguments.translator)
        data = None if arguments.data is None else dataset.load(arguments.data)
        line.announce("starting torch ...")
        start_torch()
        line.announce(f"sampling by {recipe.sampler} ..." if data is None else "training ...")
        watch = _Watch(line)
        model = train_task(
            recipe.name,
            task,
            profile=arguments.profile,
            progress=watch,
            checkpoint=arguments.checkpoint,
            data=data,
            **given,
        )
        sampling_s = watch.sampling_s()
        return model

    def facts(model: TrainedModel[Any]) -> dict[str, Any]:
        return {"atoms": len(model.space.atoms), "sampling_time": sampling_s}

    def told(model: TrainedModel[Any]) -> str:
        origin = f"sampled in {sampling_s:.2f} s" if arguments.data is None else f"from {arguments.data}"
        return _summary(model, origin)

    return _carry_out(arguments, learn, facts, told)


@contextmanager
def _memory_of_torch() -> Iterator[None]:
    """A `MemoryError` where torch has none: it has no type for it on all devices."""
    try:
        yield
    except RuntimeError as error:
        if "allocate memory" in str(error) or "out of memory" in str(error):
            raise MemoryError from None
        raise


def _train_domain(arguments: argparse.Namespace, given: dict[str, Any]) -> int:
    """A heuristic for a domain, from files of labelled states."""
    from hstar.recipes import DOMAIN_RECIPES
    from hstar.recipes.domain_recipe import check_options, train_domain
    from hstar.sampling import relational

    recipe = DOMAIN_RECIPES.get(arguments.recipe)
    if arguments.data is not None:
        raise InputError(f"--data is not an option of {recipe.name}")
    try:
        check_options(recipe, arguments.profile, given)
    except InputError:
        known = {name for part in recipe.parts(given).values() for name in part}
        if foreign := next((name for name in given if name not in known), None):
            raise InputError(f"{flag(foreign)} is not an option of {recipe.name}") from None
        raise
    if arguments.checkpoint is not None and not recipe.resumable:
        raise InputError(f"--checkpoint is not an option of {recipe.name}")
    for path in (*arguments.files, *(arguments.held_out or ())):
        relational.locate(path)

    def learn(line: ProgressLine) -> TrainedModel[Any]:
        line.announce("reading the data ...")
        data = relational.merge(relational.load(path) for path in arguments.files)
        held_out = None
        if arguments.held_out:
            held_out = relational.merge(relational.load(path) for path in arguments.held_out)
        line.announce("training ...")
        return train_domain(
            recipe.name,
            data,
            profile=arguments.profile,
            held_out=held_out,
            progress=_Watch(line),
            checkpoint=arguments.checkpoint,
            **given,
        )

    return _carry_out(arguments, learn, lambda model: {"model": model.model}, _domain_summary)


def _domain_summary(model: TrainedModel[Any]) -> str:
    found = model.summary
    told = [
        model.recipe,
        f"{found['states']} states of {found['instances']} tasks of {model.space.words.domain}",
    ]
    if "features" in found:  # a regression
        told += [f"{found['features']} features", f"mean squared error {found['mse']:.3g}"]
        if found["held_out_mse"] is not None:
            told[-1] += f" ({found['held_out_mse']:.3g} on held-out tasks)"
    else:
        told.insert(1, f"{model.model} and {model.estimate.name}")
        criterion, where = "loss", "the same tasks"
        if found["validation_states"]:
            criterion, where = model.recipe_config["training"]["criterion"], "held-out tasks"
        told.append(f"{found['epochs']} epochs, {criterion} {found['best_loss']:.3g} on {where}")
    return ", ".join(told)


def _train_puzzle(arguments: argparse.Namespace, given: dict[str, Any]) -> int:
    """A heuristic for a native puzzle, from nothing but its name, or for a task, from its goal."""
    from hstar.recipes import PUZZLE_RECIPES
    from hstar.recipes.likely_admissible_config import NAME as GOAL_RECIPE

    recipe = PUZZLE_RECIPES.get(arguments.recipe)
    if arguments.data is not None:
        raise InputError(f"--data is not an option of {recipe.name}")
    known = [entry.name for entry in fields(recipe.options)]
    if foreign := next((name for name in given if name not in known), None):
        raise InputError(f"{flag(foreign)} is not an option of {recipe.name}")
    of_task = recipe.name == GOAL_RECIPE and any(map(_is_task_file, arguments.files))
    if of_task:
        return _carry_out(
            arguments,
            _task_learner(arguments, given),
            lambda model: {"atoms": len(model.space.atoms)},
            lambda model: _learned_alone(model, f"{len(model.space.atoms)} atoms"),
        )
    return _carry_out(
        arguments,
        _puzzle_learner(arguments, given),
        lambda model: {"puzzle": str(model.space)},
        lambda model: _learned_alone(model, str(model.space)),
    )


def _is_task_file(path: Path) -> bool:
    return path.suffix in (".pddl", ".sas") or path.is_file()


def _puzzle_learner(
    arguments: argparse.Namespace, given: dict[str, Any]
) -> Callable[[ProgressLine], TrainedModel[Any]]:
    """What learns the puzzle of the arguments, which are checked now, and writes the model."""
    from hstar.recipes import PUZZLE_RECIPES, train_puzzle
    from hstar.recipes.puzzle_recipe import check_options
    from hstar.spaces.puzzles import parse_puzzle

    if len(arguments.files) != 1:
        raise InputError(f"expected one puzzle such as tiles:4x4, got {len(arguments.files)} words")
    puzzle = parse_puzzle(str(arguments.files[0]))
    check_options(PUZZLE_RECIPES.get(arguments.recipe), puzzle, arguments.profile, given)
    if arguments.unit_cost:
        raise InputError("--unit-cost is for planning tasks: all moves of a puzzle cost 1")

    def learn(line: ProgressLine) -> TrainedModel[Any]:
        line.announce("starting ...")
        return train_puzzle(arguments.recipe, puzzle, **_run_of(arguments, line), **given)

    return learn


def _task_learner(
    arguments: argparse.Namespace, given: dict[str, Any]
) -> Callable[[ProgressLine], TrainedModel[Any]]:
    """The same for the task of the arguments."""
    from hstar.recipes import train_likely_admissible
    from hstar.recipes.likely_admissible_config import check_task_options

    check_task_options(arguments.profile, given)

    def learn(line: ProgressLine) -> TrainedModel[Any]:
        line.announce(f"translating {arguments.files[-1]} ...")
        task = load_files(
            arguments.files,
            translator=arguments.translator,
            unit_cost=arguments.unit_cost,
        )
        line.announce("starting ...")
        return train_likely_admissible(task, **_run_of(arguments, line), **given)

    return learn


def _run_of(arguments: argparse.Namespace, line: ProgressLine) -> dict[str, Any]:
    """What a run takes beside its options."""
    started = time.monotonic()

    def show(record: PuzzleProgress) -> None:
        line.update(time.monotonic() - started, _iteration(record))

    return {"profile": arguments.profile, "progress": show, "checkpoint": arguments.checkpoint}


def _iteration(record: PuzzleProgress) -> str:
    number = (
        f"{record.iteration}" if record.iterations is None else f"{record.iteration} of {record.iterations}"
    )
    return f"{record.time_s:7.1f} s  iteration {number}  {record.states} states  {record.doing}"


def _learned_alone(model: TrainedModel[Any], subject: str) -> str:
    found = model.summary
    return (
        f"{model.recipe}, {subject}, {found['iterations']} iterations, "
        f"{found['solved']} of {found['tasks']} tasks solved, {found['states']} states, "
        f"{format_count(found['generated'])} generated"
    )


def _train_grid(arguments: argparse.Namespace, given: dict[str, Any]) -> int:
    """Values of maps, from scenarios."""
    from hstar.recipes import GRID_RECIPE, train_prolonged

    for name in ("data", "held_out"):
        if getattr(arguments, name):
            raise InputError(f"{flag(name)} is not an option of {GRID_RECIPE}")
    plan = grid_plan(arguments.profile, given, arguments.files)

    def learn(line: ProgressLine) -> TrainedModel[Any]:
        line.announce("reading the maps ..." if arguments.files else "drawing maps ...")
        problems = problems_of(arguments.files, plan.options.scenarios, plan.training.seed, plan.maps)
        line.announce(f"labelling the states of {len(problems)} scenarios ...")
        watch, checkpoint = _Watch(line), arguments.checkpoint
        return train_prolonged(
            problems, profile=arguments.profile, progress=watch, checkpoint=checkpoint, **given
        )

    return _carry_out(arguments, learn, lambda model: {"model": model.model}, grid_summary)


def _train_own(arguments: argparse.Namespace, given: dict[str, Any]) -> int:
    """A heuristic for a user's own space."""
    learner = own_learner(arguments, given)

    def learn(line: ProgressLine) -> TrainedModel[Any]:
        line.announce("starting ...")
        watch, show = _Watch(line), _run_of(arguments, line)["progress"]
        return learner(lambda record: show(record) if hasattr(record, "doing") else watch(record))

    return _carry_out(arguments, learn, lambda model: {"space": str(model.space)}, own_summary)


class _Watch:
    """Shows the progress of a training; the time before the first record of a network is that of sampling."""

    def __init__(self, line: ProgressLine) -> None:
        self._line = line
        self._started = self._last = time.monotonic()
        self._network = 0
        self._sampling_s = 0.0

    def __call__(self, record: Progress) -> None:
        now = time.monotonic()
        if record.network != self._network:
            # After a checkpoint a later epoch comes first, and the time is not only that of this run.
            trained_s = record.time_s if record.epoch == 1 else 0.0
            self._sampling_s += max(0.0, now - self._last - trained_s)
            self._network = record.network
        self._last = now
        self._line.update(now - self._started, _epoch(record))

    def sampling_s(self) -> float:
        """Asked after the training; without a record all was in the checkpoint."""
        return self._sampling_s if self._network else time.monotonic() - self._started


def _epoch(record: Progress) -> str:
    network = f"network {record.network} of {record.networks}  " if record.networks > 1 else ""
    best = f"best {record.best_loss:.3g} in epoch {record.best_epoch}" if record.best_epoch else "best -"
    return (
        f"{record.time_s:7.1f} s  {network}epoch {record.epoch} of at most {record.epochs}  "
        f"loss {record.train_loss:.3g}  {best}"
    )


def _summary(model: TrainedModel[Any], origin: str) -> str:
    found = model.summary
    return (
        f"{model.recipe}, {found['states']} states {origin}, {len(model.space.atoms)} atoms, "
        f"{found['epochs']} epochs (ended by {found['stopped'].replace('_', ' ')}), "
        f"loss {found['best_loss']:.3g}"
    )


def _interrupted(stop: KeyboardInterrupt, checkpoint: Path | None) -> str:
    """One line: how far it came, and how to go on."""
    # A training says how far it came; of several networks it knows only its own checkpoint.
    done = f": {str(stop).partition(';')[0]}" if str(stop) else ""
    if checkpoint is not None:
        return f"interrupted{done}; to go on from {checkpoint}, run the same command again"
    return f"interrupted{done}; no model is written (with --checkpoint FILE it could go on)"


# What can be refused before the translation and the sampling, which may take long.


def _check(recipe: Recipe, arguments: argparse.Namespace, given: dict[str, Any]) -> None:
    from hstar.models import model_of
    from hstar.recipes.recipe import Exchange, option_fields, resolve
    from hstar.recipes.selection import Selection
    from hstar.sampling import make_sampler
    from hstar.training.config import TrainConfig

    exchanged = recipe.exchanged({name: given[name] for name in given if name in PARTS})[0]
    known = {**option_fields(exchanged), "exchange": {entry.name: entry for entry in fields(Exchange)}}
    for name in given:
        if not any(name in entries for entries in known.values()):
            raise InputError(f"{flag(name)} is not an option of {recipe.name}")
        sampling = name == "sampler" or all(name not in known[part] for part in known if part != "sampler")
        if arguments.data is not None and sampling:
            raise InputError(f"{flag(name)} is for sampling, but the data are given")
    chosen, _, parts, _ = resolve(recipe.name, arguments.profile, given)
    make_sampler(chosen.sampler, **parts["sampler"])
    model_of("task", chosen.model)(**parts["model"])
    TrainConfig(**parts["training"])
    Selection(**parts["selection"])

    if len(arguments.files) <= 2:
        for path in [*arguments.files, *([] if arguments.data is None else [arguments.data])]:
            check_file(path)


def _check_checkpoint(path: Path, output: Path) -> None:
    from hstar import container
    from hstar.training.checkpoint import FORMAT_VERSION

    check_writable(path, "checkpoint")
    if path.resolve() == output.resolve():
        raise InputError("model and checkpoint cannot be the same file", file=path)
    if path.exists():
        container.read(path, "checkpoint", FORMAT_VERSION)
