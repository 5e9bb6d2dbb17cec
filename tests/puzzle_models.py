"""Models of puzzles that were never trained: they err as much as anybody could wish."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hstar.models.puzzle_model import Outputs, PuzzleModel
from hstar.search.puzzle_features import puzzle_features
from hstar.spaces.puzzles import parse_puzzle


def made(name: str = "tiles:2x3", outputs: int = 2, **changes: Any) -> PuzzleModel:
    """With three hidden units and weights by chance."""
    size = parse_puzzle(name)
    inputs = puzzle_features(size.puzzle(), "one-hot").inputs
    rng = np.random.default_rng(0)
    shapes = {
        "hidden_weights": (inputs, 3),
        "hidden_biases": (3,),
        "output_weights": (3, outputs),
        "output_biases": (outputs,),
    }
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    model = PuzzleModel(
        puzzle=size,
        inputs="one-hot",
        weights=weights,
        outputs=Outputs(scale=10.0),
        recipe="likely-admissible",
        recipe_config={"alpha": 0.99},
        seed=3,
        summary={"states": 5},
    )
    return replace(model, **changes)
