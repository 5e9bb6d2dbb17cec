"""`hstar solve` of maps, `hstar show` and `hstar train prolonged` as people meet them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hstar.experiments import batch
from hstar.models.trained_model import load_model
from hstar.search.solve import solve
from hstar.spaces.grid import Grid, GridProblem, LatticeProblem, replay
from hstar.spaces.grid_files import Scenario, read_map, write_map, write_png, write_scenarios
from hstar.spaces.grid_maps import random_problems
from hstar.spaces.load import load

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
    done = hstar("solve", file, "--start", "7,0", "--goal", "7,9")
    assert done.code == 0 and done.out.splitlines()[-1] == "; cost = 23 (unit cost)"
    assert re.match(
        r"solved: plan of length 23, cost 23 \(optimal\); \d+ expanded, .*; astar with man", done.err
    )
    record = json.loads(hstar("solve", file, "--start", "7,0", "--goal", "7,9", "--json").out)
    blocked = np.zeros((8, 10), dtype=bool)
    blocked[1:, 5] = True
    path = [tuple(cell) for cell in record["path"]]
    assert replay(GridProblem(Grid(blocked), (7, 0), (7, 9)), path) == record["cost"] == 23


def test_no_path(hstar: Run, folder: Path) -> None:
    write_png(folder / "cut.png", np.array([[0, 1, 0]], dtype=bool))
    done = hstar("solve", "cut.png", "--start", "0,0", "--goal", "0,2")
    assert (done.code, done.out) == (11, "") and done.err.startswith("unsolvable: ")


def test_records_and_neighbours(hstar: Run, folder: Path) -> None:
    done = hstar("solve", "map.scen", "--json", "-q")
    records = [json.loads(line) for line in done.out.splitlines()]
    assert [(tuple(one["start"]), tuple(one["goal"])) for one in records] == [
        ((7, 0), (7, 9)),
        ((0, 0), (0, 4)),
        ((3, 3), (3, 7)),
    ]
    assert all(one["status"] == "solved" and one["heuristic"] == ["octile"] for one in records)
    assert records[1]["cost"] == 4 and records[1]["eps"] is None
    four = hstar("solve", "map.scen", "--json", "-q", "--neighbours", "4", "--random", "1", "--seed", "1")
    (record,) = map(json.loads, four.out.splitlines())
    assert record["heuristic"] == ["manhattan"] and record["cost"] in (23, 4, 10)


def test_random_maps_and_a_table(hstar: Run, folder: Path) -> None:
    words = ("--random", "6", "--kind", "maze", "--rows", "15", "--columns", "15", "--seed", "4")
    both = ("--heuristic", "manhattan", "--heuristic", "blind", "--combine", "each")
    done = hstar("solve", *words, *both, "--summary")
    header, *rows = [line.split() for line in done.out.splitlines()]
    assert header[:4] == ["heuristic", "solved", "cost", "suboptimality"]
    assert [row[0] for row in rows] == ["manhattan", "blind"] and all(row[1] == "6/6" for row in rows)
    problems = random_problems(6, 4, kind="maze", rows=15, columns=15)
    expanded = [solve(problem, "blind", "astar").expanded for problem in problems]
    assert float(rows[1][4]) == pytest.approx(np.mean(expanded), abs=0.06)
    assert rows[0][2] == rows[1][2]
    lines = hstar("solve", *words, *both)
    assert lines.out.count("manhattan: ") == lines.out.count("blind: ") == 6
    assert [line.split()[:5] for line in lines.err.splitlines()[1:]] == [row[:5] for row in rows]


def test_costs_are_compared_with_the_optimum(hstar: Run, folder: Path) -> None:
    maps = ("--kind", "scattered", "--random", "8", "--rows", "20", "--columns", "20", "--seed", "3")
    words = ("solve", *maps, "--weight", "3")
    done = hstar(*words, "--optimum", "--output", "rows.jsonl")
    assert done.code == 0 and "8 of 8 solved" in done.err
    problems = random_problems(8, 3, rows=20, columns=20)
    best = [solve(problem, None, "astar").plan_cost or 0 for problem in problems]
    costs = [solve(problem, None, "wastar", weight=3.0).plan_cost or 0 for problem in problems]
    ratios = [cost / least for cost, least in zip(costs, best, strict=True)]
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    assert [one["optimal_cost"] for one in rows] == best and [one["cost"] for one in rows] == costs
    assert all(one["ratio"] == pytest.approx(3) for one in rows)
    record = json.loads(hstar(*words, "--optimum", "--summary", "--json").out)
    assert (record["status"], record["instances"]) == ("solved", 8) and record["bound"] == pytest.approx(3)
    assert record["suboptimality"] == pytest.approx(np.mean(ratios) - 1)
    assert record["greatest_suboptimality"] == pytest.approx(max(ratios) - 1)
    assert record["cost"] == pytest.approx(np.mean(costs))
    assert record["optimal_cost"] == pytest.approx(np.mean(best))


@pytest.mark.parametrize(
    ("optimum", "message"), [(10.0, "no plan costs less than 23"), (30.0, "a plan costs 23")]
)
def test_a_broken_promise_is_an_error(
    hstar: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, optimum: float, message: str
) -> None:
    monkeypatch.setattr("hstar.experiments.batch.optimum", lambda problem, config: optimum)
    words = ("solve", "map.png", "--start", "7,0", "--goal", "7,9", "--optimum", "--json", "--summary", "-q")
    done = hstar(*words, "-o", "rows.jsonl")
    assert (done.code, done.out) == (35, "") and not Path("rows.jsonl").exists()
    assert f"map.png: the optimum is {optimum:g}, but {message}" in done.err


def test_lattices(hstar: Run, folder: Path) -> None:
    words = ("solve", "map.map", "--headings", "8", "--turn-cost", "0.5", "--optimum", "--json", "-q")
    (record,) = map(json.loads, hstar(*words, "--start", "7,0,0", "--goal", "7,9").out.splitlines())
    problem = LatticeProblem(Grid(read_map(folder / "map.map")), (7, 0, 0), (7, 9), 8, 0.5)
    assert record["cost"] == record["optimal_cost"] == solve(problem, None, "astar").plan_cost
    drawn = [json.loads(line) for line in hstar(*words, "--random", "3").out.splitlines()]
    assert all(len(one["start"]) == 3 and one["cost"] == one["optimal_cost"] for one in drawn)


@pytest.mark.slow
def test_pictures(hstar: Run, refused: Refused, folder: Path) -> None:
    """Pictures and pages of searches side by side; random maps are drawn, too."""
    pytest.importorskip("matplotlib")
    trained(hstar, "--scenarios", "2", "--rows", "8", "--columns", "8")
    both = ("--heuristic", "manhattan", "--heuristic", "model.hstar", "--eps", "2")
    words = ("show", "map.png", "--start", "7,0", "--goal", "7,9", *both)
    done = hstar(*words, "-o", "one.svg", "-o", "two.svg", "-o", "three.png", "-o", "four.html")
    assert (done.code, done.out, done.err) == (0, "", "one.svg\ntwo.svg\nthree.png\nfour.html\n")
    assert (folder / "one.svg").read_bytes() == (folder / "two.svg").read_bytes()
    text = (folder / "one.svg").read_text()
    assert "model.hstar, eps 2: " in text and "values of the network" in text
    assert (folder / "three.png").read_bytes().startswith(b"\x89PNG")
    assert '"title":"manhattan: ' in (folder / "four.html").read_text()
    assert hstar("show", "--kind", "maze", "--seed", "3", "-o", "c.png", "-q").code == 0
    assert (folder / "c.png").read_bytes().startswith(b"\x89PNG")
    for wrong, message in (
        (["map.png"], "the following arguments are required: --output"),
        (["map.png", "-o", "x.gif"], "x.gif: a drawing is a .png, .svg or .html file"),
        (["map.png", "--random", "3", "-o", "x.svg"], "one problem is drawn"),
        (["map.png", "--headings", "8", "-o", "x.html"], "draws maps without headings"),
        (["tiles:3x3", "--random", "1", "-o", "x.html"], "draws maps without headings"),
        (["map.png", "--search", "gbfs", "-o", "x.html"], "what astar and wastar explore can be drawn"),
        (["map.png", "-o", "absent/x.html"], "absent"),
    ):
        assert message in refused(33, "show", *wrong)


def test_show_searches_the_first_problem_alone(
    hstar: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a .scen file, too, which may have thousands."""
    seen: list[int] = []
    run_batch = batch.run_batch

    def counted(one: Any, instances: Any) -> Any:
        seen.append(len(instances))
        return run_batch(one, instances)

    monkeypatch.setattr("hstar.cli.show.run_batch", counted)
    assert hstar("show", "map.scen", "-o", "d.html", "-q").code == 0
    assert seen == [1]


