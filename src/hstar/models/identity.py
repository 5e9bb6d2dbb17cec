"""What a model is trained for: one small frozen object for each kind of space, with all that only it knows.

A `TrainedModel` asks its identity to check problems, to make its weights ready to run, and to build the
native heuristic for a problem. A new kind of space is one such class, entered by its `kind`; model files,
`hstar info` and the loader find it there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import msgspec

from hstar import _core
from hstar.errors import ModelError, UnsupportedError
from hstar.estimates.belief import native_belief
from hstar.estimates.rules import Bounded, Calibrated, Clip
from hstar.models.native import NativeNetwork
from hstar.registry import Registry
from hstar.search.heuristics import build
from hstar.spaces.task import Task

if TYPE_CHECKING:
    from torch import nn

    from hstar.models.model import Tensors
    from hstar.models.trained_model import TrainedModel

RESOLUTION = 1024  # the search of a task sees values in units of 1/1024 step
LOWER = "lmcut"  # the bound of the rule `bounded` where a model of tasks names none

T = TypeVar("T")


class Identity(Protocol):
    """The space of a model, a frozen dataclass. Its text says what that is, after the words "trained for"."""

    kind: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Plain data without the kind."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Identity:
        """What `to_json` gave; an `InputError` or a `ModelError` for anything else."""
        return converted(data, cls)

    def check(self, problem: Any) -> None:
        """A `ModelError` if the model was not trained for such a problem."""

    def network(self, model: TrainedModel[Any]) -> Any:
        """What runs, with the weights in it; a `ModelError` if parts of the model do not fit each other.

        It is made once for a model, when that is made.
        """

    def build(self, model: TrainedModel[Any], problem: Any, *, cache: bool) -> Any:
        """The native heuristic for a problem, checked; with `cache` tables that take long are kept."""

    def with_module(self, make: Callable[[int, int], nn.Module], tensors: Tensors, outputs: int) -> Identity:
        """The same with the weights in a module that the user's `make(inputs, outputs)` makes."""
        raise UnsupportedError(f"the model of {self} is no module of your own: leave model= out")

    def describe(self, model: TrainedModel[Any]) -> dict[str, Any]:
        """What `hstar info` tells of such a model beyond what all have."""


S = TypeVar("S", bound=Identity)
IDENTITIES: Registry[type[Identity]] = Registry("kind of model")


def space_of(model: TrainedModel[Any], kind: type[S]) -> S:
    """What a model is trained for, if it is of this kind; a `ModelError` otherwise."""
    if not isinstance(model.space, kind):
        raise ModelError(f"expected a model of a {kind.kind}, got one of a {model.space.kind}: {model.space}")
    return model.space


def converted(data: Any, kind: type[T]) -> T:
    """Plain data as this type; a `ModelError` that names what is missing or of another type."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise ModelError(str(error)) from None


def expect(space: Identity, problem: Any, *kinds: type) -> None:
    """A `ModelError` unless a problem is of one of these types."""
    if not isinstance(problem, kinds):
        asked = getattr(problem, "name", None) or type(problem).__name__
        raise ModelError(f"the model was trained for {space}, asked for {asked}")


def native_network(model: TrainedModel[Any], inputs: int) -> NativeNetwork:
    """The network of a model over so many inputs, with as many outputs as the estimate needs."""
    network: NativeNetwork = model.options.network(model.tensors)
    if network.atoms != inputs:
        raise ModelError(f"the network has {network.atoms} inputs, the space {inputs}")
    if network.outputs != (needed := model.estimate.outputs):
        raise ModelError(
            f"the network has {network.outputs} outputs, the estimate {model.estimate.name} needs {needed}"
        )
    return network


def believed(model: TrainedModel[Any], task: Task, raw: _core.RawModel) -> _core.Heuristic:
    """Estimate and rule over raw outputs, in the search of a planning task.

    Heuristics that it asks count steps, as the labels do; but the bound of the rule `bounded` is of the costs
    of the task.
    """
    belief, steps = native_belief(model.estimate, model.rule), task.with_unit_cost()
    lower = None
    if isinstance(model.rule, Bounded):
        lower = build(task, model.lower or LOWER)
    elif model.lower and (model.estimate.bounded or isinstance(model.rule, Clip | Calibrated)):
        lower = build(steps, model.lower)
    base = None if model.base is None else build(steps, model.base)
    return _core.believed_heuristic(
        task.native, raw, belief=belief, base=base, lower=lower, name=model.recipe, scale=RESOLUTION
    )
