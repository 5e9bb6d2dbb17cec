"""What recipes share that fit a network to labelled states of one space: an own space, a puzzle or a map.

Labels are costs of the space. The first output of the network is in units of their mean, and an estimate with
a spread has it in proportion, so that spaces with costs of thousands or of thousandths learn alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from hstar.errors import UnsupportedError
from hstar.estimates import ESTIMATES
from hstar.estimates.estimate import Estimate
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.rules import Bounded
from hstar.estimates.rules import parse as parse_rule
from hstar.models import TrainedModel, model_of
from hstar.models.identity import Identity
from hstar.models.model import weights_of
from hstar.models.own_identity import LOWER, OwnIdentity, OwnModule, own_module
from hstar.options import check_options, option
from hstar.recipes.recipe import Method, Options, Parts, Run
from hstar.spaces.own import OwnProblem
from hstar.training.config import TrainConfig

if TYPE_CHECKING:
    from hstar.training.examples import OwnExamples

USUAL_UNIT = 10.0  # of the labels for which estimates have their usual spread


@dataclass(frozen=True)
class StateParts:
    """Which sampler, model, estimate and rule the recipe combines."""

    model: str | Callable[[int, int], Any] = option(  # noqa: RUF009
        "ffnn", "Model of the inputs: ffnn, resnet; in Python also a function (inputs, outputs) -> module."
    )
    width: int = option(64, "Units of a layer of the model.", least=1)
    estimate: str = option("point", "Estimate: what the outputs of the model mean.")
    rule: str = option("mean", "Value of the estimate that the search uses.")

    def __post_init__(self) -> None:
        if not callable(self.model):
            model_of("own", str(self.model))
        check_options(self)
        ESTIMATES.get(self.estimate)
        parse_rule(self.rule)


class StatesMethod(Method):
    """A method with options of its own, `StateParts` and a training."""

    defaults: ClassVar[Options]

    def parts(self, options: Options) -> dict[str, type[Any]]:
        return {"recipe": self.own_options, "parts": StateParts, "training": TrainConfig}

    def profiles(self, options: Options, source: Any) -> dict[str, Options]:
        return {"default": self.defaults}


def check_space(problem: OwnProblem, parts: StateParts) -> None:
    """An error of one line if an own space lacks what the parts need; before any work."""
    problem.encoded([problem.start])
    estimate, rule = ESTIMATES.get(parts.estimate), parse_rule(parts.rule)
    if (estimate.bounded or isinstance(rule, Bounded)) and not problem.bounded:
        part = f"the estimate {estimate.name}" if estimate.bounded else f"the rule {rule.name}"
        raise UnsupportedError(
            f"{part} needs a lower bound, and {problem.name} has none: add a function lower_bound(state)"
        )


def learned_own(
    recipe: str, problem: OwnProblem, data: OwnExamples, parts: Parts, run: Run
) -> TrainedModel[OwnIdentity]:
    """A model of an own space, for A*."""

    def identity(inputs: int, module: OwnModule | None) -> OwnIdentity:
        return OwnIdentity(problem.name, inputs, module)

    lower = LOWER if problem.bounded else None
    return learned(identity, data, parts, run, recipe=recipe, search={"search": "astar"}, lower=lower)


def learned(
    identity: Callable[[int, Any], Identity], data: OwnExamples, parts: Parts, run: Run, **about: Any
) -> TrainedModel[Any]:
    """A model that is fitted to the data.

    `identity` makes what it is for of the number of inputs and a module of the user's own; `about` are other
    fields of the model. The spread of a Gaussian of a puzzle is that of `FFNNConfig`, which its search runs.
    """
    from hstar.training.loop import fit

    names: StateParts = parts["parts"]
    inputs, mean = data.inputs.shape[1], float(data.label.mean())
    unit = mean if mean > 0 else 1.0
    estimate: Estimate = ESTIMATES.get(names.estimate)()
    own = names.model if callable(names.model) else None
    named: Any = None if own else _named(names, estimate, unit)
    estimate = _in_units(estimate, unit)
    if about["search"] == {"search": "idastar"} and isinstance(estimate, Gaussian):
        estimate = replace(estimate, softplus=named.estimate.softplus)
    trained = run.fitted(
        fit,
        lambda outputs: own_module(own, inputs, outputs, unit) if own else named.build(inputs, outputs),
        data if estimate.bounded else replace(data, lower=None),
        estimate,
        parts["training"],
        redraw=own is None,
    )
    module: Any = trained.model.cpu()
    return TrainedModel(
        space=identity(inputs, OwnModule.of(own, unit, module) if own else None),
        model=getattr(own, "__name__", type(own).__name__) if own else str(names.model),
        model_config={} if own else asdict(named),
        tensors=weights_of(module.inner) if own else named.export(module),
        estimate=estimate,
        rule=parse_rule(names.rule),
        recipe_config={
            **asdict(parts["recipe"]),
            **{name: getattr(names, name) for name in ("width", "estimate", "rule")},
            "training": asdict(parts["training"]),
        },
        seed=parts["training"].seed,
        summary={"states": len(data.label), **trained.summary()},
        **about,
    )


def _named(parts: StateParts, estimate: Estimate, unit: float) -> Any:
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
