"""Files that somebody made on purpose are read or refused in one line, whatever is in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hstar import container
from hstar.errors import ModelError
from hstar.sampling import relational
from mutations import DATA, MODELS, attack, others, read_and_search

NUMBER = 40


@pytest.mark.parametrize("source", MODELS, ids=lambda path: path.stem)
def test_models(source: Path) -> None:
    found = attack(source, read_and_search, NUMBER, seed=1)
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


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("domain-wl", {"rule": {"name": "order", "offset": [1]}}, "offset must be a number that is finite"),
        ("map-vin", {"scale": 10**30}, "scale must be a number above 0"),
    ],
)
def test_found_mutations(name: str, change: dict[str, Any], message: str, tmp_path: Path) -> None:
    """Mutations that once ended a search with an internal error."""
    source = MODELS[0].with_name(f"{name}.hstar")
    kind = container.kind(source)
    assert kind is not None
    header, tensors = container.read(source, kind, 1000)
    assert set(change) <= set(header)
    version = container._entry(source)["version"]
    container.write(tmp_path / source.name, kind, version, {**header, **change}, tensors)
    with pytest.raises(ModelError, match=message):
        read_and_search(tmp_path / source.name)
