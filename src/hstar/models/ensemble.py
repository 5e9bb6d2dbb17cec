"""`ensemble`: the spread of several networks that differ in their first weights, to which they stay anchored.

Pearce, Leibfried, Brintrup, Zaki and Neely, "Uncertainty in Neural Networks: Approximately Bayesian
Ensembling" (AISTATS 2020): each member is drawn to its own first weights as to the mean of a prior, so that
members agree where there are data and disagree elsewhere.

    loss = mean over members of: beta |weights - anchor|^2 / (2 prior_variance) - mean of log N(label; output)

Difference: anchors are He-normal, as the first weights of the other networks are, not drawn from the prior.
"""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

from hstar.models.epistemic import EpistemicConfig, negative_log_likelihood

NAMES = ("hidden_weights", "hidden_biases", "output_weights", "output_biases")


class Ensemble(nn.Module):
    """Members of one hidden layer of relu, side by side; an `EpistemicModel`."""

    def __init__(self, inputs: int, config: EpistemicConfig, generator: Generator) -> None:
        super().__init__()
        self.config = config
        members, width = config.members, config.width
        first = (
            torch.randn(members, inputs, width, generator=generator) * math.sqrt(2 / inputs),
            torch.zeros(members, 1, width),
            torch.randn(members, width, 1, generator=generator) * math.sqrt(2 / width),
            torch.zeros(members, 1, 1),
        )
        for name, weights in zip(NAMES, first, strict=True):
            self.register_parameter(name, nn.Parameter(weights))
            self.register_buffer(f"anchor_{name}", weights.clone())

    def loss(self, x: Tensor, y: Tensor, beta: float, generator: Generator) -> Tensor:
        """That of the top of the file; nothing of it is random."""
        square = (self(x) - y).square().mean()
        apart = sum(
            (self.get_parameter(name) - self.get_buffer(f"anchor_{name}")).square().sum() for name in NAMES
        )
        prior = apart / (2 * self.config.prior_variance * self.config.members)
        return beta * prior + negative_log_likelihood(square)

    @torch.no_grad()
    def uncertainty(self, x: Tensor, generator: Generator) -> Tensor:
        outputs: Tensor = self(x)
        return outputs.var(0, correction=0)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs of all members for all states, (members, states)."""
        hidden_weights, hidden_biases, output_weights, output_biases = map(self.get_parameter, NAMES)
        hidden = functional.relu(x @ hidden_weights + hidden_biases)
        return (hidden @ output_weights + output_biases).squeeze(-1)
