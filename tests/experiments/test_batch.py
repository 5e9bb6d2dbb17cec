"""Batches: rows of any kind of space, and what they say together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hstar
from hstar.errors import InputError, PlanError
from hstar.experiments.batch import Batch, Instance, optimum, random_instances, run_batch, summary
from hstar.search.blocks_optimal import optimal_cost
from hstar.search.solve import SearchConfig
from hstar.spaces.grid_maps import random_problems

PUZZLE = hstar.load("tiles:2x3")
DATA = Path(__file__).parents[1] / "data"


class Line:
    """An own space: steps along a line to 0."""

    start = 7

    def is_goal(self, state: int) -> bool:
        return state == 0

    def successors(self, state: int) -> list[tuple[str, int, int]]:
        return [("back", state - 1, 1), ("on", min(state + 1, 20), 1)]


def rows(batch: Batch, instances: list[Instance]) -> list[dict[str, Any]]:
    return [row for row, _ in run_batch(batch, instances)]


def row(cost: int | None, optimal: int | None, generated: int = 10) -> dict[str, Any]:
    status = "evaluation_limit" if cost is None else "solved"
    effort = ("expansions", "evaluations", "reopened", "search_time", "cpu_time", "network_time")
    told = {"cost": cost, "plan_length": cost, "optimal_cost": optimal, "ratio": 1.5}
    return {"status": status, **told, "generated": generated, **dict.fromkeys(effort, 1.0)}


def test_summary() -> None:
    found = summary([row(12, 10), row(10, 10, 30), row(7, None), row(None, 9), row(0, 0)])
    assert (found["status"], found["instances"], found["solved"]) == ("evaluation_limit", 5, 4)
    assert (found["cost"], found["generated"], found["search_time"]) == (7.25, 14.0, 1.0)
    assert (found["with_known_optimum"], found["bound"]) == (3, 1.5)
    assert found["suboptimality"] == pytest.approx(0.2 / 3) and found["optimal"] == pytest.approx(2 / 3)
    assert found["greatest_suboptimality"] == pytest.approx(0.2)
    assert summary([])["cost"] is None and summary([row(1, 1)])["status"] == "solved"
    assert summary([row(1, 1), {**row(1, 1), "ratio": None}])["bound"] is None  # nothing is proven of all


@pytest.mark.parametrize(
    ("problem", "heuristic", "search"),
    [
        (PUZZLE.random(1), "manhattan", "idastar"),
        (random_problems(1, 3, rows=9, columns=9)[0], None, "astar"),
        (Line(), "zero", "astar"),
        (hstar.load(DATA / "costs" / "problem.pddl"), "lmcut", "astar"),
    ],
    ids=["puzzle", "map", "own", "task"],
)
def test_every_kind_of_space_has_the_same_columns(
    problem: Any, heuristic: str | None, search: str, tmp_path: Path
) -> None:
    problem = hstar.load(problem) if isinstance(problem, Line) else problem
    batch = Batch(heuristic, search, optimum=True, output=tmp_path / "rows.jsonl")
    (found,) = rows(batch, [Instance("one", problem)])
    expected = {"id", "status", "cost", "plan", "plan_length", "optimal_cost", "lower_bound", "ratio", "run"}
    expected |= {"expansions", "evaluations", "generated", "reopened", "search_time", "cpu_time"}
    assert expected | {"network_time"} <= found.keys()
    assert found["status"] == "solved" and found["cost"] == found["optimal_cost"] == found["lower_bound"]
    assert rows(batch, [Instance("one", problem)]) == [found]  # from the file, times included
    assert json.loads((tmp_path / "rows.jsonl").read_text()) == found


def test_only_what_is_missing_is_searched(tmp_path: Path) -> None:
    instances = random_instances(PUZZLE, 6, 3)
    batch = Batch("manhattan", "idastar", about={"heuristic": "manhattan"}, output=tmp_path / "rows.jsonl")
    first = rows(batch, instances[:4:2])
    every = rows(Batch(**{**vars(batch), "jobs": 2}), instances)
    kept = (tmp_path / "rows.jsonl").read_text().splitlines()
    assert [every[0], every[2]] == first and len(kept) == 6
    assert [tuple(one["start"]) for one in every] == [one.problem.start for one in instances]
    assert rows(batch, instances) == every
    # Other limits are another run.
    rows(Batch(**{**vars(batch), "config": SearchConfig(max_evaluations=10**6)}), instances[:1])
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 7


@pytest.mark.parametrize(("stated", "known"), [(99, "a plan costs"), (1, "no plan costs less than")])
def test_optima_that_are_refuted(stated: int, known: str, tmp_path: Path) -> None:
    """Of a file it is a mistake of the file; found by hstar itself it is a mistake of hstar."""
    puzzle, batch = PUZZLE.random(1), Batch("manhattan", "idastar", output=tmp_path / "rows.jsonl")
    with pytest.raises(InputError, match=f"x: optimal_cost is {stated}, but {known} .*--blank-last"):
        rows(batch, [Instance("x", puzzle, stated, tmp_path / "x.csv")])
    with pytest.raises(PlanError, match=f"x: the optimum is {stated}, but {known}"):
        rows(batch, [Instance("x", puzzle, stated)])
    assert not (tmp_path / "rows.jsonl").exists()


def test_an_instance_that_was_not_loaded_in_time() -> None:
    found = rows(Batch("ff", "lazy"), [Instance("late", None, stopped="time_limit")])
    assert [(one["status"], one["cost"], one["expansions"]) for one in found] == [("time_limit", None, 0)]


def test_loading_counts_for_the_time_limit() -> None:
    task = hstar.load(DATA / "blocks" / "problem.pddl")
    batch = Batch("ff", "lazy", SearchConfig(time_limit=5.0))
    assert rows(batch, [Instance("p", task, load_time=1.0)])[0]["status"] == "solved"
    assert rows(batch, [Instance("p", task, load_time=5.0)])[0]["status"] == "time_limit"


def test_instances_depend_on_the_seed_alone() -> None:
    def starts(*given: Any, **options: Any) -> list[Any]:
        return [one.problem.start for one in random_instances(PUZZLE, *given, **options)]

    assert starts(3, 5) == starts(3, 5) != starts(3, 6) and starts(3, 5, purpose=(1,)) != starts(3, 5)
    assert set(starts(3, 5, walk=1)) <= {PUZZLE.walk(1, seed).start for seed in range(20)}


def test_optima() -> None:
    config = SearchConfig()
    for problem in random_problems(5, 3, rows=12, columns=12):
        assert optimum(problem, config) == hstar.solve(problem).plan_cost
    assert optimum(hstar.load(DATA / "unsolvable" / "problem.pddl"), config) is None


@pytest.mark.slow
def test_databases_of_blocks_find_optimal_plans() -> None:
    """A row without learning: the greatest cost of the twelve patterns that the networks see."""
    instances = random_instances(hstar.load("blocks:15"), 5, seed=1, walk=5000)
    batch = Batch("databases", "idastar", SearchConfig(table_bytes=1 << 26))
    found = [one["cost"] for one in rows(batch, instances)]
    assert found == [optimal_cost(instance.problem) for instance in instances]
