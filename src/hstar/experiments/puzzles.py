"""Many instances of a native puzzle by one search: rows that survive a kill, and what they say together.

A row is plain data, one line of a file, with the run that it belongs to: puzzle, heuristic and limits. A file
may hold rows of several runs; of the present one those that are there are not computed again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from hstar.errors import InputError
from hstar.estimates import rules
from hstar.estimates.rules import Likely, Mean, Rule
from hstar.files import append_line, names_model
from hstar.models.puzzle_identity import FEATURES
from hstar.models.puzzle_identity import truncated as truncated_belief
from hstar.models.trained_model import load_model
from hstar.registry import unknown
from hstar.search.databases import (
    BLOCKS_15,
    PANCAKE_24,
    PUZZLE_15,
    PUZZLE_24,
    Databases,
    additive_databases,
    block_databases,
)
from hstar.search.iterative_deepening import PuzzleHeuristic
from hstar.search.result import Found
from hstar.search.side_by_side import Progress, side_by_side
from hstar.search.solve import Result, SearchConfig, solve
from hstar.spaces.puzzle import Instance, Puzzle, check_cost

Row: TypeAlias = dict[str, Any]
OnPlan: TypeAlias = Callable[[Instance[Puzzle], Found], None]
DATABASES = "databases"
_SETS = {"tiles:4x4": PUZZLE_15, "tiles:5x5": PUZZLE_24, "pancake:24": PANCAKE_24}
_WITH_DATABASES = (*_SETS, "blocks:15")


# What there is to run.


def random_instances(
    puzzle: Puzzle, number: int, seed: int, walk: int | None = None, *, purpose: tuple[int, ...] = ()
) -> list[Instance[Puzzle]]:
    """Uniformly among all, or the ends of walks of so many moves from the goal.

    Those of another purpose are other ones, although their seed is the same.
    """
    seeds = np.random.SeedSequence(seed, spawn_key=purpose).generate_state(number, np.uint64).tolist()
    puzzles = (puzzle.random(one) if walk is None else puzzle.walk(walk, one) for one in seeds)
    return [Instance(str(i), puzzle) for i, puzzle in enumerate(puzzles, 1)]


def distribution(walk: int | None = None) -> str:
    """What `random_instances` draws from, in words."""
    return "uniformly random" if walk is None else f"ends of walks of {walk} moves"


def puzzle_heuristic(
    puzzle: Puzzle,
    name: str,
    rule: Rule | None = None,
    *,
    floor: bool = False,
    truncated: bool = False,
    cache: bool = True,
) -> tuple[PuzzleHeuristic, dict[str, Any]]:
    """A heuristic by name or by model file, and plain data that tell it from others.

    Of a model another rule can be chosen than its own. With `floor` no value is below its admissible
    features, as in some trainings; `truncated` takes all that is below them out of its belief.
    """
    if names_model(name):
        model = load_model(name)
        model.space.check(puzzle)
        model = replace(
            truncated_belief(model) if truncated else model, rule=model.rule if rule is None else rule
        )
        model = replace(model, lower=FEATURES) if floor else model
        digest = hashlib.sha256(Path(name).read_bytes()).hexdigest()
        alpha = rule.alpha if isinstance(rule, Likely) else None
        about: dict[str, Any] = {"heuristic": Path(name).name, "model": digest, "alpha": alpha}
        about |= {word: True for word, given in (("floor", floor), ("truncated", truncated)) if given}
        if alpha is None and model.rule != Mean():
            about["rule"] = rules.to_json(model.rule)
        return model.build(puzzle, cache=cache), about
    of_models = {"alpha": isinstance(rule, Likely), "a rule": rule is not None, "a floor": floor}
    for word, given in (of_models | {"a truncated belief": truncated}).items():
        if given:
            raise InputError(f"{word} is for models, not for {name}")
    check_heuristic(puzzle, name)
    if name == DATABASES:
        return _databases(puzzle, cache=cache), {"heuristic": name}
    return name, {"heuristic": name}


def _databases(puzzle: Puzzle, *, cache: bool) -> Databases:
    """The greatest sum of the additive sets; of blocks the greatest cost of the twelve patterns."""
    if puzzle.name == "blocks":
        return block_databases(puzzle, BLOCKS_15, cache=cache)
    return additive_databases(puzzle, _SETS[str(puzzle)], cache=cache)


def check_heuristic(puzzle: Puzzle, name: str) -> None:
    """An `InputError` unless it is a symbolic one of the puzzle."""
    names = [info.name for info in puzzle.core.heuristics]
    if name == DATABASES and str(puzzle) not in _WITH_DATABASES:
        raise InputError(f"there are databases for {', '.join(_WITH_DATABASES)}, not for {puzzle}")
    if name not in (*names, DATABASES):
        raise unknown(f"heuristic of {puzzle}", name, [*names, DATABASES])


def puzzle_anchor(
    puzzle: Puzzle, name: str | None = None, *, cache: bool = True
) -> tuple[PuzzleHeuristic, str]:
    """An admissible heuristic, the strongest one if none is named, and its name."""
    names = [info.name for info in puzzle.core.heuristics if info.admissible]
    if name is None:  # sums over all tiles are never below their distances; of pancakes the gap is stronger
        name = DATABASES if str(puzzle) in _SETS and puzzle.name == "tiles" else names[0]
    if name != DATABASES and name not in names:
        raise unknown(f"admissible heuristic of {puzzle}", name, [*names, DATABASES])
    return puzzle_heuristic(puzzle, name, cache=cache)[0], name


# The runs.


def solve_instances(
    instances: Sequence[Instance[Puzzle]],
    heuristic: PuzzleHeuristic,
    config: SearchConfig,
    run: Mapping[str, Any],
    *,
    search: str = "idastar",
    jobs: int = 1,
    output: Path | None = None,
    progress: Progress | None = None,
    on_plan: OnPlan | None = None,
    file: Path | None = None,
) -> Iterator[Row]:
    """A row for each instance, in their order; those of `run` in the output file are taken from there.

    `on_plan` is for `focal`. An optimal cost that a search refutes is an `InputError` about `file`, where the
    instances are from.
    """
    run = {**run, "search": search, **_chosen(config)}
    done = {} if output is None else _rows(output, run)
    missing = [one for one in instances if _key(one) not in done]

    def run_one(instance: Instance[Puzzle], progress: Progress | None) -> Result:
        told = None if on_plan is None else lambda found: on_plan(instance, found)
        return solve(instance.puzzle, heuristic, search, config=config, progress=progress, on_plan=told)

    found = side_by_side(missing, run_one, jobs, progress)
    for instance in instances:
        if _key(instance) in done:
            row = done[_key(instance)]
            check_cost(instance, cost=row["cost"], file=file)
            yield row
            continue
        _, result = next(found)
        check_cost(instance, cost=result.plan_cost, least=result.lower_bound, file=file)
        row = _row(instance, result, run)
        if output is not None:
            append_line(output, json.dumps(row))
        yield row


def _chosen(config: SearchConfig) -> dict[str, Any]:
    """The options that are not the defaults, by name; the anchor is told by the caller."""
    default = SearchConfig()
    names = [entry.name for entry in fields(config) if entry.name != "anchor"]
    return {name: getattr(config, name) for name in names if getattr(config, name) != getattr(default, name)}


def _row(instance: Instance[Puzzle], result: Result, run: Mapping[str, Any]) -> Row:
    own: Row = {"lower_bound": result.lower_bound, "ratio": result.ratio}
    if run["search"] == "idastar":
        own = {"rounds": result.rounds}
    return {
        "id": instance.id,
        "start": list(instance.puzzle.start),
        "optimal_cost": instance.optimal_cost,
        "status": result.status,
        "cost": result.plan_cost,
        **own,
        "generated": result.generated,
        "expanded": result.expanded,
        "initial_h": result.initial_h,
        "search_time": result.search_time,
        "cpu_time": result.cpu_time,
        "actions": None if result.actions is None else list(result.actions),
        "run": dict(run),
    }


def _key(instance: Instance[Puzzle]) -> tuple[str, tuple[int, ...]]:
    return instance.id, instance.puzzle.start


def _rows(path: Path, run: Mapping[str, Any]) -> dict[tuple[str, tuple[int, ...]], Row]:
    """Rows of this run in a file; half a line that a kill left behind is passed over."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", file=path) from None
    found: dict[tuple[str, tuple[int, ...]], Row] = {}
    for line in lines:
        try:
            row = json.loads(line)
            if row["run"] == run:
                found[row["id"], tuple(row["start"])] = row
        except (ValueError, KeyError, TypeError):
            continue
    return found


# What they say together.


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Means over all instances; of costs over those solved, of suboptimality over those with known optima."""
    solved = [row for row in rows if row["status"] == "solved"]
    known = [row for row in solved if row["optimal_cost"] is not None]
    ratios = [row["cost"] / row["optimal_cost"] - 1 if row["optimal_cost"] else 0.0 for row in known]
    return {
        "instances": len(rows),
        "solved": len(solved),
        "mean_cost": _mean([row["cost"] for row in solved]),
        "mean_generated": _mean([row["generated"] for row in rows]),
        "mean_search_time": _mean([row["search_time"] for row in rows]),
        "with_known_optimum": len(known),
        "suboptimality": _mean(ratios),
        "optimal": _mean([float(row["cost"] == row["optimal_cost"]) for row in known]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
