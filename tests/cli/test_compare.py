"""`hstar compare`: coverage, time and cost on a folder of problems, and what is said about a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hstar.cli.compare import comparison
from hstar.generators import GENERATORS

from .conftest import Refused, Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three small problems with their domain, and a model of the domain."""
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "folder"
    home.mkdir()
    for seed in range(3):
        domain, problem = GENERATORS.get("blocksworld")(blocks=3 + seed, seed=seed)
        (home / "domain.pddl").write_text(domain)
        (home / f"p{seed}.pddl").write_text(problem)
    return home


def test_models_heuristics_and_aliases_are_compared(hstar: Run, refused: Refused, folder: Path) -> None:
    assert hstar("train", folder, "-o", "m.hstar", "-q").code == 0
    done = hstar("compare", folder, "m.hstar", "ff", "lama-first", "--time-limit", "5s", "--json", "-q")
    assert done.code == 0
    record = json.loads(done.out)
    assert (record["problems"], record["common"]) == (3, 3)
    assert [(one["name"], one["solved"]) for one in record["contestants"]] == [
        ("m", 3),
        ("ff", 3),
        ("lama-first", 3),
    ]
    (verdict,) = record["verdicts"]
    assert verdict["model"] == "m" and verdict["best"] in ("ff", "lama-first")
    text = hstar("compare", folder, "m.hstar", "ff", "--time-limit", "5s", "-q").out
    assert "| m | 3 of 3 | 0 |" in text
    assert "m is worse than ff" in text or "m saves" in text

    assert "contestant" in refused(33, "compare", folder, "fff")
    assert "is not a folder of problems" in refused(33, "compare", "absent", "ff")


def row(contestant: str, instance: str, status: str, seconds: float) -> dict[str, Any]:
    return {"contestant": contestant, "instance": instance, "status": status, "seconds": seconds, "cost": 5}


def test_an_unsolved_problem_counts_with_the_limit_and_training_is_repaid() -> None:
    rows = [
        row("m", "a", "solved", 1.0),
        row("m", "b", "solved", 1.0),
        row("ff", "a", "solved", 2.0),
        row("ff", "b", "time_limit", 11.0),
    ]
    record = comparison(rows, ["m", "ff"], {"m": 40.0}, 10.0)
    (verdict,) = record["verdicts"]
    assert verdict == {"model": "m", "best": "ff", "worse": False, "gain": 5.0, "repaid_after": 8}


def test_a_model_that_solves_less_is_named() -> None:
    rows = [row("m", "a", "time_limit", 10.0), row("ff", "a", "solved", 9.0)]
    (verdict,) = comparison(rows, ["m", "ff"], {"m": 40.0}, 10.0)["verdicts"]
    assert verdict["worse"] and verdict["repaid_after"] is None
