"""`benchmarks/frontier.py` draws the puzzles of a run, the published ones beside the paper's line."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.runs import search
from hstar.errors import InputError
from hstar.experiments import Store
from scripts import load_script


def made_up(folder: Path, optimal_cost: int | None = 10) -> Path:
    """Two puzzles, of which the paper has one; alpha .9 with two seeds, the second one less optimal."""
    with Store(folder) as store:
        for puzzle in ("tiles:4x4", "tiles:3x3"):
            for name, seed, cost in (("alpha 0.9", 0, 10), ("alpha 0.9", 1, 12), ("alpha 0.5", 0, 14)):
                for start in ("1", "2"):
                    about = {"domain": puzzle, "instance": f"{puzzle}/random-0", "contestant": name}
                    figures = {"cost": cost, "optimal_cost": optimal_cost, "generated": 1000 * (seed + 1)}
                    search(store, {**about, "seed": seed, "start": start}, **figures, search_time=0.1)
    return folder


@pytest.mark.slow
def test_a_figure_for_each_puzzle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    run, figures = made_up(tmp_path / "run"), tmp_path / "figures" / "new"
    main = load_script("frontier")["main"]
    assert main([str(run), str(figures)]) == 0
    files = [figures / f"frontier_tiles_{size}.svg" for size in ("3x3", "4x4")]
    assert capsys.readouterr().err.splitlines() == [str(file) for file in files]
    other, published = (file.read_text() for file in files)
    for drawn in (published, other):
        assert ">alpha 0.9</text>" in drawn and ">alpha 0.5</text>" in drawn
        assert "optimal plans (%)" in drawn
    assert ">paper</text>" in published and ">paper</text>" not in other
    # The same figures again, byte by byte.
    assert main([str(run), str(figures)]) == 0
    assert [file.read_text() for file in files] == [other, published]


def test_the_numbers_of_the_paper() -> None:
    """Tables 1 and 3: more nodes, and at least as many optimal plans, from alpha .05 to .95."""
    for generated, optimal in load_script("frontier")["PAPER"].values():
        assert len(generated) == len(optimal) == 7
        assert list(generated) == sorted(generated) and list(optimal) == sorted(optimal)


def test_a_run_without_known_optima_is_one_line(tmp_path: Path) -> None:
    run = made_up(tmp_path / "run", optimal_cost=None)
    with pytest.raises(InputError, match="run: no plans of known optimal cost"):
        load_script("frontier")["main"]([str(run), str(tmp_path)])
    with pytest.raises(InputError, match="not a folder of results"):
        load_script("frontier")["main"]([str(tmp_path / "none"), str(tmp_path)])
