"""The searches of the service: a bounded queue, a process with limits for each, and answers that are kept.

A search is `hstar solve --json`, forked from a server that has imported what it needs. Whatever it does, its
client gets an answer.

Invariant: at most `jobs` searches run and `queue` wait; answers are kept up to a number, a total size and an
age, and the oldest go first. After `close` no process is left.
"""

from __future__ import annotations

import functools
import json
import re
import secrets
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from hstar.errors import HstarError
from hstar.experiments.fork_server import ForkServers
from hstar.experiments.process import Finished, ProcessLimits, kill_all, run_limited
from hstar.service.requests import ServiceLimits, SolveRequest
from hstar.spaces.validate import format_plan

GRACE_S = 2.0  # after its time limit a search may still say what it has found
_GRACE_MEMORY = 1.25  # the same for memory, before it is killed
_PLACE = re.compile(r"(domain\.pddl|problem\.pddl)(?::(\d+))?(?::(\d+))?: ")
_COLUMNS = (
    *("status", "cost", "plan_length", "lower_bound", "ratio", "search", "heuristic", "ran", "initial_h"),
    *("expansions", "evaluations", "generated", "search_time", "total_time", "memory"),
)

Answer = dict[str, Any]


class BusyError(HstarError):
    """Refused, because as many searches wait as the queue may hold."""


class ClosedError(HstarError):
    """The service is about to end."""


class _CancelledError(Exception):
    """The client is gone."""


class Search:
    """One search of a client; `future` is its answer as JSON text."""

    def __init__(self, request: SolveRequest) -> None:
        self.id = secrets.token_urlsafe(16)
        self.request = request
        self.future: Future[bytes]
        self.ended: float | None = None  # by the monotonic clock
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Ends it wherever it is; its answer is an error."""
        self._cancelled.set()
        self.future.cancel()

    def watch(self) -> None:
        if self._cancelled.is_set():
            raise _CancelledError


class Searches:
    """All searches of the service; for several threads."""

    def __init__(self, limits: ServiceLimits, models: Mapping[str, Path]) -> None:
        self.limits, self.models = limits, models
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Search] = OrderedDict()  # in the order in which they came
        self._open = 0  # that run or wait
        self._bytes = 0  # of the answers that are kept
        self._closed = False
        self._servers = ForkServers()
        self._pool = ThreadPoolExecutor(limits.jobs, thread_name_prefix="search")
        self._scratch = tempfile.TemporaryDirectory(prefix="hstar-serve-", ignore_cleanup_errors=True)

    def start(self, request: SolveRequest) -> Search:
        """Puts a search into the queue."""
        search = Search(request)
        with self._lock:
            if self._closed:
                raise ClosedError("the server is about to stop")
            if self._open >= self.limits.jobs + self.limits.queue:
                raise BusyError(f"{self._open} searches run or wait; try again later")
            self._open += 1
            self._known[search.id] = search
            search.future = self._pool.submit(self._run, search)
        search.future.add_done_callback(lambda future: self._done(search))
        return search

    def get(self, name: str) -> Search | None:
        """The search of that id; None if there is none, or if its answer was given up."""
        with self._lock:
            self._forget()
            return self._known.get(name)

    def close(self) -> None:
        """Ends all searches. Those who wait for one get an answer."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            running = [search for search in self._known.values() if search.ended is None]
        for search in running:
            search.cancel()
        kill_all()
        self._pool.shutdown(cancel_futures=True)
        self._servers.close()
        self._scratch.cleanup()

    def _done(self, search: Search) -> None:
        with self._lock:
            self._open -= 1
            search.ended = time.monotonic()
            if search.future.cancelled():
                self._known.pop(search.id, None)
            else:
                self._bytes += len(search.future.result())
            self._forget()

    def _forget(self) -> None:
        """Answers that are too old, too many or too large together; the lock is held."""
        limits, now = self.limits, time.monotonic()
        ended = [search for search in self._known.values() if search.ended is not None]
        number = len(ended)
        for search in ended:
            old = now - (search.ended or now) > limits.keep_time
            if not old and number <= limits.keep and self._bytes <= limits.keep_bytes:
                return
            del self._known[search.id]
            number -= 1
            self._bytes -= len(search.future.result())

    def _run(self, search: Search) -> bytes:
        try:
            answer = self._search(search)
        except _CancelledError:
            answer = _error("the search was cancelled")
        except Exception as error:  # no space for its files, say; whatever it is, the client gets an answer
            answer = _error(f"the server cannot run the search: {error}")
        # The texts of the request are of no use any more, and its answer may be kept for long.
        search.request = SolveRequest("", "", (), (), 0.0, 0)
        return json.dumps(answer).encode()

    def _search(self, search: Search) -> Answer:
        search.watch()
        request = search.request
        limits = ProcessLimits(request.time + GRACE_S, resident_memory=int(_GRACE_MEMORY * request.memory))
        finished = run_command(
            {"domain.pddl": request.domain, "problem.pddl": request.problem},
            # The domain is found beside the problem, also when its text does not look like one.
            ("solve", "problem.pddl", "--json", *request.words),
            limits,
            folder=self._scratch.name,
            watch=search.watch,
            # Models decide which modules a search needs; after the first search they stay loaded.
            start=functools.partial(
                self._servers.start,
                ("solve", *request.models),
                models=[self.models[name] for name in request.models],
            ),
        )
        search.watch()  # killed by us
        return _answer(finished, self._for_clients(finished.errors))

    def _for_clients(self, text: str) -> str:
        """What the search said, with names of models instead of their files."""
        for name, file in list(self.models.items()):  # others may add some
            text = text.replace(str(file), name)
        return text


