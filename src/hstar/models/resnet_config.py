"""Options of `resnet`, without torch: what the command line shows and a model file keeps.

The network itself is in `resnet.py`, which is imported when one is built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from hstar.errors import InputError
from hstar.models.model import MODELS, Tensors
from hstar.models.native import NativeNetwork, from_tensors
from hstar.options import option

if TYPE_CHECKING:
    from torch import nn

    from hstar.models.resnet import ResNet


@MODELS.register("resnet")
@dataclass(frozen=True)
class ResNetConfig:
    """Options of the residual network."""

    name: ClassVar[str] = "resnet"
    spaces: ClassVar[tuple[str, ...]] = ("task", "own")

    width: int = option(250, "Units of a layer.")
    blocks: int = option(1, "Residual blocks of two layers.")
    output_relu: bool = option(False, "ReLU at the output, as in the paper.")
    init: str = option("default", "Initial weights: default (torch's, as in the paper) or he.")

    def __post_init__(self) -> None:
        for name, least in (("width", 1), ("blocks", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise InputError(f"{name} must be a whole number from {least} on, got {value!r}")
        if self.init not in ("default", "he"):
            raise InputError(f"init must be default or he, got {self.init!r}")

    def build(self, atoms: int, outputs: int) -> ResNet:
        """A network with fresh weights."""
        from hstar.models.resnet import ResNet

        return ResNet(atoms, outputs, self)

    def export(self, module: nn.Module) -> Tensors:
        """The weights of a network."""
        from hstar.models.resnet import export

        return export(cast("ResNet", module)).tensors()

    def network(self, tensors: Tensors) -> NativeNetwork:
        """The network with these weights."""
        return from_tensors(tensors, self.output_relu)
