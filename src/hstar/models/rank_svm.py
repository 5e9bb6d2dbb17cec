"""Ranking support vector machine (Joachims, 2002) with squared hinge loss, by Newton's method in the primal.

Each row is the difference between the features of a state and those of a better one. The weights w minimise
sum over rows of max(0, margin - row . w)^2 + ridge |w|^2, so that worse states get larger values; margins
are 1. What is minimised is convex and quadratic as long as the same rows fall short of the margin. A Newton
step solves the equations of these rows by conjugate gradients, which never build the square matrix (Chapelle
and Keerthi, 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from hstar.models.ridge import Matrix

NEWTON_STEPS = 30
GRADIENT_STEPS = 200  # of conjugate gradients, in one Newton step
NEAR = 1e-3  # where a gradient is small enough, to the first one


def rank_svm_path(
    differences: Matrix, ridges: Sequence[float], margins: Matrix | float = 1.0
) -> Iterator[Matrix]:
    """Weights for each strength; each search begins at the weights before it, so strong ones go first."""
    weights = np.zeros(differences.shape[1])
    for ridge in ridges:
        weights = _newton(differences, margins, ridge, weights)
        yield weights


def ranked_right(differences: Matrix, weights: Matrix) -> float:
    """The share of pairs whose worse state has the larger value; ties count half."""
    values = differences @ weights
    return float(np.mean(np.where(np.abs(values) < 1e-9, 0.5, values > 0)))


def _newton(differences: Matrix, margins: Matrix | float, ridge: float, weights: Matrix) -> Matrix:
    margins = np.broadcast_to(margins, len(differences))
    small = NEAR * float(np.linalg.norm(np.maximum(margins, 0) @ differences))
    for _ in range(NEWTON_STEPS):
        short = margins - differences @ weights
        rows, missing = differences[short > 0], short[short > 0]
        gradient = ridge * weights - rows.T @ missing
        if np.linalg.norm(gradient) <= small:
            break

        def curvature(vector: Matrix, rows: Matrix = rows) -> Matrix:
            product: Matrix = rows.T @ (rows @ vector) + ridge * vector
            return product

        step = _conjugate_gradients(curvature, -gradient)

        def loss(share: float, start: Matrix = weights, step: Matrix = step) -> float:
            at = start + share * step
            missing = np.maximum(margins - differences @ at, 0)
            return float(missing @ missing + ridge * (at @ at)) / 2

        share, before, slope = 1.0, loss(0.0), 1e-4 * float(gradient @ step)
        while share > 1e-6 and loss(share) > before + share * slope:
            share /= 2
        weights = weights + share * step
    return weights


def _conjugate_gradients(curvature: Callable[[Matrix], Matrix], target: Matrix) -> Matrix:
    """The vector whose product with the matrix is the target, up to a share of `NEAR`."""
    solution, residual = np.zeros_like(target), target
    direction, square = residual, float(residual @ residual)
    least = NEAR**2 * square
    for _ in range(GRADIENT_STEPS):
        if square <= least:
            break
        product = curvature(direction)
        share = square / float(direction @ product)
        solution = solution + share * direction
        residual = residual - share * product
        before, square = square, float(residual @ residual)
        direction = residual + square / before * direction
    return solution
