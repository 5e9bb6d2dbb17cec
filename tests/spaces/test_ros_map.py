"""ROS maps: what a `map.yaml` says, which cells it frees, and where they are in the world."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from hstar.errors import InputError
from hstar.spaces.grid_files import load_map
from hstar.spaces.load import load
from hstar.spaces.ros_map import RosMap, read_ros_map

YAML = "image: m.pgm\nresolution: 0.05\norigin: [-1.0, -2.0, 0.0]\nnegate: 0\noccupied_thresh: 0.65\n"


def written(folder: Path, text: str, *pixels: int) -> Path:
    (folder / "m.pgm").write_bytes(b"P5\n%d 1\n255\n" % len(pixels) + bytes(pixels))
    (folder / "map.yaml").write_text(text)
    return folder / "map.yaml"


def test_thresholds_and_unknown_cells(tmp_path: Path) -> None:
    pixels = (0, 100, 205, 206, 254, 255)
    path = written(tmp_path, YAML + "free_thresh: 0.196\n", *pixels)
    assert load_map(path).tolist() == [[True, True, True, False, False, False]]
    path = written(tmp_path, YAML.replace("negate: 0", "negate: 1") + "free_thresh: 0.196\n", *pixels)
    assert load_map(path).tolist() == [[False, True, True, True, True, True]]
    path = written(tmp_path, YAML + "free_thresh: 0.1\n", *pixels)
    assert load_map(path).tolist() == [[True, True, True, True, False, False]]


@pytest.mark.parametrize(
    "origin",
    ["origin: [1, -2.5, 0.1]", "origin:\n- 1\n- -2.5  # y\n- 0.1", "origin:\n  - 1\n  - -2.5\n  - 0.1"],
)
def test_forms_of_the_file(tmp_path: Path, origin: str) -> None:
    text = f"---\n# a map\nimage: 'm.pgm'  # beside it\nresolution: 0.05\n{origin}\nnegate: false\nmore: 1\n"
    found = read_ros_map(written(tmp_path, text, 0))
    assert found == RosMap(tmp_path / "m.pgm", 0.05, (1.0, -2.5, 0.1))


@pytest.mark.parametrize("yaw", [0.0, 0.5, -math.pi / 2])
def test_metres(yaw: float) -> None:
    found = RosMap(Path("m.pgm"), 0.1, (-1.0, 2.0, yaw))
    for cell in [(0, 0), (19, 0), (3, 29), (19, 29)]:
        assert found.cell(*found.point(*cell, 20), 20) == cell
    if not yaw:
        assert found.point(19, 0, 20) == pytest.approx((-0.95, 2.05))  # the lower left corner
        assert found.cell(-0.999, 3.999, 20) == (0, 0)
    elif yaw < 0:  # what was to the right is below
        assert found.point(19, 10, 20) == pytest.approx((-0.95, 2.0 - 1.05))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no image"),
        ("image:\n", "names no image"),
        ("image: m.pgm\nresolution: 0\n", "map.yaml:2: resolution must be a number above 0, got '0'"),
        ("image: m.pgm\norigin: [0, 1]\n", "map.yaml:2: origin must be three numbers, got '0,  1'"),
        ("image: m.pgm\norigin: [0, 1, nan]\n", "origin must be three numbers"),
        ("image: m.pgm\nnegate: maybe\n", "negate must be 0 or 1, got 'maybe'"),
        ("image: m.pgm\nfree_thresh: 2\n", "free_thresh must be a number from 0 to 1"),
        ("image: m.pgm\nfree_thresh: 0.9\n", "free_thresh is above occupied_thresh"),
        ("image: m.pgm\nmode: raw\n", "mode 'raw' is not supported"),
        ("image: m.pgm\nsomething\n", "map.yaml:2: expected 'key: value', got 'something'"),
        ("a: 1\n" * 2000, "has 2000 lines: it is no ROS map"),
        (f"image: {'x' * 2000}\n", "image must be the name of a file"),
    ],
)
def test_broken_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_ros_map(written(tmp_path, text, 0))
    assert message in str(caught.value) and "map.yaml" in str(caught.value)


def test_metres_need_a_resolution() -> None:
    with pytest.raises(InputError, match="metres need the resolution"):
        RosMap(Path("m.pgm")).cell(0.0, 0.0, 20)


def test_a_robot_has_a_radius(tmp_path: Path) -> None:
    pixels = [254] * 20
    pixels[10] = 0
    path = written(tmp_path, YAML, *pixels)
    for radius in (2, "2", "0.1m"):
        blocked = load(path, inflate=radius).grid.blocked
        assert np.flatnonzero(blocked[0]).tolist() == [8, 9, 10, 11, 12], radius
    for wrong, message in [
        ("1.2.3", "a radius is a number"),
        ("9e9", "a radius is"),
        (2000, "is above 1000"),
    ]:
        with pytest.raises(InputError, match=message):
            load(path, inflate=wrong)
    with pytest.raises(InputError, match=r"m\.pgm: a radius in metres needs a map\.yaml"):
        load(tmp_path / "m.pgm", inflate="0.1m")
