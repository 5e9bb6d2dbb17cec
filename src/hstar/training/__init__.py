"""Training: fits any model to a data set under any estimate. Its options need no torch, the loop does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hstar.training.config import TrainConfig

if TYPE_CHECKING:
    from hstar.training.loop import EpochRecord, Progress, Trained, TrainingInterrupted, train

__all__ = ["EpochRecord", "Progress", "TrainConfig", "Trained", "TrainingInterrupted", "train"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'hstar.training' has no attribute '{name}'")
    from hstar.training import loop

    return getattr(loop, name)
