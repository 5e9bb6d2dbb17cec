"""`prolonged` for a user's own space: exact labels from one backward search, under the asymmetric loss.

The recipe of `prolonged.py` with the parts of an own space: Dijkstra's algorithm over its `predecessors` from
its `goals` (`sampling/prolonged_own.py`), and a network that sees what its `encode` gives.

Difference: the search is not stopped by the start, but at a number of states, so that the model is for all
starts around the goals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.errors import UnsupportedError
from hstar.models.own_identity import OwnIdentity
from hstar.models.trained_model import TrainedModel
from hstar.options import option, whole_number
from hstar.recipes.own_recipe import Options, check_space, data_of, learned, resolve
from hstar.recipes.prolonged import NAME
from hstar.sampling.prolonged_own import backward_labels
from hstar.spaces.own import OwnProblem

if TYPE_CHECKING:
    from hstar.training.loop import Progress

DEFAULTS: Options = {
    "estimate": "asymmetric",
    "epochs": 40,
    "batch_size": 256,
    "learning_rate": 3e-3,
    "schedule": "cosine",
    "patience": 40,
}


@dataclass(frozen=True)
class ProlongedOwnOptions:
    """Options of the search for labels."""

    states: int = option(20_000, "Closed states at which the backward search ends.")

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", whole_number("states", self.states, 1))


def train_prolonged_own(
    problem: OwnProblem,
    *,
    profile: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    checkpoint: Path | None = None,
    **options: Any,
) -> TrainedModel[OwnIdentity]:
    """Learns a heuristic for all starts of a space that has `goals`, `predecessors` and `encode`.

    `options` are `states`, `model`, `width`, `estimate`, `rule` and those of `TrainConfig`. The same options
    and seed give the same model. With a `checkpoint` file a killed training goes on by the same call.
    """
    plan = resolve(NAME, ProlongedOwnOptions, profile, DEFAULTS, options)
    # 1. What the space must have.
    check_space(problem, plan.parts)
    if not hasattr(problem.space, "predecessors"):
        raise UnsupportedError(
            f"{NAME} searches backwards: add a function predecessors(state) to {problem.name}, "
            "or use bootstrap, which needs none"
        )
    # 2. Exact labels.
    states, label = backward_labels(problem, plan.own.states)
    # 3. A network that knows them.
    data = data_of(problem, states, label)
    return learned(NAME, problem, data, plan, progress=progress, checkpoint=checkpoint)
