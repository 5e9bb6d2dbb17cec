"""Options of `resnet`, without torch: what the command line shows and a model file keeps.

The network itself is in `resnet.py`, which is imported when one is built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from hstar.models.model import MODELS, Tensors, check_shapes
from hstar.models.native import NativeNetwork
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
        atoms, outputs = (len(tensors.get(name, ())) for name in ("rows", "head_bias"))
        layer = {"0": (self.width, self.width), "1": (self.width,)}
        residual = {**layer, "2": layer["0"], "3": layer["1"]}
        blocks = {f"blocks.{i}.": residual if i else layer for i in range(self.blocks + 1)}
        wanted = {prefix + name: shape for prefix, block in blocks.items() for name, shape in block.items()}
        wanted |= {"rows": (atoms, self.width), "bias": (self.width,)}
        wanted |= {"head": (outputs, self.width), "head_bias": (outputs,)}
        check_shapes(tensors, wanted, self.name)
        return NativeNetwork(
            rows=tensors["rows"],
            bias=tensors["bias"],
            blocks=tuple(tuple(tensors[prefix + name] for name in block) for prefix, block in blocks.items()),
            head=tensors["head"],
            head_bias=tensors["head_bias"],
            output_relu=self.output_relu,
        )
