"""What running experiments costs: the overhead of a job, and the time to read a large store.

1. Trivial jobs through the driver and the store, beside the same processes started by a bare loop of as many
threads: what a job costs beyond the start of its process, by the wall clock. 2. A store of many searches: the
processor time that reading its rows takes, and that `hstar report` takes from start to end.

The script exits with 1 if a job costs more than 50 ms, or if reading 100,000 rows takes more than 5 s.

python benchmarks/experiments.py [--jobs 1000] [--slots 2] [--rows 100000]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hstar.experiments import Job, LocalExecutor, Outcome, Store, run
from hstar.experiments.job import HSTAR, Record
from hstar.experiments.machine import machine

MOST_PER_JOB_S = 0.05
MOST_READING_S = 5.0


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


def job_row(number: int, slots: int, repeats: int) -> tuple[list[str], float]:
    """Milliseconds a job; medians of runs that take turns, so that other work on the machine hits both."""
    jobs = trivial_jobs(number)
    machine()  # asked for once a process
    times: list[tuple[float, float]] = []
    for repeat in range(repeats):
        print(f"{number} jobs, {repeat + 1} of {repeats}", file=sys.stderr)
        times.append((bare(jobs, slots), driven(jobs, slots)))
    alone, whole = (statistics.median(column) / number for column in zip(*times, strict=True))
    shown = (alone, whole, whole - alone)
    return [f"{number:,}", str(slots), *(f"{1e3 * value:.1f}" for value in shown)], whole - alone


# --- 2. rows ------------------------------------------------------------------------------------


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


def report_seconds(folder: Path) -> float:
    """Processor seconds of `hstar report`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "hstar", "report", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report_row(number: int, repeats: int) -> tuple[list[str], float]:
    """Processor seconds for all rows, and for the page, medians."""
    with tempfile.TemporaryDirectory() as folder:
        print(f"a store of {number} rows", file=sys.stderr)
        with Store(Path(folder)) as store:
            fill(store, number)
            size = (store.folder / "results.sqlite").stat().st_size
        times = []
        for _ in range(repeats):
            with Store(Path(folder)) as store:
                start = time.process_time()
                rows = [result.row for result in store.results()]
                times.append(time.process_time() - start)
            assert len(rows) == number and rows[-1]["expansions"] == search_record(number - 1)["expansions"]
            del rows  # or the next ones are collected beside them
        whole = statistics.median(report_seconds(Path(folder)) for _ in range(repeats))
        page = Path(folder, "report.html").stat().st_size
    sizes, reading = (f"{size / 2**20:.0f}", f"{page / 2**20:.0f}"), statistics.median(times)
    return [f"{number:,}", *sizes, f"{reading:.2f}", f"{whole:.2f}"], reading


# --- report -------------------------------------------------------------------------------------


def markdown(header: Sequence[str], row: Sequence[str]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, ["---:"] * len(header), row))


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="The overhead of jobs, and the time to read a large store.")
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--slots", type=int, default=2, help="jobs at a time")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(words)

    row, overhead = job_row(options.jobs, options.slots, options.repeats)
    print("Milliseconds a job:\n")
    print(markdown(["jobs", "at a time", "bare processes", "hstar", "overhead"], row))
    row, reading = report_row(options.rows, options.repeats)
    print("\nProcessor seconds for a store and its report:\n")
    print(markdown(["rows", "store, MiB", "page, MiB", "reading", "hstar report"], row))
    return 1 if overhead > MOST_PER_JOB_S or reading > MOST_READING_S else 0


if __name__ == "__main__":
    sys.exit(main())
