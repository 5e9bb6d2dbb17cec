"""What a model is trained for: one small frozen object for each kind of space, with all that only it knows.

A `TrainedModel` asks its identity to check problems, to make its weights ready to run, and to build the
native heuristic for a problem. A new kind of space is one such class, entered by its `kind`; model files,
`hstar info` and the loader find it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from hstar.errors import ModelError
from hstar.registry import Registry

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel


class Identity(Protocol):
    """The space of a model. Its text says what that is, after the words "trained for"."""

    kind: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Plain data without the kind."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Identity:
        """What `to_json` gave; an `InputError`, a `ModelError` or a KeyError for anything else."""

    def check(self, problem: Any) -> None:
        """A `ModelError` if the model was not trained for such a problem."""

    def network(self, model: TrainedModel[Any]) -> Any:
        """What runs, with the weights in it; a `ModelError` if parts of the model do not fit each other.

        It is made once for a model, when that is made.
        """

    def build(self, model: TrainedModel[Any], problem: Any, *, cache: bool) -> Any:
        """The native heuristic for a problem, checked; with `cache` tables that take long are kept."""

    def describe(self, model: TrainedModel[Any]) -> dict[str, Any]:
        """What `hstar info` tells of such a model beyond what all have."""


S = TypeVar("S", bound=Identity)
T = TypeVar("T")
IDENTITIES: Registry[type[Identity]] = Registry("kind of model")


def space_of(model: TrainedModel[Any], kind: type[S]) -> S:
    """What a model is trained for, if it is of this kind; a `ModelError` otherwise."""
    if not isinstance(model.space, kind):
        raise ModelError(f"expected a model of a {kind.kind}, got one of a {model.space.kind}: {model.space}")
    return model.space


def entry(data: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """An entry of plain data of this type; a `ModelError` if it is missing or of another type."""
    value = data.get(name)
    if not isinstance(value, kind):
        raise ModelError(f"no {name}" if value is None else f"{name} is a {type(value).__name__}")
    return value


def texts(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The same of a list of names."""
    values = entry(data, name, list)
    if not all(isinstance(value, str) for value in values):
        raise ModelError(f"{name} are not names")
    return tuple(values)


def expect(space: Identity, problem: Any, kinds: type | tuple[type, ...]) -> None:
    """A `ModelError` unless a problem is of one of these types."""
    if not isinstance(problem, kinds):
        asked = getattr(problem, "name", None) or type(problem).__name__
        raise ModelError(f"the model was trained for {space}, asked for {asked}")
