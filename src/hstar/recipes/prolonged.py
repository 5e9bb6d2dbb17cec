"""`prolonged` ("Value Function Learning via Prolonged Backward Heuristic Search"): exact labels, safe values.

1. One backward search, prolonged beyond the start, labels states with their exact cost-to-go.
2. A network learns the labels under a loss that fears values that are too high.
3. The search bounds its values between an admissible heuristic and eps times that.

The paper has maps (`prolonged_map.py`). The same for other spaces is ours: one planning task
(a network over atoms), puzzles, which are searched natively, and own spaces, searched by Dijkstra's algorithm
over their `predecessors` from their `goals`; see `sampling/prolonged.py`. The network sees the inputs of a
puzzle, or what the `encode` of an own space gives.

Difference for puzzles and own spaces: the search is not stopped by the start, but at a number of states, so
that the model is for all starts around the goal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hstar.errors import UnsupportedError
from hstar.models.puzzle_identity import FEATURES, PuzzleIdentity
from hstar.models.trained_model import TrainedModel
from hstar.options import Checked, option
from hstar.recipes.fitted_states import StatesMethod, check_space, learned, learned_own
from hstar.recipes.prolonged_map import NAME, ProlongedMap
from hstar.recipes.recipe import Options, Parts, Recipe, Run, enter
from hstar.recipes.sampled_task import SampledTask
from hstar.sampling.prolonged import Prolonged, backward_labels
from hstar.search.puzzle_network import INPUTS, ONE_HOT, puzzle_features
from hstar.spaces.own import OwnProblem
from hstar.spaces.puzzle import Puzzle

OF_A_TASK: Options = {"batch_size": 512, "epochs": 40, "schedule": "cosine", "patience": 40}
OF_STATES: Options = {**OF_A_TASK, "batch_size": 256, "learning_rate": 3e-3, "estimate": "asymmetric"}


@dataclass(frozen=True)
class BackwardOptions(Checked):
    """Options of the search for labels."""

    states: int = option(20_000, "Closed states at which the backward search ends.", least=1)


@dataclass(frozen=True)
class BackwardPuzzleOptions(BackwardOptions):
    """The same, and what the network sees."""

    inputs: str = option(ONE_HOT, f"What the network sees: {', '.join(INPUTS)}.", words=INPUTS)


class ProlongedOwn(StatesMethod):
    """For a space that has `goals`, `predecessors` and `encode`: a model of all starts around the goals."""

    own_options, defaults = BackwardOptions, OF_STATES

    def learn(self, source: OwnProblem, parts: Parts, run: Run) -> TrainedModel[Any]:
        from hstar.training.examples import OwnExamples

        # 1. What the space must have.
        check_space(source, parts["parts"])
        if not hasattr(source.space, "predecessors"):
            raise UnsupportedError(
                f"{NAME} searches backwards: add a function predecessors(state) to {source.name}, "
                "or use bootstrap, which needs none"
            )
        # 2. Exact labels.
        states, label = backward_labels(source, parts["recipe"].states)
        lower = source.bounds(states).astype(np.float32) if source.bounded else None
        # 3. A network that knows them.
        return learned_own(NAME, source, OwnExamples(source.encoded(states), label, lower), parts, run)


class ProlongedPuzzle(StatesMethod):
    """For all instances of a puzzle of one size, learned from those nearest to the goal."""

    own_options, defaults = BackwardPuzzleOptions, OF_STATES

    def learn(self, source: Puzzle, parts: Parts, run: Run) -> TrainedModel[Any]:
        from hstar.training.examples import OwnExamples

        names, options = parts["parts"], parts["recipe"]
        if names.model != "ffnn":
            raise UnsupportedError(f"the search of a puzzle runs the model ffnn, not {names.model}")
        # 1. Exact labels.
        search = Prolonged(k_pr=math.inf, open=False, blind=True, max_expansions=options.states)
        found = search.sample(source.at(source.goal))
        states = [tuple(row) for row in found.states.tolist()]
        # 2. A network that knows them.
        features = puzzle_features(source, options.inputs)
        lower = features.admissible(states).astype(np.float32)
        return learned(
            lambda inputs, forward: PuzzleIdentity(source),
            OwnExamples(features.array(states), found.label.astype(np.float32), lower),
            parts,
            run,
            recipe=NAME,
            search={"search": "idastar"},
            encoder=options.inputs,
            lower=None if options.inputs == ONE_HOT else FEATURES,
        )


enter(
    Recipe(
        NAME,
        "Value Function Learning via Prolonged Backward Heuristic Search",
        {
            "map": ProlongedMap(),
            "task": SampledTask(NAME, "prolonged", {"default": OF_A_TASK}, estimate="asymmetric"),
            "puzzle": ProlongedPuzzle(),
            "own": ProlongedOwn(),
        },
    )
)
