"""`likely-admissible` (Marom and Rosman, ICAPS 2020): a heuristic learned from the goal alone.

The algorithm, LearnHeuristicPrac, and its differences from the paper are in `learn_heuristic.py`; options and
profiles in `likely_admissible_config.py`. The paper has puzzles. What is learned about is a `LearningSpace`:
a puzzle, a planning task, a map with one goal, or a user's own space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from hstar.errors import InputError
from hstar.recipes.likely_admissible_config import (
    NAME,
    LikelyAdmissibleOptions,
    other_profiles,
    puzzle_profiles,
)
from hstar.recipes.recipe import Options, Parts, Recipe, Run, enter

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel
    from hstar.recipes.learn_heuristic import LearningSpace


@dataclass(frozen=True)
class LikelyAdmissible:
    """The method of a kind of space, which makes a `LearningSpace` of a source."""

    space: Callable[[Any, LikelyAdmissibleOptions], LearningSpace[Any]]
    of_puzzles: bool = False
    takes: ClassVar[tuple[str, ...]] = ("checkpoint",)

    def parts(self, options: Options) -> dict[str, type[Any]]:
        """One."""
        return {"recipe": LikelyAdmissibleOptions}

    def profiles(self, options: Options, source: Any) -> dict[str, Options]:
        """Those of a puzzle depend on it."""
        return puzzle_profiles(str(source)) if self.of_puzzles else other_profiles()

    def learn(self, source: Any, parts: Parts, run: Run) -> TrainedModel[Any]:
        """The algorithm, which needs torch."""
        from hstar.recipes.learn_heuristic import learn_heuristic

        model: TrainedModel[Any] = learn_heuristic(self.space(source, parts["recipe"]), parts["recipe"], run)
        return model


def _puzzle(source: Any, options: LikelyAdmissibleOptions) -> LearningSpace[Any]:
    from hstar.recipes.likely_admissible_puzzle import PuzzleSpace

    return PuzzleSpace(source, options)


def _task(source: Any, options: LikelyAdmissibleOptions) -> LearningSpace[Any]:
    from hstar.recipes.likely_admissible_task import TaskSpace

    return TaskSpace(source, options)


def _map(source: Any, options: LikelyAdmissibleOptions) -> LearningSpace[Any]:
    from hstar.recipes.likely_admissible_states import MapSpace

    if source is None or len(source) != 1:
        raise InputError(f"{NAME} learns about one map with one goal; prolonged learns about many")
    return MapSpace(source[0], options)


def _own(source: Any, options: LikelyAdmissibleOptions) -> LearningSpace[Any]:
    from hstar.recipes.likely_admissible_states import OwnSpace

    return OwnSpace(source, options)


enter(
    Recipe(
        NAME,
        "Marom and Rosman, ICAPS 2020",
        {
            "puzzle": LikelyAdmissible(_puzzle, of_puzzles=True),
            "task": LikelyAdmissible(_task),
            "map": LikelyAdmissible(_map),
            "own": LikelyAdmissible(_own),
        },
    )
)
