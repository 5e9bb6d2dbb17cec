"""`bootstrap` for a user's own space (Arfaee, Zilles and Holte, SoCS 2010; AIJ 2011).

In each iteration random walks give starts, which are tried with the present heuristic within a limit; at
first that is the space's own lower bound, or zero. A network learns the states of the plans, each with the
least cost that was found for it, and becomes the heuristic. If enough starts were solved, the next walks are
twice as long; otherwise the limit is doubled.

Needs `successors` and `encode` alone. Walks begin at the goals and go backwards where the space has `goals`
and `predecessors`, and else begin at its start.

Differences: 1. starts are drawn anew in each iteration, by walks that grow, where the paper has a fixed set
of instances, and such walks only for a first heuristic that solves nothing. 2. Limits are numbers of
evaluated states. 3. The network learns from all plans so far, not from those of the iteration alone.

Invariant: labels are costs of plans, and so upper bounds of h*.
"""

from __future__ import annotations

import random
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hstar.errors import InputError
from hstar.models.own_identity import OwnIdentity
from hstar.models.trained_model import TrainedModel
from hstar.options import check_number, option, whole_number
from hstar.recipes.fitted_states import StateData, StatesMethod, check_space, learned, own_subject
from hstar.recipes.iterations import Teller, iterate, summed
from hstar.recipes.recipe import Options, Parts, Run
from hstar.registry import unknown
from hstar.search.config import SearchConfig
from hstar.search.solve import searches, solve
from hstar.spaces.own import OwnProblem

NAME = "bootstrap"
DEFAULTS: Options = {
    "epochs": 100,
    "batch_size": 64,
    "learning_rate": 3e-3,
    "schedule": "cosine",
    "patience": 100,
}
SHARE = 0.5  # of the starts that must be solved for longer walks


@dataclass(frozen=True)
class BootstrapOwnOptions:
    """Options of the starts and of the searches."""

    iterations: int = option(8, "Rounds of walks, searches and learning.")
    instances: int = option(50, "Random starts of an iteration.")
    walk: int = option(4, "Most steps of the first walks; they become twice as long where most are solved.")
    nodes: int = option(10_000, "Evaluated states at which an instance is put off, at first.")
    search: str = option("wastar", "Search that solves them.")
    weight: float = option(2.0, "Weight of the heuristic in wastar.")

    def __post_init__(self) -> None:
        for name in ("iterations", "instances", "walk", "nodes"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), 1))
        if self.search not in (known := [info.name for info in searches()]):
            raise unknown("search", self.search, known)
        check_number("weight", self.weight, 0, 1e6)


class BootstrapOwn(StatesMethod):
    """For a space that has `encode`, from plans that it finds itself."""

    options, defaults = BootstrapOwnOptions, DEFAULTS

    def learn(self, source: OwnProblem, parts: Parts, run: Run) -> TrainedModel[OwnIdentity]:
        """The last heuristic; an `InputError` if nothing was solved."""
        check_space(source, parts["parts"])
        learner = _Learner(source, parts, run)
        iterate(learner, run.checkpoint)
        return learner.model()


