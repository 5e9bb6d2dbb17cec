"""The benchmark of experiments runs, and its tables have figures that can be."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "experiments.py"


def test_quick_run(capsys: pytest.CaptureFixture[str]) -> None:
    module = runpy.run_path(str(SCRIPT))
    code = module["main"](["--jobs", "20", "--rows", "500", "--repeats", "1"])
    assert code in (0, 1)  # how loaded this machine is, is not what is tested
    printed = capsys.readouterr().out
    jobs = re.search(r"\| 20 \| 2 \| ([0-9.]+) \| ([0-9.]+) \| (-?[0-9.]+) \|", printed)
    rows = re.search(r"\| 500 \| \d+ \| \d+ \| ([0-9.]+) \| ([0-9.]+) \|", printed)
    assert jobs and rows, printed
    assert float(jobs[2]) > 0 < float(rows[2])
