"""Evaluations per second of `wl` models inside greedy best-first search.

The model of a domain is a linear function (with --hidden a network) of the Weisfeiler-Leman features of
states of random walks in small training tasks, fitted to `ff` of these states: colours of larger tasks are
known to it or not as those of a trained model are. A search ends after --expansions, and is repeated if it
is short. The nodes of a task are its objects, the atoms of its initial state and the open goals: what is
coloured.

To compare two builds of hstar, run the script with the Python of each and the same --out: the table has a
column for each build, and the ratio of the last to the first. All builds compute the same values, so they
search alike. Without tasks, those of docs/results/planner.md are measured, from the folder of benchmarks
beside the repository. `domain.pddl` is looked for in the folder of a task and in those above it, training
tasks in `training` beside it; without them the model is fitted to walks in the task itself.

python benchmarks/wl.py [TASK ...] [--iterations 2] [--multiset] [--out FILE]; what it keeps: --print FILE
"""

from __future__ import annotations

import argparse
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from records import (
    UNKNOWN,
    Record,
    Records,
    add_file_options,
    build,
    finish,
    latest,
    note,
    read,
    shown,
    table,
    those,
    values_of,
)

import hstar
from hstar import _core
from hstar.errors import InputError
from hstar.models.wl import WLConfig, WLFeatures, WLModel
from hstar.sampling.relational import RelationalData, RelationalInstance, instance_of
from hstar.sampling.walks import Walks
from hstar.search.heuristics import evaluate
from hstar.spaces.relations import relations, vocabulary

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "benchmarks" / "ipc23lt"
TASKS = {  # and after how many expansions a search ends: some states have very many successors
    "blocksworld/dev/hard/p08": 300,
    "blocksworld/dev/hard/p28": 200,
    "childsnack/dev/hard/p03": 2,
    "ferry/dev/hard/p03": 300,
    "ferry/dev/hard/p28": 50,
    "miconic/dev/hard/p08": 200,
    "miconic/dev/hard/p28": 50,
    "rovers/dev/medium/p28": 20,
    "rovers/dev/hard/p13": 5,
    "satellite/dev/hard/p08": 5,
    "satellite/dev/hard/p28": 2,
    "spanner/dev/hard/p03": 3000,
    "spanner/dev/hard/p28": 1000,
    **{
        f"{domain}/training/p{number}": 1000
        for domain in ("blocksworld", "childsnack", "ferry", "miconic", "rovers", "satellite", "spanner")
        for number in (28, 64)
    },
}
TABLES = ("rates",)
LEARNED = 12  # training tasks
LEAST_TIME, MOST_SEARCHES = 0.5, 1000  # seconds of CPU time: a small task is searched again and again
GRAPH = 200  # objects from which on a task is a large one


@dataclass(frozen=True)
class Setting:
    """What is measured beside the task."""

    iterations: int = 2
    multiset: bool = False
    hidden: int = 0


KEY = ("part", "build", "task", "expansions", *Setting.__dataclass_fields__)


def domain_of(problem: Path) -> Path:
    for folder in problem.resolve().parents:
        if (folder / "domain.pddl").is_file():
            return folder / "domain.pddl"
    raise InputError("no domain.pddl in its folder nor above it", file=problem)


def walked(task: hstar.Task) -> RelationalInstance:
    """States of random walks, labelled by ff; dead ends have no label."""
    states = Walks(walks=25, min_length=1, max_length=50, seed=0).states(task)
    label = np.array(evaluate(task.with_unit_cost(), "ff", states), dtype=np.float32)
    label[np.isinf(label)] = np.nan
    return instance_of(task.name, task, vocabulary(task), states, {"label": label})


@functools.cache
def learned(domain: Path, own: Path | None, setting: Setting) -> tuple[WLFeatures, tuple[np.ndarray, ...]]:
    """The features and the layers of a model; `own`: the task to learn from if there are no others."""
    problems = [own] if own is not None else sorted((domain.parent / "training").glob("*.pddl"))[:LEARNED]
    tasks = [hstar.load(domain, problem) for problem in problems]
    data = RelationalData(vocabulary(tasks[0]), tuple(map(walked, tasks)))
    config = WLConfig(iterations=setting.iterations, multiset=setting.multiset)
    fit = WLModel(**vars(config)).fitted(data, data.column("label").astype(np.float64)).fit
    assert fit is not None
    bias = np.array([fit.bias - fit.weights @ fit.mean])
    if not setting.hidden:
        return fit.features, (fit.weights[None], bias)
    # Each unit has a random share of the weights, so that there is as much to add up as in a trained network.
    shares = np.random.default_rng(0).normal(size=(setting.hidden, 1))
    layers = shares * fit.weights, np.abs(shares[:, 0]) * 50
    return fit.features, (*layers, shares.T / (shares**2).sum(), bias)


@dataclass(frozen=True)
class Model:
    """A model as `solve` takes it."""

    features: WLFeatures
    layers: tuple[np.ndarray, ...]

    def build(self, task: hstar.Task) -> _core.Heuristic:
        """For `solve`."""
        model = self.features.model(task, *self.layers)
        return _core.believed_heuristic(task.native, model, name="wl", scale=1024)


