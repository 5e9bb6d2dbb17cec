"""Every heuristic of the registry against what it declares, on all states of small tasks; combinations.

A new entry of `hstar.heuristics()` is tested here the moment it exists.
"""

from __future__ import annotations

import math
import random
import subprocess
import sys

import numpy as np
import pytest

import hstar
from conftest import AXIOMATIC, CONDITIONED, SMALL, Case, Cases, supported
from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.search.heuristics import build, evaluate

INFO = {info.name: info for info in hstar.heuristics()}
SEARCHES = [info.name for info in hstar.searches()]


def values(case: Case, heuristic: object) -> dict[tuple[int, ...], float]:
    """h of all reachable states."""
    return dict(zip(case.states, evaluate(case.task, heuristic, case.states).tolist(), strict=True))


@pytest.fixture(params=INFO)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


ABLE = pytest.mark.parametrize(
    ("case", "name"), [(case, name) for case in SMALL for name in supported(case)], indirect=True
)


# --- what is declared ---------------------------------------------------------------------------


def test_what_cases_have_is_known(case: Case) -> None:
    known = case.name in AXIOMATIC, case.name in CONDITIONED
    assert (bool(case.oracle.axioms), case.task.core.has_conditional_effects) == known


@ABLE
def test_properties_hold_against_exact_values(case: Case, name: str) -> None:
    info, h = INFO[name], values(case, name)
    for state, exact in case.exact.items():
        assert h[state] >= 0
        if case.oracle.is_goal(state):
            assert h[state] == 0, f"{name} is not 0 at the goal {state}"
        if info.admissible:
            assert h[state] <= exact, f"{name} overestimates {state}"
        if info.safe and h[state] == math.inf:
            assert exact == math.inf, f"{name} takes {state} for a dead end"
        if info.consistent:
            for index in case.task.core.applicable_operators(state):
                target = tuple(case.task.core.successor(state, index))
                cost = case.oracle.operators[index].cost
                assert h[state] <= cost + h[target], f"{name} is inconsistent from {state} by {index}"


def test_the_instance_declares_what_the_registry_says(cases: Cases, name: str) -> None:
    native, info = build(cases["blocks"].task, name), INFO[name]
    claims = (native.name, native.admissible, native.consistent, native.safe)
    assert claims == (info.name, info.admissible, info.consistent, info.safe)


def test_declarations_imply_each_other(name: str) -> None:
    info = INFO[name]
    assert info.admissible or not info.consistent, "consistent and 0 at goals implies admissible"
    assert info.safe or not info.admissible, "admissible implies safe"
    assert info.description
    assert info.reference


@pytest.mark.parametrize("name", [name for name in INFO if not INFO[name].admissible], indirect=True)
def test_inadmissible_ones_do_overestimate(cases: Cases, name: str) -> None:
    """Otherwise the declaration would be needlessly weak, or the test above blind."""
    names = ["blocks", "costs", "ferry-3-2", "npuzzle-2x3", "zero-costs", "random-ca5"]
    over = [
        state
        for case in map(cases.__getitem__, names)
        for state, h in values(case, name).items()
        if h > case.exact[state]
    ]
    assert over


@pytest.mark.parametrize(
    ("feature", "small"), [("axioms", "negated"), ("conditional_effects", "conditional"), ("axioms", "reach")]
)
def test_what_is_not_supported_is_refused_with_an_alternative(
    cases: Cases, name: str, feature: str, small: str
) -> None:
    task = cases[small].task
    if getattr(INFO[name], f"supports_{feature}"):
        assert build(task, name).name == name
        return
    with pytest.raises(UnsupportedError) as caught:
        build(task, name)
    message = str(caught.value)
    assert f"'{name}'" in message
    assert feature.replace("_", " ") in message
    alternatives = [other for other in INFO if other in message.split("use ")[1]]
    assert alternatives
    assert all(getattr(INFO[other], f"supports_{feature}") for other in alternatives)


def test_unknown_names_are_answered_with_the_known_ones(cases: Cases) -> None:
    with pytest.raises(InputError, match=r"unknown heuristic 'lmcutt' .*did you mean 'lmcut'"):
        build(cases["chain"].task, "lmcutt")
    with pytest.raises(InputError, match="not a heuristic: 3"):
        build(cases["chain"].task, 3)  # type: ignore[arg-type]


# --- how they are evaluated ---------------------------------------------------------------------


