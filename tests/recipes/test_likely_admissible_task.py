"""Learning about a planning task from its goal alone: the learner of puzzles, and a model of a task."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
import torch

import hstar
from conftest import Cases, handmade
from hstar.errors import InputError, UnsupportedError
from hstar.estimates import Mean, Quantile
from hstar.estimates.point import Point
from hstar.estimates.rules import Likely
from hstar.models.trained_model import TrainedModel, load_model
from hstar.recipes import RECIPES, train
from hstar.recipes.calibrate import calibrate
from hstar.recipes.learn_heuristic import LearnHeuristicPrac
from hstar.recipes.likely_admissible import LikelyAdmissibleOptions
from hstar.recipes.likely_admissible_spaces import TaskSpace
from hstar.sampling.walks import Walks
from hstar.search.heuristics import evaluate
from hstar.training.loop import torch_threads
from oracles.test_oracles import operator, task_text, variable

SMALL: dict[str, Any] = {
    "iterations": 3,
    "tasks": 4,
    "least_solved": 3,
    "nodes": 5000,
    "max_steps": 30,
    "hidden": 8,
    "planner_steps": 30,
    "known_steps": 50,
}


def check_task_options(profile: str | None, options: dict[str, Any]) -> LikelyAdmissibleOptions:
    """The options of a run about a planning task."""
    found: LikelyAdmissibleOptions = RECIPES.get("likely-admissible").check("task", profile, options)[
        "recipe"
    ]
    return found


@pytest.fixture(scope="module")
def task(cases: Cases) -> hstar.Task:
    return cases["npuzzle-2x3"].task


def learned(
    task: hstar.Task, progress: Any = None, checkpoint: Path | None = None, **options: Any
) -> TrainedModel[Any]:
    return train("likely-admissible", task, progress=progress, checkpoint=checkpoint, **{**SMALL, **options})


def told(model: TrainedModel[Any]) -> list[dict[str, Any]]:
    """What happened, without times."""
    return [{name: v for name, v in row.items() if name != "time_s"} for row in model.summary["curve"]]


def same(one: TrainedModel[Any], two: TrainedModel[Any]) -> bool:
    found = (model.network.tensors() for model in (one, two))
    return told(one) == told(two) and all(map(np.array_equal, *(list(tensors.values()) for tensors in found)))


@pytest.mark.parametrize("name", ["npuzzle-2x3", "blocksworld-4", "ferry-3-2", "ipc-visitall"])
def test_a_run(cases: Cases, name: str, tmp_path: Path) -> None:
    """The model is a file of a task, whose quantiles the search sees."""
    task = cases[name].task
    model = learned(task)
    rows = told(model)
    assert [row["iteration"] for row in rows] == [1, 2, 3] and rows[0]["longest"] <= 1
    model.save(tmp_path / "m.hstar")
    read = load_model(tmp_path / "m.hstar")
    assert (read.recipe, read.estimate.name, read.model) == ("likely-admissible", "gaussian", "ffnn")
    for rule in (Mean(), Quantile(0.1), Quantile(0.9)):
        result = hstar.solve(task, read.with_rule(rule), "astar", max_evaluations=10**6)
        assert result.solved
    states = np.array([task.core.initial_state], dtype=np.int32)
    low, middle, high = (
        evaluate(task, read.with_rule(Quantile(alpha)), states) for alpha in (0.05, 0.5, 0.95)
    )
    assert np.all(low <= middle) and np.all(middle <= high) and np.any(low < high)
    assert np.array_equal(middle, evaluate(task, read, states)), "the mean is the median"


def test_options_of_puzzles(task: hstar.Task) -> None:
    """Those that change what is learned work here, too."""
    assert learned(task, iterations=2, uncertainty="ensemble").summary["iterations"] == 2
    lengths = learned(task, iterations=2, tasks_by="length-inc", length_inc=3, outputs=1, dropout=0.0)
    assert lengths.estimate == Point() and "known_steps" not in told(lengths)[0]
    assert hstar.solve(task, lengths, "astar", max_evaluations=10**6).solved
    with pytest.raises(UnsupportedError, match="a point estimate has no quantile"):
        hstar.solve(task, lengths.with_rule(Quantile(0.1)), "astar")


def test_one_seed_fixes_a_run(task: hstar.Task) -> None:
    one, two, other = learned(task), learned(task, jobs=3), learned(task, seed=1)
    assert same(one, two) and not same(one, other)


def test_a_killed_run_goes_on_as_if_nothing_had_been(cases: Cases, task: hstar.Task, tmp_path: Path) -> None:
    whole, path = learned(task), tmp_path / "run.part"

    class KilledError(Exception):
        pass

    for stop in (2, 3):

        def kill(record: Any, stop: int = stop) -> None:
            if record.iteration == stop and "learns" in record.doing:
                raise KilledError

        with pytest.raises(KilledError):
            learned(task, kill, path)
    seen: list[int] = []
    assert same(whole, learned(task, lambda record: seen.append(record.iteration), path)) and min(seen) == 3
    with pytest.raises(InputError, match=r"a checkpoint of another training \("):
        learned(cases["blocksworld-4"].task, None, path)
    (start,) = Walks(1, seed=5).tasks(task)
    with pytest.raises(InputError, match=r"a checkpoint of another training \(start: "):
        learned(start, None, path)


def test_remembered_costs_are_those_of_plans(cases: Cases) -> None:
    case = cases["npuzzle-2x3"]
    options = check_task_options(None, SMALL)
    with torch_threads(1):
        learner = LearnHeuristicPrac(TaskSpace(case.task, options), options)
        for _ in range(3):
            learner.iterate()
    states, costs = learner.buffer.states, learner.buffer.costs
    assert len(states) >= 5 and any(case.exact[state] == 0 for state in states)
    assert all(cost >= case.exact[state] for state, cost in zip(states, costs, strict=True))


@pytest.mark.parametrize("switch", [-math.inf, 3.0, math.inf])
def test_the_search_sees_what_the_network_says(cases: Cases, switch: float) -> None:
    """mu - z sigma, with a spread of 1 from the switch on."""
    case, alpha = cases["npuzzle-2x3"], 0.9
    options = check_task_options(None, {**SMALL, "dropout": 0.0})
    space = TaskSpace(case.task, options)
    states = case.states[::7]
    with torch_threads(1):
        learner = LearnHeuristicPrac(space, options)
        learner.planner.output_biases.data[0] = 0.3  # 3 moves, so that the switch parts the states
        x = torch.from_numpy(space.array(states))
        raw = learner.planner(x).detach()
        sigma = 10 * learner.planner.sigma(raw).detach()
    assert x.shape == (len(states), space.inputs) and bool((x.sum(1) == 6).all()), "five tiles and a gap"
    mu = 10 * raw[:, 0]
    spread = torch.where(mu < switch, sigma, torch.ones_like(sigma))
    expected = (mu - NormalDist().inv_cdf(alpha) * spread).clamp_min(0).numpy()
    expected[[case.exact[state] == 0 for state in states]] = 0
    heuristic = space.heuristic(learner.planner, Likely(alpha), switch)
    found = evaluate(case.task, heuristic, np.array(states, dtype=np.int32))
    np.testing.assert_allclose(found, expected, atol=2e-3)
    if switch == 3.0:
        assert bool((mu < switch).any()) and bool((mu >= switch).any())


@pytest.mark.slow
def test_the_5_puzzle_from_its_goal_alone(cases: Cases) -> None:
    """Caution costs expansions and gives optimal plans; both are far from a blind search."""
    task = cases["npuzzle-2x3"].task
    model = learned(
        task,
        iterations=12,
        tasks=10,
        least_solved=6,
        hidden=20,
        planner_steps=500,
        known_steps=300,
        max_steps=60,
    )
    starts = Walks(25, seed=1).tasks(task)
    blind = [hstar.solve(start, "blind", "astar") for start in starts]
    found = {
        alpha: [hstar.solve(start, model.with_rule(Quantile(1 - alpha)), "astar") for start in starts]
        for alpha in (0.5, 0.95)
    }

    def optimal(results: Any) -> float:
        return float(np.mean([a.plan_cost == b.plan_cost for a, b in zip(results, blind, strict=True)]))

    def expanded(results: Any) -> int:
        return sum(result.expanded for result in results)

    assert optimal(found[0.95]) >= 0.8 and optimal(found[0.95]) >= optimal(found[0.5])
    assert expanded(found[0.5]) < expanded(blind) / 2
    # The same model, calibrated by other starts.
    calibrated, _ = calibrate(model, Walks(20, seed=2).tasks(task), 0.8, rule=Quantile(0.1))
    assert calibrated.calibration is not None and calibrated.calibration.of == Quantile(0.1)
    assert optimal([hstar.solve(start, calibrated, "astar") for start in starts]) >= 0.6


# --- what cannot be learned ---------------------------------------------------------------------------


def test_tasks_that_are_refused(cases: Cases) -> None:
    for name, what in (("axioms", "axioms"), ("conditional", "conditional effects"), ("briefcase", "")):
        task = cases[name].task.with_unit_cost()
        with pytest.raises(UnsupportedError, match=f"has .*{what}: walks from its goal need regression"):
            learned(task)
    costs = cases["costs"].task
    with pytest.raises(UnsupportedError, match=r"has actions that do not cost 1.*--unit-cost"):
        learned(costs)
    assert learned(costs.with_unit_cost(), iterations=1).summary["solved"] == 4
    with pytest.raises(InputError, match=r"no action leads to the goal of problem\.pddl: nothing"):
        learned(cases["unsolvable"].task)
    for of_puzzles in ({"floor": True}, {"mirror": True}, {"inputs": "databases"}):
        with pytest.raises(InputError, match=f"{next(iter(of_puzzles))} is for puzzles alone"):
            learned(cases["npuzzle-2x3"].task, **of_puzzles)
    with pytest.raises(InputError, match="unknown profile of likely-admissible 'quicker'"):
        learned(cases["npuzzle-2x3"].task, profile="quicker")


def test_one_record_in_the_memory(task: hstar.Task) -> None:
    """What is remembered of a memory of one is the goal; the networks learn that."""
    model = learned(task, buffer=1)
    assert model.summary["states"] == 1
    # The only task there is: one step, of which both states are remembered.
    text = task_text([variable(size=3)], [0], "1\n0 1", [operator("go", [], ["0 0 0 1"], 1)])
    text = text.replace("Atom a0", "Atom at(here)").replace("Atom a1", "Atom at(there)")
    step = handmade("step", text).task
    found = learned(replace(step, name="step"))
    assert found.summary["states"] == 2 and found.summary["solved"] == 12
    assert hstar.solve(step, found, "astar").plan_cost == 1


def test_nothing_solved_is_no_mistake(task: hstar.Task) -> None:
    rows = told(learned(task, nodes=1))
    assert {row["solved"] for row in rows} <= {0, 1, 2} and rows[-1]["alpha"] == pytest.approx(0.89)


def test_profiles() -> None:
    default = check_task_options(None, {})
    assert (default.samples, default.nodes, default.iterations) == (0, 200_000, 30)
    assert check_task_options("paper", {}).samples == 100
    assert check_task_options("efficiency", {}).outputs == 1
    assert isinstance(default, LikelyAdmissibleOptions)
