"""The Python interface of the search: results, options, progress, interrupts."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hstar
from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.generators import GENERATORS
from hstar.search.solve import EXIT_CODES, Result, SearchConfig
from labelled import generated, labelled

DATA = Path(__file__).parents[1] / "data"


def load(name: str, **options: Any) -> hstar.Task:
    return hstar.load(DATA / name / "domain.pddl", DATA / name / "problem.pddl", **options)


@pytest.fixture(scope="module")
def blocks() -> hstar.Task:
    return load("blocks")


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> hstar.Task:
    """The 15-puzzle: blind search does not finish with it."""
    folder = tmp_path_factory.mktemp("npuzzle")
    for file, text in zip(
        ("domain", "problem"), GENERATORS.get("npuzzle")(rows=4, columns=4, seed=1), strict=True
    ):
        (folder / f"{file}.pddl").write_text(text)
    return hstar.load(folder / "problem.pddl")


# --- what is run where heuristic or search is left out ---------------------------------------------


@pytest.mark.parametrize(
    ("options", "ran"),
    [
        ({}, "lazy with ff and landmarks, preferred operators"),
        ({"heuristic": "add"}, "gbfs with add"),
        ({"search": "gbfs"}, "gbfs with ff"),
        ({"weight": 2.0}, "wastar with ff"),
        ({"bound": 1.5}, "focal with ff"),
        ({"anytime": True, "heuristic": "hmax"}, "focal with hmax"),
    ],
    ids=str,
)
def test_defaults_of_tasks(blocks: hstar.Task, options: dict[str, Any], ran: str) -> None:
    result = hstar.solve(blocks, **options)
    assert result.solved and result.ran == ran and f"by {ran}" in repr(result)
    if not options:
        explicit = hstar.solve(blocks, alias="lama-first")
        assert (result.plan, result.evaluated) == (explicit.plan, explicit.evaluated)


def test_a_model_of_a_domain_alternates_with_ff(tmp_path: Path) -> None:
    tasks = [generated(tmp_path, "blocksworld", blocks=size, seed=1) for size in (3, 4, 7)]
    model = hstar.train("wl", labelled(tasks[:2]), least_states=1)
    result = hstar.solve(tasks[2], model)
    assert result.solved and result.ran == "lazy with wl and ff, preferred operators"
    explicit = hstar.solve(tasks[2], [model, "ff"], "lazy", preferred=True)
    assert (result.plan, result.evaluated) == (explicit.plan, explicit.evaluated)
    assert hstar.solve(tasks[2], model, "gbfs").ran == "gbfs with wl"


def test_defaults_of_other_spaces() -> None:
    puzzle = hstar.load("tiles:3x3").random(1)
    assert hstar.solve(puzzle).ran == "idastar with manhattan"
    assert hstar.solve(puzzle, bound=1.5).ran == "focal with manhattan"
    assert hstar.solve(hstar.load(np.zeros((5, 5), dtype=bool))).ran == "astar with manhattan"


def test_a_limit_on_cpu_time(endless: hstar.Task) -> None:
    result = hstar.solve(endless, "blind", "astar", cpu_time_limit=0.2)
    assert result.status == "time_limit" and 0.2 <= result.cpu_time < 0.5
    hard = hstar.load("tiles:5x5").random(1)
    result = hstar.solve(hard, "manhattan", "idastar", cpu_time_limit=0.2)
    assert result.status == "time_limit" and 0.2 <= result.cpu_time < 0.5
    result = hstar.solve(hard, "manhattan", "focal", cpu_time_limit=0.2)
    assert result.status == "time_limit" and 0.2 <= result.cpu_time < 0.5


# --- results --------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", [info.name for info in hstar.searches()])
def test_result_of_a_solved_task(search: str) -> None:
    result = hstar.solve(load("costs"), "hmax", search)
    assert result.solved
    assert (result.status, result.exit_code) == ("solved", 0)
    assert result.plan is not None
    assert result.plan_length == len(result.plan)
    assert result.plan_cost == 20 or search not in ("astar", "idastar", "wastar")
    assert result.generated >= result.evaluated - 1 >= 0
    assert 0 < result.expanded <= result.evaluated or search == "idastar"
    assert result.initial_h is not None
    assert 0 < result.initial_h <= 20
    assert 0 <= result.search_time < 60
    assert min(result.peak_memory, result.memory_before_search) > 1 << 20
    assert not result.unit_cost
    assert result.plan_text().splitlines()[-1] == f"; cost = {result.plan_cost} (general cost)"


def test_unit_cost() -> None:
    result = hstar.solve(load("costs", unit_cost=True), "lmcut", "astar")
    assert result.unit_cost
    assert result.plan_cost == result.plan_length
    assert result.plan_text().endswith("(unit cost)\n")


def test_result_without_a_plan() -> None:
    result = hstar.solve(load("unsolvable"), "blind", "astar")
    assert (result.status, result.solved, result.exit_code) == ("unsolvable", False, 11)
    assert (result.plan, result.plan_cost, result.plan_length) == (None, None, None)
    with pytest.raises(InputError, match="there is no plan: unsolvable"):
        result.plan_text()


def test_json_has_the_columns_of_downward_lab(blocks: hstar.Task) -> None:
    record = hstar.solve(blocks, "lmcut", "astar").to_json()
    assert list(record) == [
        *("coverage", "status", "plan", "cost", "plan_length", "lower_bound", "expansions", "evaluations"),
        *(
            "generated",
            "reopened",
            "dead_ends",
            "anchored",
            "initial_h",
            "search_time",
            "cpu_time",
            "network_time",
            "memory",
        ),
        *("registered_states", "state_bytes", "memory_before_search", "unit_cost", "ran", "ratio"),
    ]
    assert (record["coverage"], record["cost"]) == (1, 6)
    assert json.loads(json.dumps(record))["plan"] == list(record["plan"])


def test_every_status_has_an_exit_code() -> None:
    assert set(EXIT_CODES) == {
        *("solved", "unsolvable", "incomplete", "time_limit", "memory_limit"),
        *("evaluation_limit", "expansion_limit", "interrupted"),
    }


def test_runs_repeat(blocks: hstar.Task) -> None:
    def counts(result: Result) -> tuple[object, ...]:
        return (result.plan, result.expanded, result.evaluated, result.generated)

    for options in ({}, {"ties": "random", "seed": 3}, {"ties": "lifo"}, {"preferred": True}):
        first, second = (hstar.solve(blocks, "ff", "gbfs", **options) for _ in range(2))
        assert counts(first) == counts(second)


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"max_evaluations": 5000}, "evaluation_limit"),
        ({"max_expansions": 500}, "expansion_limit"),
        ({"time_limit": 0.2}, "time_limit"),
        ({"time_limit": 0}, "time_limit"),
        ({"memory_limit": 0}, "memory_limit"),
    ],
)
@pytest.mark.parametrize("search", [info.name for info in hstar.searches()])
def test_limits_are_results(endless: hstar.Task, search: str, options: dict[str, Any], status: str) -> None:
    result = hstar.solve(endless, "blind", search, **options)
    assert (result.status, result.plan) == (status, None)
    assert result.cpu_time < 2
    if status == "expansion_limit":
        assert result.expanded == 500
    if status == "evaluation_limit":
        # Stops at the end of the expansion that goes over it.
        assert 5000 <= result.evaluated < 5010


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"time_limit": -1},
        {"time_limit": float("nan")},
        {"memory_limit": -1},
        {"max_evaluations": -5},
        {"max_expansions": -5},
        {"seed": -1},
        {"seed": 2**64},
        {"boost": -1},
        {"boost": 2**31},
    ],
)
def test_values_that_no_search_can_take(blocks: hstar.Task, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        SearchConfig(**options)
    with pytest.raises(InputError, match=next(iter(options))):
        hstar.solve(blocks, **options)


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -1.0, 1e7])
def test_weights_that_no_search_can_take(blocks: hstar.Task, weight: float) -> None:
    with pytest.raises(InputError, match="weight"):
        hstar.solve(blocks, "hmax", "wastar", weight=weight)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("ff", "gbs"), {}, r"unknown search 'gbs' \(known: gbfs, .*\); did you mean 'gbfs'\?"),
        (("lmcat", "astar"), {}, r"unknown heuristic 'lmcat' \(known: .*\); did you mean 'lmcut'\?"),
        (("ff", "gbfs"), {"time_limt": 3}, r"unknown option 'time_limt' .*; did you mean 'time_limit'\?"),
        (("ff", "gbfs"), {"ties": "none"}, "unknown ties 'none'"),
        ((["hmax", "blind"], "astar"), {}, "takes one heuristic"),
        ((["hmax", "blind"], "idastar"), {}, "takes one heuristic"),
        (("add", "gbfs"), {"preferred": True}, "none of the heuristics has preferred operators"),
        (([], "gbfs"), {}, "at least one heuristic"),
        ((3, "gbfs"), {}, "not a heuristic: 3"),
    ],
)
def test_mistakes(
    blocks: hstar.Task, arguments: tuple[Any, str], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        hstar.solve(blocks, *arguments, **options)


def test_config_or_options(blocks: hstar.Task) -> None:
    config = SearchConfig(max_expansions=1)
    assert hstar.solve(blocks, config=config).status == "expansion_limit"
    assert hstar.solve(blocks, max_expansions=1).status == "expansion_limit"
    with pytest.raises(InputError, match="not both"):
        hstar.solve(blocks, config=config, max_expansions=1)


def test_unsupported_says_what_to_use() -> None:
    with pytest.raises(UnsupportedError, match=r"'lmcut' does not support axioms; use hmax"):
        hstar.solve(load("reach"), "lmcut", "astar")


def test_several_heuristics(blocks: hstar.Task) -> None:
    assert hstar.solve(blocks, ["ff", "goalcount"], "gbfs").solved
    assert hstar.solve(blocks, ("ff", "goalcount"), "lazy", preferred=True).solved
    assert hstar.solve(blocks, hstar.Max("lmcut", "hmax"), "astar").plan_cost == 6
    assert hstar.solve(blocks, hstar.Sum("ff", hstar.Max("add", "hmax")), "gbfs").solved
    with pytest.raises(InputError, match="max needs at least one"):
        hstar.Max()


# --- functions as heuristics ----------------------------------------------------------------------


def test_a_function_guides_the_search(blocks: hstar.Task) -> None:
    goal = dict(blocks.core.goal)

    def missing(states: Any) -> Any:
        return sum((states[:, variable] != value).astype(float) for variable, value in goal.items())

    ours = hstar.solve(blocks, missing, "gbfs")
    theirs = hstar.solve(blocks, "goalcount", "gbfs")
    assert (ours.plan, ours.evaluated) == (theirs.plan, theirs.evaluated)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda states: [float("nan")] * len(states), "NaN"),
        (lambda states: [], "one number for each"),
        (lambda states: 3, "one number for each"),
    ],
)
def test_functions_with_wrong_answers(blocks: hstar.Task, answer: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        hstar.solve(blocks, answer)


def test_exceptions_of_a_function_come_out(blocks: hstar.Task) -> None:
    def broken(states: Any) -> Any:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        hstar.solve(blocks, broken)


# --- progress and interrupts ----------------------------------------------------------------------


@pytest.mark.parametrize("search", [info.name for info in hstar.searches()])
def test_progress_is_called_about_ten_times_a_second(endless: hstar.Task, search: str) -> None:
    records: list[_core.Progress] = []
    result = hstar.solve(endless, "blind", search, progress=records.append, time_limit=0.55)
    assert result.status == "time_limit"
    assert 3 <= len(records) <= 7
    times = [record.time for record in records]
    counts = [record.evaluated for record in records]
    assert times == sorted(times)
    assert counts == sorted(counts)
    assert result.evaluated >= counts[-1] > 0
    assert records[-1].memory > 1 << 20
    assert records[-1].best_h == 1


def test_exceptions_of_progress_come_out(endless: hstar.Task) -> None:
    def broken(record: _core.Progress) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        hstar.solve(endless, "blind", "astar", progress=broken, time_limit=5)


def test_keyboard_interrupt_in_progress_is_a_status(endless: hstar.Task) -> None:
    def stop(record: _core.Progress) -> None:
        raise KeyboardInterrupt

    result = hstar.solve(endless, "blind", "astar", progress=stop, time_limit=5)
    assert (result.status, result.exit_code) == ("interrupted", 130)


@pytest.mark.parametrize("search", [info.name for info in hstar.searches()])
def test_control_c_is_a_status_and_the_program_goes_on(endless: hstar.Task, search: str) -> None:
    assert endless.domain_file is not None
    script = """
        import os, signal, sys, threading, hstar
        signal.signal(signal.SIGINT, signal.default_int_handler)
        task = hstar.load(sys.argv[1])
        threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
        first = hstar.solve(task, "blind", sys.argv[2], time_limit=20)
        again = hstar.solve(task, "blind", sys.argv[2], max_expansions=10)
        print(first.status, first.cpu_time < 1.5, first.expanded > 0, again.status)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(endless.problem_file), search]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("interrupted True True expansion_limit\n", "")


def test_other_signals_come_out_as_exceptions(endless: hstar.Task) -> None:
    class Alarm(Exception):  # noqa: N818
        pass

    def ring(number: int, frame: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(Alarm):
            hstar.solve(endless, "blind", "astar", time_limit=10)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
