"""Commands that a server forks: the same answers as of a program that is started alone, in less time."""

from __future__ import annotations

import functools
import json
import os
import resource
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from hstar.experiments import fork_server, process
from hstar.experiments.fork_server import MOST_SERVERS, ForkServers
from hstar.experiments.job import HSTAR, Job, execute
from hstar.experiments.process import Finished, ProcessLimits, kill_all, run_limited
from hstar.generators import GENERATORS
from hstar.recipes import train

COMMAND = (sys.executable, "-m", "hstar")
PUZZLE = ("solve", "tiles:3x3", "--random", "2", "--heuristic", "manhattan", "--json", "--quiet")
ENDLESS = ("solve", "tiles:5x5", "--random", "1", "--heuristic", "blind", "--json", "--quiet")


def forked(servers: ForkServers, *words: str, kind: str = "a", time_limit: float = 60) -> Finished:
    start = functools.partial(servers.start, kind)
    return run_limited([*COMMAND, *words], ProcessLimits(time_limit), start=start)


def server_of(servers: ForkServers, kind: str) -> int:
    return servers._servers[servers._modules.get(kind, ())]._process.pid


def wait_for_commands(number: int) -> None:
    """Until so many have been started; a server counts them before that."""
    deadline = time.monotonic() + 30
    while len(process._running._trees) < number:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def untimed(found: Finished) -> list[dict[str, object]]:
    records = [json.loads(line) for line in found.output.splitlines()]
    return [{k: value for k, value in one.items() if "time" not in k and k != "memory"} for one in records]


def test_the_same_as_alone() -> None:
    servers = ForkServers()
    alone = run_limited([*COMMAND, *PUZZLE], ProcessLimits(60))
    for _ in range(3):
        found = forked(servers, *PUZZLE)
        assert (found.exit_code, found.errors) == (0, "") and untimed(found) == untimed(alone)
        assert 0.6 * alone.peak_memory <= found.peak_memory <= 1.5 * alone.peak_memory
        assert found.cpu_seconds > 0
    refused = forked(servers, "solve", "tiles:3x3x3", "--walk", "1")
    assert (refused.exit_code, refused.output) == (33, "") and "expected a puzzle" in refused.errors
    wide, narrow = (
        run_limited(
            [*COMMAND, "solve", "--help"],
            ProcessLimits(60),
            environment={"COLUMNS": columns},
            start=functools.partial(servers.start, "help"),
        ).output
        for columns in ("200", "60")
    )
    assert len(wide.splitlines()) < len(narrow.splitlines()), "the environment is the command's own"


def test_the_second_of_a_kind_finds_its_modules() -> None:
    servers = ForkServers()
    assert forked(servers, *PUZZLE).exit_code == 0
    modules = servers._modules["a"]
    assert {"numpy", "hstar.search.iterative_deepening"} < {*modules} and "torch" not in modules
    assert list(servers._servers) == [()]
    assert forked(servers, *PUZZLE).exit_code == 0
    assert list(servers._servers) == [(), modules]
    # A kind of its own, with fewer modules, and no more servers than are allowed.
    for number in range(MOST_SERVERS + 1):
        servers._modules[f"{number}"] = (f"absent{number}",)
        assert forked(servers, "--version", kind=f"{number}").exit_code == 0
    assert len(servers._servers) == MOST_SERVERS


