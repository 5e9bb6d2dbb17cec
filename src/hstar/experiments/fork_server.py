"""Commands of hstar that start in milliseconds: forked from a server that has imported what they need.

To import hstar takes a third of a second and torch two, which is more than many a search. The first command
of a kind runs in a server that has imported nothing, and tells which modules it came to need; those after it
run in one that has just these, and has loaded the models that they name. Each is still a process of its own,
and `run_limited` treats it like any other. Results are those of a program that was started alone; of its
memory less is resident, since pages of libraries count when they are touched.

Invariant: a server answers requests one by one and in their order. When one of them is interrupted or takes
too long, the server is killed, since its next answer would be taken for another's.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from hstar.experiments.process import KILLED, Child, Used, start_process

MOST_SERVERS = 4  # some 200 MB each, with torch
ANSWER_S = 60.0  # for a server to answer, its imports included
ERRORS_FROM = (
    30  # exit codes of hstar that tell of errors: such a command may have stopped before its imports
)

_END_S = 0.2  # for a server to see that nobody asks any more
_MESSAGE_BYTES = 1 << 20  # at most
# As the jobs name `hstar`, not a module that is imported here: this layer is below the command line.
_SERVER = "import sys; from hstar.cli.forked import main; main(sys.argv[1:])"


class ForkServers:
    """Servers by the modules they have imported; for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._modules: dict[Hashable, tuple[str, ...]] = {}  # by kind of command
        self._servers: dict[tuple[str, ...], _Server] = {}  # the one that was used last is the last
        self._failed: set[tuple[str, ...]] = set()
        self._able = _has_pidfd()
        weakref.finalize(self, _close, self._servers)

    def start(
        self,
        kind: Hashable,
        command: Sequence[str],
        stdin: IO[bytes],
        environment: Mapping[str, str] | None,
        models: Sequence[Path] = (),
    ) -> Child:
        """A command `python -m hstar ...` that reads these models; started alone if its server fails."""
        modules = self._modules.get(kind, ())
        if modules:
            modules = (*modules, *map(str, models))
        if not self._able or modules in self._failed:
            return start_process(command, stdin, environment)
        try:
            server = self._server(modules)
            child = server.start(command[3:], stdin, environment or {})
        except OSError:
            with self._lock:
                self._failed.add(modules)
            return start_process(command, stdin, environment)
        if kind not in self._modules:
            child.tell = lambda told: self._modules.setdefault(kind, tuple(sorted(told)))
        return child

    def close(self) -> None:
        """Ends the servers and what they have started; also done when nobody has this object any more."""
        with self._lock:
            _close(self._servers)

    def _server(self, modules: tuple[str, ...]) -> _Server:
        """For a command that is about to be started, which it counts already."""
        with self._lock:
            server = self._servers.pop(modules, None)
            if server is None:
                server = _Server(modules)
                idle = [name for name, other in self._servers.items() if not other.running]
                for name in idle[: max(0, len(self._servers) + 1 - MOST_SERVERS)]:
                    self._servers.pop(name).close()
            server.count(1)
            self._servers[modules] = server
            return server


def _close(servers: dict[tuple[str, ...], _Server]) -> None:
    while servers:
        servers.popitem()[1].close()


def _has_pidfd() -> bool:
    """Whether the end of a process that is not our child can be waited for: Linux 5.3."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True


class _Server:
    """One server. It ends when we do, since its socket closes then, and what it has started ends with it."""

    def __init__(self, modules: Sequence[str]) -> None:
        self.running = 0  # commands, from before their start until they have been waited for
        self._counting, self._asking = threading.Lock(), threading.Lock()
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection.settimeout(ANSWER_S)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVER, str(theirs.fileno()), *modules],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                # No threads may be there when it forks.
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )

    def count(self, change: int) -> None:
        with self._counting:
            self.running += change

    def start(self, words: Sequence[str], stdin: IO[bytes], environment: Mapping[str, str]) -> _Forked:
        """An `OSError` if that does not work; then the command does not run."""
        request = {"start": list(words), "environment": dict(environment)}
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
            ours.callback(self.count, -1)
            streams: list[IO[bytes]] = []
            written: list[int] = []
            for _ in range(2):
                reading, writing = os.pipe()
                theirs.callback(os.close, writing)
                streams.append(ours.enter_context(open(reading, "rb", buffering=0)))  # noqa: PTH123
                written.append(writing)
            pid: int = self._ask(request, [stdin.fileno(), *written])["pid"]
            try:
                ended = os.pidfd_open(pid)
            except OSError:
                os.kill(pid, signal.SIGKILL)
                self._ask({"wait": pid})
                raise
            ours.pop_all()  # the command has them
            return _Forked(self, pid, ended, *streams)

    def wait(self, pid: int) -> dict[str, Any]:
        """What has become of a command that has ended; an `OSError` if the server has, too."""
        try:
            return self._ask({"wait": pid})
        finally:  # not before, or the server would seem to be idle
            self.count(-1)

    def _ask(self, request: Mapping[str, Any], files: Sequence[int] = ()) -> dict[str, Any]:
        with self._asking:
            try:
                socket.send_fds(self._connection, [json.dumps(request).encode()], files)
                message = self._connection.recv(_MESSAGE_BYTES)
            except BaseException:
                self._process.kill()
                self._connection.close()
                raise
        answer: dict[str, Any] = json.loads(message) if message else {"error": "the server has ended"}
        if "error" in answer:
            raise OSError(answer["error"])
        return answer

    def close(self) -> None:
        self._connection.close()
        try:
            self._process.wait(timeout=_END_S)
        except subprocess.TimeoutExpired:  # it imports something
            self._process.kill()
            self._process.wait()


class _Forked:
    """A child of the server; see `process.Child`."""

    def __init__(self, server: _Server, pid: int, ended: int, output: IO[bytes], errors: IO[bytes]) -> None:
        self.pid, self.output, self.errors = pid, output, errors
        self.tell: Callable[[Sequence[str]], object] = lambda modules: None
        self._server = server
        # Readable when it has ended; its number stays its own until the server waits for it.
        self._ended, self._poll = ended, select.poll()
        self._poll.register(ended, select.POLLIN)

    def ended(self) -> bool:
        return bool(self._poll.poll(0))

    def wait(self) -> Used:
        self._poll.poll()
        os.close(self._ended)
        try:
            used = self._server.wait(self.pid)
        except OSError:  # the server was killed, and the child with it
            return Used(KILLED, 0, 0.0)
        if used["modules"] is not None and used["exit_code"] < ERRORS_FROM:
            self.tell(used["modules"])
        return Used(used["exit_code"], used["peak_memory"], used["cpu_seconds"])
