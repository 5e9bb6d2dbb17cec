"""Values by chance from an estimate."""

from __future__ import annotations

import torch

from hstar.estimates import Estimate, Known


def drawn(estimate: Estimate, raw: torch.Tensor, known: Known, seed: int) -> torch.Tensor:
    """One for each state: where its distribution reaches a uniform number, by bisection."""
    wanted = torch.rand(len(raw), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    low, high = (torch.full_like(wanted, end) for end in (-1e7, 1e7))
    for _ in range(70):
        middle = (low + high) / 2
        below = estimate.cdf(raw.double(), middle, known) < wanted
        low, high = torch.where(below, middle, low), torch.where(below, high, middle)
    return high
