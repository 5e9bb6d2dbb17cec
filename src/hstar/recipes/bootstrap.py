"""`bootstrap` (Arfaee, Zilles and Holte, SoCS 2010; AIJ 2011): from a weak heuristic to ever stronger ones.

In each iteration starts are tried with the present heuristic within a limit; at first that is a symbolic one.
A network learns the states of the plans and becomes the heuristic. If too few starts are solved, the limit is
doubled.

Puzzles, as in the paper: a fixed set of random instances. If enough of those that are left are solved, the
network learns from their plans alone, and they leave the set. It ends when too few are left or the limit is
too large.

Own spaces, of which only functions are known (`successors` and `encode` are enough): random walks give the
starts. They begin at the goals and go backwards where the space has `goals` and `predecessors`, and else
begin at its start. The first heuristic is the space's own lower bound, or zero. If enough are solved, the
next walks are twice as long.

Differences: 1. limits are numbers of evaluated states. 2. For puzzles there is no stage of random walks for
first heuristics that solve nothing: make `nodes` larger. 3. For own spaces starts are drawn anew in each
iteration, and the network learns from all plans so far, each state with the least cost that was found for it.

Invariant: labels are costs of plans, and so upper bounds of h*.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hstar.errors import InputError
from hstar.estimates.rules import Mean
from hstar.models.ffnn_config import WEIGHTS, FFNNConfig
from hstar.models.puzzle_identity import FEATURES, PuzzleIdentity
from hstar.models.trained_model import TrainedModel
from hstar.options import Checked, check_options, option
from hstar.recipes.fitted_states import StatesMethod, check_space, learned_own
from hstar.recipes.iterations import Learner
from hstar.recipes.recipe import Method, Options, Parts, Recipe, Run, enter
from hstar.registry import unknown
from hstar.search.config import SearchConfig
from hstar.search.puzzle_network import INPUTS, PuzzleNetwork, puzzle_features
from hstar.search.side_by_side import Progress, side_by_side
from hstar.search.solve import Result, searches, solve
from hstar.spaces.own import OwnProblem
from hstar.spaces.puzzle import Puzzle, State

if TYPE_CHECKING:
    from hstar.container import Tensors
    from hstar.training.examples import OwnExamples

NAME = "bootstrap"
SHARE = 0.5  # of the starts in an own space that must be solved for longer walks
_SETS, _WEIGHTS, _LEARNING = range(3)  # purposes of random numbers


class Bootstrap(Learner):
    """The state between iterations: the limit and the present heuristic."""

    search: str
    jobs = 1
    weight = 1.0

    def __init__(self, problem: Any, first: str, nodes: int, run: Run, iterations: int | None = None) -> None:
        super().__init__(run, iterations)
        self.problem, self.first, self.limit = problem, first, nodes
        self.present: TrainedModel[Any] | None = None

    @abstractmethod
    def starts(self) -> Sequence[Any]:
        """What is tried in the next iteration."""

    @abstractmethod
    def learn(self, plans: list[list[Any]], left: list[Any]) -> tuple[bool, dict[str, Any]]:
        """Learns from plans and keeps the starts without one; whether they are enough, and for the record."""

    @abstractmethod
    def nothing_learned(self) -> str:
        """The message if no plans were found to learn from."""

    def step(self) -> dict[str, Any]:
        # 1. Try the starts with the present heuristic.
        starts, limit = self.starts(), self.limit
        heuristic = self.first if self.present is None else self.built(self.present)
        config = SearchConfig(max_evaluations=limit, weight=self.weight)

        def search(problem: Any, progress: Progress | None) -> Result:
            return solve(problem, heuristic, self.search, config=config, progress=progress)

        plans, left, generated = [], [], 0
        for problem, result in side_by_side(map(self.problem.at, starts), search, self.jobs):
            generated += result.generated
            if result.states is None:
                left.append(problem.start)
            else:
                plans.append(list(result.states))
            self.tell(f"{len(plans)} of {len(plans) + len(left)} solved")
        # 2. Learn from the plans. 3. If they are too few, search longer.
        self.tell("learning")
        enough, record = self.learn(plans, left)
        if not enough:
            self.limit *= 2
        counts = {"tasks": len(starts), "solved": len(plans), "nodes": limit, "generated": generated}
        return {**counts, **record}

    def built(self, model: TrainedModel[Any]) -> Any:
        return model.build(self.problem)

    def model(self) -> TrainedModel[Any]:
        """The last heuristic; an `InputError` if nothing was learned."""
        if self.present is None and self._stopped:
            raise KeyboardInterrupt(f"{len(self.history)} iterations done, and nothing learned")
        if self.present is None:
            raise InputError(self.nothing_learned())
        return replace(self.present, summary={**self.present.summary, **self.summary()})


# Puzzles.


@dataclass(frozen=True)
class BootstrapOptions:
    """Options of the instances, of planning, and of the network."""

    instances: int = option(500, "Number of random instances to learn from.", least=1)
    least_solved: int = option(
        75, "Solved instances of an iteration to learn from; else the limit grows.", least=1
    )
    first: str | None = option(None, "The first heuristic; the strongest one of the puzzle.")
    nodes: int = option(1_000_000, "Evaluated states at which an instance is put off, at first.", least=1)
    most_nodes: int = option(512_000_000, "Evaluated states of a search at which the training ends.", least=1)
    inputs: str = option("one-hot", f"What the network sees: {', '.join(INPUTS)}.", words=INPUTS)
    hidden: int = option(20, "Number of hidden units of the network.", least=1)
    planner_steps: int = option(1000, "Steps of a network, at most.", least=1)
    learning_rate: float = option(1e-3, "Learning rate of Adam.", above=0)
    seed: int = option(0, "Seed of all random choices.")
    threads: int = option(1, "Number of threads of torch; another number can change the last bits.", least=1)
    jobs: int = option(1, "Number of instances that are solved at a time.", least=1)

    def __post_init__(self) -> None:
        check_options(self)
        if self.least_solved > self.instances:
            raise InputError(f"least_solved ({self.least_solved}) is above instances ({self.instances})")


class BootstrapPuzzle(Method):
    """For all instances of a puzzle of one size."""

    own_options = BootstrapOptions

    def profiles(self, options: Options, source: Any) -> dict[str, Options]:
        """The network of `likely-admissible` for the puzzle."""
        large = str(source) in ("tiles:5x5", "pancake:24", "blocks:15")
        return {"default": {"inputs": "databases", "hidden": 8} if large else {}}

    def learn(self, source: Puzzle, parts: Parts, run: Run) -> TrainedModel[PuzzleIdentity]:
        from hstar.training.loop import torch_threads

        learner = OfPuzzle(source, parts["recipe"], run)
        with torch_threads(parts["recipe"].threads):
            learner.run()
        return learner.model()


class OfPuzzle(Bootstrap):
    """With the instances that are left."""

    search = "idastar"
    states = 0  # that the present network has learned

    def __init__(self, puzzle: Puzzle, options: BootstrapOptions, run: Run) -> None:
        names = [info.name for info in puzzle.core.heuristics]
        super().__init__(puzzle, options.first or names[0], options.nodes, run)
        if self.first not in names:
            raise unknown(f"heuristic of {puzzle}", self.first, names)
        self.options, self.jobs = options, options.jobs
        self.features = puzzle_features(puzzle, options.inputs)
        self.shape = FFNNConfig(options.hidden, outputs=1)
        seeds = np.random.SeedSequence((options.seed, _SETS)).generate_state(options.instances, np.uint64)
        self.left: list[State] = [puzzle.random(int(seed)).start for seed in seeds]

    def finished(self) -> bool:
        return len(self.left) < self.options.least_solved or self.limit > self.options.most_nodes

    def starts(self) -> list[State]:
        return self.left

    def built(self, model: TrainedModel[PuzzleIdentity]) -> PuzzleNetwork:
        return PuzzleNetwork(self.features, **model.network)  # databases are not read again

    def learn(self, plans: list[list[State]], left: list[State]) -> tuple[bool, dict[str, Any]]:
        """A new network, from the states of these plans."""
        import torch

        from hstar.models.ffnn import FFNN
        from hstar.training.loop import adam, seeded
        from hstar.training.memory_buffer import MemoryBuffer, plan_entries
        from hstar.training.two_networks import fit_planner

        options, iteration = self.options, len(self.history) + 1
        if len(plans) < options.least_solved:
            return False, {"learned": False}
        entries = [entry for plan in plans for entry in plan_entries(plan)]
        buffer = MemoryBuffer(len(entries), entries)
        network = FFNN(self.features.inputs, self.shape, seeded(options.seed, iteration, _WEIGHTS))
        x, y = torch.from_numpy(self.features.array(buffer.states)), torch.from_numpy(buffer.costs)
        optimizer, order = adam(network.parameters(), options.learning_rate), (options.seed, iteration)
        fit_planner(network, optimizer, x, y, options.planner_steps, seeded(*order, _LEARNING))
        self.present, self.left, self.states = self.trained(network.arrays()), left, len(buffer)
        return True, {"learned": True}

    def trained(self, weights: Tensors) -> TrainedModel[PuzzleIdentity]:
        return TrainedModel(
            space=PuzzleIdentity(self.problem),
            encoder=self.options.inputs,
            model=self.shape.name,
            model_config=asdict(self.shape),
            tensors=weights,
            estimate=self.shape.estimate,
            rule=Mean(),
            lower=FEATURES if self.options.inputs == "databases" else None,
            search={"search": self.search},
            recipe=NAME,
            recipe_config=asdict(self.options),
            seed=self.options.seed,
        )

    def nothing_learned(self) -> str:
        most = max(one["solved"] for one in self.history)
        return (
            f"{self.first} solved {most} of {self.options.instances} instances, less than "
            f"{self.options.least_solved} to learn from; raise nodes"
        )

    def summary(self) -> dict[str, Any]:
        instances = self.options.instances  # each of which may have been tried several times
        return {**super().summary(), "tasks": instances, "solved": instances - len(self.left)}

    def identity(self) -> dict[str, Any]:
        given = {name: value for name, value in asdict(self.options).items() if name != "jobs"}
        return {"recipe": NAME, "puzzle": str(self.problem), **given}

    def state(self) -> tuple[dict[str, Any], Tensors]:
        left = np.array(self.left, dtype=np.int32).reshape(len(self.left), len(self.problem.goal))
        weights = {} if self.present is None else self.present.tensors
        return {"limit": self.limit, "learned_states": self.states}, {"left": left, **weights}

    def restore(self, header: Mapping[str, Any], tensors: Tensors) -> None:
        self.limit, self.states = header["limit"], header["learned_states"]
        self.left = [tuple(state) for state in tensors["left"].tolist()]
        if WEIGHTS[0] in tensors:
            self.present = self.trained({name: tensors[name] for name in WEIGHTS})


# Own spaces.

OWN_DEFAULTS: Options = {
    "epochs": 100,
    "batch_size": 64,
    "learning_rate": 3e-3,
    "schedule": "cosine",
    "patience": 100,
}


@dataclass(frozen=True)
class BootstrapOwnOptions(Checked):
    """Options of the starts and of the searches."""

    iterations: int = option(8, "Rounds of walks, searches and learning.", least=1)
    instances: int = option(50, "Number of random starts of an iteration.", least=1)
    walk: int = option(
        4, "Most steps of the first walks; they become twice as long where most are solved.", least=1
    )
    nodes: int = option(10_000, "Evaluated states at which an instance is put off, at first.", least=1)
    search: str = option(
        "wastar", "Search that solves the instances.", words=tuple(one.name for one in searches())
    )
    weight: float = option(2.0, "Weight of the heuristic in wastar.", least=0, most=1e6)


class BootstrapOwn(StatesMethod):
    """For a space that has `encode`, from plans that it finds itself."""

    own_options, defaults = BootstrapOwnOptions, OWN_DEFAULTS

    def learn(self, source: OwnProblem, parts: Parts, run: Run) -> TrainedModel[Any]:
        check_space(source, parts["parts"])
        learner = OfOwnSpace(source, parts, run)
        learner.run()
        return learner.model()


class OfOwnSpace(Bootstrap):
    """With the states of all plans, and the length of walks."""

    def __init__(self, problem: OwnProblem, parts: Parts, run: Run) -> None:
        self.options: BootstrapOwnOptions = parts["recipe"]
        super().__init__(problem, problem.claims[0].name, self.options.nodes, run, self.options.iterations)
        self.parts, self.walk, self.search = parts, self.options.walk, self.options.search
        self.weight = self.options.weight if self.search == "wastar" else 1.0
        # By inputs: states that look alike to the network count once. Label and lower bound.
        self.entries: dict[bytes, tuple[float, float]] = {}
        space = problem.space
        backwards = hasattr(space, "predecessors") and (hasattr(space, "goals") or hasattr(space, "goal"))
        self.goals = problem.goals if backwards else []

    @property
    def states(self) -> int:
        return len(self.entries)

    def starts(self) -> list[Any]:
        """The ends of random walks."""
        generator = random.Random(f"{self.parts['training'].seed} {len(self.history)}")
        step = self.problem.predecessors if self.goals else self.problem.successors
        ends = []
        for _ in range(self.options.instances):
            state = generator.choice(self.goals) if self.goals else self.problem.start
            for _ in range(generator.randint(1, self.walk)):
                if not (steps := step(state)):
                    break
                state = generator.choice(steps)[1]
            ends.append(state)
        return ends

    def learn(self, plans: list[list[Any]], left: list[Any]) -> tuple[bool, dict[str, Any]]:
        walk, enough = self.walk, len(plans) >= SHARE * self.options.instances
        for plan in plans:
            self._keep(plan)
        if plans:
            self._fit()
        if enough:
            self.walk *= 2
        return enough, {"walk": walk}

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

    def _data(self) -> OwnExamples:
        from hstar.training.examples import OwnExamples

        inputs = np.array([np.frombuffer(key, dtype=np.float32) for key in self.entries], dtype=np.float32)
        label, lower = np.array(list(self.entries.values()), dtype=np.float32).T
        return OwnExamples(inputs, label.copy(), lower.copy() if self.problem.bounded else None)

    def _fit(self) -> None:
        run = Run(progress=lambda record: self.tell("learning"))
        self.present = learned_own(NAME, self.problem, self._data(), self.parts, run)

    def nothing_learned(self) -> str:
        return (
            f"none of {sum(one['tasks'] for one in self.history)} starts of {self.problem.name} was "
            f"solved; raise nodes ({self.options.nodes}) or shorten walk ({self.options.walk})"
        )

    def identity(self) -> dict[str, Any]:
        """All but the iterations: more may follow."""
        own = {name: value for name, value in asdict(self.options).items() if name != "iterations"}
        parts = {name: str(getattr(self.parts["parts"], name)) for name in ("model", "width", "estimate")}
        return {"recipe": NAME, "space": self.problem.name, **own, **parts, **self.parts["training"].fixed()}

    def state(self) -> tuple[dict[str, Any], Tensors]:
        """The network is learned again from its data."""
        data = asdict(self._data()) if self.entries else {}
        tensors = {name: column for name, column in data.items() if column is not None}
        return {"walk": self.walk, "limit": self.limit}, tensors

    def restore(self, header: Mapping[str, Any], tensors: Tensors) -> None:
        self.walk, self.limit = header["walk"], header["limit"]
        if "inputs" in tensors:
            lower = tensors.get("lower", np.zeros(len(tensors["label"])))
            columns = zip(tensors["inputs"], tensors["label"].tolist(), lower.tolist(), strict=True)
            self.entries = {inputs.tobytes(): (label, bound) for inputs, label, bound in columns}
            self._fit()


enter(
    Recipe(
        NAME,
        "Arfaee, Zilles and Holte, SoCS 2010",
        {"puzzle": BootstrapPuzzle(), "own": BootstrapOwn()},
    )
)
