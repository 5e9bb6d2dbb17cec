"""Puzzles by name."""

from __future__ import annotations

from pathlib import Path

import pytest

import hstar
from hstar.errors import InputError
from hstar.spaces.puzzle import PUZZLES, Instance, format_instances
from hstar.spaces.puzzles import parse_puzzle
from hstar.spaces.tiles import turned

NAMES = ("tiles:4x4", "tiles:2x3", "pancake:7", "blocks:5", "topspin:8", "topspin:9x5")


@pytest.mark.parametrize("name", NAMES)
def test_names_and_instances(name: str, tmp_path: Path) -> None:
    size = parse_puzzle(name)
    assert str(size) == name and size.name == name.partition(":")[0]
    assert size.start == size.goal
    one, two = size.random(1), size.random(2)
    assert one == size.random(1) != two and len(one.start) == len(size.goal)
    walked = size.walk(3, 5)
    assert walked == size.walk(3, 5) and walked.goal == size.goal
    path = tmp_path / "instances.csv"
    path.write_text(format_instances([Instance("a", one, 99), Instance("b", two)], size.name))
    assert size.read(path) == [Instance("a", one, 99), Instance("b", two)]


@pytest.mark.parametrize("name", PUZZLES.names())
def test_every_kind_has_an_example(name: str) -> None:
    assert name in {one.partition(":")[0] for one in NAMES}
    kind = PUZZLES.get(name)
    found = kind.parse(kind.example)
    assert kind.name == name and type(found) is kind and parse_puzzle(str(found)) == found
    assert str(found.random(1)) == str(found) == f"{name}:{kind.example}"
    assert hstar.load(str(found)) == found and kind.parse("4 4") is None


def test_the_other_goal_of_tiles(tmp_path: Path) -> None:
    path = tmp_path / "instances.csv"
    path.write_text("id,tiles,optimal_cost\n1,1 2 3 4 5 6 7 0 8,1\n")
    (found,) = parse_puzzle("tiles:3x3").read(path, blank_last=True)
    assert found.puzzle.start == turned((1, 2, 3, 4, 5, 6, 7, 0, 8)) == (1, 0, 2, 3, 4, 5, 6, 7, 8)
    refuted = "instances.csv:2: 1: optimal_cost is 1, but no plan costs less than 11: .*; --blank-last is for"
    with pytest.raises(InputError, match=refuted):
        parse_puzzle("tiles:3x3").read(path)
    path.write_text("id,pancake,optimal_cost\ngoal,0 1 2,0\nother,2 0 1,0\n")
    with pytest.raises(InputError, match=r"csv:3: other: .* no plan costs less than 2: .* another goal$"):
        parse_puzzle("pancake:3").read(path)
    with pytest.raises(InputError, match="no blank in pancake:9"):
        parse_puzzle("pancake:9").read(path, blank_last=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tile:4x4", "unknown puzzle 'tile'.*did you mean 'tiles'"),
        ("tiles", "expected a puzzle such as tiles:4x4, got 'tiles'"),
        ("tiles:4", "expected a puzzle such as tiles:4x4, got 'tiles:4'"),
        ("pancake:3x3", "expected a puzzle such as pancake:24"),
        ("blocks:-1", "expected a puzzle such as blocks:15"),
        ("tiles:1x1", "tiles needs at least 2 rows"),
        ("pancake:64", "pancake needs 1 to 63"),
        ("blocks:99", "blocks needs 1 to 31"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_puzzle(text)


def test_instances_of_another_size_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "instances.csv"
    path.write_text("id,tiles\n1,0 1 2 3\n")
    with pytest.raises(InputError, match=r"instances.csv:2: a state of tiles:3x3 has 9 numbers, not 4"):
        parse_puzzle("tiles:3x3").read(path)
