"""Learning likely-admissible heuristics about a map with one goal, or about a user's own space.

What `learn_heuristic.py` asks of them. The network sees row and column of a cell, one-hot, or what the
`encode` of an own space gives. Walks go backward from the goal, over `predecessors` of an own space. Tasks
are solved by A*. Costs need not be 1: a move is the mean cost of the steps that lead to the goal.

Differences from the paper are those of planning tasks (`likely_admissible_task.py`): A*, no rounding, a
spread by a sigmoid, and several goals.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from hstar.errors import InputError, UnsupportedError
from hstar.estimates.estimate import Known
from hstar.estimates.rules import Likely, Mean
from hstar.models.ffnn import FFNN
from hstar.models.ffnn_config import FFNNConfig
from hstar.models.identity import Identity
from hstar.models.map_identity import GoalIdentity, cell_inputs
from hstar.models.own_identity import LOWER, OwnIdentity
from hstar.models.trained_model import TrainedModel
from hstar.recipes.learn_heuristic import Attempt
from hstar.recipes.likely_admissible_config import NAME, LikelyAdmissibleOptions
from hstar.search.heuristics import BatchHeuristic
from hstar.search.side_by_side import Progress, side_by_side
from hstar.search.solve import Result, SearchConfig, solve
from hstar.spaces.grid import GridLike, GridProblem
from hstar.spaces.own import OwnProblem
from hstar.spaces.puzzle import State
from hstar.training.memory_buffer import Entry

Inputs = npt.NDArray[np.float32]
Step = tuple[Any, float]  # a state and the cost of the step to or from it


class StatesSpace(ABC):
    """A `LearningSpace` whose states are what the problem says; rows of inputs stand for them in memory."""

    lower: str | None = None

    def __init__(self, problem: Any, options: LikelyAdmissibleOptions) -> None:
        if options.inputs != "one-hot" or options.floor or options.mirror:
            raise InputError("inputs, floor and mirror are for puzzles")
        self.problem, self.options = problem, options
        self.walks = self
        self.inputs = self.array([problem.start]).shape[1]
        self.shape = FFNNConfig(options.hidden, options.outputs, options.left_out, sigmoid=True)
        costs = [cost for goal in self.goals() for _, cost in self.before(goal) if cost > 0]
        if not costs:
            raise InputError(f"no step leads to the goal of {problem.name}: nothing can be learned")
        self.unit = float(np.mean(costs))
        # The same weights with the mean in costs.
        self.kept = replace(self.shape, scale=self.shape.scale * self.unit)

    @abstractmethod
    def goals(self) -> list[Any]:
        """The goal states."""

    @abstractmethod
    def before(self, state: Any) -> list[Step]:
        """The states from which one step leads to the given one, with its cost."""

    @abstractmethod
    def after(self, state: Any) -> list[Step]:
        """The states that one step leads to."""

    @abstractmethod
    def array(self, states: Sequence[Any]) -> Inputs:
        """What the networks see of states."""

    @property
    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Plain data that a checkpoint has to share."""

    @abstractmethod
    def space(self) -> Identity:
        """What the model is for."""

    @abstractmethod
    def heuristic(self, planner: FFNN, alpha: float, switch: float) -> Any:
        """The planning network in the search, as it is while it learns."""

    # Walks.

    def goal(self, rng: np.random.Generator) -> Any:
        """One of them, by chance."""
        goals = self.goals()
        return goals[int(rng.integers(len(goals)))]

    def neighbours(self, state: Any, rng: np.random.Generator) -> list[Any]:
        """Different states from which one step leads to the given one."""
        return list(dict.fromkeys(before for before, _ in self.before(state)))

    def walk(self, steps: int, rng: np.random.Generator) -> Any:
        """Where so many steps back from a goal end; shorter where no step leads on."""
        last, here = None, self.goal(rng)
        for _ in range(steps):
            states = [state for state in self.neighbours(here, rng) if state != last]
            if not states:
                break
            last, here = here, states[int(rng.integers(len(states)))]
        return here

    # Tasks.

    def solve(self, tasks: Sequence[Any], planner: FFNN, alpha: float, switch: float) -> Iterator[Attempt]:
        """By A*."""
        limits = SearchConfig(time_limit=self.options.task_time, max_evaluations=self.options.nodes)
        heuristic = self.heuristic(planner, alpha, switch)

        def search(problem: Any, progress: Progress | None) -> Result:
            return solve(problem, heuristic, "astar", config=limits, progress=progress)

        for _, result in side_by_side(map(self.problem.at, tasks), search, self.options.jobs):
            yield Attempt(None if result.states is None else list(result.states), result.generated)

    def values(self, planner: FFNN, inputs: Inputs, alpha: float, switch: float) -> npt.NDArray[np.float64]:
        """What h* is not below with probability alpha, in costs; with one output the mean."""
        estimate = self.kept.estimate
        raw = torch.from_numpy(self.kept.network(planner.arrays()).reference(inputs)).double()
        if estimate.outputs == 1:
            return Mean().value(estimate, raw, Known()).numpy()
        unsure = raw[:, 0] >= switch * self.unit
        raw[unsure, 1] = _raw_spread(estimate, self.unit)
        return Likely(alpha).value(estimate, raw, Known()).numpy()

    def entries(self, plan: list[Any]) -> Iterator[Entry]:
        """The inputs of its states, each with what is left, in moves."""
        left, costs = 0.0, [0.0]
        for here, following in zip(plan[-2::-1], plan[:0:-1], strict=True):
            left += min(cost for state, cost in self.after(here) if _same(state, following))
            costs.append(float(np.float32(left / self.unit)))
        for row, cost in zip(self.array(plan).tolist(), reversed(costs), strict=True):
            yield tuple(row), cost

    def remembered(self, rows: Sequence[State]) -> Inputs:
        """The rows themselves."""
        return np.array(rows, dtype=np.float32)

    def model(self, planner: FFNN, summary: dict[str, Any]) -> TrainedModel[Any]:
        """For `hstar solve`."""
        return TrainedModel(
            space=self.space(),
            model=self.kept.name,
            model_config=asdict(self.kept),
            tensors=planner.arrays(),
            estimate=self.kept.estimate,
            rule=Mean(),
            lower=self.lower,
            recipe=NAME,
            recipe_config=asdict(self.options),
            seed=self.options.seed,
            search={"search": "astar"},
            summary=summary,
        )


