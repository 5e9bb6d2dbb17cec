"""Suites of native puzzles: trainings and searches as jobs, and how far plans are from optimal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hstar.errors import InputError
from hstar.experiments.batch import random_instances
from hstar.experiments.driver import LocalExecutor, run
from hstar.experiments.problems import INSTANCE, random_puzzles
from hstar.experiments.report.figures import FrontierPoint, draw_frontier, write_figures
from hstar.experiments.statistics import Share, optimality_of
from hstar.experiments.store import Store
from hstar.experiments.suite import read_suite
from hstar.experiments.suite_jobs import suite_jobs
from hstar.experiments.tables import optimality_table, summarise
from hstar.search.solve import solve
from hstar.spaces.puzzles import parse_puzzle

SUITE = """
[limits]
time = "20s"
training = "2m"

[[tasks]]
space = "tiles:3x3"
file = "instances.csv"

[[tasks]]
space = "pancake:6"
number = 2
seeds = [3]

[[train]]
name = "likely"
recipe = "likely-admissible"
options = { iterations = 2, nodes = 1000, known_steps = 50, planner_steps = 20, samples = 0, hidden = 4 }
seeds = [0, 1]

[[plan]]
name = "alpha {alpha}"
model = "likely"
each = { alpha = [0.9, 0.5] }

[[plan]]
name = "floor {floor}"
model = "likely"
options = { alpha = 0.9 }
each = { floor = [true, false] }
only = ["pancake:*"]

[[plan]]
heuristic = "manhattan"
only = ["tiles:*"]
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "instances.csv").write_text(
        "id,tiles,optimal_cost\nfirst,1 0 2 3 4 5 6 7 8,1\nsecond,1 2 0 3 4 5 6 7 8,2\n"
    )
    (tmp_path / "suite.toml").write_text(SUITE)
    return tmp_path


def test_jobs(home: Path) -> None:
    with Store(home / "run") as store:
        jobs = suite_jobs(read_suite(home / "suite.toml"), home, store)
        assert Counter(job.kind for job in jobs) == {"train": 4, "search": 2 * 2 * 4 + 2 * 4 + 2}
        by_training = Counter(need for job in jobs for need in job.needs())
        expected = {"tiles:3x3": 4, "pancake:6": 8}
        assert by_training == {job.key: expected[job.labels["domain"]] for job in jobs if job.kind == "train"}
        floors = {job.labels["contestant"] for job in jobs if "--floor" in job.command}
        assert floors == {"floor True"}
        assert {job.labels["instance"] for job in jobs if job.kind == "search"} == {
            "tiles:3x3/instances",
            "pancake:6/random-3",
        }
        assert all(job.resumable == (job.kind == "train") for job in jobs)
        # Equal in a second run: what is random comes from the seed.
        again = suite_jobs(read_suite(home / "suite.toml"), home, store)
        assert [job.key for job in again] == [job.key for job in jobs]


def test_boards_for_the_goal_with_the_blank_last(home: Path) -> None:
    (home / "instances.csv").write_text("id,tiles,optimal_cost\nfirst,1 2 3 4 5 6 7 0 8,1\n")
    with Store(home / "run") as store:
        with pytest.raises(InputError, match=r"instances.csv:2: first: optimal_cost is 1, .*--blank-last"):
            suite_jobs(read_suite(home / "suite.toml"), home, store)
        text = SUITE.replace('file = "instances.csv"', 'file = "instances.csv"\nblank_last = true')
        (home / "suite.toml").write_text(text)
        jobs = suite_jobs(read_suite(home / "suite.toml"), home, store)
        (digest,) = {str(job.inputs[INSTANCE]) for job in jobs if job.labels.get("start") == "first"}
        assert store.get(digest) == b"id,tiles,optimal_cost\nfirst,1 0 2 3 4 5 6 7 8,1\n"


@pytest.mark.slow
def test_wrong_optimal_costs_are_errors_of_their_jobs(home: Path) -> None:
    file = home / "instances.csv"
    file.write_text(file.read_text().replace("8,2", "8,4"))
    text = SUITE.partition("[[train]]")[0] + '[[plan]]\nheuristic = "manhattan"\nonly = ["tiles:*"]\n'
    (home / "suite.toml").write_text(text)
    with Store(home / "run") as store:
        rows = run(store, suite_jobs(read_suite(home / "suite.toml"), home, store), LocalExecutor(1))
    assert [row["status"] for row in rows] == ["solved", "error"]
    assert "second: optimal_cost is 4, but a plan costs 2" in rows[1]["error"]


