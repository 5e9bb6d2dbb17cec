"""Options of `resnet`, without torch: what the command line shows and a model file keeps.

The network itself is in `resnet.py`, which is imported when one is built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from hstar.models.model import MODELS, Tensors
from hstar.models.native import NativeNetwork, from_tensors
from hstar.options import Checked, option

if TYPE_CHECKING:
    from torch import nn

    from hstar.models.resnet import ResNet


@MODELS.register("resnet")
@dataclass(frozen=True)
class ResNetConfig(Checked):
    """Options of the residual network."""

    name: ClassVar[str] = "resnet"
    spaces: ClassVar[tuple[str, ...]] = ("task", "own")

    width: int = option(250, "Number of units of a layer.", least=1, most=2**16)
    blocks: int = option(1, "Number of residual blocks of two layers.", most=1024)
    output_relu: bool = option(False, "ReLU at the output, as in the paper.")
    init: str = option("default", "Initial weights: default (torch's) or he.", words=("default", "he"))

    def build(self, atoms: int, outputs: int) -> ResNet:
        from hstar.models.resnet import ResNet

        return ResNet(atoms, outputs, self)

    def export(self, module: nn.Module) -> Tensors:
        from hstar.models.resnet import export

        return export(cast("ResNet", module)).tensors()

    def network(self, tensors: Tensors) -> NativeNetwork:
        return from_tensors(tensors, self.output_relu)
