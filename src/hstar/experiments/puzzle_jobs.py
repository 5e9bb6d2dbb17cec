"""The protocol of heuristics for a native puzzle: train from the goal alone, solve instances by IDA*.

Marom and Rosman (ICAPS 2020). A training, and each instance with each contestant, are jobs. Where optimal
costs are known, records have them, and tables tell how far plans are from optimal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hstar.errors import InputError
from hstar.experiments.contestants import Contestant
from hstar.experiments.evaluate import Limits
from hstar.experiments.job import HSTAR, Job, Made
from hstar.experiments.batch import random_instances
from hstar.experiments.store import Store
from hstar.registry import unknown
from hstar.search.databases import DATABASES_NAME, check_databases
from hstar.search.puzzle_optimal import OptimalPlans, optimal_plans, solves_all
from hstar.spaces.puzzle import Instance, Puzzle, format_instances
from hstar.spaces.puzzles import PuzzleSize, parse_puzzle

INSTANCE = "instance.csv"


@dataclass(frozen=True)
class PuzzleSet:
    """Instances of one puzzle: names, and digests of files with one of them each."""

    puzzle: str
    name: str  # puzzle/set
    starts: tuple[tuple[str, str], ...]


def read_puzzles(size: PuzzleSize, file: Path, store: Store, *, blank_last: bool = False) -> PuzzleSet:
    """Those of a CSV file; `blank_last`: tiles that are meant for the goal with the blank last."""
    return _stored(size, file.stem, size.read(file, blank_last=blank_last), store)


def random_puzzles(
    size: PuzzleSize, number: int, seed: int, store: Store, walk: int | None = None
) -> PuzzleSet:
    """Uniform ones, or ends of walks, with their optimal costs where these are quickly found."""
    drawn = random_instances(size, number, seed, walk)
    found = [Instance(one.id, one.problem) for one in drawn]
    if solves_all(size):
        solver = optimal_plans(size)
        found = [replace(one, optimal_cost=_optimal_cost(one.puzzle, solver)) for one in found]
    name = f"random-{seed}" if walk is None else f"walk{walk}-{seed}"
    return _stored(size, name, found, store)


def _optimal_cost(puzzle: Puzzle, solver: OptimalPlans) -> int:
    states = solver.states(puzzle)
    assert states is not None  # no time limit
    return len(states) - 1


def _stored(size: PuzzleSize, name: str, instances: Sequence[Instance[Puzzle]], store: Store) -> PuzzleSet:
    starts = tuple((one.id, store.put(format_instances([one], size.kind).encode())) for one in instances)
    if not starts:
        raise InputError(f"{size}/{name} has no instances")
    return PuzzleSet(str(size), f"{size}/{name}", starts)


def puzzle_training_job(contestant: Contestant, puzzle: str, seed: int, limits: Limits) -> Job:
    """`hstar train` on a puzzle."""
    command = (*HSTAR, "train", str(contestant.recipe), puzzle, "--output", "{model.hstar}")
    return Job(
        kind="train",
        command=(*command, "--seed", str(seed), *contestant.options, "--quiet", "--json"),
        outputs=("model.hstar",),
        time_limit=limits.train_time,
        resident_limit=limits.train_memory,
        labels=_about(puzzle, puzzle, contestant, seed) | {"step": "train"},
        resumable=True,
    )


def puzzle_jobs(
    sets: Sequence[PuzzleSet],
    contestant: Contestant,
    store: Store,
    *,
    limits: Limits,
    seeds: Sequence[int] = (0,),
) -> list[Job]:
    """A contestant on every instance, and the trainings it needs before, one for each puzzle and seed."""
    if contestant.alias is not None or contestant.search is not None or contestant.precision is not None:
        raise InputError(f"{contestant.name}: puzzles are solved by IDA*, without search or precision")
    jobs: list[Job] = []
    for one in sets:
        if contestant.heuristic is not None:
            check_heuristic(parse_puzzle(one.puzzle), contestant.heuristic)
        for seed in seeds if contestant.recipe else (0,):
            model: str | Made | None = None
            if contestant.recipe is not None:
                jobs.append(puzzle_training_job(contestant, one.puzzle, seed, limits))
                model = Made(jobs[-1].key, "model.hstar")
            elif contestant.model is not None:
                model = store.put(contestant.model.read_bytes())
            heuristic = str(contestant.heuristic) if model is None else "{model.hstar}"
            command = (*HSTAR, "solve", one.puzzle, "{" + INSTANCE + "}", "--heuristic", heuristic)
            limit = ("--time-limit", f"{limits.time_limit:g}s")
            for start, file in one.starts:
                jobs.append(
                    Job(
                        kind="puzzle",
                        command=(*command, *limit, *contestant.search_options, "--quiet", "--json"),
                        inputs={INSTANCE: file, **({} if model is None else {"model.hstar": model})},
                        time_limit=limits.time_limit,
                        labels=_about(one.puzzle, one.name, contestant, seed)
                        | {"step": "search", "start": start},
                    )
                )
    return jobs


def check_heuristic(size: PuzzleSize, name: str) -> None:
    """An `InputError` unless it is a symbolic one of the puzzle."""
    puzzle = size.puzzle()
    names = [claim.name for claim in puzzle.claims]
    if name == DATABASES_NAME:
        check_databases(puzzle)
    elif name not in names:
        raise unknown(f"heuristic of {size}", name, [*names, DATABASES_NAME])


def _about(domain: str, instance: str, contestant: Contestant, seed: int) -> dict[str, Any]:
    return {"domain": domain, "instance": instance, "contestant": contestant.name, "seed": seed}
