"""Many instances of a native puzzle by one search: rows that survive a kill, and what they say together.

A row is plain data, one line of a file, with the run that it belongs to: puzzle, heuristic and limits. A file
may hold rows of several runs; of the present one those that are there are not computed again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from hstar.errors import InputError
from hstar.estimates import rules
from hstar.estimates.rules import Mean, Rule
from hstar.files import append_line
from hstar.models.puzzle_model import load_puzzle_model
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
from hstar.search.focal import FocalConfig, FocalResult, FoundPlan, focal
from hstar.search.idastar import IDAStarConfig, IDAStarResult, PuzzleHeuristic, idastar
from hstar.search.puzzle_network import PuzzleNetwork
from hstar.search.side_by_side import Progress, side_by_side
from hstar.spaces.puzzle import Instance, Puzzle, check_cost
from hstar.spaces.puzzles import PuzzleSize

Row: TypeAlias = dict[str, Any]
OnPlan: TypeAlias = Callable[[Instance[Puzzle], FoundPlan], None]
DATABASES = "databases"
_SETS = {"tiles:4x4": PUZZLE_15, "tiles:5x5": PUZZLE_24, "pancake:24": PANCAKE_24}
_WITH_DATABASES = (*_SETS, "blocks:15")


# What there is to run.


def random_instances(
    size: PuzzleSize, number: int, seed: int, walk: int | None = None, *, purpose: tuple[int, ...] = ()
) -> list[Instance[Puzzle]]:
    """Uniformly among all, or the ends of walks of so many moves from the goal.

    Those of another purpose are other ones, although their seed is the same.
    """
    seeds = np.random.SeedSequence(seed, spawn_key=purpose).generate_state(number, np.uint64).tolist()
    puzzles = (size.random(one) if walk is None else size.walk(walk, one) for one in seeds)
    return [Instance(str(i), puzzle) for i, puzzle in enumerate(puzzles, 1)]


def distribution(walk: int | None = None) -> str:
    """What `random_instances` draws from, in words."""
    return "uniformly random" if walk is None else f"ends of walks of {walk} moves"


def puzzle_heuristic(
    size: PuzzleSize,
    name: str,
    alpha: float | None = None,
    rule: Rule | None = None,
    *,
    floor: bool = False,
    truncated: bool = False,
    cache: bool = True,
) -> tuple[PuzzleHeuristic, dict[str, Any]]:
    """A heuristic by name or by model file, and plain data that tell it from others.

    Of a model alpha or a rule can be chosen; a calibrated one goes by its calibration otherwise. `floor` and
    `truncated` are those of `PuzzleModel.network`; without them it is as in the training.
    """
    puzzle = size.puzzle()
    if name.endswith(".hstar") or Path(name).is_file():
        model = load_puzzle_model(name)
        digest = hashlib.sha256(Path(name).read_bytes()).hexdigest()
        chosen = {"floor": floor, "truncated": truncated}
        network = model.network(
            puzzle, alpha, rule=rule, floor=floor or None, truncated=truncated, cache=cache
        )
        about: dict[str, Any] = {"heuristic": Path(name).name, "model": digest, "alpha": alpha}
        about |= {word: True for word, given in chosen.items() if given}
        used = model.rule if rule is None else rule
        if alpha is None and used != Mean():
            about["rule"] = rules.to_json(used)
        return network, about
    of_models = {"alpha": alpha is not None, "a rule": rule is not None, "a floor": floor}
    for word, given in (of_models | {"a truncated belief": truncated}).items():
        if given:
            raise InputError(f"{word} is for models, not for {name}")
    check_heuristic(size, name)
    if name == DATABASES:
        return _databases(size, cache=cache), {"heuristic": name}
    return name, {"heuristic": name}


def _databases(size: PuzzleSize, *, cache: bool) -> Databases:
    """The greatest sum of the additive sets; of blocks the greatest cost of the twelve patterns."""
    if size.kind == "blocks":
        return block_databases(size.puzzle(), BLOCKS_15, cache=cache)
    return additive_databases(size.puzzle(), _SETS[str(size)], cache=cache)


def check_heuristic(size: PuzzleSize, name: str) -> None:
    """An `InputError` unless it is a symbolic one of the puzzle."""
    names = [info.name for info in size.puzzle().core.heuristics]
    if name == DATABASES and str(size) not in _WITH_DATABASES:
        raise InputError(f"there are databases for {', '.join(_WITH_DATABASES)}, not for {size}")
    if name not in (*names, DATABASES):
        raise unknown(f"heuristic of {size}", name, [*names, DATABASES])


def puzzle_anchor(
    size: PuzzleSize, name: str | None = None, *, cache: bool = True
) -> tuple[PuzzleHeuristic, str]:
    """An admissible heuristic, the strongest one if none is named, and its name."""
    names = [info.name for info in size.puzzle().core.heuristics if info.admissible]
    if name is None:  # sums over all tiles are never below their distances; of pancakes the gap is stronger
        name = DATABASES if str(size) in _SETS and size.kind == "tiles" else names[0]
    if name != DATABASES and name not in names:
        raise unknown(f"admissible heuristic of {size}", name, [*names, DATABASES])
    return puzzle_heuristic(size, name, cache=cache)[0], name


# The runs.


def solve_instances(
    instances: Sequence[Instance[Puzzle]],
    heuristic: PuzzleHeuristic,
    config: IDAStarConfig | FocalConfig,
    run: Mapping[str, Any],
    *,
    anchor: PuzzleHeuristic | None = None,
    jobs: int = 1,
    output: Path | None = None,
    progress: Progress | None = None,
    on_plan: OnPlan | None = None,
    file: Path | None = None,
) -> Iterator[Row]:
    """A row for each instance, in their order; those of `run` in the output file are taken from there.

    The options say which search it is; `anchor` and `on_plan` are for `focal`. An optimal cost that a search
    refutes is an `InputError` about `file`, where the instances are from.
    """
    run = {**run, **asdict(config)}
    done = {} if output is None else _rows(output, run)
    missing = [one for one in instances if _key(one) not in done]

    def search(instance: Instance[Puzzle], progress: Progress | None) -> IDAStarResult | FocalResult:
        if isinstance(config, IDAStarConfig):
            return idastar(instance.puzzle, heuristic, config, progress=progress)
        told = None if on_plan is None else lambda found: on_plan(instance, found)
        return focal(instance.puzzle, heuristic, anchor, config, progress=progress, on_plan=told)

    found = side_by_side(missing, search, jobs, progress)
    for instance in instances:
        if _key(instance) in done:
            row = done[_key(instance)]
            check_cost(instance, cost=row["cost"], file=file)
            yield row
            continue
        _, result = next(found)
        check_cost(
            instance, cost=result.plan_cost, least=_least(instance.puzzle, heuristic, result), file=file
        )
        row = _row(instance, result, run)
        if output is not None:
            append_line(output, json.dumps(row))
        yield row


def _least(puzzle: Puzzle, heuristic: PuzzleHeuristic, result: IDAStarResult | FocalResult) -> int | None:
    """What no plan costs less than, if the search has shown it."""
    if not isinstance(result, IDAStarResult):
        return result.lower_bound
    if isinstance(heuristic, str):
        admissible = any(info.name == heuristic and info.admissible for info in puzzle.core.heuristics)
    else:
        admissible = not isinstance(heuristic, PuzzleNetwork)
    return result.bound if admissible else None


def _row(instance: Instance[Puzzle], result: IDAStarResult | FocalResult, run: Mapping[str, Any]) -> Row:
    if isinstance(result, IDAStarResult):
        own: Row = {"rounds": result.rounds}
    else:
        own = {"lower_bound": result.lower_bound, "ratio": result.ratio}
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
