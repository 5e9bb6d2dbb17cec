"""Problems on maps, by number and seed: on random maps, on maps of files, or those of `.scen` files."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hstar.errors import InputError
from hstar.spaces.grid import Grid, GridProblem
from hstar.spaces.grid_files import load_map, load_scenarios
from hstar.spaces.grid_maps import MapOptions, problems_on, random_problems

SCENARIOS = ".scen"


def scenarios_of(
    files: Sequence[Path], number: int, seed: int, maps: MapOptions, threshold: float | None = None
) -> list[GridProblem]:
    """So many problems; of `.scen` files at most so many, drawn by the seed. Without files: random maps."""
    if not files:
        return random_problems(number, seed, maps)
    given = [path for path in files if path.suffix == SCENARIOS]
    if given and len(given) < len(files):
        raise InputError("give either maps or .scen files, not both")
    steps: dict[str, Any] = {"neighbours": maps.neighbours, "cut_corners": maps.cut_corners}
    if not given:
        grids = [Grid(load_map(path, threshold=threshold), None, **steps) for path in files]
        return problems_on(grids, number, seed)
    found = [one.problem for path in given for one in load_scenarios(path, **steps)]
    if not found:
        raise InputError("has no problems", file=given[0])
    return found if number >= len(found) else random.Random(seed).sample(found, number)
