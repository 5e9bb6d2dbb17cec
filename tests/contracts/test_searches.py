"""Every search of the registry against what it declares, on small tasks: plans, limits, ties, options.

A new entry of `hstar.searches()` is tested here the moment it exists.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import hstar
from conftest import Case, Cases
from hstar import _core
from hstar.errors import InputError
from hstar.search.heuristics import build
from hstar.search.solve import EXIT_CODES
from hstar.spaces.validate import validate_sas
from oracles import sas
from oracles.test_oracles import operator, task_text, variable

INFO = {info.name: info for info in hstar.searches()}
HEURISTICS = {info.name: info for info in hstar.heuristics()}
ORDERED = [name for name in INFO if name != "idastar"]  # idastar has no open list, so no ties
GREEDY = ["gbfs", "lazy"]
COUNTS = ("status", "plan", "expanded", "evaluated", "generated", "reopened", "dead_ends")


def counts(result: hstar.Result) -> tuple[object, ...]:
    return tuple(getattr(result, name) for name in COUNTS)


@pytest.fixture(params=INFO)
def search(request: pytest.FixtureRequest) -> str:
    return request.param


# --- plans --------------------------------------------------------------------------------------


def test_plans_are_valid_and_optimal_where_declared(case: Case, search: str) -> None:
    for name in case.supported:
        native = build(case.task, name)
        if not case.solvable:
            found = _core.search(case.task.core, search, [native], limits=_core.Limits(expansions=5000))
            # Without memory idastar walks all simple paths: more than it can where there are many states.
            unknown = search == "idastar" and found.expanded == 5000 and len(case.states) > 10
            assert (found.status, found.plan) == ("expansion_limit" if unknown else "unsolvable", []), name
            continue
        found = _core.search(case.task.core, search, [native])
        assert found.status == "solved", name
        cost = replay(case, found.plan)
        assert validate_sas(case.task.core, found.plan).valid
        if INFO[search].optimal and HEURISTICS[name].admissible:
            assert cost == case.optimum, name
        if search == "lazy":
            assert found.evaluated <= found.expanded + found.dead_ends + 1, "one evaluation an expansion"
        if case.task.domain_file is not None:
            steps = [case.task.core.operator(op).name for op in found.plan]
            verdict = hstar.validate_pddl(case.task.lifted, steps)
            assert (verdict.valid, verdict.cost) == (True, cost), verdict.reason


def replay(case: Case, plan: list[int]) -> int:
    """The plan's cost by the oracle, which has to find it valid."""
    state, cost = case.oracle.initial, 0
    for index in plan:
        step = case.oracle.operators[index]
        assert sas.holds(step.preconditions, state)
        state = sas.apply(case.oracle, step, state)
        cost += step.cost
    assert case.oracle.is_goal(state)
    return cost


def test_the_result_describes_the_plan(cases: Cases, search: str) -> None:
    result = hstar.solve(cases["costs"].task, "hmax", search)
    verdict = hstar.validate_pddl(cases["costs"].task.lifted, result.plan)
    assert verdict.valid
    assert (result.plan_cost, result.plan_length) == (verdict.cost, len(result.plan))
    assert result.plan_text().endswith(f"; cost = {result.plan_cost} (general cost)\n")
    assert (result.exit_code, result.solved, result.initial_h) == (0, True, 12)
    assert result.to_json()["cost"] == result.plan_cost
    assert result.to_json()["expansions"] == result.expanded


def test_a_solved_task_needs_no_step(cases: Cases, search: str) -> None:
    for name in ("blocks", "reach", "zero-costs"):
        case = cases[name]
        goal = next(state for state in case.states if case.oracle.is_goal(state))
        task = hstar.Task(case.task.core.with_initial_state(goal), name)
        result = hstar.solve(task, "goalcount", search)
        assert (result.status, result.plan, result.plan_cost, result.initial_h) == ("solved", (), 0, 0)
        assert result.generated == 0


def test_every_start_is_solved_optimally(cases: Cases) -> None:
    """One compiled space serves many initial states, and A* is optimal from each, dead ends included."""
    for name in ("zero-costs", "random-44", "random-c33", "random-ca3", "random-ca9", "chain"):
        case = cases[name]
        for state, exact in case.exact.items():
            task = hstar.Task(case.task.core.with_initial_state(state), name)
            for heuristic in ("blind", "hmax"):
                result = hstar.solve(task, heuristic, "astar")
                assert (result.plan_cost if result.solved else math.inf) == exact, (name, state, heuristic)


