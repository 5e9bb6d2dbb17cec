"""`hstar demo`: the main job, end to end. A task, a heuristic learned for it, and what it is worth."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.options import Parser
from hstar.cli.progress import ProgressLine
from hstar.errors import InputError

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel
    from hstar.search.heuristics import Heuristic
    from hstar.search.solve import Result
    from hstar.spaces.task import Task

DESCRIPTION = """\
Generates a blocks-world task, learns a heuristic from its goal alone, and solves the task from new initial
states by greedy best-first search with counted goals, with ff and with what was learned. Without PyTorch the
heuristic is learned by `wl`, for the whole domain, from states of small tasks that come with hstar."""
EXAMPLES = ("hstar demo", "hstar demo --blocks 5 --seed 1 --starts 3 --time-limit 5s --epochs 5")

# Enough to learn from at this size; `hstar train` has the profiles for real tasks.
_TRAINING: dict[str, Any] = {"states": 20_000, "batch_size": 256, "width": 128}
_TRAINING_OF_DOMAIN: dict[str, Any] = {"iterations": 1}  # trying 2 and 3, too, takes most of the time
_COUNTS = ("expanded", "evaluated")
_ROW = "{:12}{:>9}{:>20}{:>20}{:>14}{:>12}"


def configure(parser: Parser) -> None:
    add = parser.option
    add("--blocks", "N", "Number of blocks of the task, 3 to 30.", 12)
    add("--seed", "N", "Seed of the task, the training and the starts.", 1)
    add("--starts", "N", "Number of new initial states.", 10)
    add("--epochs", "N", "Stop the training after this many epochs.", 30)
    add("--time-limit -t", "T", "Time limit of each search.", 30.0)


def run(arguments: argparse.Namespace) -> int:
    if not 3 <= arguments.blocks <= 30:
        raise InputError(f"--blocks takes 3 to 30, got {arguments.blocks}")
    with tempfile.TemporaryDirectory() as folder:  # a model of a domain reads the PDDL again
        return _compare(_generate(Path(folder), arguments.blocks, arguments.seed), arguments)


def _compare(task: Task, arguments: argparse.Namespace) -> int:
    from hstar.errors import has_torch
    from hstar.sampling.walks import Walks
    from hstar.search.solve import solve

    _show(f"A random blocks-world task: {arguments.blocks} blocks, {task.core.num_operators:,} operators.")
    model = _learn(task, arguments.seed, arguments.epochs) if has_torch() else _learn_domain()
    starts = Walks(walks=arguments.starts, min_length=200, max_length=200, seed=arguments.seed).tasks(task)
    _show(f"Greedy best-first search from {len(starts)} new initial states, random walks of 200 steps:")
    _show(_ROW.format("heuristic", "solved", "expanded (mean)", "evaluated (mean)", "plan length", "seconds"))
    heuristics: dict[str, Heuristic] = {"goalcount": "goalcount", "ff": "ff", "learned": model}
    for name, heuristic in heuristics.items():
        results: list[Result] = []
        for start in starts:
            results.append(solve(start, heuristic, "gbfs", time_limit=arguments.time_limit))
            if results[-1].status == "interrupted":
                return results[-1].exit_code
        _show(_row(name, results))
    _show("\nMeans are geometric, over all starts; plan lengths over the solved ones.")
    return 0


def _learn(task: Task, seed: int, epochs: int) -> TrainedModel[Any]:
    """A network for this task."""
    from hstar.recipes import train

    started = time.monotonic()
    with ProgressLine() as line:
        model = train(
            "fsm",
            task,
            seed=seed,
            epochs=epochs,
            progress=lambda record: line.update(record.time_s, f"epoch {record.epoch} of {record.epochs}"),
            **_TRAINING,
        )
    _show(
        f"Learned from {model.summary['states']:,} states, found by regression from the goal, in "
        f"{time.monotonic() - started:.1f} s ({model.summary['epochs']} epochs).\n"
    )
    return model


def _learn_domain() -> TrainedModel[Any]:
    """A linear function for all blocks-world tasks, which needs no PyTorch."""
    from hstar.recipes import train

    model = train("wl", "blocksworld", **_TRAINING_OF_DOMAIN)
    _show(
        f"Learned from {model.summary['states']:,} states of {model.summary['instances']} smaller tasks in "
        f"{model.summary['time_s']:.1f} s (a network for this one task needs PyTorch: "
        "pip install 'hstar[train]').\n"
    )
    return model


def _generate(folder: Path, blocks: int, seed: int) -> Task:
    from hstar.generators import GENERATORS
    from hstar.spaces.task import load_task

    paths = folder / "domain.pddl", folder / "problem.pddl"
    for path, text in zip(paths, GENERATORS.get("blocksworld")(blocks=blocks, seed=seed), strict=True):
        path.write_text(text)
    return load_task(*paths)


def _row(name: str, results: Sequence[Result]) -> str:
    from statistics import fmean, geometric_mean

    lengths = [result.plan_length for result in results if result.plan_length is not None]
    means = (geometric_mean(max(1, getattr(one, count)) for one in results) for count in _COUNTS)
    return _ROW.format(
        name,
        f"{len(lengths)}/{len(results)}",
        *(f"{mean:,.0f}" for mean in means),
        f"{fmean(lengths):.1f}" if lengths else "-",
        f"{sum(result.search_time for result in results):.2f}",
    )


def _show(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
