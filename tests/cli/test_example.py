"""`hstar example`: files to start with."""

from __future__ import annotations

from pathlib import Path

import pytest

from hstar.cli.example import _LARGE, _SMALL
from hstar.generators import GENERATORS
from hstar.spaces.load import load

from .conftest import DATA, Refused, Run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_generator_has_an_example() -> None:
    assert set(_SMALL) == set(_LARGE) == set(GENERATORS)


@pytest.mark.parametrize("name", ["blocks", *(name for name in _SMALL if name != "blocksworld")])
def test_problems_are_different_and_can_be_read(hstar: Run, name: str) -> None:
    assert hstar("example", name).code == 0
    for part in ("train", "test"):
        files = sorted(Path(name, part).glob("p*.pddl"))
        assert len(files) >= 6 and Path(name, part, "domain.pddl").is_file()
        # Small sizes may have few problems, but not one alone.
        assert len({file.read_text().partition(":init")[2] for file in files}) > len(files) // 2
    assert load(Path(name, "train", "p01.pddl")).core.num_operators > 0


def test_what_is_shown_works(hstar: Run) -> None:
    shown = hstar("example", "blocks", "-o", "my files").err.splitlines()[1:]
    assert shown[1] == "  hstar train 'my files/train' -o 'my files.hstar'"
    assert hstar("train", "my files/train", "-o", "my files.hstar", "--iterations", "1", "-q").code == 0
    assert hstar("solve", "my files/test/p01.pddl", "--heuristic", "my files.hstar").code == 0


def test_what_is_there_is_kept_or_refused(hstar: Run, refused: Refused) -> None:
    for _ in range(2):
        assert hstar("example", "gripper", "-q").err == ""
    Path("gripper/test/p01.pddl").write_text("mine")
    said = refused(33, "example", "gripper")
    assert said == "gripper/test/p01.pddl: is there with another content; give an empty folder"


def test_programs_are_those_of_the_clone(hstar: Run) -> None:
    assert hstar("example", "programs").code == 0
    there = {path.name: path.read_text() for path in Path("programs").iterdir()}
    assert there == {path.name: path.read_text() for path in (DATA.parents[1] / "examples").glob("*.py")}


def test_an_unknown_name(refused: Refused) -> None:
    assert refused(33, "example", "block").endswith("; did you mean 'blocks'?")
