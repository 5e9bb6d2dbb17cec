"""A model in the search of a planning task: estimate and rule over its raw outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hstar import _core
from hstar.estimates.belief import native_belief
from hstar.estimates.rules import Bounded, Calibrated, Clip
from hstar.search.heuristics import build
from hstar.spaces.task import Task

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel

RESOLUTION = 1024  # the search sees values in units of 1/1024 step
LOWER = "lmcut"  # the bound of the rule `bounded` where a model names none


def believed(model: TrainedModel[Any], task: Task, raw: _core.RawModel) -> _core.Heuristic:
    """The heuristic of the core.

    Heuristics that it asks count steps, as the labels do; but the bound of the rule `bounded` is of the costs
    of the task.
    """
    belief, steps = native_belief(model.estimate, model.rule), task.with_unit_cost()
    lower = None
    if isinstance(model.rule, Bounded):
        lower = build(task, model.lower or LOWER)
    elif model.lower and (model.estimate.bounded or isinstance(model.rule, Clip | Calibrated)):
        lower = build(steps, model.lower)
    base = None if model.base is None else build(steps, model.base)
    return _core.believed_heuristic(
        task.native, raw, belief=belief, base=base, lower=lower, name=model.recipe, scale=RESOLUTION
    )
