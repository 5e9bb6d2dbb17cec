"""Ridge regression (Hoerl and Kennard, 1970), its strength chosen on held-out groups of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

RIDGES = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)

Matrix: TypeAlias = npt.NDArray[np.float64]


def ridge_regression(matrix: Matrix, target: Matrix, ridge: float) -> tuple[Matrix, float]:
    """Weights and bias; the bias is not penalised."""
    return next(ridge_path(matrix, target, (ridge,)))


def ridge_path(matrix: Matrix, target: Matrix, ridges: Sequence[float]) -> Iterator[tuple[Matrix, float]]:
    """Weights and bias for each strength. Solved on the smaller side of the matrix, which is made once."""
    middle, mean = matrix.mean(axis=0), target.mean()
    centred, wanted = matrix - middle, target - mean
    tall = matrix.shape[1] <= matrix.shape[0]
    products = centred.T @ centred if tall else centred @ centred.T
    for ridge in ridges:
        system = products + ridge * np.eye(len(products))
        if tall:
            weights = np.linalg.solve(system, centred.T @ wanted)
        else:
            weights = centred.T @ np.linalg.solve(system, wanted)
        yield weights, float(mean - middle @ weights)


def squared_error(weights: Matrix, bias: float, matrix: Matrix, target: Matrix) -> float:
    """Its mean."""
    return float(np.mean((matrix @ weights + bias - target) ** 2))


def held_out_rows(group: npt.NDArray[np.int64], share: float, seed: int) -> npt.NDArray[np.bool_]:
    """Rows of some groups, by chance; none if there is only one group."""
    groups = np.unique(group)
    if len(groups) < 2:
        return np.zeros(len(group), dtype=bool)
    size = min(max(round(share * len(groups)), 1), len(groups) - 1)
    return np.isin(group, np.random.default_rng(seed).permutation(groups)[:size])


def choose_ridge(
    matrix: Matrix, target: Matrix, held_out: npt.NDArray[np.bool_], given: float | None = None
) -> tuple[float, float | None]:
    """The strength that predicts held-out rows best, or the given one, and its error there.

    Without held-out rows it is 1 unless given, and there is no error.
    """
    if not held_out.any():
        return given or 1.0, None
    rest, error = ~held_out, {}
    ridges = RIDGES if given is None else (given,)
    for ridge, found in zip(ridges, ridge_path(matrix[rest], target[rest], ridges), strict=True):
        error[ridge] = squared_error(*found, matrix[held_out], target[held_out])
    best = min(error, key=error.__getitem__)
    return best, error[best]
