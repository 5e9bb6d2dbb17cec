"""A model for one map with one goal, from any start: a network over row and column of a cell.

Where models of maps in general (`map_identity.py`) see obstacles and goal, this one knows them by heart, and
is refused for another map or goal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hstar.errors import ModelError
from hstar.estimates.estimate import Known
from hstar.estimates.rules import Bounded, Order
from hstar.models.identity import IDENTITIES, entry, expect
from hstar.models.native import NativeNetwork
from hstar.search.grid_astar import ValueMap
from hstar.spaces.grid import GridProblem

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel


def cell_inputs(cells: npt.NDArray[Any], shape: tuple[int, int]) -> npt.NDArray[np.float32]:
    """A 1 for the row and a 1 for the column of each cell, (cells, rows + columns)."""
    rows, columns = shape
    found = np.zeros((len(cells), rows + columns), dtype=np.float32)
    found[np.arange(len(cells)), cells[:, 0]] = 1
    found[np.arange(len(cells)), rows + cells[:, 1]] = 1
    return found


@IDENTITIES.register("map goal")
@dataclass(frozen=True)
class GoalIdentity:
    """The map by its digest, how cells are connected, and the goal."""

    kind: ClassVar[str] = "map goal"

    digest: str
    shape: tuple[int, int]
    neighbours: int
    cut_corners: bool
    goal: tuple[int, int]

    @classmethod
    def of(cls, problem: GridProblem) -> GoalIdentity:
        """That of a problem."""
        grid = problem.grid
        digest = hashlib.sha256(np.packbits(grid.blocked).tobytes()).hexdigest()
        row, column = problem.goal
        return cls(digest, grid.shape, grid.neighbours, grid.cut_corners, (int(row), int(column)))

    def __str__(self) -> str:
        return f"a map of {self.shape[0]} x {self.shape[1]} cells with the goal {self.goal}"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "shape": list(self.shape), "goal": list(self.goal)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GoalIdentity:
        """What `to_json` gave."""
        rows, columns = map(int, entry(data, "shape", list))
        row, column = map(int, entry(data, "goal", list))
        return cls(
            digest=entry(data, "digest", str),
            shape=(rows, columns),
            neighbours=entry(data, "neighbours", int),
            cut_corners=entry(data, "cut_corners", bool),
            goal=(row, column),
        )

    def check(self, problem: Any) -> None:
        """A `ModelError` for another map, other steps or another goal."""
        expect(self, problem, GridProblem)
        asked = GoalIdentity.of(problem)
        if asked != self:
            other = "map" if replace(asked, goal=self.goal) != self else "goal"
            raise ModelError(f"the model was trained for {self}, asked for another {other}")

    def network(self, model: TrainedModel[GoalIdentity]) -> NativeNetwork:
        """From rows and columns to raw outputs."""
        if isinstance(model.rule, Order):
            raise ModelError("a model of maps tells distances, not an order")
        network: NativeNetwork = model.options.network(model.tensors)
        if (network.atoms, network.outputs) != (sum(self.shape), model.estimate.outputs):
            raise ModelError(f"the network has {network.atoms} inputs and {network.outputs} outputs")
        return network

    def build(self, model: TrainedModel[GoalIdentity], problem: Any, *, cache: bool) -> ValueMap:
        """The values of all cells by the rule of the model."""
        import torch

        self.check(problem)
        bounded = model.rule if isinstance(model.rule, Bounded) else None
        rule = model.rule if bounded is None else bounded.of
        cells = np.argwhere(np.ones(self.shape, dtype=bool))
        raw = torch.from_numpy(model.network.reference(cell_inputs(cells, self.shape)))
        lower = torch.from_numpy(problem.lower_bounds().reshape(-1).astype(np.float32))
        values = rule.value(model.estimate, raw, Known(lower=lower)).numpy().astype(np.float32)
        values = np.maximum(values, 0).reshape(self.shape)
        return ValueMap(values, None if bounded is None else bounded.eps)

    def describe(self, model: TrainedModel[GoalIdentity]) -> dict[str, Any]:
        """The number of its inputs."""
        return {"neighbours": self.neighbours, "inputs": sum(self.shape)}
