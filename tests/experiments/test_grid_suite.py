"""Suites of maps: trainings and sets of scenarios as jobs, costs against optima, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hstar.cli import main
from hstar.errors import InputError
from hstar.experiments.batch import optimum
from hstar.experiments.driver import LocalExecutor, run
from hstar.experiments.protocol import ROWS
from hstar.experiments.report import page, read_runs, rows_of, write_rows
from hstar.experiments.report.page import steps_of
from hstar.experiments.store import Store
from hstar.experiments.suite import read_suite
from hstar.experiments.suite_jobs import suite_jobs
from hstar.experiments.tables import optimality_table, summarise
from hstar.recipes import train
from hstar.search.solve import SearchConfig, solve
from hstar.spaces.grid import Grid, GridProblem, LatticeProblem
from hstar.spaces.grid_files import Scenario, write_map, write_png, write_scenarios
from hstar.spaces.grid_maps import random_problems, with_headings

ROOT = Path(__file__).parents[2]
SMALL = "rows = 10, columns = 10"
LITTLE = f"scenarios = 4, {SMALL}, updates = 4, sweeps = 4, waves = 2, width = 4, batch_size = 4"
SUITE = f"""
[limits]
time = "1m"
training = "2m"

[[tasks]]
grid = "scattered"
options = {{ {SMALL}, blocked_share = 0.3 }}
number = 6
seeds = [70]

[[tasks]]
name = "turning"
grid = "rooms"
options = {{ {SMALL}, headings = 8 }}
number = 4
seeds = [70, 71]

[[train]]
name = "k_pr {{k_pr}}"
recipe = "prolonged"
options = {{ {LITTLE} }}
each = {{ k_pr = [inf] }}
seeds = [0, 1]

[[train]]
name = "VAN"
recipe = "prolonged"
options = {{ {LITTLE}, sampler = "optimal-path", headings = 8, spread = 8 }}

[[plan]]
name = "{{model}}, eps {{eps}}"
model = "k_pr *"
each = {{ eps = [1, 2.5] }}
only = ["scattered:*"]

[[plan]]
name = "VAN, eps {{eps}}"
model = "VAN"
each = {{ eps = [2] }}
only = ["turning"]

[[plan]]
name = "weighted {{weight}}"
heuristic = "octile"
each = {{ weight = [1, 3] }}

