"""Support vector regression against what defines its minimum."""

from __future__ import annotations

import numpy as np
import pytest

from hstar.models.svr import EPSILON, svr_path


@pytest.mark.parametrize("shape", [(200, 12), (20, 60)])
@pytest.mark.parametrize("bound", [False, True])
def test_the_weights_are_where_the_gradient_is_zero(shape: tuple[int, int], bound: bool) -> None:
    random = np.random.default_rng(0)
    matrix = random.poisson(1.0, size=shape).astype(float)
    target = 5 + matrix @ random.normal(size=shape[1]) + random.normal(size=shape[0])
    bounds = random.random(shape[0]) < (0.5 if bound else 0.0)
    middle, mean = matrix[~bounds].mean(axis=0), target[~bounds].mean()
    ridges = (0.1, 10.0, 1.0)
    for ridge, (weights, bias) in zip(ridges, svr_path(matrix, target, ridges, bounds), strict=True):
        error = matrix @ weights + bias - target
        over = np.where(bounds, 0.0, np.maximum(error - EPSILON, 0))
        slope = over - np.maximum(-error - EPSILON, 0)
        moved = bias + middle @ weights - mean  # the bias has its penalty where features are at their mean
        gradient = np.append((matrix - middle).T @ slope + ridge * weights, slope.sum() + ridge * moved)
        size = np.linalg.norm(np.hstack([matrix - middle, np.ones((len(matrix), 1))]).T @ (target - mean))
        assert np.linalg.norm(gradient) < 5e-3 * size


def test_a_far_bound_that_holds_changes_nothing() -> None:
    matrix, target = np.arange(12.0).reshape(6, 2), np.array([1.0, 2.0, 3.0, 4.0, -90.0, -90.0])
    bounds = target < 0
    ((weights, bias),) = svr_path(matrix, target, (0.01,), bounds)
    ((alone, alone_bias),) = svr_path(matrix[~bounds], target[~bounds], (0.01,))
    assert weights == pytest.approx(alone) and bias == pytest.approx(alone_bias)
