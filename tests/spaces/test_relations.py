"""Whether a task is of the domain of a vocabulary."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hstar
from hstar import _core
from hstar.errors import InputError
from hstar.spaces.relations import Vocabulary, native_relations, relations, vocabulary
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


def test_the_core_reads_the_same_objects_and_atoms(task: hstar.Task, words: Vocabulary) -> None:
    found, native = relations(task, words), native_relations(task, words)
    assert native.objects == len(found.relations.objects) and native.atoms == len(found.relations.atoms)
    with pytest.raises(InputError, match="is of another domain than kitchen: it has the constant stove"):
        native_relations(task, replace(words, constants=()))


def test_names_that_a_task_has_not(task: hstar.Task, words: Vocabulary) -> None:
    predicates, objects = [name for name, _ in words.predicates], list(task.lifted.objects)

    def made(objects: list[str], initial: list[tuple[str, ...]]) -> None:
        _core.RelationalTask.of_task(task.core, predicates, objects, [0] * len(objects), initial, [])

    made(objects, [("raw", "fig")])
    for wrong, atoms, message in (
        (objects, [("raw", "pear")], "there is no object pear"),
        (objects, [("warm", "fig")], "there is no predicate warm"),
        ([name for name in objects if name != "kiwi"], [], "there is no object kiwi"),
    ):
        with pytest.raises(InputError, match=message):
            made(wrong, atoms)
    with pytest.raises(InputError, match="an object has no kind"):
        _core.RelationalTask.of_task(task.core, predicates, objects, [], [], [])
