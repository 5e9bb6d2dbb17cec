"""`benchmarks/grids.py` runs on small maps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "grids.py"


def test_the_tables_have_a_row_for_each_case() -> None:
    command = [sys.executable, str(SCRIPT), "--size", "20", "--scenarios", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    searches, labels, sweep = (part.splitlines()[2:] for part in done.stdout.strip().split("\n\n"))
    assert (len(searches), len(labels), len(sweep)) == (24, 27, 7)
    assert all(float(row.split("|")[3]) > 0 for row in searches), "every search finds a path"
    factors = [float(row.split("|")[3]) for row in sweep]
    assert factors[0] == 1 and factors[1:] == sorted(factors[1:]), "more labels with a greater k_pr"
