"""`benchmarks/idastar.py` runs, and sees wrong costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "idastar.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.slow
def test_the_table_has_a_row_for_each_case(tmp_path: Path) -> None:
    file = tmp_path / "rates.jsonl"
    done = run("--nodes", "5000", "--out", str(file), "--table", "rates")
    assert done.returncode == 0, done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines()]
    assert len(rows) == 2 + 18
    assert all(float(row[-2]) > 0 for row in rows[2:]), "nodes a second"
    again = run("--print", str(file), "--table", "rates")
    assert (again.returncode, again.stdout) == (0, done.stdout)


@pytest.mark.slow
def test_threads_beside_one(tmp_path: Path) -> None:
    done = run("--threads", "2", "--nodes", "1000", "--table", "threads")
    assert done.returncode == 0, done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines()[2:]]
    assert [row[4].strip() for row in rows] == ["1", "2"] * (len(rows) // 2)
    assert all(float(row[-2]) == 1 for row in rows[::2]), "itself"


def test_a_wrong_cost_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "boards.csv"
    rest = " ".join(map(str, range(3, 16)))
    file.write_text(f"id,tiles,optimal_cost\n1,1 0 2 {rest},1\n2,1 2 0 {rest},2\n")
    kept = ("--out", str(tmp_path / "korf.jsonl"))
    assert run("--korf", str(file), *kept).returncode == 0
    file.write_text(file.read_text().replace(",2\n", ",3\n"))
    done = run("--korf", str(file), "--table", "korf", *kept)
    assert (done.returncode, done.stdout.splitlines()[-1].split("|")[1:3]) == (1, [" 2 ", " 1 "])
    assert run("--korf", str(file), "--first", "1").returncode == 0
