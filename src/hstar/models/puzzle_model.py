"""A heuristic for all instances of a native puzzle of one size: the file, and the network that it holds.

The file is a safetensors container with a JSON header, like those of other models (`models/file.py`). Loading
needs no torch and runs no code from the file. Whatever is asked of another puzzle, size or goal is a
`ModelError` of one line.

The search sees whole moves, rounded to the nearest. Of a calibrated model (`recipes/calibrate.py`) they are
rounded up if plans are to be optimal, and down for a greater bound, where h* times the bound need not be
whole; what is admissible stays a floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hstar import __version__, container
from hstar.errors import InputError, ModelError
from hstar.estimates import rules
from hstar.estimates.rules import Calibrated, Mean, Quantile, Rule
from hstar.search.puzzle_features import puzzle_features
from hstar.search.puzzle_network import PuzzleNetwork
from hstar.spaces.puzzle import Puzzle, State, format_numbers
from hstar.spaces.puzzles import PuzzleSize, parse_puzzle

KIND = "puzzle model"
FORMAT_VERSION = 1
WEIGHTS = ("hidden_weights", "hidden_biases", "output_weights", "output_biases")


@dataclass(frozen=True)
class Outputs:
    """What the outputs of the network mean; see `PuzzleNetwork`."""

    scale: float = 1.0
    lowest_rho: float = -5.0
    highest_rho: float = 1.0
    floor_admissible: bool = False


@dataclass(frozen=True, eq=False)
class PuzzleModel:
    """Weights, what they are for, and where they come from. All mappings hold plain JSON data."""

    puzzle: PuzzleSize
    inputs: str  # kind of `PuzzleFeatures`
    weights: Mapping[str, npt.NDArray[np.float32]]  # those of `PuzzleNetwork`, by their names
    outputs: Outputs
    recipe: str
    recipe_config: Mapping[str, Any]
    seed: int
    goal: State = ()  # the usual one of the puzzle if none is given
    rule: Rule = field(default_factory=Mean)  # what the search sees unless it is asked otherwise
    summary: Mapping[str, Any] = field(default_factory=dict)  # of the training
    versions: Mapping[str, str] = field(default_factory=lambda: {"hstar": __version__})

    def __post_init__(self) -> None:
        object.__setattr__(self, "goal", self.goal or self.puzzle.goal)
        if sorted(self.weights) != sorted(WEIGHTS):
            raise ModelError(f"weights are {', '.join(sorted(self.weights))}, not {', '.join(WEIGHTS)}")
        for name, weights in self.weights.items():
            if weights.dtype != np.float32 or not np.isfinite(weights).all():
                raise ModelError(f"{name} are not all finite numbers of float32")
        _settings(self.rule)  # is it one of a puzzle?

    @property
    def calibration(self) -> Calibrated | None:
        """What is promised of plans, if anything is."""
        return self.rule if isinstance(self.rule, Calibrated) else None

    @property
    def has_spread(self) -> bool:
        """Whether it can be asked for any alpha."""
        return self.weights["output_biases"].shape == (2,)

    def network(
        self,
        puzzle: Puzzle,
        alpha: float | None = None,
        *,
        rule: Rule | None = None,
        floor: bool | None = None,
        truncated: bool = False,
        cache: bool = True,
        **settings: Any,
    ) -> PuzzleNetwork:
        """The heuristic for `idastar`, admissible with probability alpha, or by a rule, which is the model's
        own if neither is given: the mean, unless it is calibrated.

        With `floor` no value is below the greatest admissible feature, which is the Manhattan distance, the
        gap or misplaced blocks where inputs are one-hot; if it is not given, it is as in the training.
        `truncated` takes all that is below it out of the network's belief. `settings` are further fields of
        `PuzzleNetwork`: `shift`, `factor`, `switch`.
        """
        if alpha is not None and rule is not None:
            raise InputError("give either alpha or a rule, not both")
        if alpha is None:
            used = self.rule if rule is None else rule
            if truncated and isinstance(used, Calibrated):
                raise InputError("the model was calibrated with a belief that is not truncated; give alpha")
            alpha, chosen = _settings(used)
            settings = {**chosen, **settings}
        if floor is not None:
            settings["floor_admissible"] = floor
        if puzzle.name != self.puzzle.kind or len(puzzle.goal) != len(self.goal):
            asked = f"{puzzle.name} with {len(puzzle.goal)} places"
            raise ModelError(f"the model was trained for {self.puzzle}, asked for {asked}")
        if type(puzzle.core) is not type(self.puzzle.puzzle().core) or not self._same_shape(puzzle):
            raise ModelError(f"the model was trained for {self.puzzle}, asked for another shape of it")
        if puzzle.goal != self.goal:
            goal = format_numbers(puzzle.goal)
            raise ModelError(
                f"the model was trained for the goal {format_numbers(self.goal)}, asked for {goal}"
            )
        if (alpha is not None or truncated) and not self.has_spread:
            word = "truncated" if alpha is None else "alpha"
            raise ModelError(f"the model has one output, a mean without spread: leave {word} out")
        if alpha is not None and not 0 < alpha < 1:
            raise InputError(f"alpha must be between 0 and 1, got {alpha}")
        features = puzzle_features(puzzle, self.inputs, cache=cache)
        fields: dict[str, Any] = {**self.weights, **asdict(self.outputs), **settings}
        return PuzzleNetwork(features, alpha=alpha, truncated=truncated, **fields)

    def _same_shape(self, puzzle: Puzzle) -> bool:
        shape = (getattr(puzzle, "rows", 1), getattr(puzzle, "columns", len(puzzle.goal)))
        return shape == (self.puzzle.rows, self.puzzle.columns)


def quantile_of(alpha: float | None) -> Rule:
    """The rule that alpha stands for: h* is below such a value with probability 1 - alpha."""
    return Mean() if alpha is None else Quantile(round(1 - alpha, 12))


def _settings(rule: Rule) -> tuple[float | None, dict[str, float]]:
    """Alpha, and what a calibration asks of a `PuzzleNetwork`, which rounds to the nearest number."""
    if isinstance(rule, Calibrated):
        alpha, _ = _settings(rule.of)
        nearest = -0.5 if rule.rounds_up else 0.5
        return alpha, {"factor": rule.factor, "shift": rule.shift + nearest}
    if isinstance(rule, Quantile):
        return round(1 - rule.alpha, 12), {}
    if rule != Mean():
        raise InputError(f"a model of a puzzle has the rules mean and quantile:ALPHA, not {rule.name}")
    return None, {}


def save_puzzle_model(path: str | Path, model: PuzzleModel) -> None:
    """Writes the file, as a whole or not at all."""
    header = {
        "puzzle": str(model.puzzle),
        "goal": list(model.goal),
        "inputs": model.inputs,
        "outputs": asdict(model.outputs),
        "rule": rules.to_json(model.rule),
        "recipe": model.recipe,
        "recipe_config": dict(model.recipe_config),
        "seed": model.seed,
        "summary": dict(model.summary),
        "versions": dict(model.versions),
    }
    container.write(Path(path), KIND, FORMAT_VERSION, header, model.weights)


def load_puzzle_model(path: str | Path) -> PuzzleModel:
    """Reads what `save_puzzle_model` wrote; anything else is a `ModelError`."""
    try:
        header, tensors = container.read(Path(path), KIND, FORMAT_VERSION)
    except InputError as error:
        raise ModelError(str(error)) from None
    try:
        return PuzzleModel(
            puzzle=parse_puzzle(header["puzzle"]),
            goal=tuple(int(number) for number in header["goal"]),
            inputs=str(header["inputs"]),
            weights=tensors,
            outputs=Outputs(**header["outputs"]),
            rule=rules.from_json(header["rule"]) if "rule" in header else Mean(),
            recipe=str(header["recipe"]),
            recipe_config=dict(header["recipe_config"]),
            seed=int(header["seed"]),
            summary=dict(header["summary"]),
            versions=dict(header["versions"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"{path}: damaged model: {error}") from None
    except (InputError, ModelError) as error:
        raise ModelError(f"{path}: damaged model: {error}") from None


def is_puzzle_model(path: str | Path) -> bool:
    """Whether a file holds such a model, as far as its header says."""
    return container.kind(Path(path)) == KIND
