"""Commands of hstar 0.1 as the commands that do their work now; they stay for one release.

An alias changes words, and nothing else. A note on standard error says what to type instead.
"""

from __future__ import annotations

import shlex
import sys

ALIASES = ("puzzle", "grid", "label", "accuracy")
_DRAWINGS = ("--picture", "--animation")
_OF_RANDOM_MAPS = ("--kind", "--rows", "--columns", "--blocked-share", "--corridor", "--room")


def rewritten(words: list[str]) -> list[str]:
    """The words of a command line in today's commands."""
    name, rest = words[0], words[1:]
    if name == "label":
        new = ["sample", "optimal", *rest]
    elif name == "accuracy":
        new = ["evaluate", *rest]
    elif name == "puzzle":
        new = ["solve", *rest]
    else:
        new = _grid(rest)
    if "--quiet" not in rest and "-q" not in rest and "--help" not in rest:
        print(f"hstar {name} is now hstar {new[0]}: hstar {shlex.join(new)}", file=sys.stderr)
    return new


def _grid(words: list[str]) -> list[str]:
    """One random problem where neither cells nor a number are named; heuristics are compared."""
    new = [word.replace("--scenarios", "--random", 1) for word in words]
    typed = {word.partition("=")[0] for word in new}
    maps = any(word.endswith((".png", ".pgm", ".map", ".scen", ".npy", ".yaml", ".yml")) for word in new)
    if not maps and not typed & set(_OF_RANDOM_MAPS):
        new += ["--kind", "scattered"]
    if not typed & {"--random", "--start", "--goal"} and not any(word.endswith(".scen") for word in new):
        new += ["--random", "1"]
    if typed & set(_DRAWINGS):
        return ["show", *("--output" if word in _DRAWINGS else word for word in new)]
    return ["solve", *new, "--combine", "each"]
