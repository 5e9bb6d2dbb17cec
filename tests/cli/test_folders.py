"""`hstar train FOLDER`: from a folder of problems, and plans that a user has, to a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hstar.cli.runs import run_jobs
from hstar.generators import GENERATORS

from .conftest import DATA, Refused, Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three small problems with their domain."""
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "folder"
    home.mkdir()
    for seed in range(3):
        domain, problem = GENERATORS.get("blocksworld")(blocks=3 + seed, seed=seed)
        (home / "domain.pddl").write_text(domain)
        (home / f"p{seed}.pddl").write_text(problem)
    return home


def test_a_folder_with_plans_and_what_is_left_out(hstar: Run, folder: Path) -> None:
    plans = folder.parent / "plans"
    plans.mkdir()
    assert hstar("solve", folder / "p2.pddl", "-q", "--plan-file", plans / "p2.plan").code == 0
    (plans / "p1.soln").write_text((plans / "p2.plan").read_text())  # of another problem
    (folder / "zzz.pddl").write_text("(define (problem")
    done = hstar("train", "folder", "-o", "m.hstar", "--plans", "plans")
    assert (done.code, done.out) == (0, "")
    assert "zzz.pddl:1:9: missing ')'" in done.err and "p1.soln: no plan of p1.pddl" in done.err
    assert "3 of 4 problems used" in done.err and "on held-out tasks" in done.err
    record = json.loads(hstar("info", "m.hstar", "--json").out)
    assert record["recipe"] == "wl"
    assert hstar("solve", folder / "p2.pddl", "--heuristic", "m.hstar", "-q").code == 0


def test_folders_that_are_refused(refused: Refused, folder: Path) -> None:
    (folder.parent / "empty").mkdir()
    assert "no problems in this folder" in refused(33, "train", "empty", "-o", "m.hstar")
    train = ("train", "wl", "folder", "-o", "m.hstar")
    assert "is not a folder of plans" in refused(33, *train, "--plans", "absent")
    (folder / "domain.pddl").rename(folder.parent / "domain.pddl")
    assert "no domain.pddl in this folder" in refused(33, *train)


def test_conditional_effects_and_negative_goals(hstar: Run, refused: Refused, tmp_path: Path) -> None:
    """Lights Out: from a folder, for one task without regression, and what cannot be learned."""
    lights, model = DATA / "lights", tmp_path / "m.hstar"
    assert "4 of 4 problems used" in hstar("train", lights, "-o", model).err
    assert hstar("solve", lights / "p07.pddl", "--heuristic", model, "--search", "gbfs", "-q").code == 0
    short = ("--states", "300", "--epochs", "2")
    done = hstar("train", "nrsl", lights / "p04.pddl", "-o", model, *short)
    assert done.code == 0
    assert "regression does not support conditional effects: states are sampled forward" in done.err
    assert hstar("solve", lights / "p04.pddl", "--heuristic", model, "-q").code == 0
    train = ("train", "truncated", lights, "-q", "-o", model)
    said = refused(34, *train)
    assert said == "lmcut has no values for conditional effects and axioms; use hmax or none as lower"
    said = refused(34, *train, "--lower", "hmax", "--model", "nlm")
    assert said == "nlm cannot read negative goals such as (not (lit c0-0)); wl can"
    said = refused(34, "train", "likely-admissible", lights / "p04.pddl", "-o", model, "--iterations", "1")
    assert said.endswith("which does not support them; fsm, nrsl and rsl sample it forward")


def test_a_folder_with_the_name_of_shipped_data(hstar: Run, folder: Path) -> None:
    """It is used if it has a domain.pddl."""
    train = ("train", "wl", "gripper", "-o", "m.hstar")
    note = "gripper: the folder is used, not the data that come with hstar"
    Path("gripper").mkdir()
    done = hstar(*train)
    assert done.code == 0 and "tasks of gripper" in done.err and note not in done.err
    Path("gripper").rmdir()
    folder.rename("gripper")
    done = hstar(*train)
    assert done.code == 0 and note in done.err and "3 tasks of blocksworld" in done.err


@pytest.mark.parametrize("done", [0, 2])
def test_interrupted_labelling_keeps_its_labels(
    hstar: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, done: int
) -> None:
    def interrupted(store: Any, jobs: Any, *rest: Any, **options: Any) -> None:
        run_jobs(store, jobs[:done], *rest, **options)

    monkeypatch.setattr("hstar.cli.folders.run_jobs", interrupted)
    ended = hstar("train", "folder", "-o", "m.hstar", "-q")
    assert (ended.code, ended.out) == (130, "") and not Path("m.hstar").exists()
    said = (
        "the labels of 2 of 3 problems are in m.labels.data, which hstar train wl takes instead of the folder"
    )
    said = said if done else "no problem was labelled yet"
    assert ended.err == f"hstar: interrupted: {said}; no model is written\n"
    if done:
        assert hstar("train", "wl", "m.labels.data", "-o", "m.hstar", "-q").code == 0