class _Learner:
    """The state between iterations: what was learned from, the lengths of walks, and the limit."""

    def __init__(self, problem: OwnProblem, parts: Parts, run: Run) -> None:
        self.problem, self.parts = problem, parts
        self.options: BootstrapOwnOptions = parts["recipe"]
        self._teller = Teller(run, self.options.iterations)
        self.walk, self.limit = self.options.walk, self.options.nodes
        # By inputs: states that look alike to the network count once. Label and lower bound.
        self.entries: dict[bytes, tuple[float, float]] = {}
        self.present: TrainedModel[OwnIdentity] | None = None
        self.history: list[dict[str, Any]] = []
        space = problem.space
        backwards = hasattr(space, "predecessors") and (hasattr(space, "goals") or hasattr(space, "goal"))
        self.goals = problem.goals if backwards else []

    def finished(self) -> bool:
        """Whether all iterations are done."""
        return len(self.history) >= self.options.iterations

    def iterate(self) -> None:
        """Tries starts, then learns; the next ones are harder, or have more time."""
        before, walk, limit, solved, generated = time.monotonic(), self.walk, self.limit, 0, 0
        generator = random.Random(f"{self.parts['training'].seed} {len(self.history)}")
        heuristic = self.problem.claims[0].name if self.present is None else self.present
        config = SearchConfig(max_evaluations=limit)
        if self.options.search == "wastar":
            config = replace(config, weight=self.options.weight)
        for _ in range(self.options.instances):
            start = self._start(generator)
            result = solve(self.problem.at(start), heuristic, self.options.search, config=config)
            generated += result.generated
            if result.solved and result.states is not None:
                solved += 1
                self._keep(list(result.states))
            self._tell(f"{solved} solved by walks of at most {walk}")
        if solved:
            self._learn()
        if solved >= SHARE * self.options.instances:
            self.walk *= 2
        else:
            self.limit *= 2
        self.history.append(
            {
                "iteration": len(self.history) + 1,
                "walk": walk,
                "nodes": limit,
                "tasks": self.options.instances,
                "solved": solved,
                "generated": generated,
                "states": len(self.entries),
                "time_s": round(time.monotonic() - before, 3),
            }
        )

    def _start(self, generator: random.Random) -> Any:
        """The end of a random walk."""
        state = generator.choice(self.goals) if self.goals else self.problem.start
        step = self.problem.predecessors if self.goals else self.problem.successors
        for _ in range(generator.randint(1, self.walk)):
            found = step(state)
            if not found:
                break
            state = generator.choice(found)[1]
        return state

    def _keep(self, states: list[Any]) -> None:
        """The states of a plan with what is left to the goal, unless less is known."""
        problem = self.problem
        keys, left, costs = problem.keys(states), 0, [0]
        for number in range(len(states) - 1, 0, -1):
            steps = problem.successors(states[number - 1])
            after = problem.keys([state for _, state, _ in steps])
            left += min(
                problem.functions.whole_cost(cost, states[number - 1])
                for key, (_, _, cost) in zip(after, steps, strict=True)
                if key == keys[number]
            )
            costs.append(left)
        lower = problem.bounds(states) if problem.bounded else np.zeros(len(states))
        rows = zip(problem.encoded(states), reversed(costs), lower.tolist(), strict=True)
        for inputs, cost, bound in rows:
            key, value = inputs.tobytes(), cost / problem.scale
            if key not in self.entries or value < self.entries[key][0]:
                self.entries[key] = (value, bound)

    def data(self) -> StateData:
        """What there is to learn from."""
        inputs = np.array([np.frombuffer(key, dtype=np.float32) for key in self.entries], dtype=np.float32)
        label, lower = np.array(list(self.entries.values()), dtype=np.float32).T
        return StateData(inputs, label.copy(), lower.copy() if self.problem.bounded else None)

    def _learn(self) -> None:
        run = Run(progress=lambda record: self._tell("learning"))
        self.present = learned(own_subject(NAME, self.problem), self.data(), self.parts, run)

    def model(self) -> TrainedModel[OwnIdentity]:
        """What is kept; an `InputError` if nothing was solved."""
        if self.present is None:
            raise InputError(
                f"none of {sum(one['tasks'] for one in self.history)} starts of {self.problem.name} was "
                f"solved; raise nodes ({self.options.nodes}) or shorten walk ({self.options.walk})"
            )
        summary = {**self.present.summary, **summed(self.history), "states": len(self.entries)}
        return replace(self.present, summary=summary)

    def _tell(self, doing: str) -> None:
        self._teller(doing, len(self.history), len(self.entries))

    def identity(self) -> dict[str, Any]:
        """What has to be equal for going on; more iterations may follow."""
        own = {name: value for name, value in asdict(self.options).items() if name != "iterations"}
        parts = {name: str(getattr(self.parts["parts"], name)) for name in ("model", "width", "estimate")}
        return {"recipe": NAME, "space": self.problem.name, **own, **parts, **self.parts["training"].fixed()}

    def save(self, path: Path) -> None:
        """Everything that the next iteration depends on; the network is learned again from its data."""
        from hstar.training import checkpoint

        header = {"history": self.history, "walk": self.walk, "limit": self.limit}
        data = self.data() if self.entries else None
        tensors = {} if data is None else {"inputs": data.inputs, "label": data.label}
        if data is not None and data.lower is not None:
            tensors["lower"] = data.lower
        checkpoint.write(path, self.identity(), header, tensors)

    def restore(self, path: Path) -> None:
        """What `save` wrote; an `InputError` if it is of another run."""
        from hstar.training import checkpoint

        header, tensors = checkpoint.read(path, self.identity())
        self.history, self.walk, self.limit = header["history"], header["walk"], header["limit"]
        if "inputs" in tensors:
            lower = tensors.get("lower", np.zeros(len(tensors["label"])))
            columns = zip(tensors["inputs"], tensors["label"].tolist(), lower.tolist(), strict=True)
            self.entries = {inputs.tobytes(): (label, bound) for inputs, label, bound in columns}
            self._learn()
