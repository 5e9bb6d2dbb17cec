"""Models: encoded states to raw outputs. Reading a model file (`hstar.models.file`) does not import torch;
asking for the table of models does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hstar.models.model import MODELS

__all__ = ["MODELS"]


def __getattr__(name: str) -> Any:
    if name != "MODELS":
        raise AttributeError(f"module 'hstar.models' has no attribute '{name}'")
    from hstar.models import resnet  # noqa: F401  every file of a model, which enters itself
    from hstar.models.model import MODELS

    return MODELS
