"""Splits: their sizes, that no problem is in two of them, and what happens where problems run out."""

from __future__ import annotations

import hashlib
import logging
import re
from collections import Counter
from functools import cache

import pytest

from hstar.errors import InputError
from hstar.generators import GENERATORS, splits
from hstar.generators.splits import GRIDS, SPLITS, Grid, Instance, content_digest, split_instances

# As published (arXiv 2308.11905).
WANTED = {
    "blocksworld": (456, 132, 132, 132),
    "ferry": (400, 100, 100, 100),
    "gripper": (400, 100, 100, 100),
    "visitall": (420, 102, 102, 102),
}
# Distinct problems, and so all that a learner can have. Of gripper's smallest cell there are 24 for 120, of
# the smaller visitall ones with all cells in the goal 9, 16 and 25 for 104 each.
GOT = {**WANTED, "gripper": (336, 84, 84, 100), "visitall": (243, 60, 59, 102)}


ATOM = r"\([^()]*\)"


@cache
def instances(generator: str, split: str) -> list[Instance]:
    return split_instances(generator, split)


def test_grids_are_those_of_the_paper() -> None:
    assert set(GRIDS) == set(WANTED)
    for name, grids in GRIDS.items():
        assert tuple(grids) == SPLITS
        assert tuple(len(grid.cells) * grid.number for grid in grids.values()) == WANTED[name]
    assert {"locations": 30, "cars": 10} in GRIDS["ferry"]["large"].cells
    assert {"rows": 5, "columns": 5, "goal_percent": 50} in GRIDS["visitall"]["val"].cells
    shared = [
        cell for cell in GRIDS["blocksworld"]["large"].cells if cell in GRIDS["blocksworld"]["train"].cells
    ]
    assert len(shared) == 6


@pytest.mark.slow
@pytest.mark.parametrize("generator", GRIDS)
def test_no_problem_is_in_two_splits_or_twice_in_one(generator: str) -> None:
    found = [instance for split in SPLITS for instance in instances(generator, split)]
    assert tuple(len(instances(generator, split)) for split in SPLITS) == GOT[generator]
    # Compared without any help of the module under test.
    contents: Counter[object] = Counter()
    for instance in found:
        init, _, goal = instance.problem.partition("(:init ")[2].partition("(:goal (and ")
        contents[frozenset(re.findall(ATOM, init)), frozenset(re.findall(ATOM, goal))] += 1
    assert max(contents.values()) == 1
    assert len({instance.digest for instance in found}) == len(found)


@pytest.mark.slow
@pytest.mark.parametrize("generator", GRIDS)
def test_seeds_of_splits_are_disjoint_and_tell_the_problem(generator: str) -> None:
    for number, split in enumerate(SPLITS):
        assert {instance.seed % 4 for instance in instances(generator, split)} == {number}
    for instance in instances(generator, "val")[::17]:
        again = GENERATORS.get(generator)(**instance.sizes, seed=instance.seed)
        assert again == (instance.domain, instance.problem)
        assert instance.digest == content_digest(instance.problem)


def test_the_seed_is_the_documented_hash() -> None:
    text = b'["ferry","val",{"cars":3,"locations":2},5,1]'
    expected = 4 * int(hashlib.sha256(text).hexdigest()[:11], 16) + 1
    sizes = {"locations": 2, "cars": 3}
    assert splits.instance_seed("ferry", "val", sizes, 5, 1) == expected < 2**46


def test_splits_stay_as_they_are() -> None:
    """Results are comparable only on the same problems."""
    text = "".join(
        instance.problem for name in GRIDS for split in SPLITS for instance in instances(name, split)
    )
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "7e8fde0d42aa19e8"


def test_a_first_part_has_all_sizes() -> None:
    first = instances("blocksworld", "large")[:24]
    assert [instance.sizes["blocks"] for instance in first] == [*range(11, 23)] * 2
    assert [instance.base_seed for instance in first] == [0] * 12 + [1] * 12


def test_a_small_cell_is_dealt_out_in_proportion(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "hstar"):
        split_instances("gripper", "test")
    assert caplog.messages == ["gripper with balls 2 has too few distinct problems: test has 4 of 20"]
    found = splits.cell_attempts("gripper", {"balls": 2}, 1)
    assert {split: len(some) for split, some in found.items()} == {"train": 16, "val": 4, "test": 4}
    assert [instance.base_seed for (instance,) in found["val"]] == [0, 1, 2, 3]
    assert max(instance.attempt for some in found.values() for (instance,) in some) > 0
    assert splits.cell_attempts("gripper", {"balls": 2}, 3) == found, "there are no others"


