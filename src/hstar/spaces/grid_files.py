"""Maps as files: PNG and PGM images, arrays, ROS maps, `.map` and `.scen` files of Moving AI.

In an image black is an obstacle and white is free. Images that map servers write are known by their values:
0 is an obstacle, 205 is unknown and not to be entered, 254 is free. Anything else is refused, unless a
threshold says from which brightness on, in 0..1, a cell is free. PNG is read without interlacing, in all
colour types with up to 8 bits a channel, and written in grey; PGM is read as P2 and P5. In a `.map` the
terrains `.`, `G` and `S` are free, the others (`@ O T W`) are obstacles. A `.scen` names places as x and y,
which become (row, column).
"""

from __future__ import annotations

import io
import json
import re
import struct
import tokenize
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError
from hstar.files import blamed_on, read_bytes, read_text, replace_file
from hstar.spaces.grid import Blocked, Grid, GridProblem
from hstar.spaces.ros_map import SUFFIXES, read_ros_map

FREE, OBSTACLES = ".GS", "@OTW"
_NO_ARRAY = (
    OSError,
    ValueError,
    EOFError,
    TypeError,
    OverflowError,
    SyntaxError,
    MemoryError,
    RecursionError,
)
SCENARIOS = ".scen"
MOST_CELLS = 2**26  # of a map; 8192 x 8192
MOST_RADIUS = 1000  # cells, by which obstacles grow
MOST_RATIO = 1033  # bytes that a byte of deflate can stand for
_PIECE = 2**16  # bytes or pixels that are read at a time, or a line
_MOST_NAME = 1000  # characters of a name of a file
_UNKNOWN, _FREE = 205 / 255, 254 / 255  # brightness of cells in images that map servers write
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
Brightness: TypeAlias = npt.NDArray[np.float64]  # of each level, 0 to 1
Levels: TypeAlias = npt.NDArray[np.integer[Any]]  # of the pixels of some rows
Image: TypeAlias = tuple[tuple[int, int], Brightness, Iterator[Levels]]  # rows and columns first
_MOST_FILTER = 4
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type


def read_image(path: Path, *, threshold: float | None = None) -> Blocked:
    """Obstacles of a PNG or PGM image, by its first bytes."""
    if threshold is not None and not 0 < threshold <= 1:
        raise InputError(
            f"the threshold of an image must be above 0 and at most 1, got {threshold}", file=path
        )

    def judge(brightness: Brightness) -> tuple[Blocked, Blocked]:
        if threshold is not None:
            return brightness < threshold, np.zeros(len(brightness), dtype=bool)
        return brightness < _FREE, ~np.isin(brightness, (0, _UNKNOWN, _FREE, 1))

    return _obstacles(path, judge)


def _obstacles(path: Path, judge: Callable[[Brightness], tuple[Blocked, Blocked]]) -> Blocked:
    """Cells of the levels that `judge` says are obstacles; the others that it names are refused."""
    data = read_bytes(path)
    with blamed_on(path):
        read = _png if data.startswith(_SIGNATURE) else _pgm if data[:2] in (b"P2", b"P5") else None
        if read is None:
            raise InputError("is neither a PNG nor a PGM image (P2 or P5)")
        shape, brightness, parts = read(data)
        obstacles, unclear = judge(brightness)
        blocked = np.zeros(shape, dtype=bool)
        done = 0
        for levels in parts:
            if unclear.any() and (grey := unclear[levels]).any():
                row, column = map(int, np.unravel_index(grey.argmax(), grey.shape))
                shown = f"cell ({done + row}, {column}) is neither black nor white"
                raise InputError(f"{shown} but {brightness[levels[row, column]]:.3f}; give a threshold")
            blocked[done : done + len(levels)] = obstacles[levels]
            done += len(levels)
        return blocked


def write_png(path: Path, blocked: Blocked) -> None:
    """Obstacles as black cells of a grey image, which `read_image` reads."""
    rows, columns = blocked.shape
    pixels = np.where(blocked, 0, 255).astype(np.uint8)
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), pixels], axis=1)  # filter 0 before each line
    header = struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")]
    chunks = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    ]
    replace_file(path, _SIGNATURE + b"".join(chunks), durable=False)


