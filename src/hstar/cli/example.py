"""`hstar example`: files to play with."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from hstar.cli.generate import write_new
from hstar.cli.options import Parser
from hstar.files import shipped
from hstar.generators import GENERATORS
from hstar.registry import unknown

# By generator, sizes in the order of `hstar generate --help`: problems to train on, which A* solves in
# seconds, and larger ones to test on.
_SMALL: dict[str, list[tuple[int, ...]]] = {
    "blocksworld": [(4,), (5,), (6,), (7,), (8,)],
    "npuzzle": [(2, 2), (2, 3), (3, 2), (3, 3)],
    "ferry": [(2, 3), (3, 3), (4, 4), (5, 4), (5, 5)],
    "gripper": [(2,), (3,), (4,), (6,), (8,)],
    "visitall": [(3, 3, 50), (3, 4, 100), (4, 4, 50), (4, 4, 100)],
    "logistics": [(2, 2, 2, 1), (2, 2, 3, 1), (3, 2, 3, 1), (2, 3, 4, 1)],
    "satellite": [(1, 1, 2, 4, 2), (1, 2, 2, 4, 3), (2, 1, 2, 4, 3), (2, 2, 3, 5, 3)],
    "transport": [(4, 1, 2), (5, 1, 2), (5, 2, 2), (6, 2, 3)],
    "miconic": [(3, 2), (4, 2), (5, 3), (6, 4), (8, 5)],
    "spanner": [(2, 1, 2), (3, 2, 3), (4, 3, 3), (4, 4, 4)],
    "childsnack": [(1, 0, 1, 1), (1, 0, 1, 2), (2, 1, 1, 2), (2, 1, 1, 3)],
    "rovers": [(1, 3, 1, 1, 2), (1, 4, 1, 1, 2), (1, 4, 2, 1, 3), (2, 4, 1, 1, 3)],
    "sokoban": [(5, 5, 1, 2), (5, 6, 1, 3), (6, 6, 2, 3)],
}
_LARGE: dict[str, list[tuple[int, ...]]] = {
    "blocksworld": [(20,), (30,), (40,), (60,), (80,)],
    "npuzzle": [(4, 4), (5, 5), (6, 6)],
    "ferry": [(15, 15), (25, 30), (30, 50), (40, 60)],
    "gripper": [(30,), (50,), (80,), (120,)],
    "visitall": [(8, 8, 100), (12, 12, 50), (16, 16, 50), (20, 20, 50)],
    "logistics": [(4, 3, 12, 2), (6, 4, 25, 3), (8, 5, 40, 4)],
    "satellite": [(4, 3, 4, 16, 14), (6, 3, 5, 25, 25), (8, 4, 6, 35, 40)],
    "transport": [(15, 3, 8), (25, 4, 16), (40, 5, 25)],
    "miconic": [(20, 16), (40, 40), (60, 70)],
    "spanner": [(8, 6, 6), (12, 8, 8), (16, 12, 10)],
    "childsnack": [(6, 2, 2, 8), (10, 4, 3, 12), (15, 6, 4, 20)],
    "rovers": [(4, 12, 4, 4, 12), (6, 20, 6, 6, 20), (8, 30, 8, 8, 30)],
    "sokoban": [(7, 7, 2, 5), (8, 8, 3, 6), (9, 9, 4, 8)],
}
_SHORT = {"blocks": "blocksworld"}
_PROGRAMS = "programs"
_NAMES = (*_SHORT, *(name for name in _SMALL if name not in _SHORT.values()), _PROGRAMS)
_TRAINING, _TEST = 4, 2  # problems of each size

DESCRIPTION = f"""\
Writes FOLDER/train, small problems to train on, and FOLDER/test, larger ones, each with domain.pddl, and
shows what to type next. `programs` are Python programs with an own space, an own heuristic and an own model.
Files that are there already are kept. `hstar generate` has other sizes and numbers of problems.

names:
  {", ".join(_NAMES[:8])},
  {", ".join(_NAMES[8:])}"""
EXAMPLES = ("hstar example blocks", "hstar example ferry -o boats", "hstar example programs")


def configure(parser: Parser) -> None:
    parser.usage = f"{parser.prog} NAME [-o FOLDER]"
    parser.option("name", "NAME", "The example, one of those above.")
    parser.option("--output -o", "FOLDER", "Write to this folder (default: NAME).")
    parser.option("--quiet -q", None, "Do not show what to type next.")


def run(arguments: argparse.Namespace) -> int:
    name = _SHORT.get(arguments.name, arguments.name)
    folder = Path(arguments.name) if arguments.output is None else arguments.output
    if name == _PROGRAMS:
        write_new(folder, {file.name: file.read_text() for file in shipped("examples").glob("*.py")})
        lines = [
            f"hstar check {_word(folder / 'own_space.py')}:Lights",
            f"python {_word(folder / 'own_heuristic.py')}",
        ]
    elif name in _SMALL:
        lines = _write_problems(name, folder)
    else:
        raise unknown("example", name, list(_NAMES))
    if not arguments.quiet:
        print(
            "\n".join([f"{folder}: written. Next, for instance:", *(f"  {line}" for line in lines)]),
            file=sys.stderr,
        )
    return 0


def _write_problems(name: str, folder: Path) -> list[str]:
    """Writes the problems of a domain; returns commands that use them."""
    make = GENERATORS.get(name)
    for part, sizes, number in zip(
        ("train", "test"), (_SMALL[name], _LARGE[name]), (_TRAINING, _TEST), strict=True
    ):
        texts: dict[str, str] = {}
        for one in sizes:
            for seed in range(number):
                texts["domain.pddl"], problem = make(*one, seed=seed)
                texts[f"p{len(texts):02}.pddl"] = problem
        write_new(folder / part, texts)
    train, test, model = _word(folder / "train"), _word(folder / "test"), _word(Path(f"{folder.name}.hstar"))
    return [
        f"hstar solve {_word(folder / 'test' / 'p01.pddl')}",
        f"hstar train {train} -o {model}",
        f"hstar compare {test} {model} ff --time-limit 5s",
    ]


def _word(path: Path) -> str:
    return shlex.quote(str(path))
