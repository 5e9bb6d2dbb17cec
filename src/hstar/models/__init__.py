"""Models: encoded states to raw outputs. Options and model files need no torch, networks that learn do."""

from __future__ import annotations

from hstar.models import hgn_config, linear, nlm_config, resnet_config, wl_model  # options enter themselves
from hstar.models.model import MODELS
from hstar.models.relational_model import RELATIONAL_MODELS

__all__ = [
    "MODELS",
    "RELATIONAL_MODELS",
    "hgn_config",
    "linear",
    "nlm_config",
    "resnet_config",
    "wl_model",
]
