"""The store of a run: which jobs there are, and every attempt at them, in one SQLite file of one process.

A run is a folder: `results.sqlite`, and `artefacts/`, files named by the SHA-256 of their content (tasks,
models, plans, logs). An attempt is written in one transaction after its artefacts, so that a kill at any
point leaves whole attempts and perhaps a file that nobody names.

Invariant: only the process that holds the lock writes; others may read meanwhile. The file needs no shared
memory, so it may lie on a network file system.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from hstar.errors import InputError
from hstar.experiments.job import Job, Outcome, Record
from hstar.files import read_bytes, replace_file

FORMAT_VERSION = 2
_SCHEMA = """
CREATE TABLE job (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    job TEXT NOT NULL       -- JSON: command, inputs, outputs, limits
) WITHOUT ROWID;
CREATE TABLE label (        -- what a job is called in tables; equal starts of two instances are one job
    key TEXT NOT NULL REFERENCES job,
    labels TEXT NOT NULL,   -- JSON; a job that has none any more is in no table
    PRIMARY KEY (key, labels)
) WITHOUT ROWID;
CREATE TABLE attempt (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL REFERENCES job,
    status TEXT NOT NULL,
    record TEXT NOT NULL,   -- JSON: counts, times, error
    outputs TEXT NOT NULL,  -- JSON: name of the file to digest
    log TEXT NOT NULL,      -- digest
    machine TEXT NOT NULL,  -- JSON: host, versions, commit
    started REAL NOT NULL,
    seconds REAL NOT NULL
);
CREATE INDEX attempt_key ON attempt (key);
"""
_REPEATED = "(SELECT key, max(id) AS last FROM attempt GROUP BY key HAVING count(*) > 1)"
_EARLIER = f"(SELECT id FROM attempt JOIN {_REPEATED} USING (key) WHERE id < last)"
_LATEST = f"(SELECT * FROM attempt WHERE id NOT IN {_EARLIER})"  # few are tried again
_FOREIGN = (  # what could run when tables are read
    "SELECT type, name FROM sqlite_schema WHERE type NOT IN ('table', 'index') "
    "OR (type = 'table' AND name NOT IN ('job', 'label', 'attempt')) OR sql LIKE '%VIRTUAL%'"
)
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Attempt(NamedTuple):  # made by the hundred thousand
    """One run of a job, as it is stored."""

    key: str
    kind: str
    record: Record
    outputs: dict[str, str]
    log: str
    machine: dict[str, str]
    started: float
    seconds: float

    @property
    def status(self) -> str:
        return str(self.record["status"])

    def row(self, labels: Mapping[str, Any]) -> Record:
        """Labels and record together; labels have the last word."""
        about = {"seconds": self.seconds, "host": self.machine["host"], "log": self.log}
        about |= {"kind": self.kind, "key": self.key}
        return {**self.record, **about, **labels}


class Origin(NamedTuple):  # made by the hundred thousand, and many are equal
    """What it takes to run a job again."""

    command: bytes  # JSON: the words
    inputs: bytes  # JSON: name to digest, or to {"job": key, "file": name}


_DAMAGE = (sqlite3.Error, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError)


class Store:
    """An open run. Use as a context: it holds the lock from opening to closing, unless only to read."""

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = folder
        self._artefacts = folder / "artefacts"
        self._lock: IO[str] | None = None
        if not read_only:
            self._take_lock()
        elif not is_run(folder):
            raise InputError("not a folder of results (there is no results.sqlite)", file=folder)
        self._database = _open(folder / "results.sqlite")

    def _take_lock(self) -> None:
        try:
            self._artefacts.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / "lock").open("a+")
        except OSError as error:
            raise InputError(f"cannot use the run: {error.strerror}", file=self.folder) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise InputError("another hstar is working on this run", file=self.folder) from None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the database and lets another process own the run."""
        self._database.close()
        if self._lock is not None:
            self._lock.close()

    # Artefacts.

    def put(self, content: bytes) -> str:
        """Keeps a file; gives its digest."""
        digest = hashlib.sha256(content).hexdigest()
        path = self.path(digest)
        if not path.is_file():
            with self._writing():
                path.parent.mkdir(exist_ok=True)
                replace_file(path, content)
        return digest

    def get(self, digest: str) -> bytes:
        """The content of a file; an `InputError` if it is gone or not what it was."""
        path = self.path(digest)
        content = read_bytes(path, streams=False)
        if hashlib.sha256(content).hexdigest() != digest:
            raise InputError("an artefact is damaged; delete it and run its job again", file=path)
        return content

    def path(self, digest: str) -> Path:
        """Where a file of this digest is: below this run, whatever a foreign run says."""
        if not _DIGEST.fullmatch(str(digest)):
            raise InputError(f"damaged: {str(digest)[:80]!r} is no digest", file=self.folder)
        return self._artefacts / digest[:2] / digest[2:]

    # Jobs and attempts.

    def add(self, jobs: Iterable[Job]) -> int:
        """Makes jobs known; known ones get their labels anew.

        Other jobs lose labels that these have now, for tables would count both as one: how many do.
        """
        given = list(jobs)
        known = [(job.key, job.kind, _describe(job)) for job in given]
        labels = [(job.key, json.dumps(dict(job.labels))) for job in given]
        keys, texts = {key for key, _ in labels}, {text for _, text in labels}
        with self._writing(), self._database:
            before = self._database.execute("SELECT key, labels FROM label").fetchall()
            lost = [(key, text) for key, text in before if key in keys or text in texts]
            self._database.executemany("INSERT OR IGNORE INTO job VALUES (?, ?, ?)", known)
            self._database.executemany("DELETE FROM label WHERE key = ? AND labels = ?", lost)
            self._database.executemany("INSERT OR IGNORE INTO label VALUES (?, ?)", labels)
        return sum(key not in keys for key, _ in lost)

    def record(self, job: Job, outcome: Outcome) -> Attempt:
        outputs = {name: self.put(content) for name, content in outcome.outputs.items()}
        log, machine = self.put(outcome.log.encode()), dict(outcome.machine)
        times = (outcome.started, outcome.seconds)
        texts = (json.dumps(outcome.record), json.dumps(outputs), log, json.dumps(machine))
        with self._writing(), self._database:
            self._database.execute(
                "INSERT INTO attempt (key, status, record, outputs, log, machine, started, seconds) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (job.key, outcome.record["status"], *texts, *times),
            )
        return Attempt(job.key, job.kind, outcome.record, outputs, log, machine, *times)

    def attempts(self) -> Iterator[Attempt]:
        return self._select("attempt")

    def latest(self) -> dict[str, Attempt]:
        """The last attempt at each job."""
        with self._reading():
            return {attempt.key: attempt for attempt in self._select(_LATEST)}

    def _select(self, attempts: str) -> Iterator[Attempt]:
        """Hundreds of thousands are read at a time."""
        machines: dict[str, dict[str, str]] = {}  # there are few different ones
        kinds = dict(self._database.execute("SELECT key, kind FROM job"))
        columns = "key, record, outputs, log, machine, started, seconds"
        rows = self._database.execute(f"SELECT {columns} FROM {attempts} ORDER BY id")
        for key, record, outputs, log, machine, started, seconds in rows:
            if machine not in machines:
                machines[machine] = _decode(machine)
            where = machines[machine]
            yield Attempt(key, kinds[key], _decode(record), _decode(outputs), log, where, started, seconds)

    def origins(self) -> dict[str, Origin]:
        with self._reading():
            jobs = self._database.execute("SELECT key, job FROM job")
            texts = ((key, _job_decoder.decode(job)) for key, job in jobs)
            return {key: Origin(bytes(text.command), bytes(text.inputs)) for key, text in texts}

    def machines(self) -> list[dict[str, str]]:
        """Those that what is in tables was made on, with their versions, in the order of the attempts."""
        with self._reading():
            shown = f"{_LATEST} WHERE key IN (SELECT key FROM label)"
            query = f"SELECT machine FROM {shown} GROUP BY machine ORDER BY min(id)"
            return [_decode(machine) for (machine,) in self._database.execute(query)]

    def outputs(self, key: str) -> dict[str, str]:
        """The files that the last attempt at a job left: name to digest."""
        with self._reading():
            query = "SELECT outputs FROM attempt WHERE key = ? ORDER BY id DESC LIMIT 1"
            found = self._database.execute(query, (key,)).fetchone()
            return {} if found is None else dict(_decode(found[0]))

    def unfinished(self) -> int:
        """How many jobs of the tables have no attempt."""
        with self._reading():
            wanted = "SELECT DISTINCT key FROM label WHERE key NOT IN (SELECT key FROM attempt)"
            query = f"SELECT count(*) FROM ({wanted})"
            return int(self._database.execute(query).fetchone()[0])

    def rows(self) -> list[Record]:
        """The last attempt at each job under each of its labels, as `Attempt.row` has it.

        Contestants come in the order of these attempts, then instances, then seeds.
        """
        # Rows come by the hundred thousand: two scans are faster than a join of all, which reads pages in the
        # order of keys, and records are put in order before they are decoded, so that rows that are read one
        # after the other are neighbours in memory.
        with self._reading():
            names: dict[str, list[dict[str, Any]]] = {}
            for key, kind, labels in self._database.execute(
                "SELECT key, kind, labels FROM job JOIN label USING (key)"
            ):
                names.setdefault(key, []).append({"kind": kind, "key": key, **_decode(labels)})
            hosts: dict[str, str] = {}
            contestants: dict[str, int] = {}
            found: list[tuple[tuple[int, str, int, int], str, Record]] = []
            columns = "id, key, record, log, machine, seconds"
            attempts = self._database.execute(f"SELECT {columns} FROM {_LATEST} ORDER BY id")
            for number, key, record, log, machine, seconds in attempts:
                if machine not in hosts:
                    hosts[machine] = _decode(machine)["host"]
                for named in names.get(key, ()):
                    contestant = contestants.setdefault(str(named.get("contestant", "")), len(contestants))
                    instance, seed = str(named.get("instance", "")), named.get("seed")
                    place = (contestant, instance, seed if isinstance(seed, int) else 0, number)
                    about = {"seconds": seconds, "host": hosts[machine], "log": log, **named}
                    found.append((place, record, about))
            found.sort(key=itemgetter(0))
            rows = [{**_decode(record), **about} for _, record, about in found]
            if any(not isinstance(row.get("status"), str) for row in rows):
                raise ValueError("a record without a status")
            return rows

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """What is not as hstar writes it, wherever in a foreign file it is, becomes an `InputError`."""
        try:
            yield
        except _DAMAGE as error:
            message = f"not a store of hstar, or damaged: {type(error).__name__}, {error}"
            raise InputError(" ".join(message.split()), file=self.folder) from None

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"cannot write results: {error}", file=self.folder) from None


