"""`hstar generate`: the files, what is kept, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hstar.generators import GENERATORS, sizes_of
from hstar.generators.splits import content_digest, split_instances
from hstar.spaces.pddl import read_task

from .conftest import Refused, Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_sizes_and_seeds_are_crossed(hstar: Run, folder: Path) -> None:
    words = ("generate", "ferry", "-o", "new/folder", "--cars", "2", "10", "--locations", "3", "--seeds", "2")
    done = hstar(*words, "--json")
    assert (done.code, done.err) == (0, "new/folder: ferry, 4 problems, 4 of them new\n")
    assert names(folder / "new/folder") == [
        "domain.pddl",
        "locations003-cars002-seed0000.pddl",
        "locations003-cars002-seed0001.pddl",
        "locations003-cars010-seed0000.pddl",
        "locations003-cars010-seed0001.pddl",
    ]
    records = json.loads(done.out)
    assert [record["sizes"]["cars"] for record in records] == [2, 2, 10, 10]
    for record in records:
        path = Path(record["file"])
        domain, problem = GENERATORS.get("ferry")(**record["sizes"], seed=record["seed"])
        assert path.read_text() == problem
        assert path.with_name("domain.pddl").read_text() == domain
        assert record["digest"] == content_digest(problem)


def test_a_split_is_written_whole_or_in_part(hstar: Run, folder: Path) -> None:
    words = ("generate", "gripper", "-o", "val", "--split", "val")
    assert hstar(*words, "--number", "7", "-q").err.count("\n") == 1  # the warning alone
    assert len(names(folder / "val")) == 8
    assert names(folder / "val")[1].startswith("p0000-balls002-seed")
    done = hstar(*words)
    warning, summary = done.err.splitlines()
    assert warning == "hstar: warning: gripper with balls 2 has too few distinct problems: val has 4 of 20"
    assert summary == "val: gripper, 84 problems, 77 of them new"
    written = [path.read_text() for path in sorted((folder / "val").glob("p*"))]
    task = read_task(folder / "val" / "domain.pddl", folder / "val" / names(folder / "val")[84])
    assert task.domain.name == "gripper"
    assert hstar(*words, "--number", "3").err.endswith("val: gripper, 3 problems, 0 of them new\n")
    assert written == [instance.problem for instance in split_instances("gripper", "val")]


def test_what_is_there_is_kept(hstar: Run, folder: Path) -> None:
    words = ("generate", "miconic", "-o", "out", "--floors", "4", "--passengers", "2", "--seeds")
    assert hstar(*words, "3").code == 0
    before = {path: path.stat().st_mtime_ns for path in Path("out").iterdir()}
    (folder / "out" / ".floors004.123.part").write_text("(define (pro")  # of a killed run
    (folder / "out" / "floors004-passengers002-seed0001.pddl").unlink()
    assert hstar(*words, "5").err == "out: miconic, 5 problems, 3 of them new\n"
    kept = [path for path, time in before.items() if path.stat().st_mtime_ns == time]
    assert len(kept) == 3
    assert len(names(folder / "out")) == 7


def test_other_content_is_refused_and_nothing_written(refused: Refused, hstar: Run, folder: Path) -> None:
    words = ("generate", "blocksworld", "-o", "out", "--blocks")
    assert hstar(*words, "4").code == 0
    problem = folder / "out" / "blocks004-seed0000.pddl"
    # Problems of another call could be those of another split.
    assert refused(33, *words, "5") == f"out/{problem.name}: is not of this call; give an empty folder"
    other = ("generate", "gripper", "-o", "out", "--balls", "2")
    assert refused(33, *other) == f"out/{problem.name}: is not of this call; give an empty folder"
    text = problem.read_text()
    problem.write_text(text.replace("b1", "b2", 1))
    message = f"out/{problem.name}: is there with another content; give an empty folder"
    assert refused(33, *words, "4", "6") == message
    problem.unlink()
    assert "domain.pddl: is there with another content" in refused(33, *other)
    assert names(folder / "out") == ["domain.pddl"]
    (folder / "file").write_text("")
    assert "file: cannot write: " in refused(33, "generate", "gripper", "-o", "file", "--balls", "2")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["blockswrld", "--blocks", "4"], "unknown generator 'blockswrld'"),
        (["blocksworld"], "blocksworld needs --blocks, or --split"),
        (
            ["rovers", "--rovers", "2", "--waypoints", "3"],
            "rovers needs --objectives and --cameras and --goals",
        ),
        (["ferry", "--blocks", "4"], "--blocks is not a size of ferry, which has --locations, --cars"),
        (["blocksworld", "--blocks", "1"], "blocksworld needs at least 2 of blocks, got 1"),
        (["blocksworld", "--blocks", "4", "1"], "blocksworld needs at least 2 of blocks, got 1"),
        (["blocksworld", "--blocks", "x"], "argument --blocks: expected a whole number"),
        (["blocksworld", "--blocks", "10000"], "argument --blocks: expected a whole number up to 9999"),
        (["blocksworld", "--blocks", "4", "--seeds", "0"], "--seeds takes 1 or more"),
        (["blocksworld", "--blocks", "4", "--number", "3"], "--number is for --split"),
        (["blocksworld", "--split", "trian"], "unknown split 'trian'"),
        (["npuzzle", "--split", "train"], "npuzzle has no splits"),
        (["gripper", "--split", "large", "--balls", "2"], "--balls is not for --split"),
        (["gripper", "--split", "large", "--seeds", "2"], "--seeds is not for --split"),
        (["gripper", "--split", "large", "--number", "0"], "--number takes 1 or more"),
    ],
)
def test_what_is_refused(refused: Refused, folder: Path, words: list[str], message: str) -> None:
    assert refused(33, "generate", *words, "-o", "out").startswith(message)
    assert names(folder) == []


def test_first_seed(hstar: Run, folder: Path) -> None:
    words = ("generate", "spanner", "-o", "out", "--spanners", "3", "--nuts", "2", "--locations", "2")
    done = hstar(*words, "--first-seed", "12345", "--seeds", "2", "--json", "-q")
    assert done.err == ""
    assert [record["seed"] for record in json.loads(done.out)] == [12345, 12346]


def test_help_names_the_sizes_of_each_generator(hstar: Run) -> None:
    lines = hstar("generate", "--help").out.splitlines()
    for name in GENERATORS:
        sizes = " ".join("--" + size.replace("_", "-") for size in sizes_of(name))
        assert any(line.split() == [name, *sizes.split()] for line in lines)
