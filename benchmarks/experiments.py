"""What running experiments costs: the overhead of a job, its start, and the time to read a large store.

1. Trivial jobs through the driver and the store, beside the same processes started by a bare loop of as many
threads: what a job costs beyond the start of its process, by the wall clock. 2. Small searches of hstar, each
started alone and forked from a server that has imported what it needs: processor time and memory. 3. A store
of many searches: what reading its rows takes, and what `hstar report` takes from start to end in each of its
formats.

The script exits with 1 if a job costs more than 50 ms, or if a report of 100,000 rows takes more than 5 s.
Every repeat is a record of its own (records.py); tables show medians.

python benchmarks/experiments.py [--jobs 1000] [--slots 2] [--rows 100000] [--out FILE]; tables of what it
keeps: --print FILE
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from records import Records, add_file_options, build, finish, note, shown, stored, table, those, values_of

from hstar.experiments.driver import LocalExecutor, run
from hstar.experiments.fork_server import ForkServers
from hstar.experiments.job import HSTAR, Job, Outcome, Record, execute
from hstar.experiments.machine import machine
from hstar.experiments.report import FORMATS
from hstar.experiments.store import Store
from hstar.recipes import train

MOST_PER_JOB_S = 0.05
MOST_REPORT_S = 5.0
FORMS = ("html", *FORMATS)

KEY = ("part", "build", "jobs", "slots", "rows", "search", "repeat")
TABLES = ("jobs", "starts", "rows")


# --- 1. jobs ------------------------------------------------------------------------------------


def trivial_jobs(number: int) -> list[Job]:
    """Different ones, since equal ones are run once."""
    labels = {"domain": "none", "instance": "none/1", "contestant": "true", "step": "search", "seed": 0}
    return [Job("make", ("true", str(i)), labels={**labels, "start": f"p{i}"}) for i in range(number)]


def bare(jobs: Sequence[Job], slots: int) -> float:
    """Seconds that the processes alone take."""
    start = time.monotonic()
    with ThreadPoolExecutor(slots) as pool:
        list(pool.map(lambda job: subprocess.run(job.command, capture_output=True, check=True), jobs))
    return time.monotonic() - start


def driven(jobs: Sequence[Job], slots: int) -> float:
    """Seconds that the driver takes, with everything stored."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        executor = LocalExecutor(slots, scratch=store.folder / "scratch")
        start = time.monotonic()
        rows = run(store, jobs, executor)
        took = time.monotonic() - start
        assert [row["status"] for row in rows] == ["made"] * len(jobs)
        return took


def measure_jobs(number: int, slots: int) -> Record:
    """Both take turns, repeat by repeat, so that other work on the machine hits both."""
    note(f"{number} jobs")
    jobs = trivial_jobs(number)
    machine()  # asked for once a process
    return {"bare_s": bare(jobs, slots), "hstar_s": driven(jobs, slots)}


# --- 2. starts ----------------------------------------------------------------------------------


def small_searches() -> dict[str, tuple[Job, dict[str, bytes]]]:
    """Jobs that are soon over, with their files: without a network, and with one that torch runs."""
    puzzle = Job("make", (*HSTAR, "solve", "tiles:3x3", "{one.csv}", "--json", "--quiet"), {"one.csv": ""})
    maps = ("--rows", "12", "--columns", "12", "--eps", "2", "--summary", "--json", "--quiet")
    grid = Job("make", (*HSTAR, "solve", "--heuristic", "{model.hstar}", *maps), {"model.hstar": ""})
    with tempfile.TemporaryDirectory() as folder:
        model = train("prolonged", scenarios=2, updates=1, sweeps=2, width=2, rows=12, columns=12)
        model.save(Path(folder, "model.hstar"))
        network = Path(folder, "model.hstar").read_bytes()
    return {
        "8-puzzle, Manhattan": (puzzle, {"one.csv": b"id,tiles\n1,1 2 5 3 4 0 6 7 8\n"}),
        "a map, with a network": (grid, {"model.hstar": network}),
    }


def measure_starts(job: Job, contents: Mapping[str, bytes], number: int = 5) -> Record:
    """Medians of so many; of the server those before it knows its modules do not count."""
    servers = ForkServers()
    for _ in range(2):
        execute(job, contents, servers=servers)
    record: Record = {}
    for name, by in (("alone", None), ("forked", servers)):
        outcomes = [execute(job, contents, servers=by).record for _ in range(number)]
        assert all(outcome["status"] == "made" for outcome in outcomes)
        record[f"{name}_s"] = statistics.median(outcome["cpu_seconds"] for outcome in outcomes)
        record[f"{name}_bytes"] = statistics.median(outcome["peak_memory"] for outcome in outcomes)
    return record


