"""Heuristics that are tried for admissibility, on all kinds of spaces."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hstar
from conftest import DATA
from hstar.cli import main
from hstar.errors import InputError
from hstar.search.result import Result
from hstar.spaces.grid_maps import random_problem

EXAMPLES = Path(__file__).parents[2] / "examples"


def problems() -> dict[str, Any]:
    return {
        "task": hstar.load(DATA / "blocks" / "problem.pddl"),
        "axioms": hstar.load(DATA / "reach" / "problem.pddl"),  # which lmcut does not support
        "puzzle": hstar.load("tiles:3x3"),
        "map": random_problem(2, rows=8, columns=8),
        "own": hstar.load(f"{EXAMPLES / 'own_space.py'}:Lights").at(0b100011),
    }


@pytest.mark.parametrize("kind", problems())
def test_values_above_the_true_cost_are_seen(kind: str) -> None:
    problem = problems()[kind]
    options = {"walks": 5, "steps": 2}
    fine = hstar.check_heuristic(problem, "zero", **options)
    assert fine.fine and fine.detail == "at most the true cost at 6 of 6 starts"
    for value in (1000.0, math.inf):
        found = hstar.check_heuristic(
            problem, lambda states, value=value: np.full(len(states), value), **options
        )
        assert not found.fine and "where an optimal plan costs" in found.detail
        assert f"{value:g} at " in found.detail


def test_claims_are_tried_and_hold() -> None:
    problem = problems()["puzzle"]
    assert hstar.check_heuristic(problem, "manhattan").fine
    twice = hstar.check_heuristic(problem, hstar.Sum("manhattan", "manhattan"), seed=3)
    assert not twice.fine and "walk(" in twice.detail and "seed=" in twice.detail


def test_mistakes() -> None:
    problem = problems()["puzzle"]
    for options, message in (({"walk": 3}, "did you mean 'walks'"), ({"walks": -1}, "walks must be")):
        with pytest.raises(InputError, match=message):
            hstar.check_heuristic(problem, "zero", **options)
    with pytest.raises(InputError, match="unknown heuristic of tiles 'manhatten'"):
        hstar.check_heuristic(problem, "manhatten")


@pytest.mark.parametrize(("name", "code"), [("columns", 0), ("twice", 33)])
def test_from_the_command_line(name: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", "tiles:3x3", "--heuristic", f"{EXAMPLES / 'own_heuristic.py'}:{name}", "--walks", "20"]
    with pytest.raises(SystemExit) as stop:
        main([*words, "--json"])
    assert stop.value.code == code
    assert json.loads(capsys.readouterr().out)["fine"] == (code == 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--heuristic", "manhattan"], "expected a heuristic as file.py:NAME, got 'manhattan'"),
        (["--heuristic", f"{EXAMPLES / 'own_heuristic.py'}:rows"], "has no heuristic 'rows'"),
        (
            ["--heuristic", f"{EXAMPLES / 'own_heuristic.py'}:columns", "--states", "9"],
            "--states is for a space",
        ),
        ([], "tiles:3x3 is a puzzle"),
    ],
)
def test_mistakes_on_the_command_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["check", "tiles:3x3", *words])
    assert stop.value.code == 33 and message in capsys.readouterr().err


def test_an_interrupt_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[str] = []

    def stopped(problem: Any, heuristic: Any, search: str, **options: Any) -> Result:
        searches.append(search)
        return Result("interrupted")

    monkeypatch.setattr("hstar.search.admissibility.solve", stopped)
    with pytest.raises(KeyboardInterrupt):
        hstar.check_heuristic(hstar.load("tiles:2x3"), "manhattan")
    assert searches == ["astar"]
