"""One pipeline, as a user types it: the same load, train, solve and files for every kind of space."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hstar.spaces.grid_files import write_png

ROOT = Path(__file__).parents[1]
PYTHON = """\
import hstar
task = hstar.load("domain.pddl", "problem.pddl"); tiles = hstar.load("tiles:3x3")
m = hstar.train("nrsl", task, estimate="gaussian", states=2000, epochs=5, seed=0); m.save("m.hstar")
print(hstar.solve(task, "m.hstar", search="gbfs", rule="quantile:0.3"))
p = hstar.train("likely-admissible", tiles, profile="quick", iterations=5); print(hstar.solve(tiles.random(1), p, search="astar"))
print(hstar.solve(tiles.random(1), "manhattan", search="focal", bound=1.5).ratio)
for recipe in hstar.recipes(): print(recipe.name, recipe.paper, recipe.spaces)
"""  # noqa: E501
COMMANDS = """\
hstar train nrsl domain.pddl problem.pddl -o g.hstar --estimate gaussian
hstar train prolonged problem.pddl -o exact.hstar
hstar solve tiles:4x4 --random 5 --seed 1 --search idastar --heuristic manhattan --json
hstar solve map.png --start 0,0 --goal 29,29 --heuristic octile --search astar --json
hstar solve own.py:Lights --search gbfs --heuristic zero --json
hstar train prolonged -o maps.hstar --scenarios 20 --updates 20
hstar calibrate maps.hstar -o calm.hstar --random 40 --confidence 0.9
hstar info calm.hstar
hstar info exact.hstar
hstar list --matrix
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the lines name: a task, a map of 30 x 30 cells, and an own space."""
    for name in ("domain.pddl", "problem.pddl"):
        shutil.copy(ROOT / "tests" / "data" / "blocks" / name, tmp_path)
    shutil.copy(ROOT / "examples" / "own_space.py", tmp_path / "own.py")
    blocked = np.zeros((30, 30), dtype=bool)
    blocked[10, :25] = True
    write_png(tmp_path / "map.png", blocked)
    return tmp_path


def run(words: list[str], folder: Path) -> str:
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


@pytest.mark.slow
def test_python(folder: Path) -> None:
    *results, ratio, first = run(["-c", PYTHON], folder).splitlines()[:4]
    assert all("status solved" in line for line in results)
    assert 1 <= float(ratio) <= 1.5
    assert "(" in first


@pytest.mark.slow
def test_command_lines(folder: Path) -> None:
    out = {
        line: run(["-c", "from hstar.cli import main; main()", *shlex.split(line)[1:]], folder)
        for line in COMMANDS.splitlines()
    }
    puzzles, field, own = ([json.loads(row) for row in out[line].splitlines()] for line in list(out)[2:5])
    assert [row["status"] for row in puzzles] == ["solved"] * 5
    (path,) = (row["path"] for row in field)
    assert path[0] == [0, 0] and path[-1] == [29, 29]
    assert own[0]["status"] == "solved"
    assert "| recipe | `likely-admissible` | yes |" in out["hstar list --matrix"]
    assert "calibrated" in out["hstar info calm.hstar"]
