"""float32 and int16 layers of networks: how much faster is int16 in the search, and what does it change?

1. Evaluations a second of processor time in greedy best-first search with a random network
|F|-250-250-[250-250]-1; the two precisions take turns, so that other work on the machine hits both. 2.
Networks learned by `fsm` on generated tasks: the relative difference of h on states of random walks, and
searches from ends of walks in both precisions. 3. Random networks of several widths: the greatest error as a
share of the range of the outputs.

Every search is a record of its own (records.py). Learned networks stay in the work folder, so that a command
that goes on does so with the same ones.

python benchmarks/precision.py [TASK ...] [--out FILE]; tables of what it keeps: --print FILE
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from network import TASKS, Native, PaperNet, chosen_tasks, encoder
from records import (
    Record,
    Records,
    add_file_options,
    build,
    finish,
    note,
    shown,
    stored,
    table,
    those,
    values_of,
)

import hstar
from hstar import _core
from hstar.models.trained_model import TrainedModel, load_model
from hstar.sampling.walks import Walks
from sampling import Spec, generate, title

WORK = Path(__file__).resolve().parents[1] / "build" / "benchmarks" / "precision"
PRECISIONS = ("float32", "int16")
KEY = (
    "plan",
    "part",
    "build",
    "task",
    "file",
    "evaluations",
    "precision",
    "start",
    "widths",
    "seed",
    "repeat",
)
PARTS = ("rates", "difference", "searches", "width")
TABLES = ("rates", "quality", "width")
RESAMPLES = 2_000  # of the bootstrap


@dataclass(frozen=True)
class Plan:
    """What is measured."""

    name: str
    evaluations: int  # of a search with a random network
    repeats: int
    learned: tuple[Spec, ...]
    training: Mapping[str, Any]
    walks: int  # whose states are compared
    starts: int
    most_evaluations: int
    widths: tuple[tuple[int, ...], ...]
    seeds: int


FULL = Plan(
    name="full",
    evaluations=60_000,
    repeats=15,
    learned=(
        ("blocksworld", {"blocks": 12}),
        ("blocksworld", {"blocks": 14}),
        ("npuzzle", {"rows": 4, "columns": 4}),
    ),
    training={"time_limit": 100},
    walks=4_000,
    starts=100,
    most_evaluations=2_000_000,
    widths=((16, 16), (64, 64), (250, 250), (1_000, 1_000), (4_000, 4_000)),
    seeds=3,
)
QUICK = Plan(
    name="quick",
    evaluations=500,
    repeats=2,
    learned=(("blocksworld", {"blocks": 4}),),
    training={"states": 300, "epochs": 2},
    walks=20,
    starts=4,
    most_evaluations=2_000,
    widths=((16, 16), (24, 24)),
    seeds=2,
)


# --- 1. rates -------------------------------------------------------------------------------------


@functools.cache
def random_heuristics(path: Path) -> tuple[hstar.Task, dict[str, Native]]:
    """The task, and the same random network in each precision."""
    task = hstar.load(path)
    inputs, _ = encoder(task)
    torch.manual_seed(0)
    net = PaperNet(max(inputs) + 1).eval()
    return task, {name: Native(net, inputs, incremental=True, precision=name) for name in PRECISIONS}


def measure_rate(path: Path, precision: str, evaluations: int) -> Record:
    task, heuristics = random_heuristics(path)
    note(f"{path}: {precision}")
    result = hstar.solve(task, heuristics[precision], "gbfs", max_evaluations=evaluations)
    return {"evaluated": result.evaluated, "expanded": result.expanded, "cpu_time": result.cpu_time}


# --- 2. learned networks --------------------------------------------------------------------------


@dataclass(frozen=True)
class Learned:
    """A task and its network, in both precisions."""

    task: hstar.Task
    models: Mapping[str, TrainedModel[Any]]


def learn(spec: Spec, plan: Plan, work: Path) -> Learned:
    """The network of the work folder, or a new one."""
    task = generate(spec)
    file = work / f"{plan.name}-{title(spec).replace(' ', '-')}.hstar"
    if not file.exists():
        note(f"{title(spec)}: a network is learned")
        work.mkdir(parents=True, exist_ok=True)
        checkpoint = file.with_suffix(".checkpoint")
        model = hstar.train("fsm", task, seed=0, checkpoint=checkpoint, **plan.training)
        model.save(file)
        checkpoint.unlink(missing_ok=True)
    model = load_model(file)
    return Learned(task, {name: model.with_precision(name) for name in PRECISIONS})


def measure_difference(learned: Callable[[], Learned], walks: int) -> Record:
    """|int16 - float32| / float32 of h over states of walks, where h is above 0."""
    found = learned()
    states = Walks(walks=walks, min_length=0, max_length=200, seed=11).states(found.task)
    a, b = (found.models[name].build(found.task).evaluate(states) for name in PRECISIONS)
    relative = np.abs(b - a)[a > 0] / a[a > 0]
    return {"states": len(relative), "mean": float(relative.mean()), "greatest": float(relative.max())}


def measure_search(
    learned: Callable[[], Learned],
    starts: Callable[[], list[hstar.Task]],
    start: int,
    precision: str,
    evaluations: int,
) -> Record:
    """The faster of two runs, which expand the same states."""
    model, task = learned().models[precision], starts()[start]
    note(f"{task.name}: {precision}")
    runs = (hstar.solve(task, model, "gbfs", max_evaluations=evaluations) for _ in range(2))
    best = min(runs, key=lambda result: result.cpu_time)
    return {"solved": best.solved, "expanded": best.expanded, "cpu_time": best.cpu_time}


# --- 3. widths ------------------------------------------------------------------------------------


def measure_width(widths: Sequence[int], seed: int) -> Record:
    """The greatest error of a random network with a residual block after each layer."""
    rng = np.random.default_rng(seed)
    atoms = 40

    def layer(outputs: int, inputs: int) -> list[np.ndarray]:
        weights = rng.uniform(-1, 1, (outputs, inputs)) / np.sqrt(inputs)
        return [weights.astype(np.float32), rng.normal(0, 0.1, outputs).astype(np.float32)]

    blocks: list[list[np.ndarray]] = []
    for inputs, width in pairwise(widths):
        inner = width // 2 + 3
        blocks += [layer(width, inputs), [*layer(inner, width), *layer(width, inner)]]
    rows = rng.normal(size=(atoms, widths[0])).astype(np.float32)
    bias = rng.normal(size=widths[0]).astype(np.float32)
    head, head_bias = layer(3, widths[-1])
    states = (rng.random((200, atoms)) < 0.3).astype(np.uint8)
    exact, rounded = (
        _core.Network.make(rows, bias, blocks, head, head_bias, False, name).run(states)
        for name in PRECISIONS
    )
    return {"error": float(np.abs(rounded - exact).max() / np.ptp(exact))}


# --- all of it ------------------------------------------------------------------------------------


def measure_plan(plan: Plan, given: Sequence[Path], work: Path, records: Records) -> None:
    """Everything that the records do not know yet."""
    common = {"plan": plan.name, "build": build()}
    for name, path in chosen_tasks(given):
        where = {"task": name, "file": str(path) if given else TASKS[name], "evaluations": plan.evaluations}
        for repeat in range(plan.repeats):
            for precision in PRECISIONS:
                records.get(
                    {**common, "part": "rates", **where, "repeat": repeat, "precision": precision},
                    functools.partial(measure_rate, path, precision, plan.evaluations),
                )
    for spec in plan.learned:
        measure_learned(plan, spec, work, records)
    for widths in plan.widths:
        for seed in range(plan.seeds):
            records.get(
                {**common, "part": "width", "widths": " ".join(map(str, widths)), "seed": seed},
                functools.partial(measure_width, widths, seed),
            )


def measure_learned(plan: Plan, spec: Spec, work: Path, records: Records) -> None:
    """One network; it is learned when the first measurement asks for it."""
    common = {"plan": plan.name, "build": build(), "task": title(spec)}
    learned = functools.cache(lambda: learn(spec, plan, work))
    starts = functools.cache(lambda: Walks(walks=plan.starts, seed=3).tasks(learned().task))
    records.get({**common, "part": "difference"}, lambda: measure_difference(learned, plan.walks))
    for start in range(plan.starts):
        for precision in PRECISIONS:
            records.get(
                {**common, "part": "searches", "start": start, "precision": precision},
                functools.partial(measure_search, learned, starts, start, precision, plan.most_evaluations),
            )


# --- report ---------------------------------------------------------------------------------------


def rate_table(records: Sequence[Record]) -> str:
    """The best of all repeats; how much faster int16 is by the best and by medians; states expanded."""
    rows = []
    for task, file in values_of(records, "task", "file"):
        mine = [those(records, task=task, file=file, precision=name) for name in PRECISIONS]
        if not all(mine):
            continue
        rates = [[run["evaluated"] / run["cpu_time"] for run in runs] for runs in mine]
        best, middle = [max(values) for values in rates], [float(np.median(values)) for values in rates]
        expanded = " / ".join(f"{runs[-1]['expanded']:,}" for runs in mine)
        gains = [f"{best[1] / best[0]:.2f}", f"{middle[1] / middle[0]:.2f}"]
        repeats = str(min(len(values) for values in rates))
        rows.append([task, *(f"{value:,.0f}" for value in best), *gains, expanded, repeats])
    header = ["task", *PRECISIONS, "int16 / float32", "by medians", "expansions, float32 / int16", "runs"]
    return table(header, rows)


def small(value: float) -> str:
    """2.1e-5."""
    return f"{value:.1e}".replace("e-0", "e-") if value else "0"


def quality_row(task: str, difference: Record, searches: Sequence[Record]) -> list[str]:
    """Searches that both precisions solved; intervals are 95 % bootstrap."""
    runs = {(run["start"], run["precision"]): run for run in searches}
    starts = sorted({run["start"] for run in searches})
    tried = [[runs.get((start, name)) for name in PRECISIONS] for start in starts]
    pairs = [(a, b) for a, b in tried if a and b]
    both = [(a, b) for a, b in pairs if a["solved"] and b["solved"]]
    row = [task, f"{small(difference['mean'])} / {small(difference['greatest'])}"]
    if not both:
        return [*row, "", "", "", "", "", f"0 of {len(pairs)}"]
    a, b = (np.array([pair[i]["expanded"] for pair in both], dtype=float) for i in (0, 1))
    times = [sum(pair[i]["cpu_time"] for pair in both) for i in (0, 1)]
    logs = np.log(np.maximum(b, 1) / np.maximum(a, 1))
    picks = np.random.default_rng(0).integers(0, len(logs), (RESAMPLES, len(logs)))
    low, high = np.exp(np.quantile(logs[picks].mean(axis=1), (0.025, 0.975)))
    return [
        *row,
        f"{np.exp(logs.mean()):.4f} [{low:.4f}, {high:.4f}]",
        f"{b.sum() / a.sum():.4f}" if a.sum() else "",
        f"{100 * np.abs(logs).mean():.1f} %",
        f"{100 * (a == b).mean():.0f} %",
        f"{times[0] / times[1]:.2f}",
        f"{len(both)} of {len(pairs)}",
    ]


def quality_table(records: Sequence[Record]) -> str:
    rows = [
        quality_row(record["task"], record, those(records, part="searches", task=record["task"]))
        for record in those(records, part="difference")
        if those(records, part="searches", task=record["task"])
    ]
    header = ["network", "difference of h, mean / greatest"]
    header += ["expansions, int16 / float32, geometric mean", "sum", "single search", "unchanged searches"]
    return table([*header, "processor time, float32 / int16", "solved by both"], rows)


def width_table(records: Sequence[Record]) -> str:
    rows = []
    for (widths,) in values_of(records, "widths"):
        errors = [record["error"] for record in those(records, widths=widths)]
        rows.append([widths.replace(" ", ", "), small(min(errors)), small(max(errors)), str(len(errors))])
    return table(["units", "greatest error, least of seeds", "most of seeds", "seeds"], rows)


def report(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    """The sections by name, each with its title."""
    return {
        "rates": (
            "Evaluations a second of processor time in GBFS with a random network, best of the runs:",
            rate_table(those(records, part="rates")),
        ),
        "quality": ("Learned networks, searches from ends of random walks:", quality_table(records)),
        "width": (
            "Random networks, the greatest error of int16 as a share of the range of the outputs:",
            width_table(those(records, part="width")),
        ),
    }


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="float32 and int16 in the search.")
    parser.add_argument("tasks", nargs="*", type=Path, help="for the rates: .sas, or .pddl beside its domain")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run?")
    parser.add_argument("--work", type=Path, default=WORK, help="learned networks (default: in build/)")
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    plan = QUICK if options.quick else FULL
    if options.file is not None:
        found = those(stored(options.file, PARTS, KEY), plan=plan.name)
    else:
        torch.set_num_threads(1)
        records = Records(options.out, KEY)
        measure_plan(plan, options.tasks, options.work, records)
        found = records.used
    print(shown(report(found), found, options.table, options.file))
    return 0


if __name__ == "__main__":
    finish(main)
