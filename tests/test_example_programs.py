"""The programs of examples/ do what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def printed(name: str, *words: str) -> list[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(EXAMPLES / name), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_own_parts() -> None:
    assert all("cost 4 in 4 steps" in line for line in printed("own_space.py"))
    fine, best, wrong, plan = printed("own_heuristic.py")
    assert "fine=True" in fine and "fine=False" in wrong and "where an optimal plan costs" in wrong
    assert "cost 23 in 23 steps" in best and "solved" in plan
    model, result = printed("own_model.py", "500")
    assert "Board" in model and "status solved" in result


@pytest.mark.slow
def test_a_picture_of_a_map(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "map.svg"
    assert any(
        "expanded states on 20 fresh maps" in line for line in printed("prolonged.py", str(picture), "2")
    )
    assert "values of the network" in picture.read_text()
