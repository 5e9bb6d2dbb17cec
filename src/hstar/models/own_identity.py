"""A model of a user's own space: the name of the space and how many inputs its `encode` gives.

The network runs in NumPy, so that a search needs no torch. Estimate and rule are applied by the core
(`believed_values`); a bound that they need is the space's own `lower_bound`. Values are costs of the space.

Invariant: nothing but the user's own functions sees a state. Whatever they return is checked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError, ModelError, UnsupportedError
from hstar.estimates.belief import native_belief
from hstar.estimates.rules import Bounded, Calibrated, Clip
from hstar.models.identity import IDENTITIES, Identity, expect, native_network
from hstar.models.model import Tensors, with_weights
from hstar.search.heuristics import BatchHeuristic
from hstar.spaces.own import OwnProblem

if TYPE_CHECKING:
    from torch import nn

    from hstar.models.ffnn import InUnits
    from hstar.models.trained_model import TrainedModel

LOWER = "lower_bound"  # the one bound that an own space can have
Network = Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]]


@dataclass(frozen=True)
class OwnModule:
    """A torch module of the user's own. A file has its weights and its name, never its code."""

    path: str  # of the class or function that makes it: module:Name, or file.py:Name of a program
    unit: float  # of its first output, in costs
    run: Network | None = field(default=None, compare=False, repr=False)

    @staticmethod
    def of(make: Any, unit: float, module: InUnits) -> OwnModule:
        """A module (in units of `unit`) that `make` made and training taught."""
        named = make if hasattr(make, "__qualname__") else type(make)
        program = getattr(sys.modules["__main__"], "__file__", None) or "__main__"
        source = Path(program).name if named.__module__ == "__main__" else named.__module__
        return OwnModule(f"{source}:{named.__qualname__}", unit, module.run)


def own_module(make: Callable[[int, int], nn.Module], inputs: int, outputs: int, unit: float) -> InUnits:
    """A fresh module of the user's own, tried on two states."""
    import torch

    from hstar.models.ffnn import InUnits

    name = getattr(make, "__name__", type(make).__name__)
    try:
        inner = make(inputs, outputs)
        shape = tuple(inner(torch.zeros(2, inputs)).shape)
    except Exception as error:
        text = " ".join(str(error).split())
        raise InputError(f"model {name}({inputs}, {outputs}): {type(error).__name__}: {text:.200}") from error
    if shape != (2, outputs):
        raise InputError(f"model {name} must give {outputs} outputs for each state: for 2 states {shape}")
    return InUnits(inner, unit, outputs)


@IDENTITIES.register("own")
@dataclass(frozen=True)
class OwnIdentity(Identity):
    """A space by its name, and the number of inputs; the network if it is no entry of MODELS."""

    kind: ClassVar[str] = "own"

    name: str
    inputs: int
    module: OwnModule | None = None

    def __str__(self) -> str:
        return self.name

    def to_json(self) -> dict[str, Any]:
        own = self.module
        module = {} if own is None else {"module": {"path": own.path, "unit": own.unit}}
        return {"name": self.name, "inputs": self.inputs, **module}

    def with_module(self, make: Callable[[int, int], nn.Module], tensors: Tensors, outputs: int) -> Identity:
        if self.module is None:
            return super().with_module(make, tensors, outputs)
        module = own_module(make, self.inputs, outputs, self.module.unit)
        with_weights(lambda: module.inner, tensors, self.module.path)
        return replace(self, module=replace(self.module, run=module.eval().run))

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
        if self.module is None:
            return native_network(model, self.inputs).reference
        if self.module.run is None:
            name = self.module.path.replace(":", ".").rpartition(".")[2]
            raise UnsupportedError(
                f"the model of {self} is your own module {self.module.path}, whose code is not in the file: "
                f"load it in Python by hstar.load_model(path, model={name})"
            )
        return self.module.run

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