def measure(path: Path, expansions: int, setting: Setting) -> Record:
    """The same search, as often as it takes to measure its time."""
    domain = domain_of(path)
    task = hstar.load(domain, path)
    own = None if (domain.parent / "training").is_dir() else path
    found = relations(task, vocabulary(task))
    held = len(found.constant) + sum(atom in found.relations.number for atom in task.initial_atoms)
    still_open = len(found.relations.goal - task.initial_atoms - task.lifted.problem.init)
    model, results = Model(*learned(domain, own, setting)), list[hstar.Result]()
    while sum(result.cpu_time for result in results) < LEAST_TIME and len(results) < MOST_SEARCHES:
        results.append(hstar.solve(task, model, "gbfs", max_expansions=expansions))
    # A search that ends by its limit counts the successors of the last state, but does not evaluate them.
    first = results[0]
    if first.status == "expansion_limit":
        first = hstar.solve(task, model, "gbfs", max_expansions=expansions - 1)
    evaluated, cpu_time = len(results) * first.evaluated, sum(result.cpu_time for result in results)
    note(f"{path}: {evaluated / cpu_time:,.0f}")
    return {
        "objects": len(task.lifted.objects),
        "nodes": len(task.lifted.objects) + held + still_open,
        "evaluated": evaluated,
        "cpu_time": cpu_time,
        "searches": len(results),
        "expanded": results[0].expanded,
        "initial_h": results[0].initial_h,
    }


def rate_table(records: Sequence[Record]) -> str:
    """Evaluations per second of CPU time, a row a task, a column a build."""
    settings = [name for name in KEY if name not in ("part", "build", "task")]
    builds = [one for (one,) in values_of(records, "build")]
    rows, ratios = [], dict[bool, list[float]]()
    for task, *values in values_of(records, "task", *settings):
        mine = those(records, task=task, **dict(zip(settings, values, strict=True)))
        rates = {r["build"]: r["evaluated"] / r["cpu_time"] for r in mine}
        ratio = UNKNOWN
        if len(builds) > 1 and {builds[0], builds[-1]} <= set(rates):
            last = rates[builds[-1]] / rates[builds[0]]
            ratios.setdefault(mine[0]["objects"] >= GRAPH, []).append(last)
            ratio = f"{last:.1f}"
        cells = [f"{rates[one]:,.0f}" if one in rates else UNKNOWN for one in builds]
        _, iterations, multiset, hidden = values
        head = f"{iterations}, {'multisets' if multiset else 'sets'}" + (
            f", {hidden} units" if hidden else ""
        )
        rows.append([task, head, f"{mine[0]['objects']:,}", f"{mine[0]['nodes']:,}", *cells, ratio])
    for large, found in sorted(ratios.items(), reverse=True):
        mean = math.exp(sum(map(math.log, found)) / len(found))
        title = f"geometric mean, {'at least' if large else 'fewer than'} {GRAPH} objects"
        rows.append([title, *[""] * (3 + len(builds)), f"{mean:.1f}"])
    return table(["task", "iterations", "objects", "nodes", *builds, "ratio"], rows, words=(0, 1))


def report(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    return {"rates": ("Evaluations per second of CPU time in GBFS:", rate_table(records))}


def chosen_tasks(paths: Sequence[Path], expansions: int) -> list[tuple[str, Path, int]]:
    """Names, files and expansions; of TASKS if none are given."""
    if paths:
        return [(str(path), path, expansions) for path in paths]
    if not FOLDER.is_dir():
        raise InputError("no such folder: name the tasks to measure", file=FOLDER)
    return [(name, FOLDER / f"{name}.pddl", expansions) for name, expansions in TASKS.items()]


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Evaluations per second of wl models inside GBFS.")
    parser.add_argument("tasks", nargs="*", type=Path, help="problem files in PDDL")
    default = Setting()
    add = parser.add_argument
    add("--iterations", type=int, default=default.iterations, help="rounds of colour refinement")
    add("--multiset", action="store_true", help="count neighbours of equal colour")
    add("--hidden", type=int, default=default.hidden, help="units of a hidden layer (default: none)")
    add(
        "--expansions",
        type=int,
        default=100,
        help="of a search in tasks that are named (default: %(default)s)",
    )
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    if options.expansions < 2:
        parser.error("--expansions must be at least 2")
    if options.file is not None:
        known = latest(those(read(options.file), part="rates"), KEY)
        print(shown(report(known), known, options.table, options.file))
        return 0
    setting = Setting(**{name: getattr(options, name) for name in Setting.__dataclass_fields__})
    records = Records(options.out, KEY)
    for name, path, expansions in chosen_tasks(options.tasks, options.expansions):
        what = {"part": "rates", "build": build(), "task": name, "expansions": expansions, **vars(setting)}
        records.get(what, functools.partial(measure, path, expansions, setting))
    print(shown(report(records.used), records.used, options.table))
    return 0


if __name__ == "__main__":
    finish(main)