def _same(one: Any, two: Any) -> bool:
    return bool(np.array_equal(one, two))


def _raw_spread(estimate: Any, sigma: float) -> float:
    """The output that stands for this spread."""
    share = (sigma - estimate.floor) / estimate.range
    return math.log(share / (1 - share))


class MapSpace(StatesSpace):
    """Of the cells of a map with one goal."""

    problem: GridProblem

    def __init__(self, problem: GridLike, options: LikelyAdmissibleOptions) -> None:
        if not isinstance(problem, GridProblem) or problem.grid.costs is not None:
            raise UnsupportedError(f"{NAME} learns about grids whose steps cost the same, without headings")
        super().__init__(problem, options)

    def goals(self) -> list[Any]:
        """The only one."""
        return [self.problem.goal]

    def before(self, state: Any) -> list[Step]:
        """Steps of grids can be taken back."""
        return self.after(state)

    def after(self, state: Any) -> list[Step]:
        """The neighbours."""
        steps = self.problem.steps(state)
        return [(cell, straight + math.sqrt(2) * diagonal) for cell, straight, diagonal in steps]

    def array(self, states: Sequence[Any]) -> Inputs:
        """Row and column, one-hot."""
        return cell_inputs(np.array(states)[:, :2], self.problem.grid.shape)

    @property
    def identity(self) -> dict[str, Any]:
        """The map and the goal."""
        return self.space().to_json()

    def space(self) -> GoalIdentity:
        """The map with its goal."""
        return GoalIdentity.of(self.problem)

    def heuristic(self, planner: FFNN, alpha: float, switch: float) -> npt.NDArray[np.float32]:
        """The values of all cells."""
        shape = self.problem.grid.shape
        cells = np.argwhere(np.ones(shape, dtype=bool))
        values = self.values(planner, cell_inputs(cells, shape), alpha, switch)
        return np.maximum(values, 0).astype(np.float32).reshape(shape)


class OwnSpace(StatesSpace):
    """Of a user's own space that has `goals`, `predecessors` and `encode`."""

    problem: OwnProblem

    def __init__(self, problem: OwnProblem, options: LikelyAdmissibleOptions) -> None:
        if not hasattr(problem.space, "predecessors"):
            raise UnsupportedError(
                f"{NAME} walks backwards from the goals: add a function predecessors(state) to "
                f"{problem.name}, or use bootstrap, which needs none"
            )
        super().__init__(problem, options)
        self.lower = LOWER if problem.bounded else None

    def goals(self) -> list[Any]:
        """Those that the space lists."""
        return [_hashable(goal) for goal in self.problem.goals]

    def before(self, state: Any) -> list[Step]:
        """By `predecessors`."""
        return [(_hashable(before), float(cost)) for _, before, cost in self.problem.predecessors(state)]

    def after(self, state: Any) -> list[Step]:
        """By `successors`."""
        return [(after, float(cost)) for _, after, cost in self.problem.successors(state)]

    def array(self, states: Sequence[Any]) -> Inputs:
        """By `encode`."""
        return self.problem.encoded(states)

    @property
    def identity(self) -> dict[str, Any]:
        """The name of the space."""
        return {"space": self.problem.name}

    def space(self) -> OwnIdentity:
        """The space by its name."""
        return OwnIdentity(self.problem.name, self.inputs)

    def heuristic(self, planner: FFNN, alpha: float, switch: float) -> BatchHeuristic:
        """The network over what `encode` gives."""
        return BatchHeuristic(lambda states: self.values(planner, self.array(states), alpha, switch), NAME)


def _hashable(state: Any) -> Any:
    """A row of an array as a tuple, which walks can compare."""
    return tuple(state.tolist()) if isinstance(state, np.ndarray) else state
