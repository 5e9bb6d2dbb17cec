"""Suites for models of a domain: label, train a model for each domain, plan from the problems' own starts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from hstar.errors import InputError
from hstar.experiments import LocalExecutor, Store, run
from hstar.experiments.suite import read_suite
from hstar.experiments.suite_jobs import suite_jobs
from hstar.generators import GENERATORS

SUITE = """
[limits]
time = "20s"

[[tasks]]
problems = ["large/*.pddl"]

[[label]]
name = "small"
problems = ["small/*.pddl"]
time = "20s"

[[label]]
name = "small"
generator = "gripper"
split = "train"
number = 2

[[train]]
name = "wl"
recipe = "wl"
data = "small"
options = { least-states = 1 }

[[plan]]
model = "wl"

[[plan]]
heuristic = "ff"
options = { max-evaluations = 7 }
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for folder, blocks in (("small", 3), ("large", 5)):
        (tmp_path / folder).mkdir()
        for seed in (0, 1):
            domain, problem = GENERATORS.get("blocksworld")(blocks=blocks, seed=seed)
            (tmp_path / folder / "domain.pddl").write_text(domain)
            (tmp_path / folder / f"p{seed}.pddl").write_text(problem)
    (tmp_path / "suite.toml").write_text(SUITE)
    return tmp_path


@pytest.mark.slow
def test_from_labels_to_plans(home: Path) -> None:
    with Store(home / "run") as store:
        jobs = suite_jobs(read_suite(home / "suite.toml"), home, store)
        assert Counter(job.kind for job in jobs) == {"label": 4, "train": 1, "search": 4}
        (training,) = (job for job in jobs if job.kind == "train")
        blocks = {
            job.key for job in jobs if job.labels["domain"].startswith("blocks") and job.kind == "label"
        }
        assert training.needs() == blocks
        rows = run(
            store, [job for job in jobs if job.labels["domain"].startswith("blocks")], LocalExecutor(2)
        )
    status = Counter((row["step"], row["contestant"], row["status"]) for row in rows)
    assert status == {
        ("label", "small", "labelled"): 2,
        ("train", "wl", "trained"): 1,
        ("search", "wl", "solved"): 2,
        ("search", "ff", "evaluation_limit"): 2,
    }
    assert {row["start"] for row in rows if row["step"] == "search"} == {"own"}


def test_which_trainings_can_go_on(home: Path) -> None:
    """`wl` takes no checkpoint: it is done in seconds."""
    for recipe, options, resumable in (("wl", "least-states = 1", False), ("truncated", "updates = 1", True)):
        text = SUITE.replace('recipe = "wl"', f'recipe = "{recipe}"').replace("least-states = 1", options)
        (home / "suite.toml").write_text(text)
        with Store(home / "run") as store:
            jobs = suite_jobs(read_suite(home / "suite.toml"), home, store)
        assert {job.resumable for job in jobs if job.kind == "train"} == {resumable}


def test_sizes_of_a_split(home: Path) -> None:
    old, new = 'split = "train"\nnumber = 2', 'split = "train"\nparameters = { balls = [4, 6] }\nnumber = 3'
    (home / "suite.toml").write_text(SUITE.replace(old, new))
    with Store(home / "run") as store:
        jobs = suite_jobs(read_suite(home / "suite.toml"), home, store)
    names = [job.labels["instance"] for job in jobs if job.labels["domain"] == "gripper"]
    assert len(names) == 3 and all("balls4" in name or "balls6" in name for name in names)


@pytest.mark.slow
def test_a_problem_without_a_plan_does_not_stop_the_training(home: Path) -> None:
    text = (home / "small" / "p1.pddl").read_text()
    goal = text.index("(:goal")
    (home / "small" / "p1.pddl").write_text(text[:goal] + "(:goal (and (on b1 b2) (on b2 b1))))")
    with Store(home / "run") as store:
        jobs = suite_jobs(read_suite(home / "suite.toml"), home, store)
        wanted = [
            job
            for job in jobs
            if job.labels["domain"].startswith("blocks") and job.kind in ("label", "train")
        ]
        rows = run(store, wanted, LocalExecutor(2))
    labelled = {row["instance"]: row["states"] for row in rows if row["step"] == "label"}
    assert labelled["blocksworld-4ops/p1"] == 0 < labelled["blocksworld-4ops/p0"]
    assert rows[-1]["status"] == "trained"
    assert json.dumps(rows[-1]["instances"]) == "1"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('data = "small"', 'data = "smal"', "unknown data 'smal'"),
        ('data = "small"\n', "", "'wl' needs data"),
        ('problems = ["small/*.pddl"]', 'problems = ["absent/*.pddl"]', "nothing matches 'absent"),
        ('problems = ["small/*.pddl"]', 'generator = "gripper"', "gripper: give a split"),
        ('problems = ["small/*.pddl"]\n', "", "either problems or a generator"),
        ('recipe = "wl"', 'recipe = "fsm"', "is for one task"),
        ('problems = ["large/*.pddl"]', 'instances = ["large/p0.pddl"]', "is for a domain"),
        (
            'problems = ["large/*.pddl"]',
            'generator = "ferry"\nsplit = "large"\nnumber = 1',
            "no labelled problems of ferry",
        ),
        ('split = "train"', 'split = "trian"', "unknown split 'trian'"),
        ('split = "train"', 'split = "train"\nparameters = { bals = 2 }', "unknown parameter 'bals'"),
        ('split = "train"', 'split = "train"\nparameters = { balls = 7 }', "no problem of train has balls7"),
        ("[[label]]\nname", "[[label]]\nnam", "unknown key 'nam'|missing required field"),
    ],
)
def test_what_is_refused(home: Path, old: str, new: str, message: str) -> None:
    (home / "suite.toml").write_text(SUITE.replace(old, new, 1))
    with Store(home / "run") as store, pytest.raises(InputError, match=message):
        suite_jobs(read_suite(home / "suite.toml"), home, store)
