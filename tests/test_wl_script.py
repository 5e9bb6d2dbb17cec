"""The benchmark of `wl` models runs on a small task, keeps what it measures, and compares builds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import DATA
from scripts import load_script

TASK = str(DATA / "blocks" / "problem.pddl")


@pytest.mark.parametrize("options", [[], ["--multiset", "--hidden", "4", "--iterations", "1"]])
def test_rates_of_two_builds(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    module, file = load_script("wl"), tmp_path / "w.jsonl"
    command = [TASK, "--expansions", "5", *options, "--out", str(file)]
    assert module["main"](command) == 0
    assert re.search(r"problem\.pddl \| \d, .* \| 4 \| \d+ \| [\d,]+ \| – \|\n", capsys.readouterr().out)
    kept = file.read_text()
    assert module["main"](command) == 0 and file.read_text() == kept
    record = json.loads(kept)
    assert record["expanded"] <= 5 and record["searches"] > 1
    faster = {**record, "build": "faster", "cpu_time": record["cpu_time"] / 3}
    file.write_text(kept + json.dumps(faster) + "\n")
    capsys.readouterr()
    assert module["main"](["--print", str(file), "--table", "rates"]) == 0
    printed = capsys.readouterr().out
    assert "| faster | ratio |" in printed and printed.count("| 3.0 |") == 2


def test_a_task_without_a_domain(tmp_path: Path) -> None:
    module = load_script("wl")
    lost = tmp_path / "p.pddl"
    lost.write_text("")
    with pytest.raises(module["InputError"], match=r"no domain\.pddl in its folder nor above it"):
        module["main"]([str(lost)])