def test_what_was_seen_is_replaced_by_the_next_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 9 problems in all, the tenth attempt at one cannot be there, and no loop waits for it."""
    cell = {"rows": 3, "columns": 3, "goal_percent": 100}
    monkeypatch.setitem(GRIDS, "visitall", {"train": Grid((cell,), 8), "large": Grid((cell,), 4)})
    monkeypatch.setattr(splits, "ATTEMPTS", 200)
    found = splits.cell_attempts("visitall", cell, 1)
    assert {split: len(some) for split, some in found.items()} == {"train": 6, "large": 3}
    for some in found.values():
        for (instance,) in some:
            seed = splits.instance_seed(
                "visitall", instance.split, cell, instance.base_seed, instance.attempt
            )
            assert instance.seed == seed


def test_next_attempts() -> None:
    """Each problem once in all splits, whatever their numbers; fewer attempts are the first of more."""
    cell, digests = {"blocks": 11}, set()
    few, many = (splits.cell_attempts("blocksworld", cell, number) for number in (3, 6))
    assert few.keys() == many.keys() == set(SPLITS)
    for split, problems in many.items():
        assert len(problems) == GRIDS["blocksworld"][split].number
        for attempts, first in zip(problems, few[split], strict=True):
            assert len(attempts) == 6 and attempts[:3] == first
            numbers = [instance.attempt for instance in attempts]
            assert numbers == sorted(set(numbers)) and len({one.base_seed for one in attempts}) == 1
            for instance in attempts:
                seed = splits.instance_seed("blocksworld", split, cell, instance.base_seed, instance.attempt)
                assert (instance.seed, instance.sizes, instance.split) == (seed, cell, split)
                assert instance.digest not in digests
                digests.add(instance.digest)
    plain = splits.cell_attempts("blocksworld", cell, 1)
    assert plain == {split: [[first] for first, *_ in some] for split, some in many.items()}


def test_a_cell_that_runs_out_of_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """9 problems for 3 places: all of them are given out, in turn."""
    cell = {"rows": 3, "columns": 3, "goal_percent": 100}
    monkeypatch.setitem(GRIDS, "visitall", {"train": Grid((cell,), 2), "large": Grid((cell,), 1)})
    monkeypatch.setattr(splits, "ATTEMPTS", 200)
    found = splits.cell_attempts("visitall", cell, 20)
    assert [len(attempts) for some in found.values() for attempts in some] == [3, 3, 3]
    assert splits.split_attempts("visitall", "train", 20) == found["train"]
    assert splits.split_instances("visitall", "train") == [first for first, *_ in found["train"]]


def test_content_is_compared_whatever_its_order_and_name() -> None:
    text = "(define (problem {}) (:domain d) (:objects a b) (:init {}) (:goal {}))"
    same = {
        content_digest(text.format("x", "(p a) (q)", "(and (p b) (q))")),
        content_digest(text.format("y", "(q)\n (P A)", "(and (q) (p b))")),
    }
    assert len(same) == 1
    others = {
        content_digest(text.format("x", "(p a) (q)", "(and (p b))")),
        content_digest(text.format("x", "(p a) (q)", "(p a)")),
        content_digest(text.format("x", "(p a) (= (c a b) 3)", "(p a)")),
        content_digest(text.format("x", "(p a) (= (c a b) 4)", "(p a)")),
    }
    assert len(same | others) == 5
    assert content_digest(text.format("x", "(p a)", "(p b)")) == content_digest(
        text.format("x", "(p a)", "(and (p b))")
    )


def test_unknown_ones_are_refused() -> None:
    with pytest.raises(InputError, match=r"npuzzle has no splits \(those that have: blocksworld, ferry"):
        split_instances("npuzzle", "train")
    with pytest.raises(InputError, match=r"unknown generator 'grippr'.*did you mean 'gripper'"):
        split_instances("grippr", "train")
    with pytest.raises(InputError, match=r"unknown split 'trian'.*did you mean 'train'"):
        split_instances("gripper", "trian")
