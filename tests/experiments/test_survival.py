"""Runs survive: kills of the driver and of jobs at any moment, full disks, folders that cannot be written."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hstar import container
from hstar.experiments.job import DONE
from hstar.experiments.store import Store

SEARCHES = """\
[limits]
time = "60s"

[[tasks]]
generator = "blocksworld"
parameters = { blocks = 4 }
starts = 2

[[plan]]
heuristic = "ff"

[[plan]]
heuristic = "goalcount"
"""
WITH_TRAINING = f"""\
{SEARCHES}
[[plan]]
model = "little"

[[train]]
name = "little"
recipe = "fsm"
options = {{ states = 200, epochs = 2, width = 16 }}
seeds = [0, 1]
"""
MARK = "HSTAR_TEST_RUN"
COUNTS = ("status", "expansions", "evaluations", "generated", "cost", "plan_length", "initial_h", "epochs")


def bench(folder: Path, *words: str, **options: Any) -> subprocess.Popen[str]:
    """Starts `hstar bench` on the suite in a folder."""
    files = [str(folder / "suite.toml"), "-o", str(folder / "run")]
    command = [sys.executable, "-m", "hstar", "bench", *files, "-j", "2", *words]
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    streams["env"] = {**os.environ, MARK: str(folder)}
    return subprocess.Popen(command, **{**streams, **options})


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and standard error."""
    _, errors = process.communicate(timeout=300)
    return process.returncode, errors


