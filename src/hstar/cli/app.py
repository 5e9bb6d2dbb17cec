"""The commands: a table, and a parser for the one that is asked for.

A command is a module with a `DESCRIPTION`, `EXAMPLES` (run by the tests), `configure`, which adds its
arguments, and `run`, which returns the exit code. Only the command's own module is imported.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence

from hstar import __version__
from hstar.cli.options import Parser
from hstar.registry import unknown

COMMANDS = {
    "solve": "Find plans for tasks, puzzles, maps or own spaces; resumable.",
    "check": "Try a user's own state space and show what is wrong with it.",
    "list": "List the named parts, and which goes with which.",
    "example": "Write problems of a domain, or example programs, to start with.",
    "generate": "Write problems of a domain: of given sizes, or splits to train and test on.",
    "sample": "Write labelled states of a task or of many tasks of a domain, to learn from.",
    "train": "Learn a heuristic for a task, a domain, a puzzle, maps or an own space.",
    "learn": "Learn a planner for all problems of a PDDL domain from problems and plans.",
    "plan": "Plan with what hstar learn found out about the domain.",
    "calibrate": "Calibrate a model so that A* keeps a bound with a stated probability.",
    "evaluate": "Compare heuristics and planners from many starts, or a model with labelled states.",
    "compare": "Compare models, heuristics and planners on a folder of problems.",
    "bench": "Run an experiment that a file describes; resumable.",
    "report": "Show runs as a page, tables and figures.",
    "show": "Draw a map, what searches explore on it, their paths and values.",
    "validate": "Check a plan against the PDDL itself.",
    "info": "Describe a task, a puzzle, a map, an own space, a model or knowledge of a domain.",
    "serve": "Answer clients over HTTP: planning as a service, and a page to type PDDL into.",
    "mcp": "Answer an assistant over the Model Context Protocol: check, solve, validate, train.",
    "demo": "Generate a blocks-world task and solve it with several searches and heuristics.",
}
_EXIT_CODES = """\
units:
  T is a time: 30s, 5m, 1h (seconds if bare); M an amount of memory: 512M, 4G (MiB if bare)

exit codes:
  0 solved, 1 invalid plan (validate) or jobs of a run ended in errors, 2 and 3 a plan was found before the
  memory or time limit, 11 proved unsolvable, 12 not solved within the given bounds, 22 memory limit, 23 time
  limit, 31 bad PDDL, 33 bad input, 34 unsupported, 35 internal error, 130 interrupted by Ctrl-C
  and 143 by SIGTERM"""

# Commands of hstar 0.1 as the commands that do their work now; they stay for one release.
ALIASES = {"puzzle": ["solve"], "grid": [], "label": ["sample", "optimal"], "accuracy": ["evaluate"]}
_DRAWINGS = ("--picture", "--animation")
_OF_RANDOM_MAPS = {"--kind", "--rows", "--columns", "--blocked-share", "--corridor", "--room"}


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
    try:
        if arguments and arguments[0] in COMMANDS:
            parser, run = command_parser(arguments[0], arguments[1:])
            return run(parser.parse(arguments[1:]))
        if arguments and not arguments[0].startswith("-"):
            raise unknown("command", arguments[0], list(COMMANDS))
        parser = _main_parser()
        parser.parse(arguments)
        parser.print_help()
    except SystemExit:  # argparse has printed the help
        pass
    return 0


def _main_parser() -> Parser:
    width = max(map(len, COMMANDS)) + 2
    commands = "\n".join(f"  {name:{width}}{text}" for name, text in COMMANDS.items())
    parser = Parser(
        "hstar",
        "A heuristic-search planner that can learn its heuristic: PDDL, puzzles, maps, own state spaces.\n\n"
        f"commands:\n{commands}\n\n`hstar COMMAND --help` shows its options, with examples.",
        _EXIT_CODES,
    )
    parser.usage = "hstar [-h] [--version] COMMAND ..."
    parser.add_argument("--version", action="version", version=f"hstar {__version__}")
    return parser


def rewritten(words: list[str]) -> list[str]:
    """The words of an old command line in today's commands; a note on standard error says what to type."""
    name, rest = words[0], words[1:]
    new = _grid(rest) if name == "grid" else [*ALIASES[name], *rest]
    if not {"--quiet", "-q", "--help"} & set(rest):
        import shlex

        print(f"hstar {name} is now hstar {new[0]}: hstar {shlex.join(new)}", file=sys.stderr)
    return new


def _grid(words: list[str]) -> list[str]:
    """One random problem where neither cells nor a number are named; heuristics are compared."""
    new = [word.replace("--scenarios", "--random", 1) for word in words]
    typed = {word.partition("=")[0] for word in new}
    maps = any(word.endswith((".png", ".pgm", ".map", ".scen", ".npy", ".yaml", ".yml")) for word in new)
    if not maps and not typed & _OF_RANDOM_MAPS:
        new += ["--kind", "scattered"]
    if not typed & {"--random", "--start", "--goal"} and not any(word.endswith(".scen") for word in new):
        new += ["--random", "1"]
    if typed & set(_DRAWINGS):
        return ["show", *("--output" if word in _DRAWINGS else word for word in new)]
    return ["solve", *new, "--combine", "each"]
