from __future__ import annotations

from collections import Counter

import pytest

from hstar.errors import InputError
from hstar.spaces.blocks import Blocks, tower
from hstar.spaces.puzzle import parse_numbers


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 1", "block 3 lies on block 1 beside another block"),
        ("0 1 4", "block 3 lies on 4, which is not in 0..3"),
        ("0 1 -1", "block 3 lies on -1, which is not in 0..3"),
        ("2 1 0", "block 1 does not stand on the table"),
        ("0 2 0", "block 2 does not stand on the table"),
        ("0 1 a", "expected whole numbers with blanks between them, got 'a'"),
        ("", "blocks needs 1 to 31 blocks, got 0"),
        (" ".join("0" * 32), "blocks needs 1 to 31 blocks, got 32"),
    ],
)
def test_what_is_no_arrangement_is_one_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Blocks(parse_numbers(text))
    assert str(caught.value) == message


def test_goals_are_checked_and_kept() -> None:
    assert Blocks((0, 0, 0)).goal == tower(3) == (0, 1, 2)
    other = Blocks((0, 0, 0), (2, 3, 0))
    assert tuple(other.core.goal) == other.goal == (2, 3, 0)
    assert other.core.value("misplaced", (0, 0, 0)) == 2
    with pytest.raises(InputError, match="expected what lies under each of 2 blocks, got 3 numbers"):
        Blocks((0, 0, 0), (0, 1))
    with pytest.raises(InputError, match="block 1 does not stand on the table"):
        Blocks((0, 0, 0), (1, 0, 0))


def test_moves_have_names() -> None:
    puzzle = Blocks((0, 1, 0))
    assert [puzzle.action_name(action) for action in puzzle.core.actions(puzzle.start)] == [
        "move 2 to the table",
        "move 2 onto 3",
        "move 3 onto 2",
    ]


def test_random_arrangements_are_fixed_by_their_seed_and_even() -> None:
    assert Blocks.solved(15).random(7) == Blocks.solved(15).random(7) != Blocks.solved(15).random(8)
    counts = Counter(Blocks.solved(3).random(seed).start for seed in range(2600))
    assert len(counts) == 13
    assert all(140 < count < 260 for count in counts.values()), "200 of each, within four deviations"
