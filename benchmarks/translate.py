"""The native front end beside Fast Downward's translator: the same tasks, and how much faster and smaller?

Each task is translated by both, one after the other, each in a process of its own and each first on every
other task. Times are seconds of processor time without the start of Python (the reference says its own in its
log); those of the native front end include the successor generator, with which a search can begin. Memory is
the peak of the process. What comes out is compared name by name (translations.py). A task that one of them
does not finish within the limits (--time, in processor time, and 8 GB) counts as unfinished for that one.

--start measures the way from PDDL to the first expansion of a search instead, without the reference.

python benchmarks/translate.py ['ipc/*' ...] [--time 300] [--out FILE]; tables of what it keeps: --print FILE
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
from functools import partial
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
    those,
)
from translations import compare

from hstar import _core
from hstar.errors import InputError
from hstar.spaces.pddl import translate_natively
from hstar.spaces.translate import find_domain

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "benchmarks"
KEY = ("part", "build", "task", "seconds")
TABLES = ("speed", "long", "phases", "differences", "start")
PHASES = ("parse", "join", "invariants", "variables", "encode", "simplify")
MOST_OPERATORS = 2_000_000  # what is compared
HEURISTICS = ("", "blind", "ff")  # of --start; without one there is no search
LONG_S = 5.0  # of the reference: tasks that are listed one by one
PATIENCE = 30  # wall clock over processor time, on a machine that does other work, too
MEMORY = 8 << 30
_DONE = re.compile(r"Done! \[([0-9.]+)s CPU")
_PEAK = re.compile(r"^VmHWM:\s*(\d+) kB", re.MULTILINE)
_NATIVE = """
import json, sys, time
from pathlib import Path
from hstar import _core
texts = tuple(Path(name).read_bytes() for name in sys.argv[1:3])
start = time.process_time()
task, report = _core.translate(texts, tuple(sys.argv[1:3]))
phases = {name: getattr(report, name) for name in %r}
counts = {"operators": task.num_operators, "variables": task.num_variables, "facts": task.num_facts}
if sys.argv[3]:
    from hstar import solve
    from hstar.spaces.task import Task
    result = solve(Task(task, "task"), sys.argv[3], "gbfs", max_expansions=1)
    phases = {"expanded": result.expanded}
print(json.dumps({"cpu_s": time.process_time() - start, **counts, **phases}))
"""


# --- measuring ------------------------------------------------------------------------------------


def run(command: Sequence[str], seconds: float) -> tuple[str, float, int]:
    """Output, peak memory in MB and exit code of a process with so much processor time; -1 if it hangs."""
    most = math.ceil(seconds)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))

    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": "0"},
            preexec_fn=limit,
        )
        deadline, peak_mb = time.monotonic() + PATIENCE * seconds, 0.0
        while process.poll() is None and time.monotonic() < deadline:
            peak_mb = peak_memory(process.pid) or peak_mb
            time.sleep(0.01)
        hangs = process.poll() is None
        process.kill()
        code = process.wait()
        output.seek(0)
        return output.read(), peak_mb, -1 if hangs else code


def peak_memory(pid: int) -> float | None:
    """Greatest resident memory in MB so far; None if the process has ended.

    What the kernel tells of a process that has ended (ru_maxrss) is at least what the process had that
    started it, and so says more about this script than about a small translation.
    """
    try:
        found = _PEAK.search(Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return None
    return None if found is None else int(found[1]) / 1024


def run_native(files: Sequence[str], seconds: float, heuristic: str = "") -> Record:
    """Of the native front end, and of one expansion with a heuristic; `cpu_s` is None if it did not end."""
    text, peak_mb, code = run([sys.executable, "-c", _NATIVE % (PHASES,), *files, heuristic], seconds)
    found = json.loads(text) if code == 0 else {"cpu_s": None}
    return {**found, "peak_mb": peak_mb, "exit_code": code}


def run_reference(files: Sequence[str], seconds: float, target: Path) -> Record:
    """Of Fast Downward's translator, which writes to `target`."""
    command = [sys.executable, "-m", "fast_downward.translate", "--sas-file", str(target), *files]
    text, peak_mb, code = run(command, seconds)
    done = _DONE.search(text)
    return {"cpu_s": float(done[1]) if code == 0 and done else None, "peak_mb": peak_mb, "exit_code": code}


