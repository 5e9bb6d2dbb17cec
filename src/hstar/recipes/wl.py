"""`wl` (Chen, Trevizan and Thiébaux, ICAPS 2024): a linear function of Weisfeiler-Leman features.

1. Features of the states by colour refinement. 2. Ridge regression of h* on their counts; the rounds of
refinement and the strength of the ridge are those that, learned from the smaller instances, predict the
largest ones best: what is asked of the heuristic is to be right where it has seen nothing. 3. The same on all
states.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import Field, asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError
from hstar.estimates.point import Point
from hstar.estimates.rules import Mean
from hstar.models.domain_model import DomainModel
from hstar.models.ridge import choose_ridge, ridge_regression, squared_error
from hstar.models.wl import WLConfig, WLFeatures, stack
from hstar.options import option
from hstar.recipes.domain_recipe import DOMAIN_RECIPES, Options
from hstar.sampling.relational import RelationalData, RelationalInstance

if TYPE_CHECKING:
    from hstar.training.loop import Progress

ITERATIONS = (1, 2, 3)  # to choose from

Array: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class WLOptions:
    """Options of the features, and of the regression."""

    iterations: int | None = option(None, "Rounds of colour refinement; chosen from 1 to 3.")
    multiset: bool = option(False, "Count neighbours of equal colour.")
    types: bool = option(True, "Objects of different types differ from the start.")
    least_states: int = option(2, "Training states that must have a feature.")
    ridge: float | None = option(None, "Penalty on squared weights; chosen on held-out instances.")
    validation: float = option(0.25, "Share of instances, the largest, to choose by.")
    seed: int = option(0, "Of all random choices.")

    def __post_init__(self) -> None:
        self.features(0 if self.iterations is None else self.iterations)
        if self.ridge is not None and not 0 < self.ridge < np.inf:
            raise InputError(f"ridge must be above 0, got {self.ridge}")
        if not 0 < self.validation < 1:
            raise InputError(f"validation must be between 0 and 1, got {self.validation}")

    def features(self, iterations: int) -> WLConfig:
        """The options of features with so many rounds."""
        return WLConfig(iterations, self.multiset, self.types, self.least_states)


class WL:
    """The recipe."""

    name: ClassVar[str] = "wl"
    resumable: ClassVar[bool] = False

    def parts(self, options: Options) -> dict[str, dict[str, Field[Any]]]:
        """One part."""
        return {"recipe wl": {entry.name: entry for entry in fields(WLOptions)}}

    def profiles(self, options: Options) -> Mapping[str, Options]:
        """The defaults."""
        return {"default": {}}

    def told_defaults(self) -> Mapping[str, Any]:
        """None of them."""
        return {}

    def fit(
        self,
        data: RelationalData,
        options: Options,
        held_out: RelationalData | None = None,
        progress: Callable[[Progress], None] | None = None,
        checkpoint: Path | None = None,
    ) -> DomainModel:
        """The heuristic; its summary has the mean squared error on held-out instances."""
        started, given = time.monotonic(), WLOptions(**options)
        data = data.with_labels()
        # 1. and 2. on the smaller instances: rounds and ridge.
        smaller, largest = _by_size(data, given.validation)
        judges = largest if held_out is None else held_out.with_labels()
        learners = smaller if held_out is None else data
        choices: list[tuple[float | None, int, float]] = []
        for iterations in ITERATIONS if given.iterations is None else (given.iterations,):
            features = WLFeatures(data.words, given.features(iterations))
            matrix = features.collect(learners).dense()
            both = np.concatenate([matrix, _counts(features, judges)])
            target = np.concatenate([_label(learners), _label(judges)])
            ridge, error = choose_ridge(both, target, np.arange(len(both)) >= len(matrix), given.ridge)
            choices.append((error, iterations, ridge))
            if error is None:  # a single instance: nothing to choose by
                break
        error, iterations, ridge = min(choices, key=lambda choice: choice[0] or 0.0)
        # 3. All states.
        config = given.features(iterations)
        features = WLFeatures(data.words, config)
        matrix, label = features.collect(data).dense(), _label(data)
        weights, bias = ridge_regression(matrix, label, ridge)
        return DomainModel(
            words=data.words,
            model="wl",
            model_config=asdict(config),
            tensors={
                "colours": features.colours,
                "weights.0": weights.reshape(1, -1),
                "bias.0": np.array([bias]),
            },
            estimate=Point(),
            rule=Mean(),
            recipe=self.name,
            recipe_config=asdict(given),
            seed=given.seed,
            summary={
                "instances": len(data.instances),
                "states": len(label),
                "features": len(features),
                "iterations": iterations,
                "ridge": ridge,
                "mse": squared_error(weights, bias, matrix, label),
                "held_out_mse": error,
                "time_s": round(time.monotonic() - started, 3),
            },
        )


def _by_size(data: RelationalData, share: float) -> tuple[RelationalData, RelationalData]:
    """The instances, and a share of them that has the most objects, or of equal ones the longest plans."""

    def size(instance: RelationalInstance) -> tuple[int, float]:
        return len(instance.relations.objects), float(instance.columns["label"].max())

    number = len(data.instances)
    largest = 0 if number == 1 else min(max(round(share * number), 1), number - 1)
    ordered = sorted(data.instances, key=size)
    parts = ordered[: number - largest], ordered[number - largest :]
    smaller, larger = (RelationalData(data.words, tuple(part)) for part in parts)
    return smaller, larger


def _counts(features: WLFeatures, data: RelationalData) -> Array:
    if not data.instances:
        return np.zeros((0, len(features)))
    return stack([features.count(instance) for instance in data.instances], len(features)).dense()


def _label(data: RelationalData) -> Array:
    return data.column("label").astype(np.float64)


DOMAIN_RECIPES.register("wl")(WL())
