"""Experiments: many trainings and searches, each in a process of its own, and what they come to."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hstar.experiments.driver import LocalExecutor, Standing, run
from hstar.experiments.job import Job, Made, Outcome, execute
from hstar.experiments.store import Attempt, Store
from hstar.experiments.tables import summarise

if TYPE_CHECKING:
    from hstar.experiments.contestants import Contestant, parse_contestant
    from hstar.experiments.problems import ProblemSet, read_problems
    from hstar.experiments.protocol import Limits, contestant_jobs

_HOME = {  # of what a report does not need, and which takes a while to import
    "Contestant": "contestants",
    "Limits": "protocol",
    "ProblemSet": "problems",
    "contestant_jobs": "protocol",
    "parse_contestant": "contestants",
    "read_problems": "problems",
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
    if name not in _HOME:
        raise AttributeError(f"module 'hstar.experiments' has no attribute '{name}'")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
