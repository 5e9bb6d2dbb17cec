"""Linear support vector regression (Drucker et al., NIPS 1996), with squared loss.

Weights w and bias b minimise the sum over rows of max(0, |row . w + b - target| - EPSILON)^2 + ridge (|w|^2 +
b^2). An error to either side is a row of the ranking machine with a margin of its own, which solves it. Of
rows of which only a lower bound is known falling short of it alone is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hstar.models.rank_svm import rank_svm_path
from hstar.models.ridge import Mask, Matrix

EPSILON = 0.1  # errors up to that count nothing


def svr_path(
    matrix: Matrix, target: Matrix, ridges: Sequence[float], bounds: Mask | None = None
) -> Iterator[tuple[Matrix, float]]:
    """Weights and bias for each strength; the bias is that beside the mean of features and targets."""
    known = np.ones(len(target), dtype=bool) if bounds is None else ~bounds
    middle, mean = matrix[known].mean(axis=0), float(target[known].mean())
    rows = np.hstack([matrix - middle, np.ones((len(matrix), 1))])
    wanted = target - mean
    short = np.concatenate([rows, -rows[known]])
    margins = np.concatenate([wanted, -wanted[known]]) - EPSILON
    order = np.argsort(ridges)[::-1]  # strong ones go first
    path = rank_svm_path(short, [ridges[i] for i in order], margins)
    found = dict(zip(order.tolist(), path, strict=True))
    for number in range(len(ridges)):
        weights, bias = found[number][:-1], float(found[number][-1])
        yield weights, mean + bias - float(middle @ weights)
