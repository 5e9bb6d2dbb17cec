"""Random maps and problems, on them or on maps of files, fixed by their seeds.

`scattered` is the distribution of the paper on prolonged search: every cell is blocked with the same
probability, independently. `maze` and `rooms` are for tests on other distributions than that of training.

A problem has a goal that is uniform among the free cells and a start that is uniform among the other cells
from which there is a way to it; a map without such a pair is drawn again.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hstar.errors import InputError
from hstar.options import check_options, option
from hstar.registry import Registry
from hstar.spaces.grid import Blocked, Grid, GridLike, GridProblem, LatticeProblem
from hstar.spaces.grid_files import MOST_CELLS, load_map, load_scenarios

# So many draws in a row without a new problem: there are no more of them, or hardly any.
ATTEMPTS = 500
OF_RANDOM_MAPS = ("kind", "rows", "columns", "blocked_share", "corridor", "room")  # options of what is drawn


@dataclass(frozen=True)
class MapOptions:
    """What kind of map, and how cells are connected."""

    kind: str = option("scattered", "Kind of random map: scattered, maze or rooms.")
    rows: int = option(30, "Number of rows of the map.", least=1)
    columns: int = option(30, "Number of columns of the map.", least=1)
    blocked_share: float = option(
        0.33, "scattered: the probability that a cell is blocked.", least=0, below=1
    )
    corridor: int = option(1, "maze: number of cells between two walls.", least=1)
    room: int = option(7, "rooms: number of cells between two walls.", least=1)
    neighbours: int = option(4, "Number of neighbours of a cell, 4 or 8.", words=(4, 8))
    cut_corners: bool = option(False, "Diagonal steps may pass the corners of obstacles.")

    def __post_init__(self) -> None:
        MAPS.get(self.kind)
        check_options(self)
        if self.rows * self.columns < 2:
            raise InputError("a problem needs at least 2 cells")
        if self.rows * self.columns > MOST_CELLS:
            raise InputError(f"a map has at most {MOST_CELLS} cells, not {self.rows} x {self.columns}")


@dataclass(frozen=True)
class ScenarioOptions(MapOptions):
    """Maps, and the headings of lattices on them."""

    headings: int = option(0, "Headings of a lattice, 4 or 8; 0: cells without headings.", words=(0, 4, 8))
    turn_cost: float = option(1.0, "Cost of a turn by one heading, on lattices.", least=0, most=1e6)

    def on_lattices(self, problems: Sequence[GridProblem], seed: int) -> list[GridLike]:
        """The problems with headings, if there are any."""
        return (
            [*with_headings(problems, self.headings, self.turn_cost, seed)] if self.headings else [*problems]
        )


MAPS: Registry[Callable[[MapOptions, random.Random], Blocked]] = Registry("kind of map")


@MAPS.register("scattered")
def scattered(options: MapOptions, rng: random.Random) -> Blocked:
    cells = [rng.random() < options.blocked_share for _ in range(options.rows * options.columns)]
    return np.array(cells, dtype=bool).reshape(options.rows, options.columns)


@MAPS.register("maze")
def maze(options: MapOptions, rng: random.Random) -> Blocked:
    """A spanning tree of cells with walls between them, by depth-first search: one way between any two."""
    pitch = options.corridor + 1
    rows, columns = (max(1, (size + 1) // pitch) for size in (options.rows, options.columns))
    blocked = np.ones((rows * pitch, columns * pitch), dtype=bool)
    blocked[: options.corridor, : options.corridor] = False
    seen, stack = {(0, 0)}, [(0, 0)]
    while stack:
        row, column = stack[-1]
        around = [(row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1)]
        new = [(r, c) for r, c in around if 0 <= r < rows and 0 <= c < columns and (r, c) not in seen]
        if not new:
            stack.pop()
            continue
        there = rng.choice(new)
        top, left = (pitch * min(pair) for pair in zip((row, column), there, strict=True))
        bottom, right = (pitch * max(pair) for pair in zip((row, column), there, strict=True))
        blocked[top : bottom + options.corridor, left : right + options.corridor] = False
        seen.add(there)
        stack.append(there)
    return _fitted(blocked, options)


@MAPS.register("rooms")
def rooms(options: MapOptions, rng: random.Random) -> Blocked:
    """Square rooms with a door of one cell in every wall between two of them."""
    pitch = options.room + 1
    blocked = np.zeros((options.rows, options.columns), dtype=bool)
    blocked[options.room :: pitch] = True
    blocked[:, options.room :: pitch] = True
    for top in range(0, options.rows, pitch):
        for left in range(0, options.columns, pitch):
            door = rng.randrange(options.room), rng.randrange(options.room)
            bottom, right = top + options.room, left + options.room
            # A door leads somewhere only if there is a room behind its wall.
            if bottom + 1 < options.rows:
                blocked[bottom, min(left + door[0], options.columns - 1)] = False
            if right + 1 < options.columns:
                blocked[min(top + door[1], options.rows - 1), right] = False
    return blocked


def _fitted(blocked: Blocked, options: MapOptions) -> Blocked:
    """Cut, or filled with obstacles, to the wanted size."""
    result = np.ones((options.rows, options.columns), dtype=bool)
    rows, columns = min(options.rows, blocked.shape[0]), min(options.columns, blocked.shape[1])
    result[:rows, :columns] = blocked[:rows, :columns]
    return result


def random_problem(seed: int, options: MapOptions | None = None, **changes: Any) -> GridProblem:
    """One problem; `changes` are fields of `MapOptions`."""
    return next(_draws(seed, replace(options or MapOptions(), **changes)))


def random_problems(
    number: int, seed: int, options: MapOptions | None = None, **changes: Any
) -> list[GridProblem]:
    """So many problems, no two of them the same; an `InputError` if there are not so many."""
    options = replace(options or MapOptions(), **changes)
    found: dict[str, GridProblem] = {}
    misses = 0
    for problem in _draws(seed, options):
        if len(found) >= number or misses == ATTEMPTS:
            break
        digest = problem_digest(problem)
        misses = misses + 1 if digest in found else 0
        found.setdefault(digest, problem)
    if len(found) < number:
        raise InputError(f"there are hardly more than {len(found)} such problems, {number} are wanted")
    return list(found.values())


def problem_digest(problem: GridProblem) -> str:
    """The SHA-256 of obstacles, start and goal."""
    about = f"{problem.grid.shape} {problem.start} {problem.goal}".encode()
    return hashlib.sha256(about + np.packbits(problem.grid.blocked).tobytes()).hexdigest()


def _draws(seed: int, options: MapOptions) -> Iterator[GridProblem]:
    """Problems without end, by attempts of the same seed."""
    rng = random.Random(seed)
    failures = 0
    while failures < ATTEMPTS:
        blocked = MAPS.get(options.kind)(options, rng)
        problem = _problem_on(Grid(blocked, None, options.neighbours, options.cut_corners), rng)
        failures += 1
        if problem is not None:
            failures = 0
            yield problem
    raise InputError(f"{ATTEMPTS} maps in a row have no two cells with a way between them")


def _problem_on(grid: Grid, rng: random.Random) -> GridProblem | None:
    """A problem on a map; None if there is no way to the goal that was drawn."""
    free = np.flatnonzero(~grid.blocked)
    if len(free) < 2:
        return None
    goal = rng.choice(free)
    there = np.isfinite(grid.distances(grid.cell(goal))).reshape(-1)
    there[goal] = False
    starts = np.flatnonzero(there)
    return GridProblem(grid, grid.cell(rng.choice(starts)), grid.cell(goal)) if len(starts) else None


def with_headings(
    problems: Sequence[GridProblem], headings: int, turn_cost: float, seed: int
) -> list[LatticeProblem]:
    """The same problems on lattices, with starts that look anywhere and goals for every heading."""
    rng = random.Random(seed)
    return [
        LatticeProblem(one.grid, (*one.start, rng.randrange(headings)), one.goal, headings, turn_cost)
        for one in problems
    ]


def problems_on(grids: Sequence[Grid], number: int, seed: int) -> list[GridProblem]:
    """So many problems on given maps, which take turns; the same one may come twice."""
    if not grids:
        raise InputError("no maps to draw problems on")
    rng = random.Random(seed)
    found: list[GridProblem] = []
    failures = 0
    while len(found) < number:
        problem = _problem_on(grids[len(found) % len(grids)], rng)
        failures = 0 if problem is not None else failures + 1
        if problem is not None:
            found.append(problem)
        elif failures == ATTEMPTS:
            raise InputError(f"map {len(found) % len(grids) + 1} has no two cells with a way between them")
    return found


def scenarios_of(
    files: Sequence[Path],
    number: int,
    seed: int,
    maps: MapOptions,
    threshold: float | None = None,
    inflate: str | float = 0,
) -> list[GridProblem]:
    """So many problems; of `.scen` files at most so many, drawn by the seed. Without files: random maps."""
    if not files:
        return random_problems(number, seed, maps)
    given = [path for path in files if path.suffix == ".scen"]
    if given and len(given) < len(files):
        raise InputError("give either maps or .scen files, not both")
    steps: dict[str, Any] = {"neighbours": maps.neighbours, "cut_corners": maps.cut_corners}
    if not given:
        maps_read = (load_map(path, threshold=threshold, inflate=inflate) for path in files)
        grids = [Grid(blocked, None, **steps) for blocked in maps_read]
        return problems_on(grids, number, seed)
    found = [one.problem for path in given for one in load_scenarios(path, **steps)]
    if not found:
        raise InputError("has no problems", file=given[0])
    return found if number >= len(found) else random.Random(seed).sample(found, number)