def _open(path: Path) -> sqlite3.Connection:
    try:
        database = sqlite3.connect(path, check_same_thread=False)
        # A rollback journal needs no shared memory; the lock is ours, so nobody else's is waited for.
        database.execute("PRAGMA journal_mode = TRUNCATE")
        database.execute("PRAGMA foreign_keys = ON")
        database.execute("PRAGMA trusted_schema = OFF")
        (damage,) = database.execute("PRAGMA quick_check(1)").fetchone()
        if damage != "ok":
            raise sqlite3.DatabaseError(damage)
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version == 0:
            with database:
                database.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {FORMAT_VERSION}; COMMIT;")
        elif version != FORMAT_VERSION:
            age = "a newer" if version > FORMAT_VERSION else "an older"
            raise InputError(f"a store of {age} hstar (format {version})", file=path)
        if foreign := database.execute(_FOREIGN).fetchone():
            raise InputError(f"not a store of hstar: it has a {foreign[0]} {foreign[1]!r:.80}", file=path)
        return database
    except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError, OverflowError) as error:
        message = " ".join(str(error).split())
        raise InputError(f"not a store of hstar, or damaged: {message}", file=path) from None


_decoder = msgspec.json.Decoder()


def _decode(text: str) -> Any:
    """JSON, several times as fast as the standard library where it is strictly that: no NaN, no Infinity."""
    try:
        return _decoder.decode(text)
    except msgspec.DecodeError:
        return json.loads(text)


class _JobText(msgspec.Struct):
    command: msgspec.Raw
    inputs: msgspec.Raw


_job_decoder = msgspec.json.Decoder(_JobText)


def _describe(job: Job) -> str:
    inputs = {
        name: source if isinstance(source, str) else {"job": source.key, "file": source.name}
        for name, source in job.inputs.items()
    }
    names = ("command", "outputs", "time_limit", "cpu", "memory_limit", "resident_limit")
    return json.dumps({"inputs": inputs, **{name: getattr(job, name) for name in names}})


def is_run(folder: Path) -> bool:
    """Whether there is a store in this folder."""
    return (folder / "results.sqlite").is_file()
