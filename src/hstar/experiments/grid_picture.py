"""Searches on one map side by side, over the value map: as a picture, or step by step as a page.

`animate` writes the page: one HTML file with its data and its script in it, which asks nothing of the
network. `steps` are these data; suites keep them for reports, whose page has the same script. Cells are flat
indices into the map; a cell that was opened again is there as often as it was expanded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError
from hstar.files import replace_file, writing
from hstar.search.solve import Result
from hstar.spaces.grid import GridProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".png", ".svg")
_PAGE, _SCRIPT = "grid_animation.html", "grid_animation.js"
# The same run gives the same file.
_STYLE: dict[Any, Any] = {"svg.hashsalt": "hstar", "svg.fonttype": "none", "font.size": 9}
_MOST_POINTS = 2000  # a side; pictures have fewer
_PIECE = 1 << 16
_OBSTACLE, _PATH, _START, _GOAL = "#333333", "#d55e00", "#009e73", "#0072b2"


@dataclass(frozen=True, eq=False)
class Panel:
    """A search that kept what it explored; `values` are those of a network, if there was one."""

    title: str
    result: Result
    values: npt.NDArray[np.float32] | None = None


def panel_title(name: str, expanded: int, cost: float | None) -> str:
    """Who searched, how long, and what the path costs."""
    return f"{name}: {expanded} expanded, {'no path' if cost is None else f'cost {cost:g}'}"


def check_picture(path: Path) -> None:
    """An `InputError` if such a picture cannot be drawn; asked before the work."""
    if path.suffix not in FORMATS:
        raise InputError(f"a picture is a {' or '.join(FORMATS)} file", file=path)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'hstar[bench]'") from None


def draw(path: Path, problem: GridProblem, panels: Sequence[Panel]) -> None:
    """Writes the picture: searches in the upper row; below them the values, where a network gave some."""
    check_picture(path)
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows = 2 if any(panel.values is not None for panel in panels) else 1
    height = 4.0 * problem.grid.shape[0] / problem.grid.shape[1]
    with mpl.rc_context(_STYLE):
        size = (4.2 * len(panels), rows * (min(max(height, 1.5), 8.0) + 0.4))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(rows, len(panels), squeeze=False)
        for column, panel in enumerate(panels):
            _search(axes[0, column], problem, panel)
            if rows == 2:
                _values(axes[1, column], problem, panel)
        with writing(path, "picture"):
            figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {})


def _search(axes: Axes, problem: GridProblem, panel: Panel) -> None:
    """Explored cells are coloured by the order of expansion."""
    shape, explored = problem.grid.shape, panel.result.explored
    order = np.full([-(-size // _side(shape)) for size in shape], np.nan)
    if explored is not None and len(explored):
        rows, columns = explored[::-1].T // _side(shape)  # the first one of a square counts
        order[rows, columns] = np.arange(len(explored))[::-1]
    _image(axes, shape, order, cmap="YlGnBu", vmin=-0.6 * len(explored if explored is not None else ()))
    _map(axes, problem)
    if panel.result.path is not None:
        axes.plot(panel.result.path[:, 1], panel.result.path[:, 0], color=_PATH, linewidth=1.8)
    axes.set_title(panel.title)


def _values(axes: Axes, problem: GridProblem, panel: Panel) -> None:
    if panel.values is None:
        axes.set_axis_off()
        return
    shown = _coarse(np.where(problem.grid.blocked, np.nan, panel.values), np.fmin)
    image = _image(axes, problem.grid.shape, shown, cmap="viridis_r")
    _map(axes, problem)
    axes.set_title("values of the network")
    axes.figure.colorbar(image, ax=axes, shrink=0.8)


def _map(axes: Axes, problem: GridProblem) -> None:
    """Obstacles over what is drawn, start and goal."""
    from matplotlib.colors import ListedColormap

    blocked = np.where(_coarse(problem.grid.blocked, np.logical_or), 1.0, np.nan)
    _image(axes, problem.grid.shape, blocked, cmap=ListedColormap([_OBSTACLE]), vmin=0, vmax=1)
    for (row, column), colour, marker in ((problem.start, _START, "o"), (problem.goal, _GOAL, "*")):
        axes.plot(column, row, marker=marker, color=colour, markersize=9, markeredgecolor="white")
    axes.set(xticks=[], yticks=[])


def _side(shape: tuple[int, int]) -> int:
    """A picture of a large map has one point for a square of so many cells a side."""
    return math.ceil(max(shape) / _MOST_POINTS)


def _coarse(cells: npt.NDArray[Any], reduce: np.ufunc) -> npt.NDArray[Any]:
    """The squares; Matplotlib takes seconds for millions of cells, and does not look for Ctrl-C."""
    (rows, columns), side = cells.shape, _side(cells.shape)
    if side == 1:
        return cells
    narrow = reduce.reduceat(cells, np.arange(0, columns, side), axis=1)
    found: npt.NDArray[Any] = reduce.reduceat(narrow, np.arange(0, rows, side), axis=0)
    return found


def _image(axes: Axes, shape: tuple[int, int], points: npt.NDArray[Any], **look: Any) -> Any:
    bottom, right = (size * _side(shape) - 0.5 for size in points.shape)
    return axes.imshow(points, extent=(-0.5, right, bottom, -0.5), **look)


# --- step by step ---------------------------------------------------------------------------------------


def animate(path: Path, problem: GridProblem, panels: Sequence[Panel]) -> None:
    """Writes the page, a panel for each search."""
    if path.suffix != ".html":
        raise InputError("an animation is a .html file", file=path)
    # A tag in a title must not end the element that holds the data.
    text = _json(problem, panels).replace("<", "\\u003c")
    page = resources.files(__package__).joinpath(_PAGE).read_text().replace("/*script*/", script())
    with writing(path, "animation"):
        replace_file(path, page.replace("/*data*/", text).encode())


def write_steps(path: Path, problem: GridProblem, panels: Sequence[Panel]) -> None:
    with writing(path, "steps"):
        replace_file(path, _json(problem, panels).encode())


def _json(problem: GridProblem, panels: Sequence[Panel]) -> str:
    return "".join(_pieces(steps(problem, panels)))


def _pieces(value: Any) -> Iterator[str]:
    """JSON of dictionaries, lists and arrays, some numbers at a time, so that Ctrl-C comes through."""
    if isinstance(value, np.ndarray):
        parts = (value[begin : begin + _PIECE] for begin in range(0, len(value), _PIECE))
        yield f"[{','.join(_dense(part.tolist())[1:-1] for part in parts)}]"
    elif isinstance(value, dict):
        for number, (key, one) in enumerate(value.items()):
            yield f"{',' if number else '{'}{_dense(key)}:"
            yield from _pieces(one)
        yield "}"
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for number, one in enumerate(value):
            yield "," if number else "["
            yield from _pieces(one)
        yield "]"
    else:
        yield _dense(value)


def _dense(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def script() -> str:
    """The function that draws, for pages."""
    return resources.files(__package__).joinpath(_SCRIPT).read_text()


def steps(problem: GridProblem, panels: Sequence[Panel]) -> dict[str, Any]:
    width = problem.grid.shape[1]

    def cells(states: npt.NDArray[np.int64] | None) -> Any:
        return [] if states is None else states[:, 0] * width + states[:, 1]

    def plain(panel: Panel) -> dict[str, Any]:
        path, values = panel.result.path, panel.values
        return {
            "title": panel.title,
            "cost": panel.result.plan_cost,
            "explored": cells(panel.result.explored),
            "path": None if path is None else cells(path),
            # Two digits are enough for a colour.
            "values": None if values is None else np.nan_to_num(values).round(2).reshape(-1),
        }

    return {
        "shape": list(problem.grid.shape),
        "blocked": problem.grid.blocked.view(np.uint8).reshape(-1),
        "start": problem.start[0] * width + problem.start[1],
        "goal": problem.goal[0] * width + problem.goal[1],
        "panels": [plain(panel) for panel in panels],
    }
