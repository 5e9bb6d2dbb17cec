"""The native front end beside Fast Downward's translator: the same tasks, and how much faster and smaller?

Each task is translated by both, each in a process of its own. Times are seconds of processor time of the
translation alone, without the start of Python (the reference says its own in its log); memory is the peak of
the process. What comes out is compared name by name (translations.py) up to a number of operators. A task
that one of them does not finish within the limits counts as unfinished for that one.

python benchmarks/translate.py ['ipc/*' ...] [--time 60] [--out FILE]; tables of what it keeps: --print FILE
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path

from records import (
    UNKNOWN,
    Record,
    Records,
    add_file_options,
    build,
    finish,
    note,
    shown,
    stored,
    table,
)
from translations import compare

from hstar import _core
from hstar.errors import InputError
from hstar.spaces.pddl import translate_natively
from hstar.spaces.translate import find_domain

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "benchmarks"
KEY = ("part", "build", "task", "seconds")
TABLES = ("speed", "phases", "differences")
PHASES = ("parse", "join", "invariants", "variables", "encode", "simplify")
MOST_OPERATORS = 100_000  # what is compared
LONG_S = 5.0  # a task that takes the reference this long must be 10 times faster
MEMORY = 8 << 30
_DONE = re.compile(r"Done! \[([0-9.]+)s CPU")
_NATIVE = """
import json, sys, time
from pathlib import Path
from hstar import _core
texts = tuple(Path(name).read_bytes() for name in sys.argv[1:3])
start = time.process_time()
task, report = _core.translate(texts, tuple(sys.argv[1:3]))
phases = {name: getattr(report, name) for name in %r}
print(json.dumps({"cpu_s": time.process_time() - start, "operators": task.num_operators, **phases}))
"""


# --- measuring ------------------------------------------------------------------------------------


def run(command: Sequence[str], seconds: float) -> tuple[str, float, int]:
    """Output, peak memory in MB and exit code of a process; code -1 if the time ran out."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": "0"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        )
        deadline = time.monotonic() + seconds
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                process.kill()
                _, _, usage = os.wait4(process.pid, 0)
                status = -1
                break
            time.sleep(0.01)
        process.returncode = -1 if status == -1 else os.waitstatus_to_exitcode(status)
        output.seek(0)
        return output.read(), usage.ru_maxrss / 1024, process.returncode


def measure(domain: Path, problem: Path, seconds: float) -> Record:
    """Both translations of a task, and what is different."""
    files = [str(domain.resolve()), str(problem.resolve())]
    text, native_mb, code = run([sys.executable, "-c", _NATIVE % (PHASES,), *files], seconds)
    record: Record = {"native_s": None, "native_mb": native_mb, "reference_s": None, "reference_mb": None}
    if code == 0:
        found = json.loads(text)
        record |= {"native_s": found.pop("cpu_s"), **found}
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "output.sas")
        command = [sys.executable, "-m", "fast_downward.translate", "--sas-file", str(target), *files]
        text, record["reference_mb"], code = run(command, seconds)
        done = _DONE.search(text)
        if code == 0 and done is not None:
            record["reference_s"] = float(done[1])
            if record["native_s"] is not None and record["operators"] <= MOST_OPERATORS:
                reference = _core.Task.parse(target.read_bytes())
                found = compare(reference, translate_natively(domain, problem))
                record |= {"differences": found.differences, "better": found.better}
    return record


def tasks(patterns: Sequence[str]) -> dict[str, Path]:
    """All problems of the shared benchmarks whose name in that folder fits a pattern."""
    if not FOLDER.is_dir():
        raise InputError(f"needs the folder of benchmarks {FOLDER}")
    found = {}
    for path in sorted(FOLDER.rglob("*.pddl")):
        name = path.relative_to(FOLDER).with_suffix("").as_posix()
        if "domain" not in path.name and any(fnmatch(name, pattern) for pattern in patterns):
            found[name] = path
    return found


