"""What is remembered, and in which order it is forgotten."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hstar.training.memory_buffer import MemoryBuffer, plan_entries


def test_costs_along_a_plan() -> None:
    assert plan_entries([(1, 0), (2, 0), (3, 0)]) == [((1, 0), 2), ((2, 0), 1), ((3, 0), 0)]


def test_pairs_once_and_states_with_several_costs() -> None:
    buffer = MemoryBuffer(10, [((1,), 3), ((1,), 4), ((1,), 3)])
    assert buffer.states == [(1,), (1,)]
    assert buffer.costs.tolist() == [3.0, 4.0]


def test_the_oldest_go_first() -> None:
    buffer = MemoryBuffer(2, [((1,), 1), ((2,), 2)])
    buffer.add([((1,), 1), ((3,), 3)])  # the first is known and stays the oldest
    assert list(zip(buffer.states, buffer.costs, strict=True)) == [((2,), 2.0), ((3,), 3.0)]
    buffer.add([((1,), 1)])  # was forgotten
    assert buffer.states == [(3,), (1,)]


entries = st.lists(st.tuples(st.tuples(st.integers(0, 5)), st.integers(0, 3)), max_size=40)


@given(st.integers(1, 8), entries)
def test_a_list_does_the_same(capacity: int, added: list[tuple[tuple[int], int]]) -> None:
    buffer = MemoryBuffer(capacity, added)
    expected: list[tuple[tuple[int], int]] = []
    for entry in added:
        if entry not in expected:
            expected = [*expected, entry][-capacity:]
    assert list(zip(buffer.states, buffer.costs, strict=True)) == expected
    again = MemoryBuffer.from_arrays(capacity, **buffer.to_arrays())
    assert again.states == buffer.states and again.costs.tolist() == buffer.costs.tolist()
