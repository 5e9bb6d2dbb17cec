"""Suites for models of a domain: label, train a model for each domain, plan from the problems' own starts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from hstar.errors import InputError
from hstar.experiments.driver import LocalExecutor, run
from hstar.experiments.job import Job
from hstar.experiments.store import Store
from hstar.experiments.suite import read_suite
from hstar.experiments.suite_jobs import suite_jobs
from hstar.generators import GENERATORS, splits

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


ATTEMPTS = """
[[label]]
name = "small"
generator = "gripper"
split = "val"
parameters = { balls = [2, 4] }
number = 4
time = "10s"
attempts = 3
"""


def labels_of(home: Path, text: str) -> list[Job]:
    (home / "suite.toml").write_text(text)
    with Store(home / "run") as store:
        return suite_jobs(read_suite(home / "suite.toml"), home, store)


def test_attempts(home: Path) -> None:
    """The next problems of the same base seed go to the same job, as far as there are any."""
    plain = labels_of(home, ATTEMPTS.replace("attempts = 3\n", ""))
    assert [job.key for job in labels_of(home, ATTEMPTS.replace("3", "1"))] == [job.key for job in plain]
    cells = {sizes: splits.cell_attempts("gripper", {"balls": sizes}, 3)["val"] for sizes in (2, 4)}
    expected = [cells[2][0], cells[4][0], cells[2][1], cells[4][1]]
    assert [len(attempts) for attempts in expected] == [1, 3, 1, 3]
    found = labels_of(home, ATTEMPTS)
    for job, first, attempts in zip(found, plain, expected, strict=True):
        assert job.labels == first.labels
        names = [f"val-balls{one.sizes['balls']}-{one.seed}.pddl" for one in attempts]
        assert list(job.inputs) == [*names, "domain.pddl"]
        if len(attempts) == 1:
            assert job.key == first.key
            continue
        begin = first.command.index("optimal") + 1
        assert job.command[begin : begin + 3] == tuple(f"{{{name}}}" for name in names)
        others = job.command[:begin] + job.command[begin + 3 :]
        assert others == (
            *first.command[:begin],
            *first.command[begin + 1 : -3],
            "--first",
            *first.command[-3:],
        )
        assert (first.time_limit, job.time_limit) == (10, 10 + 2 * (10 + 30))


@pytest.mark.slow
def test_attempts_are_made(home: Path) -> None:
    with Store(home / "run") as store:
        (home / "suite.toml").write_text(ATTEMPTS.replace('"10s"', '"0s"'))
        never = run(store, suite_jobs(read_suite(home / "suite.toml"), home, store)[1:2], LocalExecutor(1))
        (home / "suite.toml").write_text(ATTEMPTS)
        once = run(store, suite_jobs(read_suite(home / "suite.toml"), home, store)[1:2], LocalExecutor(1))
    assert [(row["status"], row["states"], row["attempt"]) for row in never] == [("labelled", 0, 3)]
    assert [(row["status"], row["states"] > 1, row["attempt"]) for row in once] == [("labelled", True, 1)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("attempts = 3", "attempts = 0", "label: attempts must be a whole number from 1 on, got 0"),
        ("attempts = 3", "attempts = 1.5", "label.0.attempts: Expected `int`, got `float`"),
        (
            'generator = "gripper"\nsplit = "val"',
            'problems = ["small/*.pddl"]',
            "label: attempts are for a split of a generator: problems have no next ones",
        ),
    ],
)
def test_attempts_that_are_refused(home: Path, old: str, new: str, message: str) -> None:
    assert old in ATTEMPTS
    with pytest.raises(InputError) as error:
        labels_of(home, ATTEMPTS.replace(old, new))
    assert message in str(error.value)


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


def test_problems_of_one_name_are_told_apart_by_their_folders(home: Path) -> None:
    given = 'problems = ["*/p0.pddl", "large/*.pddl"]'  # one of them twice
    (home / "suite.toml").write_text(SUITE.replace('problems = ["large/*.pddl"]', given, 1))
    with Store(home / "run") as store:
        jobs = suite_jobs(read_suite(home / "suite.toml"), home, store)
    searched = {job.labels["instance"] for job in jobs if job.labels["contestant"] == "ff"}
    assert searched == {f"blocksworld-4ops/{name}" for name in ("large/p0", "small/p0", "p1")}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('data = "small"', 'data = "smal"', "unknown data 'smal'"),
        ('data = "small"\n', "", "'wl' needs data"),
        ('problems = ["small/*.pddl"]', 'problems = ["absent/*.pddl"]', "nothing matches 'absent"),
        ('problems = ["small/*.pddl"]', 'generator = "gripper"', "gripper: give a split"),
        ('problems = ["small/*.pddl"]\n', "", "either problems or a generator"),
        (
            'recipe = "wl"\ndata = "small"\noptions = { least-states = 1 }',
            'recipe = "fsm"\ndata = "small"',
            r"'small' is a \[\[label\]\], and fsm learns from",
        ),
        (
            'problems = ["large/*.pddl"]',
            'problems = ["large/p0.pddl"]\n[[tasks]]\nproblems = ["small/p0.pddl"]',
            "two problems are called blocksworld-4ops/p0",
        ),
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
