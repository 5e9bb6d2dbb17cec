"""What docs/grids.md shows works as it stands there, and so does the example."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hstar.cli import main
from hstar.spaces.grid_files import write_map, write_png

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "grids.md").read_text()


@pytest.mark.slow
def test_the_examples_run_one_after_the_other(tmp_path: Path) -> None:
    parts = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(parts) == 8
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(parts)], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("solved 45 ") and lines[1].startswith("[[15, 2], [1")


@pytest.mark.slow
def test_the_commands_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocked = np.zeros((20, 30), dtype=bool)
    blocked[5:, 12] = True
    write_png(Path("map.png"), blocked)
    write_map(Path("map.map"), blocked)
    (block,) = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in block.splitlines():
        if " show " in line and importlib.util.find_spec("matplotlib") is None:
            continue
        with pytest.raises(SystemExit) as stop:
            main(shlex.split(line)[1:])
        found = capsys.readouterr()
        assert stop.value.code == 0 and (found.out or found.err), line


@pytest.mark.slow
def test_the_example_draws_a_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    command = [sys.executable, str(ROOT / "examples" / "prolonged.py"), str(tmp_path / "map.svg"), "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "expanded states on 20 fresh maps" in done.stdout
    assert "values of the network" in (tmp_path / "map.svg").read_text()