def test_steps_of_the_first_problem(hstar: Run, folder: Path) -> None:
    assert hstar("solve", "map.scen", "--heuristic", "blind", "--steps", "first.json", "-q").code == 0
    steps = json.loads((folder / "first.json").read_text())
    first = json.loads(hstar("solve", "map.scen", "--heuristic", "blind", "--json", "-q").out.splitlines()[0])
    (panel,) = steps["panels"]
    assert steps["shape"] == [8, 10] and panel["cost"] == first["cost"]
    assert len(panel["explored"]) == first["expansions"]
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
    used = ("solve", "map.png", "--start", "7,0", "--goal", "7,9", "--heuristic", "model.hstar")
    done = hstar(*used, "--eps", "1.2", "--json")
    record = json.loads(done.out)
    assert 23 <= record["cost"] <= 1.2 * 23 and record["eps"] == 1.2 and record["network_time"] > 0
    assert record["ratio"] == pytest.approx(1.2) and "s of the network" in hstar(*used, "--eps", "1.2").err


def test_maps_that_are_given(hstar: Run, folder: Path) -> None:
    model = load_model(trained(hstar, "map.png", "map.map", "--scenarios", "3"))
    assert model.space.sizes == ((8, 10),) and model.space.neighbours == 4 and model.summary["scenarios"] == 3
    model = load_model(trained(hstar, "map.scen", "--k-pr", "inf"))
    assert model.space.neighbours == 8 and model.summary["scenarios"] == 3
    assert model.summary["states"] == 3 * (80 - 7)
    vanilla = ("--sampler", "optimal-path", "--seed", "2", "--scenarios", "4")
    sampled = load_model(trained(hstar, "map.png", *vanilla))
    assert sampled.recipe_config["sampler"] == "optimal-path" and sampled.summary["scenarios"] == 4


