"""Samplers turn spaces into a `Dataset`: states with their cost-to-go."""

from __future__ import annotations

from hstar.sampling import exact, forward, fsm, nrsl, prolonged, rsl  # each enters itself
from hstar.sampling.sampler import SAMPLERS, Sampler, make_sampler

__all__ = ["SAMPLERS", "Sampler", "exact", "forward", "fsm", "make_sampler", "nrsl", "prolonged", "rsl"]
