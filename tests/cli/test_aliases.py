"""Commands of hstar 0.1: they do what they did, say what they are called now, and are not in the help."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hstar.cli.app import ALIASES, COMMANDS, rewritten
from hstar.spaces.grid_files import write_png

from .conftest import Run


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("puzzle tiles:3x3 --random 2", "solve tiles:3x3 --random 2"),
        ("grid map.png --start 0,0 --goal 1,1", "solve map.png --start 0,0 --goal 1,1 --combine each"),
        ("grid map.png", "solve map.png --random 1 --combine each"),
        ("grid a.scen --scenarios 3", "solve a.scen --random 3 --combine each"),
        ("grid --scenarios=3", "solve --random=3 --kind scattered --combine each"),
        ("grid --rows 9", "solve --rows 9 --random 1 --combine each"),
        ("grid map.png --picture x.svg", "show map.png --output x.svg --random 1"),
        ("label folder -o x.data", "sample optimal folder -o x.data"),
        ("accuracy m.hstar x.data --json", "evaluate m.hstar x.data --json"),
    ],
)
def test_words(old: str, new: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert rewritten(old.split()) == new.split()
    name = old.split()[0]
    assert capsys.readouterr().err == f"hstar {name} is now hstar {new.split()[0]}: hstar {new}\n"


def test_they_work(hstar: Run, blocks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(blocks)
    write_png(Path("map.png"), np.zeros((6, 8), dtype=bool))
    done = hstar("puzzle", "tiles:2x3", "--random", "2", "--nodes", "100000", "--json")
    assert done.code == 0 and [json.loads(line)["status"] for line in done.out.splitlines()] == ["solved"] * 2
    done = hstar("grid", "map.png", "--heuristic", "manhattan", "--heuristic", "blind", "--weight", "2", "-q")
    assert done.code == 0 and done.err == "" and done.out.startswith("manhattan: 1: cost ")
    assert hstar("label", "problem.pddl", "-o", "x.data", "-q").code == 0
    assert hstar("train", "wl", "x.data", "-o", "m.hstar", "--least-states", "1", "-q").code == 0
    assert "mse" in json.loads(hstar("accuracy", "m.hstar", "x.data", "--json").out)
    assert not set(ALIASES) & set(COMMANDS) and "  puzzle " not in hstar("--help").out
