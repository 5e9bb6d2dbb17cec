"""`wl` (Chen, Trevizan and Thiébaux, ICAPS 2024): a linear function of Weisfeiler-Leman features.

1. Features of the training states by colour refinement. 2. Ridge regression of h* on their counts; the
strength of the ridge is the one that predicts instances best that were held out. 3. The same on all states.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hstar.errors import InputError
from hstar.estimates.point import Point
from hstar.estimates.rules import Mean
from hstar.models.domain_model import DomainModel
from hstar.models.ridge import choose_ridge, held_out_rows, ridge_regression, squared_error
from hstar.models.wl import WLConfig, WLFeatures, stack
from hstar.recipes.domain_recipe import DOMAIN_RECIPES, Options
from hstar.sampling.relational import RelationalData

if TYPE_CHECKING:
    from hstar.training.loop import Progress

MOST_ENTRIES = 500_000_000  # of the matrix of features; 4 GB


@dataclass(frozen=True)
class WLOptions(WLConfig):
    """Options of the features, and of the regression."""

    iterations: int = field(default=2, metadata={"help": "Rounds of colour refinement."})
    least_states: int = field(default=2, metadata={"help": "Training states that must have a feature."})
    ridge: float | None = field(
        default=None, metadata={"help": "Penalty on squared weights; chosen on held-out instances."}
    )
    validation: float = field(default=0.2, metadata={"help": "Share of instances to choose the ridge on."})
    seed: int = field(default=0, metadata={"help": "Of all random choices."})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ridge is not None and not 0 < self.ridge < np.inf:
            raise InputError(f"ridge must be above 0, got {self.ridge}")
        if not 0 < self.validation < 1:
            raise InputError(f"validation must be between 0 and 1, got {self.validation}")


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
        config = WLConfig(given.iterations, given.multiset, given.types, given.least_states)
        data = data.with_labels()
        # 1. Features.
        features = WLFeatures(data.words, config)
        counts = features.collect(data)
        if len(counts) * counts.width > MOST_ENTRIES:
            raise InputError(
                f"{counts.width} features of {len(counts)} states are too many; raise least_states"
                f" ({given.least_states}) or lower iterations ({given.iterations})"
            )
        matrix, label = counts.dense(), data.column("label").astype(np.float64)
        # 2. The ridge, by instances that are held out: states of one plan are much alike.
        group = np.repeat(np.arange(len(data.instances)), [len(one) for one in data.instances])
        apart = held_out_rows(group, given.validation, given.seed)
        judged, target = matrix, label
        if held_out is not None:
            others = held_out.with_labels()
            found = stack([features.count(one) for one in others.instances], len(features))
            judged = np.concatenate([matrix, found.dense()])
            target = np.concatenate([label, others.column("label").astype(np.float64)])
            apart = np.arange(len(target)) >= len(label)
        ridge, error = choose_ridge(judged, target, apart, given.ridge)
        # 3. All states.
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
                "ridge": ridge,
                "mse": squared_error(weights, bias, matrix, label),
                "held_out_mse": error,
                "time_s": round(time.monotonic() - started, 3),
            },
        )


DOMAIN_RECIPES.register("wl")(WL())
