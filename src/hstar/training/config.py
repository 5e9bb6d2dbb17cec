"""Options of the training loop. The defaults are ours; a recipe's profile of a paper sets its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hstar.errors import InputError
from hstar.options import option


@dataclass(frozen=True)
class TrainConfig:
    """Options of the training loop."""

    epochs: int = option(1000, "Stop after this many epochs.")
    updates: int | None = option(None, "Train for exactly this many optimizer steps, instead of epochs.")
    batch_size: int = option(64, "States in a step.")
    epoch_size: int | None = option(None, "Examples in an epoch, drawn anew for each; none: all of them.")
    learning_rate: float = option(1e-3, "Of the optimizer.")
    schedule: str = option("constant", "Of the learning rate: constant, or cosine: to 0 at the last epoch.")
    weight_decay: float = option(0.0, "Of the optimizer: L2 in adam, decoupled in adamw.")
    optimizer: str = option("adam", "adam or adamw.")
    patience: int = option(20, "Stop after so many epochs without a better validation loss.")
    validation: float = option(
        0.1, "Share of states, or of problems of a domain, held out; 0: training loss decides."
    )
    keep: str = option(
        "best", "Which weights are kept: best on held-out states after an epoch, or last, those of the end."
    )
    criterion: str = "loss"  # an option of domains, see below
    ranking: float = 0.0
    clip_norm: float | None = option(None, "Scale gradients down to this norm.")
    seed: int = option(0, "Of split, weights and order.")
    device: str = option("cpu", "cpu, cuda, ...; runs are repeatable to the bit on cpu.")
    threads: int = option(1, "Of torch; another number can change the last bits.")
    time_limit: float | None = option(None, "Seconds, counted over resumed runs.")

    def __post_init__(self) -> None:
        counts = {"epochs": 1, "updates": 1, "batch_size": 1, "epoch_size": 1, "patience": 1}
        counts |= {"seed": 0, "threads": 1}
        for name, least in counts.items():
            value = getattr(self, name)
            if value is None and name in ("updates", "epoch_size"):
                continue
            if not isinstance(value, int | float) or value != value // 1 or not least <= value < 2**63:
                raise InputError(f"{name} must be a whole number from {least} on, got {value!r}")
            object.__setattr__(self, name, int(value))  # 1e3 is a whole number, too
        for name in ("learning_rate", "weight_decay", "clip_norm", "time_limit"):
            value = getattr(self, name)
            if value is None and name in ("clip_norm", "time_limit"):
                continue
            positive = name in ("learning_rate", "clip_norm")
            if (
                not isinstance(value, int | float)
                or not math.isfinite(value)
                or value < 0
                or (positive and not value)
            ):
                raise InputError(
                    f"{name} must be a number {'above' if positive else 'from'} 0, got {value!r}"
                )
        if not isinstance(self.validation, int | float) or not 0 <= self.validation < 1:
            raise InputError(f"validation must be a share in [0, 1), got {self.validation!r}")
        if not isinstance(self.ranking, int | float) or not 0 <= self.ranking <= 1:
            raise InputError(f"ranking must be a share in [0, 1], got {self.ranking!r}")
        if self.criterion not in ("loss", "mse"):
            raise InputError(f"criterion must be loss or mse, got {self.criterion!r}")
        if self.keep not in ("best", "last"):
            raise InputError(f"keep must be best or last, got {self.keep!r}")
        if self.optimizer not in ("adam", "adamw"):
            raise InputError(f"optimizer must be adam or adamw, got {self.optimizer!r}")
        if self.schedule not in ("constant", "cosine"):
            raise InputError(f"schedule must be constant or cosine, got {self.schedule!r}")

    def fixed(self) -> dict[str, Any]:
        """What may not change when a training goes on from a checkpoint: all but how long it runs."""
        free = {"patience", "time_limit"}
        free |= {"epochs", "updates"} if self.schedule == "constant" else set()
        return {name: value for name, value in asdict(self).items() if name not in free}


@dataclass(frozen=True)
class DomainTrainConfig(TrainConfig):
    """The same, with options that only models of a domain have."""

    criterion: str = option(
        "loss", "What the best weights are best in, on held-out states: loss, or mse of the mean."
    )
    ranking: float = option(
        0.0, "Share of the ranking loss in the objective, of plan states before siblings."
    )


def check_length(options: Mapping[str, Any]) -> None:
    """An `InputError` if both ways to say how long to train are given."""
    if options.get("updates") is not None and "epochs" in options:
        raise InputError("updates and epochs are two ways to say how long to train; give one of them")
