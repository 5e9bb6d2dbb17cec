"""`prolonged` for maps ("Value Function Learning via Prolonged Backward Heuristic Search"): their values.

1. Scenarios: random maps, or maps that are given, each with a start and a goal.
2. Prolonged backward search labels the states around the optimal path of each with their cost-to-go.
3. A network learns the labels under a loss that fears values that are too high.
4. `grid_astar` searches with the network's value map, bounded: min(max(h_adm, h), eps * h_adm).

Everything can be exchanged: the sampler (`optimal-path` is the vanilla data set of the paper, `dijkstra` all
states from which there is a way), the network (`models/grid_config.py`), the estimate, and the maps, which
are lattices if they have headings.

Differences: 1. states that were seen but not closed have upper bounds as labels and are left out; the paper
takes them for exact (`open_states`, and the profile `paper`). 2. The paper says nothing of k_pr: 2 here, and
in `paper` what gives as many labels as it reports. 3. A share of the scenarios is held out, and the weights
that are best on them are kept; `paper` learns from all of its 531, has 59 more to watch the loss, and keeps
the weights of its last step. 4. By default scenarios are seen from all eight sides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hstar.errors import InputError
from hstar.estimates import ESTIMATES
from hstar.estimates.asymmetric import Asymmetric
from hstar.estimates.estimate import Estimate
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.point import Point
from hstar.estimates.rules import Mean
from hstar.estimates.truncated import TruncatedGaussian
from hstar.models import TrainedModel, model_of, models_of
from hstar.models.grid_config import GridNetwork
from hstar.models.map_identity import MapIdentity
from hstar.options import check_options, option
from hstar.recipes.recipe import Method, Options, Parts, Run
from hstar.sampling.prolonged import OptimalPath, Prolonged
from hstar.spaces.grid import GridLike, GridProblem
from hstar.spaces.grid_files import usual_neighbours
from hstar.spaces.grid_maps import OF_RANDOM_MAPS, MapOptions, scenarios_of, with_headings
from hstar.training.config import TrainConfig

if TYPE_CHECKING:
    from hstar.training.grid_examples import LabelledScenario

NAME = "prolonged"
DIJKSTRA = "dijkstra"
SAMPLERS = (Prolonged.name, OptimalPath.name, DIJKSTRA)
BELIEFS = (Asymmetric.name, Point.name, Gaussian.name, TruncatedGaussian.name)


@dataclass(frozen=True)
class ProlongedOptions:
    """Scenarios, and which sampler, model, estimate and rule the recipe combines."""

    scenarios: int = option(
        531, "Number of scenarios to learn from; of .scen files at most this many.", least=1
    )
    sampler: str = option(Prolonged.name, f"Which of their states: {', '.join(SAMPLERS)}.", words=SAMPLERS)
    k_pr: float = option(
        2.0, "Closed states at the end, times those when the start was; inf: all.", least=1, most=math.inf
    )
    open_states: bool = option(False, "Take upper bounds of states that were not closed for labels, too.")
    model: str = option(
        "vin", "vin or value-map, which take maps of any size, or paper.", words=models_of("map")
    )
    estimate: str = option(Asymmetric.name, f"What its outputs mean: {', '.join(BELIEFS)}.", words=BELIEFS)
    a: float = option(
        -2.5, "asymmetric: weight of overestimates; below 0 they count more, at 0 errors count alike."
    )
    headings: int = option(
        0, "Learn of lattices with so many headings, 4 or 8; 0: of grids.", words=(0, 4, 8)
    )
    turn_cost: float = option(1.0, "Cost of a turn by one heading, on lattices.")
    symmetries: bool = option(True, "See each scenario turned and reflected, too.")

    def __post_init__(self) -> None:
        check_options(self)
        self.belief()
        self.labels()

    def belief(self) -> Estimate:
        return Asymmetric(self.a) if self.estimate == Asymmetric.name else ESTIMATES.get(self.estimate)()

    def labels(self) -> Prolonged | OptimalPath:
        """What labels the states of a scenario."""
        if self.sampler == OptimalPath.name:
            return OptimalPath()
        k_pr = math.inf if self.sampler == DIJKSTRA else self.k_pr
        return Prolonged(k_pr=k_pr, open=self.open_states, blind=self.sampler == DIJKSTRA)


_PUBLISHED: Options = {
    "scenarios": 590,  # 531 to learn from, and a tenth of all to watch the loss on
    "validation": 0.1,
    "model": "paper",
    "k_pr": 3.35,
    "open_states": True,
    "symmetries": False,
    "updates": 4096,
    "batch_size": 1024,
    "learning_rate": 1e-3,
    "patience": 1_000_000,
    "keep": "last",
}
_DEFAULT: Options = {
    "updates": 600,
    "batch_size": 8,
    "epoch_size": 240,
    "learning_rate": 1e-2,
    "schedule": "cosine",
    "clip_norm": 10.0,
    "patience": 1_000_000,
}
_CONVOLUTIONS: Options = {**_DEFAULT, "updates": 3000, "epoch_size": 480, "learning_rate": 3e-3}
_CELLS: Options = {
    **_CONVOLUTIONS,
    "updates": 1000,
    "batch_size": 256,
    "epoch_size": 8192,
    "validation": 0.05,
    "symmetries": False,
}


class ProlongedMap(Method):
    """For maps and lattices: problems on them, files that hold some, or None for random ones."""

    def parts(self, options: Options) -> dict[str, type[Any]]:
        network = model_of("map", str(options.get("model", ProlongedOptions.model)))
        return {"recipe": ProlongedOptions, "maps": MapOptions, "model": network, "training": TrainConfig}

    def profiles(self, options: Options, source: Any) -> dict[str, Options]:
        """Ours by the network, and that of the paper."""
        drawn = next((name for name in OF_RANDOM_MAPS if name in options), None)
        if source is not None and drawn is not None:
            raise InputError(f"{drawn} is for random maps, but maps are given")
        default = {"value-map": _CONVOLUTIONS, "paper": _CELLS}.get(str(options.get("model")), _DEFAULT)
        files = [one for one in source or () if isinstance(one, Path)]
        steps = {"neighbours": usual_neighbours(files)}  # as in a search on these maps
        return {"default": {**default, **steps}, "paper": {**_PUBLISHED, **steps}}

    def learn(
        self, source: Sequence[GridLike] | Sequence[Path] | None, parts: Parts, run: Run
    ) -> TrainedModel[MapIdentity]:
        from hstar.training.grid_examples import GridExamples
        from hstar.training.loop import fit

        config: ProlongedOptions = parts["recipe"]
        training, network = parts["training"], parts["model"]
        # 1. Scenarios.
        files = [one for one in source or () if isinstance(one, Path)]
        problems: Sequence[GridLike] = [one for one in source or () if not isinstance(one, Path)]
        if not problems:
            problems = scenarios_of(files, config.scenarios, training.seed, parts["maps"])
        if config.headings:
            grids = [one for one in problems if isinstance(one, GridProblem)]
            if len(grids) < len(problems):
                raise InputError("headings are for grids, but lattices are given, which have their own")
            problems = with_headings(grids, config.headings, config.turn_cost, training.seed)
        space = _identity(problems, network, config.symmetries)
        # 2. The cost-to-go of states around their optimal paths.
        scenarios = list(labelled(problems, config))
        examples = GridExamples(scenarios, network, symmetries=config.symmetries)
        if not len(examples):
            raise InputError("no states to learn from")
        examples, held_out = examples.split(training.validation, training.seed)
        # 3. A network that knows it.
        target = float(np.abs(examples.target()).mean())
        network = replace(network, scale=target if target > 0 else 1.0)
        trained = run.fitted(
            fit,
            lambda outputs: network.build(outputs, max(space.headings, 1)),
            (examples, held_out),
            config.belief(),
            training,
        )
        # 4. What the search needs.
        return TrainedModel(
            space=space,
            model=network.name,
            model_config=asdict(network),
            tensors={name: tensor.cpu().numpy() for name, tensor in trained.model.state_dict().items()},
            estimate=config.belief(),
            rule=Mean(),
            search={"search": "astar"},
            recipe=NAME,
            recipe_config={
                **asdict(config),
                "k_pr": config.k_pr if math.isfinite(config.k_pr) else "inf",  # JSON has no word for it
                "maps": asdict(parts["maps"]),
                "training": asdict(training),
            },
            seed=training.seed,
            summary={
                **trained.summary(),
                "scenarios": len(problems),
                "unreachable": len(problems) - sum(one.reached for one in scenarios),
                "states": sum(len(one.cells) for one in scenarios),
                # The loop counts examples, which may be whole scenarios.
                "train_states": len(examples.label),
                "validation_states": len(held_out.label),
            },
        )


def labelled(problems: Sequence[GridLike], config: ProlongedOptions) -> Iterator[LabelledScenario]:
    """The scenarios with the states that the sampler labels."""
    from hstar.training.grid_examples import LabelledScenario

    sampler = config.labels()
    for problem in problems:
        try:
            found = sampler.sample(problem)
            states, label, reached = found.states, found.label, found.reached
        except InputError:  # no path, and so no states of one
            states, label, reached = np.zeros(0, np.int32), np.zeros(0), False
        yield LabelledScenario(problem, states.astype(np.int64), label.astype(np.float32), reached)


def _identity(problems: Sequence[GridLike], network: GridNetwork, symmetries: bool) -> MapIdentity:
    """What the problems share; an `InputError` if they differ, or the network cannot learn from them."""
    if not problems:
        raise InputError("no scenarios to learn from")
    if any(problem.grid.costs is not None for problem in problems):
        raise InputError(f"{NAME} learns of maps where each step costs 1, not of costs of cells")
    if any(len(problem.goal) != 2 for problem in problems):
        raise InputError(f"{NAME} learns of goals for every heading, but one is given")
    sizes = tuple(sorted({problem.grid.shape for problem in problems}))
    space, *others = dict.fromkeys(replace(MapIdentity.of(problem), sizes=sizes) for problem in problems)
    if others:
        raise InputError(f"the scenarios differ in steps: {space.steps}, and {others[0].steps}")
    if not network.any_size and len(sizes) > 1:
        raise InputError(f"the model {network.name} learns from maps of one size; use vin")
    if not network.any_size and symmetries and sizes[0][0] != sizes[0][1]:
        raise InputError(f"turned maps have other sizes, which the model {network.name} cannot learn from")
    return replace(space, any_size=network.any_size)
