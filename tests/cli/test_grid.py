"""`hstar grid` and `hstar train prolonged` as people meet them."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hstar.cli import show
from hstar.models.trained_model import load_model
from hstar.search.solve import solve
from hstar.spaces.grid import Grid, GridProblem, LatticeProblem, replay
from hstar.spaces.grid_files import Scenario, read_map, write_map, write_png, write_scenarios
from hstar.spaces.grid_maps import random_problems

from .conftest import Refused, Run

QUICK = ("--updates", "4", "--sweeps", "4", "--waves", "2", "--width", "4", "--batch-size", "4")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wall with a way around it as an image and as a map, and problems on it."""
    monkeypatch.chdir(tmp_path)
    blocked = np.zeros((8, 10), dtype=bool)
    blocked[1:, 5] = True
    write_png(tmp_path / "map.png", blocked)
    write_map(tmp_path / "map.map", blocked)
    grid = Grid(blocked, None, 8)
    ends = [((7, 0), (7, 9)), ((0, 0), (0, 4)), ((3, 3), (3, 7))]
    found = [Scenario(0, "map.map", GridProblem(grid, *end), 1.0) for end in ends]
    write_scenarios(tmp_path / "map.scen", "map.map", found)
    return tmp_path


def trained(hstar: Run, *words: str) -> Path:
    done = hstar("train", "prolonged", "-o", "model.hstar", "-q", *QUICK, *words)
    assert (done.code, done.out, done.err) == (0, "", "")
    return Path("model.hstar")


# --- paths ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["map.png", "map.map"])
def test_a_path(hstar: Run, folder: Path, file: str) -> None:
    done = hstar("grid", file, "--start", "7,0", "--goal", "7,9")
    path = [tuple(map(int, line.split(","))) for line in done.out.splitlines()]
    blocked = np.zeros((8, 10), dtype=bool)
    blocked[1:, 5] = True
    assert done.code == 0 and replay(GridProblem(Grid(blocked), (7, 0), (7, 9)), path) == 23
    assert re.match(r"solved: cost 23; \d+ expanded, 0 re-opened in \d", done.err)


def test_no_path(hstar: Run, folder: Path) -> None:
    write_png(folder / "cut.png", np.array([[0, 1, 0]], dtype=bool))
    done = hstar("grid", "cut.png", "--start", "0,0", "--goal", "0,2")
    assert (done.code, done.out) == (11, "") and done.err.startswith("unsolvable: ")


def test_records_and_neighbours(hstar: Run, folder: Path) -> None:
    done = hstar("grid", "map.scen", "--json", "-q")
    records = [json.loads(line) for line in done.out.splitlines()]
    assert [(tuple(one["start"]), tuple(one["goal"])) for one in records] == [
        ((7, 0), (7, 9)),
        ((0, 0), (0, 4)),
        ((3, 3), (3, 7)),
    ]
    assert all(one["status"] == "solved" and one["heuristic"] == "octile" for one in records)
    assert records[1]["path_cost"] == 4 and records[1]["eps"] is None
    four = hstar("grid", "map.scen", "--json", "-q", "--neighbours", "4", "--scenarios", "1", "--seed", "1")
    (record,) = map(json.loads, four.out.splitlines())
    assert record["heuristic"] == "manhattan" and record["path_cost"] in (23, 4, 10)


def test_random_maps_and_a_table(hstar: Run, folder: Path) -> None:
    words = ("--scenarios", "6", "--kind", "maze", "--rows", "15", "--columns", "15", "--seed", "4")
    done = hstar("grid", *words, "--heuristic", "manhattan", "--heuristic", "blind")
    header, *rows = [line.split() for line in done.out.splitlines()]
    assert header[:4] == ["heuristic", "solved", "cost", "expanded"]
    assert [row[0] for row in rows] == ["manhattan", "blind"] and all(row[1] == "6/6" for row in rows)
    problems = random_problems(6, 4, kind="maze", rows=15, columns=15)
    expanded = [solve(problem, "blind", "astar").expanded for problem in problems]
    assert float(rows[1][3]) == pytest.approx(np.mean(expanded), abs=0.06)
    assert rows[0][2] == rows[1][2]


