"""`truncated` (Núñez-Molina, Asai, Mesejo and Fernández-Olivares, arXiv 2308.11905): bounds that teach.

1. States of optimal plans of small tasks, with h*, an admissible bound and a base heuristic for each.
2. A model gives mu, relative to the base, and sigma; h* is believed to be a Gaussian, truncated below at the
   bound. Weights minimise the negative log-likelihood of h*.
3. The search sees the mean of the truncated Gaussian, which is never below the bound.

With `upper` the Gaussian is truncated above, too, where the data know a plan from a state. The authors have
such a column and no use for it. A search has none: who knew a plan from every state need not search.

Everything can be exchanged: the model (nlm, hgn and linear as there, and wl), the estimate (`gaussian`,
`laplace`, `point` or `asymmetric`), sigma learned or fixed, base and bound, the rule. `ranking` mixes in a
loss over siblings.

Profile `as-run` has the settings of the published runs, `as-intended` those that the paper speaks of where
the two differ: a fixed sigma is 1 / sqrt(2), not sqrt(2). `caption` is `as-run` with the 10,000 updates that
the caption of the paper's tables names, on 400 training problems. In all of them weights are looked at after
every epoch, not after every tenth. The default is quicker.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from hstar.errors import InputError
from hstar.estimates import ESTIMATES, rules
from hstar.estimates.estimate import Estimate
from hstar.estimates.rules import Bounded, Clip, Quantile
from hstar.models import TrainedModel, model_of, models_of
from hstar.models.domain_identity import DomainIdentity
from hstar.options import check_options, option
from hstar.recipes.domain_data import check_data, origin
from hstar.recipes.recipe import Method, Options, Parts, Recipe, Run, enter
from hstar.sampling.optimal import HEURISTICS, UPPER
from hstar.sampling.relational import RelationalData
from hstar.training.config import DomainTrainConfig

NONE = "none"
BOUNDS = (NONE, "blind", "hmax", "lmcut")
BASES = (NONE, *HEURISTICS)
LEARNED, FIXED = "learned", "fixed"
WITHOUT_SPREAD = ("point", "asymmetric")


@dataclass(frozen=True)
class TruncatedOptions:
    """Which model, estimate, bounds and rule the recipe combines."""

    model: str = option("wl", "Model that is trained: nlm, hgn, linear or wl.", words=models_of("domain"))
    estimate: str = option(
        "truncated",
        "Estimate, what the outputs mean: truncated, gaussian, laplace, point or asymmetric.",
        words=tuple(ESTIMATES),
    )
    sigma: str = option(LEARNED, "learned for each state, fixed, or a number.")
    fixed_sigma: float = option(math.sqrt(0.5), "What fixed means.", above=0)
    margin: float = option(0.1, "Distance by which the truncated estimate reaches below its bound.")
    base: str = option("ff", f"Heuristic that the model corrects: {', '.join(BASES)}.", words=BASES)
    lower: str = option("lmcut", f"Admissible bound of estimate and rule: {', '.join(BOUNDS)}.", words=BOUNDS)
    upper: str = option(
        NONE,
        "Bound above, in training and accuracy: upper, of data labelled with --upper, or none.",
        words=(NONE, UPPER),
    )
    rule: str = option(
        "mean",
        "Value that the search uses: mean, quantile:LEVEL, likely:ALPHA, either after clip: or bounded:EPS:; "
        "order if ranking is 1.",
    )
    instances: int | None = option(
        None, "Learn from this many problems of the data, drawn at random.", least=1
    )

    def __post_init__(self) -> None:
        check_options(self)
        rule = rules.parse(self.rule)
        of = rule.of if isinstance(rule, Clip | Bounded) else rule
        if isinstance(of, Quantile) and self.estimate in WITHOUT_SPREAD:
            raise InputError(f"a point estimate has no spread and so no rule '{self.rule}'; use mean or clip")
        if isinstance(rule, Bounded) and self.lower == NONE:
            raise InputError("the rule 'bounded' needs an admissible bound; give --lower lmcut, for instance")
        self.belief()

    def belief(self) -> Estimate:
        if self.estimate in WITHOUT_SPREAD:
            return ESTIMATES.get(self.estimate)()
        sigma = self.fixed_sigma if self.sigma == FIXED else self.sigma
        try:
            spread = {"sigma": None if sigma == LEARNED else float(sigma)}
        except (TypeError, ValueError):
            raise InputError(f"sigma must be learned, fixed or a number, got '{self.sigma}'") from None
        margin = {"margin": self.margin} if self.estimate == "truncated" else {}
        return ESTIMATES.get(self.estimate)(**spread, **margin)


_PUBLISHED: Options = {
    "batch_size": 256,
    "optimizer": "adamw",
    "schedule": "constant",
    "clip_norm": 0.1,
    "criterion": "mse",
    "patience": 1_000_000,
}
PUBLISHED: dict[str, Options] = {
    "nlm": {**_PUBLISHED, "updates": 100_000, "learning_rate": 1e-2, "weight_decay": 1e-2, "gain": 1.0},
    "hgn": {**_PUBLISHED, "updates": 40_000, "learning_rate": 1e-3, "weight_decay": 0.0},
    "linear": {**_PUBLISHED, "updates": 40_000, "learning_rate": 1e-2, "weight_decay": 0.0},
}
_QUICK: Options = {**_PUBLISHED, "optimizer": "adam", "schedule": "cosine"}
QUICK: dict[str, Options] = {
    "nlm": {**_QUICK, "updates": 1_000, "batch_size": 128, "learning_rate": 1e-2},
    "hgn": {**_QUICK, "updates": 1_000, "batch_size": 64, "learning_rate": 1e-2, "normalise": True},
    "linear": {**_QUICK, "updates": 2_000, "learning_rate": 1e-2},
    "wl": {**_QUICK, "updates": 2_000, "learning_rate": 1e-3},
}


class Truncated(Method):
    """For all tasks of a domain, from labelled states of some."""

    takes: ClassVar[tuple[str, ...]] = ("checkpoint", "held_out")

    def parts(self, options: Options) -> dict[str, type[Any]]:
        model = model_of("domain", str(options.get("model", TruncatedOptions.model)))
        return {"recipe": TruncatedOptions, "model": model, "training": DomainTrainConfig}

    def profiles(self, options: Options, source: Any) -> dict[str, Options]:
        model = options.get("model", TruncatedOptions.model)
        found = {"default": QUICK.get(model, {})}
        if model in PUBLISHED:
            found["as-run"] = {**PUBLISHED[model], "fixed_sigma": math.sqrt(2)}
            found["as-intended"] = PUBLISHED[model]
            found["caption"] = {**found["as-run"], "updates": 10_000, "instances": 400}
        if options.get("ranking") == 1:  # an error of values says nothing where their level is open
            found = {name: {**profile, "criterion": "loss"} for name, profile in found.items()}
        return found

    def learn(self, source: RelationalData, parts: Parts, run: Run) -> TrainedModel[DomainIdentity]:
        from hstar.training.examples import KnownColumns, RelationalExamples
        from hstar.training.loop import fit

        data, held_out = check_data(source, run)
        config, train_config = parts["recipe"], parts["training"]
        if train_config.ranking == 1 and config.rule not in ("mean", "order"):
            raise InputError(f"with ranking 1 the search sees the order alone, not {config.rule}")
        # 1. States, bounds and base.
        if config.instances is not None:
            order = np.random.default_rng(train_config.seed).permutation(len(data.instances))
            data = data.only(order.argsort() < config.instances)
        instances, states = len(data.instances), int(data.labelled.sum())
        seen = origin(data, held_out)
        if held_out is None:
            data, held_out = _split(data, train_config.validation)
        lower, upper, base = (
            None if name == NONE else name for name in (config.lower, config.upper, config.base)
        )
        known = KnownColumns(lower, upper, base)
        known.check(data)
        target = data.least()
        if base is not None:
            values = data.column(base)
            target -= np.where(np.isfinite(values), values, np.nan)
        model = parts["model"].fitted(data, target)
        siblings = train_config.ranking > 0
        examples, *judges = (
            RelationalExamples(some, model, known, siblings=siblings)
            for some in (data, held_out)
            if some is not None
        )
        # 2. The belief, and the weights under which h* is most likely.
        estimate = config.belief()
        trained = run.fitted(
            fit,
            lambda outputs: model.build(data.words, outputs),
            (examples, judges[0]) if judges else examples,
            estimate,
            train_config,
        )
        # 3. What the search needs.
        return TrainedModel(
            space=DomainIdentity(data.words),
            model=config.model,
            model_config={one.name: getattr(model, one.name) for one in fields(model) if one.metadata},
            tensors=model.export(trained.model),
            estimate=estimate,
            rule=rules.Order() if train_config.ranking == 1 else rules.parse(config.rule),
            base=base,
            lower=lower,
            upper=upper,
            recipe="truncated",
            recipe_config={**asdict(config), "training": asdict(train_config)},
            seed=train_config.seed,
            trained_on=seen,
            summary={"instances": instances, "states": states, **trained.summary()},
        )


def _split(data: RelationalData, share: float) -> tuple[RelationalData, RelationalData | None]:
    """The rest, and the largest instances to hold out, before a model looks at what it starts from."""
    large = data.largest(share)
    return (data.only(~large), data.only(large)) if share and large.any() else (data, None)


PAPER = "Núñez-Molina, Asai, Mesejo and Fernández-Olivares, arXiv 2308.11905"
enter(Recipe("truncated", PAPER, {"domain": Truncated()}))
