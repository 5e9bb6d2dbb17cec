"""`prolonged` for puzzles and for users' own spaces: exact labels from one backward search from the goal.

The recipe of `prolonged.py` with other parts. A puzzle is searched natively (`sampling/prolonged.py`), an own
space by Dijkstra's algorithm over its `predecessors` from its `goals` (`sampling/prolonged_own.py`); the
network sees the inputs of a puzzle, or what the `encode` of an own space gives.

Difference: the search is not stopped by the start, but at a number of states, so that the model is for all
starts around the goal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hstar.errors import UnsupportedError
from hstar.models.puzzle_identity import FEATURES, PuzzleIdentity
from hstar.models.trained_model import TrainedModel
from hstar.options import option, whole_number
from hstar.recipes.fitted_states import (
    StateData,
    StatesMethod,
    Subject,
    check_space,
    learned,
    own_data,
    own_subject,
)
from hstar.recipes.recipe import Options, Parts, Run
from hstar.sampling.prolonged import Prolonged
from hstar.sampling.prolonged_own import backward_labels
from hstar.search.puzzle_features import ONE_HOT, puzzle_features
from hstar.spaces.own import OwnProblem
from hstar.spaces.puzzle import Puzzle

NAME = "prolonged"
DEFAULTS: Options = {
    "estimate": "asymmetric",
    "epochs": 40,
    "batch_size": 256,
    "learning_rate": 3e-3,
    "schedule": "cosine",
    "patience": 40,
}


@dataclass(frozen=True)
class BackwardOptions:
    """Options of the search for labels."""

    states: int = option(20_000, "Closed states at which the backward search ends.")

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", whole_number("states", self.states, 1))


@dataclass(frozen=True)
class BackwardPuzzleOptions(BackwardOptions):
    """The same, and what the network sees."""

    inputs: str = option(ONE_HOT, "What the network sees: one-hot, databases or mirrored-databases.")


class ProlongedOwn(StatesMethod):
    """For a space that has `goals`, `predecessors` and `encode`."""

    options, defaults = BackwardOptions, DEFAULTS

    def learn(self, source: OwnProblem, parts: Parts, run: Run) -> TrainedModel[Any]:
        """A heuristic for all starts around the goals."""
        # 1. What the space must have.
        check_space(source, parts["parts"])
        if not hasattr(source.space, "predecessors"):
            raise UnsupportedError(
                f"{NAME} searches backwards: add a function predecessors(state) to {source.name}, "
                "or use bootstrap, which needs none"
            )
        # 2. Exact labels.
        states, label = backward_labels(source, parts["recipe"].states)
        # 3. A network that knows them.
        return learned(own_subject(NAME, source), own_data(source, states, label), parts, run)


class ProlongedPuzzle(StatesMethod):
    """For all instances of a puzzle of one size."""

    options, defaults = BackwardPuzzleOptions, DEFAULTS

    def learn(self, source: Puzzle, parts: Parts, run: Run) -> TrainedModel[Any]:
        """A heuristic for all instances, learned from those nearest to the goal."""
        names, options = parts["parts"], parts["recipe"]
        if names.model != "ffnn":
            raise UnsupportedError(f"the search of a puzzle runs the model ffnn, not {names.model}")
        # 1. Exact labels.
        search = Prolonged(k_pr=math.inf, open=False, blind=True, max_expansions=options.states)
        found = search.sample(source.at(source.goal))
        states = [tuple(row) for row in found.states.tolist()]
        # 2. A network that knows them.
        features = puzzle_features(source, options.inputs)
        data = StateData(
            features.array(states),
            found.label.astype(np.float32),
            features.admissible(states).astype(np.float32),
        )
        floor = None if options.inputs == ONE_HOT else FEATURES
        subject = Subject(
            NAME,
            str(source),
            lambda inputs, forward: PuzzleIdentity(source),
            search="idastar",
            encoder=options.inputs,
            lower=floor,
            softplus=True,
        )
        return learned(subject, data, parts, run)