def domain_of(problem: Path) -> Path:
    """Beside the problem, or the first domain.pddl above it."""
    try:
        return find_domain(problem)
    except InputError:
        for folder in problem.parents:
            if (folder / "domain.pddl").is_file():
                return folder / "domain.pddl"
        raise


# --- tables ---------------------------------------------------------------------------------------


def geometric_mean(values: Iterable[float]) -> float | None:
    """None without values."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else None


def shown_number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}"


def speed(records: Sequence[Record]) -> str:
    """A line for each domain and one for all."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault("/".join(record["task"].split("/")[:2]), []).append(record)
    rows = [speed_row(name, group) for name, group in groups.items()]
    if len(rows) > 1:
        rows.append(speed_row("all", records))
    head = ("domain", "tasks", "native", "reference", "times faster", "least if > 5 s", "memory", "slowest s")
    return table(head, rows)


def speed_row(name: str, records: Sequence[Record]) -> tuple[str, ...]:
    both = [r for r in records if r["native_s"] is not None and r["reference_s"] is not None]
    # The reference rounds to hundredths; so little time says nothing about a ratio.
    ratio = {r["task"]: max(r["reference_s"], 0.01) / max(r["native_s"], 0.0001) for r in both}
    long = [ratio[r["task"]] for r in both if r["reference_s"] > LONG_S]
    memory = geometric_mean(r["native_mb"] / r["reference_mb"] for r in both)
    return (
        name,
        str(len(records)),
        str(sum(r["native_s"] is not None for r in records)),
        str(sum(r["reference_s"] is not None for r in records)),
        shown_number(geometric_mean(ratio.values())),
        shown_number(min(long) if long else None),
        UNKNOWN if memory is None else f"{memory:.2f}",
        shown_number(max((r["native_s"] for r in records if r["native_s"] is not None), default=None)),
    )


def phases(records: Sequence[Record]) -> str:
    """The share of each phase in the time of all tasks together, and over tasks in the mean."""
    done = [r for r in records if r.get("parse") is not None]
    if not done:
        return ""
    sums = [sum(r[phase] for phase in PHASES) or 1e-9 for r in done]
    rows = []
    for phase in PHASES:
        total = sum(r[phase] for r in done) / sum(sums)
        mean = sum(r[phase] / whole for r, whole in zip(done, sums, strict=True)) / len(done)
        rows.append((phase, f"{100 * total:.0f} %", f"{100 * mean:.0f} %"))
    return table(("phase", "of all time", "mean over tasks"), rows)


def differences(records: Sequence[Record]) -> str:
    """How many tasks were compared, and each that is different."""
    compared = [r for r in records if r.get("differences") is not None]
    if not compared:
        return ""
    better = [r for r in compared if r["better"] and not r["differences"]]
    wrong = [r for r in compared if r["differences"]]
    lines = [
        f"- {len(compared)} tasks compared: {len(compared) - len(better) - len(wrong)} equal, "
        f"{len(better)} with stronger mutex groups or fewer facts, {len(wrong)} different"
    ]
    lines += [f"- {r['task']}: {'; '.join(r['differences'])}" for r in wrong]
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "patterns", nargs="*", default=["*"], help="tasks by name, such as 'ipc/*' (default: all)"
    )
    parser.add_argument("--time", type=float, default=60.0, metavar="T", help="seconds for each translation")
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    if options.file is not None:
        records = stored(options.file, ("translate",), KEY)
    else:
        keeper = Records(options.out, KEY)
        for name, problem in tasks(options.patterns).items():
            note(name)
            what = {"part": "translate", "build": build(), "task": name, "seconds": options.time}
            keeper.get(what, lambda problem=problem: measure(domain_of(problem), problem, options.time))  # type: ignore[misc]
        records = keeper.used
    sections = {
        "speed": ("Processor time and memory beside the reference (geometric means)", speed(records)),
        "phases": ("Where the time of the native front end goes", phases(records)),
        "differences": ("Comparison with the reference", differences(records)),
    }
    print(shown(sections, records, options.table, options.file))
    return 1 if any(record.get("differences") for record in records) else 0


if __name__ == "__main__":
    finish(main)
