"""Runs of the command line, in this process or in one of their own, and tasks that keep a search busy."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from hstar.cli import main
from hstar.generators import GENERATORS
from hstar.spaces.translate import translate

DATA = Path(__file__).parents[1] / "data"


@dataclass(frozen=True)
class Done:
    """What a run left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]
Refused = Callable[..., str]


@pytest.fixture
def hstar(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in this process."""

    def run(*words: str | Path) -> Done:
        with pytest.raises(SystemExit) as stop:
            main([str(word) for word in words])
        captured = capsys.readouterr()
        assert isinstance(stop.value.code, int)
        return Done(stop.value.code, captured.out, captured.err)

    return run


@pytest.fixture
def refused(hstar: Run) -> Refused:
    """Runs a command line that must end in a one-line error; returns it."""

    def run(code: int, *words: str | Path) -> str:
        done = hstar(*words)
        errors = [line for line in done.err.splitlines() if not line.startswith("hstar: warning: ")]
        assert (done.code, done.out, len(errors)) == (code, "", 1), done
        assert errors[0].startswith("hstar: error: ")
        return errors[0].removeprefix("hstar: error: ")

    return run


def start(*words: str | Path, **options: object) -> subprocess.Popen[str]:
    """Starts `hstar` as a process that heeds Ctrl-C, whatever this one does."""
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-c", "from hstar.cli import main; main()", *map(str, words)],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **settings,
    )


@pytest.fixture(scope="session")
def with_bytecode(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose processes find compiled modules, as in an installation, from the second on."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}


def fastest(words: list[str | Path], environment: dict[str, str]) -> float:
    """Processor seconds of the fastest of several runs of hstar: the machine may be busy."""
    return fastest_process([sys.executable, "-c", "from hstar.cli import main; main()", *words], environment)


def fastest_process(command: Sequence[str | Path], environment: dict[str, str], times: int = 5) -> float:
    """The same of any command."""
    best = float("inf")
    for _ in range(times):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        best = min(best, usage.ru_utime + usage.ru_stime)
    return best


def generated(name: str, folder: Path, **sizes: int) -> Path:
    """The problem of a generated task, its domain beside it."""
    folder.mkdir(exist_ok=True)
    for file, text in zip(("domain", "problem"), GENERATORS.get(name)(**sizes), strict=True):
        (folder / f"{file}.pddl").write_text(text)
    return folder / "problem.pddl"


@pytest.fixture(scope="session")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A .sas file that blind search does not finish with: the 15-puzzle."""
    folder = tmp_path_factory.mktemp("endless")
    problem = generated("npuzzle", folder, rows=4, columns=4, seed=1)
    path = folder / "output.sas"
    path.write_bytes(translate(folder / "domain.pddl", problem))
    return path


@pytest.fixture(scope="session")
def slow_to_translate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A problem that keeps the translation busy for years: the last parameter excludes 50^8 instances."""
    folder = tmp_path_factory.mktemp("slow")
    names = [f"o{number}" for number in range(50)]
    (folder / "domain.pddl").write_text(
        "(define (domain d) (:requirements :adl) (:predicates (bad ?x) (p))\n"
        "(:action a :parameters (?a ?b ?c ?d ?e ?f ?g ?h) :precondition (not (bad ?h)) :effect (p)))\n"
    )
    (folder / "problem.pddl").write_text(
        f"(define (problem p) (:domain d) (:objects {' '.join(names)})\n"
        f"(:init {' '.join(f'(bad {name})' for name in names)}) (:goal (p)))\n"
    )
    return folder / "problem.pddl"


@pytest.fixture
def blocks(tmp_path: Path) -> Path:
    """A folder with domain.pddl, problem.pddl and output.sas."""
    folder = tmp_path / "blocks"
    shutil.copytree(DATA / "blocks", folder)
    sas = translate(folder / "domain.pddl", folder / "problem.pddl")
    (folder / "output.sas").write_bytes(sas)
    return folder


def alive(pid: int) -> bool:
    """Whether a process is there and not only waiting to be reaped."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
