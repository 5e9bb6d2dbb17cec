"""`hstar learn` and `hstar plan`: from problems of a domain to knowledge, and from that to plans."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hstar.experiments.knowledge import Knowledge, load, steps_of
from hstar.generators import GENERATORS
from hstar.spaces.pddl import read_task
from hstar.spaces.relations import vocabulary

from .conftest import DATA, Refused, Run, generated, start

UNSOLVABLE = """\
(define (problem none) (:domain blocksworld) (:objects b1 b2)
 (:init (on-table b1) (clear b1) (on-table b2) (clear b2) (arm-empty)) (:goal (and (on b1 b2) (on b2 b1))))
"""


def write_problems(folder: Path, *sizes: int) -> Path:
    """Blocks-world problems p0, p1, ... of these sizes, and their domain beside the folder."""
    folder.mkdir(parents=True)
    for number, blocks in enumerate(sizes):
        domain, problem = GENERATORS.get("blocksworld")(blocks=blocks, seed=number)
        (folder.parent / "domain.pddl").write_text(domain)
        (folder / f"p{number}.pddl").write_text(problem)
    return folder


@pytest.fixture(scope="session")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with knowledge of the blocks world, its domain and its problems."""
    home = tmp_path_factory.mktemp("learn")
    write_problems(home / "problems", 3, 3, 4, 4, 5, 6)
    words = ("learn", "domain.pddl", "problems", "-o", "knowledge.hstar", "--budget", "60s", "--json")
    process = start(*words, cwd=home)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    record = json.loads(out)
    assert record["learned"] and not record["interrupted"]
    assert record["labelled"] == 6 and record["notes"] == []
    assert record["time_s"] < 60
    assert {score["name"] for score in record["selection"][0]} >= {"lazy-ff", "lama-first", "wl-ranking-gbfs"}
    assert record["steps"][-1] == "lama-first"
    return home


