"""The comparison with Fast Downward: its tables are made of the file alone, and a run goes on from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hstar.errors import InputError
from scripts import load_script

MAIN = load_script("fast_downward")["main"]
BOTH = ("fast_downward", "hstar")


def run(planner: str, config: str, task: str, limit: float, **found: Any) -> dict[str, Any]:
    where = {"planner": planner, "build": f"{planner} 1", "task": task, "config": config}
    own = {"status": "solved", "cost": 8, "evaluations": 40, "search_time": 2.5, "total_time": 3.0}
    return {**where, "time_limit": limit, "memory_limit": 4096, **own, **found}


def write(path: Path, runs: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in runs))
    return path


def test_rates_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = []
    for task, evaluations in (("blocks/probBLOCKS-4-0", 80), ("transport-opt11-strips/p01", 20)):
        found = {"initial_h": 3.0, "registered_states": 10**6, "memory_before_search": 0}
        runs.append(run("fast_downward", "hmax", task, 10, memory=40 * 10**6, **found))
        own = {**found, "evaluations": evaluations, "cpu_time": 1.0, "memory": 20 * 10**6}
        runs.append(run("hstar", "hmax", task, 10, **own))
    runs.append(run("fast_downward", "hmax", "grid/prob01", 10, search_time=0.1))  # too short to count
    file = write(tmp_path / "r.jsonl", runs)
    assert MAIN(["--print", str(file), "--table", "summary", "--table", "agreement"]) == 0
    summary, agreement = capsys.readouterr().out.strip().split("\n\n")
    # 80 and 20 a second against 16: the geometric mean of 5 and 1.25
    assert summary.endswith("| hmax (A*) | evaluations/s | 2 | 2.50 | 1.25 | 0.50 (2) |")
    cells = "2 of 2 | 2 of 2 | 0 of 2 | blocks 4-0, transport p01 | 2.50 (1.25 to 5.00), 2"
    assert agreement.endswith(f"| hmax (A*) | {cells} |")


def test_coverage_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    late = {"total_time": 61.0}  # solved, but not within the limit
    runs = [
        run("hstar", "gbfs-ff", "grid/prob01", 60),
        run("fast_downward", "gbfs-ff", "grid/prob01", 60, cost=9),
        run("hstar", "gbfs-ff", "trucks/p13", 60),
        run("fast_downward", "gbfs-ff", "trucks/p13", 60, **late),
        run("hstar", "astar-lmcut", "grid/prob01", 60),
        run("fast_downward", "astar-lmcut", "grid/prob01", 60),
        run("hstar", "astar-lmcut", "trucks/p13", 60, status="time_limit"),  # costs alone: no run of the peer
    ]
    file = write(tmp_path / "r.jsonl", runs)
    assert MAIN(["--coverage", "--print", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "## Unexplained errors\n\nNone.\n" in printed
    assert "| A* + lmcut | 1 that hstar solved | 1 | 1 | | | 1 of 1 |" in printed
    assert "| gbfs + ff | 2 | 2 | 1 | trucks p13 | | 0 of 1 |" in printed
    assert "- Fast Downward fast_downward 1, machine not recorded: 3 measurements" in printed


def test_contradictions_are_unexplained_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [
        run(planner, "astar-lmcut", "grid/prob01", 60, cost=cost)
        for planner, cost in zip(BOTH, (8, 9), strict=True)
    ]
    file = write(tmp_path / "r.jsonl", runs)
    assert MAIN(["--coverage", "--print", str(file), "--table", "errors"]) == 0
    assert capsys.readouterr().out == "- astar-lmcut, grid/prob01: optimal cost 8, hstar 9\n"


def test_one_limit_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [run(planner, "ff", "grid/prob01", limit) for planner in BOTH for limit in (2.5, 10)]
    file = write(tmp_path / "r.jsonl", runs)
    with pytest.raises(InputError, match=r"r.jsonl: runs of 2.5, 10 s: choose with --time"):
        MAIN(["--print", str(file)])
    assert MAIN(["--print", str(file), "--time", "10"]) == 0
    assert capsys.readouterr().out.count(": 1 measurement\n") == 2


@pytest.mark.slow
def test_a_run_goes_on_and_prints_what_its_file_prints(
    tmp_path: Path, downward: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "new" / "r.jsonl"
    wanted = ["--coverage", "--heuristics", "gbfs-ff", "--time", "30"]
    command = [*wanted, "--tasks", "generated/blocksworld-blocks12*", "--work", str(tmp_path / "work")]
    command += ["--ipc", str(tmp_path / "absent"), "--out", str(file), "--fast-downward", str(downward)]
    assert MAIN(command) == 0
    first = capsys.readouterr()
    assert "no competition tasks" in first.err
    assert "| gbfs + ff | 1 | 1 | 1 | | | " in first.out
    lines = file.read_text().splitlines()
    assert [json.loads(line)["planner"] for line in lines] == ["hstar", "fast_downward"]
    file.write_text(lines[0] + "\n" + lines[1][:30])  # killed while it wrote the second
    assert MAIN(command) == 0
    kept = file.read_text().splitlines()
    assert len(kept) == 3 and kept[0] == lines[0]
    again = capsys.readouterr().out
    assert MAIN([*wanted, "--print", str(file)]) == 0
    assert capsys.readouterr().out == again
