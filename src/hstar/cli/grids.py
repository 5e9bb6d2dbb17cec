"""Maps on the command line: images, `.map` and `.scen` files, and the problems that are drawn on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hstar.cli.tasks import check_file
from hstar.errors import InputError

if TYPE_CHECKING:
    from hstar.spaces.grid import GridProblem
    from hstar.spaces.grid_maps import MapOptions

MAPS = "MAP | SCENARIOS"


def problems_of(
    files: Sequence[Path], number: int, seed: int, maps: MapOptions, threshold: float | None = None
) -> list[GridProblem]:
    """So many problems: on random maps, or on those of the files, or at most so many of `.scen` files."""
    import random

    from hstar.spaces.grid import Grid
    from hstar.spaces.grid_files import load_map, load_scenarios
    from hstar.spaces.grid_maps import problems_on, random_problems

    if not files:
        return random_problems(number, seed, maps)
    for path in files:
        check_file(path)
    given = [path for path in files if path.suffix == ".scen"]
    if given and len(given) < len(files):
        raise InputError("give either maps or .scen files, not both")
    if not given:
        grids = [
            Grid(load_map(path, threshold=threshold), None, maps.neighbours, maps.cut_corners)
            for path in files
        ]
        return problems_on(grids, number, seed)
    found = [
        one.problem
        for path in given
        for one in load_scenarios(path, neighbours=maps.neighbours, cut_corners=maps.cut_corners)
    ]
    if not found:
        raise InputError("has no problems", file=given[0])
    return found if number >= len(found) else random.Random(seed).sample(found, number)
