"""`hstar bench`: suites by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from hstar.cli.bench import SUITES
from hstar.experiments.suite import read_suite

from .conftest import Refused, Run


def test_a_suite_of_hstar_has_a_name(hstar: Run, tmp_path: Path) -> None:
    done = hstar("bench", "demo", "-o", tmp_path / "run", "--profile", "quick", "--dry-run")
    assert done.code == 0 and " jobs (" in done.err
    first, last = done.err.splitlines()[1].split("; ")  # limits of trainings are far from what they take
    assert first.startswith("without trainings at most ") and " h " not in first
    assert last == "8 trainings end by themselves, at the latest after 60 min each"
    names = {plan.name or plan.model or plan.heuristic for plan in read_suite(SUITES["demo"]).plan}
    assert {"wl", "wl + ff", "ff", "lazy-ff-preferred"} <= names


@pytest.mark.parametrize("name", SUITES)
def test_all_are_suites(name: str) -> None:
    assert read_suite(SUITES[name]).description


def test_a_file_comes_first(refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("demo").write_text("[[tasks")
    assert refused(33, "bench", "demo", "-o", "run").startswith("demo: not TOML")


def test_unknown_names_and_files(refused: Refused, tmp_path: Path) -> None:
    assert refused(33, "bench", "dem", "-o", tmp_path).endswith("; did you mean 'demo'?")
    assert refused(33, "bench", "dem.toml", "-o", tmp_path) == "dem.toml: no such file"