[profiles.wrong]
train = {{ options = {{ updates = 0 }} }}
"""
SCATTERED = "scattered:10x10,blocked_share=0.3"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "suite.toml").write_text(SUITE)
    return tmp_path


def test_jobs(home: Path) -> None:
    with Store(home / "run") as store:
        jobs = suite_jobs(read_suite(home / "suite.toml"), home, store)
        assert Counter(job.kind for job in jobs) == {"train": 3, "search": 2 * 2 + 2 + 2 * 3}
        by_training = Counter(need for job in jobs for need in job.needs())
        assert by_training == {job.key: 2 for job in jobs if job.kind == "train"}
        assert {job.labels["instance"]: job.labels["start"] for job in jobs if job.kind == "search"} == {
            f"{SCATTERED}/random-70": "6 scenarios",
            "turning/random-70": "4 scenarios",
            "turning/random-71": "4 scenarios",
        }
        # eps bounds the values of models; the weight of a heuristic by name promises the same.
        words = {job.labels["contestant"]: job.command for job in jobs if job.kind == "search"}
        assert "--eps" not in words["weighted 3"] and "--eps" in words["k_pr inf, eps 2.5"]
        assert words["weighted 3"][words["weighted 3"].index("--weight") + 1] == "3"
        again = suite_jobs(read_suite(home / "suite.toml"), home, store)
        assert [job.key for job in again] == [job.key for job in jobs]


@pytest.mark.slow
def test_from_scenarios_to_a_table(home: Path) -> None:
    with Store(home / "run") as store:
        jobs = suite_jobs(read_suite(home / "suite.toml"), home, store)
        # What was begun goes on: one job first, then the rest, and nothing twice.
        first = [job for job in jobs if job.labels["contestant"] == "weighted 3"][:1]
        run(store, first, LocalExecutor(1))
        before = store.latest()[first[0].key]
        rows = run(store, jobs, LocalExecutor(2))
        assert store.latest()[first[0].key].started == before.started
        kept = store.get(store.latest()[first[0].key].outputs[ROWS]).decode()
    assert Counter((row["step"], row["status"]) for row in rows) == {
        ("train", "trained"): 3,
        ("search", "solved"): 12,
    }
    # The same numbers as by hand.
    problems = random_problems(6, 70, rows=10, columns=10, blocked_share=0.3)
    results = [solve(problem, "octile", "wastar", weight=3.0) for problem in problems]
    best = [solve(problem, None, "astar").plan_cost or 0 for problem in problems]
    (row,) = (row for row in rows if (row["contestant"], row["domain"]) == ("weighted 3", SCATTERED))
    assert row["expansions"] == np.mean([one.expanded for one in results])
    assert row["cost"] == np.mean([one.plan_cost or 0 for one in results])
    assert row["optimal_cost"] == np.mean(best) and row["instances"] == 6 and row["bound"] <= 3
    assert [json.loads(line)["optimal_cost"] for line in kept.splitlines()] == best
    # eps = 1 is A*, whatever was learned.
    bounded = [row for row in rows if row["contestant"].endswith("eps 1")]
    assert len(bounded) == 2 and all(row["greatest_suboptimality"] == 0 for row in bounded)
    searches = [row for row in rows if row["step"] == "search"]
    assert all(1 + row["greatest_suboptimality"] <= row["bound"] for row in searches)
    head, *lines = optimality_table(rows)
    table = {tuple(line[:2]): dict(zip(head, line, strict=True)) for line in lines}
    assert list(table) == [
        (SCATTERED, "weighted 1"),
        (SCATTERED, "weighted 3"),
        (SCATTERED, "k_pr inf, eps 1"),
        (SCATTERED, "k_pr inf, eps 2.5"),
        ("turning", "weighted 1"),
        ("turning", "weighted 3"),
        ("turning", "VAN, eps 2"),
    ]
    assert " ± " in table[SCATTERED, "k_pr inf, eps 2.5"]["expanded, mean"]
    assert table[SCATTERED, "k_pr inf, eps 2.5"]["searches"] == "12"
    assert table["turning", "VAN, eps 2"]["searches"] == "8"
    weighted = table[SCATTERED, "weighted 1"]
    assert (weighted["suboptimality of solved (%)"], weighted["greatest cost / bound"]) == ("0", "1")
    assert "## Optimality" in summarise(rows) and "Errors" not in summarise(rows)
    # And the page and the exports.
    runs = read_runs([home / "run"])
    assert "greatest cost / bound" in page(runs)
    assert "greatest cost / bound" in write_rows(runs, "latex", tables=["optimality"])
    header, *lines = csv.reader(io.StringIO(write_rows(runs, "csv")))
    assert {"suboptimality", "greatest_suboptimality", "bound", "instances"} < set(header)
    assert len(lines) == len(json.loads(write_rows(runs, "json"))) == 15
    # The first scenario step by step; lattices are not drawn, and of two seeds the first is.
    (shown,) = steps_of(runs, rows_of(runs))
    assert shown["instance"] == f"{SCATTERED}/random-70" and len(shown["values"]) == 1
    assert shown["blocked"] == problems[0].grid.blocked.astype(int).reshape(-1).tolist()
    panels = {panel["contestant"]: panel for panel in shown["panels"]}
    assert {*panels} == {one for place, one in table if place == SCATTERED}
    by_hand = solve(problems[0], "octile", "wastar", weight=3.0)
    told = f"weighted 3: {by_hand.expanded} expanded, cost {by_hand.plan_cost:g}"
    assert panels["weighted 3"]["title"] == told and panels["weighted 3"]["values"] is None
    assert len(panels["weighted 3"]["explored"]) == by_hand.expanded
    assert panels["k_pr inf, eps 1"]["values"] == panels["k_pr inf, eps 2.5"]["values"] == 0
    assert steps_of(runs, rows_of(runs), budget=100) == []
    (few,) = steps_of(runs, rows_of(runs), budget=100 + by_hand.expanded + len(panels["weighted 3"]["path"]))
    assert [panel["contestant"] for panel in few["panels"]] == ["weighted 3"]


def test_the_optimum() -> None:
    problems = random_problems(3, 5, rows=12, columns=12, neighbours=8)
    for problem in [*problems, *with_headings(problems, 8, 0.5, 0)]:
        best = solve(problem, None, "astar").plan_cost
        assert optimum(problem, SearchConfig()) == pytest.approx(best, rel=1e-12)
    walled = np.array([[0, 1, 0]], dtype=bool)
    assert optimum(GridProblem(Grid(walled), (0, 0), (0, 2)), SearchConfig()) is None
    assert optimum(LatticeProblem(Grid(walled), (0, 0, 1), (0, 2)), SearchConfig()) is None


@pytest.fixture
def files(home: Path) -> Path:
    """A map as an image, and scenarios in a folder that is not that of their map."""
    blocked = np.zeros((12, 12), dtype=bool)
    blocked[3, 2:] = True
    (home / "maps").mkdir()
    write_png(home / "maps" / "wall.png", blocked)
    write_map(home / "maps" / "wall.map", blocked)
    ends = [((0, 0), (11, 11)), ((11, 0), (0, 5)), ((0, 11), (5, 11))]
    found = [Scenario(0, "maps/wall.map", GridProblem(Grid(blocked, None, 8), *end), 1.0) for end in ends]
    write_scenarios(home / "wall.scen", "maps/wall.map", found)
    return home


def of_files(files: Path, text: str) -> list[dict[str, Any]]:
    (files / "suite.toml").write_text(text)
    with Store(files / "run") as store:
        return run(store, suite_jobs(read_suite(files / "suite.toml"), files, store), LocalExecutor(1))


@pytest.mark.slow
def test_maps_and_scenarios_of_files(files: Path) -> None:
    rows = of_files(
        files,
        """
        [[tasks]]
        maps = ["wall.scen", "maps/*.png"]
        number = 3
        options = { neighbours = 8 }

        [[plan]]
        heuristic = "octile"
        options = { weight = 2 }
        """,
    )
    assert [(row["domain"], row["status"], row["instances"]) for row in rows] == [
        ("wall,neighbours=8", "solved", 3)
    ] * 2
    assert [row["instance"] for row in rows] == [f"wall,neighbours=8/wall.{end}-0" for end in ("scen", "png")]
    assert all(0 <= row["greatest_suboptimality"] <= 1 and row["bound"] <= 2 for row in rows)


@pytest.mark.slow
def test_training_on_files_and_a_model_from_a_file(files: Path) -> None:
    options = {"scenarios": 3, "updates": 2, "sweeps": 2, "waves": 2, "width": 4, "batch_size": 4}
    train("prolonged", rows=12, columns=12, neighbours=8, **options).save(files / "known.hstar")
    rows = of_files(
        files,
        """
        [[tasks]]
        maps = ["wall.scen"]

        [[train]]
        name = "walls"
        recipe = "prolonged"
        maps = ["wall.scen"]
        options = { scenarios = 3, neighbours = 8, updates = 2, sweeps = 2, waves = 2, width = 4 }

        [[plan]]
        model = "walls"
        options = { eps = 1.5 }

        [[plan]]
        model = "known.hstar"
        """,
    )
    assert [(row["contestant"], row["status"]) for row in rows] == [
        ("known.hstar", "solved"),
        ("walls", "trained"),
        ("walls", "solved"),
    ]
    assert rows[0]["bound"] is None and rows[2]["bound"] <= 1.5  # without eps nothing is promised


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('grid = "scattered"', 'grid = "scatered"', "7: .*unknown kind of map 'scatered'.*mean 'scattered'"),
        ("blocked_share = 0.3", "blocked = 0.3", "8: .*unknown option of maps 'blocked'.*'blocked_share'"),
        (
            "blocked_share = 0.3",
            "blocked_share = 3",
            "8: .*blocked_share must be a number from 0 on, below 1",
        ),
        ("headings = 8 }", "headings = 3 }", "15: .*headings must be 0 or 4 or 8, got 3"),
        ("headings = 8 }", "turn_cost = -1 }", "15: .*turn_cost must be a number from 0"),
        ("headings = 8 }", "neighbours = 5 }", "15: .*neighbours must be 4 or 8, got 5"),
        ("headings = 8 }", 'kind = "maze" }', "15: .*kind is what grid says"),
        ("number = 6\n", "", "7: tasks.0.grid: number: give a number of scenarios"),
        ("number = 6\n", "number = 0\n", "9: .*number must be 1 or more"),
        ("number = 6\n", "numbr = 6\n", "9: .*unknown key 'numbr'; did you mean 'number'"),
        ("number = 6\n", "number = 6\nstart = 3\n", "10: .*unknown key 'start'"),
        (
            "number = 6\n",
            'number = 6\nfile = "x.csv"\n',
            "10: tasks.0.file: is for puzzle, and this table has grid",
        ),
        (
            "number = 6\n",
            'number = 6\nmaps = ["x"]\n',
            "tasks.0.grid: give one of .* not grid and maps",
        ),
        ('recipe = "prolonged"', 'recipe = "prolongd"', "21: .*unknown recipe 'prolongd'.*'prolonged'"),
        ("k_pr = [inf]", "k_pr = [1, 0.5]", "23: .*k_pr must be a number from 1 on, got 0.5"),
        ("k_pr = [inf]", "k_pt = [1, 2]", "20: .*'k_pr {k_pr}' asks for what each has not"),
        ('sampler = "optimal-path"', 'sampler = "path"', "29: .*unknown sampler 'path'"),
        ("sweeps = 4", 'model = "paper", sweeps = 4', "22: .*unknown option of prolonged 'sweeps'"),
        ("updates = 4", "updates = 4, seed = 1", "22: .*give seeds, a list"),
        ("eps = [1, 2.5]", "eps = [0.9]", "34: .*eps must be a number from 1 on, got 0.9"),
        (
            "eps = [1, 2.5] }",
            "eps = [1] }\noptions = { epz = 2 }",
            "35: .*unknown option of plans 'epz'.*'eps'",
        ),
        (
            'heuristic = "octile"',
            'heuristic = "octil"',
            "45: .*unknown heuristic of scattered:10x10,.* 'octil'",
        ),
        (
            'heuristic = "octile"',
            'heuristic = "manhattan"',
            "manhattan is not admissible with diagonal steps",
        ),
        ('heuristic = "octile"', 'heuristic = "octile"\nsearch = "gbsf"', "46: .*unknown search 'gbsf'"),
        ('heuristic = "octile"', 'planner = "fd:lama-first"', "45: .*planner is for a task, and .* is a map"),
        ('only = ["scattered:*"]', 'only = ["scatered:*"]', "unknown domain 'scatered:"),
        ('only = ["scattered:*"]', "", "k_pr inf, eps 1 does not fit turning: .*asked for 8 headings"),
        ("sweeps = 4, waves = 2, width = 4,", 'model = "paper",', "maps of 16 x 16|unknown option"),
        (
            'name = "turning"\ngrid = "rooms"',
            'name = "turning"\nmaps = ["absent*.map"]',
            "14: tasks.1.maps: nothing matches",
        ),
        (
            ", blocked_share = 0.3 }\nnumber = 6\nseeds = [70]",
            " }\nnumber = 6\nseeds = [1]",
            "plan on other seeds",
        ),
        (
            'name = "turning"\ngrid = "rooms"',
            'space = "tiles:3x3"',
            "14: tasks.1.options: is for grid or maps",
        ),
        (
            'grid = "scattered"',
            'name = "turning"\ngrid = "scattered"',
            "14: tasks.1.name: two problems are called turning/random-70",
        ),
    ],
)
def test_what_is_refused(home: Path, old: str, new: str, message: str) -> None:
    assert old in SUITE
    (home / "suite.toml").write_text(SUITE.replace(old, new, 1))
    with Store(home / "run") as store, pytest.raises(InputError, match=message):
        suite_jobs(read_suite(home / "suite.toml"), home, store)


def test_what_is_refused_in_other_suites(home: Path) -> None:
    text = '[[tasks]]\ngenerator = "gripper"\nparameters = { balls = 1 }\n'
    text += '[[train]]\nname = "a"\nrecipe = "fsm"\nmaps = ["x.map"]\n'
    (home / "suite.toml").write_text(text)
    with (
        Store(home / "run") as store,
        pytest.raises(
            InputError, match=r"suite\.toml:7: train\.0\.maps: maps is for a map, and fsm for a task"
        ),
    ):
        suite_jobs(read_suite(home / "suite.toml"), home, store)


def test_a_mistake_in_a_profile_has_its_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", str(home / "suite.toml"), "-o", str(home / "run"), "--profile", "wrong", "--dry-run"])
    line = 1 + SUITE.splitlines().index("train = { options = { updates = 0 } }")
    told = capsys.readouterr().err
    assert f"suite.toml:{line}: train.0.updates: updates must be a whole number from 1 on" in told
    assert told.count("\n") == 1 and not (home / "run").exists()


@pytest.mark.slow
@pytest.mark.parametrize("profile", [None, "quick"])
def test_the_suite_of_the_paper(tmp_path: Path, profile: str | None) -> None:
    with Store(tmp_path / "run") as store:
        jobs = suite_jobs(read_suite(ROOT / "suites" / "prolonged.toml", profile), ROOT / "suites", store)
    trained = {job.labels["contestant"] for job in jobs if job.kind == "train"}
    assert {f"PHS, k_pr {k_pr}" for k_pr in ("1", "1.5", "2", "3", "5", "inf")} | {"VAN"} <= trained
    needs = {need for job in jobs for need in job.needs()}
    assert needs == {job.key for job in jobs if job.kind == "train"}


@pytest.mark.parametrize("profile", ["cells", "paper"])
def test_the_network_of_the_paper_in_the_suite(tmp_path: Path, profile: str) -> None:
    with Store(tmp_path / "run") as store:
        jobs = suite_jobs(read_suite(ROOT / "suites" / "prolonged.toml", profile), ROOT / "suites", store)
    trainings = {job.labels["contestant"]: " ".join(job.command) for job in jobs if job.kind == "train"}
    assert [*trainings] == [f"PHS, {profile}", f"VAN, {profile}"]
    chosen = "--model paper" if profile == "cells" else "--profile paper"
    assert all(chosen in words for words in trainings.values())
    eps = 3 if profile == "cells" else 7
    assert Counter(need for job in jobs for need in job.needs()).most_common()[-1][1] == eps
