"""Jobs on other machines, through Dask distributed: a running scheduler, or workers that Slurm starts.

The store stays with the driver. A worker gets a job and the contents of its files, runs `execute` as a thread
here would, and sends the outcome back. Dask brings the runs of a lost worker to others.

Invariant: a command runs on a worker only while its driver waits for it. A worker forgets a task when the
driver cancels it, ends or is killed, but nothing interrupts the thread: it looks itself, while it waits for
the command. A worker that is killed takes its commands along, since its threads live as long as it does.

Dask is imported when a cluster is opened, never before.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import importlib
import logging
import os
import platform
import re
import shutil
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hstar import __version__
from hstar.errors import ClusterError, HstarError, InputError
from hstar.experiments.driver import LOOK_S, Contents
from hstar.experiments.job import Job, Outcome, execute
from hstar.files import read_text
from hstar.registry import unknown

if TYPE_CHECKING:
    from dask_jobqueue import SLURMCluster
    from distributed import Client
    from distributed.security import Security

CONNECT_S = 10.0  # for the scheduler to answer at first
ANSWER_S = 60.0  # for any later answer
ROUNDS = 2  # of tries, each as many as the scheduler allows to lose (4 workers, unless it is told otherwise)

_SILENCE = (OSError, asyncio.TimeoutError, concurrent.futures.TimeoutError)  # three before Python 3.11

_log = logging.getLogger(__name__)


@contextlib.contextmanager
def open_cluster(where: str, most: int | None = None) -> Iterator[DaskExecutor]:
    """The scheduler at `tcp://HOST:PORT`, or one here with workers from Slurm as `slurm:FILE` says.

    `most` jobs run at a time, or as many as the workers have threads.
    """
    scheme, _, rest = where.partition(":")
    if not rest or scheme not in ("tcp", "tls", "slurm"):
        raise InputError(f"--cluster takes tcp://HOST:PORT or slurm:FILE, not '{where}'")
    with contextlib.ExitStack() as stack:
        if scheme == "slurm":
            file = Path(rest)
            table = read_slurm(file)
            _import_dask("dask_jobqueue")
            cluster = stack.enter_context(_slurm_cluster(table, file))
            client = stack.enter_context(_connect(cluster.scheduler_address, cluster.security))
            # Jobs that have come to their end are replaced; `scale` does nothing while all are there.
            yield DaskExecutor(client, most, tend=lambda: cluster.scale(jobs=table.jobs))
        else:
            _import_dask()
            yield DaskExecutor(stack.enter_context(_connect(where)), most)


class DaskExecutor:
    """Threads of the workers of a scheduler, as many as there are at the moment."""

    def __init__(
        self, client: Client, most: int | None = None, *, tend: Callable[[], None] = lambda: None
    ) -> None:
        self._client = client
        self._loop: asyncio.AbstractEventLoop = client.loop.asyncio_loop
        self._address: str = client.scheduler.address
        self._most = most
        self._tend = tend  # called at each look
        self._checked: set[str] = set()  # workers that have what we have
        self._looked = -LOOK_S
        self._slots = 1  # so that the first look tells if there is nobody

    @property
    def slots(self) -> int:
        """Jobs at a time. An error if a worker does not fit or the scheduler is gone."""
        if time.monotonic() - self._looked >= LOOK_S:
            self._look()
            self._looked = time.monotonic()
        return self._slots if self._most is None else min(self._most, self._slots)

    def submit(self, job: Job, contents: Contents) -> Future[Outcome]:
        return asyncio.run_coroutine_threadsafe(self._follow(job, contents), self._loop)

    def stop(self, pending: Iterable[Future[Outcome]]) -> None:
        """Ends what is running; its outcomes are void. The workers do so when they look the next time."""
        for future in pending:
            future.cancel()

    def _look(self) -> None:
        """Counts threads; new workers are asked for their versions first."""
        self._tend()
        try:
            if self._client.status != "running":
                raise OSError
            threads, found = asyncio.run_coroutine_threadsafe(self._ask(), self._loop).result(ANSWER_S)
        except (*_SILENCE, concurrent.futures.CancelledError):
            raise self._gone() from None
        for worker, versions in found.items():
            if isinstance(versions, OSError):  # lost already
                continue
            if isinstance(versions, Exception):
                what = f"{type(versions).__name__}: {versions}"
                raise InputError(f"worker {worker} cannot run jobs of hstar: {what}")
            if versions != _versions():
                raise InputError(f"worker {worker} has {versions}, here it is {_versions()}")
            self._checked.add(worker)
        before = self._slots
        self._slots = sum(number for worker, number in threads.items() if worker in self._checked)
        if before and not self._slots:
            _log.warning("no worker at %s; waiting for one", self._address)

    async def _ask(self) -> tuple[dict[str, int], dict[str, Any]]:
        threads = await self._client.nthreads()
        new = [worker for worker in threads if worker not in self._checked]
        return threads, await self._client.run(_versions, workers=new, on_error="return") if new else {}

    async def _follow(self, job: Job, contents: Contents) -> Outcome:
        """Brings a job to a worker, and its outcome back."""
        from distributed import CancelledError, KilledWorker

        started, clock = time.time(), time.monotonic()
        for _ in range(ROUNDS):
            # The name before the digits is what Dask learns durations for. Never the same twice: a job that
            # is run again is to run again.
            name = f"hstar-{job.kind}-{uuid.uuid4().hex}"
            future = self._client.submit(_on_worker, job, contents, _versions(), key=name, pure=False)
            try:
                outcome: Outcome = await future
                return outcome
            except KilledWorker as error:
                last = error.last_worker.address
            except CancelledError:
                raise self._gone() from None
            except HstarError:
                raise
            except Exception as error:  # not of the job, which has outcomes for that: no space, no right
                raise ClusterError(f"a worker failed: {type(error).__name__}: {error}") from error
            finally:
                future.release()
        text = f"every worker that ran it died, at last {last}"
        record = {"status": "error", "error": text}
        return Outcome(record, {}, text, {"host": last}, started, time.monotonic() - clock)

    def _gone(self) -> ClusterError:
        how = "what is finished is kept; to go on, start one and run the same command again"
        return ClusterError(f"the scheduler at {self._address} is gone; {how}")


# --- on a worker ----------------------------------------------------------------------------------------


def _versions() -> str:
    """What has to be the same everywhere."""
    return f"hstar {__version__} and Python {'.'.join(platform.python_version_tuple()[:2])}"


def _on_worker(job: Job, contents: Contents, versions: str) -> Outcome:
    """`execute`, while the task is wanted. `versions` are those of the driver."""
    from distributed import Reschedule, get_worker

    worker = get_worker()
    key = worker.get_current_task()
    if versions != _versions():  # it came a moment ago and has not been asked yet
        raise InputError(f"worker {worker.address} has {_versions()}, the driver {versions}")
    # Dask sets it for its own memory. Commands would inherit it, which those of a local run do not.
    os.environ.pop("MALLOC_TRIM_THRESHOLD_", None)

    def watch() -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled" or worker.status.name in ("closing", "closed", "failed"):
            raise Reschedule  # on another worker, if anybody wants it at all

    # Dask removes the folder of a worker that was killed when the next one starts.
    return execute(job, contents, Path(worker.local_directory), watch)


# --- connections ----------------------------------------------------------------------------------------


def _import_dask(*more: str) -> None:
    """Makes Dask ready: without its log, which speaks of everything twice, and at length."""
    # dask_jobqueue takes the signals for itself, and Ctrl-C would then end us without a word.
    ours = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for name in ("dask", "distributed", *more):
            importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"--cluster needs {error.name}: pip install 'hstar[cluster]'") from None
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in ours.items():
                signal.signal(number, handler)
    import dask

    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})  # inputs are sent along
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "dask_jobqueue"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


async def _greet(address: str, security: Security) -> None:
    """Asks who is there. A client would wait for ever for somebody silent, and believe whatever is said."""
    from distributed.comm import connect

    encryption = security.get_connection_args("client")
    comm = await connect(address, timeout=CONNECT_S, **encryption)
    try:
        await comm.write({"op": "identity", "reply": True})
        if (who := (await comm.read())["type"]) != "Scheduler":
            raise ValueError(f"a {who}")
    finally:
        comm.abort()


@contextlib.contextmanager
def _connect(address: str, security: Security | None = None) -> Iterator[Client]:
    from distributed import Client
    from distributed.security import Security

    security = security or Security()  # with the certificates of Dask's configuration
    try:
        with ThreadPoolExecutor(1) as pool:  # this thread may have a loop of its own
            pool.submit(asyncio.run, asyncio.wait_for(_greet(address, security), CONNECT_S)).result()
        client = Client(address, timeout=CONNECT_S, set_as_default=False, security=security)
    except Exception:  # whatever comes of what somebody else says
        raise InputError(f"no Dask scheduler answers at {address}") from None
    try:
        yield client
    finally:
        with contextlib.suppress(*_SILENCE):  # it is gone
            client.close(timeout=2)


# --- Slurm ----------------------------------------------------------------------------------------------


class SlurmTable(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`slurm:FILE`: how many jobs of Slurm, and options of `SLURMCluster` by their names there."""

    jobs: int
    cores: int
    memory: str
    walltime: str | None = None
    queue: str | None = None
    account: str | None = None
    processes: int | None = None
    job_name: str | None = None
    job_cpu: int | None = None
    job_mem: str | None = None
    job_extra_directives: list[str] | None = None
    job_directives_skip: list[str] | None = None
    job_script_prologue: list[str] | None = None
    log_directory: str | None = None
    local_directory: str | None = None
    interface: str | None = None
    protocol: str | None = None
    shared_temp_directory: str | None = None
    death_timeout: float | None = None
    nanny: bool | None = None
    python: str | None = None
    shebang: str | None = None
    worker_extra_args: list[str] | None = None
    scheduler_options: dict[str, Any] | None = None