@pytest.mark.parametrize("weight", [0, 1, 1.5, 2.25, 5, 1000])
def test_weighted_astar_stays_within_its_bound(case: Case, weight: float) -> None:
    for name in case.supported:
        if not HEURISTICS[name].admissible or not case.solvable:
            continue
        result = hstar.solve(case.task, name, "wastar", weight=weight)
        assert result.plan_cost <= max(weight, 1) * case.optimum, name


def test_the_weight_matters_and_is_checked(cases: Cases) -> None:
    task = cases["npuzzle-3x3"].task
    light, heavy = (hstar.solve(task, "hmax", "wastar", weight=weight) for weight in (1, 5))
    assert heavy.expanded < light.expanded
    same = hstar.solve(task, "hmax", "astar", weight=5)
    assert same.expanded == light.expanded, "astar ignores the weight"
    for weight in (-1, math.nan, math.inf):
        with pytest.raises(InputError, match="weight"):
            hstar.solve(task, "hmax", "wastar", weight=weight)


# --- reopening ----------------------------------------------------------------------------------


def test_an_inconsistent_admissible_function_forces_reopening(cases: Cases) -> None:
    """C is closed with g = 3 before A shows the way with g = 2; without reopening the plan costs 8."""
    case = cases["reopening"]

    def h(states: np.ndarray) -> list[float]:
        return [[0, 5, 0, 0][row[0]] for row in states.tolist()]

    assert all(h(np.array([state]))[0] <= exact for state, exact in case.exact.items()), "admissible"
    result = hstar.solve(case.task, h, "astar")
    assert (result.plan_cost, result.plan) == (7, ("s-a", "a-c", "c-g"))
    assert (result.reopened, result.expanded, result.evaluated) == (1, 5, 4)
    assert hstar.solve(case.task, h, "idastar").plan_cost == 7
    assert hstar.solve(case.task, h, "gbfs").reopened == 0


INCONSISTENT = ("zero-costs", "random-44", "random-c27", "random-ca5", "costs", "npuzzle-2x3", "ferry-3-2")


def inconsistent(case: Case, rng: np.random.Generator) -> Callable[[np.ndarray], list[float]]:
    """A random admissible function, which is most likely not consistent."""
    table = {s: h if h == math.inf else float(rng.integers(0, h + 1)) for s, h in case.exact.items()}
    return lambda states: [table[tuple(row)] for row in states.tolist()]


def test_random_inconsistent_admissible_functions_keep_astar_optimal(cases: Cases) -> None:
    rng = np.random.default_rng(0)
    reopened = 0
    for name in INCONSISTENT * 5:
        case = cases[name]
        result = hstar.solve(case.task, inconsistent(case, rng), "astar")
        assert result.plan_cost == case.optimum, name
        reopened += result.reopened
    assert reopened > 0, "the test would not see a missing reopening"


@pytest.mark.parametrize(("search", "weight"), [("astar", 1.0), ("wastar", 2.5)])
def test_without_reopening_no_state_is_expanded_twice(cases: Cases, search: str, weight: float) -> None:
    rng = np.random.default_rng(1)
    reopened = 0
    for name in INCONSISTENT * 8:
        case = cases[name]
        h = inconsistent(case, rng)
        again = hstar.solve(case.task, h, search, weight=weight)
        once = hstar.solve(case.task, h, search, weight=weight, no_reopen=True)
        assert once.status == again.status and once.reopened == 0
        assert once.expanded <= len(case.exact)
        assert not once.solved or once.plan_cost >= case.optimum
        if again.reopened == 0:
            assert counts(once) == counts(again)
        reopened += again.reopened
    assert reopened > 0, "cases in which the option matters"


def test_without_reopening_less_is_proven() -> None:
    """The proof ends where a state stays closed: what is proven is true, and sometimes less."""
    tiles = hstar.load("tiles:3x3")
    weaker = 0
    for seed in range(10):
        board = tiles.random(seed)
        optimum = hstar.solve(board, "manhattan", "astar").plan_cost
        for weight in (1.5, 3.0):
            again = hstar.solve(board, "manhattan", "wastar", weight=weight)
            once = hstar.solve(board, "manhattan", "wastar", weight=weight, no_reopen=True)
            assert once.reopened == 0
            assert once.plan_cost >= optimum >= again.lower_bound >= once.lower_bound
            weaker += once.lower_bound < again.lower_bound
    assert weaker > 0, "boards on which the option matters"


