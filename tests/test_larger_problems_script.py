"""benchmarks/larger_problems.py on one tiny domain: rows, tables and the picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import load_script


@pytest.mark.slow
def test_rows_tables_and_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = load_script("larger_problems")
    script["SIZES"]["spanner"] = ([(2, 1, 2), (3, 2, 3)], [(4, 3, 3)])
    out, picture = tmp_path / "rows.jsonl", tmp_path / "picture.svg"
    words = ["--domains", "spanner", "--seeds", "1", "--out", str(out), "--work", str(tmp_path / "work")]
    assert script["main"](words) == 0
    assert len(out.read_text().splitlines()) == 1 + len(script["CONTESTANTS"])
    shown = capsys.readouterr().out
    assert "| spanner | 1 | 1 | 1 | 1 | 1 |" in shown and "| spanner | 004, 003, 003 | 1 |" in shown
    assert script["main"](words) == 0  # nothing is measured twice
    assert len(out.read_text().splitlines()) == 1 + len(script["CONTESTANTS"])
    assert script["main"](["--print", str(out), "--figure", str(picture)]) == 0
    assert picture.read_text().count("1 of 1") == len(script["CONTESTANTS"])
