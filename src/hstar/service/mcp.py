"""Tools for assistants, over the Model Context Protocol: check, solve, validate and train, with PDDL as text.

Each call is a process of hstar with limits of time and memory, as a request of `hstar serve` is; a call that
its client gives up is killed. Results are structured. Those about a plan carry what is proven, an interval
that the optimal cost is in, and what a calibrated model promises.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from hstar import __version__
from hstar.errors import HstarError, InputError
from hstar.experiments.process import Finished, ProcessLimits
from hstar.files import MODEL
from hstar.search.heuristics import heuristics
from hstar.service.requests import ServiceLimits, budget, check_text, read_request
from hstar.service.searches import Searches, failure, run_command

_DOMAIN_NAME = re.compile(r"\(\s*domain\s+([^\s()]+)", re.IGNORECASE)
_MODEL_NAME = re.compile(r"[A-Za-z][\w-]{0,63}", re.ASCII)
_OF_DOMAIN = ("domain", "requirements", "predicates", "actions")  # what does not depend on a problem
_LABELLING = 0.4  # share of the time of a training, at most
_INSTRUCTIONS = """\
hstar plans with PDDL. check_domain finds mistakes. solve finds plans and says what is proven about their
cost. validate replays a plan. train learns a heuristic for a domain from small problems; solve takes its name
as heuristic. Every tool has a budget: time_limit in seconds, memory_limit such as '512M'."""

Text = Annotated[str, Field(description="PDDL text.")]
Seconds = Annotated[float | None, Field(description="Budget in seconds; by default the limit of the server.")]
Memory = Annotated[
    str | None, Field(description="Budget such as '512M'; by default the limit of the server.")
]
Heuristics = Annotated[
    list[str] | None, Field(description="Names of heuristics such as ff or lmcut, or of trained models.")
]


@dataclass(frozen=True)
class Checked:
    """Whether hstar reads the PDDL; if not, what is wrong and where. `description` has facts about it."""

    ok: bool
    error: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    warnings: list[str] = field(default_factory=list)
    description: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Solved:
    """How a search ended. The optimal cost is proven to be in [optimum_at_least, optimum_at_most].

    `ratio`: the cost of the plan is proven to be at most this many times the optimum. `promise`: what a
    calibrated model promises about the cost, and with which confidence.
    """

    status: str
    plan: list[str] | None
    cost: float | None
    optimum_at_least: float | None
    optimum_at_most: float | None
    ratio: float | None
    promise: str | None
    ran: str | None
    expansions: int | None
    evaluations: int | None
    search_time: float | None


@dataclass(frozen=True)
class Validated:
    """Whether a plan is valid; if not, why, and the number of the first step that fails."""

    valid: bool
    cost: float
    length: int
    reason: str
    step: int | None


@dataclass(frozen=True)
class Trained:
    """A model that `solve` takes as a heuristic, and the mean squared errors of its values."""

    heuristic: str
    problems: int
    problems_used: int
    states: int
    mse: float | None
    held_out_mse: float | None
    seconds: float
    left_out: list[str]


class Tools:
    """The tools. `models` are by name; trained ones enter it, and their files are written to `folder`."""

    def __init__(self, limits: ServiceLimits, models: dict[str, Path], folder: Path | None = None) -> None:
        self._limits, self._models = limits, models
        self._searches = Searches(limits, models)
        self._scratch = tempfile.TemporaryDirectory(prefix="hstar-mcp-", ignore_cleanup_errors=True)
        self._folder = Path(self._scratch.name) if folder is None else folder
        self._slots = asyncio.Semaphore(limits.jobs)

    def close(self) -> None:
        """Ends all that is running and removes what is not kept."""
        self._searches.close()
        self._scratch.cleanup()

    async def check_domain(
        self,
        domain: Text,
        problem: Annotated[str | None, Field(description="PDDL text of a problem, if there is one.")] = None,
        time_limit: Seconds = None,
        memory_limit: Memory = None,
    ) -> Checked:
        """Read a PDDL domain, and a problem if given; say what is wrong with file, line and column."""
        name = _DOMAIN_NAME.search(domain)
        empty = f"(define (problem none) (:domain {name[1] if name else 'none'}) (:init) (:goal (and)))"
        files = {"domain.pddl": domain, "problem.pddl": empty if problem is None else problem}
        words = ("info", "domain.pddl", "problem.pddl", "--json")
        done = await self._run(files, words, time_limit, memory_limit)
        if done.exit_code != 0:
            return Checked(False, **failure(_ending(done)))
        record = json.loads(done.output)
        kept = [key for key in record if problem is not None or key in _OF_DOMAIN]
        warnings = [line.removeprefix("hstar: warning: ") for line in done.errors.splitlines()]
        return Checked(True, warnings=warnings, description={key: record[key] for key in kept})

    async def solve(
        self,
        domain: Text,
        problem: Text,
        heuristic: Heuristics = None,
        search: Annotated[str | None, Field(description="Search such as lazy, gbfs, astar or focal.")] = None,
        bound: Annotated[
            float | None, Field(description="Prove that the cost is at most this many times the optimum.")
        ] = None,
        time_limit: Seconds = None,
        memory_limit: Memory = None,
    ) -> Solved:
        """Find a plan. By default a fast search without a guarantee; search astar with lmcut is optimal."""
        asked: dict[str, Any] = {
            "domain": domain,
            "problem": problem,
            "heuristic": heuristic,
            "search": search,
        }
        asked |= {"bound": bound, "time_limit": time_limit, "memory_limit": memory_limit}
        try:
            self._check_size(domain, problem)
            started = self._searches.start(read_request(asked, self._limits, self._models))
        except HstarError as error:
            raise ToolError(str(error)) from None
        try:
            text: bytes = await asyncio.wrap_future(started.future)
        except asyncio.CancelledError:
            started.cancel()
            raise
        answer = json.loads(text)
        result: Mapping[str, Any] = answer["result"]
        if answer["status"] == "error":
            raise ToolError(result["error"])
        plan = None if result["plan"] is None else [step["name"] for step in result["plan"]]
        same = ("status", "cost", "ratio", "promise", "ran", "expansions", "evaluations", "search_time")
        return Solved(
            plan=plan,
            optimum_at_least=result["lower_bound"],
            optimum_at_most=result["cost"],
            **{name: result[name] for name in same},
        )

    async def validate(
        self,
        domain: Text,
        problem: Text,
        plan: Annotated[str, Field(description="One step a line: (pick-up a).")],
        time_limit: Seconds = None,
        memory_limit: Memory = None,
    ) -> Validated:
        """Replay a plan on the PDDL and say whether it is valid, and where it fails."""
        files = {"domain.pddl": domain, "problem.pddl": problem, "plan": plan}
        done = await self._run(files, ("validate", *files, "--json"), time_limit, memory_limit)
        if done.exit_code not in (0, 1):
            raise ToolError(failure(_ending(done))["error"])
        return Validated(**json.loads(done.output))

    async def train(
        self,
        domain: Text,
        problems: Annotated[list[str], Field(description="PDDL texts of small problems, ten or more.")],
        name: Annotated[
            str, Field(description="Name of the heuristic for `solve`; an older one is replaced.")
        ],
        time_limit: Seconds = None,
        memory_limit: Memory = None,
    ) -> Trained:
        """Learn a heuristic for a domain from small problems, which hstar solves first (recipe wl)."""
        if not _MODEL_NAME.fullmatch(name) or name in {info.name for info in heuristics()}:
            raise ToolError("'name' must be letters, digits, - and _, and not the name of another heuristic")
        if not problems:
            raise ToolError("'problems' must have at least one PDDL problem")
        files = {"problems/domain.pddl": domain}
        files |= {f"problems/p{number:03}.pddl": text for number, text in enumerate(problems, 1)}
        model = self._folder / f"{name}{MODEL}"
        seconds = self._limits.time_limit if time_limit is None else time_limit
        # Every problem is searched twice at most, perhaps one after the other.
        label_limit = max(0.1, _LABELLING * seconds / (2 * len(problems)))
        words = ("train", "wl", "problems", "-o", str(model), "--json", f"--label-limit={label_limit}")
        done = await self._run(files, words, time_limit, memory_limit)
        if done.exit_code != 0:
            raise ToolError(failure(_ending(done))["error"])
        self._models[name] = model
        record = json.loads(done.output)
        mark = "hstar: left out: "
        left_out = [line.removeprefix(mark) for line in done.errors.splitlines() if line.startswith(mark)]
        return Trained(
            heuristic=name,
            problems=len(problems),
            problems_used=record["instances"],
            states=record["states"],
            mse=record.get("mse"),
            held_out_mse=record.get("held_out_mse"),
            seconds=record["total_time"],
            left_out=left_out,
        )

    def _check_size(self, *texts: str) -> None:
        if sum(map(len, texts)) > self._limits.body_limit:
            raise InputError(f"the texts must have at most {self._limits.body_limit} characters together")

    async def _run(
        self, files: Mapping[str, str], words: Sequence[str], seconds: float | None, memory: str | None
    ) -> Finished:
        """A command within its budget, in a thread, which ends when the client gives the call up."""
        try:
            self._check_size(*files.values())
            for name, text in files.items():
                check_text(Path(name).stem, text)
            time, size = budget({"time_limit": seconds, "memory_limit": memory}, self._limits)
        except HstarError as error:
            raise ToolError(str(error)) from None
        stop = threading.Event()

        def watch() -> None:
            if stop.is_set():
                raise InterruptedError

        async with self._slots:
            try:
                limits = ProcessLimits(time, resident_memory=size)
                place = self._scratch.name
                return await asyncio.to_thread(run_command, files, words, limits, place, watch=watch)
            finally:
                stop.set()


def _ending(done: Finished) -> str:
    """What a command said at last, or which limit ended it."""
    if done.timed_out or done.out_of_memory:
        return f"the {'time' if done.timed_out else 'memory'} limit was reached"
    return done.errors


def server(tools: Tools) -> MCPServer[Any]:
    """The server; `run` answers on standard input and output until the client is gone."""
    made: MCPServer[Any] = MCPServer(
        "hstar", instructions=_INSTRUCTIONS, version=__version__, log_level="ERROR"
    )
    for tool in (tools.check_domain, tools.solve, tools.validate, tools.train):
        made.add_tool(tool)
    return made