def test_consistent_heuristics_reopen_nothing(case: Case) -> None:
    for name in ("blind", "hmax"):
        if name in case.supported:
            once = hstar.solve(case.task, name, "astar", no_reopen=True)
            assert counts(once) == counts(hstar.solve(case.task, name, "astar"))
            assert once.plan_cost == (case.optimum if case.solvable else None)


# --- limits and outcomes ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "status"),
    [
        ({"max_expansions": 10}, "expansion_limit"),
        ({"max_evaluations": 20}, "evaluation_limit"),
        ({"time_limit": 0}, "time_limit"),
        ({"memory_limit": 1}, "memory_limit"),
    ],
)
@pytest.mark.parametrize("heuristic", ["blind", "hmax", "lmcut"])
def test_a_limit_is_a_status(
    cases: Cases, search: str, heuristic: str, limit: dict[str, int], status: str
) -> None:
    result = hstar.solve(cases["npuzzle-3x3"].task, heuristic, search, **limit)
    assert result.status == status
    assert (result.plan, result.plan_cost, result.plan_length) == (None, None, None)
    assert result.exit_code == EXIT_CODES[status] != 0
    with pytest.raises(InputError, match=status):
        result.plan_text()
    if status == "expansion_limit":
        assert result.expanded == 10
    if status == "evaluation_limit":
        assert 20 <= result.evaluated < 20 + 4, "at most one expansion's successors too many"
    assert result.search_time < 5


def test_limits_that_are_not_reached_change_nothing(cases: Cases, search: str) -> None:
    task = cases["blocks"].task
    free = hstar.solve(task, "hmax", search)
    bound = hstar.solve(
        task,
        "hmax",
        search,
        max_expansions=10**9,
        max_evaluations=10**9,
        time_limit=3600,
        memory_limit=2**50,
    )
    assert counts(free) == counts(bound)


def test_unsolvable_needs_the_whole_space_where_the_relaxation_sees_nothing(
    cases: Cases, search: str
) -> None:
    case = cases["one-match"]
    result = hstar.solve(case.task, "ff", search)
    assert (result.status, result.exit_code) == ("unsolvable", 11)
    assert result.expanded > 1
    result = hstar.solve(cases["unsolvable"].task, "ff", search)
    assert (result.status, result.dead_ends, result.initial_h) == ("unsolvable", 1, None)


@pytest.mark.parametrize(
    "option", ["time_limit", "memory_limit", "max_evaluations", "max_expansions", "seed"]
)
def test_negative_options_are_refused(cases: Cases, option: str) -> None:
    with pytest.raises(InputError, match=option):
        hstar.solve(cases["chain"].task, "blind", **{option: -1})


def test_unknown_names_are_answered_with_the_known_ones(cases: Cases) -> None:
    task = cases["chain"].task
    with pytest.raises(InputError, match=r"unknown search 'astr' .*did you mean 'astar'"):
        hstar.solve(task, "blind", "astr")
    with pytest.raises(InputError, match=r"unknown option 'max_expansion' .*did you mean 'max_expansions'"):
        hstar.solve(task, "blind", max_expansion=3)
    with pytest.raises(InputError, match=r"unknown ties 'filo' \(known: fifo, lifo, random\)"):
        hstar.solve(task, "blind", ties="filo")
    with pytest.raises(InputError, match="either config or single options"):
        hstar.solve(task, "blind", config=hstar.SearchConfig(), seed=1)
    with pytest.raises(InputError, match="at least one heuristic"):
        hstar.solve(task, [])


def test_a_progress_function_sees_the_search_and_may_end_it(cases: Cases, search: str) -> None:
    task = cases["npuzzle-3x3"].task
    seen: list[tuple[int, int, float]] = []

    def watch(progress: _core.Progress) -> None:
        seen.append((progress.expanded, progress.evaluated, progress.time))

    def interrupt(progress: _core.Progress) -> None:
        raise KeyboardInterrupt

    def fail(progress: _core.Progress) -> None:
        raise ZeroDivisionError("in progress")

    result = hstar.solve(task, "lmcut", search, progress=watch, max_expansions=2000)
    assert seen
    assert seen == sorted(seen)
    assert seen[-1][0] <= result.expanded
    result = hstar.solve(task, "lmcut", search, progress=interrupt)
    assert (result.status, result.exit_code, result.plan) == ("interrupted", 130, None)
    with pytest.raises(ZeroDivisionError, match="in progress"):
        hstar.solve(task, "lmcut", search, progress=fail)


