"""Gaussian process regression with a linear kernel (Rasmussen and Williams, 2006, chapter 2).

Targets y = X w + bias + noise with w ~ N(0, s^2 I) and noise ~ N(0, ridge s^2 I) are a Gaussian process whose
kernel is the dot product of features; the prior of the bias is flat. The posterior mean of w is ridge
regression. What is left is the ridge, and it is the one under which the targets are most likely: s is at its
maximum, w and the bias are integrated out.
"""

from __future__ import annotations

import math

import numpy as np

from hstar.models.ridge import Matrix

CANDIDATES = np.geomspace(1e-4, 1e6, 201)


def likeliest_ridge(matrix: Matrix, target: Matrix) -> float:
    """The strength of ridge regression with the greatest evidence."""
    spectrum = _spectrum(matrix, target)
    return float(max(CANDIDATES, key=lambda ridge: _log_evidence(*spectrum, ridge)))


def log_evidence(matrix: Matrix, target: Matrix, ridge: float) -> float:
    """The logarithm of the density of the targets, less their mean, at the s that makes it greatest."""
    return _log_evidence(*_spectrum(matrix, target), ridge)


def _spectrum(matrix: Matrix, target: Matrix) -> tuple[Matrix, Matrix, float, int]:
    """Eigenvalues of X X^T, squares of the targets along their vectors and across them, and dimensions."""
    rows = matrix - matrix.mean(axis=0)
    wanted = target - target.mean()
    tall = rows.shape[0] > rows.shape[1]
    values, vectors = np.linalg.eigh(rows.T @ rows if tall else rows @ rows.T)
    kept = values > 1e-10 * max(values.max(initial=0.0), 1.0)
    values, vectors = values[kept], vectors[:, kept]
    along = (vectors.T @ (rows.T @ wanted)) ** 2 / values if tall else (vectors.T @ wanted) ** 2
    return values, along, max(float(wanted @ wanted - along.sum()), 0.0), len(target) - 1


def _log_evidence(values: Matrix, along: Matrix, across: float, dimensions: int, ridge: float) -> float:
    if dimensions < 1:
        return 0.0
    square = float((along / (values + ridge)).sum()) + across / ridge
    logarithms = float(np.log(values + ridge).sum()) + (dimensions - len(values)) * math.log(ridge)
    scale = math.log(max(square, 1e-300) / dimensions)
    return -0.5 * (dimensions * (1 + math.log(2 * math.pi) + scale) + logarithms)
