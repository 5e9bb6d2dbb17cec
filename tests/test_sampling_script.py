"""The sampling benchmark runs: its tables have all samplers, no upper bound is wrong, the figure is drawn."""

from __future__ import annotations

import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conftest import DATA

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "sampling.py"


def test_quick_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    module = runpy.run_path(str(SCRIPT))
    figure = tmp_path / "new" / "sampling.svg"
    given = DATA / "blocks" / "problem.pddl"
    assert module["main"]([str(given), "--quick", "--figure", str(figure)]) == 0
    printed = capsys.readouterr().out
    for column in [*module["TIMED"], *module["LABELLED"]]:
        assert f"| {column} |" in printed
    assert "| problem.pddl |" in printed
    assert "Upper bounds below h*: 0." in printed
    assert ElementTree.parse(figure).getroot().tag.endswith("svg")
    assert figure.stat().st_size < 60_000


def test_tasks_that_samplers_cannot_do(capsys: pytest.CaptureFixture[str]) -> None:
    """They get dashes and a reason, and the others go on."""
    module = runpy.run_path(str(SCRIPT))
    assert module["main"]([str(DATA / "briefcase" / "problem.pddl"), "--quick"]) == 0
    printed = capsys.readouterr()
    assert " | – | – |" in printed.out
    assert "which does not support" in printed.err
