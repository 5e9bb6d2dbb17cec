"""The protocol of per-instance heuristics: train on a base task, plan from other starts, count the solved.

Ferber et al. (ICAPS 2022) and O'Toole et al. (ICAPS 2022): greedy best-first search, unit cost, a time and a
memory limit for each search; coverage of an instance is the share of its starts that are solved, of a domain
the mean over its instances.

Every contestant gets the same files: the base task is translated once and only the initial state changes, so
nobody's atoms vanish (a translator drops what is constant from a given start). Each training and each search
is a process of its own, through the command line like any user's. Results are JSON lines, written as they
come; what is in the file is not run again, so a killed evaluation goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hstar import __version__, _core
from hstar.errors import InputError
from hstar.experiments.contestants import Contestant
from hstar.experiments.fast_downward import GRACE_S, FastDownward
from hstar.experiments.process import Finished, kill_all, run_limited
from hstar.files import append_line, replace_file
from hstar.models.file import load_model
from hstar.sampling.walks import Walks
from hstar.spaces.pddl import parse_problem, read_text
from hstar.spaces.sas import with_state_of
from hstar.spaces.task import Task
from hstar.spaces.translate import find_domain, translate

logger = logging.getLogger(__name__)

Record = dict[str, Any]
"""One run: what was asked and what came out."""


@dataclass(frozen=True)
class Limits:
    """Seconds and bytes of one search; seconds of one training."""

    time_limit: float = 60.0
    memory_limit: int = 4 << 30
    train_time: float = 3600.0


@dataclass(frozen=True)
class Instance:
    """A base task and starts for it, as `.sas` files."""

    domain: str
    name: str  # domain/instance
    base: Path
    starts: tuple[tuple[str, Path], ...]


# --- instances ------------------------------------------------------------------------------------------


def read_instance(path: Path, work: Path, *, walks: int = 10, most: int | None = None) -> Instance:
    """A folder with `domain.pddl`, `base.pddl` and other problems as starts; or one problem and walks.

    The `.sas` files go to `work`.
    """
    problem = path / "base.pddl" if path.is_dir() else path
    if not problem.is_file():
        raise InputError("no base.pddl in this folder" if path.is_dir() else "no such file", file=path)
    domain_file = find_domain(problem)
    text = translate(domain_file, problem)
    task = Task(_core.Task.parse(text, unit_cost=True), problem.name, domain_file, problem)
    domain = task.lifted.domain.name
    label = path.name if path.is_dir() else path.stem
    if path.is_dir() and (files := _start_files(path, domain_file)):
        starts = [(file.stem, _from_problem(task, file)) for file in files[:most]]
    else:
        number = walks if most is None else min(walks, most)
        starts = [(f"walk{i}", start) for i, start in enumerate(Walks(walks=number).tasks(task), 1)]
    folder = work / domain / label
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "base.sas", text)
    for name, start in starts:
        _write(folder / f"{name}.sas", with_state_of(text, start.core))
    named = tuple((name, folder / f"{name}.sas") for name, _ in starts)
    return Instance(domain, f"{domain}/{label}", folder / "base.sas", named)


def _start_files(folder: Path, domain_file: Path) -> list[Path]:
    """Problems beside base.pddl, p2 before p10."""
    files = [file for file in folder.glob("*.pddl") if file.name not in ("base.pddl", domain_file.name)]
    return sorted(files, key=lambda file: (len(file.name), file.name))


def _from_problem(task: Task, file: Path) -> Task:
    """The task from the initial state of another problem, which must have the same goal."""
    problem = parse_problem(read_text(file), task.lifted.domain, str(file))
    if problem.goal != task.lifted.problem.goal:
        raise InputError(f"its goal is not that of {task.name}", file=file)
    try:
        return task.with_initial_state(problem.init)
    except InputError as error:
        raise InputError(error.message, file=file) from None


def _write(path: Path, content: bytes) -> None:
    if not path.is_file() or path.read_bytes() != content:
        replace_file(path, content)


# --- runs -----------------------------------------------------------------------------------------------


class Evaluation:
    """Contestants on instances: what has been run, and what is missing."""

    def __init__(
        self,
        folder: Path,
        *,
        limits: Limits | None = None,
        search: str = "gbfs",
        note: Callable[[str], None] = logger.info,
    ) -> None:
        self.folder, self.search, self.note = folder, search, note
        self.limits = Limits() if limits is None else limits
        self.file = folder / "results.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        self._known = {_key(record): record for record in read_results(self.file)}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._peer = FastDownward.find()

    def run(
        self,
        instances: Sequence[Instance],
        contestants: Sequence[Contestant],
        *,
        seeds: Sequence[int] = (0,),
        jobs: int = 1,
    ) -> list[Record]:
        """Runs what is missing, `jobs` at a time; gives the records of everything asked for."""
        units = [
            (instance, contestant, seed)
            for instance in instances
            for contestant in contestants
            for seed in (seeds if contestant.recipe else (0,))
        ]
        for contestant in contestants:
            if contestant.alias is not None and self._peer is None:
                raise InputError(f"{contestant.name} needs Fast Downward: pip install 'hstar[bench]'")
        with ThreadPoolExecutor(jobs) as pool:  # each waits for a process
            futures = [pool.submit(self._evaluate, *unit) for unit in units]
            try:
                return [record for future in futures for record in future.result()]
            except BaseException:
                self._stopping.set()
                pool.shutdown(wait=False, cancel_futures=True)
                while not all(future.done() for future in futures):
                    kill_all()
                    time.sleep(0.05)
                raise

    def _evaluate(self, instance: Instance, contestant: Contestant, seed: int) -> list[Record]:
        """Trains if need be, then searches from each start."""
        about = {
            "domain": instance.domain,
            "instance": instance.name,
            "contestant": contestant.name,
            "seed": seed,
        }
        about |= {"hstar": __version__}
        records, model = [], contestant.model
        if contestant.recipe is not None:
            model = self.folder / "models" / instance.name / f"{contestant.file_name}-seed{seed}.hstar"
            asked = {**about, "step": "train", "task": _digest(instance.base)}
            records.append(self._once(asked, partial(self._train, instance, contestant, seed, model)))
            if records[-1]["status"] != "trained":
                return records
        about |= {"search": contestant.search or self.search, **asdict(self.limits)}
        about |= {} if model is None else {"model": _digest(model)}
        for start, sas in instance.starts:
            asked = {**about, "step": "search", "start": start, "task": _digest(sas)}
            records.append(self._once(asked, partial(self._search, contestant, model, sas)))
        return records

    def _train(self, instance: Instance, contestant: Contestant, seed: int, model: Path) -> Record:
        model.parent.mkdir(parents=True, exist_ok=True)
        checkpoint = model.with_suffix(".checkpoint")
        command = [*_HSTAR, "train", str(contestant.recipe), str(instance.base), "--output", str(model)]
        command += ["--checkpoint", str(checkpoint), "--seed", str(seed), *contestant.options]
        started = time.monotonic()
        found = run_limited(command, time_limit=self.limits.train_time)
        if found.exit_code != 0:
            return _failure(found)
        for left in checkpoint.parent.glob(f"{checkpoint.name}*"):
            left.unlink()
        summary = dict(load_model(model).summary)
        return {"status": "trained", "total_time": time.monotonic() - started, "training": summary}

    def _search(self, contestant: Contestant, model: Path | None, sas: Path) -> Record:
        time_limit, memory_limit = self.limits.time_limit, self.limits.memory_limit
        if contestant.alias is not None:
            assert self._peer is not None
            return self._peer.alias(sas, contestant.alias, time_limit=time_limit, memory_limit=memory_limit)
        heuristic = str(contestant.heuristic if model is None else model)
        command = [*_HSTAR, "solve", str(sas), "--search", contestant.search or self.search]
        command += ["--heuristic", heuristic, "--unit-cost", "--json"]
        command += ["--time-limit", f"{time_limit:g}s", "--memory-limit", f"{memory_limit >> 20}M"]
        command += ["--preferred"] if contestant.preferred else []
        found = run_limited(command, time_limit=time_limit + GRACE_S)
        try:
            record: Record = json.loads(found.output)
        except ValueError:
            return _failure(found)
        record.pop("plan", None)
        return record

    def _once(self, asked: Record, run: Callable[[], Record]) -> Record:
        """The stored record of a run, or a new one."""
        key = _key(asked)
        if key not in self._known:
            # What was asked goes last: a planner may report keys of the same name.
            record = {**run(), **asked}
            with self._lock:
                if self._stopping.is_set():  # it was killed, which says nothing about the contestant
                    raise InterruptedError
                append_line(self.file, json.dumps(record))
                self._known[key] = record
                self.note(_line(record))
        return self._known[key]


_HSTAR = (sys.executable, "-m", "hstar")
_ASKED = ("step", "instance", "contestant", "seed", "start", "task", "model", "search", "hstar")
_LIMITS = ("time_limit", "memory_limit")


def _key(record: Record) -> tuple[Any, ...]:
    """What makes two runs the same."""
    return tuple(record.get(name) for name in (*_ASKED, *_LIMITS))


def read_results(file: Path) -> list[Record]:
    """All whole lines of a result file."""
    found = []
    for line in file.read_text().splitlines() if file.is_file() else []:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue  # the last line of a killed run
    return found


def _failure(found: Finished) -> Record:
    status = "time_limit" if found.timed_out else "error"
    return {"status": status, "exit_code": found.exit_code, "error": found.last_line()}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _line(record: Record) -> str:
    where = f"{record['instance']} {record.get('start', 'training')}"
    took = record.get("search_time") or record.get("total_time") or 0.0
    said = f": {record['error']}" if "error" in record else ""
    return f"{where:40} {record['contestant']:30} {record['status']:12} {took:7.1f} s{said}"
