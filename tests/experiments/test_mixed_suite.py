"""One suite with several kinds of spaces: planning tasks, a puzzle, maps and an own space in one table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hstar.cli import main
from hstar.errors import InputError
from hstar.experiments.driver import LocalExecutor, run
from hstar.experiments.report import page, read_runs, write_rows
from hstar.experiments.store import Store
from hstar.experiments.suite import read_suite
from hstar.experiments.suite_jobs import suite_jobs
from hstar.experiments.tables import coverage_table, optimality_table, summarise

SUITE = """
[limits]
time = "20s"
training = "2m"
cpu = true

[[tasks]]
generator = "blocksworld"
parameters = { blocks = 4 }
starts = 2

[[tasks]]
space = "blocks:4"
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
options = { iterations = 2, nodes = 1000, known_steps = 50, planner_steps = 20, samples = 0, hidden = 4 }

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
        ("search", "zero", "blocks:4"): 2,
        ("search", "zero", "Counter"): 2,
        ("search", "blind", "rooms"): 1,
        ("train", "likely", "blocksworld-4ops"): 1,
        ("train", "likely", "blocks:4"): 1,
        ("search", "likely", "blocksworld-4ops"): 2,
        ("search", "likely", "blocks:4"): 2,
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
    (_, *names), *lines = coverage_table(rows)
    known = {line[0]: dict(zip(names, line[1:], strict=True)) for line in lines}
    solved = {
        place: {name for name, cell in cells.items() if cell == "100"} for place, cells in known.items()
    }
    assert solved == {
        "blocksworld-4ops/blocks4-seed0": {"zero", "likely", "exact"},
        "blocks:4/random-3": {"zero", "likely"},
        "rooms/random-70": {"blind"},
        "Counter/walk9-0": {"zero", "exact"},
        "**mean over domains**": set(),
    }
    places = [line[0] for line in optimality_table(rows)[1:]]
    assert places.count("blocks:4") == 2 and places.count("rooms") == 1
    runs = read_runs([home / "run"])
    for text in (page(runs), write_rows(runs, "markdown"), summarise(rows)):
        assert "blocksworld-4ops" in text and "blocks:4" in text and "Counter" in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "starts = 2",
            "starts = 2\nwalk = 3",
            "11: tasks.0.walk: is for puzzle or own, and this table has gen",
        ),
        ("starts = 2", 'starts = 2\nname = "x"', "11: tasks.0.name: is for grid or maps, and"),
        ("walk = 9", "walk = 9\nstarts = 3", "28: tasks.3.starts: is for instances or generator, and .* own"),
        ("walk = 9", 'walk = 9\nfile = "x.csv"', "28: tasks.3.file: is for puzzle, and this table has own"),
        ("walk = 9", "", "25: tasks.3.space: Counter has no function random"),
        ("own.py:Counter", "own.py:Count", "own.py: has no space 'Count'"),
        ("number = 2\nwalk = 9", "walk = 9", "26: tasks.3.walk: walk: give a number of starts, too"),
        (
            'heuristic = "zero"',
            'heuristic = "ff"',
            "40: plan.0.heuristic: unknown heuristic of blocks:4 'ff'",
        ),
        (
            'model = "likely"\nonly = ["blocks*"]',
            'model = "likely"',
            "31: train.0.recipe: .* likely-admissible learns about one map with one goal, and rooms has many",
        ),
        (
            'model = "likely"\n',
            'model = "likely"\npreferred = true\n',
            "preferred is for a task, and blocks:4",
        ),
        ("iterations = 2", "iteration = 2", "32: .*unknown option of likely-admissible 'iteration'"),
        (
            "options = { epochs = 2 }",
            'maps = ["a.map"]',
            "37: train.1.maps: maps is not for prolonged on a task",
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
