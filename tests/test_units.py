"""Times, amounts of memory and counts as people write and read them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hstar.errors import InputError
from hstar.units import format_bytes, format_count, format_time, parse_count, parse_memory, parse_time


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("30s", 30), (" 1.5 s ", 1.5), (".5", 0.5), ("5m", 300), ("5min", 300), ("2H", 7200)],
)
def test_times(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize(
    ("text", "count"),
    [
        *(("0", 0), ("5", 5 << 20), ("5M", 5 << 20), ("5MB", 5 << 20), ("5MiB", 5 << 20)),
        *(("4G", 4 << 30), ("1.5g", 3 << 29), ("1k", 1024), ("100b", 100), ("1T", 1 << 40)),
    ],
)
def test_memory(text: str, count: int) -> None:
    assert parse_memory(text) == count


@pytest.mark.parametrize("parse", [parse_time, parse_memory, parse_count])
@pytest.mark.parametrize(
    "text", ["", " ", "-1", "+1", "s", "M", "1x", "1 2", "nan", "inf", "1e3", "0x10", "1,5", "9" * 400, "1m2"]
)
def test_nonsense(parse: object, text: str) -> None:
    with pytest.raises(InputError, match=r"^expected .* got '"):
        parse(text)  # type: ignore[operator]


def test_a_unit_of_the_other_kind() -> None:
    for text in ("5mb", "4g", "1ib"):
        with pytest.raises(InputError):
            parse_time(text)
    for text in ("5s", "1h", "5min", "ib"):
        with pytest.raises(InputError):
            parse_memory(text)


@given(st.text(max_size=12))
def test_a_number_in_range_or_an_input_error(text: str) -> None:
    for parse in (parse_time, parse_memory, parse_count):
        try:
            value = parse(text)
        except InputError:
            continue
        assert 0 <= value <= 2**62


@given(st.integers(0, 10**9), st.sampled_from(["", "s", "m", "h"]))
def test_times_scale(count: int, unit: str) -> None:
    assert parse_time(f"{count}{unit}") == count * {"": 1, "s": 1, "m": 60, "h": 3600}[unit]


@given(st.integers(0, 2**50))
def test_bytes_are_short_and_right(count: int) -> None:
    number, unit = format_bytes(count).split()
    size = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[unit]
    assert abs(float(number) * size - count) <= 0.051 * size
    assert unit == "GiB" or float(number) < 1024


@given(st.floats(0, 1e11))
def test_counts_are_short_and_right(count: float) -> None:
    match = re.fullmatch(r"([0-9.]{1,5})([kMG]?)", format_count(count))
    assert match
    size = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[match[2]]
    assert abs(float(match[1]) * size - count) <= 0.51 * size


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (999, "999"), (999.7, "1.0k"), (99_960, "100k"), (999_960, "1.0M"), (2e9, "2.0G")],
)
def test_rounding_never_shows_a_thousand(count: float, text: str) -> None:
    assert format_count(count) == text


def test_format_time() -> None:
    shown = {
        0: "0 s",
        59.6: "60 s",
        119: "119 s",
        120: "2 min",
        7199: "120 min",
        7200: "2.0 h",
        1e5: "27.8 h",
    }
    assert {seconds: format_time(seconds) for seconds in shown} == shown
