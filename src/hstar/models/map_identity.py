"""A model for maps and lattices: which steps and sizes they have, and the value map of a problem.

The network gives all states of a problem their values before the search, which sees them as an array. The
rule `bounded:EPS` is left to the search, whose arithmetic is exact (`core/heuristics/grid_distance.h`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hstar.errors import ModelError
from hstar.estimates.estimate import Known
from hstar.estimates.rules import Bounded, Calibrated, Order
from hstar.models.identity import IDENTITIES, expect
from hstar.models.torch_search import with_weights
from hstar.search.grid_astar import ValueMap
from hstar.spaces.grid import GridLike, GridProblem, LatticeProblem

if TYPE_CHECKING:
    from torch import nn

    from hstar.models.trained_model import TrainedModel

CELLS_AT_ONCE = 256  # in one pass of a network that takes an image for each cell


@IDENTITIES.register("map")
@dataclass(frozen=True)
class MapIdentity:
    """Steps that cost 1, in the maps of the training; goals for every heading of a lattice."""

    kind: ClassVar[str] = "map"

    neighbours: int  # of a cell; on a lattice its headings
    cut_corners: bool
    sizes: tuple[tuple[int, int], ...]  # rows and columns of these maps
    any_size: bool = True  # whether the network takes others, too
    headings: int = 0  # of a lattice, 4 or 8; 0: cells without headings
    turn_cost: float = 0.0

    def __post_init__(self) -> None:
        if self.neighbours not in (4, 8):
            raise ModelError(f"neighbours are 4 or 8, got {self.neighbours!r}")
        if self.headings not in (0, 4, 8):
            raise ModelError(f"headings are 4 or 8, or 0, got {self.headings!r}")

    def __str__(self) -> str:
        steps = f"{self.headings} headings" if self.headings else f"{self.neighbours} neighbours"
        return f"maps of {self._sizes} cells, {steps}"

    @property
    def _sizes(self) -> str:
        return ", ".join(f"{rows} x {columns}" for rows, columns in self.sizes)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "sizes": [list(size) for size in self.sizes]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> MapIdentity:
        """What `to_json` gave."""
        return cls(
            neighbours=int(data["neighbours"]),
            cut_corners=bool(data["cut_corners"]),
            sizes=tuple((int(rows), int(columns)) for rows, columns in data["sizes"]),
            any_size=bool(data["any_size"]),
            headings=int(data["headings"]),
            turn_cost=float(data["turn_cost"]),
        )

    def check(self, problem: Any) -> None:
        """A `ModelError` for other steps, costs, headings or sizes."""
        expect(self, problem, (GridProblem, LatticeProblem))
        grid = problem.grid
        if grid.costs is not None:
            raise ModelError("the model was trained for steps that cost 1, asked for costs of cells")
        self._check_headings(problem)
        corners = grid.cut_corners and (self.headings or grid.neighbours) == 8
        if self.headings:
            if corners != self.cut_corners:
                raise ModelError("the model was trained for other rules of corners than it is asked for")
        elif (grid.neighbours, corners) != (self.neighbours, self.cut_corners):
            raise ModelError(
                f"the model was trained for {_steps(self.neighbours, self.cut_corners)}, "
                f"asked for {_steps(grid.neighbours, corners)}"
            )
        if not self.any_size and grid.shape not in self.sizes:
            raise ModelError(
                f"the model was trained for maps of {self._sizes} cells, "
                f"asked for {grid.shape[0]} x {grid.shape[1]}; a vin takes any size"
            )

    def _check_headings(self, problem: GridLike) -> None:
        lattice = problem if isinstance(problem, LatticeProblem) else None
        asked = (lattice.headings, lattice.turn_cost) if lattice is not None else (0, 0.0)
        if asked != (self.headings, self.turn_cost):
            raise ModelError(
                f"the model was trained for {_headings(self.headings, self.turn_cost)}, "
                f"asked for {_headings(*asked)}"
            )
        if lattice is not None and len(lattice.goal) != 2:
            raise ModelError("the model was trained for goals that do not say a heading")

    def network(self, model: TrainedModel[MapIdentity]) -> nn.Module:
        """The module of torch."""
        if isinstance(model.rule, Order):
            raise ModelError("a model of maps tells distances, not an order")
        module = model.options.build(model.estimate.outputs, max(self.headings, 1))
        return with_weights(module, model.tensors, model.model)

    def build(self, model: TrainedModel[MapIdentity], problem: Any, *, cache: bool) -> ValueMap:
        """The values of a problem by the rule of the model."""
        import torch

        self.check(problem)
        options, headings = model.options, max(self.headings, 1)
        bounded = model.rule if isinstance(model.rule, Bounded) else None
        rule = model.rule if bounded is None else bounded.of
        states = np.flatnonzero(np.repeat(~problem.grid.blocked.reshape(-1), headings))
        bounds = problem.lower_bounds().reshape(-1).astype(np.float32)
        image = options.encode(problem)
        size = len(states) if options.whole else CELLS_AT_ONCE
        found = []
        with torch.inference_mode():
            for start in range(0, len(states), size):
                some = states[start : start + size]
                scenario = np.zeros(len(some), dtype=np.int64)
                bound = torch.from_numpy(bounds[some])
                # What is calibrated must not be above the bound itself, but for its rounding.
                lower = bound.nextafter(bound.new_zeros(())) if isinstance(rule, Calibrated) else bound
                known = Known(lower=lower, base=bound if options.relative else None)
                raw = model.network(options.inputs([image], scenario, some, headings))
                found.append(rule.value(model.estimate, raw, known).numpy())
        result = np.zeros(len(bounds), dtype=np.float32)
        result[states] = np.concatenate(found)
        return ValueMap(result.reshape(problem.shape), None if bounded is None else bounded.eps)

    def describe(self, model: TrainedModel[MapIdentity]) -> dict[str, Any]:
        """Whether other sizes will do."""
        return {"other_sizes": self.any_size}


def _steps(neighbours: int, cut_corners: bool) -> str:
    return f"{neighbours} neighbours{' and cut corners' if cut_corners else ''}"


def _headings(headings: int, turn_cost: float) -> str:
    return f"{headings} headings, turns for {turn_cost:g}" if headings else "cells without headings"
