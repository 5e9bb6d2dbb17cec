"""Experiments: many trainings and searches, each in a process of its own, and what they come to."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hstar.experiments.contestants import Contestant, parse_contestant
    from hstar.experiments.driver import LocalExecutor, Standing, run
    from hstar.experiments.job import Job, Made, Outcome, execute
    from hstar.experiments.problems import ProblemSet, read_problems
    from hstar.experiments.protocol import Limits, contestant_jobs
    from hstar.experiments.store import Attempt, Store
    from hstar.experiments.tables import summarise

_HOMES = {  # imported when they are asked for: `hstar solve` uses `batch.py` alone
    "contestants": ("Contestant", "parse_contestant"),
    "driver": ("LocalExecutor", "Standing", "run"),
    "job": ("Job", "Made", "Outcome", "execute"),
    "problems": ("ProblemSet", "read_problems"),
    "protocol": ("Limits", "contestant_jobs"),
    "store": ("Attempt", "Store"),
    "tables": ("summarise",),
}

__all__ = [
    "Attempt",
    "Contestant",
    "Job",
    "Limits",
    "LocalExecutor",
    "Made",
    "Outcome",
    "ProblemSet",
    "Standing",
    "Store",
    "contestant_jobs",
    "execute",
    "parse_contestant",
    "read_problems",
    "run",
    "summarise",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module 'hstar.experiments' has no attribute '{name}'")
