"""Rows of puzzles and what they say together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hstar.experiments.puzzles import (
    check_heuristic,
    puzzle_heuristic,
    random_instances,
    solve_instances,
    summary,
)
from hstar.search.blocks_optimal import optimal_cost
from hstar.search.solve import SearchConfig
from hstar.spaces.puzzles import parse_puzzle

SIZE = parse_puzzle("tiles:2x3")


def row(cost: int | None, optimal: int | None, generated: int = 10) -> dict[str, Any]:
    status = "evaluation_limit" if cost is None else "solved"
    return {
        "status": status,
        "cost": cost,
        "optimal_cost": optimal,
        "generated": generated,
        "search_time": 1.0,
    }


def test_summary() -> None:
    found = summary([row(12, 10), row(10, 10, 30), row(7, None), row(None, 9), row(0, 0)])
    assert found == {
        "instances": 5,
        "solved": 4,
        "mean_cost": 7.25,
        "mean_generated": 14.0,
        "mean_search_time": 1.0,
        "with_known_optimum": 3,
        "suboptimality": pytest.approx(0.2 / 3),
        "optimal": pytest.approx(2 / 3),
    }
    assert summary([])["mean_cost"] is None


def test_only_what_is_missing_is_searched(tmp_path: Path) -> None:
    heuristic, about = puzzle_heuristic(SIZE, "manhattan")
    instances, path = random_instances(SIZE, 6, 3), tmp_path / "rows.jsonl"
    config = SearchConfig()
    first = list(solve_instances(instances[:4:2], heuristic, config, about, output=path))
    every = list(solve_instances(instances, heuristic, config, about, output=path, jobs=2))
    assert [every[0], every[2]] == first and len(path.read_text().splitlines()) == 6
    assert [tuple(one["start"]) for one in every] == [one.puzzle.start for one in instances]
    again = list(solve_instances(instances, heuristic, config, about, output=path))
    assert again == every
    # Other limits are another run.
    other = SearchConfig(max_evaluations=10**6)
    list(solve_instances(instances[:1], heuristic, other, about, output=path))
    assert len(path.read_text().splitlines()) == 7


def test_instances_depend_on_the_seed_alone() -> None:
    assert random_instances(SIZE, 3, 5) == random_instances(SIZE, 3, 5) != random_instances(SIZE, 3, 6)
    walked = random_instances(SIZE, 3, 5, walk=1)
    assert {one.puzzle.start for one in walked} <= {SIZE.walk(1, seed).start for seed in range(20)}


@pytest.mark.slow
def test_databases_of_blocks_find_optimal_plans() -> None:
    """A row without learning: the greatest cost of the twelve patterns that the networks see."""
    size = parse_puzzle("blocks:15")
    check_heuristic(size, "databases")
    heuristic, about = puzzle_heuristic(size, "databases")
    assert about == {"heuristic": "databases"}
    instances = random_instances(size, 5, seed=1, walk=5000)
    config = SearchConfig(table_bytes=1 << 26)
    found = [one["cost"] for one in solve_instances(instances, heuristic, config, about)]
    assert found == [optimal_cost(instance.puzzle) for instance in instances]
