"""`benchmarks/likely_admissible.py`: what is finished is not repeated, and shares are of what they say."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from scripts import load_script


@pytest.mark.slow
def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, file = load_script("likely_admissible"), tmp_path / "l.jsonl"
    quick = {"iterations": 2, "tasks": 3, "nodes": 2000, "hidden": 6, "planner_steps": 20, "known_steps": 50}
    settings = module["SETTINGS"]
    small = {
        "npuzzle": replace(settings["npuzzle 3x3"], sizes={"rows": 2, "columns": 3}, options=quick),
        "blocksworld": replace(settings["blocksworld 8"], sizes={"blocks": 4}, options=quick),
    }
    settings.clear()
    settings.update(small)
    words = ["--starts", "3", "--seeds", "2", "--out", str(file)]
    assert module["main"](words) == 0
    printed = capsys.readouterr().out
    for name in small:
        assert f"| {name} | | lmcut | 100 | 100.0 | 0.00 |" in printed
        assert f"| {name} | 2 | alpha 0.9 |" in printed
    kept = file.read_text()
    assert len(kept.splitlines()) == 6
    assert module["main"](words) == 0 and file.read_text() == kept
    assert module["main"](["--print", str(file)]) == 0
    assert capsys.readouterr().out == 2 * printed


def test_what_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of four starts one plan is too long by a half, and one is missing; two trainings differ."""
    module, file = load_script("likely_admissible"), tmp_path / "l.jsonl"
    common = {"part": "likely-admissible", "build": "b", "setting": "npuzzle 3x3", "starts": 4, "options": ""}
    lines = [{**common, "seed": None, "results": {"lmcut": 4 * [(10, 7)]}}]
    for seed, last in enumerate((10, 11)):
        found = [(10, 1), (15, 2), (None, 9), (last, 4)]
        training = {"iterations": 2, "solved": 3, "tasks": 4, "states": 9, "generated": 99, "alpha": 0.9}
        record = {**common, "seed": seed, "results": {"alpha 0.9": found}}
        record |= {"training": {**training, "cpu_s": 5.0}, "curve": [(2, 1, 0.99), (1, None, 0.9)]}
        lines.append(record)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert module["main"](["--print", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "| npuzzle 3x3 | | lmcut | 100 | 100.0 | 0.00 | 7 |" in printed
    row = "| npuzzle 3x3 | 2 | alpha 0.9 | 75 | 50.0 ± 23.6 | 18.33 ± 2.36 | 4 |"
    assert row in printed
    assert "| npuzzle 3x3 | 1 | 2 | 3 of 4 | 1 | 9 | 99 | 0.9 | 5 |" in printed


def test_fresh_starts_are_states() -> None:
    module = load_script("likely_admissible")
    for seed in range(5):
        rng = random.Random(seed)
        atoms = module["random_puzzle"]({"rows": 2, "columns": 3}, rng)
        assert len(atoms) == 6 and sum(atom.startswith("empty") for atom in atoms) == 1
        blocks = module["random_blocks"]({"blocks": 5}, rng)
        assert sum(atom.startswith("on") for atom in blocks) == 5 and "arm-empty()" in blocks
