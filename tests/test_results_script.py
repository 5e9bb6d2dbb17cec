"""RESULTS.md is filled from runs by a command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from experiments.runs import made_up_run

SCRIPT = Path(__file__).parents[1] / "tools" / "results.py"
TEXT = """\
# Results

<!-- hstar report runs/first --format markdown -->
old figures
<!-- end -->

Between.

<!-- hstar report runs/absent --format markdown -->
figures of another machine
<!-- end -->

After.
"""


def fill(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, "RESULTS.md"], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made_up_run(tmp_path / "runs" / "first")
    (tmp_path / "RESULTS.md").write_text(TEXT)
    return tmp_path


def test_blocks_are_what_their_commands_print(folder: Path) -> None:
    done = fill(folder)
    assert done.returncode == 0, done.stderr
    assert "left as it is, there is no runs/absent" in done.stderr
    text = (folder / "RESULTS.md").read_text()
    assert "old figures" not in text
    assert "\n### Coverage (%)\n" in text
    assert "| blocks/1 | 83.3 ± 23.6 | 66.7 |" in text
    assert text.endswith(TEXT[TEXT.index("Between.") :])
    fill(folder)
    assert (folder / "RESULTS.md").read_text() == text


def test_a_command_that_fails_changes_nothing(folder: Path) -> None:
    broken = TEXT.replace("--format markdown -->\nold", "--format markdwon -->\nold")
    (folder / "RESULTS.md").write_text(broken)
    done = fill(folder)
    assert done.returncode == 33
    assert (folder / "RESULTS.md").read_text() == broken
