"""LearnHeuristicPrac (Marom and Rosman, ICAPS 2020), the algorithm of `likely-admissible`.

Two networks learn from the plans of tasks that the learner sets itself. One knows how unsure it is: tasks are
walks from the goal to where that begins. The other one plans, with a value that is at most h* with
probability alpha, so that errors of plans do not add up from iteration to iteration.

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

What differs between spaces is a `LearningSpace` (`likely_admissible_spaces.py`). Options are in
`likely_admissible.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from hstar.container import Tensors
from hstar.models.epistemic import epistemic_model
from hstar.models.ffnn import FFNN
from hstar.models.trained_model import TrainedModel
from hstar.recipes.iterations import Learner
from hstar.recipes.likely_admissible import NAME, LikelyAdmissibleOptions
from hstar.recipes.likely_admissible_spaces import Attempt, LearningSpace
from hstar.recipes.recipe import Run
from hstar.sampling.uncertain_tasks import uncertain_task
from hstar.training.checkpoint import from_arrays, to_arrays
from hstar.training.loop import adam, seeded, torch_threads
from hstar.training.memory_buffer import MemoryBuffer
from hstar.training.two_networks import KnownFit, KnownSettings, check_variance, fit_planner, fit_until_known

_WEIGHTS, _TASKS, _WALKS, _PLANNER, _KNOWN = range(5)  # purposes of random numbers


class LearnHeuristicPrac(Learner):
    """The state between iterations: two networks, a memory, alpha, beta and the switch."""

    def __init__(
        self, space: LearningSpace, options: LikelyAdmissibleOptions, run: Run | None = None
    ) -> None:
        super().__init__(run or Run(), options.iterations)
        self.space, self.options = space, options
        weights = seeded(options.seed, 0, _WEIGHTS)
        self.planner = FFNN(space.inputs, space.shape, weights)
        self.known: Any = epistemic_model(options.uncertainty, space.inputs, options.epistemic(), weights)
        self.planner_optimizer = adam(self.planner.parameters(), options.learning_rate)
        self.known_optimizer = adam(self.known.parameters(), options.known_learning_rate)
        self.buffer = MemoryBuffer(options.buffer)
        self.alpha, self.beta = options.alpha, options.beta
        self.gamma = (options.last_beta / options.beta) ** (1 / options.iterations)
        self.switch = -math.inf

    @property
    def states(self) -> int:
        return len(self.buffer)

    def learn(self) -> TrainedModel[Any]:
        with torch_threads(self.options.threads):
            self.run()
        summary = {"alpha": self.alpha, "beta": self.beta, **self.summary()}
        return self.space.model(self.planner, summary)

    def step(self) -> dict[str, Any]:
        options, iteration = self.options, len(self.history) + 1
        alpha, beta = self.alpha, self.beta
        # 1. Make tasks and solve them, 2. remember the states of the plans.
        self.tell("making tasks")
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
            self.tell("the planning network learns")
            generator = seeded(options.seed, iteration, _PLANNER)
            fit = fit_planner(self.planner, self.planner_optimizer, x, y, options.planner_steps, generator)
            learned = {f"planner_{name}": value for name, value in asdict(fit).items()}
            self.switch = self.learned_up_to()
            if options.tasks_by == "uncertainty":
                self.tell("the network of the unknown learns")
                known = self.become_sure(x, y, iteration)
                learned |= {f"known_{name}": value for name, value in asdict(known).items()}
                # 6. If it does not come to that, give less weight to the prior.
                if not known.reached and enough and iteration > 1:
                    self.beta *= self.gamma
        lengths = [len(plan) - 1 for plan in plans]  # in actions
        return {
            "tasks": len(tasks),
            "solved": len(plans),
            "mean_cost": float(np.mean(lengths)) if lengths else None,
            "longest": max(lengths, default=None),
            "generated": sum(attempt.generated for attempt in attempts),
            "alpha": alpha,
            "beta": beta,
            "switch": self.switch if math.isfinite(self.switch) else None,
            **learned,
        }

    def generate_task(self, iteration: int, number: int) -> Any:
        """A state to start from; in the first iteration nothing is known, and it is one random move away."""
        options = self.options
        rng = np.random.default_rng((options.seed, iteration, _TASKS, number))
        if options.tasks_by == "length-inc":  # as Arfaee, Zilles and Holte (SoCS 2010) make tasks
            return self.space.walks.walk(iteration * options.length_inc, rng)
        if iteration == 1:
            return self.space.walks.walk(1, rng)
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
            self.tell(f"{solved} of {len(attempts)} tasks solved")
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

    def _variances(self, states: Sequence[Any], noise: torch.Generator) -> npt.NDArray[np.float64]:
        inputs = torch.from_numpy(self.space.array(states))
        found: npt.NDArray[np.float64] = self.known.uncertainty(inputs, noise).double().numpy()
        check_variance(float(found.max()))
        return found

    # The checkpoint.

    def identity(self) -> dict[str, Any]:
        free = {"jobs"}  # another number changes no result
        given = {name: value for name, value in asdict(self.options).items() if name not in free}
        return {"recipe": NAME, **self.space.identity, **given}

    def state(self) -> tuple[dict[str, Any], Tensors]:
        parts = {
            "buffer": self.buffer.to_arrays(),
            "planner": to_arrays(self.planner, self.planner_optimizer),
            "known": to_arrays(self.known, self.known_optimizer),
        }
        tensors = {
            f"{part}/{name}": array for part, arrays in parts.items() for name, array in arrays.items()
        }
        return {"alpha": self.alpha, "beta": self.beta}, tensors

    def restore(self, header: Mapping[str, Any], tensors: Tensors) -> None:
        parts: dict[str, dict[str, npt.NDArray[Any]]] = {"buffer": {}, "planner": {}, "known": {}}
        for key, array in tensors.items():
            part, _, name = key.partition("/")
            parts[part][name] = array
        self.alpha, self.beta = header["alpha"], header["beta"]
        self.buffer = MemoryBuffer.from_arrays(self.options.buffer, **parts["buffer"])
        self.switch = self.learned_up_to() if len(self.buffer) else -math.inf
        from_arrays(self.planner, self.planner_optimizer, parts["planner"])
        from_arrays(self.known, self.known_optimizer, parts["known"])
