"""Jobs run in the order of their needs, each once, and failures stay where they are."""

from __future__ import annotations

import contextlib
import errno
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hstar.errors import InputError
from hstar.experiments.driver import LocalExecutor, Standing, run
from hstar.experiments.job import HSTAR, LOG_CHARACTERS, Job, Made, execute, starved
from hstar.experiments.store import Store

COPY = "import sys; data = open(sys.argv[1]).read(); open(sys.argv[2], 'w').write(data + '!')"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "run") as store:
        yield store


def copy_job(source: str | Made, **changes: object) -> Job:
    """Reads a file and leaves it with one more exclamation mark."""
    settings = {"inputs": {"in": source}, "outputs": ("out",), **changes}
    return Job("make", ("{python}", "-c", COPY, "{in}", "{out}"), **settings)  # type: ignore[arg-type]


def chain(store: Store, length: int) -> list[Job]:
    jobs = [copy_job(store.put(b"hello"))]
    while len(jobs) < length:
        jobs.append(copy_job(Made(jobs[-1].key, "out")))
    return jobs


def test_files_go_from_job_to_job(store: Store) -> None:
    jobs = chain(store, 3)
    rows = run(store, reversed(jobs), LocalExecutor(2))
    assert [row["status"] for row in rows] == ["made"] * 3
    assert store.get(store.latest()[jobs[-1].key].outputs["out"]) == b"hello!!!"


def test_a_closed_executor_leaves_no_process(store: Store) -> None:
    executor = LocalExecutor(1)
    with contextlib.closing(executor):
        assert run(store, [Job("make", (*HSTAR, "--version"))], executor)[0]["status"] == "made"
        assert executor._servers._servers
    assert not executor._servers._servers


def test_what_is_done_is_not_run_again(store: Store) -> None:
    jobs = chain(store, 3)
    run(store, jobs[:2], LocalExecutor(1))
    seen: list[Standing] = []
    run(store, jobs, LocalExecutor(1), progress=seen.append)
    # At first, when the third has been started, and when it has ended.
    assert [(standing.finished, standing.total) for standing in seen] == [(2, 3), (2, 3), (3, 3)]
    assert [[one.job for one in standing.active] for standing in seen] == [[], jobs[2:], []]
    assert seen[-1].done == store.latest()
    assert len(list(store.attempts())) == 3


def test_what_needs_a_failed_job_is_not_run(store: Store) -> None:
    broken = Job("make", ("{python}", "-c", "raise SystemExit('broken')"), outputs=("out",))
    second = copy_job(Made(broken.key, "out"))
    third = copy_job(Made(second.key, "out"))
    other = copy_job(store.put(b"other"))
    seen: list[Standing] = []
    rows = run(store, [third, broken, second, other], LocalExecutor(2), progress=seen.append)
    assert [row["status"] for row in rows] == ["error", "made"]
    assert rows[0]["error"] == "broken"
    assert store.latest().keys() == {broken.key, other.key}
    assert (seen[-1].failed, seen[-1].blocked, seen[-1].total) == (1, 2, 4)
    # Again: nothing to do; with `retry_failed` the failed one alone.
    run(store, [third, broken, second, other], LocalExecutor(2))
    assert len(list(store.attempts())) == 2
    run(store, [third, broken, second, other], LocalExecutor(2), retry_failed=True)
    assert len(list(store.attempts())) == 3


