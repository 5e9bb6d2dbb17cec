"""Models: encoded states to raw outputs. Options and model files need no torch, networks that learn do."""

from __future__ import annotations

# Models and identities enter themselves.
from hstar.models import (  # noqa: F401
    domain_identity,
    ffnn_config,
    grid_config,
    hgn_config,
    linear,
    map_identity,
    nlm_config,
    own_identity,
    puzzle_identity,
    resnet_config,
    task_identity,
    wl,
)
from hstar.models.identity import IDENTITIES
from hstar.models.model import MODELS, model_of, models_of
from hstar.models.trained_model import TrainedModel, load_model

__all__ = ["IDENTITIES", "MODELS", "TrainedModel", "load_model", "model_of", "models_of"]
