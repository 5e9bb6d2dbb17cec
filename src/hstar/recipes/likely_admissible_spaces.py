"""What LearnHeuristicPrac asks of a space: a puzzle, a planning task, a map with one goal, or an own space.

The paper has puzzles, whose tasks IDA* solves with the network natively in it; the model is for all instances
of the size. The others are ours. The networks see the facts of a planning task that hold, row and column of a
cell, or what the `encode` of an own space gives. Tasks are other starts, found by walking backward from the
goal. A model of a task is for its goal and its facts, from any start.

Differences from the paper in all but puzzles: 1. A* takes the place of IDA*: there are many ways to the same
state. 2. Values are not rounded to whole moves, which only IDA* needs. 3. The spread is between the same
limits by a sigmoid, as in the estimate `gaussian`. 4. Goals need not be one state: each walk starts from one
of them by chance. Every action of a task has to cost 1; no axioms and no conditional effects. On maps and in
own spaces a move is the mean cost of the steps that lead to the goal.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.estimates.belief import native_belief
from hstar.estimates.estimate import Known
from hstar.estimates.rules import Likely, Mean, Rule
from hstar.models.ffnn import FFNN
from hstar.models.identity import RESOLUTION, Identity
from hstar.models.map_identity import GoalIdentity, cell_inputs
from hstar.models.own_identity import LOWER, OwnIdentity
from hstar.models.puzzle_identity import FEATURES, PuzzleIdentity
from hstar.models.task_identity import TaskIdentity, identify
from hstar.models.trained_model import TrainedModel
from hstar.recipes.likely_admissible import NAME, LikelyAdmissibleOptions
from hstar.sampling.backward_walks import BackwardWalks, PuzzleWalks, TaskWalks
from hstar.search.heuristics import BatchHeuristic
from hstar.search.puzzle_network import ONE_HOT, PuzzleNetwork, puzzle_features
from hstar.search.side_by_side import Progress, side_by_side
from hstar.search.solve import Result, SearchConfig, plan_states, solve
from hstar.spaces.grid import GridLike, GridProblem
from hstar.spaces.own import OwnProblem
from hstar.spaces.puzzle import Puzzle, State
from hstar.spaces.task import Task
from hstar.spaces.tiles import check_mirror_images, mirrored
from hstar.training.memory_buffer import Entry, plan_entries

Inputs = npt.NDArray[np.float32]
Step = tuple[Any, float]  # a state and the cost of the step to or from it
_LOOKS = 20  # at states of the goal, before it counts as one that no action leads to


@dataclass(frozen=True)
class Attempt:
    """What came of a task: the states of its plan from start to goal, None if it was given up."""

    plan: list[Any] | None
    generated: int


class LearningSpace(ABC):
    """What is learned about. States are hashable; costs are in moves, each an action of usual cost."""

    search: ClassVar[str] = "astar"
    walks: BackwardWalks  # where tasks come from
    inputs: int  # numbers that the networks see of a state
    target: Identity  # what the model is for
    identity: dict[str, Any]  # plain data that a checkpoint has to share
    encoder: str | None = None
    lower: str | None = None

    def __init__(self, problem: Any, options: LikelyAdmissibleOptions) -> None:
        self.problem, self.options = problem, options
        of_puzzles = {"inputs": options.inputs != ONE_HOT, "floor": options.floor, "mirror": options.mirror}
        if self.search == "astar" and any(of_puzzles.values()):
            raise InputError(f"{next(name for name in of_puzzles if of_puzzles[name])} is for puzzles alone")
        self.shape = options.planner(sigmoid=self.search == "astar")
        self.kept = self.shape  # of the network in the model file

    @abstractmethod
    def array(self, states: Sequence[Any]) -> Inputs:
        """What the networks see of states, (states, inputs)."""

    @abstractmethod
    def heuristic(self, planner: FFNN, rule: Rule, switch: float) -> Any:
        """The planning network in the search, as it is while it learns."""

    def solve(self, tasks: Sequence[Any], planner: FFNN, alpha: float, switch: float) -> Iterator[Attempt]:
        """Plans by the network's value for alpha, with one output by its mean, in the order of the tasks.

        From means of `switch` on its spread is taken for 1 move: it has learned nothing so far away.
        """
        limits = SearchConfig(time_limit=self.options.task_time, max_evaluations=self.options.nodes)
        heuristic = self.heuristic(planner, Likely(alpha) if self.shape.outputs == 2 else Mean(), switch)

        def search(problem: Any, progress: Progress | None) -> Result:
            return solve(problem, heuristic, self.search, config=limits, progress=progress)

        for problem, result in side_by_side(map(self.at, tasks), search, self.options.jobs):
            yield Attempt(self.plan(problem, result), result.generated)

    def at(self, state: Any) -> Any:
        return self.problem.at(state)

    def plan(self, problem: Any, result: Result) -> list[Any] | None:
        return None if result.states is None else list(result.states)

    def entries(self, plan: list[Any]) -> Iterator[Entry]:
        """What is remembered of a plan and its images: rows of numbers that stand for states, with costs."""
        yield from plan_entries(plan)

    def remembered(self, rows: Sequence[State]) -> Inputs:
        """What the networks see of such rows."""
        return self.array(rows)

    def model(self, planner: FFNN, summary: dict[str, Any]) -> TrainedModel[Any]:
        return TrainedModel(
            space=self.target,
            encoder=self.encoder,
            model=self.kept.name,
            model_config=asdict(self.kept),
            tensors=planner.arrays(),
            estimate=self.kept.estimate,
            rule=Mean(),
            lower=self.lower,
            recipe=NAME,
            recipe_config=asdict(self.options),
            seed=self.options.seed,
            search={"search": self.search},
            summary=summary,
        )


class PuzzleSpace(LearningSpace):
    """All instances of a puzzle of one size."""

    search = "idastar"

    def __init__(self, problem: Puzzle, options: LikelyAdmissibleOptions) -> None:
        super().__init__(problem, options)
        if options.mirror:
            check_mirror_images(problem)
        self.walks, self.target = PuzzleWalks(problem), PuzzleIdentity(problem)
        self.identity = {"puzzle": str(problem)}
        self.features = puzzle_features(problem, options.inputs)
        self.inputs, self.encoder = self.features.inputs, options.inputs
        floor = options.inputs != ONE_HOT if options.floor is None else options.floor
        self.lower = FEATURES if floor else None

    def array(self, states: Sequence[State]) -> Inputs:
        return self.features.array(states)

    def heuristic(self, planner: FFNN, rule: Rule, switch: float) -> PuzzleNetwork:
        fields = self.model(planner, {}).with_rule(rule).network
        return PuzzleNetwork(self.features, switch=switch, **fields)

    def entries(self, plan: list[State]) -> Iterator[Entry]:
        yield from super().entries(plan)
        if self.options.mirror:
            yield from super().entries([mirrored(state) for state in plan])


class TaskSpace(LearningSpace):
    """The states of a planning task."""

    problem: Task
    target: TaskIdentity

    def __init__(self, task: Task, options: LikelyAdmissibleOptions) -> None:
        if not task.core.unit_cost:
            raise UnsupportedError(
                f"{task.name} has actions that do not cost 1: {NAME} counts steps; "
                "take it with --unit-cost (unit_cost=True) if that is meant"
            )
        super().__init__(task, options)
        self.walks, self.target = TaskWalks(task), identify(task)
        # Variables, facts and goal; and the start, from which a state of the goal may be sought.
        self.identity = {"task": self.target.digest, "start": list(task.core.initial_state)}
        self.inputs = len(self.target.atoms)
        if not self.inputs:
            raise InputError(f"{task.name} has no atoms to learn from")
        rng = np.random.default_rng(options.seed)
        if not any(self.walks.neighbours(self.walks.goal(rng), rng) for _ in range(_LOOKS)):
            raise InputError(f"no action leads to the goal of {task.name}: nothing can be learned")
        self._facts = np.array(self.target.inputs(task).facts)  # per fact its input; -1 for none
        self._offsets = np.cumsum([0, *map(len, task.atoms[:-1])])  # where the facts of a variable begin

    def array(self, states: Sequence[State]) -> Inputs:
        """Ones for the atoms that hold."""
        inputs = self._facts[self._offsets + np.asarray(states, dtype=np.int64)]
        found = np.zeros((len(inputs), self.inputs + 1), dtype=np.float32)  # the last one: no atom
        np.put_along_axis(found, inputs, 1.0, axis=1)
        return np.ascontiguousarray(found[:, :-1])

    def heuristic(self, planner: FFNN, rule: Rule, switch: float) -> PlanningNetwork:
        switch = switch if self.shape.outputs == 2 else math.inf  # a mean has no spread
        belief = native_belief(self.shape.estimate, rule, switch)
        network = self.shape.network(planner.arrays())
        return PlanningNetwork(network.core("float32"), self._facts.tolist(), belief)

    def at(self, state: State) -> Task:
        return replace(self.problem, core=self.problem.core.with_initial_state(state))

    def plan(self, problem: Task, result: Result) -> list[State] | None:
        return None if result.actions is None else [*map(tuple, plan_states(problem, result.actions))]


@dataclass(frozen=True)
class PlanningNetwork:
    """A network over the facts of a task, given their inputs, that `solve` takes as a heuristic."""

    network: _core.Network
    facts: list[int]
    belief: _core.Belief

    def build(self, task: Task) -> _core.Heuristic:
        model = _core.atom_model(task.core, self.network, self.facts)
        return _core.believed_heuristic(task.native, model, belief=self.belief, name=NAME, scale=RESOLUTION)


class StatesSpace(LearningSpace, BackwardWalks):
    """States are what the problem says; rows of inputs stand for them in memory."""

    def __init__(self, problem: Any, options: LikelyAdmissibleOptions, goals: list[Any]) -> None:
        super().__init__(problem, options)
        self.walks, self.goals = self, goals
        self.inputs = self.array([problem.start]).shape[1]
        costs = [cost for goal in goals for _, cost in self.before(goal) if cost > 0]
        if not costs:
            raise InputError(f"no step leads to the goal of {problem.name}: nothing can be learned")
        self.unit = float(np.mean(costs))
        # The same weights with the mean in costs.
        self.kept = replace(self.shape, scale=self.shape.scale * self.unit)

    @abstractmethod
    def before(self, state: Any) -> list[Step]:
        """The states from which one step leads to the given one, with its cost."""

    @abstractmethod
    def after(self, state: Any) -> list[Step]:
        """The states that one step leads to."""

    def goal(self, rng: np.random.Generator) -> Any:
        return self.goals[int(rng.integers(len(self.goals)))]

    def neighbours(self, state: Any, rng: np.random.Generator) -> list[Any]:
        return list(dict.fromkeys(before for before, _ in self.before(state)))

    def values(self, planner: FFNN, inputs: Inputs, rule: Rule, switch: float) -> npt.NDArray[np.float64]:
        """The values of the rule, in costs."""
        estimate: Any = self.kept.estimate
        raw = torch.from_numpy(self.kept.network(planner.arrays()).reference(inputs)).double()
        if estimate.outputs == 2:
            # From the switch on, the output that stands for a spread of 1 move.
            share = (self.unit - estimate.floor) / estimate.range
            raw[raw[:, 0] >= switch * self.unit, 1] = math.log(share / (1 - share))
        return rule.value(estimate, raw, Known()).numpy()

    def entries(self, plan: list[Any]) -> Iterator[Entry]:
        """The inputs of its states, each with what is left, in moves."""
        left, costs = 0.0, [0.0]
        for here, following in zip(plan[-2::-1], plan[:0:-1], strict=True):
            left += min(cost for state, cost in self.after(here) if np.array_equal(state, following))
            costs.append(float(np.float32(left / self.unit)))
        for row, cost in zip(self.array(plan).tolist(), reversed(costs), strict=True):
            yield tuple(row), cost

    def remembered(self, rows: Sequence[State]) -> Inputs:
        return np.array(rows, dtype=np.float32)


class MapSpace(StatesSpace):
    """The cells of a map with one goal."""

    problem: GridProblem

    def __init__(self, problems: Sequence[GridLike] | None, options: LikelyAdmissibleOptions) -> None:
        if problems is None or len(problems) != 1:
            raise InputError(f"{NAME} learns about one map with one goal; prolonged learns about many")
        if not isinstance(problems[0], GridProblem) or problems[0].grid.costs is not None:
            raise UnsupportedError(f"{NAME} learns about grids whose steps cost the same, without headings")
        super().__init__(problems[0], options, [problems[0].goal])
        self.target = GoalIdentity.of(self.problem)
        self.identity = self.target.to_json()

    def before(self, state: Any) -> list[Step]:
        """Steps of grids can be taken back."""
        return self.after(state)

    def after(self, state: Any) -> list[Step]:
        steps = self.problem.steps(state)
        return [(cell, straight + math.sqrt(2) * diagonal) for cell, straight, diagonal in steps]

    def array(self, states: Sequence[Any]) -> Inputs:
        """Inputs of the network: row and column of each cell, one-hot."""
        return cell_inputs(np.array(states)[:, :2], self.problem.grid.shape)

    def heuristic(self, planner: FFNN, rule: Rule, switch: float) -> npt.NDArray[np.float32]:
        """The values of all cells."""
        shape = self.problem.grid.shape
        cells = cell_inputs(np.argwhere(np.ones(shape, dtype=bool)), shape)
        values = self.values(planner, cells, rule, switch)
        return np.maximum(values, 0).astype(np.float32).reshape(shape)


class OwnSpace(StatesSpace):
    """A user's own space that has `goals`, `predecessors` and `encode`."""

    problem: OwnProblem

    def __init__(self, problem: OwnProblem, options: LikelyAdmissibleOptions) -> None:
        if not hasattr(problem.space, "predecessors"):
            raise UnsupportedError(
                f"{NAME} walks backwards from the goals: add a function predecessors(state) to "
                f"{problem.name}, or use bootstrap, which needs none"
            )
        super().__init__(problem, options, [_hashable(goal) for goal in problem.goals])
        self.lower = LOWER if problem.bounded else None
        self.target, self.identity = OwnIdentity(problem.name, self.inputs), {"space": problem.name}

    def before(self, state: Any) -> list[Step]:
        return [(_hashable(before), float(cost)) for _, before, cost in self.problem.predecessors(state)]

    def after(self, state: Any) -> list[Step]:
        return [(after, float(cost)) for _, after, cost in self.problem.successors(state)]

    def array(self, states: Sequence[Any]) -> Inputs:
        return self.problem.encoded(states)

    def heuristic(self, planner: FFNN, rule: Rule, switch: float) -> BatchHeuristic:
        return BatchHeuristic(lambda states: self.values(planner, self.array(states), rule, switch), NAME)


def _hashable(state: Any) -> Any:
    """A row of an array as a tuple, which walks can compare."""
    return tuple(state.tolist()) if isinstance(state, np.ndarray) else state


SPACES: dict[str, Callable[[Any, LikelyAdmissibleOptions], LearningSpace]] = {
    "puzzle": PuzzleSpace,
    "task": TaskSpace,
    "map": MapSpace,
    "own": OwnSpace,
}