@pytest.mark.slow
def test_a_limit_on_a_busy_machine_is_no_verdict(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hstar.experiments.job.GRACE_S", 0.0)
    asleep = Job("make", ("{python}", "-c", "import time; time.sleep(60)"), time_limit=1.0)
    awake = Job("make", ("{python}", "-c", "while True: pass"), time_limit=1.0)
    statuses = [row["status"] for row in run(store, [asleep, awake], LocalExecutor(1))]
    assert statuses == ["time_limit", "time_limit"]
    run(store, [asleep, awake], LocalExecutor(1), retry_failed=True)
    attempts = [attempt.key for attempt in store.attempts()]
    assert attempts.count(asleep.key) == 2
    assert len(attempts) in (3, 4)  # on a busy machine the other one is run again, too


@pytest.mark.parametrize(
    ("record", "answer"),
    [
        ({"status": "time_limit", "search_time": 60.0, "cpu_time": 31.0}, True),
        ({"status": "time_limit", "search_time": 60.0, "cpu_time": 59.0}, False),
        ({"status": "solved", "search_time": 60.0, "cpu_time": 31.0}, False),
        ({"status": "time_limit", "cpu_seconds": 20.0}, True),
        ({"status": "time_limit"}, False),
    ],
)
def test_starved(record: dict[str, Any], answer: bool) -> None:
    assert starved(record, 60.0) == answer


def test_equal_jobs_under_different_labels_run_once(store: Store) -> None:
    content = store.put(b"same")
    jobs = [copy_job(content, labels={"start": start}) for start in ("p1", "p2")]
    assert [row["start"] for row in run(store, jobs, LocalExecutor(2))] == ["p1", "p2"]
    assert len(list(store.attempts())) == 1
    assert [row["start"] for row in store.rows()] == ["p1", "p2"]


def test_a_missing_output_is_an_error() -> None:
    found = execute(Job("make", ("{python}", "-c", ""), outputs=("model",)), {})
    assert found.record["status"] == "error"
    assert found.record["error"] == "left no model"


@pytest.mark.parametrize(("code", "status"), [(23, "time_limit"), (22, "memory_limit"), (33, "error")])
def test_a_limit_before_the_search_is_no_error(code: int, status: str) -> None:
    job = Job("search", ("{python}", "-c", f"raise SystemExit({code})"), outputs=("plan",))
    assert execute(job, {}).record["status"] == status


def test_a_crash_and_a_timeout_are_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hstar.experiments.job.GRACE_S", 0.5)
    crash = execute(Job("search", ("{python}", "-c", "import os; os.abort()")), {})
    assert (crash.record["status"], crash.record["exit_code"]) == ("error", -6)
    hang = execute(Job("search", ("{python}", "-c", "import time; time.sleep(600)"), time_limit=0.5), {})
    assert hang.record["status"] == "time_limit"


# Kills itself at each of its first runs, as many as it is told.
KILLED = """
import os, pathlib, sys
count = pathlib.Path(sys.argv[1])
count.write_text(count.read_text() + "x" if count.exists() else "x")
if len(count.read_text()) <= int(sys.argv[2]):
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize(("kills", "runs", "status"), [(1, 2, "made"), (5, 2, "error")])
def test_what_somebody_kills_is_tried_once_more(tmp_path: Path, kills: int, runs: int, status: str) -> None:
    count = tmp_path / "count"
    found = execute(Job("make", ("{python}", "-c", KILLED, str(count), str(kills))), {})
    assert (found.record["status"], len(count.read_text())) == (status, runs)
    if status == "error":
        assert found.record["error"] == "killed by signal 9"


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of 1 MiB; skips the test where none can be mounted."""
    folder.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder], capture_output=True
    ).returncode:
        pytest.skip("cannot mount a disk here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_full_disk_is_no_result(store: Store, tmp_path: Path) -> None:
    job = Job(
        "make", ("{python}", "-c", "open(__import__('sys').argv[1], 'wb').write(bytes(4 << 20))", "{out}")
    )
    job = replace(job, outputs=("out",))
    with small_disk(tmp_path / "small") as disk:
        message = "small/scratch: a job could not write its files: .*No space left on device"
        with pytest.raises(InputError, match=message):
            run(store, [job], LocalExecutor(1, scratch=disk / "scratch"))
    assert not list(store.attempts()), "it runs again at the next call"
    (row,) = run(store, [job], LocalExecutor(1))
    assert row["status"] == "made"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
def test_what_a_job_says_of_its_disk_ends_the_run(store: Store, number: int) -> None:
    words = ("{python}", "-c", f"raise SystemExit('hstar: error: x: ' + __import__('os').strerror({number}))")
    with pytest.raises(InputError, match="a job could not write its files"):
        run(store, [Job("search", words)], LocalExecutor(1))
    assert not list(store.attempts())


def test_long_logs_are_shortened() -> None:
    found = execute(Job("make", ("{python}", "-c", "print('x' * 10**6, 'end')")), {})
    assert len(found.log) < LOG_CHARACTERS + 100
    assert "characters left out" in found.log
    assert found.log.rstrip().endswith("end")


def test_keys_depend_on_what_decides_the_outcome() -> None:
    job = copy_job("digest")
    assert copy_job("digest", labels={"domain": "x"}).key == job.key
    for other in (copy_job("other"), copy_job("digest", time_limit=7.0), copy_job(Made("digest", "in"))):
        assert other.key != job.key


# --- checkpoints ----------------------------------------------------------------------------------------

# Appends a letter to its checkpoint, then ends as it is told; the checkpoint is what it leaves.
STEP = """
import os, pathlib, signal, sys
how, out, *words = sys.argv[1:]
file = pathlib.Path(words[1]) if words else pathlib.Path(out)
text = file.read_text() if file.exists() else ""
if "damaged" in text:
    sys.exit(33)
file.write_text(text + "x")
if len(text) < 2 and how == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if how == "fails":
    sys.exit(1)
pathlib.Path(out).write_text(text + "x")
"""


def step_job(how: str, **changes: Any) -> Job:
    return Job("make", ("{python}", "-c", STEP, how, "{out}"), outputs=("out",), resumable=True, **changes)


def test_what_is_killed_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    job = step_job("killed")  # twice, and the second time when it is tried once more
    outcome = execute(job, {}, checkpoints=tmp_path)
    assert outcome.record["exit_code"] == -signal.SIGKILL
    assert outcome.record["error"] == "killed by signal 9"
    assert [path.name for path in tmp_path.iterdir()] == [job.key]
    outcome = execute(job, {}, checkpoints=tmp_path)
    assert (outcome.record["status"], outcome.record["resumed"]) == ("made", True)
    assert outcome.outputs == {"out": b"xxx"}
    assert not list(tmp_path.iterdir())


def test_checkpoints_do_not_outlive_failures_and_limits(tmp_path: Path) -> None:
    assert execute(step_job("fails"), {}, checkpoints=tmp_path).record["status"] == "error"
    slow = Job("make", ("{python}", "-c", "while True: pass"), time_limit=-29.0, resumable=True)
    assert execute(slow, {}, checkpoints=tmp_path).record["status"] == "time_limit"
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_that_is_refused_is_passed_over(tmp_path: Path) -> None:
    job = step_job("ends")
    (tmp_path / job.key).mkdir()
    (tmp_path / job.key / "training").write_text("damaged")
    outcome = execute(job, {}, checkpoints=tmp_path)
    assert (outcome.record["status"], outcome.outputs) == ("made", {"out": b"x"})
    assert "resumed" not in outcome.record and not list(tmp_path.iterdir())


def test_who_has_no_checkpoint(tmp_path: Path) -> None:
    """Without a place for it, as on a worker; and a command that has one of its own, or takes none."""
    job = step_job("ends")
    own = replace(job, command=(*job.command, "--checkpoint", str(tmp_path / "own")))
    assert execute(job, {}).outputs == {"out": b"x"}
    assert execute(own, {}, checkpoints=tmp_path / "none").outputs == {"out": b"x"}
    plain = replace(job, resumable=False)
    assert execute(plain, {}, checkpoints=tmp_path / "none").outputs == {"out": b"x"}
    assert [path.name for path in tmp_path.iterdir()] == ["own"]
    assert plain.key == job.key, "a checkpoint does not change what comes out"
