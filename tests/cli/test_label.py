"""`hstar label`, `hstar train wl`, and planning with what they learned."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hstar.sampling import relational

from .conftest import Refused, Run


@pytest.fixture
def folder(hstar: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three small problems with their domain."""
    monkeypatch.chdir(tmp_path)
    assert hstar("generate", "blocksworld", "--blocks", "3", "--seeds", "3", "-o", "train").code == 0
    return tmp_path


def problems(folder: Path) -> list[Path]:
    return sorted(file for file in (folder / "train").glob("*.pddl") if file.stem != "domain")


def test_from_problems_to_a_plan(hstar: Run, folder: Path) -> None:
    done = hstar("sample", "optimal", "train", "-o", "states.data", "--jobs", "2")
    assert done.code == 0, done
    assert done.err.endswith("states of 3 problems, 0 left out\n")
    report = hstar("report", "states.data.run", "--format", "markdown")
    assert re.search(r"\| blocksworld-4ops \| labels \| 3 \| 3 \| \d+ \| [0-9.]+ \|", report.out), report
    assert hstar("report", "states.data.run").code == 0
    options = ("--format", "markdown", "--table", "problems", "--contestant", "lab*")
    assert "| labels |" in hstar("report", "states.data.run", *options).out
    data = relational.load(folder / "states.data")
    assert [instance.name for instance in data.instances] == [file.stem for file in problems(folder)]
    done = hstar("train", "wl", "states.data", "-o", "model.hstar", "--least-states", "1")
    assert (done.code, done.out) == (0, "")
    assert "of 3 tasks of blocksworld-4ops" in done.err
    record = json.loads(hstar("info", "model.hstar", "--json").out)
    assert (record["recipe"], record["trained_for"]) == ("wl", "domain blocksworld-4ops")
    assert hstar("generate", "blocksworld", "--blocks", "6", "--seeds", "1", "-o", "larger").code == 0
    (problem,) = (file for file in (folder / "larger").glob("*.pddl") if file.stem != "domain")
    assert hstar("solve", problem, "--heuristic", "model.hstar", "-q").code == 0


def test_states_along_plans_of_the_user(hstar: Run, refused: Refused, folder: Path) -> None:
    first, second, third = (file.stem for file in problems(folder))
    plans = Path("plans")
    plans.mkdir()
    (plans / f"{first}.plan").write_text("(pickup b1)\n")
    (plans / f"{second}.plan").write_text("(unstack b2 b1)\n(stack b2 b3)\n(pickup b1)\n(stack b1 b2)\n")
    detour = "(unstack b3 b1)\n(stack b3 b1)\n"
    (plans / f"{third}.plan").write_text(f"{detour}(pickup b2)\n(stack b2 b3)\n")
    words = ("sample", "plans", "train", "--plan-dir", "plans", "-o", "states.data")
    done = hstar(*words)
    assert done.code == 0, done
    assert f"left out: plans/{first}.plan: no plan of {first}.pddl: step 1" in done.err
    assert "10 states of 2 problems, 1 left out; labels of 1 are upper bounds" in done.err
    instances = relational.load(folder / "states.data").instances
    assert [(one.name, one.columns["exact"][0]) for one in instances] == [(second, 1), (third, 0)]
    for instance in instances:
        assert instance.columns["label"][:5].tolist() == [4, 3, 2, 1, 0]
        assert len(instance.columns["label"]) > 5, "siblings"
    for file in plans.iterdir():
        file.unlink()
    assert "no plan of any of the problems in this folder" in refused(33, *words)


@pytest.mark.slow
def test_what_a_report_refuses(hstar: Run, refused: Refused, folder: Path) -> None:
    assert hstar("sample", "optimal", "train", "-o", "states.data", "-q").code == 0
    report = ("report", "states.data.run", "--format", "markdown")
    assert "unknown table 'problem'" in refused(33, *report, "--table", "problem")
    assert refused(33, *report, "--contestant", "x*") == "no contestant fits x*"
    page = refused(33, "report", "states.data.run", "--table", "problems")
    assert page == "--table is for markdown and LaTeX, not for html"


@pytest.mark.slow
def test_what_is_done_is_not_done_again(hstar: Run, folder: Path) -> None:
    words = ("sample", "optimal", "train", "-o", "states.data", "--json", "-q")
    first = hstar(*words)
    assert [json.loads(line)["status"] for line in first.out.splitlines()] == ["labelled"] * 3
    (folder / "states.data").unlink()
    again = hstar(*words)
    assert [json.loads(line)["seconds"] for line in again.out.splitlines()] == [
        json.loads(line)["seconds"] for line in first.out.splitlines()
    ]
    assert (folder / "states.data").is_file()


def test_one_problem(hstar: Run, folder: Path) -> None:
    problem = problems(folder)[0]
    done = hstar("sample", "optimal", problem, "-o", "states.data", "--json", "-q")
    record = json.loads(done.out)
    assert (done.code, record["status"]) == (0, "labelled")
    assert record["states"] == record["cost"] + 1 == len(relational.load(folder / "states.data").instances[0])
    assert {path.name for path in folder.iterdir()} == {"train", "states.data"}


