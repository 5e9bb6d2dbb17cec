"""`likely-admissible` (Marom and Rosman, ICAPS 2020): a heuristic learned from the goal alone.

LearnHeuristicPrac. Two networks learn from the plans of tasks that the learner sets itself. One knows how
unsure it is: tasks are walks from the goal to where that begins. The other one plans, with a value that is at
most h* with probability alpha, so that errors of plans do not add up from iteration to iteration.

Differences: 1. Tasks are limited by evaluated states, not by time, unless asked. 2. As in the authors'
program, not in the paper: tasks of the first iteration are one random move; the goal is learned, too; beta
stays while too few tasks are solved; variances of all states are looked at every 50 steps. 3. A step of the
planning network uses each remembered state once, where the program repeats them up to the size of the memory.
4. The network that is kept is the last one. Options are in `likely_admissible_config.py`.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from hstar.models.epistemic import epistemic_model
from hstar.models.ffnn import FFNN, FFNNConfig
from hstar.models.puzzle_model import Outputs, PuzzleModel
from hstar.recipes.likely_admissible_config import NAME, LikelyAdmissibleOptions
from hstar.recipes.puzzle_recipe import ProgressFunction, PuzzleProgress
from hstar.sampling.length_inc import length_inc_task
from hstar.sampling.uncertain_tasks import uncertain_task
from hstar.search.idastar import IDAStarConfig, IDAStarResult, idastar
from hstar.search.puzzle_features import puzzle_features
from hstar.search.puzzle_network import PuzzleNetwork
from hstar.search.side_by_side import Progress, side_by_side
from hstar.spaces.puzzle import Puzzle, State, replay
from hstar.spaces.puzzles import PuzzleSize
from hstar.training import checkpoint as checkpoints
from hstar.training.memory_buffer import MemoryBuffer, plan_entries
from hstar.training.two_networks import (
    KnownFit,
    adam,
    fit_planner,
    fit_until_known,
    from_arrays,
    seeded,
    to_arrays,
    torch_threads,
)

_WEIGHTS, _TASKS, _WALKS, _PLANNER, _KNOWN = range(5)  # purposes of random numbers


def learn_heuristic(
    puzzle: PuzzleSize,
    options: LikelyAdmissibleOptions,
    progress: ProgressFunction | None = None,
    checkpoint: Path | None = None,
) -> PuzzleModel:
    """LearnHeuristicPrac; with a checkpoint it goes on after the last whole iteration."""
    learner = Learner(puzzle, options, progress)
    if checkpoint is not None and checkpoint.exists():
        learner.restore(checkpoint)
    with torch_threads(options.threads):
        try:
            while len(learner.history) < options.iterations:
                learner.iterate()
                if checkpoint is not None:
                    learner.save(checkpoint)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{len(learner.history)} iterations done") from None
    return learner.model()


class Learner:
    """The state between iterations: two networks, a memory, alpha, beta and the switch."""

    def __init__(
        self, size: PuzzleSize, options: LikelyAdmissibleOptions, progress: ProgressFunction | None = None
    ) -> None:
        self.size, self.options, self._progress = size, options, progress
        self.started = time.monotonic()
        self.puzzle = size.puzzle()
        self.features = puzzle_features(self.puzzle, options.inputs)
        weights = seeded(options.seed, 0, _WEIGHTS)
        shape = FFNNConfig(options.hidden, options.outputs, options.dropout)
        self.planner = FFNN(self.features.inputs, shape, weights)
        self.known: Any = epistemic_model(
            options.uncertainty, self.features.inputs, options.epistemic(), weights
        )
        self.planner_optimizer = adam(self.planner.parameters(), options.learning_rate)
        self.known_optimizer = adam(self.known.parameters(), options.known_learning_rate)
        self.buffer = MemoryBuffer(options.buffer)
        self.alpha, self.beta = options.alpha, options.beta
        self.gamma = (options.last_beta / options.beta) ** (1 / options.iterations)
        self.switch = -math.inf
        self.history: list[dict[str, Any]] = []

    def iterate(self) -> None:
        """One iteration."""
        options, iteration = self.options, len(self.history) + 1
        alpha, beta, before = self.alpha, self.beta, time.monotonic()
        # 1. Make tasks and solve them, 2. remember the states of the plans.
        self._tell("making tasks")
        tasks = [self.generate_task(iteration, number) for number in range(options.tasks)]
        results = self.solve(tasks)
        plans = [
            replay(self.size.puzzle(task), result.actions)
            for task, result in zip(tasks, results, strict=True)
            if result.actions is not None
        ]
        for plan in plans:
            self.buffer.add(plan_entries(plan))
        # 3. If too few are solved, be less cautious.
        enough = len(plans) >= options.least_solved
        if not enough:
            self.alpha = max(round(self.alpha - options.alpha_step, 9), options.least_alpha)
        # 4. The planning network learns all that is remembered, 5. the other one until it is sure of it.
        learned: dict[str, Any] = {}
        if len(self.buffer):
            x, y = self._inputs(self.buffer.states), torch.from_numpy(self.buffer.costs)
            self._tell("the planning network learns")
            generator = seeded(options.seed, iteration, _PLANNER)
            fit = fit_planner(self.planner, self.planner_optimizer, x, y, options.planner_steps, generator)
            learned = {f"planner_{name}": value for name, value in asdict(fit).items()}
            self.switch = float(np.quantile(self.buffer.costs, options.quantile))
            if options.tasks_by == "uncertainty":
                self._tell("the network of the unknown learns")
                known = self.become_sure(x, y, iteration)
                learned |= {f"known_{name}": value for name, value in asdict(known).items()}
                # 6. If it does not come to that, give less weight to the prior.
                if not known.reached and enough and iteration > 1:
                    self.beta *= self.gamma
        lengths = [len(plan) - 1 for plan in plans]
        self.history.append(
            {
                "iteration": iteration,
                "tasks": len(tasks),
                "solved": len(plans),
                "mean_cost": float(np.mean(lengths)) if lengths else None,
                "longest": max(lengths, default=None),
                "generated": sum(result.generated for result in results),
                "alpha": alpha,
                "beta": beta,
                "switch": self.switch if len(self.buffer) else None,
                "states": len(self.buffer),
                **learned,
                "time_s": round(time.monotonic() - before, 3),
            }
        )

    # The steps.

    def generate_task(self, iteration: int, number: int) -> State:
        """A state to start from; in the first iteration nothing is known, and it is one random move away."""
        options = self.options
        rng = np.random.default_rng((options.seed, iteration, _TASKS, number))
        if options.tasks_by == "length-inc":
            return length_inc_task(self.puzzle, iteration, options.length_inc, rng)
        if iteration == 1:
            return length_inc_task(self.puzzle, 1, 1, rng)
        noise = seeded(options.seed, iteration, _WALKS, number)
        return uncertain_task(
            self.puzzle,
            lambda states: self.known.uncertainty(self._inputs(states), noise).double().numpy(),
            rng,
            epsilon=options.epsilon,
            max_steps=options.max_steps,
            softmax=options.softmax,
        )

    def solve(self, tasks: list[State]) -> list[IDAStarResult]:
        """By the planning network as it is; above the quantile of learned costs its spread is 1 move."""
        options = self.options
        heuristic = self.network(self.alpha if options.outputs == 2 else None, self.switch)
        limits = IDAStarConfig(time_limit=options.task_time, max_evaluations=options.nodes)

        def search(puzzle: Puzzle, progress: Progress | None) -> IDAStarResult:
            return idastar(puzzle, heuristic, limits, progress=progress)

        results = []
        puzzles = map(self.size.puzzle, tasks)
        for _, result in side_by_side(puzzles, search, options.jobs):
            results.append(result)
            self._tell(f"{sum(one.solved for one in results)} of {len(results)} tasks solved")
        return results

    def become_sure(self, x: Tensor, y: Tensor, iteration: int) -> KnownFit:
        """The network of the unknown learns until no remembered state is unknown, or long enough."""
        options = self.options
        return fit_until_known(
            self.known,
            self.known_optimizer,
            x,
            y,
            seeded(options.seed, iteration, _KNOWN),
            beta=self.beta,
            threshold=options.kappa * options.epsilon,
            steps=options.known_steps,
            batch=options.known_batch,
            stop_early=iteration > 1,
        )

    # The parts.

    @property
    def outputs(self) -> Outputs:
        """What the outputs of the planning network mean."""
        made = self.planner.config
        admissible = self.options.inputs == "databases"
        return Outputs(made.scale, made.lowest_rho, made.highest_rho, floor_admissible=admissible)

    def network(self, alpha: float | None, switch: float | None = None) -> PuzzleNetwork:
        """The planning network for the search."""
        fields: dict[str, Any] = {**self.planner.arrays(), **asdict(self.outputs)}
        return PuzzleNetwork(self.features, alpha=alpha, switch=switch, **fields)

    def model(self) -> PuzzleModel:
        """What is kept."""
        solved = sum(one["solved"] for one in self.history)
        return PuzzleModel(
            puzzle=self.size,
            inputs=self.options.inputs,
            weights=self.planner.arrays(),
            outputs=self.outputs,
            recipe=NAME,
            recipe_config=asdict(self.options),
            seed=self.options.seed,
            summary={
                "iterations": len(self.history),
                "tasks": sum(one["tasks"] for one in self.history),
                "solved": solved,
                "states": len(self.buffer),
                "generated": sum(one["generated"] for one in self.history),
                "alpha": self.alpha,
                "beta": self.beta,
                "time_s": round(sum(one["time_s"] for one in self.history), 3),
                "curve": self.history,
            },
        )

    def _inputs(self, states: list[State] | Any) -> Tensor:
        found: npt.NDArray[np.float32] = self.features.array(states)
        return torch.from_numpy(found)

    def _tell(self, doing: str) -> None:
        if self._progress is not None:
            time_s = time.monotonic() - self.started
            iteration, iterations = len(self.history) + 1, self.options.iterations
            self._progress(PuzzleProgress(iteration, iterations, doing, len(self.buffer), time_s))

    # The checkpoint.

    def identity(self) -> dict[str, Any]:
        """What has to be equal for going on."""
        free = {"jobs"}  # another number changes no result
        given = {name: value for name, value in asdict(self.options).items() if name not in free}
        return {"recipe": NAME, "puzzle": str(self.size), **given}

    def save(self, path: Path) -> None:
        """Everything that the next iteration depends on."""
        header = {
            "history": self.history,
            "alpha": self.alpha,
            "beta": self.beta,
            "switch": None if self.switch == -math.inf else self.switch,
        }
        parts = {
            "buffer": self.buffer.to_arrays(),
            "planner": to_arrays(self.planner, self.planner_optimizer),
            "known": to_arrays(self.known, self.known_optimizer),
        }
        tensors = {
            f"{part}/{name}": array for part, arrays in parts.items() for name, array in arrays.items()
        }
        checkpoints.write(path, self.identity(), header, tensors)

    def restore(self, path: Path) -> None:
        """What `save` wrote; an `InputError` if it is of another run."""
        header, tensors = checkpoints.read(path, self.identity())
        parts: dict[str, dict[str, npt.NDArray[Any]]] = {"buffer": {}, "planner": {}, "known": {}}
        for key, array in tensors.items():
            part, _, name = key.partition("/")
            parts[part][name] = array
        self.history = header["history"]
        self.alpha, self.beta = header["alpha"], header["beta"]
        self.switch = -math.inf if header["switch"] is None else header["switch"]
        self.buffer = MemoryBuffer.from_arrays(self.options.buffer, **parts["buffer"])
        from_arrays(self.planner, self.planner_optimizer, parts["planner"])
        from_arrays(self.known, self.known_optimizer, parts["known"])