def run_command(
    files: Mapping[str, str], words: Sequence[str], limits: ProcessLimits, folder: str, **how: Any
) -> Finished:
    """A command of hstar on these files, by name, in a new folder within `folder`.

    Words that name one of the files, or a folder of them, become its path. What the command says has no paths
    of this machine. `how` is for `run_limited`.
    """
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as home:
        for name, text in files.items():
            Path(home, name).parent.mkdir(exist_ok=True)
            Path(home, name).write_text(text, encoding="utf-8")
        named = {*files, *(str(Path(name).parent) for name in files)}
        placed = [str(Path(home, word)) if word in named else word for word in words]
        command = [sys.executable, "-m", "hstar", *placed]
        finished = run_limited(command, limits, environment={"OMP_NUM_THREADS": "1"}, **how)
        return replace(finished, errors=finished.errors.replace(f"{home}/", ""))


def failure(errors: str) -> dict[str, Any]:
    """The last line of what a command said, as `error`, and its place, as `file`, `line` and `column`."""
    message = (errors.strip().splitlines() or ["the command ended without an answer"])[-1]
    message = message.removeprefix("hstar: error: ")
    place = _PLACE.match(message)
    where = {} if place is None else dict(zip(("file", "line", "column"), place.groups(), strict=True))
    known = {name: value if name == "file" or value is None else int(value) for name, value in where.items()}
    return {"error": message, **known}


def _error(error: str, **more: Any) -> Answer:
    return {"status": "error", "result": {"error": error, "output": {}, "stdout": "", **more}}


def _answer(finished: Finished, errors: str) -> Answer:
    """What clients of planning as a service read, and beside it what hstar knows about the plan."""
    try:
        row = json.loads(finished.output)
    except ValueError:
        row = None
    if row is None and (finished.timed_out or finished.out_of_memory):
        row = {"status": "time_limit" if finished.timed_out else "memory_limit"}
    if row is None:
        return _error(**failure(errors), stderr=errors, exit_code=finished.exit_code)
    plan, stdout, output = row.get("plan"), "", dict[str, str]()
    if plan is not None:
        stdout = output["plan"] = format_plan(plan, row["cost"], row["unit_cost"])
    result = {
        "output": output,
        "stdout": stdout or f"no plan: {row['status'].replace('_', ' ')}\n",
        "stderr": errors,
        "plan": None if plan is None else [_step(name) for name in plan],
        **{name: row.get(name) for name in _COLUMNS},
        "promise": (row.get("promise") or {}).get("text"),
        "exit_code": finished.exit_code,
    }
    return {"status": "ok", "result": result}


def _step(name: str) -> dict[str, str]:
    """A step as solver.planning.domains has it, with the arguments of the action but not its conditions."""
    words = name.strip().removeprefix("(").removesuffix(")")
    action, _, arguments = words.partition(" ")
    return {"name": f"({words})", "action": f"(:action {action} :parameters ({arguments}))"}
