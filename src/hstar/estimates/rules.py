"""Rules: which number of an estimate the search sees.

A rule is a frozen dataclass of plain values. The innermost one asks the estimate (`Mean`, `Quantile`,
`Likely`); others keep the value of the rule they wrap within bounds (`Clip`, `Bounded`), or move it so that
something can be promised of the plans (`Calibrated`, always outermost). What is known about the states is
handed through.

Invariant: the value of an estimate that is `bounded` is never below the lower bound of a state, nor above the
upper one unless that is below the lower. The mean that the estimate itself gives may be, by the margin that
it leaves for labels at their bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from hstar.errors import InputError
from hstar.estimates import conformal
from hstar.estimates.estimate import Estimate, Known, named_part
from hstar.options import Checked, check_options
from hstar.registry import Registry

if TYPE_CHECKING:
    from torch import Tensor


class Rule(Protocol):
    """From raw outputs (states, outputs) to heuristic values (states,)."""

    name: ClassVar[str]

    def value(self, estimate: Estimate, raw: Tensor, known: Known) -> Tensor:
        """The values, of states about which this is known."""


RULES: Registry[type[Any]] = Registry("rule")


@RULES.register("mean")
@dataclass(frozen=True)
class Mean:
    """Rule `mean`: the search uses the expected cost-to-go."""

    name: ClassVar[str] = "mean"

    def value(self, estimate: Estimate, raw: Tensor, known: Known) -> Tensor:
        h = estimate.mean(raw, known)
        return known.within(h) if estimate.bounded else h  # without the margin


@RULES.register("quantile")
@dataclass(frozen=True)
class Quantile(Checked):
    """The value that h* is below with probability `level`: cautious if that is small."""

    name: ClassVar[str] = "quantile"

    level: float = field(metadata={"above": 0, "below": 1})

    def value(self, estimate: Estimate, raw: Tensor, known: Known) -> Tensor:
        h = estimate.quantile(raw, self.level, known)
        return known.within(h) if estimate.bounded else h


@RULES.register("likely")
@dataclass(frozen=True)
class Likely(Checked):
    """The value that the model believes to be admissible with probability `alpha`: the quantile 1 - alpha."""

    name: ClassVar[str] = "likely"

    alpha: float = field(metadata={"above": 0, "below": 1})

    @property
    def level(self) -> float:
        return 1 - self.alpha

    def value(self, estimate: Estimate, raw: Tensor, known: Known) -> Tensor:
        return Quantile(self.level).value(estimate, raw, known)


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

    def value(self, estimate: Estimate, raw: Tensor, known: Known) -> Tensor:
        h = self.of.value(estimate, raw, known)
        if self.lower is not None or self.upper is not None:
            h = h.clamp(self.lower, self.upper)
        return known.within(h)


@RULES.register("bounded")
@dataclass(frozen=True)
class Bounded(Checked):
    """min(max(lower, value), eps * lower): never below an admissible bound nor above eps times it.

    No value is above eps * h*, so that A* with re-opening (`astar`) finds plans that cost at most eps times
    the optimum, whatever the model says. States without a lower bound keep the value.
    """

    name: ClassVar[str] = "bounded"

    eps: float = field(metadata={"least": 1})
    of: Rule = field(default_factory=Mean)

    def value(self, estimate: Estimate, raw: Tensor, known: Known) -> Tensor:
        if known.lower is None:
            raise InputError("the rule 'bounded' needs a lower bound, and nothing is known about the states")
        h = self.of.value(estimate, raw, known)
        lower = known.lower.to(h.dtype)
        return h.fmax(lower).fmin(self.eps * lower)


@RULES.register("order")
@dataclass(frozen=True)
class Order(Checked):
    """The mean, moved up by a constant: for models that were trained to rank.

    Only differences of their values count, and what is below 0 a search would cut off.
    """

    name: ClassVar[str] = "order"

    offset: float = 10_000.0

    def value(self, estimate: Estimate, raw: Tensor, known: Known) -> Tensor:
        return Mean().value(estimate, raw, known) + self.offset


@RULES.register("calibrated")
@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """The value of another rule, moved so that A* keeps a promise (`conformal.py`); never below the bound of
    a state, which keeps it, too.

    `score` is the quantile of the scores, of this form, of `instances` instances. If h* are `whole` numbers,
    a value that is at most h* stays so when it is rounded up, and tells the search more. `distribution` says
    in words what the instances were drawn from, where that is known.
    """

    name: ClassVar[str] = "calibrated"

    confidence: float = field(metadata={"above": 0, "below": 1})
    instances: int
    score: float
    bound: float = field(default=1.0, metadata={"least": 1})
    form: str = field(default="additive", metadata={"words": conformal.FORMS})
    whole: bool = False
    distribution: str = ""
    of: Rule = field(default_factory=Mean)

    def __post_init__(self) -> None:
        if not math.isfinite(self.score):
            raise InputError(
                f"calibrated: no finite score for a confidence of {self.confidence:g}: the model takes "
                "states of optimal plans for dead ends"
            )
        check_options(self)
        if not isinstance(self.distribution, str):
            raise InputError(f"calibrated: the distribution is told in words, got {self.distribution!r:.60}")
        if isinstance(self.of, Calibrated | Bounded):
            raise InputError(
                f"calibrated: of the rule {self.of.name}, of which something is promised already"
            )
        if conformal.rank(self.instances, self.confidence) > self.instances:
            raise InputError(f"calibrated: {self.instances} instances are too few for {self.confidence:g}")
        if self.form == "ratio" and self.score <= 0:
            raise InputError("calibrated: the model has no values above 0, and none can be made by a factor")

    @property
    def factor(self) -> float:
        return self.bound / (self.score if self.form == "ratio" else 1.0)

    @property
    def shift(self) -> float:
        return self.factor * (conformal.SLACK + (self.score if self.form == "additive" else 0.0))

    @property
    def rounds_up(self) -> bool:
        """Whether values become whole numbers: a bound above 1 times h* need not be one."""
        return self.whole and self.bound == 1

    @property
    def promise(self) -> str:
        """What holds for the plans of A*."""
        what = "optimal" if self.bound == 1 else f"at most {self.bound:g} times the optimal cost"
        drawn = f" ({self.distribution})" if self.distribution else ""
        return (
            f"{what} with probability at least {self.confidence:g}, "
            f"for problems like the {self.instances} of the calibration{drawn}"
        )

    def value(self, estimate: Estimate, raw: Tensor, known: Known) -> Tensor:
        h = self.of.value(estimate, raw, known) * self.factor - self.shift
        h = h.ceil() if self.rounds_up else h
        return h if known.lower is None else h.fmax(known.lower)


_TYPED = (
    "mean, quantile:LEVEL, likely:ALPHA, clip, bounded:EPS, either of these before one of the first three"
)
_NUMBERS = {"quantile": "0.3", "likely": "0.9", "bounded": "1.5"}  # rules that need one, and an example


def parse(text: str) -> Rule:
    """A rule as it is typed: mean, quantile:LEVEL, likely:ALPHA, order, clip or bounded:EPS, or the last two
    before one of the first three, as in bounded:1.5:likely:0.9.
    """
    word, _, rest = text.partition(":")
    if word in ("mean", "order") and not rest:
        return Mean() if word == "mean" else Order()
    if word in _NUMBERS:
        typed, _, of = rest.partition(":") if word == "bounded" else (rest, "", "")
        try:
            number = float(typed)
        except ValueError:
            example = f"{word}:{_NUMBERS[word]}"
            raise InputError(f"{word} needs a number, as in {example}, got '{text}'") from None
        if word != "bounded":
            return Quantile(number) if word == "quantile" else Likely(number)
        if of.partition(":")[0] in ("", "mean", "quantile", "likely"):
            return Bounded(number, parse(of) if of else Mean())
    if word == "clip" and rest.partition(":")[0] not in ("clip", "order"):
        return Clip(parse(rest) if rest else Mean())
    if word == "calibrated":
        raise InputError("the rule calibrated is not typed: hstar calibrate writes it into a model")
    raise InputError(f"not a rule: '{text}' ({_TYPED}, as in clip:likely:0.9, order)")


def chosen(rule: str | None, alpha: float | None) -> Rule | None:
    """The rule that is typed, or the one that --alpha stands for; None if neither is given."""
    if alpha is None:
        return None if rule is None else parse(rule)
    if rule is not None:
        raise InputError("give either --rule or --alpha, not both")
    return Likely(alpha)


def format_rule(rule: Rule) -> str:
    """A rule as it is typed; a calibrated one with its confidence."""
    number = next(
        (getattr(rule, name) for name in ("alpha", "level", "eps", "confidence") if hasattr(rule, name)), None
    )
    word = rule.name if number is None else f"{rule.name}:{number:g}"
    of: Rule | None = getattr(rule, "of", None)
    return word if of is None or of == Mean() else f"{word}:{format_rule(of)}"


def to_json(rule: Rule) -> dict[str, Any]:
    values = {entry.name: getattr(rule, entry.name) for entry in fields(rule)}  # type: ignore[arg-type]
    inner = {"of": to_json(values["of"])} if "of" in values else {}
    return {"name": rule.name} | values | inner


def from_json(data: Mapping[str, Any]) -> Rule:
    """The rule that `to_json` described; an `InputError` for anything else."""
    if isinstance(data, Mapping) and "of" in data:
        data = {**data, "of": from_json(data["of"])}
    if isinstance(data, Mapping) and data.get("name") == Quantile.name and "alpha" in data:
        data = {"name": Quantile.name, "level": data["alpha"]}  # files up to 0.1 call it so
    rule: Rule = named_part(RULES, data)
    return rule
