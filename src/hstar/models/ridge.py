"""Ridge regression (Hoerl and Kennard, 1970), its strength chosen on held-out groups of rows.

Of some rows it may be known only that their target is not below a bound; they count where the prediction is
less. What is minimised is still convex, and quadratic as long as the same rows count: Newton's method for
such functions (Mangasarian, 2002) is a ridge regression of the rows that count, again and again until they
stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

RIDGES = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
STEPS = 50  # of Newton's method; seldom more than ten are needed
HALVINGS = 20  # of one of them

Matrix: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Solver: TypeAlias = Callable[[Mask, float], tuple[Matrix, float]]


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
    solve = _solver(matrix, target, known)
    rows = known
    for ridge in ridges:
        weights, bias = solve(rows, ridge)
        predicted = matrix @ weights + bias
        for _ in range(STEPS):
            counting = known | (predicted < target)
            if (counting == rows).all():  # the least value, for it is that of the rows that count there
                break
            rows = counting
            loss = _loss(predicted, target, rows, weights, ridge)
            to_weights, to_bias = solve(rows, ridge)
            to = matrix @ to_weights + to_bias
            for halved in range(HALVINGS):  # a whole step may lead up, where other rows count
                share = 0.5**halved
                ahead = (1 - share) * predicted + share * to
                moved = (1 - share) * weights + share * to_weights
                if _loss(ahead, target, known | (ahead < target), moved, ridge) < loss:
                    break
            else:
                break  # nothing is lower, up to rounding
            weights, bias, predicted = moved, (1 - share) * bias + share * to_bias, ahead
        yield weights, bias


def _solver(matrix: Matrix, target: Matrix, known: Mask) -> Solver:
    """Ridge regression of some rows, those that are known among them."""
    middle, mean = matrix[known].mean(axis=0), float(target[known].mean())
    width = matrix.shape[1] + 1
    # A last column of ones for the bias; what all solutions share is made once.
    fixed = np.column_stack([matrix[known] - middle, np.ones(known.sum())])
    tall = width <= len(fixed)
    products = fixed.T @ fixed if tall else fixed[:, :-1] @ fixed[:, :-1].T
    moments = fixed.T @ (target[known] - mean)

    def solve(rows: Mask, ridge: float) -> tuple[Matrix, float]:
        further = np.column_stack([matrix[rows & ~known] - middle, np.ones((rows & ~known).sum())])
        wanted = target[rows & ~known] - mean
        if tall:
            system = products + further.T @ further
            system[np.diag_indices(width - 1)] += ridge
            solution = np.linalg.solve(system, moments + further.T @ wanted)
            weights, bias = solution[:-1], solution[-1]
        else:  # on the side of the rows: weights are sums of rows, whose factors have the sum 0
            weights, bias = _by_rows(fixed, further, products, target[known] - mean, wanted, ridge)
        return weights, float(mean + bias - middle @ weights)

    return solve


def _by_rows(
    fixed: Matrix, further: Matrix, products: Matrix, known: Matrix, bounds: Matrix, ridge: float
) -> tuple[Matrix, float]:
    n, m = len(fixed), len(further)
    system = np.ones((n + m + 1, n + m + 1))
    system[:n, :n] = products
    system[n:-1, :n] = further[:, :-1] @ fixed[:, :-1].T
    system[:n, n:-1] = system[n:-1, :n].T
    system[n:-1, n:-1] = further[:, :-1] @ further[:, :-1].T
    system[np.diag_indices(n + m)] += ridge
    system[-1, -1] = 0
    factors = np.linalg.solve(system, np.concatenate([known, bounds, [0.0]]))
    weights = fixed[:, :-1].T @ factors[:n] + further[:, :-1].T @ factors[n:-1]
    return weights, factors[-1]


def _loss(predicted: Matrix, target: Matrix, rows: Mask, weights: Matrix, ridge: float) -> float:
    return float(np.sum((predicted - target)[rows] ** 2) + ridge * (weights @ weights))


def squared_error(weights: Matrix, bias: float, matrix: Matrix, target: Matrix) -> float:
    """Its mean."""
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
) -> Choice:
    """The strength that predicts held-out rows best, or the given one.

    The loss is of all squares, those of bounds that predictions fall short of, too, for one row with a
    target. Without such rows held out the strength is 1 unless given.
    """
    bounds = np.zeros(len(target), dtype=bool) if bounds is None else bounds
    judges = held_out & ~bounds
    if not judges.any():
        return Choice(given or 1.0, None, None)
    rest, choices = ~held_out, []
    ridges = RIDGES if given is None else (given,)
    for ridge, (weights, bias) in zip(
        ridges, ridge_path(matrix[rest], target[rest], ridges, bounds[rest]), strict=True
    ):
        error = matrix[held_out] @ weights + bias - target[held_out]
        short = bounds[held_out]
        squares = np.where(short, np.minimum(error, 0), error) ** 2
        loss = float(squares.sum() / judges.sum())
        choices.append(Choice(ridge, loss, float(squares[~short].mean())))
    return min(choices, key=lambda choice: choice.loss or 0.0)
