"""A server that has imported what commands of hstar need, and forks for each of them.

Started by `experiments/fork_server.py` alone, with the number of a socket, the modules to import, and paths
of models (they have a slash) to load. A message starts a command or waits for one that has ended; standard
streams come with the first. In the server `serve` returns at the end of the messages, in a child with the
words of its command, so that the command ends as any other program does. The children end with the server.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Any

_MESSAGE_BYTES = 1 << 20  # at most
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>
_READY = b"1"


def serve(socket_number: int, modules: Sequence[str]) -> list[str] | None:
    """Answers messages until the other side is gone; None then, and in a child its words."""
    for name in modules:
        with contextlib.suppress(Exception):  # it is only for speed
            if "/" in name:
                importlib.import_module("hstar.models.trained_model").keep_loaded(name)
            else:
                importlib.import_module(name)
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208
        return None  # a lock that another thread holds would be held in the children for ever
    gc.collect()
    gc.freeze()  # what is here stays shared with the children
    prctl = ctypes.CDLL(None).prctl
    server = os.getpid()
    reports: dict[int, int] = {}  # by child: where it tells its modules
    connection = socket.socket(fileno=socket_number)
    while True:
        message, files, _, _ = socket.recv_fds(connection, _MESSAGE_BYTES, 3)
        if not message:
            return None
        request = json.loads(message)
        if "wait" in request:
            answer = _waited(request["wait"], reports.pop(request["wait"]))
        else:
            try:
                report, tell = os.pipe()
                pid = os.fork()
            except OSError as error:  # no memory or too many processes; other commands go on
                answer = {"error": str(error)}
            else:
                if pid == 0:
                    prctl(_DEATH_SIGNAL, signal.SIGKILL)
                    if os.getppid() != server:  # it ended before that
                        os._exit(1)
                    for number in (*reports.values(), report):
                        os.close(number)
                    connection.close()
                    _become(files, request["environment"], tell)
                    words: list[str] = request["start"]
                    return words
                os.close(tell)
                os.read(report, len(_READY))  # nothing, if it could not even become that
                reports[pid] = report
                answer = {"pid": pid}
            for number in files:
                os.close(number)
        connection.send(json.dumps(answer).encode())


def _become(files: Sequence[int], environment: dict[str, str], tell: int) -> None:
    """A process of its own, the leader of a session, with its streams."""
    os.setsid()
    for stream, number in enumerate(files):
        os.dup2(number, stream)
        os.close(number)
    os.environ.update(environment)
    atexit.register(_tell_modules, tell)
    os.write(tell, _READY)


def _tell_modules(tell: int) -> None:
    """Packages, and our own modules: what another server should import for commands like this one."""
    names = [name for name in sys.modules if "." not in name or name.startswith("hstar.")]
    with contextlib.suppress(OSError):
        os.set_blocking(tell, False)
        os.write(tell, json.dumps(names).encode())


def _waited(pid: int, report: int) -> dict[str, Any]:
    _, status, usage = os.wait4(pid, 0)
    os.set_blocking(report, False)
    try:
        told = os.read(report, _MESSAGE_BYTES)
    except BlockingIOError:  # it was killed, and a process that it has left has the pipe
        told = b""
    os.close(report)
    return {
        "exit_code": os.waitstatus_to_exitcode(status),
        "peak_memory": 1024 * usage.ru_maxrss,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "modules": json.loads(told) if told else None,
    }


def main(arguments: Sequence[str]) -> None:
    """The server, or the command in a child."""
    words = serve(int(arguments[0]), arguments[1:])
    if words is not None:
        from hstar import cli

        sys.argv = ["hstar", *words]
        cli.main()
