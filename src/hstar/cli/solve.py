"""`hstar solve`: a plan for a task."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from hstar.cli.progress import ProgressLine
from hstar.cli.tasks import NoCache, TaskFiles, UnitCost, load_files
from hstar.cli.units import format_bytes, format_count, parse_memory, parse_time
from hstar.errors import InputError
from hstar.search.heuristics import Heuristic, Max, Sum, heuristics
from hstar.search.solve import Result, SearchConfig, searches
from hstar.search.solve import solve as run

_HELP = {entry.name: entry.metadata["help"] for entry in fields(SearchConfig)}
_SEARCHES = ", ".join(info.name for info in searches())
_HEURISTICS = ", ".join(info.name for info in heuristics())


def _option(name: str, *flags: str, extra: str = "", **settings: Any) -> Any:
    return typer.Option(*flags, help=(_HELP[name] + extra), show_default=False, **settings)


def solve(
    files: TaskFiles,
    search: Annotated[str, typer.Option("--search", "-s", help=f"One of {_SEARCHES}.")] = "gbfs",
    heuristic: Annotated[
        list[str],
        typer.Option(
            "--heuristic",
            "-e",
            help=f"One of {_HEURISTICS}. Give it several times to use several.",
        ),
    ] = ["ff"],  # noqa: B006  (Typer's way to declare a list option; never changed)
    combine: Annotated[
        str,
        typer.Option(help="Several heuristics: alternate between them, or take their max or sum."),
    ] = "alternate",
    plan_file: Annotated[
        Path | None,
        typer.Option(help="Write the plan here instead of to standard output.", show_default=False),
    ] = None,
    time_limit: Annotated[
        str | None,
        _option("time_limit", "--time-limit", "-t", extra=" 30s, 5m, 1h. Translation included."),
    ] = None,
    memory_limit: Annotated[
        str | None, _option("memory_limit", "--memory-limit", "-m", extra=" 512M, 4G; MiB if bare.")
    ] = None,
    max_evaluations: Annotated[int | None, _option("max_evaluations", min=0)] = None,
    max_expansions: Annotated[int | None, _option("max_expansions", min=0)] = None,
    weight: Annotated[float, _option("weight")] = 1.0,
    ties: Annotated[str, _option("ties")] = "fifo",
    seed: Annotated[int, _option("seed")] = 0,
    preferred: Annotated[bool, _option("preferred", "--preferred", "-p")] = False,
    boost: Annotated[int, _option("boost")] = 1000,
    goal_at_generation: Annotated[bool, _option("goal_at_generation", "--goal-at-generation")] = False,
    evaluate_duplicates: Annotated[bool, _option("evaluate_duplicates", "--evaluate-duplicates")] = False,
    unit_cost: UnitCost = False,
    no_cache: NoCache = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on standard output, nothing else.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")] = False,
) -> int:
    """Find a plan.

    The plan goes to standard output in IPC format, everything for people to standard error.

    Examples:

    \b
    hstar solve domain.pddl problem.pddl
    hstar solve problem.pddl --search astar --heuristic lmcut --time-limit 5m --memory-limit 4G
    hstar solve problem.pddl --search lazy --heuristic ff --preferred --plan-file plan.txt
    hstar solve output.sas --search astar --heuristic lmcut --heuristic hmax --combine max --json
    """
    started = time.monotonic()
    seconds = parse_time(time_limit) if time_limit else None
    config = SearchConfig(
        memory_limit=parse_memory(memory_limit) if memory_limit else None,
        max_evaluations=max_evaluations,
        max_expansions=max_expansions,
        weight=weight,
        ties=ties,
        seed=seed,
        preferred=preferred,
        boost=boost,
        goal_at_generation=goal_at_generation,
        evaluate_duplicates=evaluate_duplicates,
    )
    chosen = _combine(heuristic, combine)
    if plan_file is not None:
        _check_writable(plan_file)
    task = load_files(
        files,
        unit_cost=unit_cost,
        cache=not no_cache,
        time_limit=seconds,
        memory_limit=config.memory_limit,
    )
    if seconds is not None:
        left = max(0.0, seconds - (time.monotonic() - started))
        config = SearchConfig(**{**config.__dict__, "time_limit": left})
    with ProgressLine(quiet or as_json) as progress:
        result = run(task, chosen, search, config=config, progress=progress)
    total_time = time.monotonic() - started
    if result.plan is not None and plan_file is not None:
        write_atomically(plan_file, result.plan_text())
    if as_json:
        record = {**result.to_json(), "total_time": total_time, "task": task.name}
        print(json.dumps(record))
    else:
        if result.plan is not None and plan_file is None:
            print(result.plan_text(), end="")
        if not quiet:
            print(_summary(result), file=sys.stderr)
    return result.exit_code


def _combine(names: list[str], how: str) -> Heuristic | list[Heuristic]:
    parts: list[Heuristic] = list(names)
    if how == "alternate":
        return parts
    if how == "max":
        return Max(*parts)
    if how == "sum":
        return Sum(*parts)
    raise InputError(f"--combine takes alternate, max or sum, got '{how}'")


def _check_writable(path: Path) -> None:
    """Says now, and not after an hour of search, that the plan cannot be written."""
    if path.is_dir():
        raise InputError("cannot write the plan: it is a directory", file=path)
    folder = path.parent
    if not folder.is_dir():
        raise InputError("cannot write the plan: there is no such directory", file=folder)
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError("cannot write the plan: permission denied", file=path)


def write_atomically(path: Path, text: str) -> None:
    """Writes a file wholly or not at all."""
    if path.exists() and not path.is_file():  # a device or a pipe, such as /dev/stdout
        path.write_text(text)
        return
    temporary = None
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            temporary = Path(file.name)
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise InputError(f"cannot write the plan: {error.strerror}", file=path) from None


def _summary(result: Result) -> str:
    rate = result.evaluated / max(result.search_time, 1e-9)
    found = (
        f"plan of length {result.plan_length}, cost {result.plan_cost}; " if result.plan is not None else ""
    )
    return (
        f"{result.status.replace('_', ' ')}: {found}{format_count(result.expanded)} expanded, "
        f"{format_count(result.evaluated)} evaluated ({format_count(rate)}/s) in {result.search_time:.3f} s, "
        f"{format_bytes(result.peak_memory)}"
    )
