"""Whether a task is of the domain of a vocabulary."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hstar
from hstar.errors import InputError
from hstar.spaces.relations import Vocabulary, relations, vocabulary
from labelled import dinner


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> hstar.Task:
    return dinner(tmp_path_factory.mktemp("kitchen"), "fig", "kiwi")


@pytest.fixture(scope="module")
def words(task: hstar.Task) -> Vocabulary:
    return vocabulary(task)


def test_other_tasks_of_the_domain(tmp_path: Path, task: hstar.Task, words: Vocabulary) -> None:
    """Other objects, and some that there are no longer; the name of a domain is only a name."""
    for other in (task, dinner(tmp_path, "plum", "lime", "pear")):
        found = relations(other, words).relations
        assert relations(other, replace(words, domain="cuisine")).relations == found
        assert len(found.objects) == len(found.kinds) and "stove" in found.objects


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"predicates": (("fed", 0), ("hungry", 0), ("mixed", 4))}, "has the predicate raw with 1 arguments"),
        (
            {"predicates": (("fed", 0), ("hot", 0), ("hungry", 0), ("mixed", 4), ("raw", 1))},
            "has no predicate hot with 0 arguments",
        ),
        (
            {"predicates": (("fed", 0), ("hungry", 0), ("mixed", 3), ("raw", 1))},
            "has the predicate mixed with 4 arguments",
        ),
        ({"types": ("object", "food", "tool")}, "has the type fruit"),
        ({"types": ("object", "food", "fruit", "pan", "tool")}, "has no type pan"),
        ({"constants": ()}, "has the constant stove"),
        ({"constants": ("fridge", "stove")}, "has no constant fridge"),
    ],
)
def test_tasks_of_another_domain(
    task: hstar.Task, words: Vocabulary, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as error:
        relations(task, replace(words, **change))
    assert str(error.value) == f"{task.name} is of another domain than kitchen: it {message}"