@pytest.fixture
def home(learned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, to be changed."""
    shutil.copytree(learned, tmp_path / "home")
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home"


def test_knowledge_solves_other_problems(hstar: Run, home: Path) -> None:
    write_problems(home / "more" / "larger", 12)
    words = ("plan", "knowledge.hstar", "domain.pddl", "more/larger/p0.pddl", "plan.txt")
    done = hstar(*words, "--time-limit", "60s", "--memory-limit", "2G")
    assert (done.code, done.out) == (0, "")
    assert "solved: plan of length" in done.err
    assert hstar("validate", "domain.pddl", "more/larger/p0.pddl", "plan.txt").code == 0
    record = json.loads(hstar("info", "knowledge.hstar", "--json").out)
    assert record["domain"] == "blocksworld-4ops" and record["learned"] and "lama-first" in record["steps"]


def test_knowledge_is_not_a_model(refused: Refused, home: Path) -> None:
    said = refused(33, "solve", "domain.pddl", "problems/p0.pddl", "--heuristic", "knowledge.hstar")
    assert said == "knowledge.hstar: knowledge of a domain, not a model; hstar plan runs it"


def test_tasks_that_are_refused(refused: Refused, home: Path) -> None:
    other = DATA / "costs"
    said = refused(33, "plan", "knowledge.hstar", other / "domain.pddl", other / "problem.pddl", "plan.txt")
    assert "is of another domain than blocksworld" in said
    (home / "bad.pddl").write_text(
        Path("problems/p0.pddl").read_text().replace("(:goal (and", "(:goal (and (clear x)")
    )
    assert "bad.pddl" in refused(31, "plan", "knowledge.hstar", "domain.pddl", "bad.pddl", "plan.txt")
    assert "no such file" in refused(
        33, "plan", "absent.hstar", "domain.pddl", "problems/p0.pddl", "plan.txt"
    )
    content = (home / "knowledge.hstar").read_bytes()
    (home / "cut.hstar").write_bytes(content[:-9])
    assert "cut.hstar" in refused(33, "plan", "cut.hstar", "domain.pddl", "problems/p0.pddl", "plan.txt")
    assert not (home / "plan.txt").exists()


def test_unsolvable_tasks_and_limits_have_their_exit_codes(hstar: Run, home: Path) -> None:
    Path("none.pddl").write_text(UNSOLVABLE)
    words = ("plan", "knowledge.hstar", "domain.pddl")
    assert hstar(*words, "none.pddl", "plan.txt").code == 11
    assert hstar(*words, "problems/p5.pddl", "plan.txt", "--time-limit", "0s").code == 23
    assert not Path("plan.txt").exists()


def test_plans_are_checked_and_bad_ones_named(hstar: Run, refused: Refused, home: Path) -> None:
    (home / "plans").mkdir()
    learn = ("learn", "domain.pddl", "problems", "-o", "new.hstar", "--budget", "3s", "--plans", "plans")
    (home / "plans" / "p0.plan").write_text("(drive truck a b)\n")
    assert "p0.plan: no plan of p0.pddl" in hstar(*learn).err
    said = hstar(*learn)
    assert said.code == 33 and "plans: no plan of any of the problems in this folder" in said.err
    words = ("plan", "knowledge.hstar", "domain.pddl", "problems/p1.pddl", "plans/p1.plan", "-q")
    assert hstar(*words).code == 0
    done = hstar(*learn)
    assert done.code == 0 and "p0.plan: no plan of p0.pddl" in done.err
    load(Path("new.hstar"))


def test_a_small_budget_leaves_symbolic_knowledge(hstar: Run, refused: Refused, home: Path) -> None:
    done = hstar("learn", "domain.pddl", "problems", "-o", "small.hstar", "--budget", "1s")
    assert done.code == 0
    assert [step.candidate.name for step in load(Path("small.hstar")).steps][-1] == "lama-first"
    assert hstar("plan", "small.hstar", "domain.pddl", "problems/p0.pddl", "plan.txt").code == 0
    said = refused(33, "learn", "domain.pddl", "problems", "-o", "small.hstar", "--budget", "0s")
    assert said == "--budget takes 1s or more"


def test_a_domain_without_solvable_problems_leaves_symbolic_knowledge(hstar: Run, home: Path) -> None:
    Path("none.pddl").write_text(UNSOLVABLE)
    done = hstar("learn", "domain.pddl", "none.pddl", "-o", "none.hstar", "--budget", "20s")
    assert done.code == 0
    assert "nothing learned: no plan of a problem was found in time" in done.err
    assert "symbolic, since no model was trained" in done.err
    assert not load(Path("none.hstar")).learned


def test_broken_problems_are_left_out(hstar: Run, refused: Refused, home: Path) -> None:
    Path("broken.pddl").write_text("(define (problem")
    learn = ("learn", "domain.pddl", "-o", "new.hstar", "--budget", "2s")
    assert "broken.pddl:1:9: missing ')'" in refused(31, *learn, "broken.pddl")
    done = hstar(*learn, "broken.pddl", "problems/p0.pddl")
    assert done.code == 0 and "left out: broken.pddl" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
def test_a_signal_leaves_valid_knowledge(home: Path, seconds: float) -> None:
    words = ("learn", "domain.pddl", "problems", "-o", "new.hstar", "--budget", "1h")
    process = start(*words, cwd=home)
    time.sleep(seconds)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode in (0, 128 + signal.SIGTERM, -signal.SIGTERM), err
    if Path("new.hstar").exists():  # not if it had hardly been started
        knowledge = load(Path("new.hstar"))
        assert knowledge.interrupted == (process.returncode != 0)
        assert knowledge.steps[-1].candidate.name == "lama-first"
    else:
        assert seconds < 8 and err in ("", "hstar: error: interrupted\n")
    assert list(home.glob(".*.part")) == []


@pytest.mark.parametrize("task", ["slow_to_translate", "sliding"])
def test_a_signal_ends_planning(tmp_path: Path, request: pytest.FixtureRequest, task: str) -> None:
    """While it translates, and while it searches."""
    if task == "sliding":
        problem = generated("npuzzle", tmp_path / "npuzzle", rows=8, columns=8, seed=1)
    else:
        problem = request.getfixturevalue(task)
    domain = problem.with_name("domain.pddl")
    Knowledge(vocabulary(read_task(domain, problem)), steps_of([])).save(tmp_path / "k.hstar")
    process = start("plan", tmp_path / "k.hstar", domain, problem, tmp_path / "plan.txt")
    time.sleep(3)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (128 + signal.SIGTERM, "")
    assert err == "" or err.startswith("interrupted; ") or err == "hstar: error: interrupted\n"
    assert [path.name for path in tmp_path.glob("*plan.txt*")] == []


def test_a_symbolic_plan_imports_nothing_heavy(home: Path) -> None:
    Knowledge(load(Path("knowledge.hstar")).words, steps_of([])).save(Path("symbolic.hstar"))
    script = (
        "import sys\nfrom hstar.cli import main\n"
        "try:\n    main(['plan', 'symbolic.hstar', 'domain.pddl', 'problems/p0.pddl', 'plan.txt', '-q'])\n"
        "finally:\n    print({'numpy', 'torch', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "set()\n", "")
