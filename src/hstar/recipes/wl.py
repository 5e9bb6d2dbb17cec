"""`wl` (Chen, Trevizan and Thiébaux, ICAPS 2024): a linear function of Weisfeiler-Leman features.

1. Features of the training states by colour refinement. 2. Ridge regression of h* on their counts; the
strength of the ridge is the one that predicts instances best that were held out. 3. The same on all states.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError
from hstar.models.domain_model import DomainModel
from hstar.models.wl import WLConfig, WLFeatures
from hstar.recipes.domain_recipe import DOMAIN_RECIPES
from hstar.sampling.relational import RelationalData

RIDGES = (0.01, 0.1, 1.0, 10.0, 100.0)
MOST_ENTRIES = 500_000_000  # of the matrix of features; 4 GB

Matrix: TypeAlias = npt.NDArray[np.float64]


@DOMAIN_RECIPES.register("wl")
@dataclass(frozen=True)
class WL(WLConfig):
    """Options of the features, and of the regression."""

    name: ClassVar[str] = "wl"

    iterations: int = field(default=2, metadata={"help": "Rounds of colour refinement."})
    least_states: int = field(default=2, metadata={"help": "Training states that must have a feature."})
    ridge: float | None = field(
        default=None, metadata={"help": "Penalty on squared weights; chosen on held-out instances."}
    )
    held_out: float = field(default=0.2, metadata={"help": "Share of instances to choose the ridge on."})
    seed: int = field(default=0, metadata={"help": "Of all random choices."})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ridge is not None and not 0 < self.ridge < np.inf:
            raise InputError(f"ridge must be above 0, got {self.ridge}")
        if not 0 < self.held_out < 1:
            raise InputError(f"held_out must be between 0 and 1, got {self.held_out}")

    def fit(self, data: RelationalData) -> DomainModel:
        """The heuristic; its summary has the mean squared error on held-out instances."""
        started = time.monotonic()
        data = data.with_labels()
        config = WLConfig(self.iterations, self.multiset, self.types, self.least_states)
        # 1. Features.
        features = WLFeatures(data.words, config)
        counts = features.collect(data)
        if len(counts) * counts.width > MOST_ENTRIES:
            raise InputError(
                f"{counts.width} features of {len(counts)} states are too many; raise least_states"
                f" ({self.least_states}) or lower iterations ({self.iterations})"
            )
        matrix, label = counts.dense(), data.column("label").astype(np.float64)
        # 2. The ridge.
        held_out = self._held_out(data)
        errors = {
            ridge: _error(
                *_fit(matrix[~held_out], label[~held_out], ridge), matrix[held_out], label[held_out]
            )
            for ridge in (RIDGES if self.ridge is None else (self.ridge,))
            if held_out.any()
        }
        ridge = min(errors, key=errors.__getitem__) if errors else self.ridge or 1.0
        # 3. All states.
        weights, bias = _fit(matrix, label, ridge)
        return DomainModel(
            words=data.words,
            config=config,
            colours=features.colours,
            weights=weights,
            bias=bias,
            recipe=self.name,
            recipe_config=asdict(self),
            seed=self.seed,
            summary={
                "instances": len(data.instances),
                "states": len(label),
                "features": len(features),
                "ridge": ridge,
                "mse": _error(weights, bias, matrix, label),
                "held_out_mse": errors.get(ridge),
                "time_s": round(time.monotonic() - started, 3),
            },
        )

    def _held_out(self, data: RelationalData) -> npt.NDArray[np.bool_]:
        """States of some instances, none if there is only one; states of one plan stay together."""
        number = len(data.instances)
        chosen = np.zeros(number, dtype=bool)
        if number > 1:
            size = min(max(round(self.held_out * number), 1), number - 1)
            chosen[np.random.default_rng(self.seed).permutation(number)[:size]] = True
        return np.repeat(chosen, [len(instance) for instance in data.instances])


def _fit(matrix: Matrix, label: Matrix, ridge: float) -> tuple[Matrix, float]:
    """Weights and bias; the bias is not penalised. Solved on the smaller side of the matrix."""
    middle, mean = matrix.mean(axis=0), label.mean()
    centred = matrix - middle
    n, width = matrix.shape
    if width <= n:
        weights = np.linalg.solve(centred.T @ centred + ridge * np.eye(width), centred.T @ (label - mean))
    else:
        weights = centred.T @ np.linalg.solve(centred @ centred.T + ridge * np.eye(n), label - mean)
    return weights, float(mean - middle @ weights)


def _error(weights: Matrix, bias: float, matrix: Matrix, label: Matrix) -> float:
    return float(np.mean((matrix @ weights + bias - label) ** 2))
