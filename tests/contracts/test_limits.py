"""Heuristics and models keep a time limit on a large task, however slow one evaluation is."""

from __future__ import annotations

import random
from typing import Any

import pytest

import hstar
from hstar.models import models_of
from hstar.models.trained_model import TrainedModel
from hstar.recipes import train
from hstar.sampling.optimal import Optimal
from hstar.sampling.relational import RelationalData
from hstar.spaces.relations import vocabulary
from labelled import generated

LARGE = {"rovers": 8, "waypoints": 40, "objectives": 10, "cameras": 10, "goals": 60, "seed": 1}
HUGE = {"rovers": 10, "waypoints": 90, "objectives": 10, "cameras": 10, "goals": 60, "seed": 1}
SMALL = {"rovers": 1, "waypoints": 3, "objectives": 1, "cameras": 1, "goals": 2}
LIMIT_S, LATE_S, SILENCE_S = 0.3, 1.0, 0.05


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> hstar.Task:
    return generated(tmp_path_factory.mktemp("large"), "rovers", **LARGE)


@pytest.fixture(scope="module")
def model(data: RelationalData) -> TrainedModel[Any]:
    return train("wl", data, iterations=3, least_states=1)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> RelationalData:
    tasks = [generated(tmp_path_factory.mktemp("small"), "rovers", **SMALL, seed=seed) for seed in (1, 2, 3)]
    words = vocabulary(tasks[0])
    return RelationalData(words, tuple(Optimal().label(task, words, f"p{i}") for i, task in enumerate(tasks)))


def check(task: hstar.Task, heuristic: Any, search: str) -> None:
    result = hstar.solve(task, heuristic, search, time_limit=LIMIT_S)
    assert result.status == "time_limit"
    assert result.search_time < LIMIT_S + LATE_S


@pytest.mark.parametrize("name", [info.name for info in hstar.heuristics()])
def test_heuristics_keep_a_time_limit(large: hstar.Task, name: str) -> None:
    check(large, name, "astar")


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> hstar.Task:
    return generated(tmp_path_factory.mktemp("huge"), "rovers", **HUGE)


def longest_silence(task: hstar.Task, heuristic: Any, search: str) -> float:
    """The longest of the times from a limit on processor time to the end of the search.

    A search ends when it looks at the clock for the first time after the limit. A limit falls into a long
    time without a look more likely than into a short one, so that a few random ones find these.
    """
    rng, late = random.Random(f"{heuristic} {search}"), 0.0
    for _ in range(5):
        limit = 0.02 + 0.2 * rng.random()
        result = hstar.solve(task, heuristic, search, cpu_time_limit=limit)
        assert result.status == "time_limit"
        late = max(late, result.cpu_time - limit)
    return late


@pytest.mark.parametrize("search", ["astar", "lazy", "focal"])
@pytest.mark.parametrize("name", [info.name for info in hstar.heuristics()])
def test_searches_look_at_the_clock_every_50_ms(huge: hstar.Task, name: str, search: str) -> None:
    assert longest_silence(huge, name, search) < SILENCE_S


@pytest.mark.parametrize("search", ["gbfs", "lazy", "astar", "focal"])
def test_searches_with_colours_look_at_the_clock(
    huge: hstar.Task, model: TrainedModel[Any], search: str
) -> None:
    assert longest_silence(huge, model, search) < SILENCE_S


@pytest.mark.parametrize("search", ["gbfs", "lazy", "astar"])
def test_models_of_colours_keep_a_time_limit(tmp_path: Any, model: TrainedModel[Any], search: str) -> None:
    check(generated(tmp_path, "rovers", **HUGE), model, search)


@pytest.fixture(scope="module", params=[name for name in models_of("domain") if name != "wl"])
def other_model(request: pytest.FixtureRequest, data: RelationalData) -> TrainedModel[Any]:
    return train("truncated", data, model=request.param, updates=1)


@pytest.mark.parametrize("search", ["gbfs", "astar", "focal"])
def test_searches_with_other_models_look_at_the_clock(
    huge: hstar.Task, other_model: TrainedModel[Any], search: str
) -> None:
    """One state of this task has millions of triples of objects, of which `nlm` needs seconds."""
    hstar.solve(huge, other_model, search, time_limit=LIMIT_S)  # torch is started
    assert longest_silence(huge, other_model, search) < SILENCE_S