# --- 3. rows ------------------------------------------------------------------------------------


def search_record(i: int) -> Record:
    """As `hstar solve --json` prints it."""
    return {
        **{"hstar_version": "0.1.0", "task": "task.sas", "search": "gbfs", "heuristic": ["model.hstar"]},
        **{"combine": "alternate", "precision": None, "seed": 0, "coverage": i % 2},
        "status": "solved" if i % 2 else "time_limit",
        **{"cost": 40 + i % 17, "plan_length": 40 + i % 17, "expansions": 1_000 + 7 * i},
        **{"evaluations": 12_345 + 11 * i, "generated": 23_456 + 13 * i, "reopened": 0, "dead_ends": i % 5},
        **{"initial_h": 31.25 + i % 9, "search_time": 1.0 + i / 1e5, "cpu_time": 0.9 + i / 1e5},
        **{"memory": 150_000_000 + i, "registered_states": 23_456 + i, "state_bytes": 16},
        **{"memory_before_search": 90_000_000, "unit_cost": True, "total_time": 1.5 + i / 1e5},
        "cpu_seconds": 1.7 + i / 1e5,
    }


def searches(number: int) -> Iterator[tuple[Job, Outcome]]:
    """Ten contestants on ten starts of many instances."""
    where = machine()
    for i in range(number):
        contestant, start, instance = i % 10, i // 10 % 10, i // 100
        labels = {"domain": f"domain{instance % 20}", "instance": f"domain{instance % 20}/p{instance}"}
        labels |= {"contestant": f"contestant{contestant}", "step": "search", "start": f"p{start}"}
        command = (*HSTAR, "solve", "{task.sas}", "--search", "gbfs", "--heuristic", f"h{contestant}")
        job = Job(
            "search",
            (*command, "--unit-cost", "--json", "--plan-file", "{plan}"),
            inputs={"task.sas": f"{i // 10:064x}"},
            outputs=("plan",),
            labels={**labels, "seed": 0},
        )
        yield job, Outcome(search_record(i), {"plan": b"(a)\n"}, "said nothing", where, 1.7e9 + i, 1.5)


