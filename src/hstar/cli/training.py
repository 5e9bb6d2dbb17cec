"""A training as people see it: its progress line, and one line about the model that came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.progress import ProgressLine
from hstar.recipes.iterations import Iteration
from hstar.recipes.recipe import INTERRUPTED
from hstar.units import format_count

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel
    from hstar.training.loop import Progress


class Watch:
    """Shows the progress of a training; the time before the first record of a network is that of sampling."""

    def __init__(self, line: ProgressLine) -> None:
        self._line = line
        self._started = self._last = time.monotonic()
        self._network = 0
        self._sampling_s = 0.0

    def __call__(self, record: Progress | Iteration) -> None:
        """Takes a record of either kind of learner."""
        now = time.monotonic()
        if isinstance(record, Iteration):
            self._line.update(now - self._started, iteration(record))
            return
        if record.network != self._network:
            # After a checkpoint a later epoch comes first, and the time is not only that of this run.
            trained_s = record.time_s if record.epoch == 1 else 0.0
            self._sampling_s += max(0.0, now - self._last - trained_s)
            self._network = record.network
        self._last = now
        self._line.update(now - self._started, epoch(record))

    def sampling_s(self) -> float:
        """Asked after the training; without a record all was in the checkpoint."""
        return self._sampling_s if self._network else time.monotonic() - self._started


def epoch(record: Progress) -> str:
    """Where a training loop is."""
    network = f"network {record.network} of {record.networks}  " if record.networks > 1 else ""
    best = f"best {record.best_loss:.3g} in epoch {record.best_epoch}" if record.best_epoch else "best -"
    return (
        f"{record.time_s:7.1f} s  {network}epoch {record.epoch} of at most {record.epochs}  "
        f"loss {record.train_loss:.3g}  {best}"
    )


def iteration(record: Iteration) -> str:
    """Where a learner is that sets itself tasks."""
    of = "" if record.iterations is None else f" of {record.iterations}"
    return f"{record.time_s:7.1f} s  iteration {record.iteration}{of}  {record.states} states  {record.doing}"


def summary(model: TrainedModel[Any], origin: str) -> str:
    """One line: what was learned from, how long, and how well; `origin` is of the states of a task."""
    record, parts, kind = model.summary, [model.recipe], model.space.kind
    if kind not in ("task", "puzzle") and not (kind == "domain" and "features" in record):
        parts.append(f"{model.model} and {model.estimate.name}")
    if kind not in ("domain", "map"):
        parts.append(f"{len(model.space.atoms)} atoms" if kind == "task" else str(model.space))
    states = f"{record['states']} states"
    if "instances" in record:
        states += f" of {record['instances']} tasks of {model.space.words.domain}"
    elif "scenarios" in record:
        states += f" of {record['scenarios']} scenarios"
    elif "curve" in record and "best_loss" in record and kind == "task":
        states += f" {origin}"
    if "tasks" in record:
        parts += [
            f"{record['iterations']} iterations",
            f"{record['solved']} of {record['tasks']} tasks solved",
        ]
    parts.append(states)
    if "generated" in record:
        parts.append(f"{format_count(record['generated'])} generated")
    if "ranked_right" in record:
        parts.append(f"{record['features']} features, {record['ranked_right']:.1%} of pairs ranked right")
        if record["held_out_ranked_right"] is not None:
            parts[-1] += f" ({record['held_out_ranked_right']:.1%} on held-out tasks)"
    elif "features" in record:  # a regression
        parts.append(f"{record['features']} features, mean squared error {record['mse']:.3g}")
        if record["held_out_mse"] is not None:
            parts[-1] += f" ({record['held_out_mse']:.3g} on held-out tasks)"
    if "best_loss" in record:
        stopped = record["stopped"].replace("_", " ")
        by = "" if stopped == INTERRUPTED else "ended by "
        parts += [f"{record['epochs']} epochs ({by}{stopped})", _loss(model)]
    return ", ".join(parts)


def _loss(model: TrainedModel[Any]) -> str:
    """The loss, and of which states; of a domain in the measure that chose the weights."""
    held_out = bool(model.summary["validation_states"])
    criterion = model.recipe_config["training"]["criterion"] if held_out else "loss"
    what = {"domain": "tasks", "map": "scenarios"}.get(model.space.kind)
    where = "" if what is None else f" on {'held-out' if held_out else 'the same'} {what}"
    return f"{criterion} {model.summary['best_loss']:.3g}{where}"


@contextmanager
def memory_of_torch() -> Iterator[None]:
    """A `MemoryError` where torch has none: it has no type for it on all devices."""
    try:
        yield
    except RuntimeError as error:
        if "allocate memory" in str(error) or "out of memory" in str(error):
            raise MemoryError from None
        raise


def interrupted(done: str, checkpoint: Path | None, *, written: bool, resumable: bool = True) -> str:
    """One line: how far it came, whether a model is written, and how to go on."""
    said = f"interrupted: {done}" if done else "interrupted"
    if checkpoint is not None:
        return f"{said}; to go on from {checkpoint}, run the same command again"
    hint = "with --checkpoint FILE it could go on"
    if written:
        return f"{said}; {hint}"
    return f"{said}; no model is written{f' ({hint})' if resumable else ''}"
