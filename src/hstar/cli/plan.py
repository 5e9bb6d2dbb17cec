"""`hstar plan`: a plan for a task of a domain, by what `hstar learn` found out about the domain."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from hstar.cli.options import Parser
from hstar.cli.progress import ProgressLine
from hstar.errors import InputError
from hstar.files import check_files, check_writable, replace_file, writing
from hstar.search.config import SearchConfig
from hstar.search.result import Result

DESCRIPTION = """\
Runs the steps of KNOWLEDGE, a file of `hstar learn`, on a problem of its domain one after the other, and
writes the first plan to PLAN. Limits hold for everything from PDDL to plan; a time limit scales the budgets
of the steps. hstar translates the problem once, and only for steps that need it."""
EXAMPLES = ("hstar plan knowledge.hstar domain.pddl problem.pddl plan.txt --time-limit 1m",)


def configure(parser: Parser) -> None:
    add = parser.option
    parser.usage = f"{parser.prog} [OPTION ...] KNOWLEDGE DOMAIN PROBLEM PLAN"
    add("knowledge", "KNOWLEDGE", "File of hstar learn.", type=Path)
    add("domain", "DOMAIN", "PDDL file of the domain.", type=Path)
    add("problem", "PROBLEM", "PDDL file of the problem.", type=Path)
    add("plan", "PLAN", "Write the plan to this file.", type=Path)
    add("--time-limit -t", "T", "Stop after this wall-clock time.")
    add("--cpu-time-limit", "T", "Stop searching after this CPU time.")
    add("--memory-limit -m", "M", "Stop when the process has this much resident memory.")
    add("--json", None, "Print one JSON object about the run.")
    add("--quiet -q", None, "Show neither progress nor a summary.")


def run(arguments: argparse.Namespace) -> int:
    from hstar.experiments.knowledge import load
    from hstar.spaces.lazy_task import LazyTask

    check_files(arguments.knowledge, arguments.domain, arguments.problem)
    check_writable(arguments.plan, "plan", streams=True)
    names = ("time_limit", "cpu_time_limit", "memory_limit")
    limits = SearchConfig(**{name: getattr(arguments, name) for name in names})
    started = time.monotonic(), time.process_time()
    knowledge = load(arguments.knowledge)
    with ProgressLine(arguments.quiet) as line:
        problem = LazyTask(arguments.domain, arguments.problem)
        result, rows = knowledge.run(problem, limits, lambda doing: line.announce(f"{doing} ..."))
        unwritten = _write(arguments.plan, result)
    used = {"total_time": time.monotonic() - started[0], "cpu_time": time.process_time() - started[1]}
    if arguments.json:
        print(json.dumps({**result.to_json(), "steps": rows, **used}))
    elif not arguments.quiet:
        print(_in_words(result, rows, used["total_time"]), file=sys.stderr)
    if unwritten is not None:
        raise unwritten
    return result.exit_code


def _write(path: Path, result: Result) -> InputError | None:
    """Writes the plan, if there is one; what there is to say if that fails."""
    try:
        if result.plan is not None:
            with writing(path, "plan"):
                replace_file(path, result.plan_text().encode(), durable=False)
    except InputError as error:
        return error
    return None


def _in_words(result: Result, rows: list[dict[str, Any]], seconds: float) -> str:
    steps = ", ".join(f"{row['step']} {row['time']:.2f} s" for row in rows)
    status = result.status.replace("_", " ")
    found = "" if result.plan is None else f": plan of length {result.plan_length}, cost {result.plan_cost:g}"
    return f"{status}{found}; {seconds:.2f} s ({steps})"
