"""The ranking support vector machine against what defines its minimum."""

from __future__ import annotations

import numpy as np
import pytest

from hstar.models.rank_svm import rank_svm_path, ranked_right


def differences(rows: int = 200, width: int = 12, noise: float = 0.0) -> np.ndarray:
    random = np.random.default_rng(0)
    truth = random.normal(size=width)
    matrix = random.integers(-3, 4, size=(rows, width)).astype(float)
    signs = np.where(matrix @ truth + noise * random.normal(size=rows) > 0, 1.0, -1.0)
    return matrix * signs[:, None]


def test_pairs_that_some_weights_rank_right_are_ranked_right() -> None:
    pairs = differences()
    (weights,) = rank_svm_path(pairs, [1e-4])
    assert ranked_right(pairs, weights) == 1.0


@pytest.mark.parametrize("shape", [(200, 12), (20, 60)])
@pytest.mark.parametrize("ridge", [100.0, 1.0, 0.01])
def test_the_weights_are_where_the_gradient_is_zero(shape: tuple[int, int], ridge: float) -> None:
    pairs = differences(*shape, noise=3.0)
    (weights,) = rank_svm_path(pairs, [ridge])
    gradient = ridge * weights - pairs.T @ np.maximum(1 - pairs @ weights, 0)
    assert np.linalg.norm(gradient) < 2e-3 * np.linalg.norm(pairs.sum(axis=0))


def test_a_path_leads_to_the_same_weights_as_each_strength_alone() -> None:
    pairs = differences(noise=3.0)
    for ridge, weights in zip((10.0, 1.0), rank_svm_path(pairs, (10.0, 1.0)), strict=True):
        (alone,) = rank_svm_path(pairs, [ridge])
        assert weights == pytest.approx(alone, abs=0.01)


def test_ties_count_half() -> None:
    assert ranked_right(np.array([[1.0], [0.0], [-1.0], [0.0]]), np.array([2.0])) == 0.5
