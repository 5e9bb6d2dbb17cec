"""The service over HTTP: planning as a service, `POST /solve` of solver.planning.domains, and a page.

    GET  /package                 the packages: hstar alone
    POST /package/hstar/solve     {"domain": TEXT, "problem": TEXT, ...} → {"result": "/check/ID"}
    GET  /check/ID                {"status": "PENDING"}, or {"status": "ok" or "error", "result": {...}}
    POST /solve                   the answer itself, when the search has ended

Below /planutils the same for `planutils remote`, which wants the packages by name and asks for //check/ID.

Answers about a search, bad PDDL included, have code 200. A request that starts none has 400 (a wrong field),
404, 413 (too large), 415 (no JSON), 429 (too many searches wait) or 503 (the server stops).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from hstar.errors import InputError
from hstar.service.requests import manifest, read_request
from hstar.service.searches import BusyError, ClosedError, Search, Searches

_LOOK_EVERY_S = 0.5  # whether the client is still there
_RETRY_S = 1
_INLINE = "script-src 'unsafe-inline'; style-src 'unsafe-inline'"
_PAGE_POLICY = f"default-src 'none'; {_INLINE}; connect-src 'self'; img-src data:"


class _RefusedError(Exception):
    """A request that starts no search, and the code that says so."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def application(searches: Searches, origins: Sequence[str] = ()) -> Starlette:
    """The routes. Pages of `origins` may use the service from a browser."""
    middleware = [Middleware(CORSMiddleware, allow_origins=origins, allow_headers=["*"], allow_methods=["*"])]
    application = Starlette(
        routes=[
            Route("/", _page),
            Route("/package", _packages),
            Route("/package/{package}", _package),
            Route("/package/{package}/{service}", _package),
            Route("/package/{package}/{service}", _start, methods=["POST"]),
            Route("/check/{id}", _check, methods=["GET", "POST"]),
            Route("/solve", _solve, methods=["POST"]),
            Route("/planutils/package", _packages_by_name),
            Route("/planutils/package/{package}/{service}", _start, methods=["POST"]),
            Route("/planutils//check/{id}", _check, methods=["GET", "POST"]),
        ],
        middleware=middleware if origins else [],
        exception_handlers={_RefusedError: _refused, 404: _unknown, 405: _unknown},
    )
    application.state.searches = searches
    return application


class Server(uvicorn.Server):
    """A server whose searches end before it waits for the answers that are still open."""

    def __init__(self, searches: Searches, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._searches = searches

    async def shutdown(self, sockets: Any = None) -> None:
        await asyncio.to_thread(self._searches.close)
        await super().shutdown(sockets)


def _searches(request: Request) -> Searches:
    searches: Searches = request.app.state.searches
    return searches


async def _page(request: Request) -> Response:
    text = resources.files("hstar.service").joinpath("page.html").read_text(encoding="utf-8")
    return HTMLResponse(text, headers={"content-security-policy": _PAGE_POLICY})


async def _packages(request: Request) -> Response:
    return JSONResponse([manifest(_searches(request).models)])


async def _packages_by_name(request: Request) -> Response:
    found = manifest(_searches(request).models)
    return JSONResponse({found["package_name"]: found})


async def _package(request: Request) -> Response:
    _check_names(request)
    return JSONResponse(manifest(_searches(request).models))


async def _start(request: Request) -> Response:
    _check_names(request)
    return JSONResponse({"result": f"/check/{(await _started(request)).id}"})


async def _check(request: Request) -> Response:
    search = _searches(request).get(request.path_params["id"])
    if search is None:
        raise _RefusedError(404, "no search has this id, or its answer is no longer kept")
    if not search.future.done():
        return JSONResponse({"status": "PENDING"})
    return _answer(search)


async def _solve(request: Request) -> Response:
    search = await _started(request)
    future = asyncio.wrap_future(search.future)
    while not (await asyncio.wait([future], timeout=_LOOK_EVERY_S))[0]:
        if await request.is_disconnected():
            search.cancel()
            return Response()
    return _answer(search)


def _answer(search: Search) -> Response:
    if search.future.cancelled():
        raise _RefusedError(503, "the server is about to stop")
    return Response(search.future.result(), media_type="application/json")


async def _started(request: Request) -> Search:
    searches = _searches(request)
    body = await _body(request, searches.limits.body_limit)
    try:
        asked = json.loads(body)
        if isinstance(asked, dict):  # VS Code sends options in the address
            asked = {**dict(request.query_params), **asked}
        # A large body is checked beside other requests.
        checked = await asyncio.to_thread(read_request, asked, searches.limits, searches.models)
        return searches.start(checked)
    except InputError as error:
        raise _RefusedError(400, str(error)) from None
    except (ValueError, RecursionError):
        example = '{"domain": TEXT, "problem": TEXT}'
        raise _RefusedError(400, f"the body is not JSON: send {example}") from None
    except BusyError as error:
        raise _RefusedError(429, str(error)) from None
    except ClosedError as error:
        raise _RefusedError(503, str(error)) from None


_DROPPED = 16  # times the limit of a body


async def _body(request: Request, most: int) -> bytes:
    """The body, of which no more than the limit is ever in memory."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise _RefusedError(415, "send JSON, with the header 'content-type: application/json'")
    too_large = _RefusedError(413, f"the body must have at most {most} bytes")
    length = request.headers.get("content-length", "")
    # A client that is still sending when the connection closes may not see the answer: more is read, and
    # dropped, but not without end.
    if length.isdecimal() and int(length) > _DROPPED * most:
        raise too_large
    body, received = bytearray(), 0
    try:
        async for chunk in request.stream():
            received += len(chunk)
            if received <= most:
                body += chunk
            elif received > _DROPPED * most:
                break
    except ClientDisconnect:
        raise _RefusedError(400, "the client has gone") from None
    if received > most:
        raise too_large
    return bytes(body)


def _check_names(request: Request) -> None:
    if request.path_params["package"] != "hstar":
        raise _RefusedError(404, "this server has one package: hstar")
    if request.path_params.get("service", "solve") != "solve":
        raise _RefusedError(404, "the package hstar has one service: solve")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, _RefusedError)
    headers = {"retry-after": str(_RETRY_S)} if error.code in (429, 503) else {}
    if error.code == 413:
        headers["connection"] = "close"  # the rest of the body is not read
    return _said(error.code, str(error), headers)


async def _unknown(request: Request, error: Exception) -> Response:
    code = getattr(error, "status_code", 404)
    return _said(
        code, f"{request.method} {request.url.path} is not of this server; GET /package says what is"
    )


def _said(code: int, message: str, headers: dict[str, str] | None = None) -> Response:
    answer = {"status": "error", "error": message, "result": {"error": message, "output": {}}}
    return JSONResponse(answer, code, headers)
