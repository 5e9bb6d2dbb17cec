"""What a recipe for a native puzzle is: a puzzle of some size in, a heuristic for all its instances out.

It makes its own tasks and solves them with what it has learned so far. Options are the fields of a dataclass,
with profiles, named sets of them that may depend on the puzzle; `train_puzzle` runs a recipe by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from hstar.errors import InputError
from hstar.options import configured
from hstar.registry import Registry, unknown
from hstar.spaces.puzzle import Puzzle
from hstar.spaces.puzzles import parse_puzzle

if TYPE_CHECKING:
    from hstar.models.puzzle_identity import PuzzleIdentity
    from hstar.models.trained_model import TrainedModel

Options = Mapping[str, Any]
INPUTS = ("one-hot", "databases", "mirrored-databases")  # kinds of `PuzzleFeatures`


@dataclass(frozen=True)
class PuzzleProgress:
    """Handed to `progress` several times in an iteration."""

    iteration: int
    iterations: int | None  # at most, if that is known
    doing: str  # in words
    states: int  # to learn from
    time_s: float


ProgressFunction = Callable[[PuzzleProgress], None]


class PuzzleRecipe(Protocol):
    """A recipe by its name."""

    name: ClassVar[str]
    paper: ClassVar[str]
    options: ClassVar[type[Any]]  # a frozen dataclass

    def profiles(self, puzzle: Puzzle | None) -> Mapping[str, Options]:
        """Sets of options by name, the default one first; without a puzzle those that the help tells."""

    def learn(
        self,
        puzzle: Puzzle,
        options: Any,
        progress: ProgressFunction | None = None,
        checkpoint: Path | None = None,
    ) -> TrainedModel[PuzzleIdentity]:
        """A heuristic; the same options give the same one, unless they limit times."""


PUZZLE_RECIPES: Registry[PuzzleRecipe] = Registry("recipe")


def check_options(recipe: PuzzleRecipe, puzzle: Puzzle, profile: str | None, options: Options) -> Any:
    """The options of a run: those of the profile, and those given; an `InputError` for wrong ones."""
    return profile_options(recipe, recipe.profiles(puzzle), profile, options)


def profile_options(
    recipe: PuzzleRecipe, profiles: Mapping[str, Options], profile: str | None, options: Options
) -> Any:
    """The same for these profiles."""
    chosen = next(iter(profiles)) if profile is None else profile
    if chosen not in profiles:
        raise unknown(f"profile of {recipe.name}", chosen, list(profiles))
    return configured(recipe.options, {**profiles[chosen], **options}, f"option of {recipe.name}")


def train_puzzle(
    recipe: str,
    puzzle: str | Puzzle,
    *,
    profile: str | None = None,
    progress: ProgressFunction | None = None,
    checkpoint: Path | None = None,
    **options: Any,
) -> TrainedModel[PuzzleIdentity]:
    """Learns a heuristic for a puzzle such as `tiles:4x4`.

    `checkpoint`: a file that is replaced after every iteration; the same call goes on from there.
    """
    chosen = PUZZLE_RECIPES.get(recipe)
    parsed = parse_puzzle(puzzle) if isinstance(puzzle, str) else puzzle
    return chosen.learn(parsed, check_options(chosen, parsed, profile, options), progress, checkpoint)


# Checks that recipes share.


def check_numbers(
    options: Any, *, whole: Mapping[str, int], shares: tuple[str, ...] = (), positive: tuple[str, ...] = ()
) -> None:
    """Whole numbers from a least one on, shares in (0, 1), numbers above 0; None where the type allows it."""
    optional = {entry.name for entry in fields(options) if str(entry.type).endswith("| None")}
    for name, least in whole.items():
        value = getattr(options, name)
        if value is None and name in optional:
            continue
        if not isinstance(value, int | float) or value != value // 1 or not least <= value < 2**63:
            raise InputError(f"{name} must be a whole number from {least} on, got {value!r}")
        object.__setattr__(options, name, int(value))  # 64e6 is a whole number, too
    for name in shares:
        value = getattr(options, name)
        if not isinstance(value, int | float) or not 0 < value < 1:
            raise InputError(f"{name} must be between 0 and 1, got {value!r}")
    for name in positive:
        value = getattr(options, name)
        if value is None and name in optional:
            continue
        if not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise InputError(f"{name} must be above 0 and finite, got {value!r}")


def check_word(options: Any, name: str, known: tuple[str, ...]) -> None:
    """An `InputError` unless the option is one of these words."""
    if getattr(options, name) not in known:
        raise unknown(name, str(getattr(options, name)), list(known))
