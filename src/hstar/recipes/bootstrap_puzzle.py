"""`bootstrap` for puzzles (Arfaee, Zilles and Holte, SoCS 2010; AIJ 2011): ever stronger heuristics.

A fixed set of random instances. In each iteration those that are left are tried with the present heuristic,
at first a symbolic one, within a limit. If enough are solved, a network learns the states of their plans and
becomes the heuristic, and they leave the set; otherwise the limit is doubled. It ends when too few are left
or the limit is too large.

Differences: limits are numbers of evaluated states; there is no stage of random walks for first heuristics
that solve nothing: make `nodes` larger.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hstar.errors import InputError
from hstar.estimates.belief import puzzle_options
from hstar.estimates.rules import Mean
from hstar.models.ffnn_config import WEIGHTS, FFNNConfig
from hstar.models.puzzle_identity import FEATURES, PuzzleIdentity
from hstar.models.trained_model import TrainedModel
from hstar.options import check_options, option
from hstar.recipes.iterations import Teller, iterate, summed
from hstar.recipes.recipe import Options, Parts, Run
from hstar.registry import unknown
from hstar.search.puzzle_features import INPUTS, puzzle_features
from hstar.search.puzzle_network import PuzzleNetwork
from hstar.search.side_by_side import Progress, side_by_side
from hstar.search.solve import Result, SearchConfig, solve
from hstar.spaces.puzzle import Puzzle, State

if TYPE_CHECKING:
    from hstar.container import Tensors

NAME = "bootstrap"
_SETS, _WEIGHTS, _LEARNING = range(3)  # purposes of random numbers


@dataclass(frozen=True)
class BootstrapOptions:
    """Options of the instances, of planning, and of the network."""

    instances: int = option(500, "Random instances to learn from.", least=1)
    least_solved: int = option(
        75, "Solved instances of an iteration to learn from; else the limit grows.", least=1
    )
    first: str | None = option(None, "The first heuristic; the strongest one of the puzzle.")
    nodes: int = option(1_000_000, "Evaluated states at which an instance is put off, at first.", least=1)
    most_nodes: int = option(512_000_000, "The same at the end.", least=1)
    inputs: str = option("one-hot", f"What the network sees: {', '.join(INPUTS)}.", words=INPUTS)
    hidden: int = option(20, "Hidden units.", least=1)
    planner_steps: int = option(1000, "Steps of a network, at most.", least=1)
    learning_rate: float = option(1e-3, "Of a network.", above=0)
    seed: int = option(0, "Of all random choices.")
    threads: int = option(1, "Of torch; another number can change the last bits.", least=1)
    jobs: int = option(1, "Instances tried at a time.", least=1)

    def __post_init__(self) -> None:
        check_options(self)
        if self.least_solved > self.instances:
            raise InputError(f"least_solved ({self.least_solved}) is above instances ({self.instances})")


class BootstrapPuzzle:
    """For all instances of a puzzle of one size."""

    takes: ClassVar[tuple[str, ...]] = ("checkpoint",)

    def parts(self, options: Options) -> dict[str, type[Any]]:
        """One."""
        return {"recipe": BootstrapOptions}

    def profiles(self, options: Options, source: Any) -> dict[str, Options]:
        """The network of `likely-admissible` for the puzzle."""
        large = str(source) in ("tiles:5x5", "pancake:24", "blocks:15")
        return {"default": {"inputs": "databases", "hidden": 8} if large else {}}

    def learn(self, source: Puzzle, parts: Parts, run: Run) -> TrainedModel[PuzzleIdentity]:
        """The last heuristic; an `InputError` if the first one solved too little to learn from."""
        from hstar.training.two_networks import torch_threads

        learner = _Learner(source, parts["recipe"], run)
        with torch_threads(parts["recipe"].threads):
            iterate(learner, run.checkpoint)
        return learner.model()


class _Learner:
    """The state between iterations: the instances that are left, the limit and the heuristic."""

    def __init__(self, puzzle: Puzzle, options: BootstrapOptions, run: Run) -> None:
        self.puzzle, self.options, self._teller = puzzle, options, Teller(run)
        names = [info.name for info in puzzle.core.heuristics]
        self.first = options.first or names[0]
        if self.first not in names:
            raise unknown(f"heuristic of {puzzle}", self.first, names)
        self.features = puzzle_features(puzzle, options.inputs)
        self.limit = options.nodes
        seeds = np.random.SeedSequence((options.seed, _SETS)).generate_state(options.instances, np.uint64)
        self.left: list[State] = [puzzle.random(int(seed)).start for seed in seeds]
        self.weights: Tensors = {}
        self.learned_states = 0
        self.history: list[dict[str, Any]] = []

    def finished(self) -> bool:
        """Whether too few instances are left, or the limit is too large."""
        return len(self.left) < self.options.least_solved or self.limit > self.options.most_nodes

    def iterate(self) -> None:
        """Tries all that is left, then learns or doubles the limit."""
        before, tried, limit = time.monotonic(), len(self.left), self.limit
        heuristic = self.network() if self.weights else self.first
        config = SearchConfig(max_evaluations=limit)

        def search(puzzle: Puzzle, progress: Progress | None) -> Result:
            return solve(puzzle, heuristic, "idastar", config=config, progress=progress)

        plans, left, generated = [], [], 0
        for puzzle, result in side_by_side(map(self.puzzle.at, self.left), search, self.options.jobs):
            generated += result.generated
            if result.states is None:
                left.append(puzzle.start)
            else:
                plans.append(list(result.states))
            self._tell(f"{len(plans)} of {len(plans) + len(left)} solved")
        learns = len(plans) >= self.options.least_solved
        if learns:
            self._tell("learning")
            self._learn(plans)
            self.left = left
        else:
            self.limit *= 2
        self.history.append(
            {
                "iteration": len(self.history) + 1,
                "tasks": tried,
                "solved": len(plans),
                "nodes": limit,
                "generated": generated,
                "learned": learns,
                "states": self.learned_states,
                "time_s": round(time.monotonic() - before, 3),
            }
        )

    def _learn(self, plans: list[list[State]]) -> None:
        """A new network, from the states of these plans."""
        import torch

        from hstar.models.ffnn import FFNN
        from hstar.training.memory_buffer import MemoryBuffer, plan_entries
        from hstar.training.two_networks import adam, fit_planner, seeded

        options, iteration = self.options, len(self.history) + 1
        buffer = MemoryBuffer(sum(map(len, plans)))
        for plan in plans:
            buffer.add(plan_entries(plan))
        weights = seeded(options.seed, iteration, _WEIGHTS)
        network = FFNN(self.features.inputs, self.shape, weights)
        x, y = torch.from_numpy(self.features.array(buffer.states)), torch.from_numpy(buffer.costs)
        optimizer = adam(network.parameters(), options.learning_rate)
        fit_planner(
            network, optimizer, x, y, options.planner_steps, seeded(options.seed, iteration, _LEARNING)
        )
        self.weights, self.learned_states = dict(network.arrays()), len(buffer)

    @property
    def shape(self) -> FFNNConfig:
        """One output, in units of ten moves."""
        return FFNNConfig(self.options.hidden, outputs=1)

    @property
    def floor(self) -> bool:
        """Whether no value is below the admissible features."""
        return self.options.inputs == "databases"

    def network(self) -> PuzzleNetwork:
        """The heuristic that was learned last."""
        fields: dict[str, Any] = {**self.weights, **puzzle_options(self.shape.estimate, Mean())}
        return PuzzleNetwork(self.features, scale=self.shape.scale, floor_admissible=self.floor, **fields)

    def model(self) -> TrainedModel[PuzzleIdentity]:
        """What is kept."""
        if not self.weights:
            most = max(one["solved"] for one in self.history)
            raise InputError(
                f"{self.first} solved {most} of {self.options.instances} instances, less than "
                f"{self.options.least_solved} to learn from; raise nodes"
            )
        return TrainedModel(
            space=PuzzleIdentity(self.puzzle),
            encoder=self.options.inputs,
            model=self.shape.name,
            model_config=asdict(self.shape),
            tensors=self.weights,
            estimate=self.shape.estimate,
            rule=Mean(),
            lower=FEATURES if self.floor else None,
            search={"search": "idastar"},
            recipe=NAME,
            recipe_config=asdict(self.options),
            seed=self.options.seed,
            summary={
                **summed(self.history),
                "tasks": self.options.instances,
                "solved": self.options.instances - len(self.left),
                "states": self.learned_states,
            },
        )

    def _tell(self, doing: str) -> None:
        self._teller(doing, len(self.history), self.learned_states)

    def identity(self) -> dict[str, Any]:
        """What has to be equal for going on."""
        given = {name: value for name, value in asdict(self.options).items() if name != "jobs"}
        return {"recipe": NAME, "puzzle": str(self.puzzle), **given}

    def save(self, path: Path) -> None:
        """Everything that the next iteration depends on."""
        from hstar.training import checkpoint

        header = {"history": self.history, "limit": self.limit, "learned_states": self.learned_states}
        left = np.array(self.left, dtype=np.int32).reshape(len(self.left), len(self.puzzle.goal))
        checkpoint.write(path, self.identity(), header, {"left": left, **self.weights})

    def restore(self, path: Path) -> None:
        """What `save` wrote; an `InputError` if it is of another run."""
        from hstar.training import checkpoint

        header, tensors = checkpoint.read(path, self.identity())
        self.history, self.limit = header["history"], header["limit"]
        self.learned_states = header["learned_states"]
        self.left = [tuple(state) for state in tensors["left"].tolist()]
        self.weights = {name: tensors[name] for name in WEIGHTS if name in tensors}
