"""Clusters: the same results as here, whoever is lost on the way; and nothing runs for nobody.

A real scheduler and real workers, on this machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from hstar.errors import ClusterError, InputError
from hstar.experiments import cluster as cluster_module
from hstar.experiments.cluster import DaskExecutor, open_cluster, read_slurm
from hstar.experiments.driver import LocalExecutor, run
from hstar.experiments.fast_downward import GRACE_S
from hstar.experiments.job import Job, Made, Outcome
from hstar.experiments.store import Store

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("cluster"),  # one for all of them
    pytest.mark.skipif(find_spec("dask_jobqueue") is None, reason="needs Dask (extra cluster)"),
]

PATIENCE_S = 60.0
QUIET = ["--dashboard-address", ":0"]  # any free port

# Says who runs it, by the name of a file, and waits for a file called "go".
MEET = """
import os, sys, time
from pathlib import Path
folder = Path(sys.argv[1])
(folder / f"{os.getpid()}.{os.getppid()}").touch()
while not (folder / "go").exists():
    time.sleep(0.02)
print("met")
"""

SUITE = """\
limits.time = "20s"
tasks = [{ generator = "blocksworld", parameters = { blocks = 3 }, starts = 2 }]
plan = [{ heuristic = "blind" }]
"""


def wait_for(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Cluster:
    """A scheduler, and workers of one thread."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self._settings = settings
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", file)
        self.address = str(json.loads(wait_for(lambda: file.exists() and file.read_text()))["address"])

    def add_worker(self, *options: str) -> subprocess.Popen[bytes]:
        name = f"worker-{len(self._processes)}"
        place = ["--nthreads", "1", "--local-directory", self.folder, "--memory-limit", "0", "--name", name]
        return self._start("worker", self.address, *place, *(options or ["--no-nanny"]))

    def _start(self, kind: str, *options: object) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--host", "127.0.0.1", *QUIET]
        with (self.folder / f"{kind}-{len(self._processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, *map(str, options)], stderr=log, stdout=log, env={**os.environ, **self._settings}
            )
        self._processes.append(process)
        return process

    def close(self) -> None:
        # Workers first. One that loses its scheduler while it ends may hang, so there is no waiting for long.
        for processes in (self._processes[1:], self._processes[:1]):
            for process in processes:
                process.terminate()
            for process in processes:
                try:
                    process.wait(timeout=5)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two workers, one under a nanny; tests leave at least these."""
    # A nanny sets this variable for its worker; here both have it.
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), MALLOC_TRIM_THRESHOLD_="65536")
    try:
        cluster.add_worker()
        cluster.add_worker("--nanny")
        yield cluster
    finally:
        cluster.close()


@pytest.fixture
def executor(cluster: Cluster) -> Iterator[DaskExecutor]:
    with open_cluster(cluster.address) as executor:
        wait_for(lambda: executor.slots >= 2)
        yield executor


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "run") as store:
        yield store


def python_job(code: str, *words: object, **changes: Any) -> Job:
    return Job("make", ("{python}", "-c", code, *map(str, words)), **changes)


class Meeting:
    """Jobs that run until they are let go."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def jobs(self, number: int) -> list[Job]:
        return [python_job(MEET, self.folder, i) for i in range(number)]

    def running(self) -> dict[int, int]:
        """Processes of commands that are alive, and of their workers."""
        files = [file.name.partition(".") for file in self.folder.iterdir() if file.name != "go"]
        return {int(pid): int(worker) for pid, _, worker in files if alive(int(pid))}

    def go(self) -> None:
        (self.folder / "go").touch()


@pytest.fixture
def meeting(tmp_path: Path) -> Iterator[Meeting]:
    meeting = Meeting(tmp_path / "meeting")
    yield meeting
    meeting.go()  # a test that failed leaves nothing running


