"""The normal distribution cut to [a, b]: density, mean, distribution function and quantiles, in both tails.

Let m be mu, but a bound where mu is beyond it or near to it; rho = (m - mu) / sigma and s = (x - m) / sigma:

    density(x) = w(s) / (sigma I),   w(s) = exp(-s (rho + s/2)),   I = integral of w over [a, b]
    -log density = s (rho + s/2) + log sigma + log I,   mean = m + sigma E[s]

However far mu is from [a, b], w is 1 at m and at most exp(NEAR^2 / 2) there, and no large number is taken
from another. I, E[s] and the variance of s are sums over the nodes of a Gauss-Legendre rule; the derivatives
are made of these three and of w at the ends. Where w is below exp(-CUT) it is left out.

The closed forms by erf need four branches (erfcx in either tail, both signs, a series for narrow intervals),
and far from mu they lose digits: E[s] those of ((a - mu) / sigma)^2. This is one formula for all cases.

Invariant: for finite mu and sigma > 0 and a < b everything is finite, and mean and quantiles are in [a, b].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

CUT = 36.0  # the mass beyond is 1e-17 of a normal distribution
NODES = 40  # exact to 1e-14 for the widest case, a whole bell
BLOCK = 2048  # states at a time: what is computed for them fits into the cache
NEAR = 1.0  # in units of sigma: if mu is nearer to a bound than this, m is the bound
FAR = 1e3  # in place of an infinite bound, in units of sigma: beyond the cut of any rho
STEPS = 40  # for a quantile at most; most need 4, and tails up to 12

_nodes, _weights = np.polynomial.legendre.leggauss(NODES)
_NODES, _WEIGHTS = torch.from_numpy((1 + _nodes) / 2), torch.from_numpy(_weights / 2)


class TruncatedNormal:
    """A distribution for each state: all tensors are (states,) of float64; a and b may be infinite."""

    def __init__(self, mu: Tensor, sigma: Tensor, a: Tensor, b: Tensor) -> None:
        self.sigma, self.a, self.b = sigma, a, b
        near = NEAR * sigma
        self.origin = torch.where(mu - near < a, a, torch.where(mu + near > b, b, mu))
        self.rho = (self.origin - mu) / sigma
        # The cut: s (rho + s/2) = CUT on both sides, unless a bound comes first. Gradients need not move it.
        rho = self.rho.detach()
        root = rho.hypot(rho.new_tensor(math.sqrt(2 * CUT)))
        self.start = torch.maximum(self._place(a), -2 * CUT / (root - rho))
        self.end = torch.minimum(self._place(b), 2 * CUT / (root + rho))
        self.mass, self.centre = _moments(self.rho, self.start, self.end)

    def nll(self, x: Tensor) -> Tensor:
        """-log density at x, which must be in [a, b]."""
        s = (x - self.origin) / self.sigma
        return s * (self.rho + s / 2) + self.sigma.log() + self.mass.log()

    def mean(self) -> Tensor:
        return self.origin + self.sigma * self.centre

    def cdf(self, x: Tensor) -> Tensor:
        """The probability of a value up to x: 0 below a, 1 above b."""
        s = ((x - self.origin) / self.sigma).clamp(self.start, self.end)
        return (self._below(s) / self.mass).clamp(max=1.0)

    def quantile(self, q: Tensor) -> Tensor:
        """The inverse of `cdf`, for q in [0, 1].

        From s = 0 on, each step takes log w for its tangent and solves for the mass that is missing. The
        tangent of a concave function is never below it, so no step leads beyond the solution.
        """
        with torch.no_grad():
            wanted = q * self.mass
            close = (1e-9 * torch.minimum(q, 1 - q)).clamp(min=1e-14) * self.mass
            s = torch.zeros_like(self.origin)
            missing = wanted - self._below(s)
            for _ in range(STEPS):
                width = missing / self._weight(s)
                bend = (self.rho + s) * width
                flat = bend.abs() < 1e-8
                rest = torch.where(flat, 0.5, bend.clamp(max=1 - 1e-16))
                step = width * torch.where(flat, 1 + bend / 2, -torch.log1p(-rest) / rest)
                s = (s + step).clamp(self.start, self.end)
                missing = wanted - self._below(s)
                if bool((missing.abs() <= close).all()):
                    break
            weight = self._weight(s)
        # One step by Newton's method with gradients: those of the solution, by the implicit function theorem.
        s = s + (q * self.mass - self._below(s)) / weight
        return (self.origin + self.sigma * s).clamp(self.a, self.b)

    def _place(self, bound: Tensor) -> Tensor:
        """A bound in units of sigma from the origin; no infinite number comes near a gradient."""
        infinite = bound.isinf()
        placed = (torch.where(infinite, self.origin.detach(), bound) - self.origin) / self.sigma
        return torch.where(infinite, bound.sign() * FAR, placed)

    def _below(self, s: Tensor) -> Tensor:
        return _moments(self.rho, self.start, s)[0]

    def _weight(self, s: Tensor) -> Tensor:
        return torch.exp(-s * (self.rho + s / 2))


def _moments(rho: Tensor, start: Tensor, end: Tensor) -> tuple[Tensor, Tensor]:
    """The integral of w over [start, end], and the mean of s there."""
    mass, mean = _Moments.apply(rho, start, end)  # type: ignore[no-untyped-call]
    return mass, mean


class _Moments(torch.autograd.Function):
    """Keeps the terms of the rule out of the graph, where they would take NODES times the memory."""

    @staticmethod
    def forward(ctx: Any, rho: Tensor, start: Tensor, end: Tensor) -> tuple[Tensor, Tensor]:
        nodes, weights = _NODES.to(rho.device), _WEIGHTS.to(rho.device)
        mass, mean, variance = torch.empty_like(rho), torch.empty_like(rho), torch.empty_like(rho)
        for first in range(0, len(rho), BLOCK):
            part = slice(first, first + BLOCK)
            width = end[part] - start[part]
            s = torch.addcmul(start[part], width, nodes[:, None])
            w = torch.add(rho[part], s, alpha=0.5).mul_(s).neg_().exp_()
            total = weights @ w
            mass[part] = total * width
            mean[part] = centre = weights @ (w * s) / total
            if any(ctx.needs_input_grad):
                variance[part] = weights @ s.sub_(centre).square_().mul_(w) / total
        ctx.save_for_backward(rho, start, end, mass, mean, variance)
        return mass, mean

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, by_mass: Tensor, by_mean: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        rho, start, end, mass, mean, variance = ctx.saved_tensors
        at_start, at_end = (torch.exp(-s * (rho + s / 2)) for s in (start, end))
        share = by_mean / mass.clamp(min=torch.finfo(mass.dtype).tiny)  # `cdf` asks for empty intervals
        return (
            -by_mass * mass * mean - by_mean * variance,
            at_start * (share * (mean - start) - by_mass),
            at_end * (share * (end - mean) + by_mass),
        )
