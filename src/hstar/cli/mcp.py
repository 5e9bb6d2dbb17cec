"""`hstar mcp`: tools for assistants."""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import threading
from pathlib import Path
from types import FrameType

from hstar.cli.options import Parser
from hstar.cli.serve import named_models
from hstar.errors import InputError, UnsupportedError
from hstar.service.requests import ServiceLimits

DESCRIPTION = """\
Answers a client of the Model Context Protocol on standard input and output, with the tools check_domain,
solve, validate and train. PDDL is passed as text. Each call is a process of its own under the limits below.
docs/integrations.md shows how to set up a client. It needs `pip install 'hstar[mcp]'`."""
EXAMPLES = (
    "hstar mcp",
    "hstar mcp --model blocks=model.hstar --time-limit 30s --memory-limit 1G -o models",
)
_LIMITS = ("time_limit", "memory_limit", "jobs")
_CLOSING_S = 5.0


def configure(parser: Parser) -> None:
    add = parser.option
    text = "Let the client use the model of this file as heuristic NAME. Repeat it for several."
    add("--model", "NAME=FILE", text, action="append")
    add("--output -o", "FOLDER", "Keep models that the client trains in this folder, which must exist.")
    parser.fields(
        ServiceLimits,
        _LIMITS,
        time_limit="Greatest wall-clock time of a call, and the default.",
        memory_limit="Greatest resident memory of a call, and the default.",
        jobs="Number of calls that run at a time.",
    )


def run(arguments: argparse.Namespace) -> int:
    limits = ServiceLimits(**{name: getattr(arguments, name) for name in _LIMITS})
    folder: Path | None = arguments.output
    if folder is not None and not folder.is_dir():
        raise InputError("is not a folder", file=folder)
    if importlib.util.find_spec("mcp") is None:
        raise UnsupportedError("hstar mcp needs the package mcp: pip install 'hstar[mcp]'")
    from hstar.service.mcp import Tools, server

    tools = Tools(limits, named_models(arguments.model or ()), folder and folder.absolute())

    def stop(number: int, frame: FrameType | None) -> None:
        # The thread that reads standard input cannot be woken, so this process does not wait for it.
        closing = threading.Thread(target=tools.close, daemon=True)
        closing.start()
        closing.join(_CLOSING_S)
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        server(tools).run()
    finally:
        tools.close()
    return 0
