"""Limits of commands hold for all their work, and Ctrl-C is answered wherever it comes.

A busy machine makes everything late, so that the quickest of three runs counts.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from cli.conftest import DATA, Run, start

LATE_S = 1.0
BLOCKS = DATA / "blocks" / "problem.pddl"
ENDLESS = {
    "databases": ["solve", "tiles:4x4", "--random", "1", "--bound", "1.5", "--no-cache"],
    "more databases": ["solve", "tiles:5x5", "--random", "1", "-e", "databases", "--no-cache"],
    "idastar": ["solve", "tiles:5x5", "--random", "1"],
    "random maze": ["solve", "--kind", "maze", "--rows", "4000", "--columns", "4000"],
    "random obstacles": ["solve", "--kind", "scattered", "--rows", "8000", "--columns", "8000"],
    "many maps": ["solve", "--kind", "rooms", "--random", "100000"],
    "long walk": ["solve", "tiles:4x4", "--walk", "1000000000000"],
    "optimum": ["solve", "tiles:4x4", "--random", "1", "--weight", "3", "--optimum", "--no-cache"],
}
TRAININGS = {
    "sampling by nrsl": ["train", "nrsl", BLOCKS, "--states", "100000000"],
    "sampling by fsm": ["train", "fsm", BLOCKS, "--states", "100000000"],
    "training": ["train", "nrsl", BLOCKS, "--states", "2000", "--epochs", "1000000", "--patience", "1000000"],
    "maps": ["train", "prolonged", "--scenarios", "1000000"],
}


def test_databases_keep_a_memory_limit() -> None:
    process = start(*ENDLESS["databases"], "--memory-limit", "200M", "--json")
    row = json.loads(process.communicate()[0])
    assert (process.returncode, row["status"]) == (22, "memory_limit") and row["memory"] < 250 << 20


def test_a_training_without_time_for_sampling(tmp_path: Path) -> None:
    model = tmp_path / "model.hstar"
    process = start(*TRAININGS["sampling by nrsl"], "-o", model, "--time-limit", "2s", "--quiet")
    out, err = process.communicate()
    assert (process.returncode, out) == (23, "") and not model.exists()
    assert err == "hstar: error: the time limit is reached before a search or a training began\n"


def test_the_first_problem_that_needs_databases_pays_for_them(hstar: Run) -> None:
    done = hstar(*ENDLESS["databases"], "--time-limit", "0.3s", "--json")
    assert done.code == 23 and json.loads(done.out)["status"] == "time_limit"
    several = [word.replace("1", "2") if word == "1" else word for word in ENDLESS["databases"]]
    done = hstar(*several, "--time-limit", "0.3s", "--json")
    assert [json.loads(line)["status"] for line in done.out.splitlines()] == ["time_limit"] * 2


def seconds_after(words: Sequence[str | Path], *, signalled: int | None, limit: float | None) -> float:
    """How long a process goes on after its time limit, or after a signal in the midst of its work."""
    if limit is not None:
        words = [*words, "--time-limit", f"{limit}s"]
    begun = start(*words, "--help")
    before = time.monotonic()
    begun.communicate()
    starting = time.monotonic() - before  # Python, and the modules of a command
    process, before = start(*words), time.monotonic()
    if signalled is not None:
        time.sleep(starting + 1)
        assert process.poll() is None, process.communicate()
        process.send_signal(signalled)
        before = time.monotonic()
    process.communicate(timeout=60)
    assert process.returncode == (23 if signalled is None else 128 + signalled)
    return time.monotonic() - before - (0 if limit is None else starting + limit)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ENDLESS if name != "optimum"])
def test_time_limits(name: str) -> None:
    assert min(seconds_after(ENDLESS[name], signalled=None, limit=1.0) for _ in range(3)) < LATE_S


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ENDLESS, *TRAININGS])
def test_ctrl_c(name: str, tmp_path: Path) -> None:
    words = ENDLESS.get(name) or [*TRAININGS[name], "-o", tmp_path / "model.hstar"]
    late = min(seconds_after(words, signalled=signal.SIGINT, limit=None) for _ in range(3))
    assert late < LATE_S


@pytest.mark.slow
def test_a_training_keeps_its_limit(tmp_path: Path) -> None:
    model, before = tmp_path / "model.hstar", time.monotonic()
    process = start(*TRAININGS["training"], "-o", model, "--time-limit", "8s", "--json")
    out = json.loads(process.communicate()[0])
    assert (process.returncode, out["stopped"]) == (0, "time_limit") and model.exists()
    assert out["total_time"] < 8 + LATE_S + 1 and time.monotonic() - before < 30
