"""`hstar serve`: searches for clients over HTTP."""

from __future__ import annotations

import argparse
import importlib.util
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hstar.cli.options import Parser
from hstar.errors import InputError, UnsupportedError
from hstar.files import names_model
from hstar.search.heuristics import heuristics
from hstar.service.requests import ServiceLimits

if TYPE_CHECKING:
    from collections.abc import Sequence

DESCRIPTION = """\
The server speaks planning as a service, which planutils and the PDDL extension of VS Code use, and has a page
at / to type PDDL into. Each search is a process of its own under the limits below. docs/integrations.md
shows clients. Ctrl-C stops it. It needs `pip install 'hstar[serve]'`."""
EXAMPLES = (
    "hstar serve --port 8791",
    "hstar serve --model blocks=model.hstar --time-limit 30s --memory-limit 1G --jobs 4",
    "hstar serve --host 0.0.0.0 --allow-origin https://editor.planning.domains",
)
_LIMITS = ("time_limit", "memory_limit", "jobs", "queue", "body_limit", "keep", "keep_time")
_NEEDED = ("starlette", "uvicorn")


def configure(parser: Parser) -> None:
    add = parser.option
    add("--port", "N", "Listen on this TCP port; 0 takes a free one, which is printed.", 8791)
    add(
        "--host", "NAME", "Listen on this address. Others than loopback are open to the network.", "127.0.0.1"
    )
    text = "Let clients use the model of this file as heuristic NAME. Repeat it for several."
    add("--model", "NAME=FILE", text, action="append")
    parser.fields(ServiceLimits, _LIMITS)
    text = "Let pages of this origin, such as https://example.org, use the server from a browser; repeatable."
    add("--allow-origin", "ORIGIN", text, action="append")
    add("--quiet -q", None, "Say nothing on standard error but errors.")


def run(arguments: argparse.Namespace) -> int:
    limits = ServiceLimits(**{name: getattr(arguments, name) for name in _LIMITS})
    if any(importlib.util.find_spec(name) is None for name in _NEEDED):
        raise UnsupportedError("hstar serve needs starlette and uvicorn: pip install 'hstar[serve]'")
    models = named_models(arguments.model or ())
    with _listening(arguments.host, arguments.port) as connection:
        return _serve(arguments, limits, models, connection)


def _serve(
    arguments: argparse.Namespace, limits: ServiceLimits, models: dict[str, Path], connection: socket.socket
) -> int:
    import uvicorn

    from hstar.service.searches import Searches
    from hstar.service.web import Server, application

    searches = Searches(limits, models)
    try:
        served = application(searches, arguments.allow_origin or ())
        config = uvicorn.Config(
            served, log_level="error", access_log=False, lifespan="off", server_header=False
        )
        host, port = connection.getsockname()[:2]
        if not arguments.quiet:
            shown = f"[{host}]" if ":" in host else host
            print(f"hstar serves on http://{shown}:{port}; Ctrl-C stops it", file=sys.stderr, flush=True)
        Server(searches, config).run(sockets=[connection])
    except KeyboardInterrupt:  # uvicorn has stopped, and passes the signal on
        pass
    finally:
        searches.close()
    return 0


def named_models(words: Sequence[str]) -> dict[str, Path]:
    """Models by name. Each is loaded once, so that a bad file stops the start and not a search."""
    from hstar.models.trained_model import load_model

    known, models = {info.name for info in heuristics()}, dict[str, Path]()
    for word in words:
        name, equals, file = word.partition("=")
        if not name or not equals or not file:
            raise InputError(f"--model must be NAME=FILE, got '{word}'")
        if name in known or name in models:
            raise InputError(f"--model: '{name}' is the name of another heuristic already")
        path = Path(file).absolute()
        if not names_model(path):
            raise InputError("a model file has a name that ends with .hstar", file=file)
        kind = load_model(path).space.kind
        if kind not in ("domain", "task"):
            raise InputError(f"the model is for a {kind}, but the server solves PDDL", file=file)
        models[name] = path
    return models


def _listening(host: str, port: int) -> socket.socket:
    if port > 65535:
        raise InputError(f"--port must be at most 65535, got {port}")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server((address[0], port), family=family, backlog=1024)
    except OSError as error:
        raise InputError(f"cannot listen on {host} port {port}: {error.strerror}") from None
