"""The benchmark of the learning track runs planners and knowledge, and counts what they solve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hstar.experiments.knowledge import Knowledge, steps_of
from hstar.generators import GENERATORS
from hstar.spaces.pddl import parse_task
from hstar.spaces.relations import vocabulary
from scripts import load_script


@pytest.fixture
def track(tmp_path: Path) -> Path:
    """One domain with a task, and knowledge without learning."""
    domain, problem = GENERATORS.get("gripper")(balls=2, seed=0)
    easy = tmp_path / "track" / "gripper" / "dev" / "easy"
    easy.mkdir(parents=True)
    (tmp_path / "track" / "gripper" / "domain.pddl").write_text(domain)
    (easy / "p01.pddl").write_text(problem)
    (tmp_path / "knowledge").mkdir()
    words = vocabulary(parse_task(domain, problem))
    Knowledge(words, steps_of([])).save(tmp_path / "knowledge" / "gripper.hstar")
    return tmp_path


def test_planners_and_knowledge(track: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main, file = load_script("learning_track")["main"], track / "rows.jsonl"
    contestants = ["ff", f"learn={track / 'knowledge'}"]
    command = [*contestants, "--tasks", str(track / "track"), "--cpu", "20", "--out", str(file)]
    assert main(command) == 0
    kept = file.read_text()
    assert main(command) == 0 and file.read_text() == kept  # nothing is repeated
    assert [json.loads(line)["status"] for line in kept.splitlines()] == ["solved", "solved"]
    capsys.readouterr()
    assert main(["--print", str(file), "--table", "coverage"]) == 0
    assert "| gripper | 1 | 1 | 1 |\n" in capsys.readouterr().out


def test_scores() -> None:
    report = load_script("learning_track")["report"]

    def run(planner: str, task: str, **found: Any) -> dict[str, Any]:
        return {"planner": planner, "task": task, "cpu": 60, "status": "time_limit", "cpu_s": 60.0, **found}

    runs = [
        run("lama-first", "d/easy/p1", status="solved", cpu_s=0.5, cost=20),
        run("learn", "d/easy/p1", status="solved", cpu_s=60.0, cost=10),
        run("lama-first", "d/hard/p1"),
        run("learn", "d/hard/p1", status="solved", cpu_s=1.0, cost=5),
        run("learn", "d/hard/p2", status="solved", cpu_s=1.0, cost=5),  # not run by all: in no table
    ]
    tables = {name: text.splitlines()[2:] for name, (_, text) in report(runs).items()}
    assert tables["coverage"] == ["| d | 2 | 1 | 2 |", "| all | 2 | 1 | 2 |"]
    assert tables["levels"][:2] == ["| easy | 1 | 1 | 1 |", "| hard | 1 | 0 | 1 |"]
    assert tables["quality"][0] == "| d | 2 | 0.5 | 2.0 |"
    assert tables["agile"][0] == "| d | 2 | 1.0 | 1.0 |"
    assert tables["gain"] == ["| d | learn | 1 | 0 |"]
