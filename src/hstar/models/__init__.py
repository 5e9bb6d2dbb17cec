"""Models: encoded states to raw outputs. Options and model files need no torch, networks that learn do."""

from __future__ import annotations

from hstar.models import (
    domain_identity,
    ffnn_config,
    grid_config,
    hgn_config,
    linear,
    map_identity,
    nlm_config,
    puzzle_identity,
    resnet_config,
    task_identity,
    wl_model,
)
from hstar.models.identity import IDENTITIES
from hstar.models.model import MODELS, model_of, models_of
from hstar.models.trained_model import TrainedModel, load_model

__all__ = [
    "IDENTITIES",
    "MODELS",
    "TrainedModel",
    "domain_identity",
    "ffnn_config",
    "grid_config",
    "hgn_config",
    "linear",
    "load_model",
    "map_identity",
    "model_of",
    "models_of",
    "nlm_config",
    "puzzle_identity",
    "resnet_config",
    "task_identity",
    "wl_model",
]