# --- ties and determinism -----------------------------------------------------------------------


@pytest.mark.parametrize("ties", ["fifo", "lifo", "random"])
def test_two_runs_expand_alike(case: Case, search: str, ties: str) -> None:
    options = {"ties": ties, "seed": 7, "max_expansions": 500}
    one, other = (hstar.solve(case.task, "hmax", search, **options) for _ in range(2))
    assert counts(one) == counts(other)
    assert one.registered_states == other.registered_states


@pytest.mark.parametrize("search", ORDERED)
def test_other_seeds_break_random_ties_otherwise(cases: Cases, search: str) -> None:
    task = cases["npuzzle-3x3"].task
    different = {
        counts(hstar.solve(task, "goalcount", search, ties="random", seed=seed, max_expansions=2000))
        for seed in range(5)
    }
    assert len(different) > 1
    fixed = {
        counts(hstar.solve(task, "goalcount", search, ties="fifo", seed=seed, max_expansions=2000))
        for seed in range(3)
    }
    assert len(fixed) == 1, "a seed matters for random ties only"


def fork(first: int) -> str:
    """0 leads to 1 and 2, of which 1 goes on to 3, 4, 5 and 2 to the goal 6; `first` is tried first."""
    edges = [(0, first), (0, 3 - first), (1, 3), (3, 4), (4, 5), (2, 6)]
    moves = [operator(f"{a}-{b}", [], [f"0 0 {a} {b}"], 1) for a, b in edges]
    return task_text([variable(size=7)], [0], "1\n0 6", moves)


@pytest.mark.parametrize(
    ("ties", "first", "expanded"), [("fifo", 1, 4), ("fifo", 2, 3), ("lifo", 1, 3), ("lifo", 2, 7)]
)
def test_fifo_is_breadth_first_and_lifo_depth_first(ties: str, first: int, expanded: int) -> None:
    """With a constant heuristic: 0, 1, 2, 6; 0, 2, 6; and depth-first through 1, 3, 4, 5 if 1 comes last."""
    task = hstar.Task(_core.Task.parse(fork(first).encode()), "fork")
    result = hstar.solve(task, "blind", "gbfs", ties=ties)
    assert (result.status, result.expanded) == ("solved", expanded)


def test_blind_fifo_search_finds_shortest_plans(cases: Cases) -> None:
    for name in ("blocks", "ferry-3-2", "npuzzle-2x3", "reach", "briefcase"):
        case = cases[name]
        assert hstar.solve(case.task, "blind", "gbfs").plan_length == case.optimum
        lifo = hstar.solve(case.task, "blind", "gbfs", ties="lifo")
        assert lifo.plan_length >= case.optimum
    assert hstar.solve(cases["npuzzle-2x3"].task, "blind", "gbfs", ties="lifo").plan_length > 13


# --- options of greedy search -------------------------------------------------------------------


def test_goal_at_generation_saves_the_last_expansions(case: Case) -> None:
    for name in case.supported:
        late = hstar.solve(case.task, name, "gbfs")
        early = hstar.solve(case.task, name, "gbfs", goal_at_generation=True)
        assert early.status == late.status
        if late.solved:
            assert early.expanded < late.expanded, name
            assert early.evaluated <= late.evaluated
        if name == "blind" and late.solved and case.task.core.unit_cost:
            assert early.expanded == late.expanded - 1, "the goal has the only 0 and is taken at once"


def test_goal_at_generation_is_for_gbfs_only(cases: Cases) -> None:
    """`SearchConfig`: what does not apply to the chosen search is ignored by it."""
    for search in ("astar", "idastar", "wastar"):
        result = hstar.solve(cases["chain"].task, "blind", search, goal_at_generation=True)
        assert result.plan_cost == 5, search


def test_evaluate_duplicates_is_for_gbfs_only(cases: Cases) -> None:
    for search in ("astar", "wastar", "idastar", "lazy"):
        plain = hstar.solve(cases["blocks"].task, "blind", search)
        assert counts(hstar.solve(cases["blocks"].task, "blind", search, evaluate_duplicates=True)) == counts(
            plain
        )


