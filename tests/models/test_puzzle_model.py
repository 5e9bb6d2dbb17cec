"""The file of a model for a puzzle: what it keeps, and what it is refused for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hstar import container
from hstar.errors import InputError, ModelError
from hstar.estimates.rules import Calibrated, Quantile
from hstar.models.puzzle_model import KIND, is_puzzle_model, load_puzzle_model, save_puzzle_model
from hstar.search.puzzle_features import puzzle_features
from hstar.search.solve import solve
from hstar.spaces.blocks import Blocks
from hstar.spaces.puzzles import parse_puzzle
from puzzle_models import made


@pytest.mark.parametrize("name", ["tiles:2x3", "pancake:6", "blocks:4"])
def test_what_is_read_is_what_was_written(name: str, tmp_path: Path) -> None:
    model, path, again = made(name), tmp_path / "model.hstar", tmp_path / "again.hstar"
    save_puzzle_model(path, model)
    assert is_puzzle_model(path) and not is_puzzle_model(tmp_path / "none")
    found = load_puzzle_model(path)
    save_puzzle_model(again, found)
    assert path.read_bytes() == again.read_bytes()
    assert (found.puzzle, found.goal, found.outputs, found.seed) == (
        model.puzzle,
        model.puzzle.goal,
        model.outputs,
        3,
    )
    states = [model.puzzle.random(seed).start for seed in range(20)]
    puzzle = model.puzzle.puzzle()
    values = model.network(puzzle, 0.9).values(states)
    assert values.tolist() == found.network(puzzle, 0.9).values(states).tolist()


def test_values_are_those_of_the_formula() -> None:
    """mu - z sigma in units of ten moves, rounded and not below 0; 0 in the goal."""
    model = made()
    puzzle, w = model.puzzle.puzzle(), model.weights
    states = [model.puzzle.random(seed).start for seed in range(50)]
    x = puzzle_features(puzzle, "one-hot").array(states)
    raw = (
        np.maximum(x @ w["hidden_weights"] + w["hidden_biases"], 0) @ w["output_weights"] + w["output_biases"]
    )
    sigma = np.log1p(np.exp(np.clip(raw[:, 1], -5, 1)))
    for alpha, z in ((None, 0.0), (0.9, 1.2815515655446004), (0.25, -0.6744897501960817)):
        exact = 10 * (raw[:, 0] - z * sigma)
        clear = np.abs(exact - np.floor(exact) - 0.5) > 0.01  # of rounding
        values = model.network(puzzle, alpha).values(states)
        goal = np.array([state == puzzle.goal for state in states])
        expected = np.where(goal, 0, np.maximum(np.rint(exact), 0))
        assert clear.sum() > 40 and np.array_equal(values[clear], expected[clear])


def test_floors_and_truncated_beliefs() -> None:
    model = made()
    puzzle, states = model.puzzle.puzzle(), [model.puzzle.random(seed).start for seed in range(50)]
    manhattan = np.array([puzzle.core.value("manhattan", state) for state in states])
    plain = model.network(puzzle, 0.95).values(states)
    assert (plain < manhattan).any() and (plain > manhattan).any()
    floored = model.network(puzzle, 0.95, floor=True).values(states)
    assert np.array_equal(floored, np.maximum(plain, manhattan))
    truncated = model.network(puzzle, 0.95, truncated=True).values(states)
    assert (truncated >= floored).all() and (truncated > floored).any()
    as_trained = replace(model, outputs=replace(model.outputs, floor_admissible=True))
    assert np.array_equal(as_trained.network(puzzle, 0.95).values(states), floored)
    assert np.array_equal(as_trained.network(puzzle, 0.95, floor=False).values(states), plain)
    with pytest.raises(ModelError, match="one output, a mean without spread: leave truncated out"):
        made(outputs=1).network(puzzle, truncated=True)
    one = made(outputs=1)
    assert (one.network(puzzle, floor=True).values(states) >= manhattan).all()


def test_a_calibrated_model_keeps_its_promise_with_a_floor_only() -> None:
    rule = Calibrated(confidence=0.5, instances=9, score=3.0, whole=True, of=Quantile(0.1))
    model = made(rule=rule)
    puzzle, states = model.puzzle.puzzle(), [model.puzzle.random(seed).start for seed in range(20)]
    floored, plain = (model.network(puzzle, floor=floor).values(states) for floor in (True, False))
    manhattan = [puzzle.core.value("manhattan", state) for state in states]
    assert np.array_equal(floored, np.maximum(plain, manhattan))
    with pytest.raises(InputError, match="calibrated with a belief that is not truncated; give alpha"):
        model.network(puzzle, truncated=True)
    assert model.network(puzzle, 0.9, truncated=True).truncated


def test_it_searches() -> None:
    model = made()
    result = solve(
        model.puzzle.random(1), model.network(model.puzzle.puzzle(), 0.5), "idastar", max_evaluations=10**6
    )
    assert result.solved


def test_what_it_is_refused_for() -> None:
    model = made()
    for name in ("tiles:3x2", "tiles:3x3", "pancake:6"):
        with pytest.raises(ModelError, match=r"trained for tiles:2x3, asked for \w+"):
            model.network(parse_puzzle(name).puzzle(), 0.9)
    with pytest.raises(ModelError, match=r"trained for the goal 0 1 2 3, asked for 0 0 1 2"):
        made("blocks:4").network(Blocks((0, 1, 2, 3), (0, 0, 1, 2)), 0.9)
    with pytest.raises(ModelError, match="one output"):
        made(outputs=1).network(model.puzzle.puzzle(), 0.9)
    assert not made(outputs=1).has_spread and made(outputs=1).network(model.puzzle.puzzle()).alpha is None
    with pytest.raises(InputError, match="alpha"):
        model.network(model.puzzle.puzzle(), 1.0)


def test_damaged_files(tmp_path: Path) -> None:
    model, path = made(), tmp_path / "model.hstar"
    save_puzzle_model(path, model)
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    with pytest.raises(ModelError, match=r"model.hstar: not a puzzle model of hstar, or damaged"):
        load_puzzle_model(path)
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ModelError, match="checksum"):
        load_puzzle_model(path)
    container.write(path, "dataset", 1, {}, {})
    with pytest.raises(ModelError, match="a dataset of hstar, expected a puzzle model"):
        load_puzzle_model(path)
    container.write(path, KIND, 1, {"puzzle": "tiles:9"}, {})
    with pytest.raises(ModelError, match="damaged model"):
        load_puzzle_model(path)
    with pytest.raises(ModelError, match="not all finite"):
        replace(model, weights={**model.weights, "hidden_biases": np.full(3, np.nan, dtype=np.float32)})
    with pytest.raises(ModelError, match="weights are"):
        replace(model, weights={})
