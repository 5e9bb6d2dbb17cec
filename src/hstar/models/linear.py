"""`linear`: a linear function of four numbers that ff's relaxed plan and the goal give.

The features are those that Núñez-Molina et al. ("On Using Admissible Bounds for Learning Forward Search
Heuristics") give to the linear model of their comparison, as they are: goals that do not hold, operators
of the relaxed plan, atoms that these operators delete in total, and in the mean (0 for an empty plan).

Invariant: all of them are of the state itself. Difference: in that comparison the first one stays what it was
in the initial state while a search runs; here it is counted anew in every state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hstar import _core
from hstar.models.model import MODELS, Tensors, check_shapes
from hstar.models.relational_model import RelationalModel, StateRows
from hstar.spaces.relations import Relations, Vocabulary, check_fit
from hstar.spaces.task import Task

if TYPE_CHECKING:
    from torch import Tensor, nn

FEATURES = 4


@MODELS.register("linear")
@dataclass(frozen=True)
class LinearConfig(RelationalModel):
    """The linear model has no options."""

    name: ClassVar[str] = "linear"
    columns: ClassVar[tuple[str, ...]] = ("goalcount", "operators", "deletes")
    tabular: ClassVar[bool] = True

    def encode(self, words: Vocabulary, relations: Relations) -> None:
        """States of an instance share nothing that counts."""

    def inputs(self, words: Vocabulary, states: StateRows) -> Tensor:
        """The four features of each state, as an array (states, 4)."""
        import torch

        goals, operators, deletes = (states.columns[name] for name in self.columns)
        with np.errstate(invalid="ignore"):  # dead ends, where nobody asks for a value
            mean = deletes / np.maximum(operators, 1)
        return torch.from_numpy(np.stack([goals, operators, deletes, mean], axis=1).astype(np.float32))

    def build(self, words: Vocabulary, outputs: int) -> nn.Linear:
        from torch import nn

        return nn.Linear(FEATURES, outputs)

    def native(self, task: Task, words: Vocabulary, tensors: Tensors, outputs: int) -> _core.RawModel:
        """In the core, where ff's relaxed plan is at hand; it counts steps."""
        check_fit(task, words)
        check_shapes(tensors, {"weight": (outputs, FEATURES), "bias": (outputs,)}, self.name)
        weights, bias = (tensors[name].astype(np.float64) for name in ("weight", "bias"))
        return _core.linear_model(task.with_unit_cost().core, weights, bias)
