"""`wunn`: a network whose weights are independent Gaussians, one hidden layer of relu.

Blundell, Cornebise, Kavukcuoglu and Wierstra, "Weight Uncertainty in Neural Networks" (ICML 2015), with the
local reparameterisation of Kingma, Salimans and Welling (NIPS 2015): a unit is not computed by drawn weights
but drawn itself, from the Gaussian that the weights give it,

    z ~ N(a mu + mu_b, a^2 sigma^2 + sigma_b^2),   sigma = log(1 + exp(rho))
    loss = beta KL(weights || prior) + mean of -log N(label; output, 1)

The divergence is the sum over all weights, not divided by the number of labels: beta is meant for that, as in
Marom and Rosman (ICAPS 2020). So are the first weights: He-normal means, and rho of weights N(-5, 1) times
sqrt(2 / inputs), which leaves a spread that shows from the start. No sigma is below 1e-6: of rho around -44
the variance is 0 in float32, and the divergence infinite.

Mean and variance of the hidden units are the same for all samples of a state and computed once. With 0
samples the moments of the output are computed exactly, by those of a rectified Gaussian: what infinitely many
samples would give, at the cost of one.
"""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

from hstar.models.epistemic import EpistemicConfig, negative_log_likelihood, sampled_variance

LEAST_SIGMA = 1e-6  # of a weight; the square of less would soon be 0 in float32


class GaussianLayer(nn.Module):
    """Weights and biases with means and spreads."""

    def __init__(self, inputs: int, outputs: int, generator: Generator) -> None:
        super().__init__()
        he = math.sqrt(2 / inputs)
        self.mean = nn.Parameter(torch.randn(inputs, outputs, generator=generator) * he)
        self.rho = nn.Parameter((torch.randn(inputs, outputs, generator=generator) - 5) * he)
        self.bias_mean = nn.Parameter(torch.zeros(outputs))
        self.bias_rho = nn.Parameter(torch.full((outputs,), -5.0))

    def variances(self) -> tuple[Tensor, Tensor]:
        return _sigma(self.rho).square(), _sigma(self.bias_rho).square()

    def moments(self, a: Tensor) -> tuple[Tensor, Tensor]:
        """Means and variances of the sums, for inputs without spread: (..., inputs) to (..., outputs)."""
        weights, biases = self.variances()
        return a @ self.mean + self.bias_mean, a.square() @ weights + biases

    def divergence(self, prior_variance: float) -> Tensor:
        """Of Kullback and Leibler, from N(0, prior_variance), summed over all weights and biases."""
        total = self.mean.new_zeros(())
        for mean, variance in zip((self.mean, self.bias_mean), self.variances(), strict=True):
            ratio = variance / prior_variance
            total = total + (ratio + mean.square() / prior_variance - ratio.log() - 1).sum() / 2
        return total


def _sigma(rho: Tensor) -> Tensor:
    """Of weights; the gradient passes by the least one, so that a rho below it can come back."""
    sigma = functional.softplus(rho)
    return sigma + (sigma.clamp_min(LEAST_SIGMA) - sigma).detach()


class WUNN(nn.Module):
    """Network with a normal distribution for each weight; an `EpistemicModel`."""

    def __init__(self, inputs: int, config: EpistemicConfig, generator: Generator) -> None:
        super().__init__()
        self.config = config
        self.hidden = GaussianLayer(inputs, config.width, generator)
        self.output = GaussianLayer(config.width, 1, generator)

    @property
    def in_closed_form(self) -> bool:
        """Whether nothing of it is sampled; then it can learn in the core."""
        return not self.config.samples and not self.config.loss_samples

    def loss(self, x: Tensor, y: Tensor, beta: float, generator: Generator) -> Tensor:
        """That of the top of the file, by `loss_samples` outputs for each state."""
        if self.config.loss_samples:
            outputs = self.draw(x, self.config.loss_samples, generator)
            square = (outputs - y).square().mean()
        else:
            mean, variance = self.exact(x)
            square = ((mean - y).square() + variance).mean()
        return beta * self.divergence() + negative_log_likelihood(square)

    def divergence(self) -> Tensor:
        """Of all weights from the prior."""
        prior = self.config.prior_variance
        return self.hidden.divergence(prior) + self.output.divergence(prior)

    @torch.no_grad()
    def uncertainty(self, x: Tensor, generator: Generator) -> Tensor:
        """The variance of `samples` outputs for each state."""
        if not self.config.samples:
            return self.exact(x)[1]
        return sampled_variance(self.draw, x, self.config, generator)

    def draw(self, x: Tensor, samples: int, generator: Generator) -> Tensor:
        """Outputs (samples, states), each with noise of its own."""
        mean, variance = self.hidden.moments(x)
        noise = torch.randn(samples, *mean.shape, generator=generator)
        hidden = functional.relu(torch.addcmul(mean, noise, variance.sqrt()))
        mean, variance = (side.squeeze(-1) for side in self.output.moments(hidden))
        return torch.addcmul(mean, torch.randn(mean.shape, generator=generator), variance.sqrt())

    def exact(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of the output, (states,) each."""
        mean, variance = self.hidden.moments(x)
        sigma = variance.sqrt()
        z = mean / sigma
        below = torch.special.ndtr(z)
        density = (-z.square() / 2).exp() / math.sqrt(2 * math.pi)
        first = mean * below + sigma * density
        second = (mean.square() + variance) * below + mean * sigma * density
        weights, biases = self.output.variances()
        squares = self.output.mean.square()
        spread = second @ (squares + weights) - first.square() @ squares + biases
        return (first @ self.output.mean + self.output.bias_mean).squeeze(-1), spread.squeeze(-1).clamp_min(0)
