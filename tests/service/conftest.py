"""A server in a process of its own, on a free port of loopback."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from hstar.generators import GENERATORS

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")

DATA = Path(__file__).parents[1] / "data"


@dataclass(frozen=True)
class Running:
    """A server that listens."""

    process: subprocess.Popen[str]
    url: str

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=60)


@contextmanager
def serving(*words: str | Path, python: str = sys.executable) -> Iterator[Running]:
    command = [python, "-m", "hstar", "serve", "--port", "0", *map(str, words)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        found = re.search(r"http://\S+:\d+", line)
        assert found is not None, line + process.stderr.read()
        yield Running(process, found[0])
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0, process.stderr.read()
        process.stderr.close()


def texts(name: str) -> dict[str, str]:
    """Domain and problem of the test data, as a client sends them."""
    return {part: (DATA / name / f"{part}.pddl").read_text() for part in ("domain", "problem")}


def endless() -> dict[str, object]:
    """A search that takes longer than any test."""
    domain, problem = GENERATORS.get("blocksworld")(blocks=40, seed=1)
    return {"domain": domain, "problem": problem, "search": "astar", "heuristic": "blind"}


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving("--jobs", "2", "--time-limit", "20s", "--body-limit", "1M") as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client