def measure(domain: Path, problem: Path, seconds: float, reference_first: bool) -> Record:
    """Both translations of a task, and what is different."""
    files = [str(domain.resolve()), str(problem.resolve())]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "output.sas")
        reference = run_reference(files, seconds, target) if reference_first else {}
        native = run_native(files, seconds)
        reference = reference or run_reference(files, seconds, target)
        record: Record = {name: value for name, value in native.items() if name not in reference}
        for name, found in (("native", native), ("reference", reference)):
            record |= {f"{name}_s": found["cpu_s"], f"{name}_mb": found["peak_mb"]}
            record[f"{name}_exit_code"] = found["exit_code"]
        both = native["cpu_s"] is not None and reference["cpu_s"] is not None
        if both and native["operators"] <= MOST_OPERATORS:
            compared = compare(_core.Task.parse(target.read_bytes()), translate_natively(domain, problem))
            record |= {"differences": compared.differences, "better": compared.better}
    return record


def measure_start(domain: Path, problem: Path, seconds: float) -> Record:
    """From PDDL to a task, and to the first expansion with each heuristic."""
    files = [str(domain.resolve()), str(problem.resolve())]
    record: Record = {}
    for heuristic in HEURISTICS:
        found, name = run_native(files, seconds, heuristic), heuristic or "task"
        record |= {f"{name}_s": found["cpu_s"], f"{name}_mb": found["peak_mb"]}
        record["operators"] = found.get("operators", record.get("operators"))
        if found["cpu_s"] is None:
            break  # those that do more take more
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


def long(records: Sequence[Record]) -> str:
    """Each task that takes the reference long, or that one of the two does not finish."""
    rows = []
    for r in records:
        native, reference = r["native_s"], r["reference_s"]
        if native is not None and reference is not None and reference <= LONG_S:
            continue
        ratio = reference / max(native, 0.0001) if native is not None and reference is not None else None
        operators = f"{r['operators']:,}" if r.get("operators") is not None else UNKNOWN
        numbers = [shown_number(number) for number in (native, reference, ratio)]
        memory = [f"{r[f'{name}_mb']:.0f}" for name in ("native", "reference")]
        rows.append((r["task"], operators, *numbers, *memory))
    return table(("task", "operators", "native s", "reference s", "times faster", "MB", "reference MB"), rows)


def start(records: Sequence[Record]) -> str:
    """From PDDL to the first expansion, a line a task."""
    names = [heuristic or "task" for heuristic in HEURISTICS]
    rows = []
    for r in records:
        operators = UNKNOWN if r["operators"] is None else f"{r['operators']:,}"
        seconds = [shown_number(r.get(f"{name}_s")) for name in names]
        memory = [f"{r[f'{name}_mb']:.0f}" if f"{name}_mb" in r else UNKNOWN for name in names]
        rows.append((r["task"], operators, *seconds, *memory))
    head = [*(f"{name} s" for name in names), *(f"{name} MB" for name in names)]
    return table(("task", "operators", *head), rows)


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
    parser.add_argument(
        "--time", type=float, default=300.0, metavar="T", help="processor seconds for each translation"
    )
    parser.add_argument("--start", action="store_true", help="from PDDL to the first expansion of a search")
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    if options.file is not None:
        records = stored(options.file, ("translate", "start"), KEY)
    else:
        keeper = Records(options.out, KEY)
        part = "start" if options.start else "translate"
        for number, (name, problem) in enumerate(tasks(options.patterns).items()):
            note(name)
            what = {"part": part, "build": build(), "task": name, "seconds": options.time}
            domain, turn = domain_of(problem), number % 2 == 1
            keeper.get(
                what,
                partial(measure_start, domain, problem, options.time)
                if options.start
                else partial(measure, domain, problem, options.time, turn),
            )
        records = keeper.used
    both, starts = those(records, part="translate"), those(records, part="start")
    sections = {
        "speed": ("Processor time and memory beside the reference (geometric means)", speed(both)),
        "long": (
            f"Tasks above {LONG_S:g} s of the reference, or that one of them did not finish",
            long(both),
        ),
        "phases": ("Where the time of the native front end goes", phases(both)),
        "differences": ("Comparison with the reference", differences(both)),
        "start": ("Processor time and memory from PDDL to the first expansion", start(starts)),
    }
    print(shown(sections, records, options.table, options.file))
    return 1 if any(record.get("differences") for record in records) else 0


if __name__ == "__main__":
    finish(main)
