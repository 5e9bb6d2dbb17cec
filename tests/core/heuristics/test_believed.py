"""Models with estimates and rules in the search: what they compute, dead ends, and who owns their parts."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
import torch

import hstar
from conftest import Case, Cases
from hstar import _core
from hstar.errors import InputError
from hstar.estimates import Clip, Estimate, Known, Mean, Quantile, Rule
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.point import Point
from hstar.estimates.truncated import TruncatedGaussian
from hstar.models.wl import WLConfig, WLFeatures
from hstar.sampling.relational import RelationalData, instance_of
from hstar.search.heuristics import evaluate, relaxed_plan
from hstar.spaces.relations import native_relations, vocabulary
from native import belief

INF, NAN = math.inf, math.nan
SCALE = 65536

Numbers = npt.NDArray[np.float64]
States = npt.NDArray[np.int32]


def states_of(case: Case) -> States:
    return np.array(case.states, dtype=np.int32)


def goals(case: Case) -> npt.NDArray[np.bool_]:
    return np.array([case.oracle.is_goal(state) for state in case.states])


def symbolic(task: hstar.Task | _core.Task, name: str) -> _core.Heuristic:
    return _core.symbolic_heuristic(task if isinstance(task, _core.Task) else task.core, name)


def table_model(case: Case, raw: Numbers) -> _core.RawModel:
    """A Python model that knows the outputs of all states of a case."""
    numbers = dict(zip(case.states, raw, strict=True))
    return _core.callback_model(
        lambda states: np.array([numbers[tuple(state)] for state in states.tolist()]), raw.shape[1], "table"
    )


def believed(case: Case, raw: Numbers, **given: object) -> _core.Heuristic:
    return with_belief(
        case.task.core, table_model(case, raw), **{"name": "believed", "scale": SCALE, **given}
    )


def with_belief(core: _core.Task, model: _core.RawModel, **given: object) -> _core.Heuristic:
    made, others = belief(given)
    return _core.believed_heuristic(core, model, belief=made, **others)


@pytest.fixture(scope="module")
def blocks(cases: Cases) -> Case:
    return cases["blocksworld-4"]


@pytest.fixture(scope="module")
def match(cases: Cases) -> Case:
    """With states that are dead ends, as the relaxation shows."""
    return cases["one-match"]


# --- values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimate", "rule", "given"),
    [
        (Point(), Mean(), {}),
        (Point(), Clip(Mean(), 0.0, 6.0), {"clip": True, "clip_lower": 0.0, "clip_upper": 6.0}),
        (Gaussian(1.5), Quantile(0.1), {"estimate": "gaussian", "sigma": 1.5, "level": 0.1}),
        (Gaussian(), Clip(), {"estimate": "gaussian", "clip": True, "clip_lower": 0.0}),
        (TruncatedGaussian(), Mean(), {"estimate": "truncated"}),
        (
            TruncatedGaussian(floor=0.3, range=4.0, margin=0.2),
            Quantile(0.7),
            {"estimate": "truncated", "floor": 0.3, "range": 4.0, "margin": 0.2, "level": 0.7},
        ),
    ],
)
@pytest.mark.parametrize(
    ("base", "lower"),
    [(None, None), ("ff", None), (None, "lmcut"), ("ff", "lmcut"), ("lmcut", "lmcut"), ("add", "hmax")],
)
def test_values_are_those_of_python(
    blocks: Case,
    estimate: Estimate,
    rule: Rule,
    given: dict[str, object],
    base: str | None,
    lower: str | None,
) -> None:
    rng = np.random.default_rng(1)
    raw = rng.normal(0, 5, (len(blocks.states), estimate.outputs))
    parts = {"base": base, "lower": lower}
    found = believed(
        blocks, raw, **given, **{key: symbolic(blocks.task, name) for key, name in parts.items() if name}
    )
    known = {
        key: torch.from_numpy(evaluate(blocks.task, name, blocks.states))
        for key, name in parts.items()
        if name
    }
    expected = rule.value(estimate, torch.from_numpy(raw), Known(**known)).clamp(min=0).numpy()
    expected[goals(blocks)] = 0
    assert found.evaluate(states_of(blocks)) == pytest.approx(expected, rel=1e-9, abs=0.51 / SCALE)
    assert (found.name, found.admissible, found.consistent) == ("believed", False, False)


def test_great_values_are_no_dead_ends(blocks: Case) -> None:
    raw = np.full((len(blocks.states), 1), 1e300)
    values = believed(blocks, raw).evaluate(states_of(blocks))
    assert np.isfinite(values).all() and (values[~goals(blocks)] > 8000).all()


def test_values_of_parts_that_are_scaled(blocks: Case) -> None:
    base = _core.callback_heuristic(blocks.task.core, lambda states: np.full(len(states), 2.25), "base", 4)
    values = believed(blocks, np.full((len(blocks.states), 1), 0.5), base=base).evaluate(states_of(blocks))
    assert set(values) == {0, 2.75}


# --- models -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def features(blocks: Case) -> tuple[WLFeatures, _core.RelationalTask, Numbers]:
    """Features of half of the states, the task for them, and the counts of all states."""
    words, states = vocabulary(blocks.task), states_of(blocks)
    found = WLFeatures(words, WLConfig(iterations=2, multiset=True))
    label = np.zeros(len(states[::2]), dtype=np.float32)
    found.collect(
        RelationalData(words, (instance_of("p", blocks.task, words, states[::2], {"label": label}),))
    )
    counts = found.count_states(blocks.task, states).dense()
    assert counts.shape[1] == len(found) > 20
    return found, native_relations(blocks.task, words), counts


def test_colours_are_summed(blocks: Case, features: tuple[WLFeatures, _core.RelationalTask, Numbers]) -> None:
    found, native, counts = features
    rng = np.random.default_rng(2)
    table = _core.ColourTable.of(found.colours)
    for outputs in (1, 2, 3):
        weights, bias = rng.normal(size=(len(found), outputs)), rng.normal(size=outputs)
        model = _core.colour_model(blocks.task.core, native, table, 2, True, weights, bias)
        assert model.outputs == outputs
        raw = model.raw(blocks.task.core, states_of(blocks))
        np.testing.assert_allclose(raw, counts @ weights + bias, rtol=1e-9, atol=1e-9)


def test_colours_into_a_network(
    blocks: Case, features: tuple[WLFeatures, _core.RelationalTask, Numbers]
) -> None:
    found, native, counts = features
    rng = np.random.default_rng(3)

    def random(*shape: int) -> npt.NDArray[np.float32]:
        return (rng.normal(size=shape) / 3).astype(np.float32)

    rows, bias, head, head_bias = random(len(found), 24), random(24), random(2, 24), random(2)
    network = _core.Network.make(rows, bias, [], head, head_bias, False)
    table = _core.ColourTable.of(found.colours)
    model = _core.colour_model(blocks.task.core, native, table, 2, True, network)
    expected = np.maximum(counts @ rows + bias, 0) @ head.T + head_bias
    np.testing.assert_allclose(model.raw(blocks.task.core, states_of(blocks)), expected, rtol=1e-4, atol=1e-4)
    heuristic = with_belief(blocks.task.core, model, estimate="gaussian", name="network", scale=SCALE)
    values = heuristic.evaluate(states_of(blocks))
    inside = ~goals(blocks)
    assert values[inside] == pytest.approx(np.maximum(expected[inside, 0], 0), rel=1e-4, abs=1e-4)
    assert heuristic.safe


@pytest.mark.parametrize("name", ["blocksworld-4", "one-match", "zero-costs", "random-a16", "random-c13"])
def test_numbers_of_relaxed_plans(cases: Cases, name: str) -> None:
    case = cases[name]
    weights, bias = np.eye(4) + 0.25, np.arange(4.0)
    found = _core.linear_model(case.task.core, weights, bias).raw(case.task.core, states_of(case))
    assert np.isfinite(found[0]).all()
    for state, outputs in zip(case.states, found, strict=True):
        plan = relaxed_plan(case.task, state)
        if plan is None:
            assert (outputs == INF).all()
            continue
        (unsatisfied,) = evaluate(case.task, "goalcount", [state])
        operators, deletes = len(plan.operators), plan.ignored_deletes
        inputs = np.array([unsatisfied, operators, deletes, deletes / operators if operators else 0])
        np.testing.assert_allclose(outputs, weights @ inputs + bias)


def test_a_function_is_called_once_for_a_batch(blocks: Case) -> None:
    sizes: list[int] = []

    def model(states: States) -> Numbers:
        assert states.dtype == np.int32 and states.shape[1] == blocks.task.core.num_variables
        sizes.append(len(states))
        return np.zeros((len(states), 1), dtype=np.float32)

    core = blocks.task.core
    heuristic = with_belief(
        core,
        _core.callback_model(model, 1, "zero"),
        base=symbolic(core, "ff"),
        name="ff + 0",
        scale=1,
    )
    result = _core.search(core, "gbfs", [heuristic])
    plain = _core.search(core, "gbfs", [symbolic(core, "ff")])
    assert (result.status, result.plan) == ("solved", plain.plan) and result.evaluated == plain.evaluated
    assert sum(sizes) == result.evaluated and len(sizes) <= result.expanded + 1 and max(sizes) > 1


@pytest.mark.parametrize(
    ("answer", "outputs", "message"),
    [
        (lambda n: np.zeros(n), 1, r"model 'wrong' must return one number .* shape \(\d+, 1\)"),
        (lambda n: np.zeros((n, 1)), 2, r"model 'wrong' must return 2 numbers .* shape \(\d+, 2\)"),
        (lambda n: np.zeros((n + 1, 1)), 1, "must return one number for each"),
        (lambda n: 0.0, 1, "must return one number for each"),
    ],
)
def test_answers_of_the_wrong_shape(
    blocks: Case, answer: Callable[[int], object], outputs: int, message: str
) -> None:
    model = _core.callback_model(lambda states: answer(len(states)), outputs, "wrong")
    with pytest.raises(InputError, match=message):
        model.raw(blocks.task.core, states_of(blocks))


def test_what_a_function_raises_reaches_the_caller(blocks: Case) -> None:
    calls = []

    def breaks(states: States) -> Numbers:
        calls.append(len(states))
        if len(calls) == 3:
            raise ZeroDivisionError("the third time")
        return np.ones((len(states), 1))

    heuristic = with_belief(
        blocks.task.core, _core.callback_model(breaks, 1, "breaks"), name="breaks", scale=1
    )
    with pytest.raises(ZeroDivisionError, match="the third time"):
        _core.search(blocks.task.core, "gbfs", [heuristic])
    assert len(calls) == 3


@pytest.mark.parametrize("name", ["blocksworld-4", "npuzzle-2x3", "costs", "zero-costs", "reopening"])
def test_bounded_values_keep_plans_within_the_bound(cases: Cases, name: str) -> None:
    """Whatever the model says, and whatever operators cost."""
    case = cases[name]
    core, rng = case.task.core, np.random.default_rng(7)
    lower = np.array(evaluate(case.task, "lmcut", case.states))
    for trial in range(40):
        raw = rng.normal(0, 20, (len(case.states), 1)) * rng.choice([0.1, 1, 100])
        eps = float(rng.choice([1.0, 1.01, 1.4, 2.0, 7.0]))
        heuristic = believed(case, raw, eps=eps, lower=symbolic(core, "lmcut"), scale=64)
        values = np.array(heuristic.evaluate(states_of(case)))
        finite = np.isfinite(lower)
        assert (values[finite] <= eps * lower[finite] + 1e-9).all(), "rounded down"
        assert (values >= np.where(goals(case), 0, lower) - 1e-9).all()
        result = _core.search(core, "astar", [heuristic])
        assert result.status == "solved"
        cost = sum(core.operator(op).cost for op in result.plan)
        assert case.optimum <= cost <= eps * case.optimum + 1e-9, trial


def test_bounded_needs_a_bound(blocks: Case) -> None:
    with pytest.raises(InputError, match="heuristic 'believed': the rule 'bounded' needs a lower bound"):
        believed(blocks, np.zeros((len(blocks.states), 1)), eps=2.0)


# --- dead ends, goals, NaN --------------------------------------------------------------------------


def test_a_safe_part_tells_dead_ends(match: Case) -> None:
    states, n = states_of(match), len(match.states)
    dead = np.isinf(evaluate(match.task, "ff", match.states))
    assert 0 < dead.sum() < n
    for parts in ({"base": "ff"}, {"lower": "lmcut"}, {"base": "add", "lower": "hmax"}):
        for clip in ({}, {"clip": True, "clip_upper": 5.0}):
            native = {key: symbolic(match.task, name) for key, name in parts.items()}
            heuristic = believed(match, np.ones((n, 1)), **native, **clip)
            assert (np.isinf(heuristic.evaluate(states)) == dead).all()
    core = match.task.core
    linear = _core.linear_model(core, np.ones((1, 4)), np.zeros(1))
    clipped = with_belief(core, linear, clip=True, clip_upper=5.0, name="linear", scale=1)
    assert (np.isinf(clipped.evaluate(states)) == dead).all() and clipped.safe


def test_infinite_values_of_a_part_that_is_not_safe(match: Case) -> None:
    """They are numbers like others: an upper bound of the clip takes them down, nothing else does."""
    core, states, n = match.task.core, states_of(match), len(match.states)
    inside = ~goals(match)

    def base() -> _core.Heuristic:
        return _core.callback_heuristic(core, lambda rows: np.full(len(rows), INF), "infinite", 1)

    def values(heuristic: _core.Heuristic) -> set[float]:
        assert not heuristic.safe
        return set(heuristic.evaluate(states)[inside])

    one = np.ones((n, 1))
    assert values(believed(match, one, base=base())) == {INF}
    assert values(believed(match, one, base=base(), estimate="truncated", sigma=1.0)) == {INF}
    assert values(believed(match, one, base=base(), clip=True, clip_upper=7.0)) == {7}
    assert values(believed(match, one * INF)) == {INF}
    assert values(believed(match, one * INF, clip=True, clip_upper=7.0)) == {7}
    # What a safe part says beside it still counts.
    dead = np.isinf(evaluate(match.task, "hmax", match.states))
    both = believed(match, one, base=base(), lower=symbolic(core, "hmax"), clip=True, clip_upper=7.0)
    assert (np.isinf(both.evaluate(states)) == dead).all()


def test_safety_follows_from_the_parts(blocks: Case) -> None:
    core = blocks.task.core
    zero = {"name": "h", "scale": 1}

    def linear() -> _core.RawModel:
        return _core.linear_model(core, np.ones((1, 4)), np.zeros(1))

    def unsafe() -> _core.Heuristic:
        return _core.callback_heuristic(core, lambda rows: np.zeros(len(rows)), "zero", 1)

    assert with_belief(core, linear(), **zero).safe
    both = {"base": symbolic(core, "ff"), "lower": symbolic(core, "hmax")}
    assert with_belief(core, linear(), **both, **zero).safe
    assert not with_belief(core, linear(), base=unsafe(), **zero).safe
    assert not believed(blocks, np.zeros((len(blocks.states), 1))).safe


@pytest.mark.parametrize("given", [{}, {"estimate": "gaussian"}, {"estimate": "truncated", "level": 0.5}])
def test_nan_is_an_error_that_names_the_heuristic(blocks: Case, given: dict[str, object]) -> None:
    outputs = 2 if given else 1
    for column in range(outputs):
        raw = np.ones((len(blocks.states), outputs))
        raw[:, column] = NAN
        heuristic = believed(blocks, raw, name="broken", **given)
        with pytest.raises(InputError, match="heuristic 'broken': the model gives NaN"):
            heuristic.evaluate(states_of(blocks))
        assert (heuristic.evaluate(states_of(blocks)[goals(blocks)]) == 0).all()
        with pytest.raises(InputError, match="heuristic 'broken': the model gives NaN"):
            _core.search(blocks.task.core, "gbfs", [heuristic])


def test_nan_of_infinities_that_contradict(match: Case) -> None:
    base = _core.callback_heuristic(match.task.core, lambda rows: np.full(len(rows), INF), "infinite", 1)
    heuristic = believed(match, np.full((len(match.states), 1), -INF), base=base)
    with pytest.raises(InputError, match="the model gives NaN"):
        heuristic.evaluate(states_of(match))


# --- tasks and parts --------------------------------------------------------------------------------


def test_parts_of_the_task_without_costs(cases: Cases) -> None:
    """Base, bound and model count operators, the search counts costs; nobody else holds the twin."""
    case = cases["zero-costs"]
    core, states = case.task.core, states_of(case)

    def make() -> tuple[_core.Heuristic, Numbers]:
        twin = _core.Task.parse(case.text.encode(), unit_cost=True)
        expected = np.maximum(
            symbolic(twin, "ff").evaluate(states)
            + _core.linear_model(twin, np.full((1, 4), 0.5), np.zeros(1)).raw(twin, states)[:, 0],
            symbolic(twin, "lmcut").evaluate(states),
        )
        model = _core.linear_model(twin, np.full((1, 4), 0.5), np.zeros(1))
        parts = {"base": symbolic(twin, "ff"), "lower": symbolic(twin, "lmcut")}
        return with_belief(core, model, clip=True, **parts, name="twin", scale=SCALE), expected

    heuristic, expected = make()
    gc.collect()
    expected[goals(case)] = 0
    assert heuristic.evaluate(states) == pytest.approx(expected)
    costly = symbolic(core, "ff").evaluate(states)
    assert not np.allclose(expected, costly)
    combined = _core.combined_heuristic(core, "max", [heuristic, symbolic(core, "blind")])
    del heuristic
    gc.collect()
    result = _core.search(core, "gbfs", [combined])
    assert result.status == "solved"


@pytest.mark.parametrize("search", [info.name for info in hstar.searches()])
def test_searches(blocks: Case, search: str) -> None:
    core = blocks.task.core
    heuristic = with_belief(
        core,
        _core.linear_model(core, np.array([[0.5, 0, 0.1, 0]]), np.zeros(1)),
        base=symbolic(core, "ff"),
        lower=symbolic(core, "lmcut"),
        estimate="truncated",
        sigma=1.0,
        name="linear",
        scale=1024,
    )
    result = _core.search(core, search, [heuristic], limits=_core.Limits(evaluations=100_000))
    assert result.status == "solved" and len(result.plan) >= blocks.optimum


def test_parts_are_taken_over(blocks: Case) -> None:
    core, states = blocks.task.core, states_of(blocks)
    model = table_model(blocks, np.ones((len(states), 1)))
    base, lower = symbolic(core, "lmcut"), symbolic(core, "lmcut")
    heuristic = with_belief(core, model, base=base, lower=lower, name="h", scale=1)
    expected = symbolic(core, "lmcut").evaluate(states) + 1
    expected[goals(blocks)] = 0
    assert (heuristic.evaluate(states) == expected).all()
    for part in (base, lower):
        with pytest.raises(InputError, match="this heuristic is part of another now"):
            part.evaluate(states)
    with pytest.raises(InputError, match="this model is part of a heuristic now"):
        model.raw(core, states)
    with pytest.raises(InputError, match="this model is part of a heuristic now"):
        with_belief(core, model, name="again", scale=1)
    # One object may be both.
    both = symbolic(core, "lmcut")
    shared = believed(
        blocks, np.ones((len(states), 1)), base=both, lower=both, estimate="truncated", sigma=2.0
    )
    apart = believed(
        blocks,
        np.ones((len(states), 1)),
        base=symbolic(core, "lmcut"),
        lower=_core.combined_heuristic(core, "max", [symbolic(core, "lmcut")]),
        estimate="truncated",
        sigma=2.0,
    )
    assert (shared.evaluate(states) == apart.evaluate(states)).all()


def test_what_does_not_fit_leaves_the_parts_as_they_are(blocks: Case, match: Case) -> None:
    core, states = blocks.task.core, states_of(blocks)
    model = table_model(blocks, np.ones((len(states), 1)))
    ff, other = symbolic(core, "ff"), symbolic(match.task, "ff")
    foreign = _core.linear_model(match.task.core, np.ones((1, 4)), np.zeros(1))

    def refused(message: str, model: _core.RawModel = model, **given: object) -> None:
        with pytest.raises(InputError, match=message):
            with_belief(core, model, **{"name": "h", "scale": 1, **given})

    refused("heuristic 'h': 'ff' is not admissible and so no lower bound", lower=ff)
    refused("heuristic 'h': the model gives 1 numbers, the estimate 'gaussian' needs 2", estimate="gaussian")
    refused("heuristic 'ff' was made for a task with other variables or another goal", base=other)
    refused("the model was made for a task with other variables or another goal", model=foreign)
    refused("the scale must be in 1..65536", scale=0)
    with pytest.raises(InputError, match="the model was made for a task with other variables"):
        foreign.raw(core, states)
    heuristic = with_belief(core, model, base=ff, name="h", scale=1)
    assert heuristic.evaluate(states).max() == evaluate(blocks.task, "ff", states).max() + 1
    assert foreign.raw(match.task.core, states_of(match)).shape == (len(match.states), 1)


def test_weights_that_do_not_fit(
    blocks: Case, features: tuple[WLFeatures, _core.RelationalTask, Numbers]
) -> None:
    found, native, _ = features
    core, table = blocks.task.core, _core.ColourTable.of(found.colours)
    n = len(found)

    def colours(weights: Numbers, bias: Numbers) -> None:
        _core.colour_model(core, native, table, 2, True, weights, bias)

    with pytest.raises(InputError, match=f"{n - 1} weights for {n} colours and 1 outputs"):
        colours(np.zeros((n - 1, 1)), np.zeros(1))
    with pytest.raises(InputError, match="a column for each output"):
        colours(np.zeros((n, 2)), np.zeros(1))
    with pytest.raises(InputError, match="a weight of the colours is not a finite number"):
        colours(np.full((n, 1), NAN), np.zeros(1))
    network = _core.Network.make(
        np.zeros((n + 1, 8), np.float32),
        np.zeros(8, np.float32),
        [],
        np.zeros((1, 8), np.float32),
        np.zeros(1, np.float32),
        False,
    )
    with pytest.raises(InputError, match=f"the network has {n + 1} inputs for {n} colours"):
        _core.colour_model(core, native, table, 2, True, network)
    with pytest.raises(InputError, match="3 weights for 4 numbers of a relaxed plan and 1 outputs"):
        _core.linear_model(core, np.zeros((1, 3)), np.zeros(1))
    with pytest.raises(InputError, match="a row for each output"):
        _core.linear_model(core, np.zeros((2, 4)), np.zeros(1))
    with pytest.raises(InputError, match="not a finite number"):
        _core.linear_model(core, np.zeros((1, 4)), np.full(1, INF))
    with pytest.raises(InputError, match="at least one output"):
        _core.callback_model(len, 0, "none")