def test_models_stay_loaded_while_their_file_is_the_same(tmp_path: Path) -> None:
    model = tmp_path / "model.hstar"
    train("wl", "gripper", iterations=1, seed=0).save(model)
    domain, problem = GENERATORS.get("gripper")(balls=2, seed=0)
    (tmp_path / "domain.pddl").write_text(domain)
    (tmp_path / "problem.pddl").write_text(problem)
    words = ("solve", str(tmp_path / "problem.pddl"), "--heuristic", str(model), "--json", "--quiet")
    servers = ForkServers()

    def solve() -> tuple[int, list[str] | None]:
        start = functools.partial(servers.start, "solve", models=[model])
        found = run_limited([*COMMAND, *words], ProcessLimits(60), start=start)
        return found.exit_code, json.loads(found.output)["plan"] if found.output else None

    first = solve()
    assert first[0] == 0 and first == solve()
    before = model.stat()
    model.write_bytes(b"x" * before.st_size)
    os.utime(model, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert solve() == first, "it was loaded before"
    os.utime(model)
    assert solve() == (33, None), "the file has changed"


def test_limits() -> None:
    servers = ForkServers()
    late = forked(servers, *ENDLESS, time_limit=1.5)
    assert late.timed_out and late.exit_code == -signal.SIGKILL
    # What was killed has told nothing; and a limit of memory holds.
    assert servers._modules == {}
    start = functools.partial(servers.start, "a")
    big = run_limited([*COMMAND, *ENDLESS], ProcessLimits(60, resident_memory=8 << 20), start=start)
    assert big.out_of_memory and not big.timed_out
    small = run_limited([*COMMAND, *PUZZLE], ProcessLimits(60, address_space=1 << 20), start=start)
    assert small.exit_code != 0


def test_several_at_a_time_and_their_end() -> None:
    servers = ForkServers()
    assert forked(servers, *PUZZLE).exit_code == 0
    ended: list[int] = []
    threads = [
        threading.Thread(target=lambda: ended.append(forked(servers, *ENDLESS).exit_code)) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    wait_for_commands(3)
    assert untimed(forked(servers, *PUZZLE))  # beside them
    kill_all()
    for thread in threads:
        thread.join()
    assert ended == [-signal.SIGKILL] * 3
    assert all(server.running == 0 for server in servers._servers.values())


def test_a_server_that_is_killed() -> None:
    servers = ForkServers()
    assert forked(servers, *PUZZLE).exit_code == 0
    ended: list[Finished] = []
    thread = threading.Thread(target=lambda: ended.append(forked(servers, *ENDLESS, kind="b")))
    thread.start()
    wait_for_commands(1)
    os.kill(server_of(servers, "b"), signal.SIGKILL)
    thread.join(timeout=30)
    assert [found.exit_code for found in ended] == [-signal.SIGKILL], "its children end with it"
    # From here on commands like that start alone.
    for _ in range(2):
        assert forked(servers, *PUZZLE, kind="c").exit_code == 0
    assert servers._failed == {()}


def test_a_server_that_cannot_fork_any_more() -> None:
    """What it has started goes on, and the next command starts alone."""
    servers = ForkServers()
    ended: list[Finished] = []
    thread = threading.Thread(target=lambda: ended.append(forked(servers, *ENDLESS, time_limit=3)))
    thread.start()
    wait_for_commands(1)
    used = len(list(Path(f"/proc/{server_of(servers, 'a')}/fd").iterdir()))
    resource.prlimit(server_of(servers, "a"), resource.RLIMIT_NOFILE, (used + 3, used + 3))
    assert forked(servers, *PUZZLE, kind="b").exit_code == 0
    assert servers._failed == {()} and not ended
    thread.join()
    assert [found.timed_out for found in ended] == [True]


def test_a_server_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_server, "ANSWER_S", 0.5)
    servers = ForkServers()
    servers._modules["a"] = ("hangs",)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent / "hanging"))
    found = forked(servers, *PUZZLE)
    assert found.exit_code == 0 and servers._failed == {("hangs",)}


def test_an_interrupted_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer that nobody has read is not taken for the next one."""
    servers = ForkServers()
    assert forked(servers, *PUZZLE).exit_code == 0
    server = servers._servers[()]

    class Interrupted(socket.socket):
        def recv(self, *_: object) -> bytes:
            raise KeyboardInterrupt

    whole = server._connection
    server._connection = Interrupted(fileno=os.dup(whole.fileno()))
    with pytest.raises(KeyboardInterrupt):
        forked(servers, *ENDLESS, kind="b")
    whole.close()
    assert server._process.wait(timeout=10) == -signal.SIGKILL
    assert server.running == 0
    assert untimed(forked(servers, *PUZZLE, kind="c"))


def test_many_open_files() -> None:
    """Numbers of files that `select` does not take."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1200:
        pytest.skip("there may not be so many files here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1200), hard))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        assert forked(ForkServers(), *PUZZLE).exit_code == 0
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_servers_end_with_their_owner() -> None:
    servers = ForkServers()
    assert forked(servers, *PUZZLE).exit_code == 0
    server = servers._servers[()]._process
    assert server.poll() is None
    del servers
    assert server.poll() == 0


def test_jobs() -> None:
    """The outcome of a job is the same with servers and without; what is no command of hstar starts alone."""
    job = Job("search", (*HSTAR, *PUZZLE[:2], "{one.csv}", *PUZZLE[4:]), {"one.csv": ""})
    contents = {"one.csv": b"id,tiles\n1,1 2 5 3 4 0 6 7 8\n"}
    servers = ForkServers()
    alone, first, second = (execute(job, contents, servers=one) for one in (None, servers, servers))
    for outcome in (alone, first, second):
        assert outcome.record["status"] == "solved" and outcome.record["cost"] == alone.record["cost"]
    assert len(servers._servers) == 2
    other = execute(Job("make", ("true",)), {}, servers=servers)
    assert other.record["status"] == "made" and len(servers._servers) == 2
