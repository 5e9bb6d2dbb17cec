"""A map as a small SVG picture: obstacles, explored cells, the path, start and goal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hstar.spaces.grid import MapProblem

_SIDE = 360  # pixels of the longer side
_MOST_CELLS = 256  # of a side; greater maps are drawn as outlines of what was searched


def picture(problem: MapProblem, path: Sequence[Sequence[int]] | None, explored: Any = None) -> str:
    """The picture; darker cells of `explored` were expanded later."""
    rows, columns = problem.grid.shape
    scale = _SIDE / max(rows, columns)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{columns * scale:.0f}" height="{rows * scale:.0f}" '
        f'viewBox="0 0 {columns} {rows}" role="img" aria-label="map with path">',
        f'<rect width="{columns}" height="{rows}" fill="#ffffff" stroke="#999999" stroke-width="0.1"/>',
    ]
    cells = [] if explored is None else [tuple(state[:2]) for state in explored.tolist()]
    for number, (row, column) in enumerate(cells):
        light = 92 - 40 * number // max(len(cells), 1)
        parts.append(_cell(row, column, f"hsl(200,60%,{light}%)"))
    if max(rows, columns) <= _MOST_CELLS:
        parts += [
            _cell(row, column, "#333333")
            for row in range(rows)
            for column in range(columns)
            if problem.grid.blocked[row, column]
        ]
    if path:
        points = " ".join(f"{state[1] + 0.5},{state[0] + 0.5}" for state in path)
        parts.append(f'<polyline points="{points}" fill="none" stroke="#d55e00" stroke-width="0.3"/>')
    for (row, column, *_), colour in ((problem.start, "#009e73"), (problem.goal, "#0072b2")):
        parts.append(f'<circle cx="{column + 0.5}" cy="{row + 0.5}" r="0.4" fill="{colour}"/>')
    return "".join((*parts, "</svg>"))


def _cell(row: int, column: int, colour: str) -> str:
    return f'<rect x="{column}" y="{row}" width="1" height="1" fill="{colour}"/>'
