"""Ridge regression, also with rows of which only a lower bound is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hstar.errors import InputError
from hstar.models.ridge import RIDGES, _Regression, choose_ridge, ridge_path, ridge_regression


@pytest.mark.parametrize("shape", [(40, 7), (7, 40)])
def test_the_regression_is_the_minimum(shape: tuple[int, int]) -> None:
    """On both sides of the matrix: the gradient of squared errors and penalty is zero."""
    random = np.random.default_rng(0)
    matrix, label = random.normal(size=shape), random.normal(size=shape[0])
    weights, bias = ridge_regression(matrix, label, 0.7)
    residual = matrix @ weights + bias - label
    assert matrix.T @ residual + 0.7 * weights == pytest.approx(0, abs=1e-9)
    assert residual.sum() == pytest.approx(0, abs=1e-9)


@settings(max_examples=400)
@example(8, 16, 29, 0.01, 471, True)  # whole steps do not always lead down
@example(12, 30, 20, 0.1, 9, False)
@given(
    st.integers(1, 25),
    st.integers(0, 40),
    st.integers(1, 30),
    st.sampled_from(RIDGES),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
def test_with_bounds_it_is_the_minimum(
    known: int, bound: int, width: int, ridge: float, seed: int, even: bool
) -> None:
    """The function is convex, so a gradient of zero says it all; features are counts, as those of wl, or rows
    of very different sizes."""
    random = np.random.default_rng(seed)
    matrix = random.poisson(random.uniform(0.1, 3.0), size=(known + bound, width)).astype(float)
    if not even:
        matrix *= np.exp(random.normal(scale=2.0, size=(known + bound, 1)))
    target = random.normal(scale=random.uniform(0.1, 10.0), size=known + bound)
    bounds = random.permutation(np.arange(known + bound) >= known)
    weights, bias = ridge_regression(matrix, target, ridge, bounds)
    residual = matrix @ weights + bias - target
    residual[bounds & (residual > 0)] = 0
    scale = 1 + np.abs(matrix).sum() + np.abs(target).sum()
    assert np.abs(matrix.T @ residual + ridge * weights).max() < 1e-7 * scale
    assert abs(residual.sum()) < 1e-7 * scale


def test_bounds_that_hold_change_nothing() -> None:
    random = np.random.default_rng(1)
    matrix, target = random.normal(size=(30, 4)), random.normal(size=30)
    bounds = np.arange(30) >= 20
    target[bounds] = -100.0
    weights, bias = ridge_regression(matrix, target, 1.0, bounds)
    alone, alone_bias = ridge_regression(matrix[:20], target[:20], 1.0)
    assert weights == pytest.approx(alone)
    assert bias == pytest.approx(alone_bias)


def test_each_strength_of_a_path_is_as_alone() -> None:
    """What the last strength left behind is only where the next begins."""
    random = np.random.default_rng(2)
    matrix, target, bounds = random.normal(size=(60, 8)), random.normal(size=60), random.random(60) < 0.6
    path = list(ridge_path(matrix, target, RIDGES, bounds))
    for ridge, (weights, bias) in zip(RIDGES, path, strict=True):
        alone, alone_bias = ridge_regression(matrix, target, ridge, bounds)
        assert weights == pytest.approx(alone, abs=1e-8)
        assert bias == pytest.approx(alone_bias, abs=1e-8)


def test_held_out_bounds_count_in_the_choice() -> None:
    """One feature, targets twice its value: a strong ridge falls short of what is held out."""
    matrix = np.arange(12.0)[:, None]
    target, bounds = 2 * matrix[:, 0], np.arange(12) == 11
    held_out = np.arange(12) >= 10
    chosen = choose_ridge(matrix, target, held_out, bounds=bounds)
    assert chosen.ridge == RIDGES[0]
    strong = choose_ridge(matrix, target, held_out, 1000.0, bounds)
    weights, bias = ridge_regression(matrix[:10], target[:10], 1000.0)
    short = 2 * matrix[10:, 0] - matrix[10:] @ weights - bias
    assert (short > 0).all()
    assert strong.error == pytest.approx(short[0] ** 2)
    assert strong.loss == pytest.approx((short**2).sum())  # for one row with a target
    above = choose_ridge(matrix, np.where(bounds, 0.0, target), held_out, 1000.0, bounds)
    assert above.loss == above.error == pytest.approx(short[0] ** 2)


def test_bounds_alone_teach_nothing() -> None:
    with pytest.raises(InputError, match="no state has a label"):
        ridge_regression(np.ones((3, 2)), np.ones(3), 1.0, np.ones(3, dtype=bool))


def test_both_sides_of_the_system_agree() -> None:
    """The narrower one is taken, and bounds that come to count change which one that is."""
    random = np.random.default_rng(3)
    matrix, target = random.normal(size=(40, 20)), random.normal(size=40)
    bounds = np.arange(40) >= 10
    wide = _Regression(matrix, target, ~bounds)
    further = matrix[25:] - matrix[:10].mean(axis=0)
    wanted = target[25:] - target[:10].mean()
    by_columns, by_rows = (solve(further, wanted, 0.3) for solve in (wide._by_columns, wide._by_rows))
    assert by_columns[0] == pytest.approx(by_rows[0], abs=1e-9)
    assert by_columns[1] == pytest.approx(by_rows[1], abs=1e-9)


def test_nothing_to_choose_by() -> None:
    matrix, target = np.ones((3, 1)), np.arange(3.0)
    assert choose_ridge(matrix, target, np.zeros(3, dtype=bool)) == (1.0, None, None)
    only_bounds = np.array([False, False, True])
    assert choose_ridge(matrix, target, only_bounds, 5.0, only_bounds) == (5.0, None, None)
