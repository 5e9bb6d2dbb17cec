"""benchmarks/truncated_default.py: its problems, and its searches on one domain, measured once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import load_script


def test_attempts_have_other_problems_of_the_same_sizes(tmp_path: Path) -> None:
    problems = load_script("truncated_default")["large_problems"]
    folders = [tmp_path / str(attempt) for attempt in (0, 1)]
    texts = []
    for attempt, folder in enumerate(folders):
        folder.mkdir()
        assert len(problems("ferry", attempt, 2, folder)) == 2
        texts.append([(folder / f"ferry-{i}.pddl").read_text() for i in (0, 1)])
    for one, other in zip(*texts, strict=True):
        assert one != other and one.count(" c") == other.count(" c")


def test_rows_and_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = load_script("truncated_default")
    monkeypatch.setitem(script["main"].__globals__, "shipped", lambda: {"ferry": Path("ferry.data")})
    out = tmp_path / "rows.jsonl"
    words = ["--number", "1", "--seeds", "0", "--out", str(out)]
    assert script["main"](words) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["heuristic"] for row in rows] == ["ff"] * 3 + ["truncated"] * 3
    assert all(row["solved"] == row["of"] == 1 for row in rows)
    shown = capsys.readouterr().out
    assert f"| truncated, seed 0 | as in the paper | 100 %, {rows[3]['evaluations']:,.0f} |" in shown
    assert script["main"](words) == 0  # nothing is measured twice
    assert len(out.read_text().splitlines()) == 6
    assert script["main"](["--print", str(out)]) == 0
