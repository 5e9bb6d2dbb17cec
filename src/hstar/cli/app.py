"""The commands: a table, and a parser for the one that is asked for.

A command is a module with a `DESCRIPTION`, `EXAMPLES` (run by the tests), `configure`, which adds its
arguments, and `run`, which returns the exit code. Only the command's own module is imported. The standard
library's argparse does the parsing: it starts in a tenth of the time of the alternatives, and a planner
is started thousands of times.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from hstar import __version__
from hstar.cli.aliases import ALIASES, rewritten
from hstar.errors import InputError
from hstar.registry import unknown

COMMANDS = {
    "solve": "Find plans for tasks, puzzles, maps or own spaces; resumable.",
    "check": "Try a user's own state space and show what is wrong with it.",
    "list": "List the named parts, and which goes with which.",
    "generate": "Write problems of a domain: of given sizes, or splits to train and test on.",
    "sample": "Write labelled states of a task or of many tasks of a domain, to learn from.",
    "train": "Learn a heuristic for a task, a domain, a puzzle, maps or an own space.",
    "calibrate": "Calibrate a model so that A* keeps a bound with a stated probability.",
    "evaluate": "Compare heuristics and planners from many starts, or a model with labelled states.",
    "bench": "Run an experiment that a file describes; resumable.",
    "report": "Show runs as a page, tables and figures.",
    "show": "Draw a map, what searches explore on it, their paths and values.",
    "validate": "Check a plan against the PDDL itself.",
    "info": "Describe a task, a puzzle, a map, an own space or a model file.",
    "demo": "Generate a blocks-world task and solve it with several searches and heuristics.",
}

_EXIT_CODES = """exit codes:
  0 solved, 11 proved unsolvable, 12 not solved within the given bounds, 22 memory limit, 23 time limit,
  31 bad PDDL, 33 bad input, 34 unsupported, 35 internal error, 130 interrupted"""


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are `InputError`s."""

    words: tuple[str, ...] = ()

    def __init__(self, name: str, description: str, epilog: str) -> None:
        super().__init__(
            prog=name,
            usage=f"{name} [OPTION ...]",
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Called by argparse."""
        raise InputError(f"{message} (see {self.prog} --help)")

    def parse(self, arguments: list[str]) -> argparse.Namespace:
        """Options may stand before, between and after the files."""
        found, rest = self.parse_known_intermixed_args(arguments)
        for word in rest:
            if not word.startswith("-"):
                self.error(f"unexpected argument '{word}'")
            near = difflib.get_close_matches(word.partition("=")[0], self._option_string_actions, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            self.error(f"unknown option '{word}'{hint}")
        return found


def checked(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser of one value as argparse wants it, which puts the option's name before the complaint."""

    def convert(text: str) -> Any:
        try:
            return parse(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(error.message) from None

    return convert


def command_parser(
    name: str, words: Sequence[str] = ()
) -> tuple[Parser, Callable[[argparse.Namespace], int]]:
    """The parser of a command, and what runs it; `words` are what is typed, for help that depends on it."""
    module = importlib.import_module(f"hstar.cli.{name}")
    examples = "\n".join(f"  {line}" for line in module.EXAMPLES)
    description = f"{COMMANDS[name]}\n\n{module.DESCRIPTION}".rstrip()
    parser = Parser(f"hstar {name}", description, f"examples:\n{examples}\n\n{_EXIT_CODES}")
    parser.words = tuple(words)
    module.configure(parser)
    return parser, module.run


def dispatch(arguments: list[str]) -> int:
    """Runs the command line and returns the exit code."""
    if arguments and arguments[0] in ALIASES:
        arguments = rewritten(arguments)
    if arguments and arguments[0] in COMMANDS:
        parser, run = command_parser(arguments[0], arguments[1:])
        try:
            return run(parser.parse(arguments[1:]))
        except SystemExit:  # argparse has printed the help
            return 0
    if arguments and not arguments[0].startswith("-"):
        raise unknown("command", arguments[0], list(COMMANDS))
    width = max(map(len, COMMANDS)) + 2
    commands = "\n".join(f"  {name:{width}}{text}" for name, text in COMMANDS.items())
    parser = Parser(
        "hstar",
        "A heuristic-search planner that can learn its heuristic: PDDL, puzzles, maps, own state spaces.\n\n"
        f"commands:\n{commands}\n\n`hstar COMMAND --help` tells more, with examples.",
        _EXIT_CODES,
    )
    parser.usage = "hstar [-h] [--version] COMMAND ..."
    parser.add_argument("--version", action="version", version=f"hstar {__version__}")
    try:
        parser.parse(arguments)
    except SystemExit:
        return 0
    parser.print_help()
    return 0