def read_slurm(file: Path) -> SlurmTable:
    """The options in a file; a wrong one is an `InputError`."""
    text = read_text(file)
    try:
        table = msgspec.toml.decode(text, type=SlurmTable)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$.")
        key = re.split(r"[^\w]", path)[0]
        if found := re.search(r"unknown field `(.*)`", message):
            key = found[1]
            message = unknown("key", key, list(SlurmTable.__struct_fields__)).message
        elif key:
            message = f"{key}: {message}"
        raise InputError(message, file=file, line=_line(text, key)) from None
    except msgspec.DecodeError as error:
        raise InputError(f"not TOML: {error}", file=file) from None
    for key in ("jobs", "cores", "processes"):
        if (value := getattr(table, key)) is not None and value < 1:
            raise InputError(f"{key} takes 1 or more", file=file, line=_line(text, key))
    return table


def _line(text: str, key: str) -> int | None:
    pattern = re.compile(rf"\s*\"?{re.escape(key)}\"?\s*=")
    return next((i for i, line in enumerate(text.splitlines(), 1) if key and pattern.match(line)), None)


@contextlib.contextmanager
def _slurm_cluster(table: SlurmTable, file: Path) -> Iterator[SLURMCluster]:
    """A scheduler in this process, and its workers as jobs of Slurm until the end."""
    from dask_jobqueue import SLURMCluster
    from distributed import Status

    if shutil.which("sbatch") is None:
        raise InputError("no sbatch on this machine; start on one that can submit to Slurm", file=file)
    options = msgspec.to_builtins(table)
    del options["jobs"]
    # One process with all cores: its threads only wait for commands. Web pages ask nobody for a password, so
    # each is for its own machine alone, where its usual port may be taken.
    options = {"processes": 1, **options}
    page = "127.0.0.1:0"
    options["scheduler_options"] = {"dashboard_address": page, **options.get("scheduler_options", {})}
    options["worker_extra_args"] = ["--dashboard-address", page, *options.get("worker_extra_args", [])]
    if table.protocol is None:
        # Whoever reaches the port of a scheduler can run programs, so the workers show certificates that are
        # made for this run. They find them in a folder that all machines see.
        options["security"] = True
        options.setdefault("shared_temp_directory", str(file.parent.resolve()))

    async def submit() -> str | None:
        while len(cluster.workers) < table.jobs:
            await asyncio.sleep(0.05)
        said = None
        for job in list(cluster.workers.values()):
            try:
                await job  # one that could not be submitted tries again, and tells why
            except (RuntimeError, ValueError, OSError) as error:
                said = str(error).strip().splitlines()[-1]
                job.status = Status.failed  # or the cluster would not close
        return said

    try:
        cluster = SLURMCluster(**options)
    except Exception as error:  # of whatever kind: options are checked in many places
        raise InputError(f"SLURMCluster refuses the options: {error}", file=file) from None
    try:
        cluster.scale(jobs=table.jobs)
        said = asyncio.run_coroutine_threadsafe(submit(), cluster.loop.asyncio_loop).result()
        if said is not None:
            raise InputError(f"sbatch did not take a job: {said}", file=file)
        yield cluster
    finally:
        with contextlib.suppress(*_SILENCE, RuntimeError):
            cluster.close(timeout=10)
        for certificate in (
            "ca_file",
            "cert",
            "key",
        ):  # files of jobqueue, which would stay as long as it does
            if (temporary := vars(cluster).get(f"_job_{certificate}")) is not None:
                temporary.close()