@pytest.mark.parametrize(
    ("profile", "trainings", "searches"),
    [
        ("quick", 4, 100 * 21),
        ("paper", 6, 100 * (8 * 3 + 1)),
        ("program", 3, 100 * 4 * 3),
        ("paper-large", 30, 3 * 50 * 8 * 5 + 50),
    ],
)
def test_profiles_of_the_suite_of_the_paper(
    profile: str, trainings: int, searches: int, tmp_path: Path
) -> None:
    """As many trainings as in its tables; the instances are not theirs."""
    for name, size in (("korf15_100", 16), ("korf24_50", 25)):
        count = int(name[-3:].strip("_"))
        tiles = " ".join(map(str, (1, 0, *range(2, size))))
        (tmp_path / f"{name}.csv").write_text(
            "\n".join(["id,tiles,optimal_cost", *(f"{i},{tiles},1" for i in range(count))]) + "\n"
        )
    suite = read_suite(Path(__file__).parents[2] / "suites" / "likely_admissible.toml", profile)
    with Store(tmp_path / "run") as store:
        jobs = suite_jobs(suite, tmp_path, store)
    assert Counter(job.kind for job in jobs) == {"train": trainings, "search": searches}
    commands = [job.command for job in jobs if job.kind == "train"]
    chosen = profile.removesuffix("-large")
    assert all(command[command.index("--profile") + 1] == chosen for command in commands)
    unpruned = {job.labels["domain"] for job in jobs if "--pruning" in job.command}
    assert unpruned == ({"blocks:15"} if profile == "paper-large" else set())


