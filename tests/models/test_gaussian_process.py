"""Gaussian process regression against dense covariance matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hstar.models.gaussian_process import CANDIDATES, likeliest_ridge, log_evidence
from hstar.models.ridge import ridge_regression


def problem(rows: int, width: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    matrix = random.poisson(1.0, size=(rows, width)).astype(float)
    return matrix, 3 + matrix @ random.normal(size=width) + noise * random.normal(size=rows)


@pytest.mark.parametrize("shape", [(40, 7), (12, 30)])
@pytest.mark.parametrize("ridge", [0.01, 1.0, 50.0])
def test_the_mean_of_the_process_is_ridge_regression(shape: tuple[int, int], ridge: float) -> None:
    """With a wide prior of the bias, at new points: k(x, X) (K + ridge)^-1 y."""
    matrix, target = problem(*shape, noise=1.0)
    new = np.random.default_rng(2).poisson(1.0, size=(5, shape[1])).astype(float)
    wide = 1e7
    covariance = matrix @ matrix.T + wide + ridge * np.eye(len(target))
    mean = (new @ matrix.T + wide) @ np.linalg.solve(covariance, target)
    weights, bias = ridge_regression(matrix, target, ridge)
    assert new @ weights + bias == pytest.approx(mean, abs=1e-3)


@pytest.mark.parametrize("shape", [(40, 7), (12, 30)])
@pytest.mark.parametrize("ridge", [0.01, 1.0, 50.0])
def test_the_evidence_is_a_density(shape: tuple[int, int], ridge: float) -> None:
    """Of contrasts, a basis of what is orthogonal to the bias, at the scale that makes it greatest."""
    matrix, target = problem(*shape, noise=1.0)
    n = len(target)
    basis = np.linalg.qr(np.hstack([np.ones((n, 1)), np.eye(n)[:, 1:]]))[0][:, 1:]
    rows, wanted = basis.T @ matrix, basis.T @ target
    covariance = rows @ rows.T + ridge * np.eye(n - 1)
    square = wanted @ np.linalg.solve(covariance, wanted)

    def density(scale: float) -> float:
        determinant = np.linalg.slogdet(scale * covariance)[1]
        return float(-0.5 * ((n - 1) * math.log(2 * math.pi) + determinant + square / scale))

    best = square / (n - 1)
    assert log_evidence(matrix, target, ridge) == pytest.approx(density(best))
    assert density(best) > max(density(0.9 * best), density(1.1 * best))


def test_the_likeliest_ridge_is_the_noise() -> None:
    matrix, target = problem(2000, 40, noise=3.0)  # weights have variance 1
    assert likeliest_ridge(matrix, target) == pytest.approx(9.0, rel=0.5)
    assert likeliest_ridge(*problem(200, 40, noise=0.0)) == CANDIDATES[0]