@ABLE
def test_batches_orders_and_history_do_not_matter(case: Case, name: str) -> None:
    native = build(case.task, name)
    states = np.array(case.states, dtype=np.int32)
    batch = native.evaluate(states)
    single = [build(case.task, name).evaluate(states[i : i + 1])[0] for i in range(len(states))]
    assert batch.tolist() == single
    order = random.Random(0).sample(range(len(states)), len(states))
    for i in order:
        assert native.evaluate(states[i : i + 1])[0] == batch[i]
    assert native.evaluate(states[order]).tolist() == batch[order].tolist()
    _core.search(case.task.core, "gbfs", [native], limits=_core.Limits(expansions=50))
    assert native.evaluate(states).tolist() == batch.tolist()


@pytest.mark.parametrize("name", supported("reach"), indirect=True)
def test_derived_variables_are_recomputed(cases: Cases, name: str) -> None:
    case = cases["reach"]
    layers = case.task.core.axiom_layers
    states = np.array(case.states, dtype=np.int32)
    garbled = states.copy()
    for column, layer in enumerate(layers):
        if layer >= 0:
            garbled[:, column] = 1 - garbled[:, column]
    assert (garbled != states).any()
    assert evaluate(case.task, name, garbled).tolist() == evaluate(case.task, name, states).tolist()


def test_no_states_give_no_values(cases: Cases, name: str) -> None:
    task = cases["blocks"].task
    assert evaluate(task, name, np.empty((0, task.core.num_variables), dtype=np.int32)).shape == (0,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s[:, :-1], "values, not"),
        (lambda s: np.where(np.arange(s.shape[1]) == 0, -1, s), "value -1 of "),
        (lambda s: np.where(np.arange(s.shape[1]) == 1, 99, s), "value 99 of "),
    ],
)
def test_states_of_another_shape_or_range_are_refused(
    cases: Cases, name: str, change: object, message: str
) -> None:
    case = cases["blocks"]
    states = np.array(case.states, dtype=np.int32)
    with pytest.raises(InputError, match=message):
        evaluate(case.task, name, change(states))  # type: ignore[operator]


# --- max and sum --------------------------------------------------------------------------------


@pytest.mark.parametrize("small", ["blocks", "costs", "zero-costs", "one-match", "random-44", "random-ca3"])
def test_combinations_are_elementwise(cases: Cases, small: str) -> None:
    case = cases[small]
    one, other = values(case, "hmax"), values(case, "goalcount")
    largest, total = (
        values(case, hstar.Max("hmax", "goalcount")),
        values(case, hstar.Sum("hmax", "goalcount")),
    )
    for state in case.states:
        assert largest[state] == max(one[state], other[state])
        assert total[state] == one[state] + other[state]
    nested = values(case, hstar.Max(hstar.Sum("blind", "goalcount"), "hmax"))
    blind = values(case, "blind")
    assert nested == {s: max(blind[s] + other[s], one[s]) for s in case.states}


def test_a_maximum_of_admissible_ones_is_admissible(case: Case) -> None:
    parts = [name for name in case.supported if INFO[name].admissible]
    native = build(case.task, hstar.Max(*parts))
    assert native.admissible
    assert native.consistent == all(INFO[name].consistent for name in parts)
    assert native.safe
    h = native.evaluate(np.array(case.states, dtype=np.int32))
    assert all(value <= case.exact[state] for value, state in zip(h, case.states, strict=True))


def test_combinations_claim_no_more_than_they_can(cases: Cases) -> None:
    task = cases["blocks"].task
    assert not build(task, hstar.Max("lmcut", "ff")).admissible
    assert not build(task, hstar.Max("lmcut", "hmax")).consistent
    assert build(task, hstar.Max("hmax", "blind")).consistent
    total = build(task, hstar.Sum("hmax", "blind"))
    assert (total.admissible, total.consistent, total.safe) == (False, False, True)
    assert not build(task, hstar.Max("hmax", lambda states: np.zeros(len(states)))).safe
    assert build(task, hstar.Sum("hmax", hstar.Max("ff", "add"))).name == "sum(hmax, max(ff, add))"


def test_combinations_need_parts_that_fit(cases: Cases) -> None:
    for combination in (hstar.Max, hstar.Sum):
        with pytest.raises(InputError, match="needs at least one heuristic"):
            combination()
    thirds = hstar.BatchHeuristic(lambda states: np.zeros(len(states)), "thirds", resolution=3)
    halves = hstar.BatchHeuristic(lambda states: np.zeros(len(states)), "halves", resolution=4)
    with pytest.raises(UnsupportedError, match="1/4 and 1/3"):
        build(cases["chain"].task, hstar.Max(thirds, halves))


