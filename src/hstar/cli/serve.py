"""A server that has imported what commands of hstar need, and forks for each of them.

Started by `experiments/fork_server.py` alone, with the number of a socket and the modules to import. A
message starts a command or waits for one that has ended; standard streams come with the first. In the server
`serve` returns at the end of the messages, in a child with the words of its command, so that the command
ends as any other program does.
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


def serve(socket_number: int, modules: Sequence[str]) -> list[str] | None:
    """Answers messages until the other side is gone; None then, and in a child its words."""
    for name in modules:
        with contextlib.suppress(Exception):  # it is only for speed
            importlib.import_module(name)
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208
        return None  # a lock that another thread holds would be held in the children for ever
    gc.collect()
    gc.freeze()  # what is here stays shared with the children
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
            ready, told = os.pipe()
            report, tell = os.pipe()
            pid = os.fork()
            if pid == 0:
                for number in (*reports.values(), ready, report):
                    os.close(number)
                connection.close()
                _become(files, request["environment"], tell)
                os.close(told)  # now it is the leader of a session
                words: list[str] = request["start"]
                return words
            for number in (*files, told, tell):
                os.close(number)
            os.read(ready, 1)
            os.close(ready)
            reports[pid] = report
            answer = {"pid": pid}
        connection.send(json.dumps(answer).encode())


def _become(files: Sequence[int], environment: dict[str, str], tell: int) -> None:
    """A process of its own, with its streams; it does not outlive the server."""
    os.setsid()
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    for stream, number in enumerate(files):
        os.dup2(number, stream)
        os.close(number)
    os.environ.update(environment)
    os.set_inheritable(tell, False)
    atexit.register(_tell_modules, tell)


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
