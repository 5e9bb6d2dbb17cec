"""Commands of hstar that start in milliseconds: forked from a server that has imported what they need.

To import hstar takes a third of a second and torch two, which is more than many a search. The first command
of a kind runs in a server that has imported nothing, and tells which modules it came to need; those after it
run in one that has just these, so that neither their memory nor their results differ from those of a program
that was started alone. Each is still a process of its own, and `run_limited` treats it like any other.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import IO, Any

from hstar.experiments.process import KILLED, Child, Used, start_process, with_parent

MOST_SERVERS = 4  # some 200 MB each, with torch
_MESSAGE_BYTES = 1 << 20  # at most
# As the jobs name `hstar`, not a module that is imported here: this layer is below the command line.
_SERVER = "import sys; from hstar.cli.serve import main; main(sys.argv[1:])"


class ForkServers:
    """Servers by the modules they have imported; for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._modules: dict[Hashable, tuple[str, ...]] = {}  # by kind of command
        self._servers: dict[tuple[str, ...], _Server] = {}  # the one that was used last is the last
        self._usable = _has_pidfd()
        weakref.finalize(self, _close, self._servers)

    def start(
        self, kind: Hashable, command: Sequence[str], stdin: IO[bytes], environment: Mapping[str, str] | None
    ) -> Child:
        """A command `python -m hstar ...`; it and all later ones are started alone if a server fails."""
        with self._lock:
            if not self._usable:
                return start_process(command, stdin, environment)
            modules = self._modules.get(kind, ())
            try:
                child = self._server(modules).start(command[3:], stdin, environment or {})
            except OSError:
                self._usable = False
                return start_process(command, stdin, environment)
        if kind not in self._modules:
            child.tell = lambda told: self._modules.setdefault(kind, tuple(sorted(told)))
        return child

    def _server(self, modules: tuple[str, ...]) -> _Server:
        server = self._servers.pop(modules, None)
        if server is None:
            server = _Server(modules)
            idle = [name for name, other in self._servers.items() if not other.running]
            for name in idle[: max(0, len(self._servers) + 1 - MOST_SERVERS)]:
                self._servers.pop(name).close()
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
    def __init__(self, modules: Sequence[str]) -> None:
        self.running = 0  # children that nobody has waited for
        self._lock = threading.Lock()
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [*with_parent(), sys.executable, "-c", _SERVER, str(theirs.fileno()), *modules],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                # No threads may be there when it forks.
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )

    def start(self, words: Sequence[str], stdin: IO[bytes], environment: Mapping[str, str]) -> _Forked:
        """An `OSError` if the server is not there any more."""
        output, errors = (_Pipe() for _ in range(2))
        request = {"start": list(words), "environment": dict(environment)}
        try:
            pid = self._ask(request, [stdin.fileno(), output.theirs, errors.theirs])["pid"]
        finally:
            os.close(output.theirs)
            os.close(errors.theirs)
        with self._lock:
            self.running += 1
        return _Forked(self, pid, output.ours, errors.ours)

    def wait(self, pid: int) -> dict[str, Any]:
        """What has become of a child that has ended; an `OSError` as above."""
        try:
            return self._ask({"wait": pid})
        finally:  # not before, or it would seem to be idle
            with self._lock:
                self.running -= 1

    def _ask(self, request: Mapping[str, Any], files: Sequence[int] = ()) -> dict[str, Any]:
        with self._lock:
            socket.send_fds(self._connection, [json.dumps(request).encode()], files)
            answer = self._connection.recv(_MESSAGE_BYTES)
        if not answer:
            raise ConnectionResetError("the server has ended")
        found: dict[str, Any] = json.loads(answer)
        return found

    def close(self) -> None:
        """Ends it; what it has started ends, too."""
        self._connection.close()
        self._process.wait()


class _Pipe:
    def __init__(self) -> None:
        ours, self.theirs = os.pipe()
        self.ours: IO[bytes] = open(ours, "rb", buffering=0)  # noqa: PTH123, SIM115  (the child's to close)


class _Forked:
    """A child of the server; see `process.Child`."""

    def __init__(self, server: _Server, pid: int, output: IO[bytes], errors: IO[bytes]) -> None:
        self.pid, self.output, self.errors = pid, output, errors
        self.tell: Callable[[Sequence[str]], object] = lambda modules: None
        self._server = server
        # Readable when it has ended; its number stays its own until the server waits for it.
        self._ended = os.pidfd_open(pid)

    def ended(self) -> bool:
        return bool(select.select([self._ended], [], [], 0)[0])

    def wait(self) -> Used:
        select.select([self._ended], [], [])
        os.close(self._ended)
        try:
            used = self._server.wait(self.pid)
        except OSError:  # the server was killed, and the child with it
            return Used(KILLED, 0, 0.0)
        if used["modules"] is not None:
            self.tell(used["modules"])
        return Used(used["exit_code"], used["peak_memory"], used["cpu_seconds"])
