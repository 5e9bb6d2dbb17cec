"""`mc-dropout`: the spread of a network over random choices of its hidden units.

Gal and Ghahramani, "Dropout as a Bayesian Approximation" (ICML 2016): units are left out by chance when it
learns and when it is asked, and the variance of the answers is what it does not know. The prior is a penalty
on squared weights, (1 - dropout) / (2 prior_variance) times beta.
"""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

from hstar.models.epistemic import EpistemicConfig, negative_log_likelihood, sampled_variance


class MCDropout(nn.Module):
    """One hidden layer of relu; an `EpistemicModel`."""

    def __init__(self, inputs: int, config: EpistemicConfig, generator: Generator) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.hidden_weights = nn.Parameter(
            torch.randn(inputs, width, generator=generator) * math.sqrt(2 / inputs)
        )
        self.hidden_biases = nn.Parameter(torch.zeros(width))
        self.output_weights = nn.Parameter(torch.randn(width, generator=generator) * math.sqrt(2 / width))
        self.output_bias = nn.Parameter(torch.zeros(()))

    def loss(self, x: Tensor, y: Tensor, beta: float, generator: Generator) -> Tensor:
        """The mean over `loss_samples` choices of units, and the penalty."""
        square = (self.draw(x, max(1, self.config.loss_samples), generator) - y).square().mean()
        weights = sum(parameter.square().sum() for parameter in self.parameters())
        penalty = (1 - self.config.dropout) / (2 * self.config.prior_variance) * weights
        return beta * penalty + negative_log_likelihood(square)

    @torch.no_grad()
    def uncertainty(self, x: Tensor, generator: Generator) -> Tensor:
        """The variance of `samples` answers; that over all choices of units if there are to be 0."""
        keep = 1 - self.config.dropout
        if not self.config.samples:
            parts = self.units(x) * self.output_weights
            return parts.square().sum(-1) * self.config.dropout / keep
        return sampled_variance(self.draw, x, self.config, generator)

    def units(self, x: Tensor) -> Tensor:
        return functional.relu(torch.addmm(self.hidden_biases, x, self.hidden_weights))

    def draw(self, x: Tensor, samples: int, generator: Generator) -> Tensor:
        hidden = self.units(x)
        keep = 1 - self.config.dropout
        mask = torch.empty(samples, *hidden.shape).bernoulli_(keep, generator=generator) / keep
        return (hidden * mask) @ self.output_weights + self.output_bias
