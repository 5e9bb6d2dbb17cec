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
    from hstar.experiments.evaluate import Instance, Limits, evaluation_jobs, read_instance

_HOME = {  # of what a report does not need, and which takes a while to import
    "Contestant": "hstar.experiments.contestants",
    "Instance": "hstar.experiments.evaluate",
    "Limits": "hstar.experiments.evaluate",
    "evaluation_jobs": "hstar.experiments.evaluate",
    "parse_contestant": "hstar.experiments.contestants",
    "read_instance": "hstar.experiments.evaluate",
}

__all__ = [
    "Attempt",
    "Contestant",
    "Instance",
    "Job",
    "Limits",
    "LocalExecutor",
    "Made",
    "Outcome",
    "Standing",
    "Store",
    "evaluation_jobs",
    "execute",
    "parse_contestant",
    "read_instance",
    "run",
    "summarise",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hstar.experiments' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME[name]), name)