def test_costs_are_compared_with_the_optimum(hstar: Run, folder: Path) -> None:
    words = ("grid", "--scenarios", "8", "--rows", "20", "--columns", "20", "--seed", "3", "--weight", "3")
    done = hstar(*words, "--optimum", "--output", "rows.csv")
    header, row = [line.split() for line in done.out.splitlines()]
    assert done.code == 0 and header[2:5] == ["cost", "/", "optimum"]
    problems = random_problems(8, 3, rows=20, columns=20)
    best = [solve(problem, None, "astar").plan_cost or 0 for problem in problems]
    costs = [solve(problem, None, "wastar", weight=3.0).plan_cost or 0 for problem in problems]
    ratios = [cost / least for cost, least in zip(costs, best, strict=True)]
    assert float(row[3]) == pytest.approx(np.mean(ratios), abs=1e-4)
    with (folder / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(one["optimum"]) for one in rows] == best and [float(one["cost"]) for one in rows] == costs
    record = json.loads(hstar(*words, "--optimum", "--summary", "--json").out)
    assert (record["status"], record["scenarios"], record["bound"]) == ("solved", 8, 3)
    assert record["greatest_ratio"] == pytest.approx(max(ratios)) and record["violations"] == 0
    assert record["cost"] == pytest.approx(np.mean(costs)) and record["optimum"] == pytest.approx(
        np.mean(best)
    )