def test_preferred_operators_are_for_greedy_search_only(cases: Cases) -> None:
    for search in ("astar", "wastar", "idastar"):
        for heuristic in ("ff", "blind"):
            plain = hstar.solve(cases["npuzzle-2x3"].task, heuristic, search)
            preferred = hstar.solve(cases["npuzzle-2x3"].task, heuristic, search, preferred=True)
            assert counts(preferred) == counts(plain)


def test_evaluate_duplicates_counts_every_generated_state(case: Case) -> None:
    for name in case.supported:
        once = hstar.solve(case.task, name, "gbfs")
        every = hstar.solve(case.task, name, "gbfs", evaluate_duplicates=True)
        assert every.evaluated == every.generated + 1
        assert (every.plan, every.expanded, every.generated) == (once.plan, once.expanded, once.generated)
        assert once.evaluated == once.registered_states


@pytest.mark.parametrize("search", GREEDY)
def test_preferred_operators(cases: Cases, search: str) -> None:
    changed = 0
    for name in (
        "blocks",
        "ferry-3-2",
        "npuzzle-2x3",
        "briefcase",
        "reach",
        "costs",
        "random-ca9",
        "random-63",
    ):
        case = cases[name]
        plain = hstar.solve(case.task, "ff", search)
        results = [hstar.solve(case.task, "ff", search, preferred=True, boost=b) for b in (1000, 1000, 0)]
        assert all(result.solved for result in results)
        assert counts(results[0]) == counts(results[1])
        changed += counts(plain) != counts(results[0])
    assert changed, "preferred operators are not used"
    with pytest.raises(InputError, match="preferred operators; use ff"):
        hstar.solve(cases["blocks"].task, "add", search, preferred=True)
    result = hstar.solve(cases["one-match"].task, "ff", search, preferred=True)
    assert result.status == "unsolvable", "preferred operators order, they do not prune"
    assert hstar.solve(cases["blocks"].task, ["blind", hstar.Max("ff", "add")], search, preferred=True).solved


def test_preferred_operators_are_the_applicable_ones_of_the_relaxed_plan(cases: Cases) -> None:
    """With an endless boost and a constant first heuristic the preferred list alone decides."""
    case = cases["ferry-3-2"]
    state, steps = case.oracle.initial, 0
    result = hstar.solve(case.task, "ff", "lazy", preferred=True, boost=10**6)
    names = {entry.name: entry for entry in case.oracle.operators}
    for step in result.plan:
        plan, _ = _core.relaxed_plan(case.task.core, state)
        helpful = {case.oracle.operators[op].name for op in plan}
        steps += step in helpful
        state = sas.apply(case.oracle, names[step], state)
    assert steps == result.plan_length


# --- several heuristics -------------------------------------------------------------------------


@pytest.mark.parametrize("search", GREEDY)
def test_alternation_of_several_heuristics(case: Case, search: str) -> None:
    result = hstar.solve(case.task, ["ff", "goalcount", "hmax"], search)
    assert result.status == ("solved" if case.solvable else "unsolvable")
    alone = hstar.solve(case.task, "ff", search)
    assert counts(hstar.solve(case.task, ["ff"], search)) == counts(alone)
    assert result.initial_h == alone.initial_h
    if case.solvable:
        repeated = hstar.solve(case.task, ["ff", "ff"], search)
        assert repeated.plan == alone.plan or search == "lazy"


@pytest.mark.parametrize("search", GREEDY)
def test_alternation_uses_both_heuristics(cases: Cases, search: str) -> None:
    """One heuristic leads away from the goal; the other one gets every second turn and saves the search."""
    task = cases["npuzzle-3x3"].task
    astray = hstar.BatchHeuristic(
        lambda states: states[:, 0] * 0 + 5 - (states != 0).sum(axis=1) / 10, "astray"
    )
    good = hstar.solve(task, "ff", search)
    bad = hstar.solve(task, astray, search)
    both = [hstar.solve(task, pair, search) for pair in (["ff", astray], [astray, "ff"])]
    assert good.expanded < bad.expanded
    for result in both:
        assert result.solved
        assert good.expanded < result.expanded <= 4 * good.expanded + 10


@pytest.mark.parametrize("search", [name for name in INFO if name not in GREEDY])
def test_searches_by_f_take_one_heuristic(cases: Cases, search: str) -> None:
    with pytest.raises(InputError, match="one heuristic; combine several by max or sum"):
        hstar.solve(cases["blocks"].task, ["hmax", "blind"], search)
    assert hstar.solve(cases["blocks"].task, hstar.Max("hmax", "blind"), search).plan_cost == 6
