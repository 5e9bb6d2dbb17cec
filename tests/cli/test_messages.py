"""Mistakes that users make, each answered with one line that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import DATA, Refused, Run

BLOCKS = DATA / "blocks"


@pytest.fixture
def empty_goal(tmp_path: Path) -> Path:
    """A folder whose problem has an empty goal."""
    text = (BLOCKS / "problem.pddl").read_text()
    (tmp_path / "domain.pddl").write_text((BLOCKS / "domain.pddl").read_text())
    (tmp_path / "problem.pddl").write_text(text[: text.index("(:goal")] + "(:goal (and)))")
    return tmp_path


def test_an_empty_goal_in_training(refused: Refused, hstar: Run, empty_goal: Path) -> None:
    model = empty_goal / "m.hstar"
    said = refused(33, "train", "nrsl", empty_goal / "problem.pddl", "-o", model, "--states", "9", "-q")
    assert said.startswith("problem.pddl: its goal is empty, holds always or cannot be reached")
    done = hstar("train", empty_goal, "-o", model, "-q")
    assert done.code == 33 and "the goal holds from the start" in done.err
    assert "no problem got labels within 10 s each (--label-limit); the reasons are above" in done.err


def test_swapped_files(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "plan").write_text("")
    files = BLOCKS / "problem.pddl", BLOCKS / "domain.pddl"
    for words in (("solve", *files), ("validate", *files, tmp_path / "plan")):
        said = refused(31, *words)
        assert said.endswith(
            "problem.pddl: this is a problem, and the other file a domain; give the domain first"
        )


def test_no_memory_at_all(refused: Refused) -> None:
    said = refused(33, "solve", BLOCKS / "problem.pddl", "--memory-limit", "0")
    assert said.startswith("--memory-limit must be above 0; leave it out to have no limit")


def test_pddl_as_data(refused: Refused, tmp_path: Path) -> None:
    problem, output = BLOCKS / "problem.pddl", ("-o", tmp_path / "m.hstar")
    said = refused(33, "train", "wl", problem, *output)
    assert said.endswith(
        "is PDDL, and not a file of labelled states; hstar sample optimal makes them, "
        "and hstar train takes a folder of problems, too"
    )
    assert "hstar sample fsm makes them" in refused(33, "train", "fsm", problem, "--data", problem, *output)
    assert "is a directory, not a file" in refused(33, "train", "fsm", problem, "--data", tmp_path, *output)


def test_invalid_plans_have_a_documented_code(hstar: Run, tmp_path: Path) -> None:
    (tmp_path / "plan").write_text("(pick-up nothing)\n")
    assert hstar("validate", BLOCKS / "domain.pddl", BLOCKS / "problem.pddl", tmp_path / "plan").code == 1
    assert "1 invalid plan (validate)" in hstar("validate", "--help").out
