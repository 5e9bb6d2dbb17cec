"""`hstar serve`: what is wrong with its options is said before it listens."""

from __future__ import annotations

import importlib.util
import socket
from pathlib import Path
from typing import Any

import pytest

from .conftest import DATA, Refused


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "m.hstar"), "--model must be NAME=FILE, got 'm.hstar'"),
        (("--model", "ff=m.hstar"), "'ff' is the name of another heuristic"),
        (("--model", "m=m.hstar"), "m.hstar"),
        (("--jobs", "0"), "--jobs takes 1 or more"),
        (("--time-limit", "0"), "time_limit must be a number above 0"),
        (("--port", "70000"), "--port must be at most 65535"),
        (("--host", "not a host"), "cannot listen on not a host"),
    ],
)
def test_bad_options(refused: Refused, words: tuple[str, ...], said: str) -> None:
    assert said in refused(33, "serve", *words)


def test_a_taken_port_is_named(refused: Refused) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"cannot listen on 127.0.0.1 port {port}" in refused(33, "serve", "--port", str(port))


def test_damaged_models_stop_the_start(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "m.hstar").write_bytes((DATA / "blocks" / "domain.pddl").read_bytes())
    assert "m.hstar" in refused(33, "serve", "--model", f"m={tmp_path / 'm.hstar'}")


def test_without_the_extra_it_says_what_to_install(refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str, *more: Any) -> Any:
        return None if name == "uvicorn" else found(name, *more)

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", find)
    assert "pip install 'hstar[serve]'" in refused(34, "serve")
