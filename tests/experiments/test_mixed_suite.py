"""One suite with several kinds of spaces: planning tasks, a puzzle, maps and an own space in one table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hstar.cli import main
from hstar.errors import InputError
from hstar.experiments import LocalExecutor, Store, run
from hstar.experiments.report import page, read_runs, write_rows
from hstar.experiments.suite import read_suite
from hstar.experiments.suite_jobs import suite_jobs
from hstar.experiments.tables import coverage_table, summarise

SUITE = """
[limits]
time = "20s"
training = "2m"

[[tasks]]
generator = "blocksworld"
parameters = { blocks = 4 }
starts = 2

[[tasks]]
space = "blocks:6"
number = 2
seeds = [3]

[[tasks]]
name = "rooms"
grid = "rooms"
options = { rows = 12, columns = 12 }
number = 3
seeds = [70]

[[tasks]]
space = "own.py:Counter"
number = 2
walk = 9

[[train]]
name = "likely"
recipe = "likely-admissible"
options = { iterations = 2 }

[[train]]
name = "exact"
recipe = "prolonged"
options = { epochs = 2 }

[[plan]]
heuristic = "zero"
only = ["blocks*", "Counter"]

[[plan]]
heuristic = "blind"
only = ["rooms"]

[[plan]]
model = "likely"
only = ["blocks*"]

[[plan]]
model = "exact"
only = ["blocksworld*", "Counter"]
"""
SPACE = """
class Counter:
    start, goals = 40, [0]
    def is_goal(self, state): return state == 0
    def successors(self, state):
        return [("one", abs(state - 1), 1), ("half", state // 2, 1), ("up", state + 1, 1)]
    def predecessors(self, state): return [
        (name, before, 1)
        for before in {state - 1, state + 1, 2 * state, 2 * state + 1} if before >= 0
        for name, after, _ in self.successors(before) if after == state
    ]
    def encode(self, states): return [[state / 40, state % 2] for state in states]
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "suite.toml").write_text(SUITE)
    (tmp_path / "own.py").write_text(SPACE)
    return tmp_path


def test_jobs(home: Path) -> None:
    with Store(home / "run") as store:
        jobs = suite_jobs(read_suite(home / "suite.toml"), home, store)
        again = suite_jobs(read_suite(home / "suite.toml"), home, store)
    assert [job.key for job in again] == [job.key for job in jobs]
    counts = Counter((job.kind, job.labels["contestant"], job.labels["domain"]) for job in jobs)
    assert counts == {
        ("search", "zero", "blocksworld-4ops"): 2,
        ("search", "zero", "blocks:6"): 2,
        ("search", "zero", "Counter"): 2,
        ("search", "blind", "rooms"): 1,
        ("train", "likely", "blocksworld-4ops"): 1,
        ("train", "likely", "blocks:6"): 1,
        ("search", "likely", "blocksworld-4ops"): 2,
        ("search", "likely", "blocks:6"): 2,
        ("train", "exact", "blocksworld-4ops"): 1,
        ("train", "exact", "Counter"): 1,
        ("search", "exact", "blocksworld-4ops"): 2,
        ("search", "exact", "Counter"): 2,
    }
    assert all(
        job.command[:5] == (*job.command[:3], "train", job.command[4]) for job in jobs if job.kind == "train"
    )


@pytest.mark.slow
def test_one_table(home: Path) -> None:
    with Store(home / "run") as store:
        rows = run(store, suite_jobs(read_suite(home / "suite.toml"), home, store), LocalExecutor(2))
    assert [row["error"] for row in rows if row["status"] == "error"] == []
    table = {line[0]: line[1:] for line in coverage_table(rows)}
    assert table[""] == ["zero", "blind", "likely", "exact"]
    assert table["blocks:6/random-3"] == ["100", "–", "100", "–"]
    assert table["blocksworld-4ops/blocks4-seed0"] == ["100", "–", "100", "100"]
    assert table["rooms/random-70"] == ["–", "100", "–", "–"]
    assert table["Counter/walk9-0"] == ["100", "–", "–", "100"]
    runs = read_runs([home / "run"])
    for text in (page(runs), write_rows(runs, "markdown"), summarise(rows)):
        assert "blocksworld-4ops" in text and "blocks:6" in text and "Counter" in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "starts = 2",
            "starts = 2\nwalk = 3",
            "10: tasks.0.walk: is for puzzle or own, and this table has gen",
        ),
        ("starts = 2", 'starts = 2\nname = "x"', "10: tasks.0.name: is for grid or maps, and"),
        ("walk = 9", "walk = 9\nstarts = 3", "27: tasks.3.starts: is for instances or generator, and .* own"),
        ("walk = 9", 'walk = 9\nfile = "x.csv"', "27: tasks.3.file: is for puzzle, and this table has own"),
        ("walk = 9", "", "24: tasks.3.space: Counter has no function random"),
        ("own.py:Counter", "own.py:Count", "own.py: has no space 'Count'"),
        ("number = 2\nwalk = 9", "walk = 9", "25: tasks.3.walk: walk: give a number of starts, too"),
        (
            'heuristic = "zero"',
            'heuristic = "ff"',
            "39: plan.0.heuristic: unknown heuristic of blocks:6 'ff'",
        ),
        (
            'model = "likely"\nonly = ["blocks*"]',
            'model = "likely"',
            "30: train.0.recipe: .* likely-admissible learns about one map with one goal, and rooms has many",
        ),
        (
            'model = "likely"\n',
            'model = "likely"\npreferred = true\n',
            "preferred is for a task, and blocks:6",
        ),
        ("iterations = 2", "iteration = 2", "31: .*unknown option of likely-admissible 'iteration'"),
        (
            "options = { epochs = 2 }",
            'maps = ["a.map"]',
            "36: train.1.maps: maps is not for prolonged on a task",
        ),
    ],
)
def test_what_is_refused(home: Path, old: str, new: str, message: str) -> None:
    assert old in SUITE
    (home / "suite.toml").write_text(SUITE.replace(old, new, 1))
    with Store(home / "run") as store, pytest.raises(InputError, match=message):
        suite_jobs(read_suite(home / "suite.toml"), home, store)


@pytest.mark.slow
def test_evaluate_on_other_spaces(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    space = f"{home / 'own.py'}:Counter"
    words = ["zero", "tiles:2x2", space, "-o", str(home / "run"), "--walks", "2", "--quiet"]
    with pytest.raises(SystemExit, match="0"):
        main(["evaluate", *words])
    told = capsys.readouterr().out
    assert "| tiles:2x2/random-0 | 100 |" in told and "| Counter/walk200-0 | 100 |" in told
