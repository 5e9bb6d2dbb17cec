"""Models for maps and lattices: which steps and sizes they have, and the value map of a problem.

A model of the kind `map` sees obstacles and goal. One of the kind `map goal` is for one map with one goal,
from any start: a network over row and column of a cell, which knows the rest by heart and is refused for
another map or goal.

The network gives all states of a problem their values before the search, which sees them as an array. The
rule `bounded:EPS` is left to the search, whose arithmetic is exact (`core/heuristics/grid_distance.h`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hstar.errors import ModelError
from hstar.estimates.estimate import Known
from hstar.estimates.rules import Bounded, Calibrated, Order, Rule
from hstar.models.identity import IDENTITIES, Identity, expect, native_network
from hstar.models.model import with_weights
from hstar.models.native import NativeNetwork
from hstar.options import Checked, option
from hstar.search.grid_astar import ValueMap
from hstar.spaces.grid import GridLike, GridProblem, LatticeProblem

if TYPE_CHECKING:
    from torch import Tensor, nn

    from hstar.models.trained_model import TrainedModel

CELLS_AT_ONCE = 256  # in one pass of a network that takes an image for each cell


@IDENTITIES.register("map")
@dataclass(frozen=True)
class MapIdentity(Checked, Identity):
    """Steps that cost 1, in the maps of the training; goals for every heading of a lattice."""

    kind: ClassVar[str] = "map"

    neighbours: int = field(metadata={"words": (4, 8)})  # of a cell; on a lattice its headings
    cut_corners: bool
    sizes: tuple[tuple[int, int], ...]  # rows and columns of these maps
    any_size: bool = True  # whether the network takes others, too
    headings: int = option(0, "Headings of a lattice; 0: cells without headings.", words=(0, 4, 8))
    turn_cost: float = 0.0

    @classmethod
    def of(cls, problem: GridLike) -> MapIdentity:
        """What a model is for that has learned of this problem alone."""
        lattice = (problem.headings, problem.turn_cost) if isinstance(problem, LatticeProblem) else (0, 0.0)
        neighbours = lattice[0] or problem.grid.neighbours
        corners = neighbours == 8 and bool(problem.grid.cut_corners)
        return cls(neighbours, corners, (problem.grid.shape,), True, *lattice)

    def __str__(self) -> str:
        return f"maps of {self._sizes} cells, {self.steps}"

    @property
    def steps(self) -> str:
        """How cells are connected, and what turns cost."""
        turns = f"{self.headings} headings, turns for {self.turn_cost:g}"
        steps = turns if self.headings else f"{self.neighbours} neighbours"
        return f"{steps} and cut corners" if self.cut_corners else steps

    @property
    def _sizes(self) -> str:
        return ", ".join(f"{rows} x {columns}" for rows, columns in self.sizes)

    def check(self, problem: Any) -> None:
        expect(self, problem, GridProblem, LatticeProblem)
        if problem.grid.costs is not None:
            raise ModelError("the model was trained for steps that cost 1, asked for costs of cells")
        asked = MapIdentity.of(problem)
        if replace(asked, sizes=self.sizes, any_size=self.any_size) != self:
            raise ModelError(f"the model was trained for {self.steps}, asked for {asked.steps}")
        if self.headings and len(problem.goal) != 2:
            raise ModelError("the model was trained for goals that do not say a heading")
        if not self.any_size and problem.grid.shape not in self.sizes:
            raise ModelError(
                f"the model was trained for maps of {self._sizes} cells, "
                f"asked for {asked._sizes}; a vin takes any size"
            )

    def network(self, model: TrainedModel[MapIdentity]) -> nn.Module:
        _check_rule(model.rule)
        about = (model.estimate.outputs, max(self.headings, 1))
        return with_weights(lambda: model.options.build(*about), model.tensors, model.model)

    def build(self, model: TrainedModel[MapIdentity], problem: Any, *, cache: bool) -> ValueMap:
        import torch

        self.check(problem)
        options, headings = model.options, max(self.headings, 1)
        rule, eps = _without_bound(model.rule)
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
                known = Known(lower=_lower(rule, bound), base=bound if options.relative else None)
                raw = model.network(options.inputs([image], scenario, some, headings))
                found.append(rule.value(model.estimate, raw, known).numpy())
        result = np.zeros(len(bounds), dtype=np.float32)
        result[states] = np.concatenate(found)
        return ValueMap(result.reshape(problem.shape), eps)

    def describe(self, model: TrainedModel[MapIdentity]) -> dict[str, Any]:
        return {"other_sizes": self.any_size}


def cell_inputs(cells: npt.NDArray[Any], shape: tuple[int, int]) -> npt.NDArray[np.float32]:
    """A 1 for the row and a 1 for the column of each cell, (cells, rows + columns)."""
    rows, columns = shape
    found = np.zeros((len(cells), rows + columns), dtype=np.float32)
    found[np.arange(len(cells)), cells[:, 0]] = 1
    found[np.arange(len(cells)), rows + cells[:, 1]] = 1
    return found


@IDENTITIES.register("map goal")
@dataclass(frozen=True)
class GoalIdentity(Identity):
    """The map by its digest, how cells are connected, and the goal."""

    kind: ClassVar[str] = "map goal"

    digest: str
    shape: tuple[int, int]
    neighbours: int
    cut_corners: bool
    goal: tuple[int, int]

    @classmethod
    def of(cls, problem: GridProblem) -> GoalIdentity:
        grid = problem.grid
        digest = hashlib.sha256(np.packbits(grid.blocked).tobytes()).hexdigest()
        row, column = problem.goal
        return cls(digest, grid.shape, grid.neighbours, grid.cut_corners, (int(row), int(column)))

    def __str__(self) -> str:
        return f"a map of {self.shape[0]} x {self.shape[1]} cells with the goal {self.goal}"

    def check(self, problem: Any) -> None:
        expect(self, problem, GridProblem)
        asked = GoalIdentity.of(problem)
        if asked != self:
            other = "map" if replace(asked, goal=self.goal) != self else "goal"
            raise ModelError(f"the model was trained for {self}, asked for another {other}")

    def network(self, model: TrainedModel[GoalIdentity]) -> NativeNetwork:
        _check_rule(model.rule)
        return native_network(model, sum(self.shape))

    def build(self, model: TrainedModel[GoalIdentity], problem: Any, *, cache: bool) -> ValueMap:
        import torch

        self.check(problem)
        rule, eps = _without_bound(model.rule)
        cells = np.argwhere(np.ones(self.shape, dtype=bool))
        raw = torch.from_numpy(model.network.reference(cell_inputs(cells, self.shape)))
        lower = torch.from_numpy(problem.lower_bounds().reshape(-1).astype(np.float32))
        values = rule.value(model.estimate, raw, Known(lower=_lower(rule, lower))).numpy().astype(np.float32)
        return ValueMap(np.maximum(values, 0).reshape(self.shape), eps)

    def describe(self, model: TrainedModel[GoalIdentity]) -> dict[str, Any]:
        return {"neighbours": self.neighbours, "inputs": sum(self.shape)}


def _check_rule(rule: Rule) -> None:
    if isinstance(rule, Order):
        raise ModelError("a model of maps tells distances, not an order")


def _without_bound(rule: Rule) -> tuple[Rule, float | None]:
    """What values are made by, and the bound that is left to the search, if any."""
    return (rule.of, rule.eps) if isinstance(rule, Bounded) else (rule, None)


def _lower(rule: Rule, bound: Tensor) -> Tensor:
    """What is calibrated must not be above the bound itself, but for its rounding."""
    return bound.nextafter(bound.new_zeros(())) if isinstance(rule, Calibrated) else bound
