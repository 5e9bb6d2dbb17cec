"""ROS maps: the `map.yaml` beside an image, and the place of its cells in the world.

The file is flat: `key: value`, with `origin` as a list of three numbers. It is read as such, without a YAML
library, and nothing in it is run. A pixel of brightness b, in 0..1, is occupied with probability 1 - b, or b
with `negate`. Below `free_thresh` a cell is free; above `occupied_thresh` it is an obstacle; between the two
it is unknown, and a path must not enter it either.

`origin` is the pose (x, y, yaw) of the lower left corner of the image: x in metres to the right, y upwards,
yaw counterclockwise in radians. Row 0 is at the top.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError
from hstar.files import read_text

SUFFIXES = (".yaml", ".yml")
_MOST_LINES = 1000
_MOST_NAME = 1000  # characters of the name of the image


@dataclass(frozen=True)
class RosMap:
    """What a `map.yaml` says; `resolution` is the size of a cell in metres, None if the file has none."""

    image: Path
    resolution: float | None = None
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    negate: bool = False
    occupied_thresh: float = 0.65
    free_thresh: float = 0.196

    def obstacles(self, brightness: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Which cells cannot be entered: those that are occupied or unknown."""
        occupied = brightness if self.negate else 1 - brightness
        return np.asarray(occupied >= self.free_thresh)

    def cell(self, x: float, y: float, rows: int) -> tuple[int, int]:
        """Row and column of a point in metres, on a map of so many rows; it may lie outside the map."""
        size, (left, bottom, yaw) = self._size, self.origin
        right, up = x - left, y - bottom
        along = right * math.cos(yaw) + up * math.sin(yaw)
        across = up * math.cos(yaw) - right * math.sin(yaw)
        return rows - 1 - math.floor(across / size), math.floor(along / size)

    def point(self, row: int, column: int, rows: int) -> tuple[float, float]:
        """The centre of a cell in metres."""
        size, (left, bottom, yaw) = self._size, self.origin
        along, across = (column + 0.5) * size, (rows - row - 0.5) * size
        x = left + along * math.cos(yaw) - across * math.sin(yaw)
        y = bottom + along * math.sin(yaw) + across * math.cos(yaw)
        return x, y

    @property
    def _size(self) -> float:
        if self.resolution is None:
            raise InputError("metres need the resolution of the map, and its .yaml file has none")
        return self.resolution


def read_ros_map(path: Path) -> RosMap:
    """Reads a `map.yaml`; keys that say nothing about cells are left out. The image is not read."""
    lines = read_text(path).splitlines()
    if len(lines) > _MOST_LINES:
        raise InputError(f"has {len(lines)} lines: it is no ROS map", file=path)
    found: dict[str, Any] = {}
    key, key_line = "", 0
    for number, line in enumerate(lines, 1):
        text = _without_comment(line)
        if not text or text in ("---", "..."):
            continue
        if text.startswith("- ") and isinstance(found.get(key), list):  # a list over several lines
            found[key].append(text[2:].strip())
            continue
        name, colon, value = text.partition(":")
        if not colon:
            raise InputError(f"expected 'key: value', got {text[:30]!r}", file=path, line=number)
        key, key_line, value = name.strip(), number, value.strip()
        listed = value.startswith("[") and value.endswith("]")
        found[key] = value[1:-1].split(",") if listed else value or []
        if key in _READERS and value:
            found[key] = _read(key, found[key], path, number)
    if isinstance(found.get("origin"), list):
        found["origin"] = _read("origin", found["origin"], path, key_line)
    if found.get("mode", "trinary") not in ("trinary", "scale"):
        raise InputError(f"mode {found['mode']!r:.20} is not supported; use trinary", file=path)
    if not found.get("image"):
        raise InputError("names no image", file=path)
    given = {name: found[name] for name in _READERS if name in found and name != "image"}
    result = RosMap(path.parent / found["image"], **given)
    if result.free_thresh > result.occupied_thresh:
        raise InputError("free_thresh is above occupied_thresh", file=path)
    return result


def _without_comment(line: str) -> str:
    line = line.strip()
    return "" if line.startswith("#") else line.partition(" #")[0].rstrip()


def _read(key: str, value: Any, path: Path, line: int) -> Any:
    read, wanted = _READERS[key]
    try:
        return read(value)
    except (ValueError, TypeError, AttributeError):
        shown = ", ".join(value) if isinstance(value, list) else value
        raise InputError(f"{key} must be {wanted}, got {shown[:20]!r}", file=path, line=line) from None


def _name(text: str) -> str:
    text = text.strip("'\"")
    if not text or len(text) > _MOST_NAME or "\0" in text:
        raise ValueError
    return text


def _number(text: str, least: float = -math.inf, most: float = math.inf) -> float:
    value = float(text)
    if not math.isfinite(value) or not least <= value <= most:
        raise ValueError
    return value


def _origin(numbers: list[str]) -> tuple[float, float, float]:
    x, y, yaw = (_number(one) for one in numbers)
    return x, y, yaw


def _switch(text: str) -> bool:
    words = {"false": False, "true": True}
    return words[text.lower()] if text.lower() in words else _number(text) != 0


_SHARE = (lambda text: _number(text, 0, 1), "a number from 0 to 1")
_READERS: dict[str, tuple[Callable[[Any], Any], str]] = {  # and what is wanted, in words
    "image": (_name, "the name of a file"),
    "resolution": (lambda text: _number(text, math.ulp(0.0)), "a number above 0"),
    "origin": (_origin, "three numbers"),
    "negate": (_switch, "0 or 1"),
    "occupied_thresh": _SHARE,
    "free_thresh": _SHARE,
}