def test_the_first_that_gets_labels(hstar: Run, refused: Refused, folder: Path) -> None:
    """What cannot be solved and what is solved already is passed over; what comes later is not looked at."""
    texts = [problem.read_text() for problem in problems(folder)]
    begin, goal = texts[0].index("(:init"), texts[0].index("(:goal")
    tower = "(on b1 b2) (on b2 b3)"
    init = f"(:init (arm-empty) (on-table b3) (clear b1) {tower})"
    (folder / "train" / "a-never.pddl").write_text(texts[0][:goal] + "(:goal (and (on b1 b2) (on b2 b1))))")
    (folder / "train" / "b-done.pddl").write_text(texts[0][:begin] + init + f"(:goal (and {tower})))")
    names = [file.stem for file in problems(folder)]
    assert len(names) == 5
    done = hstar("sample", "optimal", "train", "-o", "states.data", "--first", "--json")
    assert done.code == 0, done
    record = json.loads(done.out)
    assert (record["status"], record["problem"], record["attempt"]) == ("labelled", names[2], 3)
    assert done.err.endswith(f"states.data: {record['states']} states ({names[2]}, 3 of 5 problems)\n")
    data = relational.load(folder / "states.data")
    assert [instance.name for instance in data.instances] == [names[2]]
    assert {path.name for path in folder.iterdir()} == {"train", "states.data"}
    # The order is that of the command.
    given = [folder / "train" / f"{name}.pddl" for name in (names[0], names[4], names[2])]
    done = hstar("sample", "optimal", *given, "-o", "states.data", "--first", "--json", "-q")
    assert json.loads(done.out)["problem"] == names[4]
    # None at all.
    done = hstar(
        *("sample", "optimal"),
        *given[:1],
        folder / "train" / "b-done.pddl",
        "-o",
        "none.data",
        "--first",
        "--json",
    )
    assert (done.code, json.loads(done.out)["status"]) == (12, "unlabelled")
    assert "the goal holds from the start (b-done, 2 of 2 problems)" in done.err
    assert not (folder / "none.data").exists()
    words = ("sample", "optimal", given[0], "-o", "none.data", "--first", "--keep-empty", "--json", "-q")
    assert json.loads(hstar(*words).out)["states"] == 0
    assert not relational.load(folder / "none.data").instances
    message = "--first writes what it finds at once: there is no --run of it"
    assert refused(33, "sample", "optimal", "train", "-o", "x", "--first", "--run", "r") == message


@pytest.mark.slow
def test_problems_beyond_the_limits_are_left_out(hstar: Run, refused: Refused, folder: Path) -> None:
    done = hstar("sample", "optimal", problems(folder)[0], "-o", "states.data", "--time-limit", "0", "--json")
    assert done.code == 12
    assert json.loads(done.out)["status"] == "unlabelled"
    assert "no optimal plan: time limit" in done.err
    message = refused(33, "sample", "optimal", "train", "-o", "states.data", "--time-limit", "0", "-q")
    assert "no problem was solved within the limits" in message
    assert not (folder / "states.data").exists()


@pytest.mark.slow
def test_what_is_refused(hstar: Run, refused: Refused, folder: Path) -> None:
    assert "absent.pddl: no such file" in refused(33, "sample", "optimal", "absent.pddl", "-o", "x")
    assert (
        hstar("generate", "ferry", "--locations", "2", "--cars", "2", "--seeds", "1", "-o", "other").code == 0
    )
    message = refused(33, "sample", "optimal", "train", "other", "-o", "x", "-q")
    assert "problems of several domains: blocksworld-4ops, ferry" in message
    (folder / "empty").mkdir()
    assert "no problems in this folder" in refused(33, "sample", "optimal", "empty", "-o", "x")
    assert "cannot write the data" in refused(33, "sample", "optimal", "train", "-o", "absent/x")
    broken = folder / "train" / "zzz.pddl"
    broken.write_text("(define (problem")
    message = refused(31, "sample", "optimal", "train", "-o", "states.data", "-q")  # before any work
    assert "zzz.pddl:1:9: missing ')'" in message
    broken.unlink()
    assert hstar("sample", "optimal", "train", "-o", "states.data", "-q").code == 0
    train = ("train", "wl", "states.data", "-o", "model.hstar")
    assert "--width is not an option of wl" in refused(33, *train, "--width", "5")
    assert "checkpoint is not an option of wl" in refused(33, *train, "--checkpoint", "c")
    assert "iterations must be a whole number from 0 to 20" in refused(33, *train, "--iterations", "99")
    assert "is PDDL, and not a file of labelled states" in refused(
        33, "train", "wl", problems(folder)[0], "-o", "m"
    )
    assert "--iterations is not an option of fsm" in refused(
        33, "train", "fsm", problems(folder)[0], "-o", "m", "--iterations", "2"
    )
    assert hstar(*train, "--least-states", "1").code == 0
    solve = ("solve", problems(folder)[0], "--heuristic", "model.hstar")
    assert "a precision is for networks" in refused(34, *solve, "--precision", "int16")
