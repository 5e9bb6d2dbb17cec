"""The benchmarks of networks run on tiny sizes, keep what they measure, and print it from the file alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import DATA
from scripts import load_script

TASK = str(DATA / "blocks" / "problem.pddl")


def test_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = load_script("network")
    file = tmp_path / "n.jsonl"
    command = [TASK, "--seconds", "0.2", "--out", str(file)]
    assert module["main"](command) == 0
    printed = capsys.readouterr().out
    row = re.search(r"\| problem \| 25 \|((?: [0-9,]+ \|){6}) [0-9.]+ \|\n", printed)
    assert row, printed
    assert all(int(rate.replace(",", "")) > 0 for rate in row[1].split("|")[:-1])
    assert "a share of " in printed
    kept = file.read_text()
    assert kept.count("\n") == len(module["WAYS"]) + 1
    assert module["main"](command) == 0
    assert module["main"](["--print", str(file)]) == 0
    assert capsys.readouterr().out == 2 * printed
    assert file.read_text() == kept


def test_half_a_file_has_dashes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, file = load_script("network"), tmp_path / "n.jsonl"
    common = {
        "part": "rates",
        "task": "t",
        "file": "t.sas",
        "seconds": 3.0,
        "atoms": 1250,
        "search_time": 2.0,
    }
    ways = module["WAYS"]
    records = [
        {**common, "build": "old", "way": ways[0], "evaluations": 10},
        {**common, "build": "old", "way": ways[1], "evaluations": 30},
        {**common, "build": "new", "way": ways[0], "evaluations": 2468},
    ]
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert module["main"](["--print", str(file), "--table", "rates"]) == 0
    assert capsys.readouterr().out.endswith("| t | 1,250 | 1,234 | 15 | – | – | – | – | – |\n")


def test_precision(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = load_script("precision")
    file, work = tmp_path / "p.jsonl", tmp_path / "work"
    command = [TASK, "--quick", "--work", str(work), "--out", str(file)]
    assert module["main"](command) == 0
    printed = capsys.readouterr().out
    assert re.search(
        r"\| problem \| [0-9,]+ \| [0-9,]+ \| [0-9.]+ \| [0-9.]+ \| [0-9,]+ / [0-9,]+ \| 2 \|\n", printed
    )
    assert re.search(r"\| blocksworld 4 \| .* of 4 \|\n", printed)
    errors = re.search(r"\| 24, 24 \| ([0-9.e-]+) \| ([0-9.e-]+) \| 2 \|\n", printed)
    assert errors and 0 < float(errors[1]) <= float(errors[2]) < 1e-3
    # Killed half-way: the rest is measured with the same network.
    lines = file.read_text().splitlines(keepends=True)
    learned = next(iter(work.glob("*.hstar"))).read_bytes()
    file.write_text("".join(lines[:10]))
    assert module["main"](command) == 0
    assert file.read_text().splitlines(keepends=True)[:10] == lines[:10]
    assert [path.read_bytes() for path in work.iterdir()] == [learned]
    again = capsys.readouterr().out
    assert module["main"](["--quick", "--print", str(file)]) == 0
    assert capsys.readouterr().out == again