@contextlib.contextmanager
def background(store: Store, jobs: list[Job], executor: DaskExecutor) -> Iterator[Future[Any]]:
    """`run` in a thread."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(run, store, jobs, executor)


# --- results --------------------------------------------------------------------------------------------


def test_rows_are_those_of_a_local_run(executor: DaskExecutor, store: Store, tmp_path: Path) -> None:
    copy = "import sys; data = open(sys.argv[1]).read(); open(sys.argv[2], 'w').write(data + '!')"
    first = python_job(copy, "{in}", "{out}", inputs={"in": store.put(b"hello")}, outputs=("out",))
    second = python_job(copy, "{in}", "{out}", inputs={"in": Made(first.key, "out")}, outputs=("out",))
    broken = python_job("raise SystemExit('broken')", outputs=("out",))
    blocked = python_job(copy, "{in}", "{out}", inputs={"in": Made(broken.key, "out")}, outputs=("out",))
    threads = python_job(
        "import os; print(os.environ['OMP_NUM_THREADS'], 'MALLOC_TRIM_THRESHOLD_' in os.environ)"
    )
    crash = Job("search", ("{python}", "-c", "import os; os.abort()"))
    jobs = [blocked, second, broken, first, crash, threads]
    remote = run(store, jobs, executor)
    with Store(tmp_path / "local") as other:
        other.put(b"hello")
        local = run(other, jobs, LocalExecutor(2))
        ours, theirs = store.latest(), other.latest()
    differ = {"seconds", "peak_memory", "cpu_time", "cpu_seconds", "memory", "log"}  # a log names its folder
    assert [{k: v for k, v in row.items() if k not in differ} for row in remote] == [
        {k: v for k, v in row.items() if k not in differ} for row in local
    ]
    assert [row["status"] for row in remote] == ["made", "error", "made", "error", "made"]
    assert {key: attempt.outputs for key, attempt in ours.items()} == {
        key: attempt.outputs for key, attempt in theirs.items()
    }
    assert store.get(ours[second.key].outputs["out"]) == b"hello!!"
    assert store.get(ours[threads.key].log).decode().split()[-2:] == ["1", "False"]


def test_a_time_limit_holds_on_a_worker(executor: DaskExecutor, store: Store, meeting: Meeting) -> None:
    (row,) = run(store, [python_job(MEET, meeting.folder, time_limit=2.0 - GRACE_S)], executor)
    assert row["status"] == "time_limit"
    assert not meeting.running()


def test_no_more_than_asked_for_at_a_time(cluster: Cluster) -> None:
    with open_cluster(cluster.address, 1) as executor:
        wait_for(lambda: executor.slots)
        assert executor.slots == 1


# --- workers come and go --------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_comes_late_and_is_lost(
    cluster: Cluster, executor: DaskExecutor, store: Store, meeting: Meeting, how: signal.Signals
) -> None:
    number = executor.slots + 1
    with background(store, meeting.jobs(number + 2), executor) as rows:
        wait_for(lambda: len(meeting.running()) == number - 1)
        # 1. It comes, and gets work.
        late = cluster.add_worker()
        wait_for(lambda: late.pid in meeting.running().values())
        assert len(meeting.running()) == number
        # 2. It is ended: so is its command, and another worker runs the job.
        (command,) = [pid for pid, worker in meeting.running().items() if worker == late.pid]
        late.send_signal(how)
        wait_for(lambda: not alive(command))
        meeting.go()
        assert [row["status"] for row in rows.result(PATIENCE_S)] == ["made"] * (number + 2)
    late.wait()


def test_all_workers_are_lost_and_then_the_scheduler(
    tmp_path: Path, store: Store, meeting: Meeting, caplog: pytest.LogCaptureFixture
) -> None:
    # One loss is enough for this scheduler; the driver tries twice.
    cluster = Cluster(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    killer = python_job("import os; os.kill(os.getppid(), 9)", outputs=("out",))
    jobs = [killer, *meeting.jobs(1)]
    try:
        with open_cluster(cluster.address) as executor, background(store, jobs, executor) as rows:
            # 1. The driver waits for workers, and tells. The job kills all that come.
            wait_for(lambda: "waiting for one" in caplog.text)
            for _ in range(2):
                cluster.add_worker().wait(PATIENCE_S)
            # 2. It is done with; the other job runs.
            cluster.add_worker()
            wait_for(meeting.running)
            # 3. Without a scheduler there is nobody to wait for.
            cluster.scheduler.kill()
            with pytest.raises(ClusterError, match="is gone; what is finished is kept") as caught:
                rows.result(PATIENCE_S)
        assert "\n" not in str(caught.value)
        wait_for(lambda: not meeting.running())
    finally:
        cluster.close()
    # 4. What is finished is kept; the rest can be run elsewhere.
    (attempt,) = store.attempts()
    assert (attempt.key, attempt.status) == (killer.key, "error")
    assert "every worker that ran it died" in attempt.record["error"]
    assert attempt.machine["host"].startswith("tcp://")
    meeting.go()
    assert [row["status"] for row in run(store, jobs, LocalExecutor(1))] == ["error", "made"]


# --- drivers come and go --------------------------------------------------------------------------------

DRIVER = """
import sys
from hstar.experiments.job import Job
from hstar.experiments.cluster import open_cluster
with open_cluster(sys.argv[1]) as executor:
    executor.submit(Job("make", ("{python}", "-c", *sys.argv[2:])), {}).result()
