"""Maps as images and as files of Moving AI: round trips, and what is refused, with file and line."""

from __future__ import annotations

import json
import math
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from hstar.errors import InputError
from hstar.search.solve import solve
from hstar.spaces.grid import Grid, GridProblem
from hstar.spaces.grid_files import (
    Scenario,
    inflate,
    load_map,
    load_scenarios,
    read_image,
    read_map,
    read_scenarios,
    write_map,
    write_path,
    write_png,
    write_scenarios,
)

MAPS = [np.random.default_rng(seed).random((5 + seed, 3 * seed + 1)) < 0.4 for seed in range(5)]


def png(
    columns: int,
    rows: int,
    bits: int,
    colour: int,
    lines: bytes,
    *,
    palette: bytes = b"",
    interlaced: int = 0,
) -> bytes:
    """A PNG file; each line begins with the number of its filter."""
    header = struct.pack(">IIBBBBB", columns, rows, bits, colour, 0, 0, interlaced)
    parts = [(b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")]
    chunks = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
        if body or kind != b"PLTE"
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize("blocked", MAPS)
def test_images_come_back(tmp_path: Path, blocked: np.ndarray) -> None:
    write_png(tmp_path / "map.png", blocked)
    pixels = np.where(blocked, 0, 255).astype(np.uint8).tobytes()
    (tmp_path / "map.pgm").write_bytes(f"P5\n{blocked.shape[1]} {blocked.shape[0]}\n255\n".encode() + pixels)
    write_map(tmp_path / "map.map", blocked)
    for found in (
        read_image(tmp_path / "map.png"),
        read_image(tmp_path / "map.pgm"),
        read_map(tmp_path / "map.map"),
    ):
        assert found.dtype == bool and found.tolist() == blocked.tolist()


def test_another_program_reads_and_writes_the_same_png(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for number, blocked in enumerate(MAPS):
        write_png(tmp_path / "ours.png", blocked)
        with image.open(tmp_path / "ours.png") as opened:
            assert (np.asarray(opened) == 0).tolist() == blocked.tolist()
        pixels = image.fromarray(np.where(blocked, 0, 255).astype(np.uint8))
        for mode in ("L", "RGB", "RGBA", "1", "P", "LA"):
            pixels.convert(mode).save(tmp_path / f"{number}{mode}.png")
            assert read_image(tmp_path / f"{number}{mode}.png").tolist() == blocked.tolist(), mode


def filtered(kind: int, pixels: np.ndarray, step: int) -> bytes:
    """Lines as PNG writers filter them, by the definition."""
    lines = b""
    above = [0] * pixels.shape[1]
    for row in pixels.tolist():
        coded = []
        for at, value in enumerate(row):
            left = row[at - step] if at >= step else 0
            up = above[at]
            corner = above[at - step] if at >= step else 0
            nearest = min((left, up, corner), key=lambda one: abs(one - (left + up - corner)))
            coded.append((value - [0, left, up, (left + up) // 2, nearest][kind]) % 256)
        lines += bytes([kind, *coded])
        above = row
    return lines


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize(("colour", "channels"), [(0, 1), (2, 3), (6, 4)])
def test_filters_of_lines(tmp_path: Path, kind: int, colour: int, channels: int) -> None:
    rng = np.random.default_rng(kind)
    pixels = rng.integers(0, 256, (6, 7 * channels)).astype(np.uint8)
    (tmp_path / "map.png").write_bytes(png(7, 6, 8, colour, filtered(kind, pixels, channels)))
    shown = pixels.reshape(6, 7, channels)[:, :, : min(channels, 3)].mean(axis=2) / 255
    assert read_image(tmp_path / "map.png", threshold=0.5).tolist() == (shown < 0.5).tolist()


def test_few_bits_and_palettes(tmp_path: Path) -> None:
    file = tmp_path / "map.png"
    file.write_bytes(png(3, 2, 1, 0, bytes([0, 0b10100000, 0, 0b01000000])))
    assert read_image(file).tolist() == [[False, True, False], [True, False, True]]
    colours = bytes([255, 255, 255, 0, 0, 0])
    file.write_bytes(png(3, 1, 4, 3, bytes([0, 0x01, 0x10]), palette=colours))
    assert read_image(file).tolist() == [[False, True, True]]


def test_pgm_of_both_kinds(tmp_path: Path) -> None:
    file = tmp_path / "map.pgm"
    file.write_bytes(b"P2\n# a comment\n3 2\n15\n0 15 0\n15 15 0\n")
    assert read_image(file).tolist() == [[True, False, True], [False, False, True]]
    file.write_bytes(b"P5 2 1 65535\n\xff\xff\x00\x00")
    assert read_image(file).tolist() == [[False, True]]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"GIF89a", "is neither a PNG nor a PGM image"),
        (b"", "is neither a PNG nor a PGM image"),
        (b"P2\n2 x\n", "is no PGM image: expected width, height and the greatest value"),
        (b"P2\n2 1\n255\n0 7\n", r"cell \(0, 1\) is neither black nor white but 0\.027; give a threshold"),
        (b"P2\n2 1\n255\n0\n", "has 1 values for 2 x 1 cells"),
        (b"P2\n2 1\n255\n0 255 0\n", "has 3 values for 2 x 1 cells"),
        (b"P2\n1 1\n9\n10\n", r"has values that are not in 0\.\.9"),
        (b"P2\n1 1\n9\nx\n", "expected whole numbers"),
        (b"P5\n0 1\n255\n", "has 0 x 1 cells"),
        (b"P5\n2 2\n255\n\x00", "has 1 values for 2 x 2 cells"),
        (b"P5\n1 1\n0\n\x00", r"the greatest value 0 is not in 1\.\.65535"),
        (png(1, 1, 8, 0, b"\x00\x80"), r"cell \(0, 0\) is neither black nor white but 0\.50"),
        (png(1, 1, 8, 0, b"\x00\x80")[:-30], "is a damaged PNG image"),
        (
            png(1, 1, 8, 0, b"\x00\x80").replace(b"IDAT", b"IDAX"),
            "is a damaged PNG image: a checksum is wrong",
        ),
        (png(2, 1, 8, 0, b"\x00\x80"), "is a damaged PNG image: some pixels are missing"),
        (png(1, 1, 8, 0, b"\x05\x00"), "line 0 has the unknown filter 5"),
        (png(1, 1, 8, 3, b"\x00\x02", palette=bytes(6)), "a colour is not in its palette"),
        (png(1, 1, 16, 0, b"\x00\x00\x00"), "more than 8 bits a channel"),
        (png(1, 1, 8, 0, b"\x00\x00", interlaced=1), "is interlaced"),
        (png(2**31, 2**31, 8, 0, b""), "cells; 1 to"),
    ],
)
def test_what_is_no_image(tmp_path: Path, data: bytes, message: str) -> None:
    file = tmp_path / "map"
    file.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        read_image(file)
    assert str(caught.value).startswith(f"{file}: ") and "\n" not in str(caught.value)


def test_thresholds(tmp_path: Path) -> None:
    file = tmp_path / "map.pgm"
    file.write_bytes(b"P2\n4 1\n10\n0 4 5 10\n")
    assert read_image(file, threshold=0.5).tolist() == [[True, True, False, False]]
    with pytest.raises(InputError, match="threshold of an image must be above 0 and at most 1, got 2"):
        read_image(file, threshold=2)
    with pytest.raises(InputError, match="cannot read"):
        read_image(tmp_path / "none.png")


HEADER = "type octile\nheight 2\nwidth 3\nmap\n"


def test_terrains(tmp_path: Path) -> None:
    file = tmp_path / "arena.map"
    file.write_text(HEADER + ".GS\n@TW\n")
    assert read_map(file).tolist() == [[False] * 3, [True] * 3]
    file.write_bytes((HEADER + "OOO\n...\n\n").replace("\n", "\r\n").encode())
    assert read_map(file).tolist() == [[True] * 3, [False] * 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("type hexagonal\nheight 2\n", ":1: expected 'type octile', got 'type hexagonal'"),
        ("", ":1: expected 'type octile', got ''"),
        ("type octile\nwidth 3\n", ":2: expected 'height and a number', got 'width 3'"),
        ("type octile\nheight 2\nwidth three\n", ":3: expected 'width and a number', got 'width three'"),
        ("type octile\nheight 2\nwidth 3\n...\n", ":4: expected 'map', got '...'"),
        (HEADER + "...\n", ": has 1 rows, its header says 2"),
        (HEADER + "...\n...\n...\n", ": has 3 rows, its header says 2"),
        (HEADER + "...\n..\n", ":6: has 2 cells, the header says 3"),
        (HEADER + "...\n.x.\n", ":6: unknown terrain 'x' in column 1 (known: .GS@OTW)"),
        ("type octile\nheight 0\nwidth 0\nmap\n", ": has 0 x 0 cells; 1 to 67108864 are possible"),
    ],
)
def test_wrong_maps_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "arena.map"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_map(file)
    assert str(caught.value) == f"{file}{message}"
    file.write_bytes(b"\xff")
    with pytest.raises(InputError, match="is not text"):
        read_map(file)


def test_scenarios(tmp_path: Path) -> None:
    grid = Grid(np.array([[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]), None, 8)
    problem = GridProblem(grid, (0, 0), (2, 3))
    cost = solve(problem, None, "astar").plan_cost
    assert cost == pytest.approx(3 + 2**0.5)
    file = tmp_path / "arena.map.scen"
    write_scenarios(file, "arena.map", [Scenario(1, "arena.map", problem, cost)])
    assert file.read_text() == "version 1\n1\tarena.map\t4\t3\t0\t0\t3\t2\t4.41421356\n"
    (found,) = read_scenarios(file, grid)
    assert (found.bucket, found.map_name, found.problem.start, found.problem.goal) == (
        1,
        "arena.map",
        (0, 0),
        (2, 3),
    )
    assert solve(found.problem, None, "astar").plan_cost == pytest.approx(found.optimal_length)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: expected 'version 1', got ''"),
        ("version 2\n", ":1: expected 'version 1', got 'version 2'"),
        ("version 1\n0\ta\t2\t1\t0\t0\n", ":2: expected 9 columns, got 6"),
        ("version 1.0\n0\ta\t2\t1\t0\t0\tx\t0\t1\n", r":2: expected numbers, got "),
        ("version 1\n\n0\ta\t9\t9\t0\t0\t1\t0\t1\n", ":3: is for a map of 9 x 9 cells, got 1 x 3"),
        ("version 1\n0\ta\t3\t1\t0\t0\t1\t0\t1\n", ":2: goal (0, 1) is an obstacle"),
        ("version 1\n0\ta\t3\t1\t0\t5\t2\t0\t1\n", ":2: start (5, 0) is outside of the map of 1 x 3 cells"),
    ],
)
def test_wrong_scenarios_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "a.scen"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_scenarios(file, Grid(np.array([[0, 1, 0]])))
    assert str(caught.value).startswith(f"{file}{message}")


def test_maps_are_known_by_their_content(tmp_path: Path) -> None:
    write_map(tmp_path / "one", MAPS[2])
    write_png(tmp_path / "two", MAPS[2])
    assert (load_map(tmp_path / "one") == MAPS[2]).all() and (load_map(tmp_path / "two") == MAPS[2]).all()
    with pytest.raises(InputError, match=r"one: a threshold is for images"):
        load_map(tmp_path / "one", threshold=0.5)


def test_scenarios_find_their_map(tmp_path: Path) -> None:
    blocked = np.zeros((4, 5), dtype=bool)
    write_map(tmp_path / "a.map", blocked)
    problem = GridProblem(Grid(blocked, None, 8), (0, 1), (3, 4))
    for name in ("a.map", "maps/elsewhere/a.map", "maps\\a.map"):
        write_scenarios(tmp_path / "b.scen", name, [Scenario(0, name, problem, 3 * math.sqrt(2))])
        (found,) = load_scenarios(tmp_path / "b.scen")
        assert (found.problem.start, found.problem.goal) == ((0, 1), (3, 4))
        assert found.problem.grid.neighbours == 8
        assert solve(found.problem, None, "astar").plan_cost == pytest.approx(found.optimal_length)
    (plain,) = load_scenarios(tmp_path / "b.scen", neighbours=4)
    assert plain.problem.grid.neighbours == 4
    write_scenarios(tmp_path / "b.scen", "c.map", [Scenario(0, "c.map", problem, 3.0)])
    with pytest.raises(InputError, match=r"b\.scen: its map c\.map is not beside it"):
        load_scenarios(tmp_path / "b.scen")
    (tmp_path / "b.scen").write_text("version 1\n")
    assert load_scenarios(tmp_path / "b.scen") == []
    (tmp_path / "b.scen").write_text("version 7\n")
    with pytest.raises(InputError, match="expected 'version 1'"):
        load_scenarios(tmp_path / "b.scen")


def test_images_of_map_servers_need_no_threshold(tmp_path: Path) -> None:
    file = tmp_path / "map.pgm"
    file.write_bytes(b"P5\n4 1\n255\n" + bytes([0, 205, 254, 255]))
    assert read_image(file).tolist() == [[True, True, False, False]]
    file.write_bytes(b"P5\n4 1\n255\n" + bytes([0, 205, 253, 255]))
    with pytest.raises(InputError, match=r"cell \(0, 2\) is neither black nor white but 0\.992"):
        read_image(file)


@pytest.mark.parametrize("radius", [0.0, 0.9, 1.0, 1.5, 2.9999999999, 7.3, 40.0])
def test_inflation_is_what_distances_say(radius: float) -> None:
    rng = np.random.default_rng(1)
    blocked = rng.random((17, 23)) < 0.02
    there, cells = np.argwhere(blocked), np.argwhere(np.ones_like(blocked))
    nearest = np.sqrt(((cells[:, None] - there[None]) ** 2).sum(axis=2)).min(axis=1)
    assert (inflate(blocked, radius).ravel() == (nearest <= radius + 1e-9)).all()


def test_paths_are_written(tmp_path: Path) -> None:
    path = [[0, 1], [1, 2]]
    for name in ("p.csv", "p.json", "p.npy"):
        write_path(tmp_path / name, path, ("row", "column"))
    assert (tmp_path / "p.csv").read_text() == "row,column\n0,1\n1,2\n"
    assert json.loads((tmp_path / "p.json").read_text())[1] == {"row": 1, "column": 2}
    assert np.load(tmp_path / "p.npy").tolist() == path
