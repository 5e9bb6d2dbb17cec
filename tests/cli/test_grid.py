"""`hstar train prolonged`, `hstar info` of what it made, and `hstar grid`, as people meet them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hstar.spaces.grid_files import write_png

from .conftest import Refused, Run

SMALL = ("--scenarios", "6", "--updates", "6")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    blocked = np.zeros((12, 15), dtype=bool)
    blocked[3:, 7] = True
    write_png(tmp_path / "map.png", blocked)
    return tmp_path


def test_learn_look_and_plan(hstar: Run, folder: Path) -> None:
    assert hstar("train", "prolonged", "-o", "model.hstar", *SMALL).code == 0
    assert "prolonged" in hstar("info", "model.hstar").out
    done = hstar(
        *("grid", "--scenarios", "4", "--heuristic", "model.hstar", "--heuristic", "manhattan"),
        *("--eps", "1.5", "--json", "--picture", "picture.png"),
    )
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert (done.code, len(rows)) == (0, 8)
    learned, optimal = (
        [row["path_cost"] for row in rows if row["heuristic"] == name]
        for name in ("model.hstar", "manhattan")
    )
    assert all(best <= cost <= 1.5 * best for cost, best in zip(learned, optimal, strict=True))
    assert (folder / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_a_path_on_a_map(hstar: Run, folder: Path) -> None:
    done = hstar("grid", "map.png", "--start", "10,2", "--goal", "10,12")
    cells = [tuple(map(int, line.replace(",", " ").split())) for line in done.out.splitlines()]
    assert done.code == 0
    assert (cells[0], cells[-1], len(cells)) == ((10, 2), (10, 12), 27), "around the wall"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["map.png", "--start", "5,7", "--goal", "0,0"], "start"),
        (["map.png", "--start", "99,0", "--goal", "0,0"], "start"),
        (["map.png", "--start", "0,0", "--goal", "x"], "--goal"),
        (["nothing.png", "--start", "0,0", "--goal", "1,1"], "nothing.png"),
        (["--scenarios", "1", "--heuristic", "nix"], "unknown heuristic of grid 'nix'"),
        (["--scenarios", "1", "--eps", "0.5"], "eps"),
    ],
)
def test_mistakes(refused: Refused, folder: Path, words: list[str], message: str) -> None:
    assert message in refused(33, "grid", *words)
