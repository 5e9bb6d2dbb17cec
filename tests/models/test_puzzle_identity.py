"""The file of a model for a puzzle: what it keeps, and what it is refused for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hstar import container
from hstar.errors import InputError, ModelError
from hstar.estimates.gaussian import Gaussian, Softplus
from hstar.estimates.laplace import Laplace
from hstar.estimates.rules import Bounded, Calibrated, Clip, Likely, Mean, Order, Quantile
from hstar.models.puzzle_identity import FEATURES
from hstar.models.trained_model import load_model
from hstar.search.puzzle_network import puzzle_features
from hstar.search.solve import solve
from hstar.spaces.blocks import Blocks
from hstar.spaces.puzzles import parse_puzzle
from puzzle_models import made, network


@pytest.mark.parametrize("name", ["tiles:2x3", "pancake:6", "blocks:4"])
def test_what_is_read_is_what_was_written(name: str, tmp_path: Path) -> None:
    model, path, again = made(name), tmp_path / "model.hstar", tmp_path / "again.hstar"
    model.save(path)
    found = load_model(path)
    found.save(again)
    assert path.read_bytes() == again.read_bytes()
    assert (found.space, found.estimate, found.encoder, found.seed) == (
        model.space,
        model.estimate,
        "one-hot",
        3,
    )
    assert found.space.goal == model.space.puzzle.goal
    states = [model.space.puzzle.random(seed).start for seed in range(20)]
    assert network(model, 0.9).values(states).tolist() == network(found, 0.9).values(states).tolist()


def test_values_are_those_of_the_formula() -> None:
    """mu - z sigma in units of ten moves, rounded and not below 0; 0 in the goal."""
    model = made()
    puzzle, w = model.space.puzzle, model.tensors
    states = [model.space.puzzle.random(seed).start for seed in range(50)]
    x = puzzle_features(puzzle, "one-hot").array(states)
    raw = (
        np.maximum(x @ w["hidden_weights"] + w["hidden_biases"], 0) @ w["output_weights"] + w["output_biases"]
    )
    sigma = np.log1p(np.exp(np.clip(raw[:, 1], -5, 1)))
    for alpha, z in ((None, 0.0), (0.9, 1.2815515655446004), (0.25, -0.6744897501960817)):
        exact = 10 * (raw[:, 0] - z * sigma)
        clear = np.abs(exact - np.floor(exact) - 0.5) > 0.01  # of rounding
        values = network(model, alpha).values(states)
        goal = np.array([state == puzzle.goal for state in states])
        expected = np.where(goal, 0, np.maximum(np.rint(exact), 0))
        assert clear.sum() > 40 and np.array_equal(values[clear], expected[clear])


def test_floors_and_truncated_beliefs() -> None:
    model = made()
    size = model.space.puzzle
    puzzle, states = size, [size.random(seed).start for seed in range(50)]
    manhattan = np.array([puzzle.core.value("manhattan", state) for state in states])
    plain = network(model, 0.95).values(states)
    assert (plain < manhattan).any() and (plain > manhattan).any()
    floored = network(model, 0.95, floor=True).values(states)
    assert np.array_equal(floored, np.maximum(plain, manhattan))
    truncated = network(model, 0.95, truncated=True).values(states)
    assert (truncated >= floored).all() and (truncated > floored).any()
    assert np.array_equal(network(replace(model, lower=FEATURES), 0.95).values(states), floored)
    clipped = model.with_rule(Clip(Likely(0.95))).build(puzzle)
    assert np.array_equal(clipped.values(states), floored)
    with pytest.raises(ModelError, match="one output, a mean without spread: leave truncated out"):
        network(made(outputs=1), truncated=True)
    one = made(outputs=1)
    assert (network(one, floor=True).values(states) >= manhattan).all()


def test_a_calibrated_model_keeps_its_promise_with_a_floor_only() -> None:
    rule = Calibrated(confidence=0.5, instances=9, score=3.0, whole=True, of=Quantile(0.1))
    model = made(rule=rule)
    size = model.space.puzzle
    puzzle, states = size, [size.random(seed).start for seed in range(20)]
    floored, plain = (network(model, floor=floor).values(states) for floor in (True, False))
    manhattan = [puzzle.core.value("manhattan", state) for state in states]
    assert np.array_equal(floored, np.maximum(plain, manhattan))
    with pytest.raises(InputError, match="calibrated with a belief that is not truncated; give alpha"):
        network(model, truncated=True)
    assert network(model, 0.9, truncated=True).truncated


def test_it_searches() -> None:
    model = made()
    result = solve(model.space.puzzle.random(1), network(model, 0.5), "idastar", max_evaluations=10**6)
    assert result.solved


def test_what_it_is_refused_for() -> None:
    model = made()
    for name in ("tiles:3x2", "tiles:3x3", "pancake:6"):
        with pytest.raises(ModelError, match=r"trained for tiles:2x3, asked for \w+"):
            model.build(parse_puzzle(name))
    with pytest.raises(ModelError, match=r"trained for the goal 0 1 2 3, asked for 0 0 1 2"):
        made("blocks:4").build(Blocks((0, 1, 2, 3), (0, 0, 1, 2)))
    with pytest.raises(ModelError, match="one output"):
        network(made(outputs=1), 0.9)
    assert network(made(outputs=1)).alpha is None
    for rule, message in (
        (Bounded(1.5), "not bounded"),
        (Order(), "not order"),
        (Clip(Mean(), 1.0), "not clip"),
    ):
        with pytest.raises(InputError, match=message):
            model.with_rule(rule)
    for estimate in (Gaussian(), Laplace(softplus=Softplus(1, -5, 1))):
        with pytest.raises(ModelError, match="does not reach the search of puzzles"):
            replace(model, estimate=estimate)
    with pytest.raises(InputError, match="alpha"):
        network(model, 1.0)


def test_damaged_files(tmp_path: Path) -> None:
    model, path = made(), tmp_path / "model.hstar"
    model.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    with pytest.raises(ModelError, match=r"model.hstar: not a model of hstar, or damaged"):
        load_model(path)
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ModelError, match="checksum"):
        load_model(path)
    container.write(path, "dataset", 1, {}, {})
    with pytest.raises(ModelError, match="a dataset of hstar, expected a model"):
        load_model(path)
    container.write(path, "model", 2, {"space": {"kind": "puzzle", "puzzle": "tiles:9"}}, {})
    with pytest.raises(ModelError, match="damaged model"):
        load_model(path)
    with pytest.raises(ModelError, match="not all finite"):
        replace(model, tensors={**model.tensors, "hidden_biases": np.full(3, np.nan, dtype=np.float32)})
    with pytest.raises(ModelError, match="hidden_biases is None"):
        replace(model, tensors={})
