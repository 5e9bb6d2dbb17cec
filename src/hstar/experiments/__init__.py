"""Experiments: many trainings and searches, each in a process of its own, and what they come to."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hstar.experiments.contestants import Contestant, parse_contestant
    from hstar.experiments.driver import LocalExecutor, Standing, run
    from hstar.experiments.evaluate import Instance, Limits, evaluation_jobs, read_instance
    from hstar.experiments.job import Job, Made, Outcome, execute
    from hstar.experiments.store import Attempt, Store
    from hstar.experiments.tables import summarise

_HOMES = {  # imported when they are asked for: `hstar solve` uses `batch.py` alone
    "contestants": ("Contestant", "parse_contestant"),
    "driver": ("LocalExecutor", "Standing", "run"),
    "evaluate": ("Instance", "Limits", "evaluation_jobs", "read_instance"),
    "job": ("Job", "Made", "Outcome", "execute"),
    "store": ("Attempt", "Store"),
    "tables": ("summarise",),
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
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"hstar.experiments.{home}"), name)
    raise AttributeError(f"module 'hstar.experiments' has no attribute '{name}'")
