"""The command line where PyTorch is not installed: what needs none works, the rest says so in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hstar
from hstar.errors import UnsupportedError, torch_explained

DATA = Path(__file__).parents[1] / "data"
BLOCKS = DATA / "blocks" / "problem.pddl"
_BLOCKED = "import sys; sys.modules['torch'] = None; from hstar.cli import main; main()"


def run(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _BLOCKED, *map(str, words)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder, env=environment)


@pytest.mark.parametrize(
    "words",
    [
        ("solve", BLOCKS),
        ("solve", BLOCKS, "--heuristic", DATA / "models" / "task-resnet.hstar"),
        ("solve", BLOCKS, "--heuristic", DATA / "models" / "domain-wl.hstar"),
        ("solve", BLOCKS, "--heuristic", DATA / "models" / "domain-truncated.hstar"),
        ("solve", "tiles:3x3", "--random", "2", "--seed", "1"),
        ("solve", "tiles:2x3", "--random", "2", "--heuristic", DATA / "models" / "puzzle-floor.hstar"),
        ("solve", "--kind", "scattered", "--random", "1", "--search", "astar", "--heuristic", "manhattan"),
        ("list",),
        ("info", BLOCKS),
        ("demo", "--blocks", "4", "--starts", "2"),
    ],
    ids=lambda words: "-".join(Path(word).stem for word in words[:4]),
)
def test_works(words: tuple[str | Path, ...], tmp_path: Path) -> None:
    done = run(tmp_path, *words)
    assert done.returncode == 0, done.stderr


def test_wl_trains_and_is_searched_with(tmp_path: Path) -> None:
    trained = run(tmp_path, "train", "wl", "gripper", "-o", "m.hstar", "--iterations", "1")
    assert trained.returncode == 0, trained.stderr
    generated = run(tmp_path, "generate", "gripper", "--balls", "4", "-o", "tasks")
    assert generated.returncode == 0, generated.stderr
    done = run(tmp_path, "solve", "tasks", "--heuristic", "m.hstar")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("train", "nrsl", BLOCKS, "-o", "m.hstar"),
        ("train", "bootstrap", "tiles:2x2", "-o", "m.hstar"),
        ("info", DATA / "models" / "map-vin.hstar"),
    ],
)
def test_says_what_is_missing(words: tuple[str | Path, ...], tmp_path: Path) -> None:
    done = run(tmp_path, *words)
    assert (done.returncode, done.stdout) == (34, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.endswith("needs PyTorch: pip install 'hstar[train]'\n")


def test_python_is_told_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UnsupportedError, match=r"needs PyTorch: pip install 'hstar\[train\]'"):
        hstar.train("nrsl", hstar.load(BLOCKS))


def test_other_missing_modules_are_not_taken_for_it() -> None:
    with pytest.raises(ModuleNotFoundError), torch_explained("this"):
        raise ModuleNotFoundError("No module named 'torches'", name="torches")
    with pytest.raises(UnsupportedError, match=r"^this needs PyTorch"), torch_explained("this"):
        raise ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn")
