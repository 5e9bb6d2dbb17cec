"""`benchmarks/bounded.py`: every search keeps the bound; what is finished is not repeated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import load_script

INSTANCES = """id,tiles,optimal_cost
a,4 1 2 3 5 6 10 7 8 9 0 11 12 13 14 15,4
b,1 2 3 0 4 5 6 7 8 9 10 11 12 13 14 15,3
"""


def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, file, instances = load_script("bounded"), tmp_path / "b.jsonl", tmp_path / "korf.csv"
    module["DATABASES"]["databases"] = (((1, 2, 3), (4, 8, 12)),)  # those of the script take seconds
    instances.write_text(INSTANCES)
    words = [str(instances), "--out", str(file), "--limit", "1000"]
    assert module["main"](words) == 0
    printed = capsys.readouterr().out
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(rows) == 2 * (3 * 7 + 1)
    for row in rows:
        assert (row["status"], row["violations"]) == ("solved", 0)
        assert row["optimum"] <= row["cost"] <= row["bound"] * row["optimum"]
    assert "| 1.1 | weighted IDA* | manhattan | | 2 of 2 |" in printed
    assert "| 2 | focal | manhattan | databases | 2 of 2 |" in printed
    kept = file.read_text()
    assert module["main"](words) == 0 and file.read_text() == kept
    assert module["main"](["--print", str(file)]) == 0
    assert capsys.readouterr().out == 2 * printed


def test_violations_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, file = load_script("bounded"), tmp_path / "b.jsonl"
    common = {"part": "bounded", "build": "b", "bound": 1.5, "search": "focal", "guide": "g", "anchor": "a"}
    found = {"status": "solved", "optimum": 10, "lower_bound": 10, "cpu_time": 0.5}
    lines = [
        {**common, **found, "id": "1", "cost": 12, "expanded": 10, "violations": 0},
        {**common, **found, "id": "2", "cost": 20, "expanded": 20, "violations": 1},
        {**common, **found, "id": "3", "cost": None, "expanded": 60, "violations": 0},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert module["main"](["--print", str(file), "--table", "bounded"]) == 0
    shown = capsys.readouterr().out.splitlines()[-1]
    assert shown == "| 1.5 | focal | g | a | 2 of 3 | 30 | 20 | 0.500 | 1.600 | 1 |"
