"""`hstar check`: tries a user's own state space, and shows what is wrong with it."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, fields
from typing import Any, cast

from hstar.cli.options import Parser, add_fields, flag, given_options
from hstar.errors import InputError
from hstar.spaces.check import CheckConfig, Finding, check_space
from hstar.spaces.load import in_words, kind_of, load, named_object
from hstar.spaces.own import OwnProblem

DESCRIPTION = """\
SPACE is file.py:Name, a class or an object with start, is_goal and successors (docs/own_spaces.md). hstar
follows random walks and tries costs, goals, predecessors, batch functions, the encoding and the lower bound.
Whatever is wrong is shown with a counterexample, and the exit code is 33. The file is run: check files you
trust.

With --heuristic, SPACE is any problem, and what is tried is whether the heuristic is admissible: at the ends
of random walks it must not be above the cost of an optimal plan."""
EXAMPLES = (
    "hstar check own.py:Lights",
    "hstar check own.py:Lights --walks 5 --json",
    "hstar check tiles:3x3 --heuristic own.py:columns",
)
_WRONG = 33


def configure(parser: Parser) -> None:
    parser.usage = f"{parser.prog} [OPTION ...] SPACE"
    parser.option("space", "SPACE", "The space, file.py:Name; with --heuristic any problem.")
    parser.option("--heuristic", "FILE.py:NAME", "Function of a batch of states to try on SPACE.")
    add_fields(parser, CheckConfig)
    parser.option("--json", None, "Print a JSON object for each thing that was tried.")


def run(arguments: argparse.Namespace) -> int:
    kind = kind_of(arguments.space)
    given = given_options(arguments, [entry.name for entry in fields(CheckConfig)])
    if arguments.heuristic is not None:
        return _tell(arguments, [_tried(arguments, given)])
    if kind.name != "own":
        what = f"{arguments.space} is {in_words([kind.name])}"
        raise InputError(f"{what}; hstar check is for own spaces, file.py:Name")
    return _tell(arguments, check_space(cast("OwnProblem", kind.load(arguments.space)), CheckConfig(**given)))


def _tried(arguments: argparse.Namespace, given: dict[str, Any]) -> Finding:
    from hstar.search.admissibility import check_heuristic

    if foreign := next((name for name in ("states", "time_limit") if name in given), None):
        raise InputError(f"{flag(foreign)} is for a space, not for --heuristic")
    heuristic, _, _ = named_object(arguments.heuristic, "heuristic")
    return check_heuristic(load(arguments.space), heuristic, **given)


def _tell(arguments: argparse.Namespace, findings: list[Finding]) -> int:
    for finding in findings:
        if arguments.json:
            print(json.dumps(asdict(finding)))
        else:
            print(f"{'ok   ' if finding.fine else 'WRONG'} {finding.what}: {finding.detail}")
    return 0 if all(finding.fine for finding in findings) else _WRONG
