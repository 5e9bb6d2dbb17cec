"""Fast Downward as an oracle: its translator, and its heuristic value of any state of a task.

The binary evaluates the initial state before anything else, so the state to ask about is written
into the `begin_state` section and the search is stopped by `bound=0`: one process of some ten
milliseconds per state.

The binary is the one of the `up-fast-downward` package (extra `[bench]`), or the one that
`$HSTAR_FAST_DOWNWARD` names.
"""

from __future__ import annotations

import importlib.util
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from . import sas

_INITIAL = re.compile(r"Initial heuristic value for \S+: (infinity|-?\d+)")


class Unsupported(Exception):  # noqa: N818  (an answer of the oracle, named for what happened)
    """Fast Downward refuses this heuristic for this task (axioms or conditional effects)."""


def binary() -> Path | None:
    """The search binary, or None where it is not installed."""
    if chosen := os.environ.get("HSTAR_FAST_DOWNWARD"):
        return Path(chosen)
    package = importlib.util.find_spec("up_fast_downward")
    for folder in (package.submodule_search_locations or []) if package else []:
        path = Path(folder, "downward/builds/release/bin/downward")
        if path.is_file():
            return path
    return None


def benchmarks() -> Path | None:
    """The shared folder of competition tasks beside the repository, or None where it is absent."""
    folder = Path(__file__).parents[2].parent / "shared" / "benchmarks" / "ipc"
    return folder if folder.is_dir() else None


def translate(domain: Path, problem: Path, target: Path) -> str:
    """Writes the task as `.sas` to `target` and gives its text."""
    command = [sys.executable, "-m", "fast_downward.translate", "--sas-file", str(target)]
    subprocess.run([*command, str(domain), str(problem)], check=True, capture_output=True)
    return target.read_text()


def with_initial_state(text: str, task: sas.Task, state: sas.State) -> str:
    """The `.sas` text with another initial state; derived variables keep their defaults."""
    values = [
        task.defaults[index] if variable.derived else state[index]
        for index, variable in enumerate(task.variables)
    ]
    before, rest = text.split("begin_state\n", 1)
    after = rest.split("end_state\n", 1)[1]
    lines = "".join(f"{value}\n" for value in values)
    return f"{before}begin_state\n{lines}end_state\n{after}"


def initial_value(text: str, heuristic: str) -> float:
    """h of the initial state for a heuristic in Fast Downward's syntax, e.g. `lmcut()`."""
    path = binary()
    if path is None:
        raise FileNotFoundError("Fast Downward is not installed: pip install 'hstar[bench]'")
    done = subprocess.run(
        [path, "--search", f"astar({heuristic},bound=0)", "--internal-plan-file", os.devnull],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
    )
    if found := _INITIAL.search(done.stdout):
        return math.inf if found[1] == "infinity" else int(found[1])
    if done.returncode == 34:
        raise Unsupported(done.stderr.strip().splitlines()[0])
    raise RuntimeError(f"Fast Downward stopped with {done.returncode}: {done.stderr.strip()}")


def heuristic_values(text: str, heuristic: str, states: Iterable[sas.State]) -> list[float]:
    """h of each state of the task."""
    task = sas.parse(text)
    return [initial_value(with_initial_state(text, task, state), heuristic) for state in states]
