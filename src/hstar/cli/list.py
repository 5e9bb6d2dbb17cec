"""`hstar list`: the named parts, and which goes with which."""

from __future__ import annotations

import argparse

from hstar.cli.options import Parser
from hstar.errors import InputError
from hstar.recipes.compatibility import PARTS, matrix
from hstar.registry import unknown

DESCRIPTION = """\
Prints the named parts of one kind, or of all kinds, each with one line. --matrix prints which searches,
recipes and models go with which kind of space, as in docs/compatibility.md."""
EXAMPLES = ("hstar list", "hstar list recipes", "hstar list --matrix")


def configure(parser: Parser) -> None:
    parser.usage = f"{parser.prog} [OPTION ...] [KIND]"
    parser.option("kind", "KIND", f"Kind of part, one of {', '.join(PARTS)} (default: all).", nargs="?")
    parser.option("--matrix", None, "Print the table of what goes with what.")


def run(arguments: argparse.Namespace) -> int:
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
