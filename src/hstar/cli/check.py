"""`hstar check`: tries a user's own state space, and shows what is wrong with it."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, cast

from hstar.cli.app import Parser
from hstar.cli.options import Use, add_option, given_options
from hstar.errors import InputError

if TYPE_CHECKING:
    from hstar.spaces.own import OwnProblem

DESCRIPTION = """\
SPACE is file.py:Name, a class or an object with start, is_goal and successors (docs/own_spaces.md). hstar
follows random walks and tries costs, goals, predecessors, batch functions and the lower bound. Whatever is
wrong is shown with a counterexample, and the exit code is 33. The file is run: check files you trust."""
EXAMPLES = ("hstar check own.py:Lights", "hstar check own.py:Lights --walks 5 --json")
_WRONG = 33


def configure(parser: Parser) -> None:
    """The arguments."""
    from hstar.spaces.check import CheckConfig

    parser.usage = f"{parser.prog} [OPTION ...] SPACE"
    parser.add_argument("space", metavar="SPACE", help="file.py:Name")
    for entry in fields(CheckConfig):
        add_option(parser, entry.name, [Use("check", "check", entry, entry.default)], ["check"])
    parser.add_argument(
        "--json", action="store_true", help="print a JSON object for each thing that was tried"
    )


def run(arguments: argparse.Namespace) -> int:
    """Tries the space."""
    from hstar.spaces.check import CheckConfig, check_space
    from hstar.spaces.load import kind_of

    kind = kind_of(arguments.space)
    if kind.name != "own":
        raise InputError(f"{arguments.space} is a {kind.name}; hstar check is for own spaces, file.py:Name")
    given = given_options(arguments, {entry.name: entry for entry in fields(CheckConfig)})
    findings = check_space(cast("OwnProblem", kind.load(arguments.space)), CheckConfig(**given))
    for finding in findings:
        if arguments.json:
            print(json.dumps(asdict(finding)))
        else:
            print(f"{'ok   ' if finding.fine else 'WRONG'} {finding.what}: {finding.detail}")
    return 0 if all(finding.fine for finding in findings) else _WRONG