"""


def test_commands_end_with_their_driver_and_no_others(
    cluster: Cluster, executor: DaskExecutor, meeting: Meeting, tmp_path: Path
) -> None:
    others = Meeting(tmp_path / "others")
    kept = executor.submit(others.jobs(1)[0], {})
    wait_for(others.running)
    # 1. One that stops.
    with open_cluster(cluster.address) as stopped:
        pending = stopped.submit(meeting.jobs(1)[0], {})
        wait_for(meeting.running)
        stopped.stop([pending])
        wait_for(lambda: not meeting.running())
    # 2. One that is killed.
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, cluster.address, MEET, str(meeting.folder)])
    wait_for(meeting.running)
    driver.kill()
    driver.wait()
    wait_for(lambda: not meeting.running())
    # 3. The third did not notice.
    assert len(others.running()) == 1
    others.go()
    outcome: Outcome = kept.result(PATIENCE_S)
    assert outcome.record["status"] == "made"


# --- mistakes -------------------------------------------------------------------------------------------


def test_a_worker_of_another_version_is_refused(
    cluster: Cluster, executor: DaskExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "__version__", "99.0")
    with open_cluster(cluster.address) as other, pytest.raises(InputError) as caught:
        wait_for(lambda: other.slots)
    assert "worker tcp://127.0.0.1:" in str(caught.value)
    assert "here it is hstar 99.0 and Python 3." in str(caught.value)
    # A worker that has just come may get a job before it is asked: it refuses.
    with pytest.raises(InputError, match=r"worker tcp://.* has hstar .*, the driver hstar 99\.0"):
        executor.submit(python_job(""), {}).result(PATIENCE_S)


@contextlib.contextmanager
def stranger(says: bytes | None) -> Iterator[str]:
    """The address of something that is not Dask: closed, or open and saying something to who comes."""
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:

        def greet() -> None:
            with contextlib.suppress(OSError), server.accept()[0] as visitor:
                visitor.sendall(says or b"")
                while visitor.recv(1024):
                    pass

        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        if says is None:
            server.close()
        else:
            pool.submit(greet)
        yield address


def test_nobody_answers(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cluster_module.CONNECT_S == 10
    monkeypatch.setattr(cluster_module, "CONNECT_S", 1.0)
    for says in (None, b"", b"HTTP/1.0 400 Bad Request\r\n\r\n"):
        with stranger(says) as word, pytest.raises(InputError, match=f"no Dask scheduler answers at {word}"):
            open_cluster(word).__enter__()
    with open_cluster(cluster.address) as executor:
        wait_for(lambda: executor.slots)
        a_worker = next(iter(executor._checked))
    for word in (a_worker, "tcp://nowhere.invalid:1", "tcp://127.0.0.1:port"):
        with pytest.raises(InputError, match=f"no Dask scheduler answers at {word}"):
            open_cluster(word).__enter__()
    for word in ("localhost:8786", "8786", "slurm:", ""):
        with pytest.raises(InputError, match="--cluster takes tcp://HOST:PORT or slurm:FILE"):
            open_cluster(word).__enter__()


GOOD = 'jobs = 2\ncores = 1\nmemory = "1GB"\n'
HERE = 'nanny = false\nscheduler_options = { host = "127.0.0.1" }\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + 'wall_time = "1:00:00"', r":4: unknown key 'wall_time' .*; did you mean 'walltime'\?"),
        (GOOD.replace("2", '"2"'), ":1: jobs: Expected `int`, got `str`"),
        (GOOD.replace("2", "0"), ":1: jobs takes 1 or more"),
        ('jobs = 2\nmemory = "1GB"', "Object missing required field `cores`"),
        (GOOD + "job_extra_directives = [1]", ":4: job_extra_directives: Expected `str`, got `int`"),
        (GOOD + "queue =", "not TOML"),
        (None, "cannot read: No such file"),
    ],
)
def test_slurm_files_that_are_wrong(text: str | None, message: str, tmp_path: Path) -> None:
    file = tmp_path / "slurm.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=rf"slurm\.toml.*{message}"):
        read_slurm(file)


# --- the command line -----------------------------------------------------------------------------------

SBATCH = """#!/bin/sh
cp "$1" "$0.$$.job"
setsid sh "$0.$$.job" > "$0.$$.log" 2>&1 &
echo $! >> "$0.started"
echo "Submitted batch job $!"
"""
SCANCEL = """#!/bin/sh
echo "$1" >> "$0.cancelled"
kill -- "-$1"
"""


def hstar(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hstar", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
        env={**os.environ, **environment},
    )


def write_programs(folder: Path, **programs: str) -> str:
    """The search path with some programs of ours in front."""
    folder.mkdir()
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture(autouse=True)
def no_jobs_left(tmp_path: Path) -> Iterator[None]:
    """Ends the jobs of Slurm that a test leaves, also where it fails."""
    yield
    started = tmp_path / "programs" / "sbatch.started"
    for pid in started.read_text().split() if started.exists() else ():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(int(pid), signal.SIGKILL)


def test_workers_from_slurm(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    (tmp_path / "slurm.toml").write_text(GOOD + HERE)
    programs = tmp_path / "programs"
    path = write_programs(programs, sbatch=SBATCH, scancel=SCANCEL)
    words = ["bench", tmp_path / "suite.toml", "-o", tmp_path / "run", "--json"]
    where = f"slurm:{tmp_path / 'slurm.toml'}"
    done = hstar(*words, "--cluster", where, PATH=path, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["status"] for line in done.stdout.splitlines()] == ["solved"] * 2
    assert all("waiting for one" in line for line in done.stderr.splitlines()), done.stderr
    started = (programs / "sbatch.started").read_text().split()
    assert len(started) == 2
    assert sorted((programs / "scancel.cancelled").read_text().split()) == sorted(started)
    wait_for(lambda: not any(alive(int(pid)) for pid in started))


def test_a_job_of_slurm_that_ends_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import dask
    import distributed  # noqa: F401  - its defaults must be there before one is changed, or they go with it

    (tmp_path / "slurm.toml").write_text(GOOD.replace("2", "1") + HERE)
    programs = tmp_path / "programs"
    monkeypatch.setenv("PATH", write_programs(programs, sbatch=SBATCH, scancel=SCANCEL))
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "0.1s"}),
        open_cluster(f"slurm:{tmp_path / 'slurm.toml'}") as executor,
    ):
        assert (
            signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )  # dask_jobqueue would have its own
        wait_for(lambda: executor.slots)
        only_for_holders_of_certificates(executor, tmp_path)
        (first,) = (programs / "sbatch.started").read_text().split()
        os.killpg(int(first), signal.SIGKILL)
        wait_for(lambda: executor.slots == 0)
        wait_for(lambda: executor.slots == 1)
        assert len((programs / "sbatch.started").read_text().split()) == 2
    assert not list(tmp_path.glob(".dask-jobqueue*"))


def only_for_holders_of_certificates(executor: DaskExecutor, folder: Path) -> None:
    """Nothing but TLS is spoken at the port, and the keys are for their owner."""
    address = executor._address
    assert address.startswith("tls://")
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        open_cluster(address.replace("tls", "tcp")).__enter__()
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        open_cluster(address).__enter__()  # without a certificate
    keys = list(folder.glob(".dask-jobqueue.worker.*"))
    assert keys and all(key.stat().st_mode & 0o777 == 0o600 for key in keys)


def listening(process: psutil.Process) -> set[tuple[str, int]]:
    """Address and port of its sockets."""
    found = process.net_connections("inet")
    return {(each.laddr.ip, each.laddr.port) for each in found if each.status == psutil.CONN_LISTEN}


def test_other_machines_reach_nothing_without_a_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no address to listen at: the ports of scheduler and worker, where TLS is spoken, and no page."""
    (tmp_path / "slurm.toml").write_text(GOOD.replace("2", "1") + "nanny = false\n")
    programs = tmp_path / "programs"
    monkeypatch.setenv("PATH", write_programs(programs, sbatch=SBATCH, scancel=SCANCEL))
    before = listening(psutil.Process())
    with open_cluster(f"slurm:{tmp_path / 'slurm.toml'}") as executor:
        wait_for(lambda: executor.slots)
        (job,) = (programs / "sbatch.started").read_text().split()
        (worker,) = psutil.Process(int(job)).children(recursive=True)
        here, there = listening(psutil.Process()) - before, listening(worker)
        (address,) = executor._client.scheduler_info()["workers"]
    open_ports = {port for ip, port in here | there if not ip_address(ip).is_loopback}
    assert address.startswith("tls://") and executor._address.startswith("tls://")
    assert open_ports == {urlsplit(one).port for one in (address, executor._address)}


