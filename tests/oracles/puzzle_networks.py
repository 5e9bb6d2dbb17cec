"""Networks of puzzles in plain NumPy: inputs by their definitions, values in float64."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import torch

from hstar.estimates.truncated_normal import TruncatedNormal
from hstar.search.databases import Patterns, pattern_databases
from hstar.search.puzzle_network import PuzzleNetwork
from hstar.spaces.blocks import Blocks
from hstar.spaces.pancake import Pancake
from hstar.spaces.puzzle import Puzzle, State
from hstar.spaces.tiles import Tiles


def one_hot(puzzle: Puzzle, state: State) -> list[int]:
    """Zeros and ones, piece by piece."""
    n = len(state)
    if isinstance(puzzle, Tiles):
        bits = []
        for tile in range(n):
            row, column = divmod(state.index(tile), puzzle.columns)
            bits += [int(i == column) for i in range(puzzle.columns)]
            bits += [int(i == row) for i in range(puzzle.rows)]
        return bits
    if isinstance(puzzle, Pancake):
        return [int(state[place] == piece) for piece in range(n) for place in range(n)]
    return [int(state[block] == under) for block in range(n) for under in range(n + 1)]


@dataclass(frozen=True)
class Row:
    """Inputs as whole numbers with their divisors, and the greatest that is admissible."""

    inputs: list[tuple[int, int]]
    admissible: int


@cache
def _single(puzzle: Puzzle, pattern: tuple[int, ...]) -> tuple[object, int]:
    """One database as a heuristic, and its largest cost."""
    databases = pattern_databases(puzzle, [[pattern]], cache=False)
    return databases, databases.sets[0][0].largest


def with_databases(puzzle: Puzzle, sets: Sequence[Patterns], state: State) -> Row:
    """Costs and sums by heuristics of one pattern, the rest by its definition."""
    costs: list[list[tuple[int, int]]] = []
    for patterns in sets:
        costs.append([])
        for pattern in patterns:
            heuristic, largest = _single(puzzle, tuple(pattern))
            costs[-1].append((puzzle.core.value(heuristic, state), largest))  # type: ignore[arg-type]
    sums = [(sum(cost for cost, _ in one), sum(largest for _, largest in one)) for one in costs]
    flat = [cost for one in costs for cost in one]
    n = len(state)
    if isinstance(puzzle, Blocks):
        misplaced = sum(under != wanted for under, wanted in zip(state, puzzle.goal, strict=True))
        return Row([*flat, (misplaced, n), (state.count(0), n)], max(misplaced, *(cost for cost, _ in flat)))
    wrong = [piece for place, piece in enumerate(state) if piece != place]
    if isinstance(puzzle, Pancake):
        others = [(int(state[n // 2] == n // 2), 1), (max(wrong, default=0), n)]
        return Row([*flat, *sums, *others], max(total for total, _ in sums))
    assert isinstance(puzzle, Tiles)
    manhattan = puzzle.core.value("manhattan", state)
    far = sum(
        max(tile // puzzle.columns, puzzle.rows - 1 - tile // puzzle.columns)
        + max(tile % puzzle.columns, puzzle.columns - 1 - tile % puzzle.columns)
        for tile in range(1, n)
    )
    largest = max(far, (n - 1) * (puzzle.rows + puzzle.columns - 3))
    others = [(sum(tile != 0 for tile in wrong), n), (manhattan, largest), (state.index(0), n)]
    return Row([*flat, *sums, *others], max(manhattan, *(total for total, _ in sums)))


def unrounded(network: PuzzleNetwork, states: Sequence[State]) -> npt.NDArray[np.float64]:
    """What is rounded to the value of a state that is not the goal."""
    x = network.features.array(states).astype(np.float64)
    hidden = np.maximum(x @ network.hidden_weights.astype(np.float64) + network.hidden_biases, 0)
    outputs = hidden @ network.output_weights.astype(np.float64) + network.output_biases
    moves = outputs[:, 0] * network.scale
    if outputs.shape[1] == 2:
        rho = np.clip(outputs[:, 1], network.lowest_rho, network.highest_rho)
        sigma = np.log1p(np.exp(rho)) * network.scale
        if network.switch is not None:
            sigma = np.where(moves >= network.switch, 1.0, sigma)
        if network.truncated:
            moves = truncated(moves, sigma, network.features.admissible(states), network.alpha)
        elif network.alpha is not None:
            moves = moves - NormalDist().inv_cdf(network.alpha) * sigma
    return np.asarray(moves * network.factor - network.shift)


def truncated(
    mu: npt.NDArray[np.float64],
    sigma: npt.NDArray[np.float64],
    lower: npt.NDArray[np.int32],
    alpha: float | None,
) -> npt.NDArray[np.float64]:
    """The quantile 1 - alpha, or the mean, by what the estimate `truncated` is made of."""

    def all_of(number: float) -> torch.Tensor:
        return torch.full((len(mu),), number, dtype=torch.float64)

    bounds = torch.from_numpy(lower).double(), all_of(math.inf)
    belief = TruncatedNormal(torch.from_numpy(mu), torch.from_numpy(sigma), *bounds)
    value = belief.mean() if alpha is None else belief.quantile(all_of(1 - alpha))
    return np.asarray(value.numpy())


def random_network(
    features_inputs: int, width: int, outputs: int, seed: int, mean: float = 20.0
) -> dict[str, npt.NDArray[np.float32]]:
    """Weights by He's rule, with values around `mean` units."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> npt.NDArray[np.float32]:
        return (rng.normal(size=shape) * np.sqrt(2 / shape[0])).astype(np.float32)

    biases = np.zeros(outputs, np.float32)
    biases[0] = mean
    return {
        "hidden_weights": normal(features_inputs, width) * np.float32(4),
        "hidden_biases": normal(width),
        "output_weights": normal(width, outputs) * np.float32(4),
        "output_biases": biases,
    }
