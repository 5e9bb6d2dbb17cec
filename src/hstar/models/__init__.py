"""Models: encoded states to raw outputs. Options and model files need no torch, networks that learn do."""

from __future__ import annotations

from hstar.models import resnet_config  # each model's options enter themselves
from hstar.models.model import MODELS

__all__ = ["MODELS", "resnet_config"]