def test_slurm_that_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "slurm.toml").write_text(GOOD + HERE)
    where = f"slurm:{tmp_path / 'slurm.toml'}"
    refuses = "#!/bin/sh\necho 'sbatch: error: invalid partition: gpu' >&2\nexit 1\n"
    path = write_programs(tmp_path / "programs", sbatch=refuses, scancel="#!/bin/sh\n")
    with monkeypatch.context() as patch, pytest.raises(InputError) as caught:
        patch.setenv("PATH", path)
        open_cluster(where).__enter__()
    said = "sbatch did not take a job: sbatch: error: invalid partition: gpu"
    assert str(caught.value) == f"{tmp_path / 'slurm.toml'}: {said}"
    assert capfd.readouterr() == ("", "")
    with monkeypatch.context() as patch, pytest.raises(InputError, match="no sbatch on this machine"):
        patch.setenv("PATH", "")
        open_cluster(where).__enter__()


def test_ctrl_c(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(
        SUITE.replace("blocks = 3", "blocks = 30").replace("20s", "1h") + 'limits.memory = "1G"\n'
    )
    words = ["bench", str(tmp_path / "suite.toml"), "-o", str(tmp_path / "run"), "--cluster", cluster.address]
    driver = subprocess.Popen([sys.executable, "-m", "hstar", *words], stderr=subprocess.PIPE, text=True)

    def commands() -> list[str]:
        found = subprocess.run(
            ["pgrep", "-f", f"hstar solve {cluster.folder}"], capture_output=True, text=True
        )
        return found.stdout.split()

    wait_for(commands)
    driver.send_signal(signal.SIGINT)
    _, errors = driver.communicate(timeout=PATIENCE_S)
    assert driver.returncode == 130
    assert len(errors.splitlines()) == 1
    assert errors.rstrip().endswith("run the same command again")
    wait_for(lambda: not commands())


def test_dask_is_needed_for_clusters_alone(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    script = (
        "import sys\n"
        "for name in ('dask', 'distributed', 'dask_jobqueue'): sys.modules[name] = None\n"
        "from hstar.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    words = ["bench", str(tmp_path / "suite.toml"), "-o", str(tmp_path / "run"), "--json"]
    for more, code, message in (
        ([], 0, ""),
        (["--cluster", "tcp://127.0.0.1:1"], 33, "--cluster needs dask: pip install 'hstar[cluster]'"),
    ):
        done = subprocess.run([sys.executable, "-c", script, *words, *more], capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        assert message in done.stderr
        assert done.stderr.count("\n") == code // 33