def test_random_tiles_have_known_optima(tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        found = random_puzzles("tiles:3x3", 20, 1, store)
        large = random_puzzles("tiles:5x5", 1, 1, store)
        texts = [
            store.get(str(digest)).decode() for one in found.starts.values() for digest in one.files.values()
        ]
        assert (
            store.get(str(large.starts["1"].files[INSTANCE])).decode().strip().endswith(",")
        )  # not to be found in seconds
    costs = [int(text.strip().rpartition(",")[2]) for text in texts]
    puzzles = [one.problem for one in random_instances(parse_puzzle("tiles:3x3"), 20, 1)]
    assert costs == [solve(puzzle, "manhattan", "idastar").plan_cost for puzzle in puzzles]


@pytest.mark.slow
def test_from_the_goal_to_a_table(home: Path) -> None:
    with Store(home / "run") as store:
        rows = run(store, suite_jobs(read_suite(home / "suite.toml"), home, store), LocalExecutor(2))
    assert Counter((row["step"], row["status"]) for row in rows) == {
        ("train", "trained"): 4,
        ("search", "solved"): 26,
    }
    manhattan = [row for row in rows if row["contestant"] == "manhattan"]
    assert [(row["start"], row["cost"], row["plan_length"]) for row in manhattan] == [
        ("first", 1, 1),
        ("second", 2, 2),
    ]
    pancakes = [row for row in rows if row["domain"] == "pancake:6" and row["step"] == "search"]
    assert all(row["optimal_cost"] <= row["cost"] for row in pancakes)
    head, *lines = optimality_table(rows)
    table = {tuple(line[:2]): dict(zip(head, line, strict=True)) for line in lines}
    names = ("solved (%)", "suboptimality of solved (%)", "optimal (%)")
    assert [table["tiles:3x3", "manhattan"][name] for name in names] == ["100", "0", "100"]
    assert set(table) > {("tiles:3x3", "alpha 0.9"), ("pancake:6", "alpha 0.5")}
    assert "## Optimality" in summarise(rows)


def test_optimality() -> None:
    known = {"step": "search", "domain": "d", "instance": "d/i", "contestant": "c", "generated": 10}
    known |= {"search_time": 1.0, "optimal_cost": 10, "status": "solved"}
    rows = [
        {**known, "seed": 0, "start": "1", "cost": 10},
        {**known, "seed": 0, "start": "2", "cost": 12, "generated": 30},
        {**known, "seed": 1, "start": "1", "cost": 11},
        {**known, "seed": 1, "start": "2", "cost": None, "status": "time_limit"},
    ]
    figures = ["75 ± 35.4", "15 ± 7.1", "1 ± 0", "10 ± 0", "25 ± 35.4"]
    assert optimality_table(rows)[1:] == [["d", "c", *figures, "4"]]


@pytest.mark.slow
def test_the_frontier_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    about = {
        "step": "search",
        "instance": "d/1",
        "domain": "d",
        "seed": 0,
        "status": "solved",
        "optimal_cost": 10,
    }
    effort = {"generated": 1000, "search_time": 0.1, "expansions": 500}
    rows = [
        {**about, **effort, "contestant": name, "start": f"p{i}", "cost": 10 + 2 * (name == "b" and i)}
        for name in "ab"
        for i in range(2)
    ]
    assert [one.optimal for (one,) in optimality_of(rows).values()] == [100, 50]
    write_figures(rows, tmp_path)
    drawn = (tmp_path / "frontier_d.svg").read_text()
    assert "optimal plans (%)" in drawn and ">a</text>" in drawn and ">b</text>" in drawn


@pytest.mark.slow
def test_a_frontier_has_a_line_for_each_method(tmp_path: Path) -> None:
    """Beside costs above the optimum where few plans are optimal."""
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    names = ["x, alpha 0.9", "x, alpha 0.25", "x, alpha 0.5", "y"]
    points = {
        name: FrontierPoint(Share(1e6 * (i + 1), 3e6), Share(2.0 * i), Share(9.0 - i, 1.0))
        for i, name in enumerate(names)
    }
    axes = Figure().subplots()
    draw_frontier(axes, points)
    assert axes.get_ylabel() == "cost above the optimum (%)"
    lines = [line for line in axes.get_lines() if line.get_linestyle() != "None"]
    assert [list(line.get_ydata()) for line in lines] == [[8.0, 7.0, 9.0], [6.0]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["x, alpha 0.25 to 0.9", "y"]
    points |= dict.fromkeys("abcd", FrontierPoint(Share(10.0), Share(90.0), None))
    axes = Figure().subplots()
    draw_frontier(axes, points)
    assert axes.get_ylabel() == "optimal plans (%)"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('space = "tiles:3x3"', 'space = "tyles:3x3"', "unknown puzzle 'tyles'"),
        ('file = "instances.csv"', 'file = "absent.csv"', "nothing matches 'absent.csv'"),
        ('file = "instances.csv"', "seeds = [1]", "either a file or a number"),
        (
            'recipe = "likely-admissible"',
            'recipe = "fsm"',
            "fsm learns for a task, and tiles:3x3 is a puzzle",
        ),
        ("hidden = 4", "hiden = 4", "unknown option of likely-admissible 'hiden'"),
        ("hidden = 4", "hidden = 0", "hidden must be a whole number from 1 on"),
        ('only = ["tiles:*"]', 'only = ["tyles:*"]', "unknown domain 'tyles:"),
        ('only = ["tiles:*"]', "", "unknown heuristic of pancake:6 'manhattan'"),
        ('heuristic = "manhattan"', 'heuristic = "databases"', "unknown heuristic of tiles:3x3 'databases'"),
        ('name = "alpha {alpha}"\n', "", "the name tells the choices apart: {alpha}"),
        ('name = "alpha {alpha}"', 'name = "alpha {beta}"', "asks for what each has not"),
        ('heuristic = "manhattan"', 'heuristic = "manhattan"\npreferred = true', "preferred is for a task"),
        ('heuristic = "manhattan"', 'planner = "fd:lama-first"', "planner is for a task, and tiles:3x3"),
        (
            'file = "instances.csv"',
            'file = "instances.csv"\nstarts = 3',
            "suite.toml:9: tasks.0.starts",
        ),
    ],
)
def test_what_is_refused(home: Path, old: str, new: str, message: str) -> None:
    assert old in SUITE
    (home / "suite.toml").write_text(SUITE.replace(old, new, 1))
    with Store(home / "run") as store, pytest.raises(InputError, match=message):
        suite_jobs(read_suite(home / "suite.toml"), home, store)