def test_a_broken_promise_is_an_error(hstar: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hstar.experiments.grids.optimum", lambda problem: 10.0)  # but it is 23
    words = ("grid", "map.png", "--start", "7,0", "--goal", "7,9", "--optimum", "--json", "--summary", "-q")
    done = hstar(*words)
    assert done.code == 35 and "costs 2.3 times the optimum; 1 times were promised" in done.err
    record = json.loads(done.out)
    assert (record["status"], record["violations"]) == ("error", 1) and "2.3 times" in record["error"]


def test_lattices(hstar: Run, folder: Path) -> None:
    words = ("grid", "map.map", "--headings", "8", "--turn-cost", "0.5", "--optimum", "--json", "-q")
    (record,) = map(json.loads, hstar(*words, "--start", "7,0,0", "--goal", "7,9").out.splitlines())
    problem = LatticeProblem(Grid(read_map(folder / "map.map")), (7, 0, 0), (7, 9), 8, 0.5)
    assert record["path_cost"] == record["optimum"] == solve(problem, None, "astar").plan_cost
    drawn = [json.loads(line) for line in hstar(*words, "--scenarios", "3").out.splitlines()]
    assert all(len(one["start"]) == 3 and one["path_cost"] == one["optimum"] for one in drawn)


@pytest.mark.slow
def test_pictures(hstar: Run, folder: Path) -> None:
    pytest.importorskip("matplotlib")
    trained(hstar, "--scenarios", "2", "--rows", "8", "--columns", "8")
    both = ("--heuristic", "manhattan", "--heuristic", "model.hstar", "--eps", "2")
    words = ("grid", "map.png", "--start", "7,0", "--goal", "7,9", *both, "-q")
    for name in ("one.svg", "two.svg", "three.png"):
        assert hstar(*words, "--picture", name).code == 0
    assert (folder / "one.svg").read_bytes() == (folder / "two.svg").read_bytes()
    text = (folder / "one.svg").read_text()
    assert "model.hstar, eps 2: " in text and "values of the network" in text
    assert (folder / "three.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_show(hstar: Run, refused: Refused, folder: Path) -> None:
    """Pictures and pages of the same searches as `hstar grid` draws; random cells without any."""
    pytest.importorskip("matplotlib")
    words = ("map.png", "--start", "7,0", "--goal", "7,9", "--heuristic", "manhattan", "--heuristic", "blind")
    done = hstar("show", *words, "-o", "a.svg", "-o", "a.html")
    assert (done.code, done.out, done.err) == (0, "", "a.svg\na.html\n")
    assert hstar("grid", *words, "--picture", "b.svg", "--animation", "b.html", "-q").code == 0
    for one, two in (("a.svg", "b.svg"), ("a.html", "b.html")):
        assert (folder / one).read_bytes() == (folder / two).read_bytes()
    assert hstar("show", "--kind", "maze", "--seed", "3", "-o", "c.png", "-q").code == 0
    assert (folder / "c.png").read_bytes().startswith(b"\x89PNG")
    for wrong, message in (
        (["map.png"], "the following arguments are required: --output"),
        (["map.png", "-o", "x.gif"], "x.gif: a drawing is a .png, .svg or .html file"),
        (["map.png", "--scenarios", "3", "-o", "x.svg"], "one problem is drawn"),
        (["map.png", "--headings", "8", "-o", "x.html"], "show maps without headings"),
        (["map.png", "-o", "absent/x.html"], "absent"),
    ):
        assert message in refused(33, "show", *wrong)


def test_show_searches_the_first_problem_alone(
    hstar: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a .scen file, too, which may have thousands."""
    seen: list[int] = []
    searched = show.searched

    def counted(*given: Any, **options: Any) -> Any:
        runs = searched(*given, **options)
        seen.append(len(runs))
        return runs

    monkeypatch.setattr(show, "searched", counted)
    assert len(hstar("grid", "map.scen", "--json", "-q").out.splitlines()) > 1
    assert hstar("show", "map.scen", "-o", "d.html", "-q").code == 0
    assert seen == [1]


def test_an_animation(hstar: Run, folder: Path) -> None:
    words = ("grid", "map.png", "--start", "7,0", "--goal", "7,9", "--heuristic", "manhattan")
    done = hstar(*words, "--heuristic", "blind", "--animation", "search.html")
    assert done.code == 0 and done.err.endswith("search.html\n")
    text = (folder / "search.html").read_text()
    assert '"title":"manhattan: ' in text and '"title":"blind: ' in text


def test_steps_of_the_first_problem(hstar: Run, folder: Path) -> None:
    assert hstar("grid", "map.scen", "--heuristic", "blind", "--steps", "first.json", "-q").code == 0
    steps = json.loads((folder / "first.json").read_text())
    first = json.loads(hstar("grid", "map.scen", "--heuristic", "blind", "--json", "-q").out.splitlines()[0])
    (panel,) = steps["panels"]
    assert steps["shape"] == [8, 10] and panel["cost"] == first["path_cost"]
    assert len(panel["explored"]) == first["expanded"]
    assert panel["path"] == [10 * row + column for row, column in first["path"]]


# --- learning ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_model_is_trained_told_and_used(hstar: Run, folder: Path) -> None:
    words = ("--scenarios", "3", "--rows", "9", "--columns", "9", "--json")
    done = hstar("train", "prolonged", "-o", "model.hstar", *QUICK, *words)
    record = json.loads(done.out)
    assert (record["recipe"], record["model"], record["scenarios"]) == ("prolonged", "vin", 3)
    assert re.match(r"model.hstar: prolonged, vin and asymmetric, \d+ states of 3 scen", done.err)
    told = hstar("info", "model.hstar").out
    assert "maps of 9 x 9 cells, 4 neighbours" in told and "vin" in told
    used = ("grid", "map.png", "--start", "7,0", "--goal", "7,9", "--heuristic", "model.hstar")
    done = hstar(*used, "--eps", "1.2", "--json")
    record = json.loads(done.out)
    assert 23 <= record["path_cost"] <= 1.2 * 23 and record["eps"] == 1.2 and record["network_time"] > 0
    assert "at most 1.2 times the optimum" in done.err


def test_maps_that_are_given(hstar: Run, folder: Path) -> None:
    model = load_model(trained(hstar, "map.png", "map.map", "--scenarios", "3"))
    assert model.space.sizes == ((8, 10),) and model.space.neighbours == 4 and model.summary["scenarios"] == 3
    model = load_model(trained(hstar, "map.scen", "--neighbours", "8", "--k-pr", "inf"))
    assert model.space.neighbours == 8 and model.summary["scenarios"] == 3
    assert model.summary["states"] == 3 * (80 - 7)
    vanilla = ("--sampler", "optimal-path", "--seed", "2", "--scenarios", "4")
    sampled = load_model(trained(hstar, "map.png", *vanilla))
    assert sampled.recipe_config["sampler"] == "optimal-path" and sampled.summary["scenarios"] == 4


# --- mistakes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["map.png", "--start", "0,0"], "give both --start and --goal, or neither"),
        (["map.png", "--start", "0;0", "--goal", "1,1"], "expected a row and a column such as 3,14"),
        (["map.png", "--start", "1,5", "--goal", "1,1"], "start"),
        (["map.png", "--start", "9,0", "--goal", "1,1"], "start"),
        (["--start", "0,0", "--goal", "1,1"], "--start and --goal are for one problem on a map"),
        (["map.png", "--rows", "5"], "--rows is for random maps, but map.png is given"),
        (["map.scen", "--threshold", "0.5"], "--threshold is for an image"),
        (["absent.png"], "absent.png: no such file"),
        (["map.png", "--heuristic", "manhatten"], "did you mean 'manhattan'?"),
        (["map.png", "--heuristic", "absent.hstar"], "absent.hstar: cannot read"),
        (["map.png", "--heuristic", "map.scen"], "map.scen: not a model of hstar"),
        (["map.png", "--eps", "2"], "--eps bounds the values of a model"),
        (["map.png", "--eps", "0.5"], "eps must be a number from 1 on"),
        (["map.png", "--scenarios", "0"], "--scenarios takes 1 or more"),
        (["map.png", "--picture", "out.gif"], "a picture is a .png or .svg file"),
        (["map.png", "--animation", "out.svg"], "an animation is a .html file"),
        (["map.png", "--headings", "5"], "headings must be 0 or 4 or 8, got 5"),
        (["map.png", "--neighbours", "6"], "a cell has 4 or 8 neighbours, got 6"),
        (["map.png", "--headings", "8", "--animation", "x.html"], "show maps without headings"),
        (["map.png", "--headings", "8", "--steps", "x.json"], "show maps without headings"),
        (["map.png", "--steps", "x.html"], "steps are a .json file"),
        (["map.png", "--steps", "absent/x.json"], "absent"),
        (["map.png", "--output", "rows.txt"], "what is kept is a .csv file"),
        (["map.png", "--start", "0,0,1", "--goal", "1,1"], "start"),
        (["map.png", "map.map"], "unexpected argument 'map.map'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_of_grid(refused: Refused, folder: Path, words: list[str], message: str) -> None:
    assert message in refused(33, "grid", *words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--states", "5"], "--states is not an option of prolonged"),
        (["--data", "x"], "--data is not an option of prolonged"),
        (["map.png", "--kind", "maze"], "--kind is for random maps, but maps are given"),
        (["map.png", "map.scen"], "give either maps or .scen files, not both"),
        (["--model", "paper", "--sweeps", "3"], "unknown option of prolonged 'sweeps'"),
        (["--model", "paper", "--rows", "9", "--scenarios", "2"], "needs maps of 16 x 16 cells or more"),
        (["--k-pr", "0"], "k_pr must be a number from 1 on"),
        (["absent.png"], "absent.png: no such file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_of_train(refused: Refused, folder: Path, words: list[str], message: str) -> None:
    assert message in refused(33, "train", "prolonged", "-o", "m.hstar", *words)
    assert not (folder / "m.hstar").exists()


def test_a_model_that_is_for_other_maps(hstar: Run, refused: Refused, folder: Path) -> None:
    trained(hstar, "--scenarios", "2", "--rows", "8", "--columns", "8")
    used = ("grid", "map.png", "--start", "7,0", "--goal", "7,9", "--heuristic", "model.hstar")
    assert "trained for 4 neighbours, asked for 8" in refused(33, *used, "--neighbours", "8")
    trained(hstar, "--scenarios", "2", "--rows", "8", "--columns", "8", "--headings", "4")
    assert "asked for cells without headings" in refused(33, *used)
    assert "4 headings" in hstar("info", "model.hstar").out
