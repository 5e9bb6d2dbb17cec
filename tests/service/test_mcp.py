"""`hstar mcp`, by the reference client over standard input and output."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hstar.cli.mcp import run as run_command
from hstar.generators import GENERATORS

mcp = pytest.importorskip("mcp")

BLOCKS = Path(__file__).parents[1] / "data" / "blocks"
DOMAIN, PROBLEM = ((BLOCKS / f"{name}.pddl").read_text() for name in ("domain", "problem"))
TASK = {"domain": DOMAIN, "problem": PROBLEM}
Call = Callable[..., Awaitable[Any]]


def with_client(work: Callable[[Call], Awaitable[None]], *words: str) -> None:
    """Starts a server and does some work with a function that calls a tool."""
    parameters = mcp.StdioServerParameters(
        command=sys.executable, args=["-c", "from hstar.cli import main; main()", "mcp", *words]
    )

    async def connected() -> None:
        async with mcp.Client(parameters, read_timeout_seconds=120) as client:

            async def call(tool: str, **arguments: Any) -> Any:
                result = await client.call_tool(tool, arguments)
                return result.content[0].text if result.is_error else result.structured_content

            call.client = client  # type: ignore[attr-defined]
            await work(call)

    asyncio.run(connected())


def test_plans_are_found_with_what_is_proven_and_validated() -> None:
    async def work(call: Call) -> None:
        listed = await call.client.list_tools()  # type: ignore[attr-defined]
        tools = {tool.name: tool for tool in listed.tools}
        assert list(tools) == ["check_domain", "solve", "validate", "train"]
        assert all(tool.description and tool.output_schema for tool in tools.values())
        found = await call("solve", **TASK, search="astar", heuristic=["lmcut"])
        assert (found["status"], found["cost"], found["ratio"]) == ("solved", 6, 1)
        assert (found["optimum_at_least"], found["optimum_at_most"]) == (6, 6)
        fast = await call("solve", **TASK)
        assert fast["status"] == "solved" and fast["optimum_at_least"] is None and fast["ran"]
        valid = await call("validate", **TASK, plan="\n".join(found["plan"]))
        assert valid == {"valid": True, "cost": 6, "length": 6, "reason": "", "step": None}
        wrong = await call("validate", **TASK, plan=found["plan"][1])
        assert not wrong["valid"] and wrong["step"] == 1 and "precondition" in wrong["reason"]

    with_client(work)


def test_mistakes_are_named() -> None:
    async def work(call: Call) -> None:
        good = await call("check_domain", domain=DOMAIN)
        assert good["ok"] and "pick-up" in str(good["description"]["actions"])
        assert "operators" not in good["description"]
        assert (await call("check_domain", **TASK))["description"]["operators"] > 0
        bad = await call("check_domain", domain=DOMAIN.replace(":parameters", ":parametres", 1))
        assert not bad["ok"] and bad["file"] == "domain.pddl" and bad["line"] > 1
        assert str(BLOCKS) not in bad["error"] and "/tmp" not in bad["error"]
        other = await call("check_domain", domain=DOMAIN, problem=PROBLEM.replace("(:init", "(:int"))
        assert not other["ok"] and other["file"] == "problem.pddl"
        for said, name, arguments in (
            ("must be the text of a PDDL domain", "solve", {**TASK, "domain": " "}),
            ("unknown heuristic 'fff'", "solve", {**TASK, "heuristic": ["fff"]}),
            ("'time_limit' must be above 0 and at most 5 s", "solve", {**TASK, "time_limit": 60}),
            ("'memory_limit'", "validate", {**TASK, "plan": "(a)", "memory_limit": "lots"}),
            ("must be the text of a plan", "validate", {**TASK, "plan": ""}),
            ("domain.pddl", "solve", {**TASK, "domain": "(define"}),
            ("'name' must be", "train", {"domain": DOMAIN, "problems": [PROBLEM], "name": "../ff"}),
            ("'name' must be", "train", {"domain": DOMAIN, "problems": [PROBLEM], "name": "ff"}),
            ("at least one", "train", {"domain": DOMAIN, "problems": [], "name": "m"}),
        ):
            assert said in await call(name, **arguments), (name, arguments)

    with_client(work, "--time-limit", "5s")


def test_a_heuristic_is_trained_and_used(tmp_path: Path) -> None:
    made = [GENERATORS.get("gripper")(balls=balls, seed=seed) for balls in (2, 3) for seed in range(4)]
    domain = made[0][0]

    async def work(call: Call) -> None:
        problems = [*(problem for _, problem in made), "(define nothing"]
        trained = await call("train", domain=domain, problems=problems, name="mine")
        assert (trained["heuristic"], trained["problems"], trained["problems_used"]) == ("mine", 9, 8)
        assert len(trained["left_out"]) == 1 and trained["held_out_mse"] is not None
        _, larger = GENERATORS.get("gripper")(balls=10, seed=1)
        found = await call("solve", domain=domain, problem=larger, heuristic=["mine"])
        assert found["status"] == "solved" and "wl" in found["ran"]
        assert str(tmp_path) not in found["ran"]

    with_client(work, "-o", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.hstar"]


def test_budgets_are_kept() -> None:
    domain, problem = GENERATORS.get("npuzzle")(rows=5, columns=5, seed=1)

    async def work(call: Call) -> None:
        begun = time.monotonic()
        hard = {"domain": domain, "problem": problem, "search": "astar", "heuristic": ["blind"]}
        found = await call("solve", **hard, time_limit=1)
        assert found["status"] == "time_limit" and found["plan"] is None and found["cost"] is None
        assert time.monotonic() - begun < 30
        few = await call("solve", **hard, memory_limit="200M")
        assert few["status"] in ("memory_limit", "time_limit")

    with_client(work, "--time-limit", "20s")


def test_a_client_that_goes_ends_what_runs() -> None:
    domain, problem = GENERATORS.get("npuzzle")(rows=5, columns=5, seed=1)
    begun = time.monotonic()

    async def work(call: Call) -> None:
        hard = {"domain": domain, "problem": problem, "search": "astar", "heuristic": ["blind"]}
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(call("solve", **hard), 2)

    with_client(work, "--time-limit", "10m")
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_the_client_is_there(number: signal.Signals, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", "from hstar.cli import main; main()", "mcp"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment)
    assert process.stdin is not None
    while not any(tmp_path.glob("hstar-mcp-*")):
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(number)
    assert process.wait(timeout=30) == 128 + number
    process.stdin.close()
    assert not any(tmp_path.iterdir())


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    import argparse
    import importlib.util

    from hstar.errors import InputError, UnsupportedError

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    options = {"jobs": 1, "time_limit": 1.0, "memory_limit": 1 << 30, "output": None, "model": None}
    with pytest.raises(UnsupportedError, match=r"pip install 'hstar\[mcp\]'"):
        run_command(argparse.Namespace(**options))
    with pytest.raises(InputError, match="jobs must be a whole number from 1 on"):
        run_command(argparse.Namespace(**{**options, "jobs": 0}))
    with pytest.raises(InputError, match="is not a folder"):
        run_command(argparse.Namespace(**{**options, "output": Path("nowhere")}))
