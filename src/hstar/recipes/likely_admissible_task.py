"""Learning likely-admissible heuristics about a planning task: what `learn_heuristic.py` asks of it.

The networks see which facts of the task hold. Tasks are other starts, found by walking backward from the goal
(`sampling/backward_walks.py`), and solved by A* with the network natively in it. The model is for the goal
and the facts of the task, from any start, and a file like those of other recipes for a task.

Differences from the paper, which knows puzzles alone: 1. A* takes the place of IDA*: planning tasks have many
ways to the same state. 2. Values are not rounded to whole moves, which only IDA* needs. 3. The spread is
between the same limits by a sigmoid, as in the estimate `gaussian`. 4. Goals need not be one state: each walk
starts from one of them by chance. Every action has to cost 1; no axioms and no conditional effects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.estimates.belief import native_belief
from hstar.estimates.rules import Likely, Mean
from hstar.models.ffnn import FFNN
from hstar.models.ffnn_config import FFNNConfig
from hstar.models.identity import RESOLUTION
from hstar.models.task_identity import TaskIdentity, atoms_of, identify
from hstar.models.trained_model import TrainedModel
from hstar.recipes.learn_heuristic import Attempt
from hstar.recipes.likely_admissible_config import NAME, LikelyAdmissibleOptions
from hstar.sampling.backward_walks import TaskWalks
from hstar.search.side_by_side import Progress, side_by_side
from hstar.search.solve import Result, SearchConfig, plan_states, solve
from hstar.spaces.puzzle import State
from hstar.spaces.task import Task, format_atom
from hstar.training.memory_buffer import Entry, plan_entries

_LOOKS = 20  # at states of the goal, before it counts as one that no action leads to


class TaskSpace:
    """A `LearningSpace` of the states of a planning task."""

    def __init__(self, task: Task, options: LikelyAdmissibleOptions) -> None:
        if not task.core.unit_cost:
            raise UnsupportedError(
                f"{task.name} has actions that do not cost 1: {NAME} counts steps; "
                "take it with --unit-cost (unit_cost=True) if that is meant"
            )
        if options.inputs != "one-hot":
            raise InputError(f"inputs of a planning task are one-hot, not {options.inputs}")
        for word, given in (("a floor is", options.floor), ("mirror images are", options.mirror)):
            if given:
                raise InputError(f"{word} for puzzles, not for planning tasks")
        self.task, self.options = task, options
        self.walks = TaskWalks(task)
        self.atoms = atoms_of(task)
        if not self.atoms:
            raise InputError(f"{task.name} has no atoms to learn from")
        self._check_goal()
        self.inputs = len(self.atoms)
        self.shape = FFNNConfig(options.hidden, options.outputs, options.left_out, sigmoid=True)
        self._facts, self._offsets = _inputs_of_facts(task, self.atoms)

    def _check_goal(self) -> None:
        rng = np.random.default_rng(self.options.seed)
        if not any(self.walks.neighbours(self.walks.goal(rng), rng) for _ in range(_LOOKS)):
            raise InputError(f"no action leads to the goal of {self.task.name}: nothing can be learned")

    @property
    def identity(self) -> dict[str, Any]:
        """Variables, facts and goal; and the start, from which a state of the goal may be sought."""
        return {"task": identify(self.task).digest, "start": list(self.task.core.initial_state)}

    def array(self, states: Sequence[State]) -> npt.NDArray[np.float32]:
        """Ones for the atoms that hold."""
        inputs = self._facts[self._offsets + np.asarray(states, dtype=np.int64)]
        found = np.zeros((len(inputs), self.inputs + 1), dtype=np.float32)  # the last one: no atom
        np.put_along_axis(found, inputs, 1.0, axis=1)
        return np.ascontiguousarray(found[:, :-1])

    def solve(self, tasks: Sequence[State], planner: FFNN, alpha: float, switch: float) -> Iterator[Attempt]:
        """By A*."""
        options = self.options
        limits = SearchConfig(time_limit=options.task_time, max_evaluations=options.nodes)
        facts = tuple(int(row) if row < self.inputs else -1 for row in self._facts)
        heuristic = _Planning(planner, planner.native().core("float32"), facts, alpha, switch)

        def search(start: Task, progress: Progress | None) -> Result:
            return solve(start, heuristic, "astar", config=limits, progress=progress)

        starts = (replace(self.task, core=self.task.core.with_initial_state(state)) for state in tasks)
        for start, result in side_by_side(starts, search, options.jobs):
            plan = None if result.actions is None else [*map(tuple, plan_states(start, result.actions))]
            yield Attempt(plan, result.generated)

    def entries(self, plan: list[State]) -> Iterator[Entry]:
        """The states of the plan."""
        yield from plan_entries(plan)

    def remembered(self, rows: Sequence[State]) -> npt.NDArray[np.float32]:
        """The atoms of these states."""
        return self.array(rows)

    def model(self, planner: FFNN, summary: dict[str, Any]) -> TrainedModel[TaskIdentity]:
        """For `hstar solve`."""
        return TrainedModel(
            space=identify(self.task),
            tensors=planner.arrays(),
            recipe=NAME,
            recipe_config=asdict(self.options),
            model=self.shape.name,
            model_config=asdict(self.shape),
            estimate=self.shape.estimate,
            rule=Mean(),
            seed=self.options.seed,
            search={"search": "astar"},
            summary=summary,
        )


@dataclass(frozen=True)
class _Planning:
    """The planning network in the search, as it is while it learns."""

    planner: FFNN
    network: _core.Network
    facts: tuple[int, ...]
    alpha: float
    switch: float

    def build(self, task: Task) -> _core.Heuristic:
        """The value that h* is not below with probability alpha; with one output the mean."""
        estimate = self.planner.config.estimate
        belief = native_belief(estimate, Mean())
        if estimate.outputs == 2:
            belief = native_belief(estimate, Likely(self.alpha), self.switch)
        model = _core.atom_model(task.core, self.network, list(self.facts))
        return _core.believed_heuristic(task.native, model, belief=belief, name=NAME, scale=RESOLUTION)


def _inputs_of_facts(
    task: Task, atoms: tuple[str, ...]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Per fact its input, and behind the last input for none; per variable where its facts begin."""
    index = {atom: number for number, atom in enumerate(atoms)}
    found: list[int] = []
    offsets: list[int] = []
    for facts in task.atoms:
        offsets.append(len(found))
        # An atom that two variables stand for counts once, as in `check_task`.
        found += [len(atoms) if atom is None else index.pop(format_atom(atom), len(atoms)) for atom in facts]
    return np.array(found, dtype=np.int64), np.array(offsets, dtype=np.int64)