def test_parts_with_finer_units_keep_them(cases: Cases) -> None:
    case = cases["chain"]
    quarter = hstar.BatchHeuristic(lambda states: np.full(len(states), 0.25), resolution=4)
    total = values(case, hstar.Sum("blind", quarter, hstar.BatchHeuristic(lambda s: np.full(len(s), 0.5))))
    blind = values(case, "blind")
    assert total == {state: blind[state] + 0.75 for state in case.states}


def test_a_dead_end_needs_a_safe_part_or_all(cases: Cases) -> None:
    """In the chain's trap hmax is infinite; a function that always is, is not believed on its own."""
    case = cases["chain"]

    def never(states: np.ndarray) -> np.ndarray:
        return np.full(len(states), np.inf)

    for combination in (hstar.Max, hstar.Sum):
        assert values(case, combination("hmax", never)) == values(case, "hmax")
        assert set(values(case, combination(never, never)).values()) == {math.inf}


# --- functions as heuristics --------------------------------------------------------------------


def goal_count(case: Case) -> hstar.BatchHeuristic:
    columns = [fact[0] for fact in case.task.core.goal]
    wanted = [fact[1] for fact in case.task.core.goal]
    return hstar.BatchHeuristic(lambda states: (states[:, columns] != wanted).sum(axis=1), "mine")


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("ties", ["fifo", "lifo", "random"])
def test_a_python_goal_count_searches_like_the_native_one(case: Case, search: str, ties: str) -> None:
    options = {"ties": ties, "seed": 3, "max_expansions": 300}
    native = hstar.solve(case.task, "goalcount", search, **options)
    python = hstar.solve(case.task, goal_count(case), search, **options)
    for field in ("status", "plan", "expanded", "evaluated", "generated", "reopened", "initial_h"):
        assert getattr(native, field) == getattr(python, field), field


def test_a_function_gets_whole_batches_of_new_states(cases: Cases) -> None:
    case = cases["blocks"]
    seen: list[np.ndarray] = []

    def record(states: np.ndarray) -> np.ndarray:
        seen.append(states)
        return np.zeros(len(states))

    result = hstar.solve(case.task, record, "gbfs")
    width = case.task.core.num_variables
    assert all(batch.dtype == np.int32 and batch.shape[1] == width for batch in seen)
    rows = [tuple(row) for batch in seen for row in batch.tolist()]
    assert len(rows) == result.evaluated == len(set(rows))
    assert set(rows) <= set(case.states)
    assert rows[0] == case.oracle.initial
    assert len(seen) <= result.expanded + 1


def test_a_function_may_keep_and_change_its_states(cases: Cases) -> None:
    case = cases["blocks"]

    def spoil(states: np.ndarray) -> np.ndarray:
        counts = (states[:, [v for v, _ in case.task.core.goal]] != 0).sum(axis=1)
        states[:] = 0
        return counts

    def clean(states: np.ndarray) -> np.ndarray:
        return (states[:, [v for v, _ in case.task.core.goal]] != 0).sum(axis=1)

    one, other = (hstar.solve(case.task, function, "astar") for function in (spoil, clean))
    assert (one.plan, one.expanded, one.evaluated) == (other.plan, other.expanded, other.evaluated)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda states: np.zeros(len(states) + 1),
        lambda states: np.zeros((len(states), 1)),
        lambda states: [],
    ],
)
@pytest.mark.parametrize("search", SEARCHES)
def test_a_wrong_shape_is_refused_by_name(cases: Cases, wrong: object, search: str) -> None:
    heuristic = hstar.BatchHeuristic(wrong, "crooked")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"'crooked' must return one number for each of its \d+ states"):
        hstar.solve(cases["blocks"].task, heuristic, search)


def test_one_number_for_several_states_is_refused(cases: Cases) -> None:
    with pytest.raises(InputError, match="one number for each"):
        hstar.solve(cases["blocks"].task, lambda states: [1.0], "gbfs")


