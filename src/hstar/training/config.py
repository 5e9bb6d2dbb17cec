"""Options of the training loop. The defaults are ours; a recipe's profile of a paper sets its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hstar.errors import InputError
from hstar.options import Checked, option


@dataclass(frozen=True)
class TrainConfig(Checked):
    """Options of the training loop."""

    epochs: int = option(1000, "Stop after this many epochs.", least=1)
    updates: int | None = option(None, "Train for exactly this many steps instead of epochs.", least=1)
    batch_size: int = option(64, "Number of states in a step of the optimizer.", least=1)
    epoch_size: int | None = option(None, "Examples of an epoch, drawn anew; all if not given.", least=1)
    learning_rate: float = option(1e-3, "Learning rate of the optimizer.", above=0)
    schedule: str = option(
        "constant", "Learning rate: constant, or cosine, down to 0.", words=("constant", "cosine")
    )
    weight_decay: float = option(0.0, "Weight decay: L2 in adam, decoupled in adamw.", least=0)
    optimizer: str = option("adam", "Optimizer: adam or adamw.", words=("adam", "adamw"))
    patience: int = option(20, "Stop after so many epochs without improvement.", least=1)
    validation: float = option(0.1, "Share of states or problems held out; 0: none.", least=0, below=1)
    keep: str = option(
        "best",
        "Keep weights: best on held-out data, or last.",
        words=("best", "last"),
    )
    criterion: str = "loss"  # an option of domains, see below
    ranking: float = 0.0
    clip_norm: float | None = option(None, "Scale gradients down to this norm.", above=0)
    seed: int = option(0, "Seed of split, weights and order.")
    device: str = option("cpu", "Device: cpu or cuda; only cpu repeats to the bit.")
    threads: int = option(1, "Threads of torch; they can change the last bits.", least=1)
    time_limit: float | None = option(None, "Stop after this time over all runs, sampling included.", least=0)

    def fixed(self) -> dict[str, Any]:
        """What may not change when a training goes on from a checkpoint: all but how long it runs."""
        free = {"patience", "time_limit"}
        free |= {"epochs", "updates"} if self.schedule == "constant" else set()
        return {name: value for name, value in asdict(self).items() if name not in free}


@dataclass(frozen=True)
class DomainTrainConfig(TrainConfig):
    """The same, with options that only models of a domain have."""

    criterion: str = option(
        "loss",
        "Measure on held-out states by which weights are kept: loss, or mse of the mean.",
        words=("loss", "mse"),
    )
    ranking: float = option(
        0.0, "Share of the ranking loss in the objective, of plan states before siblings.", least=0, most=1
    )


def check_length(options: Mapping[str, Any]) -> None:
    if options.get("updates") is not None and "epochs" in options:
        raise InputError("updates and epochs are two ways to say how long to train; give one of them")
