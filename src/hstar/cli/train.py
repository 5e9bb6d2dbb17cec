"""`hstar train`: a heuristic, by any recipe for any kind of space that it knows."""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from dataclasses import MISSING, replace
from pathlib import Path
from typing import Any

from hstar.cli.folders import LABEL_LIMIT, label_folder
from hstar.cli.options import Parser, Use, add_option, flag, given_options
from hstar.cli.problems import TASK, add_translation, kind_of_files, load_files
from hstar.cli.progress import ProgressLine, show_outcome
from hstar.cli.training import Watch, interrupted, memory_of_torch, summary
from hstar.errors import InputError, UnsupportedError
from hstar.files import check_files, check_writable
from hstar.limits import limited
from hstar.models import models_of
from hstar.models.model import start_torch
from hstar.recipes import RECIPES, Recipe, Run, recipes
from hstar.recipes.recipe import INTERRUPTED, Parts
from hstar.recipes.sampled_task import without_regression
from hstar.registry import unknown
from hstar.sampling import SAMPLERS, dataset, relational
from hstar.search.result import EXIT_CODES
from hstar.spaces.load import in_words, load

DESCRIPTION = """\
Learns a heuristic from a SOURCE; `hstar solve` takes the model file as --heuristic. A source is a planning
task ([DOMAIN] PROBLEM, or a .sas file), a puzzle such as tiles:4x4, maps (images, .map and .scen files; none:
random ones), an own space (own.py:NAME) or, for a recipe that learns for a whole domain, a FOLDER with
domain.pddl and problems (`hstar train FOLDER -o MODEL`: the recipe is then wl unless named), labelled
states that `hstar sample` wrote, or one of the sets that come with hstar: blocksworld, ferry, gripper,
visitall. A FOLDER of such a name that has a domain.pddl is used instead of the set. `hstar train RECIPE
--help` has the options of a recipe, `hstar list recipes` tells what each is for."""
EXAMPLES = (
    "hstar train folder -o model.hstar --label-limit 5s",
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
# Options of a run, and the kind of space that has them.
_RUN = {"data": "task", "held_out": "domain", "unit_cost": "task", "translator": "task"}
_RUN |= {"label_limit": "domain", "plans": "domain"}


def configure(parser: Parser) -> None:
    """Options of parts are read from their dataclasses; the help shows those of the recipe that is typed."""
    typed = next((RECIPES.get(word) for word in parser.words if word in RECIPES), None)
    add = parser.option
    parser.usage = f"{parser.prog} [OPTION ...] [RECIPE] [SOURCE ...] -o MODEL"
    named = "The recipe." if typed else f"Recipe, one of {', '.join(RECIPES)}; wl if a FOLDER stands here."
    add("recipe", "RECIPE", named)
    add("files", "SOURCE", "What to learn from.", nargs="*", type=Path)
    add("--output -o", "MODEL", "Write the model to this file.", required=True)
    methods = [method for recipe in ([typed] if typed else recipes()) for method in recipe.methods.values()]
    profiles = dict.fromkeys(name for method in methods for name in method.profiles({}, None))
    add("--profile", "NAME", f"Named set of options: {', '.join(profiles)}.")
    text = "FOLDER: time limit of A* for each problem, and of lama-first where A* finds no plan."
    add("--label-limit", "T", f"{text} (default: 10s)")
    add("--plans", "FOLDER", "FOLDER: label along plans in this folder, p01.plan for p01.pddl.")
    add("--data", "FILE", "Learn from the labelled states that hstar sample wrote instead of sampling.")
    text = "Choose the best weights by these data of the domain, instead of a share of the problems."
    add("--held-out", "DATA", text, action="append")
    add("--checkpoint", "FILE", "Save the training to this file; the same command resumes it.")
    add("--unit-cost", None, "Count every action of a task as cost 1.")
    add_translation(parser)
    add("--json", None, "Print the summary as JSON.")
    add("--quiet -q", None, "Show neither progress nor a summary.")
    shown = _introduce(parser, typed) if typed else {}
    for name, use in _all_options().items():
        if name not in shown:
            add_option(parser, [use], [], hidden=True)


def _introduce(parser: Parser, recipe: Recipe) -> dict[str, list[Use]]:
    """The help of one recipe: its paper, its examples, and its options, which are returned."""
    parser.description = f"{recipe.name} learns for {in_words(recipe.spaces)} ({recipe.paper})."
    own = [line for line in EXAMPLES if f" train {recipe.name} " in line]
    parser.epilog = "\n".join(["examples:", *(f"  {line}" for line in own)])
    taken = {name for method in recipe.methods.values() for name in method.takes}
    for action in parser._actions:
        foreign = action.dest in ("data", "held_out") and action.dest not in taken
        if foreign or _RUN.get(action.dest) not in (None, *recipe.spaces):
            action.help = argparse.SUPPRESS
    # For the model and the sampler that are typed.
    pairs = itertools.pairwise(parser.words)
    choice = {word[2:]: value for word, value in pairs if word in ("--model", "--sampler")}
    found: dict[str, list[Use]] = {}
    for kind in recipe.spaces:
        for name, use in (_uses(recipe, kind, choice) or _uses(recipe, kind, {})).items():
            found.setdefault(name, []).append(use)
    groups: dict[str, argparse._ActionsContainer] = {}
    for uses in found.values():
        part = uses[0].part
        if part not in groups:
            groups[part] = parser.add_argument_group(part)
        add_option(groups[part], uses, recipe.spaces)
    return found


def _all_options() -> dict[str, Use]:
    """All options of all recipes, so that a wrong one is answered with the recipe's name."""
    found: dict[str, Use] = {}
    for recipe in recipes():
        for kind in recipe.spaces:
            choices = [{}, *({"model": name} for name in models_of(kind))]
            choices += [{"sampler": name} for name in SAMPLERS] if kind == "task" else []
            for choice in choices:
                found = _uses(recipe, kind, choice) | found
    return found


def _uses(recipe: Recipe, kind: str, choice: dict[str, str]) -> dict[str, Use]:
    """The options of a recipe for a kind of space, with their defaults, where some choose its parts."""
    try:
        parts, profiles = recipe.fields(kind, choice), recipe.method(kind).profiles(choice, None)
    except (InputError, UnsupportedError):
        return {}
    default = next(iter(profiles.values()))
    return {
        name: Use(kind, part, entry, choice.get(name, default.get(name, entry.default)))
        for part, entries in parts.items()
        for name, entry in entries.items()
        if entry.default is not MISSING and name not in _RUN
    }


def run(arguments: argparse.Namespace) -> int:
    if arguments.recipe not in RECIPES:
        if not Path(arguments.recipe).is_dir():
            raise unknown("recipe or folder of problems", arguments.recipe, RECIPES.names())
        arguments.files.insert(0, Path(arguments.recipe))
        arguments.recipe = "wl"
    recipe = RECIPES.get(arguments.recipe)
    given = given_options(arguments, _all_options())
    kind = _kind(recipe, arguments.files)
    sampler = _check(recipe, kind, arguments, given).get("sampler")
    check_writable(arguments.output, "model")
    if arguments.checkpoint is not None:
        _check_checkpoint(arguments.checkpoint, arguments.output)
    started = time.monotonic()
    limit = limited(given.get("time_limit"), None, alarm=True)
    try:
        with ProgressLine(arguments.quiet) as line, memory_of_torch(), limit:
            source = _source(recipe, kind, arguments, line)
            if kind == "task" and arguments.data is None:
                sampler = _sampler(recipe, arguments, given, source, line)
            if sampler is not None:  # so that its time does not count as that of sampling
                line.announce("starting torch ...")
                start_torch()
            line.announce("starting ..." if sampler is None else f"sampling by {sampler.name} ...")
            watch = Watch(line)
            model = recipe.learn(kind, source, _run(arguments, watch), arguments.profile, given)
            if _is_folder(kind, arguments.files):  # what `hstar compare` charges the model for
                seconds = round(time.monotonic() - started, 3)
                model = replace(model, summary={**model.summary, "with_labelling_s": seconds})
            model.save(arguments.output)
    except KeyboardInterrupt as stop:
        # A training says how far it came; of several networks it knows only its own checkpoint.
        done, resumable = str(stop).partition(";")[0], "checkpoint" in recipe.method(kind).takes
        text = interrupted(done, arguments.checkpoint, written=False, resumable=resumable)
        print(f"hstar: {text}", file=sys.stderr)
        return EXIT_CODES[INTERRUPTED]
    stopped = model.summary.get("stopped") == INTERRUPTED
    total_s, sampling_s = time.monotonic() - started, watch.sampling_s()
    about: dict[str, Any] = {"recipe": model.recipe, "model": model.model, "space": str(model.space)}
    about |= {"atoms": len(model.space.atoms)} if hasattr(model.space, "atoms") else {}
    times = {"sampling_time": sampling_s, "total_time": total_s, "cpu_time": time.process_time()}
    origin = f"from {arguments.data}" if arguments.data else f"sampled in {sampling_s:.2f} s"
    text = f"{summary(model, origin)}, {total_s:.1f} s in all"
    show_outcome(arguments, {**about, **model.summary, **times}, text)
    if stopped:
        done = f"{arguments.output} has the best model so far"
        print(f"hstar: {interrupted(done, arguments.checkpoint, written=True)}", file=sys.stderr)
    return EXIT_CODES[INTERRUPTED] if stopped else 0


def _sampler(
    recipe: Recipe, arguments: argparse.Namespace, given: dict[str, Any], task: Any, line: ProgressLine
) -> Any:
    """The sampler of this task, if the recipe has one; a line if it is not that of the recipe."""
    sampler = recipe.check("task", arguments.profile, given, task).get("sampler")
    if sampler is not None and sampler.name == "forward" and "sampler" not in given:
        why = f"regression does not support {without_regression(task)}"
        line.message(f"{why}: states are sampled forward from plans instead")
    return sampler


def _kind(recipe: Recipe, files: list[Path]) -> str:
    """The kind of space that the arguments name; of PDDL and of data files the recipe decides."""
    if not files and "map" not in recipe.methods:
        raise InputError(f"the following arguments are required: {TASK} (see hstar train --help)")
    kind = kind_of_files(files)
    return "domain" if kind == "task" and recipe.spaces == ("domain",) else kind


def _check(recipe: Recipe, kind: str, arguments: argparse.Namespace, given: dict[str, Any]) -> Parts:
    """The parts; refuses what it can before the translation and the sampling, which may take long."""
    recipe.method(kind)
    known = recipe.fields(kind, given)
    foreign = [name for name in _RUN if getattr(arguments, name) not in (None, False, "native")]
    foreign = [name for name in foreign if kind != _RUN[name]]
    foreign += [name for name in given if not any(name in part for part in known.values())]
    if foreign:
        raise InputError(f"{flag(foreign[0])} is not an option of {recipe.name} for {in_words([kind])}")
    source: Any = arguments.files or None
    example = {"puzzle": "puzzle such as tiles:4x4", "own": "space such as own.py:Lights"}.get(kind)
    if example is not None and len(source) != 1:
        raise InputError(f"expected one {example}, got {len(source)} words")
    if kind == "puzzle":
        source = load(str(source[0]))
    parts = recipe.check(kind, arguments.profile, given, source)
    recipe.check_run(kind, Run(None, arguments.checkpoint, arguments.data, arguments.held_out))
    if arguments.data is not None:
        others = {name for part in known if part != "sampler" for name in known[part]}
        sampling = set(known["sampler"]) - others
        if name := next((name for name in given if name in {"sampler", *sampling}), ""):
            raise InputError(f"{flag(name)} is for sampling, but the data are given")
        check_files(arguments.data)
    if kind == "domain":
        folder = _is_folder(kind, arguments.files)
        if not folder and (arguments.plans is not None or arguments.label_limit is not None):
            raise InputError("--plans and --label-limit are for a folder of problems")
        for path in (*(() if folder else arguments.files), *(arguments.held_out or ())):
            relational.locate(path)
    if kind == "map" or (kind == "task" and len(arguments.files) <= 2):
        check_files(*arguments.files)
    return parts


def _source(recipe: Recipe, kind: str, arguments: argparse.Namespace, line: ProgressLine) -> Any:
    """What the recipe learns from."""
    files = arguments.files
    if kind == "task":
        line.announce(f"translating {files[-1]} ...")
        return load_files(files, translator=arguments.translator, unit_cost=arguments.unit_cost)
    if _is_folder(kind, files):
        limit = LABEL_LIMIT if arguments.label_limit is None else arguments.label_limit
        rescued = arguments.output.with_suffix(".labels.data")
        if str(files[0]) in relational.shipped():
            line.message(f"{files[0]}: the folder is used, not the data that come with hstar")
        data, used = label_folder(files[0], limit, arguments.plans, arguments.quiet, rescued)
        line.message(used)
        return data
    if kind == "domain":
        line.announce("reading the data ...")
        return relational.merge(map(relational.load, files))
    if kind == "map" and not (files and recipe.name == "likely-admissible"):
        return files or None
    return [load(path) for path in files] if kind == "map" else load(str(files[0]))


def _run(arguments: argparse.Namespace, watch: Watch) -> Run:
    held_out = arguments.held_out and relational.merge(map(relational.load, arguments.held_out))
    data = None if arguments.data is None else dataset.load(arguments.data)
    return Run(watch, arguments.checkpoint, data, held_out or None, keep_interrupted=True)


def _is_folder(kind: str, files: list[Path]) -> bool:
    """Whether a domain is learned from a folder of problems, which is given alone.

    A folder without domain.pddl does not hide data that come with hstar and have its name.
    """
    folders = [path for path in files if kind == "domain" and path.is_dir()]
    known = relational.shipped() if folders else {}
    folders = [path for path in folders if str(path) not in known or (path / "domain.pddl").is_file()]
    if folders and len(files) > 1:
        raise InputError("is a folder of problems: give it alone", file=folders[0])
    return bool(folders)


def _check_checkpoint(path: Path, output: Path) -> None:
    from hstar import container
    from hstar.training.checkpoint import FORMAT_VERSION

    check_writable(path, "checkpoint")
    if path.resolve() == output.resolve():
        raise InputError("model and checkpoint cannot be the same file", file=path)
    if path.exists():
        container.read(path, "checkpoint", FORMAT_VERSION)
