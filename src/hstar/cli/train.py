"""`hstar train`: a heuristic, by any recipe for any kind of space that it knows."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.app import Parser
from hstar.cli.options import add_option, flag, given_options
from hstar.cli.progress import ProgressLine
from hstar.cli.tasks import FILES, add_translation, check_file, check_writable, load_files
from hstar.cli.train_options import RUN, introduce, options, profiles, shown
from hstar.cli.training import Watch, interrupted, memory_of_torch, summary
from hstar.errors import InputError
from hstar.spaces.load import in_words, kind_of

if TYPE_CHECKING:
    from hstar.recipes import Recipe, Run
    from hstar.recipes.recipe import Parts

DESCRIPTION = """\
Learns a heuristic from a SOURCE; `hstar solve` takes the model file as --heuristic. A source is a planning
task ([DOMAIN] PROBLEM, or a .sas file), a puzzle such as tiles:4x4, maps (images, .map and .scen files; none:
random ones), an own space (own.py:NAME) or, for a recipe that learns for a whole domain, files of labelled
states that `hstar sample` wrote, or one of the sets that come with hstar: blocksworld, ferry, gripper,
visitall. `hstar train RECIPE --help` has the options of a recipe, `hstar list recipes` tells what each is
for."""
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
    "hstar train bootstrap tiles:2x3 -o model.hstar --instances 20 --least-solved 5",
)
_INTERRUPTED = 130


# Options.


def configure(parser: Parser) -> None:
    """The arguments. Options of parts are read from their dataclasses; the help shows those that apply."""
    from hstar.recipes import RECIPES

    asked = next((word for word in parser.words if word in RECIPES), None)
    parser.add_argument(
        "recipe", metavar="RECIPE", help=f"one of {', '.join(RECIPES)}" if asked is None else "the recipe"
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="SOURCE", help="what to learn from")
    parser.usage = f"{parser.prog} [OPTION ...] RECIPE [SOURCE ...] -o MODEL"
    add = parser.add_argument
    add("--output", "-o", type=Path, required=True, metavar="MODEL", help="the file to write")
    add("--profile", metavar="NAME", help=f"named set of options: {profiles(asked)}")
    add("--data", type=Path, metavar="FILE", help="learn from what hstar sample wrote instead of sampling")
    add(
        "--held-out",
        type=Path,
        action="append",
        metavar="DATA",
        help="choose the best weights by these data of the domain, instead of a share of the problems",
    )
    add(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="keep the training here; the same command resumes it",
    )
    add(
        "--unit-cost",
        action="store_true",
        help="count every action of a task as cost 1",
    )
    add_translation(parser)
    add("--json", action="store_true", help="print what came of it as JSON")
    add("--quiet", "-q", action="store_true", help="no progress, no summary")
    if asked is not None:
        introduce(parser, RECIPES.get(asked), EXAMPLES)
    listed = {} if asked is None else shown(RECIPES.get(asked), parser.words)
    groups: dict[str, argparse._ActionsContainer] = {}
    for name, uses in listed.items():
        part = uses[0].part
        if part not in groups:
            groups[part] = parser.add_argument_group(part)
        add_option(groups[part], name, uses, list(RECIPES.get(str(asked)).spaces))
    for name, use in options().items():
        if name not in listed:
            add_option(parser, name, [use], [], hidden=True)


# The run.


def run(arguments: argparse.Namespace) -> int:
    """Checks everything, trains and writes the model."""
    from hstar.models.model import start_torch
    from hstar.recipes import RECIPES

    recipe = RECIPES.get(arguments.recipe)
    given = given_options(arguments, options())
    kind = _kind(recipe, arguments.files)
    sampler = _check(recipe, kind, arguments, given).get("sampler")
    check_writable(arguments.output, "model")
    if arguments.checkpoint is not None:
        _check_checkpoint(arguments.checkpoint, arguments.output)
    started = time.monotonic()
    try:
        with ProgressLine(arguments.quiet) as line, memory_of_torch():
            source = _source(recipe, kind, arguments, line)
            if sampler is not None:  # so that its time does not count as that of sampling
                line.announce("starting torch ...")
                start_torch()
            line.announce("starting ..." if sampler is None else f"sampling by {sampler.name} ...")
            watch = Watch(line)
            model = recipe.learn(kind, source, _run(arguments, watch), arguments.profile, given)
            model.save(arguments.output)
    except KeyboardInterrupt as stop:
        print(f"hstar: {interrupted(stop, arguments.checkpoint)}", file=sys.stderr)
        return _INTERRUPTED
    total_s = time.monotonic() - started
    if arguments.json:
        about: dict[str, Any] = {"recipe": model.recipe, "model": model.model, "space": str(model.space)}
        about |= {name: len(getattr(model.space, name)) for name in ("atoms",) if hasattr(model.space, name)}
        times = {"sampling_time": watch.sampling_s(), "total_time": total_s, "cpu_time": time.process_time()}
        print(json.dumps({**about, **model.summary, **times}))
    if not arguments.quiet:
        origin = f"from {arguments.data}" if arguments.data else f"sampled in {watch.sampling_s():.2f} s"
        print(f"{arguments.output}: {summary(model, str(origin))}, {total_s:.1f} s in all", file=sys.stderr)
    return 0


def _kind(recipe: Recipe, files: list[Path]) -> str:
    """The kind of space that the arguments name; of PDDL and of data files the recipe decides."""
    if not files:
        if "map" not in recipe.methods:
            raise InputError(f"the following arguments are required: {FILES} (see hstar train --help)")
        return "map"
    if all(path.suffix == ".scen" for path in files):
        return "map"
    kind = kind_of(str(files[0])).name
    return "domain" if kind == "task" and recipe.spaces == ("domain",) else kind


def _check(recipe: Recipe, kind: str, arguments: argparse.Namespace, given: dict[str, Any]) -> Parts:
    """The parts; refuses what it can before the translation and the sampling, which may take long."""
    from hstar.recipes.recipe import Run
    from hstar.sampling import relational

    recipe.method(kind)
    for name in RUN:
        wrong = getattr(arguments, name) not in (None, False, "native") and kind != RUN[name]
        if wrong:
            raise InputError(f"{flag(name)} is not an option of {recipe.name} for {in_words([kind])}")
    known = recipe.fields(kind, given)
    if foreign := next((name for name in given if not any(name in part for part in known.values())), None):
        raise InputError(f"{flag(foreign)} is not an option of {recipe.name} for {in_words([kind])}")
    source: Any = arguments.files or None
    if kind == "puzzle":
        if len(arguments.files) != 1:
            raise InputError(f"expected one puzzle such as tiles:4x4, got {len(arguments.files)} words")
        source = kind_of(str(source[0])).load(str(source[0]))
    parts = recipe.check(kind, arguments.profile, given, source)
    recipe.check_run(kind, Run(None, arguments.checkpoint, arguments.data, arguments.held_out))
    if arguments.data is not None:
        others = {name for part in known if part != "sampler" for name in known[part]}
        sampling = set(known["sampler"]) - others
        if name := next((name for name in given if name in {"sampler", *sampling}), ""):
            raise InputError(f"{flag(name)} is for sampling, but the data are given")
        check_file(arguments.data)
    if kind == "domain":
        for path in (*arguments.files, *(arguments.held_out or ())):
            relational.locate(path)
    if kind == "own" and len(arguments.files) != 1:
        raise InputError(f"expected one space such as own.py:Lights, got {len(arguments.files)} words")
    if kind == "map" or (kind == "task" and len(arguments.files) <= 2):
        for path in arguments.files:
            check_file(path)
    return parts


def _source(recipe: Recipe, kind: str, arguments: argparse.Namespace, line: ProgressLine) -> Any:
    """What the recipe learns from."""
    from hstar.sampling import relational
    from hstar.spaces.load import load

    files = arguments.files
    if kind == "task":
        line.announce(f"translating {files[-1]} ...")
        return load_files(files, translator=arguments.translator, unit_cost=arguments.unit_cost)
    if kind == "domain":
        line.announce("reading the data ...")
        return relational.merge(map(relational.load, files))
    if kind == "map" and not (files and recipe.name == "likely-admissible"):
        return files or None
    return [load(path) for path in files] if kind == "map" else load(str(files[0]))


def _run(arguments: argparse.Namespace, watch: Watch) -> Run:
    from hstar.recipes import Run
    from hstar.sampling import dataset, relational

    held_out = arguments.held_out and relational.merge(map(relational.load, arguments.held_out))
    data = None if arguments.data is None else dataset.load(arguments.data)
    return Run(watch, arguments.checkpoint, data, held_out or None)


def _check_checkpoint(path: Path, output: Path) -> None:
    from hstar import container
    from hstar.training.checkpoint import FORMAT_VERSION

    check_writable(path, "checkpoint")
    if path.resolve() == output.resolve():
        raise InputError("model and checkpoint cannot be the same file", file=path)
    if path.exists():
        container.read(path, "checkpoint", FORMAT_VERSION)
