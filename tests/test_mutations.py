"""Files that somebody made on purpose are read or refused in one line, whatever is in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hstar.models.trained_model import load_model
from hstar.sampling import relational
from mutations import DATA, MODELS, attack, others

NUMBER = 40


@pytest.mark.parametrize("source", MODELS, ids=lambda path: path.stem)
def test_models(source: Path) -> None:
    found = attack(source, load_model, NUMBER, seed=1)
    assert set(found) <= {"read", "refused"} and found["refused"] > NUMBER / 4


@pytest.mark.parametrize("source", DATA[:1], ids=lambda path: path.stem)
def test_data_sets(source: Path) -> None:
    found = attack(source, relational.load, NUMBER, seed=1)
    assert set(found) <= {"read", "refused"} and found["refused"] > NUMBER / 4


def test_suites_runs_checkpoints_and_images(tmp_path: Path) -> None:
    for source, load, write in others(tmp_path):
        found = attack(source, load, NUMBER, seed=1, mutations=write)
        assert set(found) <= {"read", "refused"}, source.name
        assert found["refused"] > NUMBER / 8, source.name
