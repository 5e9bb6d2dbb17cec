"""Searches on one map step by step: a slider goes through the expansions, side by side, over the value map.

`animate` writes a page: one HTML file with its data and its script in it, which asks nothing of the network.
`steps` are these data; suites keep them for reports, whose page has the same script. Cells are flat indices
into the map; a cell that was opened again is there as often as it was expanded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError
from hstar.experiments.grid_picture import Panel
from hstar.files import replace_file
from hstar.spaces.grid import Cell, GridProblem

FORMAT = ".html"
_PAGE, _SCRIPT = "grid_animation.html", "grid_animation.js"


def check_animation(path: Path) -> None:
    """An `InputError` if such a page cannot be written; asked before the work."""
    if path.suffix != FORMAT:
        raise InputError(f"an animation is a {FORMAT} file", file=path)


def animate(path: Path, problem: GridProblem, panels: Sequence[Panel]) -> None:
    """Writes the page, a panel for each search."""
    check_animation(path)
    # A tag in a title must not end the element that holds the data.
    text = json.dumps(steps(problem, panels), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    page = resources.files(__package__).joinpath(_PAGE).read_text().replace("/*script*/", script())
    try:
        replace_file(path, page.replace("/*data*/", text).encode())
    except OSError as error:
        raise InputError(f"cannot write the animation: {error.strerror}", file=path) from None


def write_steps(path: Path, problem: GridProblem, panels: Sequence[Panel]) -> None:
    """Writes the data alone."""
    try:
        replace_file(path, json.dumps(steps(problem, panels), separators=(",", ":")).encode())
    except OSError as error:
        raise InputError(f"cannot write the steps: {error.strerror}", file=path) from None


def script() -> str:
    """The function that draws, for pages."""
    return resources.files(__package__).joinpath(_SCRIPT).read_text()


def steps(problem: GridProblem, panels: Sequence[Panel]) -> dict[str, Any]:
    """What the script draws, as plain data."""
    return {
        "shape": list(problem.grid.shape),
        "blocked": problem.grid.blocked.astype(int).reshape(-1).tolist(),
        "start": _cell(problem, problem.start),
        "goal": _cell(problem, problem.goal),
        "panels": [_panel(problem, panel) for panel in panels],
    }


def _panel(problem: GridProblem, panel: Panel) -> dict[str, Any]:
    path, values = panel.result.path, panel.values
    return {
        "title": panel.title,
        "cost": panel.result.plan_cost,
        "explored": _cells(problem, panel.result.explored),
        "path": None if path is None else _cells(problem, path),
        # Two digits are enough for a colour.
        "values": None if values is None else np.nan_to_num(values).round(2).reshape(-1).tolist(),
    }


def _cells(problem: GridProblem, states: npt.NDArray[np.int64] | None) -> list[int]:
    if states is None:
        return []
    found: list[int] = (states[:, 0] * problem.grid.shape[1] + states[:, 1]).tolist()
    return found


def _cell(problem: GridProblem, cell: Cell) -> int:
    return cell[0] * problem.grid.shape[1] + cell[1]
