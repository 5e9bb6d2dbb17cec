"""The sampling benchmark: tables have all samplers, no bound is wrong, and all of it comes from a file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conftest import DATA
from hstar.errors import InputError
from scripts import load_script


@pytest.mark.slow
def test_quick_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    module = load_script("sampling")
    figure, file = tmp_path / "new" / "sampling.svg", tmp_path / "s.jsonl"
    given = DATA / "blocks" / "problem.pddl"
    command = [str(given), "--quick", "--out", str(file)]
    assert module["main"]([*command, "--figure", str(figure)]) == 0
    printed = capsys.readouterr().out
    for column in [*module["TIMED"], *module["LABELLED"]]:
        assert f"| {column} |" in printed
    assert "| problem.pddl |" in printed
    assert "upper bounds below h*: 0:" in printed
    assert ElementTree.parse(figure).getroot().tag.endswith("svg")
    assert figure.stat().st_size < 60_000
    # The same without measuring, the figure as well.
    kept, drawn = file.read_text(), figure.read_text()
    assert module["main"](command) == 0
    assert module["main"](["--quick", "--print", str(file), "--figure", str(figure)]) == 0
    assert capsys.readouterr().out == 2 * printed
    assert (file.read_text(), figure.read_text()) == (kept, drawn)
    assert (
        module["main"](["--quick", "--print", str(file), "--table", "bands", "--only", "blocksworld 3"]) == 0
    )
    bands = capsys.readouterr().out
    assert bands.startswith("| sampler | 0 to 4 |") and bands.count("\n") == 2 + len(module["LABELLED"])


def test_half_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Means and spreads are over the seeds that are there; what is not there gets a dash, or is missed."""
    module, file = load_script("sampling"), tmp_path / "s.jsonl"
    common = {"plan": "quick", "build": "b", "task": "t"}
    time = {"configuration": "fsm", "atoms": 7, "adaptive_length": 5, "total_s": 0.25, "labelling_s": 0.125}
    label = {"part": "labels", "configuration": "fsm", "reachable_states": 22, "wrong": 0}
    records = [
        {**common, **time, "part": "atoms", "states": 200, "family": "f"},
        {**common, **label, "seed": 0, "summary": [0.5, 1, 3, 1, 0.5, 2, 0.25], "bands": [[30, 20]] * 5},
        {**common, **label, "seed": 1, "summary": [0.5, 1, 5, 1, 0.5, 4, 0.25], "bands": [[15, 10]] * 5},
    ]
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert module["main"](["--quick", "--print", str(file)]) == 0
    printed = capsys.readouterr().out
    assert f"| t | 7 | 5 |{' – |' * 6} 250 (125) |" in printed
    cells = "50 % | 100 % | 4.00 ± 1.41 | 1.00 ± 0.00 | 50 % | 3.00 ± 1.41 | 25 %"
    assert f"| t (22) | fsm | {cells} |" in printed
    assert f"| t | fsm |{' 1.50 (30) |' * 5}" in printed
    with pytest.raises(InputError, match=re.escape(f"{file}: no measurements for the table train")):
        module["main"](["--quick", "--print", str(file), "--table", "train"])


def test_tasks_that_samplers_cannot_do(capsys: pytest.CaptureFixture[str]) -> None:
    """They get dashes and a reason, and the others go on."""
    module = load_script("sampling")
    assert module["main"]([str(DATA / "briefcase" / "problem.pddl"), "--quick"]) == 0
    printed = capsys.readouterr()
    assert " | – | – |" in printed.out
    assert "which does not support" in printed.err