def _check_size(columns: int, rows: int) -> None:
    if columns < 1 or rows < 1 or columns * rows > MOST_CELLS:
        raise InputError(f"has {columns} x {rows} cells; 1 to {MOST_CELLS} are possible")


# PGM.

_BETWEEN = rb"(?:\s|#[^\n]*\n)+"  # one way to read each byte: more would take a time that doubles with each
_PGM_HEADER = re.compile(rb"P[25]" + _BETWEEN + rb"(\d{1,9})" + _BETWEEN + rb"(\d{1,9})\s+(\d{1,9})\s")
_BLANK = re.compile(rb"\s")
_MOST_HEADER = 2**16  # bytes, with its comments


def _pgm(data: bytes) -> Image:
    header = _PGM_HEADER.match(data, 0, _MOST_HEADER)
    if header is None:
        raise InputError("is no PGM image: expected width, height and the greatest value")
    columns, rows, greatest = map(int, header.groups())
    _check_size(columns, rows)
    if not 1 <= greatest <= 65535:
        raise InputError(f"is no PGM image: the greatest value {greatest} is not in 1..65535")
    if data[:2] == b"P2":
        values: Levels = _plain_numbers(data[header.end() :])
    else:
        kind = ">u1" if greatest < 256 else ">u2"
        count = (len(data) - header.end()) // np.dtype(kind).itemsize
        values = np.frombuffer(data, kind, count, header.end())
    if len(values) < columns * rows or (data[:2] == b"P2" and len(values) > columns * rows):
        raise InputError(f"has {len(values)} values for {columns} x {rows} cells")
    values = values[: columns * rows].reshape(rows, columns)
    if values.max() > greatest:
        raise InputError(f"has values that are not in 0..{greatest}")
    size = max(1, _PIECE // columns)
    parts = (values[row : row + size] for row in range(0, rows, size))
    return (rows, columns), np.arange(greatest + 1) / greatest, parts


def _plain_numbers(text: bytes) -> Levels:
    """Whole numbers with blanks between them."""
    found, at = [np.zeros(0, np.int64)], 0
    while at < len(text):
        blank = _BLANK.search(text, at + _PIECE)
        end = blank.start() if blank else len(text)
        piece = text[at:end].strip()
        if piece.translate(None, b"0123456789 \t\n\r\f\v"):
            raise InputError("is no PGM image: expected whole numbers")
        if piece:
            found.append(np.fromstring(piece, np.int64, sep=" "))
        at = end
    return np.concatenate(found)


# PNG.


def _png(data: bytes) -> Image:
    chunks = _chunks(data)
    header = chunks.get(b"IHDR", b"")
    if len(header) != 13:
        raise InputError("is a damaged PNG image: no header")
    columns, rows, bits, colour, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    _check_size(columns, rows)
    if interlaced or colour not in _CHANNELS or bits not in (1, 2, 4, 8):
        raise InputError("is a PNG image that is interlaced or has more than 8 bits a channel")
    channels = _CHANNELS[colour]
    width, packed = (columns * channels * bits + 7) // 8, chunks.get(b"IDAT", b"")
    if rows * (width + 1) > MOST_RATIO * len(packed):
        raise InputError("is a damaged PNG image: some pixels are missing")
    palette = np.frombuffer(chunks.get(b"PLTE", b""), dtype=np.uint8)
    if len(palette) % 3:
        raise InputError("is a damaged PNG image: a colour is not in its palette")
    shown, greatest = 3 if channels >= 3 else 1, 2**bits - 1  # without transparency
    brightness = np.arange(shown * greatest + 1) / shown / greatest  # of the sum of the channels
    if colour == 3:
        brightness = palette.reshape(-1, 3).mean(axis=1) / 255

    def parts() -> Iterator[Levels]:
        for lines in _unfiltered(packed, rows, width, max(1, channels * bits // 8)):
            if bits < 8:
                shifts = np.arange(8 - bits, -1, -bits, dtype=np.uint8)
                lines = (lines[:, :, None] >> shifts & greatest).reshape(len(lines), -1)
            pixels = lines[:, : columns * channels].reshape(len(lines), columns, channels)
            levels: Levels = pixels[:, :, 0]
            for channel in range(1, shown):
                levels = np.add(levels, pixels[:, :, channel], dtype=np.uint16)
            if colour == 3 and int(levels.max()) >= len(brightness):
                raise InputError("is a damaged PNG image: a colour is not in its palette")
            yield levels

    return (rows, columns), brightness, parts()


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """The bodies of chunks by their names, those of one name put together."""
    found: dict[bytes, list[bytes]] = {}
    at = len(_SIGNATURE)
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        check = data[at + 8 + length : at + 12 + length]
        if int.from_bytes(check, "big") != zlib.crc32(body, zlib.crc32(kind)) or len(check) != 4:
            raise InputError("is a damaged PNG image: a checksum is wrong")
        found.setdefault(kind, []).append(body)
        at += 12 + length
    return {kind: b"".join(bodies) for kind, bodies in found.items()}


def _unpacked(packed: bytes, rows: int, size: int) -> Iterator[npt.NDArray[np.uint8]]:
    """So many lines of this size, some at a time, unpacked as they are needed."""
    unpacker, buffer, left = zlib.decompressobj(), bytearray(), rows
    pieces = (packed[at : at + _PIECE] for at in range(0, len(packed), _PIECE))
    try:
        for piece in (*pieces, None):
            while left and (piece or piece is None):
                buffer += unpacker.flush() if piece is None else unpacker.decompress(piece, size + _PIECE)
                whole = min(left, len(buffer) // size)
                if whole:
                    yield np.frombuffer(buffer[: whole * size], dtype=np.uint8).reshape(whole, size)
                    del buffer[: whole * size]
                    left -= whole
                if piece is None:
                    break
                piece = b"" if unpacker.eof else unpacker.unconsumed_tail
    except zlib.error:
        raise InputError("is a damaged PNG image: its pixels cannot be unpacked") from None
    if left:
        raise InputError("is a damaged PNG image: some pixels are missing")


def _unfiltered(packed: bytes, rows: int, width: int, step: int) -> Iterator[npt.NDArray[np.uint8]]:
    """Some lines at a time; a filter has put each byte relative to those to the left and above."""
    above, done = np.zeros(width, dtype=np.uint8), 0
    for lines in _unpacked(packed, rows, width + 1):
        for row in np.flatnonzero(lines[:, 0] > _MOST_FILTER).tolist():
            filter_name = int(lines[row, 0])
            raise InputError(
                f"is a damaged PNG image: line {done + row} has the unknown filter {filter_name}"
            )
        current = _core.png_lines(lines, above, step)
        yield current
        above, done = current[-1], done + len(lines)


# Paths.

PATHS = (".csv", ".json", ".npy")


def write_path(path: Path, states: Sequence[Sequence[float]], names: Sequence[str]) -> None:
    """Writes the states of a path: a table with a header, a list of objects, or an array of NumPy."""
    if path.suffix == ".json":
        text = json.dumps([dict(zip(names, state, strict=True)) for state in states])
    elif path.suffix == ".csv":
        text = "\n".join(",".join(map(str, line)) for line in (names, *states))
    else:
        content = io.BytesIO()
        np.save(content, np.asarray(states), allow_pickle=False)
        replace_file(path, content.getvalue(), durable=False)
        return
    replace_file(path, f"{text}\n".encode(), durable=False)


# Moving AI.


@dataclass(frozen=True, eq=False)
class Scenario:
    """A problem of a `.scen` file, with the length of an optimal path."""

    bucket: int
    map_name: str
    problem: GridProblem
    optimal_length: float


def read_map(path: Path) -> Blocked:
    lines = _lines(path)
    sizes = {}
    expected = ("type", "height", "width", "map")
    for number, (word, line) in enumerate(zip(expected, [*lines, *[""] * 4], strict=False), 1):
        pattern = {"type": r"type\s+octile", "map": "map"}.get(word, rf"{word}\s+([0-9]{{1,9}})")
        found = re.fullmatch(pattern, line.strip())
        if found is None:
            wanted = {"type": "type octile", "map": "map"}.get(word, f"{word} and a number")
            raise InputError(f"expected '{wanted}', got {line[:30]!r}", file=path, line=number)
        if found.groups():
            sizes[word] = int(found[1])
    with blamed_on(path):
        _check_size(sizes["width"], sizes["height"])
    rows = lines[4:]
    while rows and not rows[-1]:
        rows.pop()
    if len(rows) != sizes["height"]:
        raise InputError(f"has {len(rows)} rows, its header says {sizes['height']}", file=path)
    for index, row in enumerate(rows):
        if len(row) != sizes["width"]:
            message = f"has {len(row)} cells, the header says {sizes['width']}"
            raise InputError(message, file=path, line=index + 5)
    cells = np.frombuffer("".join(rows).encode(), dtype=np.uint8).reshape(len(rows), sizes["width"])
    by_terrain = np.full(256, -1, dtype=np.int8)
    for terrains, obstacle in ((FREE, 0), (OBSTACLES, 1)):
        by_terrain[[*terrains.encode()]] = obstacle
    blocked = by_terrain[cells]
    if blocked.min() < 0:
        index, column = map(int, np.unravel_index(blocked.argmin(), blocked.shape))
        message = f"unknown terrain {rows[index][column]!r} in column {column} (known: {FREE}{OBSTACLES})"
        raise InputError(message, file=path, line=index + 5)
    return blocked.view(bool)


def write_map(path: Path, blocked: Blocked) -> None:
    rows, columns = blocked.shape
    cells = np.full((rows, columns + 1), ord("\n"), dtype=np.uint8)
    cells[:, :columns] = np.where(blocked, ord("@"), ord("."))
    header = f"type octile\nheight {rows}\nwidth {columns}\nmap\n"
    replace_file(path, header.encode() + cells.tobytes(), durable=False)


def load_map(path: Path, *, threshold: float | None = None, inflate: str | float = 0) -> Blocked:
    """Obstacles of a `.map` file, an image, an array (`.npy`) or a ROS `map.yaml`, whichever it is.

    They grow by the radius `inflate` of a robot: a number of cells, or a text such as `0.3m` in metres.
    """
    blocked = _read_any(path, threshold)
    return _inflated(path, blocked, inflate) if inflate else blocked


def _read_any(path: Path, threshold: float | None) -> Blocked:
    if path.suffix in (*SUFFIXES, ".npy") and threshold is not None:
        raise InputError(f"a threshold is for images, not for a {path.suffix} file", file=path)
    if path.suffix in SUFFIXES:
        described = read_ros_map(path)
        return _obstacles(described.image, lambda levels: (described.obstacles(levels), levels < 0))
    if path.suffix == ".npy":
        return _array(path)
    if not read_bytes(path).startswith(b"type"):
        return read_image(path, threshold=threshold)
    if threshold is not None:
        raise InputError("a threshold is for images, not for a .map", file=path)
    return read_map(path)


def _array(path: Path) -> Blocked:
    """Obstacles of an array that NumPy wrote: 0 is free, 1 is an obstacle."""
    try:
        # Mapped: a header that asks for more than the file has is refused, not given memory.
        array = np.lib.format.open_memmap(path, mode="r")
    except (*_NO_ARRAY, tokenize.TokenError) as error:  # a header is a Python literal
        raise InputError(f"is no array of numbers: {error}", file=path) from None
    with blamed_on(path):
        if array.size > MOST_CELLS:
            raise InputError(f"has {array.size} cells; {MOST_CELLS} are possible")
        return Grid(array).blocked


_RADIUS = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(m?)")


def _inflated(path: Path, blocked: Blocked, radius: str | float) -> Blocked:
    """Obstacles for a robot of this radius, in cells or, with m, in metres, which a `map.yaml` knows."""
    found = _RADIUS.fullmatch(f"{radius:f}" if isinstance(radius, int | float) else radius.strip())
    if found is None:
        raise InputError(f"a radius is a number of cells, or of metres with m such as 0.3m; got '{radius}'")
    cells = float(found[1])
    if found[2]:
        resolution = read_ros_map(path).resolution if path.suffix in SUFFIXES else None
        if resolution is None:
            raise InputError("a radius in metres needs a map.yaml with a resolution; give cells", file=path)
        cells /= resolution
    if not cells <= MOST_RADIUS:
        raise InputError(f"a radius of {cells:g} cells is above {MOST_RADIUS}", file=path)
    return inflate(blocked, cells)


def inflate(blocked: Blocked, radius: float) -> Blocked:
    """Blocks all cells whose centre is at most `radius` cells from the centre of an obstacle."""
    if blocked.shape[0] > blocked.shape[1]:  # the fewer lines the better
        return np.ascontiguousarray(inflate(blocked.T, radius).T)
    rows, columns = blocked.shape
    radius += 1e-9  # metres that were divided by a resolution: 0.3 / 0.1 is below 3
    far = min(int(radius), rows) + 1
    # How far an obstacle of the same column, so many rows away, blocks cells to its left and right.
    reach = np.append(np.sqrt(radius * radius - np.arange(far) ** 2).astype(np.int32), np.int32(-1))
    distance = np.empty(blocked.shape, dtype=np.int16)  # rows to the next obstacle above, at most `far`
    near = np.full(columns, far, dtype=np.int16)
    for row in range(rows):
        near = np.where(blocked[row], np.int16(0), np.minimum(near + 1, far))
        distance[row] = near
    result: Blocked = np.empty(blocked.shape, dtype=bool)
    places = np.arange(columns, dtype=np.int32)
    for row in reversed(range(rows)):
        near = np.minimum(distance[row], near + 1)  # or below
        right = np.maximum.accumulate(places + reach[near])
        left = np.minimum.accumulate((places - reach[near])[::-1])[::-1]
        result[row] = (left <= places) | (places <= right)
    return result


def usual_neighbours(files: Sequence[Path]) -> int:
    """Of a cell, if nothing else is said: 8 where robots move, and for lengths of scenarios; else 4."""
    return 8 if files and all(path.suffix in (*SUFFIXES, SCENARIOS) for path in files) else 4


def load_scenarios(path: Path, *, neighbours: int = 8, cut_corners: bool = False) -> list[Scenario]:
    """Problems of a `.scen` file on the map that it names, which lies beside it."""
    found = scenario_map(path)
    if found is None:  # no problems, or no such file, which is told
        return read_scenarios(path, Grid(np.zeros((1, 1), dtype=bool)))
    return read_scenarios(path, Grid(load_map(found), None, neighbours, cut_corners))


def scenario_map(path: Path) -> Path | None:
    """The map that a `.scen` file names, which lies beside it; None if it has no problems."""
    first = next((line for line in _lines(path)[1:] if line.strip()), "")
    words = first.split("\t") if "\t" in first else first.split()
    if len(words) < 2:
        return None
    name = Path(words[1].replace("\\", "/"))
    if len(words[1]) > _MOST_NAME or "\0" in words[1]:
        raise InputError(f"names a map of {len(words[1])} characters", file=path)
    places = (path.parent / name, path.parent / name.name, path.with_suffix(""))
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise InputError(f"its map {name.name} is not beside it", file=path)
    return found


def read_scenarios(path: Path, grid: Grid) -> list[Scenario]:
    """Problems of a `.scen` file on the map that they are for; lengths are meant for 8 neighbours."""
    lines = _lines(path)
    if not lines or not re.fullmatch(r"version\s+1(\.0)?", lines[0].strip()):
        raise InputError(f"expected 'version 1', got {lines[0][:30] if lines else ''!r}", file=path, line=1)
    found = []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        with blamed_on(path, number):
            found.append(_scenario(line, grid))
    return found


def write_scenarios(path: Path, map_name: str, scenarios: Sequence[Scenario]) -> None:
    lines = ["version 1"]
    for one in scenarios:
        rows, columns = one.problem.grid.shape
        (start_row, start_column), (goal_row, goal_column) = one.problem.start, one.problem.goal
        places = (columns, rows, start_column, start_row, goal_column, goal_row)
        lines.append("\t".join(map(str, (one.bucket, map_name, *places, f"{one.optimal_length:.8f}"))))
    replace_file(path, ("\n".join(lines) + "\n").encode(), durable=False)


def _scenario(line: str, grid: Grid) -> Scenario:
    words = line.split("\t") if "\t" in line else line.split()
    if len(words) != 9:
        raise InputError(f"expected 9 columns, got {len(words)}")
    try:
        bucket, columns, rows, start_x, start_y, goal_x, goal_y = (int(words[i]) for i in (0, *range(2, 8)))
        length = float(words[8])
    except ValueError:
        raise InputError(f"expected numbers, got {line[:60]!r}") from None
    if (rows, columns) != grid.shape:
        raise InputError(f"is for a map of {rows} x {columns} cells, got {grid.shape[0]} x {grid.shape[1]}")
    return Scenario(bucket, words[1], GridProblem(grid, (start_y, start_x), (goal_y, goal_x)), length)


def _lines(path: Path) -> list[str]:
    return read_text(path, "ascii").splitlines()
