"""A model of a user's own space: the name of the space and how many inputs its `encode` gives.

The network runs in NumPy, so that a search needs no torch. Estimate and rule are applied by the core
(`believed_values`); a bound that they need is the space's own `lower_bound`. Values are costs of the space.

Invariant: nothing but the user's own functions sees a state. Whatever they return is checked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import ModelError
from hstar.estimates.belief import native_belief
from hstar.estimates.rules import Bounded, Calibrated, Clip
from hstar.models.identity import IDENTITIES, Identity, expect, native_network
from hstar.search.heuristics import BatchHeuristic
from hstar.spaces.own import OwnProblem

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel

LOWER = "lower_bound"  # the one bound that an own space can have
Network = Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]]


@IDENTITIES.register("own")
@dataclass(frozen=True)
class OwnIdentity(Identity):
    """A space by its name, and the number of inputs.

    `forward` is a model of the user's own, from inputs to raw outputs; it lives as long as the process.
    """

    kind: ClassVar[str] = "own"

    name: str
    inputs: int
    forward: Network | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.name

    def to_json(self) -> dict[str, Any]:
        """Plain data; a model of the user's own has none."""
        if self.forward is not None:
            raise ModelError(
                f"this model of {self.name} cannot be saved: it is a module of your own, "
                "and only named models such as ffnn can be saved"
            )
        return {"name": self.name, "inputs": self.inputs}

    def check(self, problem: Any) -> None:
        expect(self, problem, OwnProblem)
        if problem.name != self.name:
            raise ModelError(f"the model was trained for {self}, asked for {problem.name}")
        inputs = problem.encoded([problem.start]).shape[1]
        if inputs != self.inputs:
            raise ModelError(
                f"the model was trained for {self} with {self.inputs} inputs, its encode gives {inputs}"
            )

    def network(self, model: TrainedModel[OwnIdentity]) -> Network:
        if model.lower not in (None, LOWER):
            raise ModelError(f"the lower bound of an own space is {LOWER}, not {model.lower}")
        return self.forward or native_network(model, self.inputs).reference

    def build(self, model: TrainedModel[OwnIdentity], problem: Any, *, cache: bool) -> BatchHeuristic:
        self.check(problem)
        belief = native_belief(model.estimate, model.rule)
        needed = model.estimate.bounded or isinstance(model.rule, Bounded)
        helpful = problem.bounded and isinstance(model.rule, Clip | Calibrated)
        if needed and not problem.bounded:
            part = model.rule.name if isinstance(model.rule, Bounded) else model.estimate.name
            raise ModelError(
                f"{part} needs a lower bound, and {self.name} has none: add a function lower_bound(state)"
            )
        network: Network = model.network

        def values(states: Any) -> npt.NDArray[np.float64]:
            inputs = problem.encoded(states)
            if inputs.shape[1] != self.inputs:
                raise ModelError(f"{self.name}.encode gave {self.inputs} inputs, and now {inputs.shape[1]}")
            raw = np.ascontiguousarray(network(inputs), dtype=np.float64)
            lower = problem.bounds(states) if needed or helpful else None
            return _core.believed_values(raw, belief, lower=lower)

        return BatchHeuristic(values, model.recipe)

    def describe(self, model: TrainedModel[OwnIdentity]) -> dict[str, Any]:
        return {"inputs": self.inputs}
