from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hstar.errors import InputError
from hstar.spaces.puzzle import Instance, format_instances, parse_numbers
from hstar.spaces.tiles import Tiles, mirrored, turned

SHARED = Path(__file__).parents[3] / "shared" / "data"
KORF_1 = "14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3"


def test_a_board_is_read_and_written() -> None:
    board = Tiles(4, 4, parse_numbers(KORF_1))
    assert (board.rows, board.columns) == (4, 4)
    assert board.start[:3] == (14, 13, 15)
    assert board.core.value("manhattan", board.start) == 41
    text = format_instances([Instance("1", board, 57)], "tiles")
    assert text == f"id,tiles,optimal_cost\n1,{KORF_1},57\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 2", "expected 4 numbers, 0..3 once each, got 3"),
        ("0 1 1 3", "tile 1 appears twice; expected 0..3 once each"),
        ("0 1 2 4", "tile 4 is not in 0..3"),
        ("0 1 2 -3", "tile -3 is not in 0..3"),
        ("0 1 2 x", "expected whole numbers with blanks between them, got 'x'"),
        ("0,1,2,3", "expected whole numbers with blanks between them, got '0,1,2,3'"),
        ("0 1 2 99999999999999", "expected whole numbers with blanks between them, got '99999999999999'"),
        ("", "expected 4 numbers, 0..3 once each, got 0"),
        (
            "0 2 1 3",
            "these tiles cannot reach the goal with the blank first, 0 1 2 ...; "
            "it can reach the one with the blank last",
        ),
    ],
)
def test_what_is_no_board_is_one_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Tiles(2, 2, parse_numbers(text))
    assert str(caught.value) == message


def test_a_wrong_number_of_tiles_and_values_that_are_no_numbers() -> None:
    with pytest.raises(InputError, match=r"expected 6 numbers, 0\.\.5 once each, got 4"):
        Tiles(2, 3, (0, 1, 2, 3))
    for wrong in (("0", "1", "2", "3"), (0, 1, 2, 10**20), (0.5, 1, 2, 3)):
        with pytest.raises(InputError, match="a state is a sequence of whole numbers"):
            Tiles(2, 2, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("rows", "columns"), [(0, 0), (1, 4), (7, 7)])
def test_sizes(rows: int, columns: int) -> None:
    with pytest.raises(InputError, match=f"at most 36 cells, got {rows} x {columns}"):
        Tiles.solved(rows, columns)


def test_half_of_all_boards_can_be_brought_into_order() -> None:
    core = Tiles.solved(2, 3).core
    assert sum(core.is_solvable(board) for board in permutations(range(6))) == 360


def test_another_goal_is_named_and_can_be_read() -> None:
    # One move from 1 2 ... 15 0: on four by four cells exactly one of the two goals can be reached.
    text = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 0 15"
    with pytest.raises(
        InputError, match=r"with the blank first, .*; it can reach the one with the blank last"
    ):
        Tiles(4, 4, parse_numbers(text))
    solved = Tiles.solved(4, 4)
    board = solved.at(solved.of_other_goal(parse_numbers(text)))
    assert board.start == (1, 0, *range(2, 16))
    assert turned(board.start) == tuple(map(int, text.split()))
    with pytest.raises(InputError, match="cannot reach the goal"):
        solved.at(solved.of_other_goal(parse_numbers(KORF_1)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,cells,optimal_cost\n", ":1: has no column 'tiles'"),
        ("", ":1: has no column 'id'"),
        ("id,tiles,optimal_cost\n1,0 1 2 3,0\n2,0 1 2 2,0\n", ":3: tile 2 appears twice"),
        ("id,tiles,optimal_cost\n1,0 1 2 3\n", ":2: expected 3 columns, got 2"),
        ("id,tiles,optimal_cost\n1,0 1 2 3,few\n", ":2: optimal_cost is a whole number from 0 on, got 'few'"),
        ("id,tiles,optimal_cost\n1,0 2 1 3,0\n", ":2: these tiles cannot reach the goal"),
    ],
)
def test_mistakes_in_files_name_the_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "boards.csv"
    file.write_text(content)
    with pytest.raises(InputError) as caught:
        Tiles.solved(2, 2).read(file)
    assert str(caught.value).startswith(f"{file}{message}")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        Tiles.solved(2, 2).read(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not text"):
        Tiles.solved(2, 2).read(tmp_path / "binary.csv")


@pytest.mark.parametrize(
    ("file", "side", "count", "cost", "manhattan"),
    [("korf15_100.csv", 4, 100, 5305, 3705), ("korf24_50.csv", 5, 50, 5039, 3775)],
)
def test_the_shared_boards(file: str, side: int, count: int, cost: int, manhattan: int) -> None:
    if not (SHARED / file).is_file():
        pytest.skip(f"needs ../shared/data/{file} beside the repository")
    boards = Tiles.solved(side, side).read(SHARED / file)
    assert [board.id for board in boards] == [str(i) for i in range(1, count + 1)]
    assert all(len(board.puzzle.start) == side**2 for board in boards)
    assert sum(board.optimal_cost or 0 for board in boards) == cost
    values = [board.puzzle.core.value("manhattan", board.puzzle.start) for board in boards]
    assert sum(values) == manhattan
    text = format_instances(boards, "tiles")
    assert text == (SHARED / file).read_text().replace("\r\n", "\n")


def test_random_boards_are_fixed_by_their_seed_and_even() -> None:
    assert Tiles.solved(4, 4).random(7) == Tiles.solved(4, 4).random(7) != Tiles.solved(4, 4).random(8)
    counts = Counter(Tiles.solved(2, 2).random(seed).start for seed in range(2400))
    assert len(counts) == 12
    assert all(140 < count < 260 for count in counts.values()), "200 of each, within four deviations"


@given(st.integers(2, 6), st.integers(0, 40), st.integers(0, 10**6))
def test_every_move_has_a_mirror_image(side: int, steps: int, seed: int) -> None:
    """So that plans have one, and both are as long."""
    board = Tiles.solved(side, side).walk(steps, seed)
    image = mirrored(board.start)
    assert mirrored(image) == board.start
    assert mirrored(board.goal) == board.goal
    for action, other in ((0, 1), (1, 0), (2, 3), (3, 2)):  # up and left, right and down
        after = board.successor(board.start, action)
        assert board.successor(image, other) == (None if after is None else mirrored(after))
