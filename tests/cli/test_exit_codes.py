"""The outcome matrix: kind of task × configuration → exit code and status."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hstar as api

from .conftest import DATA, Refused, Run

SOLVED, UNSOLVABLE, BOUNDS, MEMORY, TIME, BAD_PDDL, BAD_INPUT, UNSUPPORTED = 0, 11, 12, 22, 23, 31, 33, 34
STATUS = {SOLVED: "solved", UNSOLVABLE: "unsolvable", MEMORY: "memory_limit", TIME: "time_limit"}

# What a task asks of a heuristic.
NEEDS = {
    "blocks": "",
    "costs": "",
    "unsolvable": "",
    "reach": "axioms",
    "briefcase": "axioms, conditional effects",
}
SEARCHES = [info.name for info in api.searches()]
HEURISTICS = [info.name for info in api.heuristics()]


def expected(task: str, heuristic: str) -> int:
    info = next(info for info in api.heuristics() if info.name == heuristic)
    if "axioms" in NEEDS[task] and not info.supports_axioms:
        return UNSUPPORTED
    if "conditional" in NEEDS[task] and not info.supports_conditional_effects:
        return UNSUPPORTED
    return UNSOLVABLE if task == "unsolvable" else SOLVED


@pytest.mark.parametrize("heuristic", HEURISTICS)
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("task", NEEDS)
def test_search_and_heuristic(hstar: Run, task: str, search: str, heuristic: str) -> None:
    words = ["solve", DATA / task / "problem.pddl", "-s", search, "-e", heuristic, "--json", "-t", "60"]
    done = hstar(*words)
    code = expected(task, heuristic)
    assert done.code == code, done
    if code == UNSUPPORTED:
        assert done.out == ""
        assert "does not support" in done.err
    else:
        record = json.loads(done.out)
        assert (record["status"], record["coverage"]) == (STATUS[code], int(code == SOLVED))


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    ("limit", "code", "status"),
    [
        (["--max-evaluations", "1"], BOUNDS, "evaluation_limit"),
        (["--max-evaluations", "0"], BOUNDS, "evaluation_limit"),
        (["--max-expansions", "1"], BOUNDS, "expansion_limit"),
        (["--time-limit", "0"], TIME, "time_limit"),
        (["--memory-limit", "1M"], MEMORY, "memory_limit"),
    ],
    ids=lambda value: "".join(value) if isinstance(value, list) else None,
)
def test_limits(hstar: Run, endless: Path, search: str, limit: list[str], code: int, status: str) -> None:
    done = hstar("solve", endless, "-s", search, "-e", "blind", "--json", *limit)
    assert done.code == code, done
    assert json.loads(done.out)["status"] == status


@pytest.mark.parametrize(
    ("limit", "code"),
    [(["--time-limit", "0.05"], TIME), (["--memory-limit", "3M"], MEMORY)],
    ids=["time", "memory"],
)
def test_limits_in_translation(hstar: Run, slow_to_translate: Path, limit: list[str], code: int) -> None:
    done = hstar("solve", slow_to_translate, "--json", *limit)
    assert done.code == code, done
    record = json.loads(done.out)
    assert (record["status"], record["evaluations"]) == (STATUS[code], 0)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("syntax", r":4:\d+:"),
        ("unknown-type", r":4:\d+:"),
        ("undeclared-predicate", r":5:\d+:"),
        ("empty", ":"),
        ("binary", r":2:\d+:"),
    ],
)
@pytest.mark.parametrize("command", ["solve", "info"])
def test_broken_pddl(refused: Refused, command: str, name: str, where: str) -> None:
    path = DATA / "broken" / f"{name}.pddl"
    message = refused(BAD_PDDL, command, DATA / "blocks" / "domain.pddl", path)
    assert re.match(f"{re.escape(str(path))}{where} ", message)


@pytest.mark.parametrize(
    ("files", "blamed"),
    [
        (["domain", "domain"], "domain.pddl:2:1: "),
        (["problem", "domain"], "problem.pddl: this is a problem"),
        (["domain"], "domain.pddl:2:1: "),
    ],
)
def test_files_in_each_others_place(refused: Refused, files: list[str], blamed: str) -> None:
    paths = [DATA / "blocks" / f"{name}.pddl" for name in files]
    assert blamed in refused(BAD_PDDL, "solve", *paths)


def test_problem_of_another_domain(refused: Refused) -> None:
    message = refused(BAD_PDDL, "solve", DATA / "costs" / "domain.pddl", DATA / "blocks" / "problem.pddl")
    assert re.search(r"problem\.pddl:3:\d+: undeclared type 'block'", message)


def test_validate(hstar: Run, blocks: Path) -> None:
    plan = blocks / "plan"
    for text, code in (("(pick-up b)\n", 1), ("(stack b a)\n", 1), ("no plan\n", BAD_INPUT)):
        plan.write_text(text)
        assert hstar("validate", blocks / "problem.pddl", plan).code == code
    assert hstar("solve", blocks / "problem.pddl", "--plan-file", plan).code == SOLVED
    done = hstar("validate", blocks / "problem.pddl", plan)
    assert (done.code, done.out) == (0, "valid: 6 steps, cost 6\n")
    record = json.loads(hstar("validate", blocks / "problem.pddl", plan, "--json").out)
    assert record == {"valid": True, "cost": 6, "length": 6, "reason": "", "step": None}


SIGNALLED = """
import dataclasses, os, signal, sys
import hstar.cli, hstar.cli.app

class Meta(type):
    def __setattr__(cls, name, value):
        os.kill(os.getpid(), signal.{signal})
        super().__setattr__(name, value)

def in_dataclasses():
    return dataclasses.make_dataclass("Point", ["x"], bases=(Meta("Base", (), {{}}),))

def in_msgspec():
    code = compile("os.kill(os.getpid(), signal.{signal})", "site-packages/msgspec/_utils.py", "exec")
    exec(code)

def dispatch(arguments):
    {moment}()
    print("whole", flush=True)
    while True:
        pass

hstar.cli.app.dispatch = dispatch
hstar.cli.main([])
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
@pytest.mark.parametrize("moment", ["in_dataclasses", "in_msgspec"])
def test_a_signal_waits_where_an_exception_would_do_harm(moment: str, name: str, code: int) -> None:
    """Interrupted there, msgspec crashed, and Python ended by SIGINT after data classes."""
    script = SIGNALLED.format(signal=name, moment=moment)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("whole\n", "hstar: error: interrupted\n", code)
