"""`hstar train`: a heuristic for a task."""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import MISSING
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.app import Parser, checked
from hstar.cli.tasks import FILES, add_task_files, load_files
from hstar.cli.units import parse_time
from hstar.errors import InputError

if TYPE_CHECKING:
    from hstar.training.loop import Progress

DESCRIPTION = """\
Learns a heuristic for the goal and the facts of one task, for any initial state; `hstar solve` takes the
model file as --heuristic. Recipes: rsl and nrsl (pre-images), fsm (breadth-first regression, then random
walks)."""
EXAMPLES = (
    "hstar train nrsl domain.pddl problem.pddl -o model.hstar --states 500 --epochs 5",
    "hstar train fsm problem.pddl -o model.hstar --states 500 --time-limit 1m --seed 1 --patience 2",
)
_TYPES = {"int": int, "float": float, "str": str, "float | None": float}


def configure(parser: Parser) -> None:
    """The arguments; options of the parts are read from their dataclasses."""
    parser.add_argument("recipe", metavar="RECIPE", help="rsl, nrsl or fsm")
    add_task_files(parser)
    parser.usage = f"{parser.prog} [OPTION ...] RECIPE {FILES} -o MODEL"
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="MODEL", help="the file to write")
    parser.add_argument("--profile", metavar="NAME", help="default, or paper: the parameters as published")
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="go on from here after a kill")
    parser.add_argument("--quiet", "-q", action="store_true", help="no progress, no summary")
    for name, entry in _options().items():
        flag = "--" + name.replace("_", "-")
        if name == "time_limit":
            parser.add_argument(
                flag, type=checked(parse_time), metavar="TIME", help="of the training: 90s, 5m"
            )
        elif entry.type == "bool":
            parser.add_argument(flag, action=argparse.BooleanOptionalAction, help=entry.metadata["help"])
        else:
            parser.add_argument(flag, type=_TYPES[entry.type], metavar="X", help=entry.metadata["help"])


def run(arguments: argparse.Namespace) -> int:
    """Trains and writes the model."""
    from hstar.models.file import save_model
    from hstar.recipes.recipe import RECIPES, option_fields, train
    from hstar.training.loop import TrainingInterrupted

    recipe = RECIPES.get(arguments.recipe)
    known = {name for part in option_fields(recipe).values() for name in part}
    given = {name: getattr(arguments, name) for name in _options() if getattr(arguments, name) is not None}
    for name in given:
        if name not in known:
            raise InputError(f"--{name.replace('_', '-')} is not an option of {recipe.name}")
    folder = arguments.output.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK) or arguments.output.is_dir():
        raise InputError("cannot write the model there", file=arguments.output)
    task = load_files(arguments.files, cache=not arguments.no_cache)
    started = time.monotonic()
    show = _show if sys.stderr.isatty() and not arguments.quiet else None
    try:
        model = train(
            recipe.name,
            task,
            profile=arguments.profile,
            progress=show,
            checkpoint=arguments.checkpoint,
            **given,
        )
    except TrainingInterrupted as stop:
        print(f"hstar: {stop}", file=sys.stderr)
        raise
    finally:
        if show:
            print(file=sys.stderr)
    save_model(arguments.output, model)
    if not arguments.quiet:
        print(
            f"{arguments.output}: {recipe.name}, {model.summary['states']} states, {len(model.atoms)} atoms, "
            f"{model.summary['epochs']} epochs, loss {model.summary['best_loss']:.3g}, "
            f"{time.monotonic() - started:.1f} s",
            file=sys.stderr,
        )
    return 0


def _options() -> dict[str, Any]:
    """Options of all recipes' parts, by name; a recipe refuses those that are not its own."""
    from hstar.recipes.recipe import RECIPES, option_fields

    found: dict[str, Any] = {}
    for name in RECIPES:
        for entries in option_fields(RECIPES.get(name)).values():
            found |= {key: entry for key, entry in entries.items() if entry.default is not MISSING}
    return found


def _show(record: Progress) -> None:
    print(
        f"\repoch {record.epoch} of at most {record.epochs}, loss {record.train_loss:.3g}, "
        f"best {record.best_loss:.3g}, {record.time_s:.0f} s   ",
        end="",
        file=sys.stderr,
        flush=True,
    )
