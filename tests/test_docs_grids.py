"""What docs/grids.md shows works as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_examples_run_one_after_the_other(tmp_path: Path) -> None:
    parts = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "grids.md").read_text(), re.DOTALL)
    assert len(parts) == 6
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(parts)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("solved 45.0 ") and lines[1].startswith("[[15, 2], [1")
