"""`benchmarks/puzzles.py`: puzzles of a run beside the published figures, in a table and in figures."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from experiments.runs import search
from hstar.errors import InputError
from hstar.experiments.store import Store
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
def test_a_line_and_a_figure_for_each_puzzle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    run, figures = made_up(tmp_path / "run"), tmp_path / "figures" / "new"
    words = [str(run), "--figures", str(figures)]
    main = load_script("puzzles")["main"]
    assert main(words) == 0
    files = [figures / f"frontier_tiles_{size}.svg" for size in ("3x3", "4x4")]
    printed = capsys.readouterr()
    assert printed.err.splitlines() == [str(file) for file in files]
    time, nodes = "0.10 ± 0 (26.70)", "1,500 ± 707 (29,342,747)"
    plans = "10 ± 14.14 (2.50) | 50 ± 70.7 (65.2)"
    line = f"| tiles:4x4 | alpha 0.9 | 2 | 100 ± 0 | {time} | {nodes} | {plans} | – |"
    assert line in printed.out
    assert "| tiles:3x3 | alpha 0.5 | 1 | 100 | 0.10 | 1,000 | 40 | 0 | – |" in printed.out
    other, published = (file.read_text() for file in files)
    for drawn in (published, other):
        assert ">alpha 0.5 to 0.9</text>" in drawn
    assert ">optimal plans (%)<" in published and ">cost above the optimum (%)<" not in published
    assert ">paper, alpha 0.05 to 0.95</text>" in published and ">paper, " not in other
    assert main([str(run), "--without", "alpha 0.9"]) == 0
    assert "alpha 0.9" not in capsys.readouterr().out
    # The same figures again, byte by byte.
    assert main(words) == 0
    assert [file.read_text() for file in files] == [other, published]


def test_the_numbers_of_the_paper() -> None:
    """Tables 1 and 3: fewer nodes, and at most as many optimal plans, from alpha .95 to .05."""
    for lines in load_script("puzzles")["PUBLISHED"].values():
        rows = [row for name, row in lines.items() if name.startswith("alpha")]
        assert len(rows) == 7
        for one, two in pairwise(rows):
            assert one.generated > two.generated
            assert one.optimal >= two.optimal and one.suboptimality < two.suboptimality


def test_what_theirs_take_for_plans_as_long() -> None:
    states = load_script("puzzles")["published_states"]
    assert states("tiles:5x5", 3.7) == pytest.approx(274_003_465)
    assert states("tiles:5x5", 3.15) == pytest.approx((274_003_465 * 628_101_474) ** 0.5)
    assert states("tiles:5x5", 2.1) is states("tiles:5x5", 6.4) is states("tiles:3x3", 3.0) is None


def test_a_run_without_known_optima_is_one_line(tmp_path: Path) -> None:
    run = made_up(tmp_path / "run", optimal_cost=None)
    with pytest.raises(InputError, match="run: no plans of known optimal cost"):
        load_script("puzzles")["main"]([str(run)])
    with pytest.raises(InputError, match="not a folder of results"):
        load_script("puzzles")["main"]([str(tmp_path / "none")])
