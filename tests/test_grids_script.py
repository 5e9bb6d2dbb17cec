"""`benchmarks/grids.py` runs on small maps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hstar.recipes import train
from scripts import load_script

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "grids.py"


@pytest.mark.slow
def test_the_tables_have_a_row_for_each_case() -> None:
    command = [sys.executable, str(SCRIPT), "--size", "20", "--scenarios", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    searches, labels, sweep = (part.splitlines()[2:] for part in done.stdout.strip().split("\n\n"))
    assert (len(searches), len(labels), len(sweep)) == (24, 27, 7)
    assert all(float(row.split("|")[3]) > 0 for row in searches), "every search finds a path"
    factors = [float(row.split("|")[3]) for row in sweep]
    assert factors[0] == 1 and factors[1:] == sorted(factors[1:]), "more labels with a greater k_pr"


def test_queries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One goal and many starts; what is measured is not measured again."""
    train("prolonged", scenarios=2, rows=8, columns=8, updates=1).save(tmp_path / "m.hstar")
    module, out = load_script("grids"), tmp_path / "q.jsonl"
    words = ["--queries", str(tmp_path / "m.hstar"), "--sides", "12,20", "--starts", "4", "--out", str(out)]
    assert module["main"](words) == 0
    printed, kept = capsys.readouterr().out, out.read_text()
    assert "| 12 x 12 |" in printed and "| 20 x 20 |" in printed and len(kept.splitlines()) == 2
    assert module["main"](words) == 0 and out.read_text() == kept
    capsys.readouterr()
    assert module["main"](["--print", str(out), "--table", "queries"]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == printed.splitlines()[4:6]


def test_from_how_many_starts_on_it_pays() -> None:
    pays = load_script("grids")["pays_from"]
    record = {"network_ms": 10.0, "network": {"search_ms": 1.0}, "A*": {"search_ms": 4.0}}
    assert pays(record, "A*") == "4"
    assert pays({**record, "A*": {"search_ms": 0.5}}, "A*") == "never"
