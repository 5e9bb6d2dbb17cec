"""Whether a model that a training on maps will make fits maps, known before the training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hstar.errors import HstarError, InputError
from hstar.experiments.problems import SCENARIOS, ProblemSet
from hstar.models.map_identity import MapIdentity
from hstar.spaces.grid import Grid
from hstar.spaces.grid_files import load_map, load_scenarios


def check_map_fit(name: str, parts: Mapping[str, Any], files: Sequence[Path], one: ProblemSet) -> None:
    """An `InputError` if neighbours, headings or sizes are others. `parts` are those of the recipe."""
    config, maps, network = parts["recipe"], parts["maps"], parts["model"]
    grids = [
        load_scenarios(path)[0].problem.grid if path.suffix == SCENARIOS else Grid(load_map(path))
        for path in files
    ]
    neighbours = config.headings or maps.neighbours
    space = MapIdentity(
        neighbours=neighbours,
        cut_corners=neighbours == 8 and maps.cut_corners,
        sizes=tuple({grid.shape for grid in grids}) or ((maps.rows, maps.columns),),
        any_size=network.any_size,
        headings=config.headings,
        turn_cost=config.turn_cost if config.headings else 0.0,
    )
    for problem in one.examples:
        try:
            space.check(problem)
            network.encode(problem)
        except HstarError as error:
            raise InputError(f"{name} does not fit {one.domain}: {error}; name others by only") from None


def check_fresh(
    name: str, parts: Mapping[str, Any], files: Sequence[Path], seeds: Sequence[int], one: ProblemSet
) -> None:
    """An `InputError` if a training sees the scenarios of a set: the same maps and seed are the same ones."""
    if not files and one.drawn is not None and one.drawn[0] == parts["maps"] and one.drawn[1] in seeds:
        seed = one.drawn[1]
        raise InputError(f"{name} learns from scenarios of {one.domain}, seed {seed}; plan on other seeds")