def wait_until(condition: Callable[[], object], seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


def suite(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "suite.toml").write_text(text)
    return folder


def processes_of(folder: Path) -> list[int]:
    """What a driver has started for a run, servers that fork included: all that has the mark of the run, but
    the driver itself and the guardian, which outlives it.
    """
    found, mark = [], f"{MARK}={folder}\0".encode()
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # The mark first: a driver that has just been started has no words before it has a mark.
            marked = mark in (path / "environ").read_bytes()
            words = (path / "cmdline").read_bytes().split(b"\0")
            if marked and b"bench" not in words and b"-I" not in words:
                found.append(int(path.name))
    return found


# --- kills ----------------------------------------------------------------------------------------------


def content(folder: Path) -> dict[str, tuple[Any, ...]]:
    """What a run has found, without what depends on time; checks that nothing was done twice."""
    found: dict[str, tuple[Any, ...]] = {}
    done: set[str] = set()
    with Store(folder / "run") as store:
        for attempt in store.attempts():
            assert attempt.key not in done, "run again although it was done"
            if attempt.status in DONE:
                done.add(attempt.key)
            else:
                assert (attempt.status, attempt.record["exit_code"]) == ("error", -signal.SIGKILL)
        for key, attempt in store.latest().items():
            files = {name: plain(store, name, digest) for name, digest in attempt.outputs.items()}
            found[key] = (*(attempt.record.get(name) for name in COUNTS), files)
        assert len(list(store.rows())) == len(found) == 2 + 2 * 4
    return found


def plain(store: Store, name: str, digest: str) -> object:
    """A file; of a model all but the times that its training took."""
    if name != "model.hstar":
        return store.get(digest)
    store.get(digest)  # not damaged
    header, tensors = container.read(store.path(digest), "model", 2)
    summary = header["summary"]
    assert summary.pop("time_s") > 0
    summary["curve"] = [losses for _, *losses in summary["curve"]]
    return header, {name: tensor.tobytes() for name, tensor in tensors.items()}


@pytest.mark.slow
def test_kills_at_any_moment(tmp_path: Path) -> None:
    kill_often(tmp_path, 8, 2022)  # tests/nightly.py has more


def kill_often(place: Path, kills: int, seed: int) -> list[float]:
    """Kills a running suite and resumes it: half of the kills hit the driver, half of them a job.

    Ends with the rows of a run that nobody disturbs, each once. Returns the share of the jobs that were done
    at each kill.
    """
    whole = suite(place / "whole", WITH_TRAINING)
    clock = time.monotonic()
    code, errors = finish(bench(whole))
    lifetime = time.monotonic() - clock
    assert code == 0, errors
    expected = content(whole)
    assert {row[0] for row in expected.values()} == {"solved", "trained"}

    rng = random.Random(seed)
    # More of the kills early than late, so that the run gets on, but not to its end; if it does, it goes on
    # with a new one.
    victims = ["driver", "job"] * (kills // 2)
    rng.shuffle(victims)
    number, orphans, progress = 0, 0, list[float]()
    folder = suite(place / f"killed{number}", WITH_TRAINING)
    driver = bench(folder)
    for victim in victims:
        moment = time.monotonic() + rng.random() ** 2 * lifetime / 5
        while True:
            jobs = processes_of(folder)
            if time.monotonic() >= moment and driver.poll() is None and (jobs or victim == "driver"):
                break
            if driver.poll() is not None:
                assert driver.returncode in (0, 1), driver.communicate()  # a job may be killed twice
                driver.communicate()
                if is_complete(folder):
                    assert content(folder) == expected
                    number += 1
                    folder = suite(place / f"killed{number}", WITH_TRAINING)
                driver = bench(folder, "--retry")
            time.sleep(0.01)
        progress.append(min(1.0, attempts(folder) / len(expected)))
        if victim == "job":
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(rng.choice(jobs), signal.SIGKILL)
        else:
            orphans += len(jobs)
            driver.kill()
            driver.communicate(timeout=60)
            wait_until(lambda folder=folder: not processes_of(folder), 60)
            driver = bench(folder, "--retry")
    finish(driver)
    assert orphans, "no driver was killed while jobs were running"
    # What was killed under the last driver.
    code, errors = finish(bench(folder, "--retry"))
    assert code == 0, errors
    assert content(folder) == expected
    assert not list((folder / "run" / "scratch").iterdir())
    return progress


def is_complete(folder: Path) -> bool:
    with Store(folder / "run") as store:
        found = [attempt.status in DONE for attempt in store.latest().values()]
    return all(found) and len(found) == 2 + 2 * 4


PUZZLE = """\
[limits]
time = "60s"

[[tasks]]
space = "tiles:2x3"
number = 1

[[train]]
name = "likely"
recipe = "likely-admissible"
seeds = [3]

[train.options]
iterations = 20
tasks = 2
max_steps = 20
nodes = 1000
buffer = 1000
hidden = 4
samples = 0
known_steps = 20
planner_steps = 20

[[plan]]
model = "likely"
"""


@pytest.mark.slow
def test_a_training_goes_on_after_a_kill(tmp_path: Path) -> None:
    """To the same model; what its jobs are called does not tell of it."""
    outcomes = []
    for name in ("whole", "killed"):
        folder = suite(tmp_path / name, PUZZLE)
        checkpoints = folder / "run" / "checkpoints"
        if name == "killed":
            driver = bench(folder)
            wait_until(lambda: list(checkpoints.glob("*/training")))  # noqa: B023
            driver.kill()
            driver.communicate(timeout=60)
            wait_until(lambda: not processes_of(folder), 60)  # noqa: B023
            assert list(checkpoints.glob("*/training")) and attempts(folder) == 0
        code, errors = finish(bench(folder))
        assert code in (0, 12), errors
        assert not list(checkpoints.iterdir())
        with Store(folder / "run") as store:
            (trained,) = (one for one in store.attempts() if one.kind == "train")
            assert trained.record["iterations"] == 20
            assert trained.record.get("resumed", False) == (name == "killed")
            header, tensors = container.read(store.path(trained.outputs["model.hstar"]), "model", 2)
            weights = {key: tensor.tobytes() for key, tensor in tensors.items()}
            outcomes.append((trained.key, weights, header["recipe_config"]))
    assert outcomes[0] == outcomes[1]


# --- two at a time --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_second_process_on_a_run_is_refused(tmp_path: Path) -> None:
    folder = suite(tmp_path / "x", SEARCHES)
    with Store(folder / "run"):
        code, errors = finish(bench(folder))
    assert (code, errors.count("\n")) == (33, 1)
    assert errors.endswith("run: another hstar is working on this run\n")
    # And what the first one has is not touched: afterwards the run goes on.
    assert finish(bench(folder))[0] == 0


# --- disks ----------------------------------------------------------------------------------------------


def refused(process: subprocess.Popen[str], message: str) -> None:
    """It ends with a one-line error, and leaves nothing running."""
    code, errors = finish(process)
    assert (code, errors.count("\n")) == (33, 1), errors
    assert errors.startswith("hstar: error: /") and "/run" in errors
    assert message in errors


def goes_on(folder: Path, before: int) -> None:
    """The store can be opened, has what it had, and the run goes on to its end."""
    with Store(folder / "run") as store:
        kept = len(list(store.attempts()))
    assert kept >= before
    code, errors = finish(bench(folder))
    assert code == 0, errors
    with Store(folder / "run") as store:
        assert [attempt.status for attempt in store.attempts()] == ["solved"] * 4
    assert not processes_of(folder)


@pytest.mark.slow
def test_a_full_disk(tmp_path: Path) -> None:
    """The results cannot grow; what jobs write themselves is smaller."""
    folder = suite(tmp_path / "x", SEARCHES)
    Store(folder / "run").close()
    size = (folder / "run" / "results.sqlite").stat().st_size

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    refused(bench(folder, preexec_fn=limit), "cannot write results: ")
    goes_on(folder, before=0)


def attempts(folder: Path) -> int:
    """How many there are, beside the process that adds them."""
    try:
        with contextlib.closing(
            sqlite3.connect(f"file:{folder}/run/results.sqlite?mode=ro", uri=True)
        ) as database:
            (number,) = database.execute("SELECT count(*) FROM attempt").fetchone()
            return int(number)
    except sqlite3.Error:  # it is being made
        return 0


@contextlib.contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """A folder in which nothing can be written; skips the test where that cannot be had."""
    if os.geteuid() == 0:  # who may write anywhere, but to what is mounted so
        mounts = [["--bind", str(folder), str(folder)], ["-o", "remount,ro,bind", str(folder)]]
        if any(subprocess.run(["mount", *words], capture_output=True).returncode for words in mounts):
            subprocess.run(["umount", str(folder)], capture_output=True)
            pytest.skip("cannot mount a folder read-only here")
        try:
            yield
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
    else:
        inside = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
        for path in inside:
            path.chmod(0o500)
        try:
            yield
        finally:
            for path in inside:
                path.chmod(0o700)


@pytest.mark.slow
def test_a_folder_that_becomes_unwritable(tmp_path: Path) -> None:
    folder = suite(tmp_path / "x", SEARCHES)
    driver = bench(folder)
    # As soon as a result is there: what is running then has nowhere to go.
    wait_until(lambda: driver.poll() is not None or attempts(folder))
    driver.send_signal(signal.SIGSTOP)
    assert driver.poll() is None
    with unwritable(folder / "run"):
        driver.send_signal(signal.SIGCONT)
        refused(driver, "cannot write ")
        refused(bench(folder), "")
    goes_on(folder, before=1)
