"""Many instances by one search, on any kind of space: rows that survive a kill, and what they say together.

A row is plain data, one line of a file: the columns of `Result.to_json`, the instance, and the run that the
row belongs to (heuristic, search, options). A file may hold rows of several runs; those of the present run
that are there are not computed again.

Invariant: an answer that an optimal cost refutes, a plan that is cheaper or a proven lower bound above it, is
an error and never averaged away. The optimum of a map is found by backward Dijkstra search, which shares
neither direction nor heuristic with the search that it judges.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hstar.errors import InputError, LimitError, PlanError
from hstar.files import append_line, read_bytes
from hstar.limits import limited
from hstar.search.result import Found
from hstar.search.side_by_side import Progress, side_by_side
from hstar.search.solve import (
    Result,
    SearchConfig,
    built,
    default_heuristic,
    puzzle_anchor,
    solve,
    with_defaults,
)

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel

Row: TypeAlias = dict[str, Any]
CALIBRATION = (1,)  # the purpose of random instances that are neither those of a training nor of a test
TOLERANCE = 1e-9  # of sums of roots of 2, which are rounded once here and once there
_EFFORT = ("expansions", "evaluations", "generated", "reopened", "search_time", "cpu_time", "network_time")


@dataclass(frozen=True)
class Instance:
    """A problem of a set. `file` is where its optimal cost is stated, if it is."""

    id: str
    problem: Any  # None if a limit ended its loading
    optimal_cost: float | None = None
    file: Path | None = None
    load_time: float = 0.0  # seconds, which count for the time limit
    stopped: str | None = None  # the status, if a limit or Ctrl-C came before the search
    reached: str = ""  # by a translation that was stopped, in words


OnPlan: TypeAlias = Callable[[Instance, Found], None]


@dataclass(frozen=True)
class Batch:
    """One search for all instances, as `hstar.solve` takes it, and what tells its rows from others."""

    heuristic: Any = None
    search: str | None = None
    config: SearchConfig = field(default_factory=SearchConfig)
    about: Mapping[str, Any] = field(default_factory=dict)  # plain data: the heuristic by name, its rule, ...
    optimum: bool = False  # find the optimal costs, too
    jobs: int = 1  # instances at a time
    output: Path | None = None  # where rows are kept
    cache: bool = True  # of databases of puzzles

    @property
    def run(self) -> dict[str, Any]:
        default = SearchConfig()
        names = [entry.name for entry in fields(self.config) if entry.name not in ("anchor", "explored")]
        chosen = {name: getattr(self.config, name) for name in names}
        changed = {name: value for name, value in chosen.items() if value != getattr(default, name)}
        return {**self.about, "search": self.search, **({"optimum": True} if self.optimum else {}), **changed}


def random_instances(
    problem: Any, number: int, seed: int, walk: int | None = None, *, purpose: tuple[int, ...] = ()
) -> list[Instance]:
    """Random starts of a space, or the ends of random walks of so many steps.

    Those of another purpose are other ones, although their seed is the same.
    """
    import numpy as np

    seeds = np.random.SeedSequence(seed, spawn_key=purpose).generate_state(number, np.uint64).tolist()
    starts = (problem.random(one) if walk is None else problem.walk(walk, one) for one in seeds)
    return [Instance(str(i), start) for i, start in enumerate(starts, 1)]


def calibration_maps(
    model: TrainedModel[Any], files: Sequence[Path], number: int | None, seed: int
) -> Sequence[Any]:
    """The problems of .scen files, or so many on random maps as in the training, but other ones."""
    import numpy as np

    from hstar.spaces.grid_files import load_scenarios
    from hstar.spaces.grid_maps import MapOptions, random_problems, with_headings

    space = model.space
    steps: dict[str, Any] = {"neighbours": space.neighbours, "cut_corners": space.cut_corners}
    drawn = int(np.random.SeedSequence(seed, spawn_key=CALIBRATION).generate_state(1)[0])
    if number is None:
        found = [one.problem for path in files for one in load_scenarios(path, **steps)]
    else:
        found = random_problems(number, drawn, MapOptions(**model.recipe_config["maps"] | steps))
    return with_headings(found, space.headings, space.turn_cost, drawn) if space.headings else found


def distribution(walk: int | None = None) -> str:
    """What `random_instances` draws from, in words."""
    return "uniformly random" if walk is None else f"ends of walks of {walk} moves"


# Runs.


def run_batch(
    batch: Batch,
    instances: Iterable[Instance],
    *,
    progress: Progress | None = None,
    on_plan: OnPlan | None = None,
) -> Iterator[tuple[Row, Result | None]]:
    """A row for each instance, in their order, and its result; None for rows that the output file has."""
    run = json.loads(json.dumps(batch.run))  # as it is read back
    done = {} if batch.output is None else _rows(batch.output, run)
    used: Batch | None = None
    first: Instance | None = None  # what it explores is kept, if asked for

    def missing(all_of_them: Iterable[Instance]) -> Iterator[Instance]:
        nonlocal used, first
        for one in all_of_them:
            if _key(one) not in done:
                if used is None:
                    used, one = _prepared(batch, one)
                first = first or one
                yield one

    def search(instance: Instance, progress: Progress | None) -> Result:
        if instance.stopped is not None:
            return Result(instance.stopped)
        assert used is not None
        config = replace(used.config, explored=used.config.explored and instance is first)
        if config.time_limit is not None:
            config = replace(config, time_limit=max(0.0, config.time_limit - instance.load_time))
        told = None if on_plan is None else lambda found: on_plan(instance, found)
        asked, heuristic = instance.problem, used.heuristic
        try:
            return solve(asked, heuristic, used.search, config=config, progress=progress, on_plan=told)
        except KeyboardInterrupt:
            return Result("interrupted")
        except MemoryError:
            return Result("memory_limit")

    ahead, behind = itertools.tee(instances)
    results = side_by_side(missing(ahead), search, batch.jobs, progress)
    for instance in behind:
        row, result = done.get(_key(instance)), None
        if row is None:
            _, result = next(results)
            if batch.optimum and instance.optimal_cost is None and instance.problem is not None:
                instance = replace(instance, optimal_cost=optimum(instance.problem, batch.config))
            row = {**_row(instance, result), "run": run}
        _check(instance, row)
        if result is not None and batch.output is not None and result.status != "interrupted":
            append_line(batch.output, json.dumps(row))
        yield row, result
        if result is not None and result.status == "interrupted":
            return


def _prepared(batch: Batch, instance: Instance) -> tuple[Batch | None, Instance]:
    """What serves all instances of a puzzle is made once: databases, and networks over them.

    The time counts for the instance that needs it first. If a limit ends it, the next one tries again.
    """
    problem, started, config = instance.problem, time.monotonic(), batch.config
    if getattr(problem, "kind", None) != "puzzle":
        return batch, instance
    left = None if config.time_limit is None else max(0.0, config.time_limit - instance.load_time)
    try:
        with limited(left, config.memory_limit):
            made = _made(batch, problem)
    except KeyboardInterrupt:
        return None, replace(instance, stopped="interrupted")
    except LimitError as error:
        return None, replace(instance, stopped=error.status)
    return made, replace(instance, load_time=instance.load_time + time.monotonic() - started)


def _made(batch: Batch, problem: Any) -> Batch:
    listed = batch.heuristic if isinstance(batch.heuristic, list) else [batch.heuristic]
    listed, search, config = with_defaults("puzzle", listed, batch.search, batch.config)
    if listed[0] is None:
        listed = [default_heuristic(problem, search)]
    if search == "focal":
        config = replace(config, anchor=puzzle_anchor(problem, listed[0], config.anchor, cache=batch.cache))
    made = [built(problem, one, cache=batch.cache) for one in listed]
    return replace(batch, heuristic=made, search=search, config=config)


def optimum(problem: Any, config: SearchConfig) -> float | None:
    """The cost of an optimal plan; None if there is none, or none within the limits of the search."""
    if problem.kind == "map":
        import numpy as np

        from hstar.sampling.prolonged import Prolonged

        dijkstra = Prolonged(config.time_limit, config.memory_limit, k_pr=1.0, open=False, blind=True)
        found = dijkstra.sample(problem)
        if not found.reached:
            return None
        (place,) = np.nonzero(found.states == np.ravel_multi_index(problem.start, problem.shape))
        return float(found.label[place[0]])
    limits = SearchConfig(time_limit=config.time_limit, memory_limit=config.memory_limit)
    if problem.kind == "puzzle":
        from hstar.search.puzzle_optimal import optimal_plans

        try:
            with limited(config.time_limit, config.memory_limit):
                plans = optimal_plans(problem)
        except LimitError:
            return None
        states = plans.states(problem, config.time_limit)
        return None if states is None else len(states) - 1
    result = solve(problem, "lmcut" if problem.kind == "task" else "zero", "astar", config=limits)
    cost: float | None = result.plan_cost
    return cost


def _row(instance: Instance, result: Result) -> Row:
    problem, states = instance.problem, result.states
    kind = getattr(problem, "kind", "task")
    row: Row = {"id": instance.id}
    if kind != "task":
        row["start"] = plain(problem.start)
    if kind == "map":
        row["goal"] = plain(problem.goal)
    row |= {**result.to_json(), "optimal_cost": instance.optimal_cost}
    row["plan"] = plain(result.plan)
    if kind == "puzzle":
        row["actions"] = plain(result.actions)
    elif kind != "task":
        row["path"] = None if states is None else [plain(state) for state in states]
    return row


def plain(state: Any) -> Any:
    """A state as JSON: numbers and lists of them, or words for what is neither."""
    if hasattr(state, "tolist"):
        return state.tolist()
    if isinstance(state, tuple | list):
        return [plain(part) for part in state]
    return state if isinstance(state, int | float | str | None) else repr(state)


def _key(instance: Instance) -> tuple[str, str]:
    start = None if getattr(instance.problem, "kind", "task") == "task" else plain(instance.problem.start)
    return instance.id, json.dumps(start)


def _rows(path: Path, run: Mapping[str, Any]) -> dict[tuple[str, str], Row]:
    """Rows of this run in a file; half a line that a kill left behind is passed over."""
    found: dict[tuple[str, str], Row] = {}
    for line in read_bytes(path).splitlines() if path.exists() else ():
        try:
            row = json.loads(line)
            if row["run"] == run:
                found[row["id"], json.dumps(row.get("start"))] = row
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return found


def _check(instance: Instance, row: Row) -> None:
    """An error if the optimal cost and the answer contradict each other."""
    stated = instance.optimal_cost is not None and instance.file is not None
    optimal = instance.optimal_cost if stated else row["optimal_cost"]
    if optimal is None:
        return
    cost, least = row["cost"], row["lower_bound"]
    if row["status"] == "unsolvable":
        known = "no plan was found"
    elif cost is not None and cost < optimal * (1 - TOLERANCE):
        known = f"a plan costs {cost:g}"
    elif least is not None and least > optimal * (1 + TOLERANCE):
        known = f"no plan costs less than {least:g}"
    else:
        return
    if not stated:  # a bug of the search
        raise PlanError(f"{instance.id}: the optimum is {optimal:g}, but {known}")
    tiles = getattr(instance.problem, "name", "") == "tiles"
    hint = "; --blank-last is for boards whose goal has the blank last" if tiles else ""
    message = f"{instance.id}: optimal_cost is {optimal:g}, but {known}: wrong, or for another goal{hint}"
    raise InputError(message, file=instance.file)


# What rows say together.


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Means over all instances; of costs over those solved, of ratios over those with known optima.

    `status` is `solved` if all are, or how the first other one ended. `bound` is what is proven of all plans.
    """
    solved = [row for row in rows if row["status"] == "solved"]
    known = [row for row in solved if row["optimal_cost"] is not None]
    ratios = [row["cost"] / row["optimal_cost"] if row["optimal_cost"] else 1.0 for row in known]
    proven = [row["ratio"] for row in solved]
    return {
        "status": next((row["status"] for row in rows if row["status"] != "solved"), "solved"),
        "instances": len(rows),
        "solved": len(solved),
        "cost": _mean([row["cost"] for row in solved]),
        "plan_length": _mean([row["plan_length"] for row in solved]),
        "bound": max(proven) if proven and None not in proven else None,
        **{name: _mean([row[name] for row in rows]) for name in _EFFORT},
        "with_known_optimum": len(known),
        "optimal_cost": _mean([row["optimal_cost"] for row in known]),
        "suboptimality": _mean([ratio - 1 for ratio in ratios]),
        "greatest_suboptimality": max(ratios) - 1 if ratios else None,
        "optimal": _mean([float(ratio <= 1 + TOLERANCE) for ratio in ratios]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
