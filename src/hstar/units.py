"""Limits as people write them: `30s`, `5m`, `1h`; `4G`, `512M`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hstar.errors import InputError

_SECONDS = {"": 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
# Without a suffix memory is in MiB, as in Fast Downward's and Lab's options.
_BYTES = {"": 2**20, "b": 1}
for _power, _letter in enumerate("kmgt", 1):
    _BYTES |= dict.fromkeys((_letter, _letter + "b", _letter + "ib"), 1024**_power)
_MOST = 2**62


def parse_time(text: str) -> float:
    """Seconds of a text such as `30s`, `5m` or `1h`."""
    return _parse(text, _SECONDS, "a time such as 30s, 5m or 1h")


def parse_memory(text: str) -> int:
    """Bytes of a text such as `512M` or `4G`; MiB without a unit."""
    return int(_parse(text, _BYTES, "an amount of memory such as 512M or 4G"))


def parse_count(text: str) -> int:
    """Whole number of a text of digits."""
    match = re.fullmatch(r"[0-9]{1,18}", text.strip())
    if match is None:
        raise InputError(f"expected a whole number from 0 to 10^18 - 1, got '{text}'")
    return int(match[0])


def _parse(text: str, units: Mapping[str, int], expected: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-z]*)", text.strip().lower())
    if match is None or match[2] not in units:
        raise InputError(f"expected {expected}, got '{text}'")
    value = float(match[1]) * units[match[2]]
    if value > _MOST:
        raise InputError(f"expected {expected}, got '{text}', which is too much")
    return value


def format_bytes(count: float) -> str:
    """A number of bytes for people, as `3.4 MiB`."""
    for unit in ("B", "KiB", "MiB"):
        text = f"{count:.0f}" if unit == "B" else f"{count:.1f}"
        if float(text) < 1024:
            return f"{text} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def format_count(count: float) -> str:
    """A large number for people, as `1.2M`."""
    for unit in ("", "k", "M"):
        text = f"{count:.0f}" if unit == "" or count >= 99.95 else f"{count:.1f}"
        if float(text) < 1000:
            return text + unit
        count /= 1000
    return f"{count:.1f}G"


def format_time(seconds: float) -> str:
    """`45 s`, `12 min`, `3.5 h`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