@pytest.mark.parametrize("search", SEARCHES)
def test_nan_is_refused_and_exceptions_pass(cases: Cases, search: str) -> None:
    task = cases["blocks"].task

    def nan(states: np.ndarray) -> np.ndarray:
        return np.where(np.arange(len(states)) == len(states) - 1, np.nan, 1.0)

    def broken(states: np.ndarray) -> np.ndarray:
        raise KeyError("no such fact")

    with pytest.raises(InputError, match="'nan' returned NaN"):
        hstar.solve(task, nan, search)
    with pytest.raises(KeyError, match="no such fact"):
        hstar.solve(task, broken, search)
    with pytest.raises((ValueError, TypeError)):
        hstar.solve(task, lambda states: ["many"] * len(states), search)
    assert hstar.solve(task, "goalcount", search).solved, "the task is still good"


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("small", ["chain", "zero-costs", "random-44", "random-ca9", "blocks", "costs"])
def test_exact_values_with_infinity_lead_straight_to_the_goal(cases: Cases, small: str, search: str) -> None:
    case = cases[small]

    def perfect(states: np.ndarray) -> list[float]:
        return [case.exact[tuple(row)] for row in states.tolist()]

    result = hstar.solve(case.task, perfect, search, ties="lifo")
    assert result.solved
    assert result.initial_h == case.optimum
    if search != "lazy" and search != "gbfs":
        assert result.plan_cost == case.optimum
    assert result.expanded <= len([h for h in case.exact.values() if h <= case.optimum])


def test_dead_ends_are_counted_and_not_expanded(cases: Cases) -> None:
    case = cases["chain"]
    result = hstar.solve(
        case.task, lambda states: [math.inf if row[0] == 3 else 0 for row in states.tolist()], "astar"
    )
    assert result.dead_ends == 1
    assert (result.plan_cost, result.evaluated) == (5, 4)


def test_values_are_clipped_and_rounded(cases: Cases) -> None:
    case = cases["chain"]

    def odd(states: np.ndarray) -> list[float]:
        return [[-3.0, 1e300, 0.3, -math.inf][row[0]] for row in states.tolist()]

    h = values(case, hstar.BatchHeuristic(odd, resolution=10))
    assert h[0,] == 0
    assert 1e6 < h[1,] < math.inf, "large is not a dead end"
    assert h[2,] == pytest.approx(0.3)
    assert h[3,] == 0
    assert values(case, hstar.BatchHeuristic(odd, resolution=2))[2,] == 0.5
    assert values(case, odd)[2,] == round(0.3 * 1024) / 1024
    for resolution in (0, -1, 2**16 + 1):
        with pytest.raises(InputError, match="scale must be in"):
            build(case.task, hstar.BatchHeuristic(odd, resolution=resolution))


def test_fractions_count_in_astar(cases: Cases) -> None:
    """f of A is 6.5, of the goal by the dear way 8: only with fractions and costs in one unit is 7 found."""
    case = cases["reopening"]

    def h(states: np.ndarray) -> list[float]:
        return [[0, 5.5, 0.25, 0][row[0]] for row in states.tolist()]

    for search in ("astar", "idastar"):
        assert hstar.solve(case.task, h, search).plan_cost == 7


# --- the core must not crash --------------------------------------------------------------------

PRELUDE = """
import numpy as np, hstar
from hstar import _core
from hstar.errors import InputError
text = {text!r}
task = _core.Task.parse(text.encode())
other = _core.Task.parse({other!r}.encode())
part = _core.symbolic_heuristic(task, "ff")
states = np.array([task.initial_state], dtype=np.int32)
try:
    {line}
except InputError:
    raise SystemExit(0)
raise SystemExit("accepted")
"""


@pytest.mark.parametrize(
    "line",
    [
        "_core.combined_heuristic(task, 'max', [part, part])",
        "_core.combined_heuristic(task, 'max', [part]); part.name",
        "_core.combined_heuristic(task, 'max', [part]); part.evaluate(states)",
        "_core.combined_heuristic(task, 'max', [part]); _core.search(task, 'gbfs', [part])",
        "_core.combined_heuristic(task, 'most', [part])",
        "_core.search(other, 'gbfs', [part])",
        "_core.search(other, 'gbfs', [_core.combined_heuristic(other, 'max', [part])])",
        "_core.relaxed_plan(task, [])",
        "_core.relaxed_plan(task, [10**6] * task.num_variables)",
    ],
)
def test_misuse_of_the_native_interface_is_an_error_and_no_crash(cases: Cases, line: str) -> None:
    script = PRELUDE.format(text=cases["blocks"].text, other=cases["chain"].text, line=line)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr}"
