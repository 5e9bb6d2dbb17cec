"""What recipes for a user's own space share: options, the network, and the model that comes of it.

Labels are costs of the space. The first output of the network is in units of their mean, and an estimate with
a spread has it in proportion, so that spaces with costs of thousands or of thousandths learn alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError, UnsupportedError
from hstar.estimates import ESTIMATES
from hstar.estimates.estimate import Estimate
from hstar.estimates.rules import Bounded
from hstar.estimates.rules import parse as parse_rule
from hstar.models import TrainedModel, model_of
from hstar.models.own_identity import LOWER, OwnIdentity
from hstar.options import option, whole_number
from hstar.registry import unknown
from hstar.spaces.own import OwnProblem
from hstar.training.config import TrainConfig, check_length

if TYPE_CHECKING:
    from hstar.training.loop import Progress

Options = Mapping[str, Any]
USUAL_UNIT = 10.0  # of the labels for which estimates have their usual spread
LEFT_OUT = ("ranking",)  # options of a training that only domains have


@dataclass(frozen=True)
class OwnParts:
    """What is put together."""

    model: str | Callable[[int, int], Any] = option(  # noqa: RUF009
        "ffnn", "Model of the inputs: ffnn, resnet; in Python also a function (inputs, outputs) -> module."
    )
    width: int = option(64, "Units of a layer of the model.")
    estimate: str = option("point", "What the model's outputs mean.")
    rule: str = option("mean", "The number of the estimate that the search uses.")

    def __post_init__(self) -> None:
        if not callable(self.model):
            model_of("own", str(self.model))
        object.__setattr__(self, "width", whole_number("width", self.width, 1))
        ESTIMATES.get(self.estimate)
        parse_rule(self.rule)


@dataclass(frozen=True)
class OwnPlan:
    """All options of a run."""

    own: Any  # of the recipe
    parts: OwnParts
    training: TrainConfig


def option_fields(own: type[Any]) -> dict[str, dict[str, Field[Any]]]:
    """Options with their fields, by part."""
    return {
        part: {entry.name: entry for entry in fields(owner) if entry.name not in LEFT_OUT}
        for part, owner in (("own", own), ("parts", OwnParts), ("training", TrainConfig))
    }


def resolve(recipe: str, own: type[Any], profile: str | None, defaults: Options, options: Options) -> OwnPlan:
    """The options of a run; an `InputError` for wrong ones."""
    if profile not in (None, "default"):
        raise unknown(f"profile of {recipe} for an own space", str(profile), ["default"])
    check_length(options)
    if options.get("updates") is not None:
        defaults = {name: value for name, value in defaults.items() if name != "epochs"}
    given, known = {**defaults, **options}, option_fields(own)
    names = [name for entries in known.values() for name in entries]
    if foreign := next((name for name in given if name not in names), None):
        raise unknown(f"option of {recipe} for an own space", foreign, names)
    first, parts, training = (
        {name: given[name] for name in entries if name in given} for entries in known.values()
    )
    return OwnPlan(own(**first), OwnParts(**parts), TrainConfig(**training))


def check_space(problem: OwnProblem, parts: OwnParts) -> None:
    """An error of one line if the space lacks what the parts need; before any work."""
    problem.encoded([problem.start])
    estimate, rule = ESTIMATES.get(parts.estimate), parse_rule(parts.rule)
    if (estimate.bounded or isinstance(rule, Bounded)) and not problem.bounded:
        part = f"the estimate {estimate.name}" if estimate.bounded else f"the rule {rule.name}"
        raise UnsupportedError(
            f"{part} needs a lower bound, and {problem.name} has none: add a function lower_bound(state)"
        )


@dataclass(frozen=True)
class OwnData:
    """Different states: inputs, labels and, where the space has one, its lower bound."""

    inputs: npt.NDArray[np.float32]
    label: npt.NDArray[np.float32]
    lower: npt.NDArray[np.float32] | None = None


def data_of(problem: OwnProblem, states: list[Any], label: npt.NDArray[np.float32]) -> OwnData:
    """The columns of labelled states."""
    lower = problem.bounds(states).astype(np.float32) if problem.bounded else None
    return OwnData(problem.encoded(states), label, lower)


def learned(
    recipe: str,
    problem: OwnProblem,
    data: OwnData,
    plan: OwnPlan,
    *,
    progress: Callable[[Progress], None] | None = None,
    checkpoint: Path | None = None,
) -> TrainedModel[OwnIdentity]:
    """A model that is fitted to the data."""
    from hstar.training.loop import fit
    from hstar.training.own_examples import OwnExamples, own_module

    if not len(data.label):
        raise InputError(f"no states of {problem.name} to learn from")
    parts, inputs, mean = plan.parts, data.inputs.shape[1], float(data.label.mean())
    unit = mean if mean > 0 else 1.0
    estimate = _in_units(ESTIMATES.get(parts.estimate)(), unit)
    own = parts.model if callable(parts.model) else None
    named: Any = None if own else _named(parts, estimate, unit)
    trained = fit(
        lambda outputs: own_module(own, inputs, outputs, unit) if own else named.build(inputs, outputs),
        OwnExamples(data.inputs, data.label, data.lower if estimate.bounded else None),
        estimate,
        plan.training,
        redraw=own is None,
        progress=progress,
        checkpoint=checkpoint,
    )
    module: Any = trained.model.cpu()
    return TrainedModel(
        space=OwnIdentity(problem.name, inputs, module.run if own else None),
        model=getattr(own, "__name__", type(own).__name__) if own else str(parts.model),
        model_config={} if own else asdict(named),
        tensors={} if own else named.export(module),
        estimate=estimate,
        rule=parse_rule(parts.rule),
        lower=LOWER if problem.bounded else None,
        search={"search": "astar"},
        recipe=recipe,
        recipe_config={
            **asdict(plan.own),
            **{name: getattr(parts, name) for name in ("width", "estimate", "rule")},
            "training": asdict(plan.training),
        },
        seed=plan.training.seed,
        summary={"states": len(data.label), **trained.summary()},
    )


def _named(parts: OwnParts, estimate: Estimate, unit: float) -> Any:
    """The options of a named model."""
    kind = model_of("own", str(parts.model))
    wanted = {"width": parts.width, "outputs": estimate.outputs, "scale": unit}
    known = {entry.name for entry in fields(kind)}
    return kind(**{name: value for name, value in wanted.items() if name in known})


def _in_units(estimate: Any, unit: float) -> Any:
    """The estimate with its spread in proportion to the labels."""
    share = unit / USUAL_UNIT
    own = {name: getattr(estimate, name) * share for name in ("floor", "range") if hasattr(estimate, name)}
    return replace(estimate, **own) if own else estimate
