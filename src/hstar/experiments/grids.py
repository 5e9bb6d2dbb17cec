"""Searches on maps, one problem after the other: what their paths cost, and what they say together.

`optimum` is found by backward Dijkstra search, which shares neither direction nor heuristic with the search
that it judges. A promise that is broken is told, not averaged away.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hstar.models.identity import space_of
from hstar.models.map_identity import MapIdentity
from hstar.sampling.prolonged import Prolonged
from hstar.search.solve import Progress, Result, SearchConfig, solve
from hstar.spaces.grid import GridLike
from hstar.spaces.grid_files import load_scenarios
from hstar.spaces.grid_maps import MapOptions, random_problems, with_headings

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel

_CALIBRATION = (1,)  # the purpose of random problems that are not those of a training
TOLERANCE = 1e-9  # of sums of roots of 2, which are rounded once here and once there


@dataclass(frozen=True, eq=False)
class GridRun:
    """A search with one heuristic; the time of the network is that of its value map."""

    problem: GridLike
    heuristic: str
    values: npt.NDArray[np.float32] | None
    result: Result
    network_time: float
    bound: float | None  # the path may cost so many times the optimum; None: nothing is promised
    optimum: float | None = None  # None: not asked for, or there is no path

    @property
    def ratio(self) -> float | None:
        """The cost of the path, times the optimum."""
        if self.optimum is None or self.result.plan_cost is None:
            return None
        return self.result.plan_cost / self.optimum if self.optimum else 1.0

    @property
    def broken(self) -> str | None:
        """What is wrong with the answer, if something is: a bug of the search."""
        if self.optimum is None:
            return None
        place = f"from {self.problem.start} to {self.problem.goal}"
        if self.result.status == "unsolvable":
            return f"no path {place}, but there is one that costs {self.optimum:g}"
        if self.ratio is not None and self.ratio < 1 - TOLERANCE:
            return f"the path {place} costs {self.result.plan_cost:g}, less than the optimum {self.optimum:g}"
        if self.ratio is None or self.bound is None or self.ratio <= self.bound * (1 + TOLERANCE):
            return None
        return f"the path {place} costs {self.ratio:g} times the optimum; {self.bound:g} times were promised"


def promised(config: SearchConfig, *, admissible: bool) -> float | None:
    """How many times the optimum a path costs at most: by a heuristic's name, or by a model's values."""
    if not admissible and config.eps is None:
        return None
    return max(1.0, config.weight * (1.0 if admissible or config.eps is None else config.eps))


def optimum(problem: GridLike) -> float | None:
    """The cost of an optimal path; None if there is no path."""
    found = Prolonged(k_pr=1.0, open=False, blind=True).sample(problem)
    start = np.ravel_multi_index(problem.start, problem.shape)
    (place,) = np.nonzero(found.states == start)
    return float(found.label[place[0]]) if found.reached else None


def calibration_problems(
    model: TrainedModel[Any], files: Sequence[Path], number: int | None, seed: int
) -> Sequence[GridLike]:
    """The problems of .scen files, or so many on random maps as in the training, but other ones."""
    space = space_of(model, MapIdentity)
    steps: dict[str, Any] = {"neighbours": space.neighbours, "cut_corners": space.cut_corners}
    drawn = int(np.random.SeedSequence(seed, spawn_key=_CALIBRATION).generate_state(1)[0])
    if number is None:
        found = [one.problem for path in files for one in load_scenarios(path, **steps)]
    else:
        found = random_problems(number, drawn, MapOptions(**model.recipe_config["maps"] | steps))
    return with_headings(found, space.headings, space.turn_cost, drawn) if space.headings else found


def search_map(
    problem: GridLike,
    name: str,
    heuristic: str | TrainedModel[Any],
    config: SearchConfig,
    progress: Progress | None = None,
) -> GridRun:
    """One search; `eps` is for the values of a model and leaves a heuristic by name as it is.

    It is the rule `bounded`: that of a model is taken if no `eps` is given.
    """
    search = "astar" if config.weight == 1 else "wastar"
    if isinstance(heuristic, str):
        result = solve(problem, heuristic, search, config=replace(config, eps=None), progress=progress)
        return GridRun(problem, name, None, result, 0.0, promised(config, admissible=True))
    started = time.monotonic()
    found = heuristic.build(problem)
    network_s = time.monotonic() - started
    config = replace(config, eps=found.eps) if config.eps is None else config
    result = solve(problem, found.values, search, config=config, progress=progress)
    return GridRun(problem, name, found.values, result, network_s, promised(config, admissible=False))


# What they say together.


def summary(runs: Sequence[GridRun]) -> dict[str, Any]:
    """Means over the problems of one heuristic: effort over all, costs over those solved.

    `status` is `solved` if all are, or how the first other one ended; `error` if a promise was broken.
    """
    results = [one.result for one in runs]
    paths = [one for one in runs if one.result.solved]
    ratios = [one.ratio for one in runs if one.ratio is not None]
    broken = [told for one in runs if (told := one.broken) is not None]
    status = next((one.status for one in results if not one.solved), "solved")
    record = {
        "status": "error" if broken else status,
        "scenarios": len(runs),
        "solved": len(paths),
        "bound": runs[0].bound,
        "expansions": _mean([one.expanded for one in results]),
        "evaluations": _mean([one.generated for one in results]),
        "reopened": _mean([one.reopened for one in results]),
        "cost": _mean([one.result.plan_cost or 0.0 for one in paths]),
        "plan_length": _mean([0 if one.path is None else len(one.path) - 1 for one in results if one.solved]),
        "optimum": _mean([one.optimum for one in paths if one.optimum is not None]),
        "ratio": _mean(ratios),
        "greatest_ratio": max(ratios, default=None),
        "violations": len(broken),
        "search_time": _mean([one.search_time for one in results]),
        "cpu_time": _mean([one.cpu_time for one in results]),
        "network_time": _mean([one.network_time for one in runs]),
    }
    return record | ({"error": broken[0]} if broken else {})


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


_COLUMNS = ("problem", "heuristic", "status", "cost", "optimum", "bound")
_COUNTS = ("expanded", "generated", "reopened", "search_time")


def to_csv(runs: Sequence[GridRun]) -> str:
    """A line for each search; problems are counted from 1 on."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*_COLUMNS, *_COUNTS, "network_time"))
    number: dict[int, int] = {}
    for one in runs:
        place = number.setdefault(id(one.problem), len(number) + 1)
        name = Path(one.heuristic).name  # of a model
        about = (place, name, one.result.status, one.result.plan_cost, one.optimum, one.bound)
        writer.writerow((*about, *(getattr(one.result, name) for name in _COUNTS), one.network_time))
    return text.getvalue()
