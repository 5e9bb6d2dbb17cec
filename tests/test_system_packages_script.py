"""tools/system_packages.sh installs packages of the system only where nobody can be asked, or after a yes."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "tools" / "system_packages.sh"


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """An environment with a Python that misses something, in which apt-get only writes down its words."""
    texts = {
        "python": "cat >/dev/null; echo python3-venv",
        "id": "echo 0",
        "g++": "true",
        "cat": "exec /bin/cat",
    }
    texts["apt-get"] = f'echo "$@" >>{tmp_path}/log'
    for name, text in texts.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    return {"PATH": str(tmp_path)}


def run(programs: dict[str, str], typed: str | None) -> tuple[int, str, str]:
    """Exit code, what it said, and what apt-get was told; `typed` is at a terminal, None is no terminal."""
    command = ["/bin/sh", str(SCRIPT), "python"]
    stdin = subprocess.DEVNULL
    if typed is not None:
        terminal, stdin = pty.openpty()
        os.write(terminal, typed.encode())
    done = subprocess.run(command, env=programs, stdin=stdin, capture_output=True, text=True, timeout=60)
    if typed is not None:
        os.close(terminal)
        os.close(stdin)
    log = Path(programs["PATH"], "log")
    return done.returncode, done.stderr, log.read_text() if log.exists() else ""


@pytest.mark.parametrize("typed", ["y\n", "yes\n", None])
def test_installs(programs: dict[str, str], typed: str | None) -> None:
    code, said, told = run(programs, typed)
    assert (code, told) == (0, "update -qq\ninstall -y -qq python3-venv\n")
    assert ("[y/N]" in said) == (typed is not None)


def test_ci_is_not_asked(programs: dict[str, str]) -> None:
    code, said, told = run({**programs, "CI": "1"}, "")
    assert code == 0 and said == "" and "install" in told


@pytest.mark.parametrize("typed", ["n\n", "\n", "\x04"])
def test_installs_nothing_without_a_yes(programs: dict[str, str], typed: str) -> None:
    code, said, told = run(programs, typed)
    assert code == 1 and told == ""
    assert said.endswith("hstar: please install first: apt-get install python3-venv\n")


def test_others_than_root_are_told(programs: dict[str, str]) -> None:
    Path(programs["PATH"], "id").write_text("#!/bin/sh\necho 1000\n")
    code, said, told = run(programs, "y\n")
    assert (code, said, told) == (1, "hstar: please install first: apt-get install python3-venv\n", "")
