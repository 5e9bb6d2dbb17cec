"""The benchmark of lama-first runs contestants on the same tasks, and counts what they solve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hstar.experiments.fast_downward import FastDownward
from hstar.generators import GENERATORS
from scripts import load_script


@pytest.mark.slow
def test_contestants_run_on_the_same_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if FastDownward.find() is None:
        pytest.skip("needs Fast Downward: pip install 'hstar[bench]'")
    domain, problem = GENERATORS.get("gripper")(balls=2, seed=0)
    folder, file = tmp_path / "sets" / "ipc" / "gripper", tmp_path / "rows.jsonl"
    folder.mkdir(parents=True)
    (folder / "domain.pddl").write_text(domain)
    (folder / "p01.pddl").write_text(problem)

    def main(*words: str) -> int:
        return int(load_script("lama")["main"](words))

    places = ["--tasks", str(tmp_path / "sets"), "--work", str(tmp_path / "work"), "--out", str(file)]
    command = ["--sets", "ipc", "--cpu", "20", "--others", "lazy-ff,gbfs-ff", *places]
    assert main(*command) == 0
    kept = file.read_text()
    assert main(*command) == 0 and file.read_text() == kept  # nothing is repeated
    assert [json.loads(line)["status"] for line in kept.splitlines()] == ["solved"] * 4
    capsys.readouterr()
    assert main("--print", str(file), "--table", "contestants") == 0
    out = capsys.readouterr().out
    assert "lama-first, solved | lazy-ff, solved | gbfs-ff, solved | Fast Downward, solved" in out
    assert "| ipc/gripper | 1 | 1 | 1 | 1 | 1 |" in out


def test_contestants_are_compared_on_tasks_that_all_have_run() -> None:
    contestants = load_script("lama")["contestants"]

    def run(config: str, task: str, **found: Any) -> dict[str, Any]:
        planner = "hstar" if config else "fast_downward"
        return {"planner": planner, "config": config, "task": task, "solved": False, "cost": None, **found}

    runs = [
        run("lama-first", "ipc/d/p1", solved=True, cost=20),
        run("", "ipc/d/p1", solved=True, cost=10),
        run("lama-first", "ipc/d/p2"),
        run("", "ipc/d/p2", solved=True, cost=7),
        run("lama-first", "ipc/d/p3", solved=True, cost=3),  # not run by all: counts nowhere
    ]
    table = contestants(runs).splitlines()
    assert table[0] == (
        "| domain | tasks | lama-first, solved | Fast Downward, solved | lama-first, quality | "
        "Fast Downward, quality |"
    )
    assert table[2:] == ["| ipc/d | 2 | 1 | 2 | 0.5 | 2.0 |", "| all | 2 | 1 | 2 | 0.5 | 2.0 |"]


def test_times_are_compared_where_one_of_two_searches_takes_long_enough() -> None:
    times = load_script("lama")["times"]

    def run(config: str, task: str, seconds: float, solved: bool = True) -> dict[str, Any]:
        known = {"planner": "hstar", "config": config, "task": task, "solved": solved, "cost": 5}
        return {**known, "total_time": seconds + 0.3, "search_time": seconds}

    runs = [
        run(config, f"ipc/d/p{number}", *found)
        for config, column in (
            ("astar-lmcut", [(0.01,), (0.7,), (2.7,), (9.7, False)]),
            ("astar-lmcp", [(0.05,), (0.2,), (0.3,), (5.0,)]),
        )
        for number, found in enumerate(column)
    ]
    row = times(runs).splitlines()[2]
    # 0.5 / 1 and 0.6 / 3: geometric mean 0.316
    assert row == "| astar-lmcut, astar-lmcp | 4 | 0 | 1 | 3 | 3 | 2 | 0 | 2 | 0.32 |"
