"""The store keeps whole attempts, refuses two owners, and says what is wrong with it."""

from __future__ import annotations

import math
import os
import sqlite3
from pathlib import Path

import pytest

from hstar.errors import InputError
from hstar.experiments.job import Job, Outcome
from hstar.experiments.store import Store

JOB = Job("search", ("{python}", "-c", ""), labels={"instance": "x/1"})


def outcome(status: str = "solved", **outputs: bytes) -> Outcome:
    return Outcome({"status": status, "expansions": 3}, outputs, "said nothing", {"host": "here"}, 10.0, 0.5)


def test_what_was_recorded_is_there_after_opening_again(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add([JOB])
        store.record(JOB, outcome("time_limit"))
        last = store.record(JOB, outcome("solved", plan=b"(a)\n"))
    with Store(tmp_path) as store:
        assert [attempt.status for attempt in store.attempts()] == ["time_limit", "solved"]
        assert store.latest() == {JOB.key: last}
        assert store.get(last.outputs["plan"]) == b"(a)\n"
        assert store.get(last.log) == b"said nothing"
        assert [row["instance"] for row in store.rows()] == ["x/1"]


def test_labels_can_change_without_running_again(tmp_path: Path) -> None:
    renamed = Job("search", JOB.command, labels={"instance": "x/one"})
    assert renamed.key == JOB.key
    with Store(tmp_path) as store:
        store.add([JOB])
        store.record(JOB, outcome())
        store.add([renamed])
        assert [row["instance"] for row in store.rows()] == ["x/one"]


def test_tables_are_of_the_last_form_of_a_job(tmp_path: Path) -> None:
    """A suite changes, and later it is as before; a job of another name has nothing to do with it."""
    other = Job("search", ("{python}", "-c", "", "other"), labels={"instance": "x/2"})
    changed = Job("search", ("{python}", "-c", "", "longer"), labels=JOB.labels)
    twin = Job("search", ("{python}", "-c", "", "twin"), labels=JOB.labels)
    with Store(tmp_path) as store:
        store.add([JOB, other])
        for job in (JOB, other):
            store.record(job, outcome())
        assert store.add([changed]) == 1
        assert store.add([changed]) == 0
        assert [row["key"] for row in store.rows()] == [other.key]
        assert store.unfinished() == 1
        store.record(changed, outcome())
        assert {row["key"] for row in store.rows()} == {other.key, changed.key}
        assert len(store.latest()) == 3
        store.add([JOB])
        assert {row["key"] for row in store.rows()} == {other.key, JOB.key}
        assert store.unfinished() == 0
        store.add([changed, twin])  # two of one name that are wanted together
        store.record(twin, outcome())
        assert {row["key"] for row in store.rows()} == {other.key, changed.key, twin.key}


def test_rows_are_those_of_the_last_attempts_in_the_order_of_tables(tmp_path: Path) -> None:
    places = [("b", "x/2", 0), ("b", "x/1", 1), ("a", "x/9", 0), ("b", "x/1", 0)]
    labels = [{"contestant": name, "instance": place, "seed": seed} for name, place, seed in places]
    jobs = [Job("search", ("true", str(i)), labels=one) for i, one in enumerate(labels)]
    plain = Job("make", ("true",))
    odd = Outcome({"status": "solved", "seed": 7, "loss": math.nan}, {}, "", {"host": 'a "host"'}, 1.0, 1e-7)
    with Store(tmp_path) as store:
        store.add([*jobs, plain])
        attempts = {job.key: store.record(job, outcome()) for job in jobs}
        attempts[jobs[0].key] = store.record(jobs[0], odd)  # again: it comes last now
        attempts[plain.key] = store.record(plain, outcome())
        expected = [attempts[jobs[i].key].row(jobs[i].labels) for i in (3, 1, 0, 2)]
        found = store.rows()
        assert repr(found) == repr([*expected, attempts[plain.key].row({})])  # a NaN does not equal itself
        assert [row["key"] for row in found] == [*(jobs[i].key for i in (3, 1, 0, 2)), plain.key]
        assert store.outputs("nobody") == {}


def test_odd_labels(tmp_path: Path) -> None:
    odd = {"contestant": "caf\udce9", "instance": "x/1", "seed": None}  # a file's name that is no UTF-8
    jobs = [Job("make", ("true", str(i)), labels={**odd, "start": i}) for i in range(2)]
    with Store(tmp_path) as store:
        store.add(jobs)
        for job in jobs:
            store.record(job, outcome())
        assert [(row["contestant"], row["seed"], row["start"]) for row in store.rows()] == [
            ("caf\udce9", None, 0),
            ("caf\udce9", None, 1),
        ]


def test_only_one_owner(tmp_path: Path) -> None:
    with Store(tmp_path), pytest.raises(InputError, match="another hstar is working on this run"):
        Store(tmp_path)
    Store(tmp_path).close()


def test_an_attempt_is_whole_or_absent(tmp_path: Path) -> None:
    """A kill between artefacts and the row, and one in the middle of the transaction."""
    with Store(tmp_path) as store:
        store.add([JOB])
        store.put(b"of an attempt that was never recorded")
        store._database.execute("BEGIN")
        store._database.execute(
            "INSERT INTO attempt VALUES (1, ?, 'solved', '{}', '{}', '', '{}', 0, 0)", (JOB.key,)
        )
    with Store(tmp_path) as store:
        assert not list(store.attempts())


def test_damaged_files(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        digest = store.put(b"content")
        store.path(digest).write_bytes(b"contents")
        with pytest.raises(InputError, match="an artefact is damaged"):
            store.get(digest)
        store.path(digest).unlink()
        with pytest.raises(InputError, match="cannot read: No such file"):
            store.get(digest)
    (tmp_path / "results.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(InputError, match=r"results\.sqlite: not a store of hstar, or damaged"):
        Store(tmp_path)


@pytest.mark.parametrize(("version", "age"), [(99, "a newer"), (1, "an older")])
def test_a_store_of_another_version(tmp_path: Path, version: int, age: str) -> None:
    Store(tmp_path).close()
    with sqlite3.connect(tmp_path / "results.sqlite") as database:
        database.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(InputError, match=f"a store of {age} hstar"):
        Store(tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir(mode=0o500)
    user = os.geteuid()
    if user == 0:  # who may write anywhere
        os.seteuid(65534)
    try:
        with pytest.raises(InputError, match="cannot use the run: Permission denied"):
            Store(tmp_path / "run")
    finally:
        os.seteuid(user)


def test_a_path_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(InputError, match="cannot use the run"):
        Store(tmp_path / "run")
