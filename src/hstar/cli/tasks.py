"""Task files on the command line: `[DOMAIN] PROBLEM`, or a `.sas` file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hstar.errors import InputError
from hstar.spaces.task import Task, load

TaskFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="[DOMAIN] PROBLEM",
        help="PDDL files, or one .sas file. DOMAIN may be left out if domain.pddl lies beside PROBLEM.",
        show_default=False,
    ),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Translate anew; store nothing.")]
UnitCost = Annotated[bool, typer.Option("--unit-cost", help="Count every action as cost 1.")]


def load_files(
    files: list[Path],
    *,
    unit_cost: bool,
    cache: bool,
    time_limit: float | None = None,
    memory_limit: int | None = None,
) -> Task:
    """The task that the arguments name."""
    if len(files) > 2:
        raise InputError(f"expected [DOMAIN] PROBLEM, got {len(files)} files")
    return load(
        files[0],
        files[1] if len(files) == 2 else None,
        unit_cost=unit_cost,
        cache=cache,
        time_limit=time_limit,
        memory_limit=memory_limit,
    )
