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
