"""Calibration of models of puzzles: values are those of the search, and IDA* keeps what is promised."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hstar.errors import InputError, ModelError
from hstar.estimates import Bounded, Clip, Likely, Mean, Quantile, Rule, conformal
from hstar.models.puzzle_identity import FEATURES
from hstar.models.trained_model import TrainedModel, load_model
from hstar.recipes.calibrate import calibrate, puzzle_plan_values, scored_network
from hstar.sampling.optimal import Optimal
from hstar.search.puzzle_optimal import optimal_plans
from hstar.search.solve import solve
from hstar.spaces.puzzle import Instance, Puzzle, State
from oracles import puzzles as oracle
from puzzle_models import made
from puzzle_models import network as network_of

CASES = [(1.0, "additive"), (1.0, "ratio"), (1.3, "additive"), (1.5, "ratio"), (2.0, "additive")]
RULES: list[Rule] = [Mean(), Quantile(0.2)]


def erring(name: str) -> TrainedModel[Any]:
    """A network that knows nothing, with values about as great as true ones."""
    model = made(name)
    biases = np.array([0.8, -1.0], dtype=np.float32)
    return replace(model, tensors={**model.tensors, "output_biases": biases})


def instances(model: TrainedModel[Any], number: int, seed: int = 0) -> list[Instance[Puzzle]]:
    return [Instance(f"{i}", model.space.puzzle.random(1000 * seed + i)) for i in range(number)]


def plans(model: TrainedModel[Any], given: list[Instance[Puzzle]]) -> list[list[State]]:
    solver = optimal_plans(model.space.puzzle)
    found = [solver.states(one.puzzle) for one in given]
    return [states for states in found if states is not None]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["tiles:2x3", "pancake:5", "blocks:4"])
def test_values_are_those_of_the_search(name: str, rule: Rule) -> None:
    """But for rounding to moves, and what is below 0."""
    model = erring(name)
    fine, coarse = scored_network(model, rule), network_of(model.with_rule(rule))
    for states in plans(model, instances(model, 20)):
        values, true = puzzle_plan_values(fine, states)
        assert true.tolist() == list(range(len(states) - 1, 0, -1))
        assert np.abs(values - coarse.values(states[:-1])).max(initial=0) <= 0.5 + 1 / 1024


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("bound", "form"), CASES)
@pytest.mark.parametrize("name", ["tiles:2x3", "pancake:5", "blocks:4"])
def test_where_the_score_is_within_the_plan_is_as_promised(
    name: str, bound: float, form: str, rule: Rule
) -> None:
    """In a whole space, with and without a table of states."""
    model = erring(name)
    calibrated, found = calibrate(model, instances(model, 30), 0.7, bound=bound, form=form, rule=rule)
    assert calibrated.calibration == found.rule and len(found.scores) == 30
    network, fine = network_of(calibrated), scored_network(model, rule)
    solver, within = optimal_plans(model.space.puzzle), 0
    exact = oracle.distances(model.space.puzzle)
    for state, distance in list(exact.items())[:: 1 + len(exact) // 60]:
        puzzle = model.space.puzzle.at(state)
        states = solver.states(puzzle)
        assert states is not None and len(states) == distance + 1
        if conformal.plan_score(*puzzle_plan_values(fine, states), form) > found.rule.score:
            continue
        within += 1
        assert (network.values(states) <= bound * np.arange(distance, -1, -1)).all()
        for table in (0, 1 << 16):
            cost = solve(puzzle, network, "idastar", max_evaluations=10**7, table_bytes=table).plan_cost
            assert cost is not None and cost <= bound * distance
    assert within >= 20


def test_the_share_is_as_stated() -> None:
    """Over many calibrations, the score of one more instance is within as often as stated, or more."""
    model = erring("tiles:2x3")
    network = scored_network(model, Mean())
    given = plans(model, instances(model, 600, seed=7))
    scores = np.array([conformal.plan_score(*puzzle_plan_values(network, one)) for one in given])
    rng, kept, rounds = np.random.default_rng(1), 0, 4000
    for _ in range(rounds):
        drawn = rng.choice(scores, 20)
        kept += drawn[19] <= conformal.quantile(drawn[:19], 0.8)
    assert 0.8 - 4 * 0.4 / rounds**0.5 < kept / rounds < 0.9


def test_values_go_up_as_far_as_they_may() -> None:
    """On the plan that decides, some value is that of h*: nothing is given away by rounding."""
    model = erring("tiles:2x3")
    given = instances(model, 9)
    calibrated, found = calibrate(model, given, 0.9)
    network = network_of(calibrated)
    worst = plans(model, given)[int(np.argmax(found.scores))]
    assert found.rule.score == max(found.scores)
    assert (network.values(worst[:-1]) == np.arange(len(worst) - 1, 0, -1)).any()


def test_the_file_keeps_it(tmp_path: Path) -> None:
    model = erring("pancake:5")
    calibrated, found = calibrate(
        model, instances(model, 9), 0.9, rule=Quantile(0.1), distribution="uniformly random"
    )
    calibrated.save(tmp_path / "m.hstar")
    loaded = load_model(tmp_path / "m.hstar")
    assert loaded.calibration == found.rule and found.rule.of == Quantile(0.1)
    assert found.rule.promise == (
        "optimal with probability at least 0.9, for problems like the 9 of the calibration (uniformly random)"
    )
    states = [one.puzzle.start for one in instances(model, 50)]
    assert network_of(loaded).values(states).tolist() == network_of(calibrated).values(states).tolist()
    # What is asked for goes before the calibration, and a second calibration is of what the first was of.
    for rule in (Likely(0.9), Quantile(0.1)):
        one, two = network_of(loaded.with_rule(rule)), network_of(model, 0.9)
        assert one.values(states).tolist() == two.values(states).tolist()
    again, other = calibrate(loaded, instances(model, 9), 0.9)
    assert other.rule == replace(found.rule, distribution="") and again.calibration == other.rule


def test_what_is_refused() -> None:
    model = made()
    with pytest.raises(InputError, match=r"^8 instances are too few for a confidence of 0\.9; it takes"):
        calibrate(model, instances(model, 8), 0.9)
    wrong = [replace(one, optimal_cost=99) for one in instances(model, 9)]
    with pytest.raises(InputError, match=r"^0: its optimal cost is \d+, not 99$"):
        calibrate(model, wrong, 0.9)
    goals = [Instance(f"{i}", model.space.puzzle) for i in range(9)]
    with pytest.raises(InputError, match="too many instances begin in the goal"):
        calibrate(model, goals, 0.5)
    with pytest.raises(InputError, match="has the rules mean, quantile, likely and clip, not bounded"):
        calibrate(model, instances(model, 9), 0.9, rule=Bounded(1.5))
    with pytest.raises(ModelError, match="one output, a mean without spread"):
        calibrate(made(outputs=1), instances(model, 9), 0.9, rule=Quantile(0.1))
    with pytest.raises(InputError, match=r"^9 of 9 instances were not solved within the limits"):
        calibrate(model, instances(model, 9), 0.9, limits=Optimal(time_limit=0.0))


def test_a_clip_stays_outside() -> None:
    """The scores are those without it, and so no bound of a state is moved."""
    model = erring("tiles:2x3")
    plain, one = calibrate(model, instances(model, 9), 0.8)
    clipped, two = calibrate(model, instances(model, 9), 0.8, rule=Clip())
    assert one == two and plain.lower is None and clipped.lower == FEATURES
    states = [model.space.puzzle.random(seed).start for seed in range(30)]
    found = network_of(clipped).values(states)
    assert found.tolist() == network_of(plain, floor=True).values(states).tolist()
