"""`benchmarks/puzzle_calibration.py`: promises are counted rightly; what is finished is not repeated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from puzzle_models import made
from scripts import load_script


def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a network that was never trained, since it is found where trained ones are kept."""
    module, file = load_script("puzzle_calibration"), tmp_path / "c.jsonl"
    module["SETTINGS"].clear()
    module["SETTINGS"]["tiles:2x3"] = module["Setting"]({}, walk=9)
    made().save(tmp_path / "tiles-2x3.hstar")
    words = ["--calibration", "20", "--fresh", "3", "--out", str(file), "--models", str(tmp_path)]
    assert module["main"](words) == 0
    printed = capsys.readouterr().out
    for confidence in module["CONFIDENCES"]:
        assert printed.count(f"| tiles:2x3 | 3 | {confidence:g} |") == 2
    assert printed.count("| optimal | 3 |") == 2
    kept = file.read_text()
    assert len(kept.splitlines()) == 3
    assert module["main"](words) == 0 and file.read_text() == kept
    assert module["main"](["--print", str(file)]) == 0
    assert capsys.readouterr().out == 2 * printed
    # Another bound, walk or table is another measurement, and the one that is shown.
    for number, change in enumerate(({"bound": 1.5}, {"walk": 3}, {"table_bytes": 1 << 16}), 2):
        module["SETTINGS"]["tiles:2x3"] = module["Setting"]({}, **{"walk": 9, **change})
        assert module["main"](words) == 0
        assert len(file.read_text().splitlines()) == 3 * number
        printed = capsys.readouterr().out
        assert printed.count("| at most 1.5 times | 3 |") == (2 if "bound" in change else 0)
        assert module["main"](["--print", str(file), "--table", "kept", "--table", "shift"]) == 0
        for line in capsys.readouterr().out.splitlines():
            assert line in printed


def test_what_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of four instances two scores are within; one has no plan, and one plan is too long."""
    module, file = load_script("puzzle_calibration"), tmp_path / "c.jsonl"
    quantiles = {f"{confidence:g}": 1.0 for confidence in module["CONFIDENCES"]}
    lines = [
        {
            **{"part": "puzzle calibration", "build": "b", "puzzle": "pancake:24", "model": "m", "number": i},
            **{"calibration": 9, "nodes": 100, "optimum": 10, "score": float(i)},
            "quantile": dict.fromkeys(module["SOURCES"], quantiles),
            "cost": {"uniform": 10, "walks": cost},
            "generated": {"uniform": 1, "walks": 10**i},
        }
        for i, cost in enumerate((10, 10, 16, None))
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert module["main"](["--print", str(file), "--table", "shift"]) == 0
    printed = capsys.readouterr().out
    half, third = "0.500 (0.150 to 0.850)", "0.667 (0.208 to 0.939)"
    assert f"| pancake:24 | 4 | 0.9 | 1.00 | {half} | at most 1.5 times | 3 | {third} | 10 |" in printed
    assert f"| pancake:24 | 4 | 0.5 | 1.00 | {half} | | | | |" in printed
