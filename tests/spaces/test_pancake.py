from __future__ import annotations

from collections import Counter

import pytest

from hstar.errors import InputError
from hstar.spaces.pancake import Pancake
from hstar.spaces.puzzle import parse_numbers


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2 3", "pancake 3 is not in 0..2"),  # pancakes count from 0 here
        ("0 0 1", "pancake 0 appears twice; expected 0..2 once each"),
        ("0 -1", "pancake -1 is not in 0..1"),
        ("0 1 two", "expected whole numbers with blanks between them, got 'two'"),
        ("", "pancake needs 1 to 63 pancakes, got 0"),
        (" ".join(map(str, range(64))), "pancake needs 1 to 63 pancakes, got 64"),
    ],
)
def test_what_is_no_stack_is_one_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Pancake(parse_numbers(text))
    assert str(caught.value) == message


def test_the_plate_counts_as_a_neighbour() -> None:
    assert Pancake((2, 1, 0)).core.value("gap", (2, 1, 0)) == 1
    assert Pancake((0, 1, 2)).core.value("gap", (0, 1, 2)) == 0


def test_random_stacks_are_fixed_by_their_seed_and_even() -> None:
    assert Pancake.solved(24).random(7) == Pancake.solved(24).random(7) != Pancake.solved(24).random(8)
    counts = Counter(Pancake.solved(3).random(seed).start for seed in range(1200))
    assert len(counts) == 6
    assert all(140 < count < 260 for count in counts.values()), "200 of each, within four deviations"
    # A random stack of n pancakes has a gap in n - 2 + 1 / n places on average, here 22.04.
    gaps = [
        stack.core.value("gap", stack.start)
        for stack in (Pancake.solved(24).random(seed) for seed in range(500))
    ]
    assert 21.8 < sum(gaps) / len(gaps) < 22.4
