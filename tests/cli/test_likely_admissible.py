"""`hstar train likely-admissible PROBLEM`, and what `solve`, `calibrate` and `info` make of the model."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from hstar.models.trained_model import load_model

from .conftest import DATA, Refused, Run, generated, start

ROOT = Path(__file__).parents[2]
SMALL = [
    *("--iterations", "2", "--tasks", "4", "--nodes", "5000", "--hidden", "6", "--planner-steps", "30"),
    *("--known-steps", "50"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    generated("blocksworld", tmp_path, blocks=4, seed=1)
    return tmp_path


def test_from_the_goal_to_a_plan(hstar: Run, refused: Refused, folder: Path) -> None:
    trained = hstar("train", "likely-admissible", "problem.pddl", "-o", "m.hstar", *SMALL, "--json")
    assert trained.code == 0, trained
    record = json.loads(trained.out)
    assert (record["recipe"], record["iterations"], record["tasks"]) == ("likely-admissible", 2, 8)
    assert re.search(r"m.hstar: likely-admissible, \d+ atoms, 2 iterations, \d of 8 tasks", trained.err)
    about = json.loads(hstar("info", "m.hstar", "--json").out)
    assert json.loads(about["estimate"])["name"] == "gaussian" and "blocksworld" in about["trained_for"]
    solve = ("solve", "problem.pddl", "--search", "astar", "-e", "m.hstar", "--json")
    first = {
        words: json.loads(hstar(*solve, *words).out)["initial_h"]
        for words in ((), ("--alpha", "0.9"), ("--rule", "quantile:0.1"), ("--alpha", "0.1"))
    }
    assert first["--alpha", "0.9"] == first["--rule", "quantile:0.1"] <= first[()] < first["--alpha", "0.1"]
    assert "either --rule or --alpha" in refused(33, *solve, "--alpha", "0.9", "--rule", "mean")
    assert "alpha must be a number above 0, below 1, got 2" in refused(33, *solve, "--alpha", "2")
    assert "--alpha is for model files, not for the default heuristic" in refused(
        33, "solve", "problem.pddl", "--alpha", "0.9"
    )


def test_calibrated_as_any_model_of_a_task(hstar: Run, folder: Path) -> None:
    assert hstar("train", "likely-admissible", "problem.pddl", "-o", "m.hstar", *SMALL, "-q").code == 0
    words = ("calibrate", "m.hstar", "problem.pddl", "--walks", "6", "--confidence", "0.5", "-o", "c.hstar")
    record = json.loads(hstar(*words, "--rule", "quantile:0.1", "--json", "-q").out)
    assert record["of"] == {"name": "quantile", "level": 0.1}
    told = json.loads(hstar("solve", "problem.pddl", "-s", "astar", "-e", "c.hstar", "--json").out)
    assert told["promise"]["kept"]


def test_a_checkpoint_is_gone_on_from(hstar: Run, refused: Refused, folder: Path) -> None:
    command = ("train", "likely-admissible", "problem.pddl", *SMALL, "--checkpoint", "run.part", "-q")
    assert hstar(*command, "-o", "one.hstar").code == 0
    before = Path("run.part").read_bytes()
    assert hstar(*command, "-o", "two.hstar").code == 0
    assert Path("run.part").read_bytes() == before
    assert load_model("one.hstar").summary == load_model("two.hstar").summary
    assert "another training (seed" in refused(33, *command, "-o", "one.hstar", "--seed", "7")
    wrong = refused(33, *command[:2], "tiles:2x3", *command[3:], "-o", "one.hstar")
    assert "another training" in wrong


@pytest.mark.slow
def test_ctrl_c(folder: Path) -> None:
    generated("npuzzle", folder, rows=4, columns=4, seed=1)
    words = ("--iterations", "100000", "--checkpoint", "run.part", "-o", "m.hstar")
    process = start("train", "likely-admissible", "problem.pddl", *SMALL[2:], *words)
    while not Path("run.part").exists():
        with pytest.raises(subprocess.TimeoutExpired):  # it goes on, and leaves the processor to it
            process.wait(timeout=0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert re.search(
        r"interrupted: m.hstar has the best model so far; to go on from run.part, run the same", err
    )
    assert load_model("m.hstar").recipe == "likely-admissible"


def test_mistakes(refused: Refused, folder: Path) -> None:
    def wrong(code: int, *words: str | Path) -> str:
        return refused(code, "train", "likely-admissible", *words, "-o", "m.hstar", "-q")

    costs = DATA / "costs" / "problem.pddl"
    assert "has actions that do not cost 1" in wrong(34, costs)
    assert "axioms: walks from its goal need regression" in wrong(34, DATA / "briefcase" / "problem.pddl")
    assert "walks from its goal" in wrong(34, DATA / "reach" / "problem.pddl", "--unit-cost")
    assert "no action leads to the goal" in wrong(33, DATA / "unsolvable" / "problem.pddl", "--unit-cost")
    assert "none.pddl: no such file" in wrong(33, "none.pddl")
    assert "unknown profile of likely-admissible 'fast'" in wrong(33, "problem.pddl", "--profile", "fast")
    assert "--states is not an option of likely-adm" in wrong(33, "problem.pddl", "--states", "5")
    assert "--unit-cost is not an option of likely-admissible for a puzzle" in wrong(
        33, "tiles:2x3", "--unit-cost"
    )
    assert not Path("m.hstar").exists()
