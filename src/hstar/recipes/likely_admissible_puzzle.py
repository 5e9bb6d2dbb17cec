"""Learning likely-admissible heuristics about a native puzzle: what `learn_heuristic.py` asks of it.

Tasks are solved by IDA* with the network natively in it; the model is for all instances of the size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from hstar.estimates.belief import puzzle_options
from hstar.estimates.rules import Likely, Mean
from hstar.models.ffnn import FFNN
from hstar.models.ffnn_config import FFNNConfig
from hstar.models.puzzle_identity import FEATURES, PuzzleIdentity
from hstar.models.trained_model import TrainedModel
from hstar.recipes.learn_heuristic import Attempt
from hstar.recipes.likely_admissible_config import NAME, LikelyAdmissibleOptions
from hstar.sampling.backward_walks import PuzzleWalks
from hstar.search.puzzle_features import ONE_HOT, puzzle_features
from hstar.search.puzzle_network import PuzzleNetwork
from hstar.search.side_by_side import Progress, side_by_side
from hstar.search.solve import Result, SearchConfig, solve
from hstar.spaces.puzzle import Puzzle, State
from hstar.spaces.tiles import check_mirror_images, mirrored
from hstar.training.memory_buffer import Entry, plan_entries


class PuzzleSpace:
    """A `LearningSpace` of all instances of a puzzle of one size."""

    def __init__(self, puzzle: Puzzle, options: LikelyAdmissibleOptions) -> None:
        self.puzzle, self.options = puzzle, options
        if options.mirror:
            check_mirror_images(puzzle)
        self.walks = PuzzleWalks(puzzle)
        self.features = puzzle_features(puzzle, options.inputs)
        self.inputs = self.features.inputs
        self.shape = FFNNConfig(options.hidden, options.outputs, options.left_out)

    @property
    def identity(self) -> dict[str, Any]:
        """The size."""
        return {"puzzle": str(self.puzzle)}

    def array(self, states: Sequence[State]) -> npt.NDArray[np.float32]:
        """The features."""
        return self.features.array(states)

    def solve(self, tasks: Sequence[State], planner: FFNN, alpha: float, switch: float) -> Iterator[Attempt]:
        """By IDA*."""
        options = self.options
        limits = SearchConfig(time_limit=options.task_time, max_evaluations=options.nodes)
        fields: dict[str, Any] = {
            **planner.arrays(),
            **puzzle_options(self.shape.estimate, Likely(alpha) if self.shape.outputs == 2 else Mean()),
            "floor_admissible": self.floor,
        }
        heuristic = PuzzleNetwork(self.features, scale=self.shape.scale, switch=switch, **fields)

        def search(puzzle: Puzzle, progress: Progress | None) -> Result:
            return solve(puzzle, heuristic, "idastar", config=limits, progress=progress)

        for _, result in side_by_side(map(self.puzzle.at, tasks), search, options.jobs):
            found = None if result.states is None else list(result.states)
            yield Attempt(found, result.generated)

    @property
    def floor(self) -> bool:
        """Whether no value is below the admissible features."""
        given = self.options.floor
        return self.options.inputs != ONE_HOT if given is None else given

    def entries(self, plan: list[State]) -> Iterator[Entry]:
        """The states of the plan and, if asked, those of its mirror image."""
        yield from plan_entries(plan)
        if self.options.mirror:
            yield from plan_entries([mirrored(state) for state in plan])

    def remembered(self, rows: Sequence[State]) -> npt.NDArray[np.float32]:
        """The features of these states."""
        return self.array(rows)

    def model(self, planner: FFNN, summary: dict[str, Any]) -> TrainedModel[PuzzleIdentity]:
        """For `hstar puzzle`."""
        return TrainedModel(
            space=PuzzleIdentity(self.puzzle),
            encoder=self.options.inputs,
            model=self.shape.name,
            model_config=asdict(self.shape),
            tensors=planner.arrays(),
            estimate=self.shape.estimate,
            rule=Mean(),
            lower=FEATURES if self.floor else None,
            recipe=NAME,
            recipe_config=asdict(self.options),
            seed=self.options.seed,
            search={"search": "idastar"},
            summary=summary,
        )
