"""`benchmarks/before_after.py` measures two builds in turns and finds the slower one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts import BENCHMARKS, load_script

PROBLEM = Path(__file__).parent / "data" / "blocks" / "problem.pddl"


def test_means_and_worst_cases() -> None:
    script = load_script("before_after")
    found = {"one": (100.0, 200.0), "two": (100.0, 50.0), "three": (10.0, 10.0)}
    mean, worst = script["summary"](found)
    assert mean == pytest.approx(1) and worst == "two"
    lines = script["report"]({"idastar": found, "grids": {}}).splitlines()
    assert lines[2] == "| idastar | 3 | 1.000 | 0.500 | two |"
    assert "| idastar | one | 100 | 200 | 2.000 |" in lines


@pytest.mark.slow
def test_a_build_beside_itself() -> None:
    command = [sys.executable, str(BENCHMARKS / "before_after.py"), sys.executable, sys.executable]
    command += [str(PROBLEM), "--rounds", "1", "--seconds", "0.2", "--nodes", "2000", "--size", "20"]
    done = subprocess.run([*command, "--least", "0"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines()[2:6]]
    assert [row[0].strip("| ") for row in rows] == ["fast_downward", "idastar", "grids", "network"]
    assert [int(row[1]) for row in rows] == [5, 18, 24 + 27, 4]


def test_unknown_tables_are_refused() -> None:
    command = [sys.executable, str(BENCHMARKS / "before_after.py"), "a", "b", "--tables", "tiles"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "unknown tables: tiles (known: fast_downward" in done.stderr
