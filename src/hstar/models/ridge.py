"""Ridge regression (Hoerl and Kennard, 1970), its strength chosen on held-out groups of rows.

Of some rows it may be known only that their target is not below a bound; they count where the prediction is
less. What is minimised is still convex, and quadratic as long as the same rows count: Newton's method for
such functions (Mangasarian, 2002) is a ridge regression of the rows that count, again and again until they
stay the same; where other rows count on the way, a step ends at the least value along it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError

RIDGES = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
STEPS = 100  # of Newton's method; ten are usual, and what is reached by then is near enough
HALVINGS = 60  # of an interval, to find where along a step the least value is
SLOPE = 1e-12  # to that at the beginning of a step: not above 0, up to rounding

Matrix: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Path: TypeAlias = Callable[[Matrix, Matrix, Sequence[float], Mask | None], Iterator[tuple[Matrix, float]]]


class Choice(NamedTuple):
    """The strength that was chosen; what it was chosen by, and the error of held-out targets, if any."""

    ridge: float
    loss: float | None
    error: float | None


def ridge_regression(
    matrix: Matrix, target: Matrix, ridge: float, bounds: Mask | None = None
) -> tuple[Matrix, float]:
    """Weights and bias; the bias is not penalised. `bounds`: rows whose target is only a lower bound."""
    return next(ridge_path(matrix, target, (ridge,), bounds))


def ridge_path(
    matrix: Matrix, target: Matrix, ridges: Sequence[float], bounds: Mask | None = None
) -> Iterator[tuple[Matrix, float]]:
    """Weights and bias for each strength."""
    bounds = np.zeros(len(target), dtype=bool) if bounds is None else bounds
    known = ~bounds
    if not known.any():
        raise InputError("no state has a label to learn from")
    regression = _Regression(matrix, target, known)
    rows = known
    for ridge in ridges:
        weights, bias = regression.solve(rows, ridge)
        predicted, share = matrix @ weights + bias, 1.0
        for _ in range(STEPS):
            counting = known | (predicted < target)
            if share == 1 and (counting == rows).all():  # the minimum, for it is that of the rows that count
                break
            rows = counting
            to_weights, to_bias = regression.solve(rows, ridge)
            to = matrix @ to_weights + to_bias
            share = _share(predicted, to, weights, to_weights, target, known, ridge)
            if share == 0:  # nothing is lower, up to rounding
                break
            weights = (1 - share) * weights + share * to_weights
            bias = (1 - share) * bias + share * to_bias
            predicted = (1 - share) * predicted + share * to
        yield weights, bias


def _share(
    predicted: Matrix,
    to: Matrix,
    weights: Matrix,
    to_weights: Matrix,
    target: Matrix,
    known: Mask,
    ridge: float,
) -> float:
    """How much of a step leads to the least value along it: all of it, unless other rows count on the way."""
    step, turn = to - predicted, to_weights - weights

    def slope(share: float) -> float:  # grows with the share, since what is minimised is convex
        at = predicted + share * step
        counting = known | (at < target)
        rise = (at - target)[counting] @ step[counting]
        return float(rise + ridge * ((weights + share * turn) @ turn))

    if slope(1.0) <= SLOPE * abs(slope(0.0)):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return low


class _Regression:
    """Ridge regression of some rows, those that are known among them. What solutions share is made once."""

    def __init__(self, matrix: Matrix, target: Matrix, known: Mask) -> None:
        self._matrix, self._known = matrix, known
        self._middle, self._mean = matrix[known].mean(axis=0), float(target[known].mean())
        self._target = target - self._mean
        self._fixed = matrix[known] - self._middle

    def solve(self, rows: Mask, ridge: float) -> tuple[Matrix, float]:
        """Weights and bias: of as many equations as there are columns, or rows if these are fewer."""
        others = rows & ~self._known
        further = self._matrix[others] - self._middle
        tall = self._fixed.shape[1] <= len(self._fixed) + len(further)
        by = self._by_columns if tall else self._by_rows
        weights, bias = by(further, self._target[others], ridge)
        return weights, float(self._mean + bias - self._middle @ weights)

    def _by_columns(self, further: Matrix, bounds: Matrix, ridge: float) -> tuple[Matrix, float]:
        width = further.shape[1]
        system = np.empty((width + 1, width + 1))  # and one for the bias, which has no penalty
        system[:-1, :-1] = self._products + further.T @ further
        system[:-1, -1] = system[-1, :-1] = self._fixed.sum(axis=0) + further.sum(axis=0)
        system[-1, -1] = len(self._fixed) + len(further)
        system[np.diag_indices(width)] += ridge
        known = self._target[self._known]
        moments = self._fixed.T @ known + further.T @ bounds
        solution = np.linalg.solve(system, np.append(moments, known.sum() + bounds.sum()))
        return solution[:-1], solution[-1]

    def _by_rows(self, further: Matrix, bounds: Matrix, ridge: float) -> tuple[Matrix, float]:
        """Weights are sums of rows, whose factors have the sum 0."""
        n, m = len(self._fixed), len(further)
        system = np.ones((n + m + 1, n + m + 1))
        system[:n, :n] = self._kernel
        system[n:-1, :n] = further @ self._fixed.T
        system[:n, n:-1] = system[n:-1, :n].T
        system[n:-1, n:-1] = further @ further.T
        system[np.diag_indices(n + m)] += ridge
        system[-1, -1] = 0
        factors = np.linalg.solve(system, np.concatenate([self._target[self._known], bounds, [0.0]]))
        return self._fixed.T @ factors[:n] + further.T @ factors[n:-1], factors[-1]

    @cached_property
    def _products(self) -> Matrix:
        products: Matrix = self._fixed.T @ self._fixed
        return products

    @cached_property
    def _kernel(self) -> Matrix:
        kernel: Matrix = self._fixed @ self._fixed.T
        return kernel


def squared_error(weights: Matrix, bias: float, matrix: Matrix, target: Matrix) -> float:
    return float(np.mean((matrix @ weights + bias - target) ** 2))


def held_out_rows(group: npt.NDArray[np.int64], share: float, seed: int) -> Mask:
    """Rows of some groups, by chance; none if there is only one group."""
    groups = np.unique(group)
    if len(groups) < 2:
        return np.zeros(len(group), dtype=bool)
    size = min(max(round(share * len(groups)), 1), len(groups) - 1)
    return np.isin(group, np.random.default_rng(seed).permutation(groups)[:size])


def choose_ridge(
    matrix: Matrix,
    target: Matrix,
    held_out: Mask,
    given: float | None = None,
    bounds: Mask | None = None,
    fit: Path = ridge_path,
) -> Choice:
    """The strength that predicts held-out rows best, or the given one.

    `fit` gives weights and bias for each strength. The loss is of all squares, those of bounds that
    predictions fall short of, too, for one row with a target. Without such rows held out the strength is 1
    unless given.
    """
    bounds = np.zeros(len(target), dtype=bool) if bounds is None else bounds
    judges = held_out & ~bounds
    if not judges.any():
        return Choice(given or 1.0, None, None)
    rest, choices = ~held_out, []
    ridges = RIDGES if given is None else (given,)
    path = fit(matrix[rest], target[rest], ridges, bounds[rest])
    seen, wanted, short = matrix[held_out], target[held_out], bounds[held_out]
    for ridge, (weights, bias) in zip(ridges, path, strict=True):
        error = seen @ weights + bias - wanted
        squares = np.where(short, np.minimum(error, 0), error) ** 2
        loss = float(squares.sum() / judges.sum())
        choices.append(Choice(ridge, loss, float(squares[~short].mean())))
    return min(choices, key=lambda choice: choice.loss or 0.0)
