"""Rules: which number of an estimate the search sees.

A rule is a frozen dataclass of plain values. The innermost one asks the estimate (`Mean`); others keep the
value of the rule they wrap within bounds (`Clip`). Bounds on h* for each state, if the caller has them, are
handed through, so that rules over quantiles or with a bound on suboptimality fit the same call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from hstar.errors import InputError
from hstar.estimates.estimate import Estimate
from hstar.registry import Registry

if TYPE_CHECKING:
    from torch import Tensor


class Rule(Protocol):
    """From raw outputs (states, outputs) to heuristic values (states,)."""

    name: ClassVar[str]

    def value(
        self, estimate: Estimate, raw: Tensor, lower: Tensor | None = None, upper: Tensor | None = None
    ) -> Tensor:
        """The values; `lower` and `upper` are bounds on h* by state."""


RULES: Registry[type[Any]] = Registry("rule")


@RULES.register("mean")
@dataclass(frozen=True)
class Mean:
    """The expected cost-to-go."""

    name: ClassVar[str] = "mean"

    def value(
        self, estimate: Estimate, raw: Tensor, lower: Tensor | None = None, upper: Tensor | None = None
    ) -> Tensor:
        """The mean of the estimate."""
        return estimate.mean(raw)


@RULES.register("clip")
@dataclass(frozen=True)
class Clip:
    """The value of another rule, moved into [lower, upper] and into the bounds of each state where known."""

    name: ClassVar[str] = "clip"

    of: Rule = field(default_factory=Mean)
    lower: float | None = 0.0
    upper: float | None = None

    def __post_init__(self) -> None:
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise InputError(f"clip: the lower bound {self.lower} is above the upper one {self.upper}")

    def value(
        self, estimate: Estimate, raw: Tensor, lower: Tensor | None = None, upper: Tensor | None = None
    ) -> Tensor:
        """The clipped values; where the bounds of a state contradict each other, the lower one holds."""
        h = self.of.value(estimate, raw, lower, upper)
        if self.lower is not None or self.upper is not None:
            h = h.clamp(self.lower, self.upper)
        if upper is not None:
            h = h.fmin(upper)
        return h if lower is None else h.fmax(lower)


def to_json(rule: Rule) -> dict[str, Any]:
    """Plain data: the name and the fields."""
    values = {entry.name: getattr(rule, entry.name) for entry in fields(rule)}  # type: ignore[arg-type]
    return {"name": rule.name} | {
        name: to_json(value) if name == "of" else value for name, value in values.items()
    }


def from_json(data: Mapping[str, Any]) -> Rule:
    """The rule that `to_json` described; an `InputError` for anything else."""
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise InputError(f"not a rule: {data!r}")
    values = {
        name: from_json(value) if name == "of" else value for name, value in data.items() if name != "name"
    }
    try:
        rule: Rule = RULES.get(data["name"])(**values)
    except TypeError:
        raise InputError(f"not options of the rule '{data['name']}': {', '.join(values)}") from None
    return rule
