"""The benchmark of experiments runs, its tables have figures that can be, and come from its file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import load_script


@pytest.mark.slow
def test_quick_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main, file = load_script("experiments")["main"], tmp_path / "e.jsonl"
    command = ["--jobs", "20", "--rows", "500", "--repeats", "2", "--out", str(file)]
    assert main(command) in (0, 1)  # how loaded this machine is, is not what is tested
    printed = capsys.readouterr().out
    jobs = re.search(r"\| 20 \| 2 \| ([0-9.]+) \| ([0-9.]+) \| (-?[0-9.]+) \| 2 \|", printed)
    rows = re.search(r"\| 500 \| \d+ \| \d+ \| ([0-9.]+) (?:\| [0-9.]+ ){5}\| ([0-9.]+) \| 2 \|", printed)
    assert jobs and rows, printed
    assert float(jobs[2]) > 0 < float(rows[2])
    # Killed before the last repeat: only that one is run again.
    lines = file.read_text().splitlines(keepends=True)
    assert len(lines) == 8
    file.write_text("".join(lines[:7]))
    assert main(command) in (0, 1)
    assert "jobs" not in capsys.readouterr().err
    assert file.read_text().splitlines(keepends=True)[:7] == lines[:7]
    starts = re.search(r"\| a map, with a network \| ([0-9.]+) \| ([0-9.]+) \| \d+ \| \d+ \| 2 \|", printed)
    assert starts and float(starts[2]) < 0.5 * float(starts[1]), printed
    assert main(["--print", str(file), "--table", "jobs"]) == 0
    assert capsys.readouterr().out.strip() in printed
