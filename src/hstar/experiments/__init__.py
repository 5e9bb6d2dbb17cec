"""Experiments: many trainings and searches, each in a process of its own, and what they come to."""

from __future__ import annotations

from hstar.experiments.contestants import Contestant, parse_contestant
from hstar.experiments.driver import LocalExecutor, Standing, run
from hstar.experiments.evaluate import Instance, Limits, evaluation_jobs, read_instance
from hstar.experiments.job import Job, Made, Outcome, execute
from hstar.experiments.store import Attempt, Store
from hstar.experiments.tables import summarise

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
