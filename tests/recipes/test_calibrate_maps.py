"""Calibration of models of maps: A* keeps the promise on as many other problems as was said, or more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hstar.errors import InputError, ModelError
from hstar.estimates.rules import Bounded, Calibrated
from hstar.experiments.batch import calibration_maps, optimum
from hstar.models.map_identity import MapIdentity
from hstar.models.trained_model import TrainedModel
from hstar.recipes import train
from hstar.recipes.calibrate import calibrate_maps
from hstar.sampling.prolonged import OptimalPath
from hstar.search.solve import SearchConfig, solve
from hstar.spaces.grid import GridProblem

SMALL = {
    "scenarios": 4,
    "rows": 10,
    "columns": 10,
    "updates": 3,
    "batch_size": 2,
    "sweeps": 4,
    "waves": 1,
    "width": 2,
}


@pytest.fixture(scope="module", params=[4, 8])
def model(request: pytest.FixtureRequest) -> TrainedModel[MapIdentity]:
    """Trained for a moment, and then 1.5 times too high."""
    found = train("prolonged", neighbours=request.param, **SMALL)
    return replace(found, model_config={**found.model_config, "scale": 1.5 * found.model_config["scale"]})


@pytest.mark.parametrize("bound", [1.0, 1.3])
def test_the_promise_is_kept(model: TrainedModel[MapIdentity], bound: float) -> None:
    problems = calibration_maps(model, [], 30, seed=1)
    new, found = calibrate_maps(model, problems, 0.8, bound=bound, distribution="random maps")
    assert new.calibration == found.rule and len(found.scores) == 30 and found.left_out == 0
    assert isinstance(new.rule, Calibrated) and new.rule.rounds_up == (
        bound == 1 and new.space.neighbours == 4
    )
    others = calibration_maps(model, [], 40, seed=2)
    kept = 0
    for problem in others:
        result, best = solve(problem, new.build(problem).values, "astar"), optimum(problem, SearchConfig())
        assert result.plan_cost is not None and best is not None
        kept += result.plan_cost <= bound * best * (1 + 1e-9)
        assert (new.build(problem).values >= problem.lower_bounds() * ~problem.grid.blocked - 1e-4).all()
    assert kept >= 0.8 * 40 - 5


def test_no_value_along_a_plan_within_the_score_is_above_the_distance(
    model: TrainedModel[MapIdentity],
) -> None:
    problems = calibration_maps(model, [], 20, seed=1)
    new, found = calibrate_maps(model, problems, 0.8)
    for problem, score in zip(problems, found.scores, strict=True):
        path = OptimalPath().sample(problem)
        values = new.build(problem).values.reshape(-1)[path.states.astype(np.int64)]
        before = path.label > 0
        assert bool((values[before] <= path.label[before]).all()) or score > found.rule.score


def test_mistakes(model: TrainedModel[MapIdentity]) -> None:
    problems = calibration_maps(model, [], 9, seed=1)
    with pytest.raises(InputError, match=r"3 instances are too few for a confidence of 0\.8"):
        calibrate_maps(model, problems[:3], 0.8)
    with pytest.raises(InputError, match="of the rule bounded, of which something is promised already"):
        calibrate_maps(model, problems, 0.8, rule=Bounded(1.5))
    first = problems[0]
    assert isinstance(first, GridProblem)
    other = replace(first, grid=replace(first.grid, neighbours=12 - first.grid.neighbours))
    with pytest.raises(ModelError, match="neighbours, asked for"):
        calibrate_maps(model, [other] * 9, 0.8)