def fill(store: Store, number: int) -> None:
    """As `Store.record` does, but in one transaction: to write and sync each is not what is measured."""
    pairs = list(searches(number))
    store.add(job for job, _ in pairs)
    plan, log = store.put(b"(a)\n"), store.put(b"said nothing")
    rows = (
        (
            *(job.key, outcome.record["status"], json.dumps(outcome.record), json.dumps({"plan": plan}), log),
            *(json.dumps(dict(outcome.machine)), outcome.started, outcome.seconds),
        )
        for job, outcome in pairs
    )
    columns = "key, status, record, outputs, log, machine, started, seconds"
    with store._database as database:
        database.executemany(f"INSERT INTO attempt ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def report_seconds(folder: Path, form: str) -> float:
    """What `hstar report` takes from start to end, with its bytecode at hand as after any first use."""
    command = [sys.executable, "-m", "hstar", "report", str(folder), "--format", form]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    start = time.monotonic()
    subprocess.run(
        [*command, "-o", str(folder / f"page.{form}")], check=True, capture_output=True, env=environment
    )
    return time.monotonic() - start


def made_store(folder: Path, number: int) -> int:
    """Fills a store; its bytes."""
    note(f"a store of {number} rows")
    with Store(folder) as store:
        fill(store, number)
        return (store.folder / "results.sqlite").stat().st_size


def measure_rows(folder: Path, size: Callable[[], int], number: int) -> Record:
    """Seconds for all rows, and for the report in each format."""
    store_bytes = size()  # makes the store when first asked
    with Store(folder) as store:
        start = time.monotonic()
        rows = store.rows()
        reading = time.monotonic() - start
    expansions = sum(search_record(i)["expansions"] for i in range(number))
    assert len(rows) == number and sum(row["expansions"] for row in rows) == expansions
    del rows  # or the report runs beside them
    report_seconds(folder, "latex")  # for the bytecode
    seconds = {f"{form}_s": report_seconds(folder, form) for form in FORMS}
    return {
        "store_bytes": store_bytes,
        "page_bytes": (folder / "page.html").stat().st_size,
        "reading_s": reading,
        **seconds,
    }


# --- report ---------------------------------------------------------------------------------------


def medians(records: Sequence[Record], names: Sequence[str], measured: Sequence[str]) -> list[list[Any]]:
    """For each value of the names: that value, the medians of what was measured, the number of repeats."""
    found = []
    for sizes in values_of(records, *names):
        mine = those(records, **dict(zip(names, sizes, strict=True)))
        middle = [statistics.median(record[name] for record in mine) for name in measured]
        found.append([*sizes, *middle, len(mine)])
    return found


def job_medians(records: Sequence[Record]) -> list[list[float]]:
    return medians(those(records, part="jobs"), ("jobs", "slots"), ("bare_s", "hstar_s"))


def start_medians(records: Sequence[Record]) -> list[list[Any]]:
    measured = ("alone_s", "forked_s", "alone_bytes", "forked_bytes")
    return medians(those(records, part="starts"), ("search",), measured)


def row_medians(records: Sequence[Record]) -> list[list[float]]:
    measured = ("store_bytes", "page_bytes", "reading_s", *(f"{form}_s" for form in FORMS))
    return medians(those(records, part="rows"), ("rows",), measured)


def report(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    """The sections by name, each with its title."""
    jobs = [
        [
            f"{number:,}",
            f"{slots:.0f}",
            *(f"{1e3 * seconds / number:.1f}" for seconds in (alone, whole, whole - alone)),
            f"{repeats:.0f}",
        ]
        for number, slots, alone, whole, repeats in job_medians(records)
    ]
    rows = [
        [
            f"{number:,}",
            *(f"{size / 2**20:.0f}" for size in (store, page)),
            *(f"{one:.2f}" for one in seconds),
            f"{repeats:.0f}",
        ]
        for number, store, page, *seconds, repeats in row_medians(records)
    ]
    job_header = ["jobs `true`", "at a time", "bare processes", "hstar", "overhead", "runs"]
    starts = [
        [name, f"{alone:.2f}", f"{forked:.2f}", *(f"{size / 2**20:.0f}" for size in sizes), f"{repeats:.0f}"]
        for name, alone, forked, *sizes, repeats in start_medians(records)
    ]
    start_header = ["search", "alone, s", "forked, s", "alone, MiB", "forked, MiB", "runs"]
    row_header = ["searches", "store, MiB", "page, MiB", "reading", *FORMS, "runs"]
    return {
        "jobs": (
            f"Milliseconds a job by the wall clock, medians (overhead allowed: {1e3 * MOST_PER_JOB_S:.0f}):",
            table(job_header, jobs, words=()),
        ),
        "starts": (
            "Processor time and memory of small searches, imports included, medians:",
            table(start_header, starts, words=(0,)),
        ),
        "rows": (
            "Seconds by the wall clock to read a store of many searches, and for `hstar report` in each "
            f"format, medians (report allowed: {MOST_REPORT_S:.0f}):",
            table(row_header, rows, words=()),
        ),
    }


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="The overhead of jobs, and the time to read a large store.")
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--slots", type=int, default=2, help="jobs at a time")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    if options.file is not None:
        known = stored(options.file, TABLES, KEY)
        print(shown(report(known), known, options.table, options.file))
        return 0

    records = Records(options.out, KEY)
    for repeat in range(options.repeats):
        what = {"part": "jobs", "build": build(), "jobs": options.jobs, "slots": options.slots}
        records.get({**what, "repeat": repeat}, lambda: measure_jobs(options.jobs, options.slots))
    for search, (job, contents) in small_searches().items():
        for repeat in range(options.repeats):
            what = {"part": "starts", "build": build(), "search": search, "repeat": repeat}
            records.get(what, functools.partial(measure_starts, job, contents))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = functools.cache(lambda: made_store(folder, options.rows))
        for repeat in range(options.repeats):
            what = {"part": "rows", "build": build(), "rows": options.rows, "repeat": repeat}
            records.get(what, lambda: measure_rows(folder, size, options.rows))
    print(shown(report(records.used), records.used, options.table))
    number, _, alone, whole, _ = job_medians(records.used)[0]
    _, _, _, *seconds, _ = row_medians(records.used)[0]
    return 1 if (whole - alone) / number > MOST_PER_JOB_S or max(seconds) > MOST_REPORT_S else 0


if __name__ == "__main__":
    finish(main)
