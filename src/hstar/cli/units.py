"""Limits as people write them: `30s`, `5m`, `1h`; `4G`, `512M`."""

from __future__ import annotations

import math
import re

from hstar.errors import InputError

_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
# Without a suffix memory is in MiB, as in Fast Downward's and Lab's options.
_BYTES = {"": 2**20, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def parse_time(text: str) -> float:
    """Seconds."""
    return _parse(text, _SECONDS, "a time such as 30s, 5m or 1h")


def parse_memory(text: str) -> int:
    """Bytes."""
    return int(_parse(text, {**_BYTES}, "an amount of memory such as 512M or 4G"))


def _parse(text: str, units: dict[str, float], expected: str) -> float:
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]?)(?:i?b)?\s*", text.lower())
    if match is None or match[2] not in units:
        raise InputError(f"expected {expected}, got '{text}'")
    value = float(match[1]) * units[match[2]]
    if not math.isfinite(value) or value > 2**62:
        raise InputError(f"expected {expected}, got '{text}'")
    return value


def format_bytes(count: float) -> str:
    """`3.4 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    raise AssertionError("unreachable")


def format_count(count: float) -> str:
    """`1.2M`."""
    for unit in ("", "k", "M"):
        if count < 1000:
            return f"{count:.0f}{unit}" if unit == "" or count >= 100 else f"{count:.1f}{unit}"
        count /= 1000
    return f"{count:.1f}G"
