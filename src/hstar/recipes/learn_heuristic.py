"""LearnHeuristicPrac (Marom and Rosman, ICAPS 2020), the algorithm of `likely-admissible`.

Two networks learn from the plans of tasks that the learner sets itself. One knows how
unsure it is: tasks are walks from the goal to where that begins. The other one plans, with a value that is at
most h* with probability alpha, so that errors of plans do not add up from iteration to iteration.

Differences: 1. Tasks are limited by evaluated states, not by time, unless asked. 2. As in the authors'
program, not in the paper: tasks of the first iteration are one random move; the goal is learned, too; equal
pairs of state and cost are remembered once; the planning network stops once every remembered state is learned
to less than half a move; beta stays while too few tasks are solved; variances of all states are looked at
every 50 steps. 3. A step of the planning network uses each remembered state once, where the program repeats
them up to the size of the memory. 4. The network that is kept is the last one; the program keeps the one
before. 5. A walk may have `max_steps` moves, in the program one less. 6. The network of the unknown has at
most 100 rounds of 50 steps, which is what the paper says; the program has 101. 7. From the quantile y^q of
learned costs on sigma is 1 move, whatever epsilon is; in the paper its square is epsilon, which is 1 there.
Not published, and both in the profile `quick`: with the quantile 1 sigma is as learned everywhere; with
`regain` alpha, which falls while too few tasks are solved, rises again while all are. Not published either:
with `mirror` the images of plans are learned. A plan is found where the values of the network fit together,
so that it confirms them, right or wrong; the states of its image were not chosen by them.

What differs between spaces is a `LearningSpace`: see `likely_admissible_puzzle.py`,
`likely_admissible_task.py` and `likely_admissible_states.py`. Options are in `likely_admissible_config.py`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from hstar.models.epistemic import epistemic_model
from hstar.models.ffnn import FFNN
from hstar.models.ffnn_config import FFNNConfig
from hstar.recipes.iterations import Teller, iterate, summed
from hstar.recipes.likely_admissible_config import NAME, LikelyAdmissibleOptions
from hstar.recipes.recipe import Run
from hstar.sampling.backward_walks import BackwardWalks
from hstar.sampling.length_inc import length_inc_task
from hstar.sampling.uncertain_tasks import uncertain_task
from hstar.spaces.puzzle import State
from hstar.training import checkpoint as checkpoints
from hstar.training.memory_buffer import Entry, MemoryBuffer
from hstar.training.two_networks import (
    KnownFit,
    KnownSettings,
    adam,
    check_variance,
    fit_planner,
    fit_until_known,
    from_arrays,
    seeded,
    to_arrays,
    torch_threads,
)

_WEIGHTS, _TASKS, _WALKS, _PLANNER, _KNOWN = range(5)  # purposes of random numbers


M_co = TypeVar("M_co", covariant=True)


@dataclass(frozen=True)
class Attempt:
    """What came of a task: the states of its plan from start to goal, None if it was given up."""

    plan: list[Any] | None
    generated: int


class LearningSpace(Protocol[M_co]):
    """What is learned about. States are hashable; costs are in moves, each an action of usual cost."""

    inputs: int  # numbers that the networks see of a state
    shape: FFNNConfig  # of the planning network

    @property
    def walks(self) -> BackwardWalks:
        """Where tasks come from."""

    @property
    def identity(self) -> dict[str, Any]:
        """Plain data that a checkpoint has to share."""

    def array(self, states: Sequence[Any]) -> npt.NDArray[np.float32]:
        """What the networks see of states, (states, inputs)."""

    def entries(self, plan: list[Any]) -> Iterator[Entry]:
        """What is remembered of a plan and its images: rows of numbers that stand for states, with costs."""

    def remembered(self, rows: Sequence[State]) -> npt.NDArray[np.float32]:
        """What the networks see of such rows."""

    def solve(self, tasks: Sequence[Any], planner: FFNN, alpha: float, switch: float) -> Iterator[Attempt]:
        """Plans by the network's value for alpha, in the order of the tasks.

        From means of `switch` on its spread is taken for 1 move: it has learned nothing so far away.
        """

    def model(self, planner: FFNN, summary: dict[str, Any]) -> M_co:
        """What is kept."""


def learn_heuristic(space: LearningSpace[M_co], options: LikelyAdmissibleOptions, run: Run) -> M_co:
    """LearnHeuristicPrac; with a checkpoint it goes on after the last whole iteration."""
    learner = Learner(space, options, run)
    with torch_threads(options.threads):
        iterate(learner, run.checkpoint)
    return learner.model()


class Learner(Generic[M_co]):
    """The state between iterations: two networks, a memory, alpha, beta and the switch."""

    def __init__(
        self, space: LearningSpace[M_co], options: LikelyAdmissibleOptions, run: Run | None = None
    ) -> None:
        self.space, self.options = space, options
        self._teller = Teller(run or Run(), options.iterations)
        weights = seeded(options.seed, 0, _WEIGHTS)
        self.planner = FFNN(space.inputs, space.shape, weights)
        self.known: Any = epistemic_model(options.uncertainty, space.inputs, options.epistemic(), weights)
        self.planner_optimizer = adam(self.planner.parameters(), options.learning_rate)
        self.known_optimizer = adam(self.known.parameters(), options.known_learning_rate)
        self.buffer = MemoryBuffer(options.buffer)
        self.alpha, self.beta = options.alpha, options.beta
        self.gamma = (options.last_beta / options.beta) ** (1 / options.iterations)
        self.switch = -math.inf
        self.history: list[dict[str, Any]] = []

    def finished(self) -> bool:
        """Whether all iterations are done."""
        return len(self.history) >= self.options.iterations

    def iterate(self) -> None:
        """One iteration."""
        options, iteration = self.options, len(self.history) + 1
        alpha, beta, before = self.alpha, self.beta, time.monotonic()
        # 1. Make tasks and solve them, 2. remember the states of the plans.
        self._tell("making tasks")
        tasks = [self.generate_task(iteration, number) for number in range(options.tasks)]
        attempts = self.solve(tasks)
        plans = [attempt.plan for attempt in attempts if attempt.plan is not None]
        for plan in plans:
            self.buffer.add(self.space.entries(plan))
        # 3. If too few are solved, be less cautious.
        enough = len(plans) >= options.least_solved
        if not enough:
            self.alpha = max(round(self.alpha - options.alpha_step, 9), options.least_alpha)
        elif options.regain and len(plans) == len(tasks):
            self.alpha = min(round(self.alpha + options.alpha_step, 9), options.alpha)
        # 4. The planning network learns all that is remembered, 5. the other one until it is sure of it.
        learned: dict[str, Any] = {}
        if len(self.buffer):
            x = torch.from_numpy(self.space.remembered(self.buffer.states))
            y = torch.from_numpy(self.buffer.costs)
            self._tell("the planning network learns")
            generator = seeded(options.seed, iteration, _PLANNER)
            fit = fit_planner(self.planner, self.planner_optimizer, x, y, options.planner_steps, generator)
            learned = {f"planner_{name}": value for name, value in asdict(fit).items()}
            self.switch = self.learned_up_to()
            if options.tasks_by == "uncertainty":
                self._tell("the network of the unknown learns")
                known = self.become_sure(x, y, iteration)
                learned |= {f"known_{name}": value for name, value in asdict(known).items()}
                # 6. If it does not come to that, give less weight to the prior.
                if not known.reached and enough and iteration > 1:
                    self.beta *= self.gamma
        lengths = [len(plan) - 1 for plan in plans]  # in actions
        self.history.append(
            {
                "iteration": iteration,
                "tasks": len(tasks),
                "solved": len(plans),
                "mean_cost": float(np.mean(lengths)) if lengths else None,
                "longest": max(lengths, default=None),
                "generated": sum(attempt.generated for attempt in attempts),
                "alpha": alpha,
                "beta": beta,
                "switch": self.switch if math.isfinite(self.switch) else None,
                "states": len(self.buffer),
                **learned,
                "time_s": round(time.monotonic() - before, 3),
            }
        )

    # The steps.

    def generate_task(self, iteration: int, number: int) -> Any:
        """A state to start from; in the first iteration nothing is known, and it is one random move away."""
        options = self.options
        rng = np.random.default_rng((options.seed, iteration, _TASKS, number))
        if options.tasks_by == "length-inc":
            return length_inc_task(self.space.walks, iteration, options.length_inc, rng)
        if iteration == 1:
            return length_inc_task(self.space.walks, 1, 1, rng)
        noise = seeded(options.seed, iteration, _WALKS, number)
        return uncertain_task(
            self.space.walks,
            lambda states: self._variances(states, noise),
            rng,
            epsilon=options.epsilon,
            max_steps=options.max_steps,
            softmax=options.softmax,
        )

    def solve(self, tasks: list[Any]) -> list[Attempt]:
        """By the planning network as it is."""
        attempts: list[Attempt] = []
        for attempt in self.space.solve(tasks, self.planner, self.alpha, self.switch):
            attempts.append(attempt)
            solved = sum(one.plan is not None for one in attempts)
            self._tell(f"{solved} of {len(attempts)} tasks solved")
        return attempts

    def become_sure(self, x: Tensor, y: Tensor, iteration: int) -> KnownFit:
        """The network of the unknown learns until no remembered state is unknown, or long enough."""
        options = self.options
        threshold = options.kappa * options.epsilon
        settings = KnownSettings(
            self.beta, threshold, options.known_steps, options.known_batch, stop_early=iteration > 1
        )
        generator = seeded(options.seed, iteration, _KNOWN)
        return fit_until_known(self.known, self.known_optimizer, x, y, generator, settings)

    def learned_up_to(self) -> float:
        """The switch: the cost beyond which too little is remembered for a spread of its own."""
        quantile = self.options.quantile
        return math.inf if quantile == 1 else float(np.quantile(self.buffer.costs, quantile))

    # What comes of it.

    def model(self) -> M_co:
        """What is kept."""
        found = {"states": len(self.buffer), "alpha": self.alpha, "beta": self.beta}
        summary = {**found, **summed(self.history)}
        return self.space.model(self.planner, summary)

    def _variances(self, states: Sequence[Any], noise: torch.Generator) -> npt.NDArray[np.float64]:
        inputs = torch.from_numpy(self.space.array(states))
        found: npt.NDArray[np.float64] = self.known.uncertainty(inputs, noise).double().numpy()
        check_variance(float(found.max()))
        return found

    def _tell(self, doing: str) -> None:
        self._teller(doing, len(self.history), len(self.buffer))

    # The checkpoint.

    def identity(self) -> dict[str, Any]:
        """What has to be equal for going on."""
        free = {"jobs"}  # another number changes no result
        given = {name: value for name, value in asdict(self.options).items() if name not in free}
        return {"recipe": NAME, **self.space.identity, **given}

    def save(self, path: Path) -> None:
        """Everything that the next iteration depends on."""
        header = {
            "history": self.history,
            "alpha": self.alpha,
            "beta": self.beta,
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
        self.buffer = MemoryBuffer.from_arrays(self.options.buffer, **parts["buffer"])
        self.switch = self.learned_up_to() if len(self.buffer) else -math.inf
        from_arrays(self.planner, self.planner_optimizer, parts["planner"])
        from_arrays(self.known, self.known_optimizer, parts["known"])