# --- mistakes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["map.png", "--start", "0,0", "--random", "2"], "give either --random or --start and --goal"),
        (["map.png", "--start", "0;0", "--goal", "1,1"], "expected a row and a column such as 3,14"),
        (["map.png", "--start", "1,5", "--goal", "1,1"], "start"),
        (["map.png", "--start", "9,0", "--goal", "1,1"], "start"),
        (["map.scen", "--start", "0,0", "--goal", "1,1"], "--start and --goal are for one problem on a map"),
        (["map.png", "--rows", "5"], "--rows is for random maps, but map.png is given"),
        (["map.scen", "--threshold", "0.5"], "--threshold is for an image"),
        (["absent.png"], "absent.png: no such file"),
        (["map.png", "--heuristic", "manhatten"], "did you mean 'manhattan'?"),
        (["map.png", "--heuristic", "absent.hstar"], "absent.hstar: cannot read"),
        (["map.png", "--heuristic", "map.scen"], "map.scen: not a model of hstar"),
        (["map.png", "--eps", "2"], "--eps is for model files and dijkstra, not for the default heuristic"),
        (["map.png", "--eps", "0.5"], "eps must be a number from 1 on"),
        (["map.png", "--random", "0"], "--random takes 1 or more"),
        (["map.png", "--rule", "mean"], "--rule is for model files"),
        (["map.png", "--threads", "2"], "--threads is for idastar, not for astar"),
        (["map.png", "--headings", "5"], "headings must be 0 or 4 or 8, got 5"),
        (["map.png", "--neighbours", "6"], "neighbours must be 4 or 8, got 6"),
        (["map.png", "--headings", "8", "--steps", "x.json"], "shows maps without headings"),
        (["map.png", "--steps", "x.html"], "steps are a .json file"),
        (["map.png", "--steps", "absent/x.json"], "absent"),
        (["map.png", "--output", "rows.csv"], "rows are JSON lines, not CSV"),
        (["map.png", "--start", "0,0,1", "--goal", "1,1"], "start"),
        (["map.png", "map.scen", "--random", "2"], "give either maps or .scen files, not both"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_of_solve(refused: Refused, folder: Path, words: list[str], message: str) -> None:
    assert message in refused(33, "solve", *words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--states", "5"], "--states is not an option of prolonged"),
        (["--data", "x"], "--data is not an option of prolonged"),
        (["map.png", "--kind", "maze"], "kind is for random maps, but maps are given"),
        (["map.png", "map.scen"], "give either maps or .scen files, not both"),
        (["--model", "paper", "--sweeps", "3"], "--sweeps is not an option of prolonged for a map"),
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
    used = ("solve", "map.png", "--start", "7,0", "--goal", "7,9", "--heuristic", "model.hstar")
    assert "trained for 4 neighbours, asked for 8" in refused(33, *used, "--neighbours", "8")
    trained(hstar, "--scenarios", "2", "--rows", "8", "--columns", "8", "--headings", "4")
    assert "trained for 4 headings, turns for 1, asked for 4 neighbours" in refused(33, *used)
    assert "4 headings" in hstar("info", "model.hstar").out


# --- maps of robots ---------------------------------------------------------------------------------


def test_a_ros_map(hstar: Run, refused: Refused, folder: Path) -> None:
    text = "image: map.png\nresolution: 0.5\norigin: [-1.0, -2.0, 0.0]\nnegate: 0\n"
    (folder / "map.yaml").write_text(text + "occupied_thresh: 0.65\nfree_thresh: 0.196\n")
    words = ("solve", "map.yaml", "--search", "astar", "--heuristic", "octile", "-q")
    ends = ("--start", "7,0", "--goal", "7,9")
    cells = json.loads(hstar(*words, *ends, "--json", "--path-file", "path.json").out)
    assert cells["cost"] == pytest.approx(8 + 8 + 7 - 4 * (2 - 2**0.5) - 2, abs=3) and cells["cost"] < 23
    written = json.loads(Path("path.json").read_text())
    assert [[one["row"], one["column"]] for one in written] == cells["path"]

    metres = ("--metric", "--start=-0.9,-1.9", "--goal", "3.9,-1.6")
    same = json.loads(hstar(*words, *metres, "--json", "--path-file", "path.csv").out)
    assert (same["cost"], same["path"]) == (cells["cost"], cells["path"])
    assert load("map.yaml", start=(7, 0), goal=(7, 9)).grid.neighbours == 8
    lines = Path("path.csv").read_text().splitlines()
    assert (lines[0], lines[1], lines[-1]) == ("x,y", "-0.75,-1.75", "3.75,-1.75")

    assert hstar("train", "prolonged", "map.yaml", "-o", "model.hstar", "-q", *QUICK).code == 0
    assert hstar("solve", "map.yaml", "--heuristic", "model.hstar", "-q", *ends).code == 0

    assert hstar(*words, *ends, "--inflate", "0.5m").code == 11  # the gap is as wide as one cell
    assert "row and a column" in refused(33, *words, "--start", "1.5,2")
    assert "outside of the map" in refused(33, *words, "--metric", "--start", "90,2")
    blocked = refused(33, *words, *metres, "--inflate", "4")
    assert "map.yaml: goal (7, 9) is an obstacle (row and column of its cell), where --inflate" in blocked
    assert "--metric needs a ROS map.yaml" in refused(33, "solve", "map.png", "--metric", *ends)
    assert "--inflate is for maps of files" in refused(33, "solve", "map.scen", "--inflate", "1")
    assert "a path is a .csv, .json, .npy file" in refused(33, *words, *ends, "--path-file", "path.txt")
    assert "--path-file is for one" in refused(33, *words, "--random", "2", "--path-file", "path.csv")
    assert "--path-file is for maps" in refused(
        33, "solve", "tiles:3x3", "--random", "1", "--path-file", "path.csv"
    )
