"""Models of colours that follow changes of a state, against colour refinement of each state on its own."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import hstar
from hstar import _core
from hstar.models.wl import WLConfig, WLFeatures
from hstar.spaces.relations import native_relations, vocabulary
from labelled import generated, reachable, written

SIZES = {
    "blocksworld": {"blocks": 14},
    "ferry": {"locations": 8, "cars": 9},
    "gripper": {"balls": 12},
    "rovers": {"rovers": 2, "waypoints": 9, "objectives": 4, "cameras": 3, "goals": 6},
    "spanner": {"spanners": 6, "nuts": 4, "locations": 12},
}
# Nothing, one and the same object twice, an atom for which two goals stand, and a goal that is static.
ODD = (
    """(define (domain odd) (:predicates (on) (p ?x) (r ?x ?y) (s ?x ?y))
       (:action flip :parameters (?x ?y) :precondition (and (r ?x ?y) (s ?y ?x))
        :effect (and (not (r ?x ?y)) (r ?y ?x) (on) (p ?x)))
       (:action off :parameters (?x) :precondition (and (on) (p ?x))
        :effect (and (not (on)) (not (p ?x)) (r ?x ?x))))""",
    """(define (problem odd-1) (:domain odd) (:objects a b c d)
       (:init (r a b) (r c d) (r a a) (s a a) (s b a) (s d c) (s c d) (s a b) (s b b))
       (:goal (and (on) (p a) (p d) (r a a) (r d c) (s a a))))""",
)

States = npt.NDArray[np.int32]


def successors(task: hstar.Task, state: States) -> States:
    values = state.tolist()
    found = [task.core.successor(values, op) for op in task.core.applicable_operators(values)]
    return np.array(found, dtype=np.int32).reshape(-1, len(values))


@pytest.fixture(scope="module", params=[*SIZES, "odd"])
def task(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> hstar.Task:
    folder = tmp_path_factory.mktemp("tasks")
    if request.param == "odd":
        return written(folder, *ODD)
    return generated(folder, request.param, **SIZES[request.param], seed=1)


def walk(task: hstar.Task, steps: int, seed: int) -> States:
    random, state = np.random.default_rng(seed), np.array(task.core.initial_state, dtype=np.int32)
    found = [state]
    for _ in range(steps):
        following = successors(task, found[-1])
        found.append(following[random.integers(len(following))] if len(following) else state)
    return np.array(found)


class Models:
    """Weights are whole numbers, so that sums are exact in any order."""

    def __init__(self, task: hstar.Task, iterations: int, multiset: bool, seed: int = 0) -> None:
        self.task, random = task, np.random.default_rng(seed)
        words = vocabulary(task)
        native = native_relations(task, words)
        table = _core.ColourTable()
        table.count(task.core, native, reachable(task, 20), iterations, multiset, True)
        table.count(task.core, native, walk(task, 30, seed + 100), iterations, multiset, True)
        self.features = WLFeatures(words, WLConfig(iterations=iterations, multiset=multiset), table.colours)
        self.weights = random.integers(-(2**20), 2**20, (2, len(self.features))).astype(np.float64)
        self.bias = np.array([3.0, -5.0])
        self.units = random.integers(-9, 9, (6, len(self.features))).astype(np.float64)

    def linear(self, outputs: int = 2) -> _core.RawModel:
        return self.features.model(self.task, self.weights[:outputs], self.bias[:outputs])

    def network(self) -> _core.RawModel:
        """Its hidden units are whole numbers below 2 to the power of 24."""
        return self.features.model(self.task, self.units, np.ones(6), np.eye(6), np.zeros(6))

    def expected(self, states: States) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        counts = self.features.count_states(self.task, states).dense()
        return counts @ self.weights.T + self.bias, np.maximum(counts @ self.units.T + 1, 0)


@pytest.mark.parametrize("multiset", [False, True])
@pytest.mark.parametrize("iterations", range(5))
def test_values_are_those_of_each_state_on_its_own(task: hstar.Task, iterations: int, multiset: bool) -> None:
    """Along walks, back and forth, at random, and for all successors of a state."""
    models, random = Models(task, iterations, multiset), np.random.default_rng(7)
    states = np.vstack([walk(task, 25, 1), walk(task, 60, 2)])
    expected, hidden = models.expected(states)
    linear, first, network = models.linear(), models.linear(1), models.network()
    orders = [np.arange(len(states)), np.arange(len(states))[::-1], random.permutation(len(states))]
    for order in orders:
        assert (linear.raw(task.core, states[order]) == expected[order]).all()
        assert (first.raw(task.core, states[order]) == expected[order, :1]).all()
        assert (network.raw(task.core, states[order]) == hidden[order]).all()
    for number in random.permutation(len(states))[:30]:
        parent = states[number : number + 1]
        following = successors(task, parent[0])
        if not len(following):
            continue
        sums, units = models.expected(following)
        for model, right in ((linear, sums), (first, sums[:, :1]), (network, units)):
            assert (model.raw(task.core, following, parent) == right).all()
            assert (model.raw(task.core, following[::-1], parent) == right[::-1]).all()


@pytest.mark.parametrize("multiset", [False, True])
def test_values_do_not_depend_on_what_was_evaluated_before(task: hstar.Task, multiset: bool) -> None:
    """To the last bit, for weights of any size."""
    models, random = Models(task, 3, multiset), np.random.default_rng(5)
    weights = random.normal(size=models.weights.shape) * 10.0 ** random.integers(-9, 9, len(models.features))
    states = np.vstack([walk(task, 10, seed) for seed in range(8)])
    given = (
        models.features.model,
        (weights, models.bias),
        (models.units / 7, np.ones(6), np.eye(6), np.ones(6)),
    )
    for layers in given[1:]:
        alone = np.vstack([given[0](task, *layers).raw(task.core, state[None]) for state in states])
        model = given[0](task, *layers)
        for order in (np.arange(len(states)), random.permutation(len(states))):
            assert (model.raw(task.core, states[order]) == alone[order]).all()
        for parent, state in itertools.pairwise(range(len(states))):
            found = model.raw(task.core, states[[state, parent]], states[[parent]])
            assert (found == alone[[state, parent]]).all()


def test_searches_are_those_with_values_of_states_on_their_own(task: hstar.Task) -> None:
    models = Models(task, 2, False)

    def on_its_own(states: States) -> npt.NDArray[np.float64]:
        return models.expected(states)[0][:, :1]

    for search in ("gbfs", "lazy", "astar"):
        both = models.linear(1), _core.callback_model(on_its_own, 1, "alone")
        heuristics = [_core.believed_heuristic(task.native, model, name="wl", scale=1) for model in both]
        limits = _core.Limits(evaluations=2000)
        one, two = (_core.search(task.core, search, [h], limits=limits) for h in heuristics)
        for name in ("status", "plan", "expanded", "evaluated", "initial_h"):
            assert getattr(one, name) == getattr(two, name), (search, name)


def test_a_model_in_a_large_task_is_faster_than_colouring_all_of_it(tmp_path: Path) -> None:
    """By far: a comparison looks at a handful of blocks out of a hundred and fifty."""
    import time

    task = generated(tmp_path, "blocksworld", blocks=150, seed=1)
    models = Models(task, 2, True)
    parent = np.array([task.core.initial_state], dtype=np.int32)
    states = np.vstack([successors(task, parent[0])] * 100)[:3000]
    model, times = models.linear(1), []
    for run in (
        lambda: model.raw(task.core, states, parent),
        lambda: models.features.count_states(task, states),
    ):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    assert times[0] < times[1]
