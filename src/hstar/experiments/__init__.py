"""Experiments: many trainings and searches, each in a process of its own, and what they come to."""

from __future__ import annotations

from hstar.experiments.contestants import Contestant, parse_contestant
from hstar.experiments.evaluate import Evaluation, Instance, Limits, read_instance, read_results
from hstar.experiments.summary import summarise

__all__ = [
    "Contestant",
    "Evaluation",
    "Instance",
    "Limits",
    "parse_contestant",
    "read_instance",
    "read_results",
    "summarise",
]
