"""Training: fits any model to a data set under any estimate."""

from __future__ import annotations

from hstar.training.config import TrainConfig
from hstar.training.loop import EpochRecord, Progress, Trained, TrainingInterrupted, train

__all__ = ["EpochRecord", "Progress", "TrainConfig", "Trained", "TrainingInterrupted", "train"]
