"""The contract of a model: how training gets a network and how the core gets its weights.

A registered model is a frozen dataclass with its options. Training calls `build` under a seed of torch, then
the module itself with a uint8 matrix (states, atoms) of zeros and ones, which answers with raw outputs
(states, outputs) in float32. What the outputs mean is the business of an `Estimate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from hstar.models.native import NativeNetwork
from hstar.registry import Registry

if TYPE_CHECKING:
    from torch import nn


class Model(Protocol):
    """Options of a model, and what can be made of them."""

    name: ClassVar[str]

    def __init__(self, **options: Any) -> None: ...

    def build(self, atoms: int, outputs: int) -> nn.Module:
        """A fresh module; its weights depend on torch's random state only."""

    def export(self, module: nn.Module) -> NativeNetwork:
        """The weights of a module that `build` made, for the core."""


MODELS: Registry[type[Model]] = Registry("model")


def start_torch() -> None:
    """Imports what torch puts off until the first optimizer: seconds that no later step should count."""
    import torch

    torch.optim.Adam([torch.zeros(1, requires_grad=True)])
