"""`benchmarks/bounded_tasks.py`: what searches with a bound took, and whether they kept it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiments.runs import search
from hstar.errors import InputError
from hstar.experiments.store import Store
from scripts import load_script


def row(contestant: str, cost: int | None, lower: int | None, task: str = "p1") -> dict[str, Any]:
    place = {"step": "search", "domain": "d", "instance": task, "start": "own", "contestant": contestant}
    about = {"search": contestant.split()[0], "seed": 0, "status": "solved" if cost else "time_limit"}
    return {**place, **about, "cost": cost, "lower_bound": lower, "expansions": 8, "search_time": 0.5}


@pytest.mark.parametrize(
    ("rows", "broken"),
    [
        ([row("astar", 10, 10), row("focal ff 1.5", 15, 10)], [0, 0]),
        ([row("astar", 10, 10), row("wastar 1.5", 16, None)], [0, 1]),
        # Weighted A* has proven it by theory, whatever its lower bound is; focal has to prove it.
        ([row("wastar 1.5", 15, 5), row("focal ff 1.5", 15, 9)], [0, 1]),
        ([row("focal ff 2", 15, None)], [1]),
        # A bound that another plan refutes, also of a search that found none; a plan below the optimum.
        ([row("wastar 2", 10, 9), row("focal ff 1.1", None, 11)], [0, 1]),
        ([row("astar", 10, 10), row("wastar 2", 9, 9)], [1, 1]),
        ([row("wastar 2", 10, 9), row("focal ff 1.1", None, 11, "p2")], [0, 0]),
    ],
)
def test_violations(rows: list[dict[str, Any]], broken: list[int]) -> None:
    assert list(load_script("bounded_tasks")["violations"](rows).values()) == broken


def test_lines() -> None:
    rows = [row("astar", 10, 10), row("astar", None, 7, "p2")]
    rows += [row("wastar 1.5", 12, 10), row("wastar 1.5", None, 7, "p2")]
    rows += [{**row("focal ff 1.5", 15, 10), "ratio": 1.5}, row("focal ff 1.5", 9, 8, "p2")]
    lines = load_script("bounded_tasks")["lines_of"](rows, "some")
    assert lines == [
        ["some", "1", "astar", "1 of 2", "1", "8", "0.5000", "1", "–", "0"],
        ["some", "1.5", "wastar", "1 of 2", "1", "8", "0.5000", "1.200", "–", "0"],
        ["some", "1.5", "focal ff", "2 of 2", "1", "8", "0.5000", "1.500", "1.500", "0"],
    ]


def test_errors_are_left_out_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(tmp_path / "run") as store:
        for task in ("p1", "p2"):
            for name in ("astar", "focal ff 2"):
                about = {"domain": "d", "instance": task, "contestant": name, "seed": 0, "start": "own"}
                status = "error" if (task, name) == ("p2", "astar") else "solved"
                figures = {"cost": 4, "lower_bound": 4, "search": name.split()[0], "ratio": 1.0}
                search(store, about, status=status, **figures, expansions=3, search_time=0.25)
    main = load_script("bounded_tasks")["main"]
    for more in ([], ["--table", "domains"]):
        assert main([str(tmp_path / "run"), *more]) == 0
        printed = capsys.readouterr().out
        title = "d" if more else "run"
        assert f"| {title} | 2 | focal ff | 1 of 1 | 1 | 3 | 0.2500 | 1 | 1 | 0 |" in printed
        assert printed.endswith("ended with an error: 1.\n")
    with Store(tmp_path / "empty"):
        pass
    with pytest.raises(InputError, match="no searches"):
        main([str(tmp_path / "empty")])
