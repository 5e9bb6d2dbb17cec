"""The contract of an estimate: what the raw outputs of a network say about h*.

The training loop calls `loss` for batches, a `Rule` calls `mean` or `quantile` for what the search sees, and
`cdf` tells whether the belief is calibrated. All shapes are by state: raw (states, outputs), everything else
(states,). Results have the type of raw. An estimate owns no weights: it is a frozen dataclass of options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from hstar.errors import InputError
from hstar.registry import Registry

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")


@dataclass(frozen=True)
class Known:
    """What is known about some states without the network."""

    lower: Tensor | None = None  # bounds on h*, NaN where there are none
    upper: Tensor | None = None
    base: Tensor | None = None  # a heuristic value that the first output is added to, for instance ff

    def first(self, n: int) -> Known:
        sides = (self.lower, self.upper, self.base)
        return Known(*(side if side is None else side[:n] for side in sides))

    def within(self, h: Tensor) -> Tensor:
        """Values moved into the bounds; where those of a state contradict each other, the lower one holds."""
        if self.upper is not None:
            h = h.fmin(self.upper)
        return h if self.lower is None else h.fmax(self.lower)

    def location(self, raw: Tensor) -> Tensor:
        """The first output, added to the base if there is one."""
        return raw[:, 0] if self.base is None else raw[:, 0] + self.base.to(raw.dtype)


@dataclass(frozen=True)
class Batch:
    """Some states to learn from: the cost-to-go, and what is known without it.

    With `pairs` (better, worse) of states there may be further states behind those that have a label.
    """

    label: Tensor
    known: Known = field(default_factory=Known)
    pairs: Tensor | None = None


class Estimate(Protocol):
    """A belief about h*, given by `outputs` raw numbers.

    Where `bounded` is True it gives no probability to values beyond the bounds of a state, but for a margin.
    """

    name: ClassVar[str]
    bounded: ClassVar[bool]

    @property
    def outputs(self) -> int:
        """How many raw numbers the network gives for a state."""

    def loss(self, raw: Tensor, batch: Batch) -> Tensor:
        """The mean loss over the batch, a scalar; finite for finite input."""

    def mean(self, raw: Tensor, known: Known) -> Tensor:
        """Expected cost-to-go of each state, in steps."""

    def quantile(self, raw: Tensor, level: float, known: Known) -> Tensor:
        """The value that h* is below with probability `level`; `UnsupportedError` if there is no spread."""

    def cdf(self, raw: Tensor, x: Tensor, known: Known) -> Tensor:
        """The probability that h* is at most x; `UnsupportedError` if there is no spread."""


ESTIMATES: Registry[type[Estimate]] = Registry("estimate")


def to_json(estimate: Estimate) -> dict[str, Any]:
    return {"name": estimate.name, **asdict(estimate)}  # type: ignore[call-overload]


def from_json(data: Mapping[str, Any]) -> Estimate:
    """The estimate that `to_json` described; an `InputError` for anything else."""
    estimate: Estimate = named_part(ESTIMATES, data)
    return estimate


def named_part(registry: Registry[type[T]], data: Mapping[str, Any]) -> T:
    """The part that plain data, its name and its options, describe; an `InputError` if they do not."""
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise InputError(f"not a{'n' if registry.kind[0] in 'aeiou' else ''} {registry.kind}: {data!r}")
    options = {name: value for name, value in data.items() if name != "name"}
    kind = registry.get(data["name"])
    try:
        return kind(**options)
    except TypeError:
        given = ", ".join(options) or "none"
        raise InputError(f"not options of the {registry.kind} '{data['name']}': {given}") from None


def check_level(level: float) -> None:
    """An `InputError` unless there is a quantile for this level."""
    if not 0 < level < 1:
        raise InputError(f"a quantile needs a level between 0 and 1, got {level}")
