"""`benchmarks/prolonged.py`: what is finished is not repeated, and tables say what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import load_script


@pytest.mark.slow
def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, file = load_script("prolonged"), tmp_path / "p.jsonl"
    words = ["--scenarios", "4", "--tests", "2", "--k-pr", "inf", "--model", "value-map", "--updates", "2"]
    words += ["--eps", "1", "--eps", "2", "--maps", "scattered", "--maps", "maze", "--out", str(file)]
    assert module["main"](words) == 0
    printed = capsys.readouterr().out
    assert (
        "| scattered | weighted h_adm | 2 |" in printed and "| maze | PHS, k_pr = inf, value-map" in printed
    )
    kept = file.read_text()
    assert len(kept.splitlines()) == 2 + 2 * 3 * 2
    assert module["main"](words) == 0 and file.read_text() == kept
    assert module["main"](["--print", str(file)]) == 0
    assert capsys.readouterr().out == 2 * printed
    assert sorted(path.name for path in (tmp_path / "p").iterdir()) == [
        "value-map_VAN_4_2_-2.5_0.hstar",
        "value-map_inf_4_2_-2.5_0.hstar",
    ]


def test_what_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, file = load_script("prolonged"), tmp_path / "p.jsonl"
    common = {"part": "search", "build": "b", "maps": "maze", "eps": "1 2", "reopened": {}}
    who = {"model": "value-map", "data": "2", "scenarios": 5, "updates": 1000, "a": 0.0, "seed": 0}
    lines = []
    for number, cost in enumerate((10.0, 20.0)):
        times = {"1": 0.001, "2": 0.001}
        plain = {"cost": {"1": 10.0, "2": 10.0}, "expanded": {"1": 50, "2": 40}, "search_s": times}
        own = {"cost": {"1": 10.0, "2": cost}, "expanded": {"1": 30, "2": 10 + number}, "search_s": times}
        lines.append({**common, "model": "weighted", "number": number, **plain, "network_s": 0.0})
        lines.append({**common, **who, "number": number, **own, "network_s": 0.004})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert module["main"](["--print", str(file), "--table", "expansions", "--table", "times"]) == 0
    printed = capsys.readouterr().out
    assert "| maze | weighted h_adm | 2 | 50.0 (1.000) | 40.0 (1.000) |" in printed
    name = "PHS, k_pr = 2, value-map, a = 0, 1,000 updates"
    assert f"| maze | {name} | 2 | 30.0 (1.000) | 10.5 (1.500) |" in printed
    assert f"| maze | {name} | 4.00 | 5.000 | 5.000 |" in printed
