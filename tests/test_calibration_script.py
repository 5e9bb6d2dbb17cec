"""`benchmarks/calibration.py`: promises are counted as they should be; what is finished is not repeated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import load_script


@pytest.mark.slow
def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, file = load_script("calibration"), tmp_path / "c.jsonl"
    setting = module["Setting"]({"blocks": (4,)}, {"blocks": (5,)}, training=3)
    module["SETTINGS"].clear()
    module["SETTINGS"]["blocksworld"] = setting
    words = ["--calibration", "22", "--fresh", "2", "--larger", "1", "--out", str(file)]
    assert module["main"](words) == 0
    printed = capsys.readouterr().out
    for confidence, bound, form in module["RULES"]:
        what = "optimal" if bound == 1 else f"at most {bound:g} times"
        assert f"| wl, {form} | {what} | {confidence:g} |" in printed
    kept = file.read_text()
    assert len(kept.splitlines()) == 3
    assert module["main"](words) == 0 and file.read_text() == kept
    assert module["main"](["--print", str(file)]) == 0
    assert capsys.readouterr().out == 2 * printed


def test_what_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of four problems, one plan is too long by 1, and one by a half; one problem has no plan at all."""
    module, file = load_script("calibration"), tmp_path / "c.jsonl"
    names = [module["named"](rule) for rule in module["RULES"]]
    common = {"part": "calibration", "build": "b", "domain": "visitall", "role": "fresh", "calibration": 9}
    lines = [{**common, "number": 9, "optimum": None}]
    for number, cost in enumerate((10, 10, 11, 15)):
        costs = dict.fromkeys(["mean", "lmcut", "blind", *names], cost)
        expanded = dict.fromkeys(costs, 10**number)
        score = {"additive": float(number), "ratio": 1.0}
        quantile = dict.fromkeys(names, 1.0)
        lines.append(
            {
                **common,
                "number": number,
                "optimum": 10.0,
                "cost": costs,
                "expanded": expanded,
                "score": score,
                "quantile": quantile,
            }
        )
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert module["main"](["--print", str(file), "--table", "kept"]) == 0
    printed = capsys.readouterr().out
    half = "0.500 (0.150 to 0.850)"
    assert f"| visitall | 4 | wl, additive | optimal | 0.9 | {half} | {half} | 32 |" in printed
    row = "| visitall | 4 | wl, ratio | at most 1.5 times | 0.9 | 1.000 (0.510 to 1.000) | 1.000"
    assert row in printed
    assert f"| visitall | 4 | wl, not calibrated | | | {half} | | 32 |" in printed


def test_intervals() -> None:
    """Wilson's, as tables have them."""
    interval = load_script("calibration")["interval"]
    assert interval(450, 500) == pytest.approx((0.8706, 0.9234), abs=1e-4)
    assert interval(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
