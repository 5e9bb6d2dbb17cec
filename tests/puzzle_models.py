"""Models of puzzles that were never trained: they err as much as anybody could wish."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from hstar.estimates.rules import Likely, Mean
from hstar.models.ffnn_config import FFNNConfig
from hstar.models.puzzle_identity import FEATURES, PuzzleIdentity
from hstar.models.puzzle_identity import truncated as truncated_belief
from hstar.models.trained_model import TrainedModel
from hstar.search.puzzle_network import PuzzleNetwork, puzzle_features
from hstar.spaces.puzzles import parse_puzzle


def made(name: str = "tiles:2x3", outputs: int = 2, **changes: Any) -> TrainedModel[PuzzleIdentity]:
    """With three hidden units and weights by chance."""
    size = parse_puzzle(name)
    inputs = puzzle_features(size, "one-hot").inputs
    rng = np.random.default_rng(0)
    shapes = {
        "hidden_weights": (inputs, 3),
        "hidden_biases": (3,),
        "output_weights": (3, outputs),
        "output_biases": (outputs,),
    }
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    config = FFNNConfig(3, outputs, scale=10.0)
    model = TrainedModel(
        space=PuzzleIdentity(size),
        encoder="one-hot",
        model="ffnn",
        model_config=asdict(config),
        tensors=weights,
        estimate=config.estimate,
        rule=Mean(),
        recipe="likely-admissible",
        recipe_config={"alpha": 0.99},
        seed=3,
        search={"search": "idastar"},
        summary={"states": 5},
    )
    return replace(model, **changes)


def network(
    model: TrainedModel[PuzzleIdentity],
    alpha: float | None = None,
    *,
    floor: bool = False,
    truncated: bool = False,
) -> PuzzleNetwork:
    """The heuristic of a model for its puzzle, with the value that is admissible with probability alpha."""
    asked = model if alpha is None else model.with_rule(Likely(alpha))
    asked = truncated_belief(asked) if truncated else asked
    found: PuzzleNetwork = replace(asked, lower=FEATURES if floor else asked.lower).build(model.space.puzzle)
    return found
