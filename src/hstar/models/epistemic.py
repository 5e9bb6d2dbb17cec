"""The contract of epistemic models: what a network does not know because it has not seen the like.

Such a model learns the cost-to-go of states as a Gaussian of spread 1 around its output: `loss` is that of a
mini-batch, with `beta` for the weight of its prior. `uncertainty` is the variance of its output under what it
believes about its weights. Inputs are float32 (states, inputs), everything else (states,). All random numbers
come from the generator that is handed in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hstar.registry import unknown

if TYPE_CHECKING:
    from torch import Generator, Tensor, nn

KINDS = ("wunn", "mc-dropout", "ensemble")
_CHUNK = 1 << 20  # random numbers at a time: what fits into a cache


@dataclass(frozen=True)
class EpistemicConfig:
    """Options of all kinds; each heeds those that it knows."""

    width: int = 20  # hidden units
    prior_variance: float = 10.0  # of each weight, around 0
    samples: int = 100  # outputs that the variance is taken of; 0: its closed form where there is one
    loss_samples: int = 5  # the same for the loss
    dropout: float = 0.1  # share of hidden units left out by mc-dropout
    members: int = 10  # of an ensemble


class EpistemicModel(Protocol):
    """A network that knows how sure it is."""

    def loss(self, x: Tensor, y: Tensor, beta: float, generator: Generator) -> Tensor:
        """beta times the distance from the prior, and the mean negative log-likelihood of the labels."""

    def uncertainty(self, x: Tensor, generator: Generator) -> Tensor:
        """The variance of the output, in squared units of the labels."""

    def parameters(self) -> Iterator[nn.Parameter]:
        """The tensors that training changes."""

    def state_dict(self) -> dict[str, Tensor]:
        """All that it consists of, by name."""


def epistemic_model(kind: str, inputs: int, config: EpistemicConfig, generator: Generator) -> nn.Module:
    from hstar.models.ensemble import Ensemble
    from hstar.models.mc_dropout import MCDropout
    from hstar.models.wunn import WUNN

    if kind not in KINDS:
        raise unknown("kind of uncertainty", kind, list(KINDS))
    made: nn.Module = (WUNN, MCDropout, Ensemble)[KINDS.index(kind)](inputs, config, generator)
    return made


def negative_log_likelihood(square: Tensor) -> Tensor:
    """Of labels under a spread of 1, by their mean squared distance from the outputs."""
    return square / 2 + math.log(2 * math.pi) / 2


def sampled_variance(
    draw: Callable[[Tensor, int, Generator], Tensor], x: Tensor, config: EpistemicConfig, generator: Generator
) -> Tensor:
    """The variance over outputs (samples, states) that `draw` gives for some states."""
    import torch

    rows = max(1, _CHUNK // (config.samples * config.width))
    found = [draw(part, config.samples, generator).var(0, correction=0) for part in torch.split(x, rows)]
    return torch.cat(found)
