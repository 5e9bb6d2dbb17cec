"""`benchmarks/task_generation.py`: a row for each way of making tasks, and the same from the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from hstar.search.solve import solve
from hstar.spaces.puzzles import parse_puzzle
from scripts import load_script


@pytest.mark.slow
def test_a_small_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, file = load_script("task_generation"), tmp_path / "rows.jsonl"
    command = ["--puzzle", "tiles:2x3", "--runs", "1", "--sets", "2", "--iterations", "2", "--budget", "2e3"]
    assert module["main"]([*command, "--out", str(file)]) == 0
    printed = capsys.readouterr().out
    rows = [line for line in printed.splitlines() if line.startswith(("| walks", "| uncertainty"))]
    assert len(rows) == len(module["WAYS"]) == len(file.read_text().splitlines())
    assert module["main"]([*command, "--out", str(file)]) == module["main"](["--print", str(file)]) == 0
    assert capsys.readouterr().out == 2 * printed


def test_the_budget_is_for_all_tests() -> None:
    tested, size = load_script("task_generation")["tested"], parse_puzzle("tiles:2x3")
    tasks = [size.walk(moves, seed=1_000_000 + moves) for moves in range(1, 101)]
    nodes = [solve(task, "manhattan", "idastar").generated for task in tasks]
    assert tested(size, "manhattan", 1, 2 * sum(nodes)) == [100]
    assert 40 < tested(size, "manhattan", 1, sum(nodes[:50]))[0] <= 51
