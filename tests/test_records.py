"""Files of measurements: what is finished is not repeated, whatever became of the process that did it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hstar.errors import InputError
from hstar.experiments.machine import machine
from scripts import BENCHMARKS, load_script

RECORDS = load_script("records")
KEY = ("part", "build", "task")


@pytest.fixture
def measured() -> list[str]:
    """What has really been measured."""
    return []


def measure(name: str, measured: list[str]) -> Callable[[], dict[str, Any]]:
    def found() -> dict[str, Any]:
        measured.append(name)
        return {"seconds": len(measured), "part": "the planner's own word"}

    return found


def ask(path: Path | None, measured: list[str], names: str, build: str = "one") -> list[dict[str, Any]]:
    """A command that asks for a measurement of each task."""
    records = RECORDS["Records"](path, KEY)
    for name in names:
        records.get({"part": "times", "build": build, "task": name}, measure(name, measured))
    used: list[dict[str, Any]] = records.used
    return used


def test_finished_measurements_are_not_repeated(tmp_path: Path, measured: list[str]) -> None:
    path = tmp_path / "new" / "r.jsonl"
    first = ask(path, measured, "ab")
    assert ask(path, measured, "abc")[:2] == first
    assert measured == ["a", "b", "c"]
    assert RECORDS["read"](path)[:2] == first
    assert first[0]["machine"] == machine()
    assert first[0]["part"] == "times"  # what identifies a measurement is never overwritten


def test_a_killed_command_goes_on(
    tmp_path: Path, measured: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.jsonl"
    ask(path, measured, "ab")
    path.write_text(path.read_text()[:-20])  # killed while it wrote
    ask(path, measured, "abc")
    assert measured == ["a", "b", "b", "c"]
    assert f"{path}:2: skipped, not a record" in capsys.readouterr().err
    assert [record["task"] for record in RECORDS["read"](path)] == ["a", "b", "c"]


def test_another_build_is_measured_anew_and_the_last_one_counts(tmp_path: Path, measured: list[str]) -> None:
    path = tmp_path / "r.jsonl"
    ask(path, measured, "ab")
    ask(path, measured, "a", build="two")
    assert measured == ["a", "b", "a"]
    shown = RECORDS["stored"](path, ["times"], KEY)
    assert [(record["task"], record["build"], record["seconds"]) for record in shown] == [
        ("a", "two", 3),
        ("b", "one", 2),
    ]
    assert f"{RECORDS['versions'](shown)}\n".count(": 1 measurement\n") == 2


def test_without_a_file_nothing_is_kept(measured: list[str]) -> None:
    ask(None, measured, "a")
    ask(None, measured, "a")
    assert measured == ["a", "a"]


def test_fields_that_do_not_identify_are_refused() -> None:
    with pytest.raises(ValueError, match="known by part, build, task"):
        RECORDS["Records"](None, KEY).get({"tsak": "a"}, dict)


def test_files_without_measurements_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent.jsonl: cannot read: No such file"):
        RECORDS["read"](tmp_path / "absent.jsonl")
    sections = {"times": ("Times:", "")}
    with pytest.raises(InputError, match=r"r.jsonl: no measurements for the table times"):
        RECORDS["shown"](sections, [{"build": "one"}], ["times"], Path("r.jsonl"))
    with pytest.raises(InputError, match=r"r.jsonl: no measurements of this script"):
        RECORDS["shown"](sections, [], None, Path("r.jsonl"))


def test_tables() -> None:
    table = RECORDS["table"](["task", "n"], [["a", "1"], ["b", ""]])
    assert table == "| task | n |\n|---|---:|\n| a | 1 |\n| b | |"
    assert RECORDS["table"](["task"], []) == ""


@pytest.mark.slow
def test_mistakes_are_one_line(tmp_path: Path) -> None:
    """And results of two files beside each other, of which one holds none."""
    runs = [{"task": "t", "config": "c", "status": "solved", "expansions": n} for n in (10, 20)]
    for name, run in zip("ab", runs, strict=True):
        (tmp_path / name).write_text(json.dumps(run) + "\n")
    (tmp_path / "empty").write_text("\n")

    def compare(*names: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, BENCHMARKS / "compare.py", *names]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = compare("a", "b")
    assert done.returncode == 0, done.stderr
    assert "| c | 1 | 1 | 1 | 1 | 2 |" in done.stdout
    done = compare("a", "empty")
    assert (done.returncode, done.stderr) == (33, "compare.py: empty: no runs\n")
