"""`benchmarks/truncated.py`: rows of runs beside the tables of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scripts import load_script

DOMAIN = "blocksworld-4ops"


def compared(contestant: str, mse: float, seed: int = 0) -> dict[str, Any]:
    place = {"step": "accuracy", "domain": DOMAIN, "instance": DOMAIN, "contestant": contestant, "seed": seed}
    return {**place, "status": "compared", "mse": mse, "mse_ff": 20.0, "mse_lmcut": 30.0}


def searched(contestant: str, evaluations: int, status: str = "solved") -> dict[str, Any]:
    place = {"step": "search", "domain": DOMAIN, "instance": "p1", "contestant": contestant, "seed": 0}
    return {**place, "status": status, "evaluations": evaluations, "cpu_time": 0.5}


def test_errors_stand_beside_the_published_ones() -> None:
    module = load_script("truncated")
    rows = [compared("nlm truncated learned/ff", value, seed) for seed, value in enumerate((1.0, 2.0))]
    text = module["accuracy"]([*rows, compared("wl", 3.0)])
    assert "| blocksworld | nlm | TN | 1.50 ± 0.71 (0.65) | | | |" in text
    assert "| blocksworld | ff | | | 20 (22.80) | | |" in text
    assert "wl, by regression" in text
    assert "ferry" not in text


def test_whether_truncation_helps_is_a_mean_of_ratios_over_domains() -> None:
    module = load_script("truncated")
    rows = [compared("hgn gaussian fixed/none", 4.0), compared("hgn truncated fixed/none", 1.0)]
    rows.append(compared("hgn gaussian fixed/none + clip", 0.5))
    rows += [{**row, "domain": "ferry", "mse": 1.0} for row in rows[:2]]
    assert "| hgn | fixed/none | 0.50 | 1 of 2 | 2 | 0 of 1 |" in module["helps"](rows)


def test_a_failed_search_counts_as_in_the_paper() -> None:
    module = load_script("truncated")
    failed = {**searched("ff", 9_999, "evaluation_limit"), "instance": "p2"}
    rows = [searched("ff", 100), failed]
    assert "| ff | 2 | 50 %, 5,050 (13 %, 9,309) | | | |" in module["plans"](rows)


def test_a_seed_without_all_its_problems_has_no_mean() -> None:
    module = load_script("truncated")
    first, second = searched("wl", 100), {**searched("wl", 300), "instance": "p2"}
    rows = [first, second, {**first, "seed": 1, "evaluations": 50}]
    assert "| wl | 2 | 100 %, 200 (1 of 2 seeds) | | | |" in module["plans"](rows)
    assert "| linear | 1 of 2 | 100 %, 7 | | | |" in module["plans"]([*rows, searched("linear", 7)])


def test_rates_are_told_apart_by_what_is_computed_for_a_state() -> None:
    module = load_script("truncated")
    computed = module["_computed"]
    assert computed("wl") == ("wl", "")
    assert computed("wl + ff") == ("wl", "ff")
    assert computed("nlm gaussian fixed/none + clip") == ("nlm", "lmcut")
    assert computed("nlm gaussian learned/ff + clip") == ("nlm", "ff and lmcut")
    assert computed("hgn truncated learned/ff") == ("hgn", "ff and lmcut")
    assert computed("ff, once") == ("ff", "")
    trained = {**searched("nlm truncated fixed/none", 0, "trained"), "step": "train", "cpu_seconds": 7.5}
    text = module["times"]([searched("wl + ff", 100), searched("wl", 200), trained])
    assert "| nlm | training, s | 7.5 | | | |" in text
    assert "| wl with ff | evaluations/s | 200 | | | |" in text
    assert "| wl | evaluations/s | 400 | | | |" in text


@pytest.mark.slow
def test_figures_have_a_panel_for_each_domain(tmp_path: Path) -> None:
    module = load_script("truncated")
    place = {
        "domain": DOMAIN,
        "instance": DOMAIN,
        "contestant": "nlm truncated learned/ff",
        "status": "trained",
    }
    rows: list[dict[str, Any]] = [
        {**place, "step": "train", "seed": seed, "curve": [[1.0, 5.0, 4.0], [2.0, 3.0, 2.0]][: 1 + seed]}
        for seed in (0, 1)
    ]
    calibrated = {"calibration": [[0.25, 0.3], [0.75, 0.9]]}
    rows.append({**compared("wl gaussian learned/ff", 2.0), **calibrated})
    module["draw"](rows, tmp_path / "figures")
    for name, label in (("training", "TN, learned/ff"), ("calibration", "wl, N")):
        drawn = (tmp_path / "figures" / f"truncated_{name}.svg").read_text()
        assert label in drawn
        assert all(domain in drawn for domain in module["DOMAINS"])
