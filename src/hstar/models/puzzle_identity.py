"""A model for all instances of a native puzzle of one size: its goal, its inputs, the network in the search.

The `encoder` of such a model is a kind of `PuzzleFeatures`. If `lower` is `FEATURES`, no value is below the
greatest admissible one of these, whatever the rule; the rule `clip` does the same for a model without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hstar.errors import ModelError
from hstar.estimates.belief import puzzle_options
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.truncated import TruncatedGaussian
from hstar.models.identity import IDENTITIES, Identity
from hstar.search.puzzle_network import PuzzleNetwork, puzzle_features
from hstar.spaces.puzzle import Puzzle, State, format_numbers
from hstar.spaces.puzzles import parse_puzzle

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel

FEATURES = "features"
_NO_MARGIN = 1e-9


def truncated(model: TrainedModel[PuzzleIdentity]) -> TrainedModel[PuzzleIdentity]:
    """The same with a belief without what is below the admissible features."""
    if not isinstance(model.estimate, Gaussian):
        raise ModelError("the model has one output, a mean without spread: leave truncated out")
    estimate = TruncatedGaussian(softplus=model.estimate.softplus, margin=_NO_MARGIN)
    return replace(model, estimate=estimate)


@IDENTITIES.register("puzzle")
@dataclass(frozen=True)
class PuzzleIdentity(Identity):
    """Kind and size, and the goal, the usual one of the puzzle if none is given."""

    kind: ClassVar[str] = "puzzle"

    puzzle: Puzzle
    goal: State = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "goal", self.goal or self.puzzle.goal)
        object.__setattr__(self, "puzzle", self.puzzle.at(self.puzzle.goal))

    def __str__(self) -> str:
        return str(self.puzzle)

    def to_json(self) -> dict[str, Any]:
        return {"puzzle": str(self.puzzle), "goal": list(self.goal)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PuzzleIdentity:
        return cls(parse_puzzle(str(data["puzzle"])), tuple(map(int, data["goal"])))

    def check(self, problem: Any) -> None:
        asked = str(problem) if isinstance(problem, Puzzle) else type(problem).__name__
        if asked != str(self):
            raise ModelError(f"the model was trained for {self}, asked for {asked}")
        if problem.goal != self.goal:
            known, asked = map(format_numbers, (self.goal, problem.goal))
            raise ModelError(f"the model was trained for the goal {known}, asked for {asked}")

    def network(self, model: TrainedModel[PuzzleIdentity]) -> dict[str, Any]:
        """The fields of `PuzzleNetwork` but for the features."""
        if model.encoder is None:
            raise ModelError("no encoder")
        if model.lower not in (None, FEATURES):
            raise ModelError(f"the lower bound of a puzzle is {FEATURES}, not {model.lower}")
        options = model.options
        options.check(model.tensors)
        if model.estimate.outputs != options.outputs:
            raise ModelError(
                f"the network has {options.outputs} outputs, the estimate {model.estimate.name} others"
            )
        chosen = puzzle_options(model.estimate, model.rule)
        if model.lower is not None:
            chosen["floor_admissible"] = True
        return {**model.tensors, "scale": options.scale, **chosen}

    def build(self, model: TrainedModel[PuzzleIdentity], problem: Any, *, cache: bool) -> PuzzleNetwork:
        self.check(problem)
        features = puzzle_features(problem, str(model.encoder), cache=cache)
        return PuzzleNetwork(features, **model.network)

    def describe(self, model: TrainedModel[PuzzleIdentity]) -> dict[str, Any]:
        inputs = np.shape(model.tensors["hidden_weights"])[0]
        return {"goal": " ".join(map(str, self.goal)), "inputs": f"{model.encoder}, {inputs}"}
