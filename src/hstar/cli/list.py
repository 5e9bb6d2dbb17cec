"""`hstar list`: the named parts, and which goes with which."""

from __future__ import annotations

import argparse

from hstar.cli.app import Parser
from hstar.errors import InputError
from hstar.registry import unknown

DESCRIPTION = """\
Prints the named parts of one kind, or of all kinds, each with one line. --matrix prints which searches,
recipes and models go with which kind of space, as in docs/compatibility.md."""
EXAMPLES = ("hstar list", "hstar list recipes", "hstar list --matrix")


def configure(parser: Parser) -> None:
    """The arguments."""
    from hstar.recipes.compatibility import PARTS

    parser.usage = f"{parser.prog} [OPTION ...] [KIND]"
    parser.add_argument("kind", nargs="?", metavar="KIND", help=f"one of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--matrix", action="store_true", help="print the table of what goes with what")


def run(arguments: argparse.Namespace) -> int:
    """Prints the parts."""
    from hstar.recipes.compatibility import PARTS, matrix

    if arguments.matrix:
        if arguments.kind is not None:
            raise InputError("--matrix is for all kinds; leave the kind out")
        print(matrix())
        return 0
    if arguments.kind is not None and arguments.kind not in PARTS:
        raise unknown("kind of part", arguments.kind, list(PARTS))
    for kind in PARTS if arguments.kind is None else (arguments.kind,):
        if arguments.kind is None:
            print(f"{kind}:")
        parts = PARTS[kind]()
        width = max(len(name) for name, _ in parts)
        for name, line in parts:
            print(f"{'' if arguments.kind else '  '}{name:{width}}  {line}")
    return 0
