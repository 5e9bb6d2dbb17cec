"""What the native puzzles share: the contract, texts of states, files of instances, and the replay of plans.

A puzzle is one instance: a start and a goal, with the native space that searches use. Here a state is a tuple
of numbers and a move is a number. `successor` is written in plain Python and shares nothing with the core, so
that `replay` can check what a native search returns.
"""

from __future__ import annotations

import csv
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar, cast

from hstar import _core
from hstar.errors import InputError, PlanError
from hstar.files import blamed_on, read_text
from hstar.registry import Registry
from hstar.spaces.problem import HeuristicClaim, Replay

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

State: TypeAlias = tuple[int, ...]
_MOST_STEPS = 10**6  # of a random walk: a tenth of a second, in which nobody asks for Ctrl-C
NativeSpace: TypeAlias = "_core.TilesSpace | _core.PancakeSpace | _core.BlocksSpace | _core.TopSpinSpace"


class Puzzle(ABC):
    """One instance of a puzzle whose moves cost 1 and can be taken back; a `Problem`.

    A kind of puzzle is a frozen dataclass with a field `start`, registered in `PUZZLES`. Its instance at the
    goal stands for all instances of the size: `str` names the size, `tiles:4x4`, which `parse_puzzle` reads.
    """

    kind: ClassVar[str] = "puzzle"
    unit_cost: ClassVar[bool] = True
    name: ClassVar[str]  # also the column of its states in files of instances
    example: ClassVar[str]  # a size
    sizes: ClassVar[str] = r"([0-9]{1,3})"  # what sizes look like; the groups are arguments of `solved`
    start: State

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", check_state(self.core, self.start))

    def __str__(self) -> str:
        return f"{self.name}:{self.size}"

    @classmethod
    def parse(cls, size: str) -> Self | None:
        """The puzzle of a size, at its usual goal; None if the text is not a size."""
        match = re.fullmatch(cls.sizes, size)
        return None if match is None else cls.solved(*(int(word) for word in match.groups() if word))

    @classmethod
    @abstractmethod
    def solved(cls, *size: Any, **options: Any) -> Self:
        """The instance of a size whose start is the goal."""

    @property
    def size(self) -> str:
        """The size as text, as `parse` reads it: 4x4, or 24."""
        return str(len(self.start))

    @property
    @abstractmethod
    def core(self) -> NativeSpace:
        """The native space, with its goal."""

    @property
    def goal(self) -> State:
        """The state in which plans end."""
        return tuple(range(len(self.start)))

    @abstractmethod
    def successor(self, state: State, action: int) -> State | None:
        """The state after a move, None if the move is not possible."""

    @abstractmethod
    def action_name(self, action: int) -> str:
        """Name of an action, as plans print it."""

    def at(self, start: Sequence[int]) -> Self:
        """The same puzzle from another start."""
        if len(start) != len(self.start):
            raise InputError(f"a state of {self} has {len(self.start)} numbers, not {len(start)}")
        changed: Self = replace(cast("Any", self), start=tuple(start))
        return changed

    @abstractmethod
    def random(self, seed: int) -> Self:
        """The same puzzle from a start that is drawn uniformly among all that can reach the goal."""

    def walk(self, steps: int, seed: int) -> Self:
        """The same puzzle from the end of a random walk from the goal that takes no move back at once."""
        if steps > _MOST_STEPS:
            raise InputError(f"a walk has at most {_MOST_STEPS} moves, got {steps}")
        return self.at(self.core.walk(self.goal, steps, seed))

    @property
    def quickly_solved(self) -> bool:
        """Whether an optimal plan takes no more than seconds from any start."""
        return True

    @property
    def one_hot_names(self) -> tuple[str, ...]:
        """What the inputs of kind "one-hot" stand for; of a permutation each piece in each place."""
        places = range(len(self.start))
        return tuple(f"{piece} in place {place}" for piece in places for place in places)

    def of_other_goal(self, state: State) -> State:
        """A state that is meant for the goal with the blank last as one for the goal of `self`."""
        raise InputError(f"there is no blank in {self}")

    def read(self, path: Path, *, blank_last: bool = False) -> list[Instance[Self]]:
        """Instances of this size in a file; `blank_last`: they are meant for the goal with the blank last."""

        def states(text: str) -> State:
            return self.of_other_goal(parse_numbers(text)) if blank_last else parse_numbers(text)

        return read_instances(path, self.name, lambda text: self.at(states(text)))

    @cached_property
    def native(self) -> _core.Problem:
        return self.core.problem(self.start)

    @property
    def claims(self) -> Sequence[HeuristicClaim]:
        return [HeuristicClaim(info.name, info.admissible) for info in self.core.heuristics]

    def named_heuristic(self, name: str) -> _core.Heuristic:
        return self.core.heuristic(self.native, name)

    def own_heuristic(self, heuristic: Any) -> _core.Heuristic | None:
        """Pattern databases or a network of this kind of puzzle; None for anything else."""
        core = getattr(heuristic, "core", heuristic)
        if not type(core).__name__.endswith(("Databases", "Network")):
            return None
        try:
            return self.core.heuristic(self.native, core)
        except (TypeError, RuntimeError):  # of another kind of puzzle
            raise InputError(f"not a heuristic of {self.name}: {heuristic!r:.60}") from None

    def states_of(self, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        return rows

    def replay(self, actions: Sequence[int]) -> Replay:
        states = replay(self, actions)
        return Replay(tuple(map(self.action_name, actions)), len(actions), states)


P = TypeVar("P", bound=Puzzle)
PUZZLES: Registry[type[Puzzle]] = Registry("puzzle")

# States.


def check_state(core: NativeSpace, state: Sequence[int]) -> State:
    """The state as a tuple; an `InputError` unless the goal can be reached from it."""
    try:
        core.check(state)
    except TypeError:
        raise InputError(f"a state is a sequence of whole numbers, got {state!r:.60}") from None
    return tuple(state)


def parse_numbers(text: str) -> State:
    """Numbers with blanks between them."""
    words = text.split()
    for word in words:
        if not re.fullmatch(r"-?[0-9]{1,9}", word):
            raise InputError(f"expected whole numbers with blanks between them, got {word[:20]!r}")
    return tuple(int(word) for word in words)


def format_numbers(state: Iterable[int]) -> str:
    return " ".join(map(str, state))


# Plans.


def replay(puzzle: Puzzle, actions: Sequence[int]) -> list[State]:
    """The states of a plan from the start to the goal; a `PlanError` if it does not lead there."""
    states = [puzzle.start]
    for number, action in enumerate(actions, 1):
        state = puzzle.successor(states[-1], action)
        if state is None:
            raise PlanError(f"step {number} of the plan, move {action}, is not possible")
        states.append(state)
    if states[-1] != puzzle.goal:
        raise PlanError(f"the plan ends in {format_numbers(states[-1])}, not in the goal")
    return states


# Files of instances: id, state, optimal cost.


@dataclass(frozen=True)
class Instance(Generic[P]):
    """A puzzle of a collection, with the cost of an optimal plan where it is known."""

    id: str
    puzzle: P
    optimal_cost: int | None = None


def read_instances(path: Path, column: str, parse: Callable[[str], P]) -> list[Instance[P]]:
    """Instances of a CSV file with the columns `id`, `column` and, if known, `optimal_cost`.

    An `InputError` where no plan can be as cheap as a file says, so that boards that are meant for another
    goal do not go unnoticed.
    """
    rows = csv.reader(io.StringIO(read_text(path), newline=None))
    header = next(rows, [])
    missing = [name for name in ("id", column) if name not in header]
    if missing:
        raise InputError(f"has no column '{missing[0]}'", file=path, line=1)
    instances = []
    for row in rows:
        with blamed_on(path, rows.line_num):
            if len(row) != len(header):
                raise InputError(f"expected {len(header)} columns, got {len(row)}")
            instances.append(_instance(dict(zip(header, row, strict=True)), column, parse))
    return instances


def _instance(row: dict[str, str], column: str, parse: Callable[[str], P]) -> Instance[P]:
    cost = row.get("optimal_cost", "").strip()
    if cost and not re.fullmatch(r"[0-9]{1,9}", cost):
        raise InputError(f"optimal_cost is a whole number from 0 on, got {cost[:20]!r}")
    found = Instance(row["id"], parse(row[column]), int(cost) if cost else None)
    core, start = found.puzzle.core, found.puzzle.start
    least = max(core.value(info.name, start) for info in core.heuristics if info.admissible)
    if found.optimal_cost is not None and found.optimal_cost < least:
        hint = "; --blank-last is for boards whose goal has the blank last" * (found.puzzle.name == "tiles")
        raise InputError(
            f"{found.id}: optimal_cost is {found.optimal_cost}, but no plan costs less than {least}: "
            f"wrong, or for another goal{hint}"
        )
    return found


def format_instances(instances: Iterable[Instance[P]], column: str) -> str:
    """The text of a CSV file of instances, as `read_instances` reads it."""
    lines = [f"id,{column},optimal_cost"]
    for one in instances:
        cost = "" if one.optimal_cost is None else one.optimal_cost
        lines.append(f"{one.id},{format_numbers(one.puzzle.start)},{cost}")
    return "\n".join(lines) + "\n"
