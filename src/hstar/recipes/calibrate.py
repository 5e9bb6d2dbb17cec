"""Calibration of a learned heuristic, so that A* with it keeps a promise (`estimates/conformal.py`).

1. Optimal plans of instances that the model has not learned from. 2. What the search would see along them,
and of each plan its score. 3. The quantile of the scores, as the rule `calibrated` around the model's own.

A model of a domain takes plans as labelled data; a model of a task takes other starts of the task, a model of
a puzzle instances of it, which are solved here. In all, costs are steps: the promise is for searches in which
every action counts 1, and h* are whole numbers. Instances without an optimal plan within the limits have no
score, so the promise is for instances like those that have one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError, ModelError
from hstar.estimates import conformal
from hstar.estimates.belief import belief_options
from hstar.estimates.rules import Calibrated, Clip, Rule
from hstar.models.domain_model import DomainModel
from hstar.models.file import LearnedModel
from hstar.models.puzzle_model import PuzzleModel
from hstar.models.relational_model import StateRows
from hstar.sampling.optimal import NoLabelError, Optimal, optimal_states
from hstar.sampling.relational import RelationalData, RelationalInstance
from hstar.search.heuristics import evaluate
from hstar.search.puzzle_network import PuzzleNetwork
from hstar.search.puzzle_optimal import optimal_plans
from hstar.spaces.puzzle import Instance, Puzzle, State
from hstar.spaces.task import Task

Array: TypeAlias = npt.NDArray[np.float64]
_PARTS = 1024  # of a move, in which values of puzzles are measured: half of one is less than the slack


@dataclass(frozen=True)
class Calibration:
    """What a calibration looked at: the scores of the instances, and how many had no plan."""

    rule: Calibrated
    scores: tuple[float, ...]
    left_out: int = 0


def calibrate(
    model: DomainModel,
    data: RelationalData,
    confidence: float,
    *,
    bound: float = 1.0,
    form: str | None = None,
    rule: Rule | None = None,
) -> tuple[DomainModel, Calibration]:
    """A model of a domain, calibrated by plans.

    `form`: one of `conformal.FORMS` (additive for the bound 1, else ratio); `rule`: what is calibrated,
    instead of the model's own.
    """
    if data.words != model.words:
        raise ModelError(
            f"the model was trained for {model.words.domain}, the data are of {data.words.domain}"
        )
    seen = set(model.trained_on)
    known = [one.name for one in data.instances if len(one) and one.digest() in seen]
    if known:
        raise InputError(
            f"{len(known)} of {len(data.instances)} instances are those that the model was trained on, first "
            f"{known[0]}; calibrate by others"
        )
    chosen = _uncalibrated(model.rule if rule is None else rule)
    form = conformal.usual_form(bound) if form is None else form
    scores = [_plan_score(one.name, *plan_values(model, one, chosen), form) for one in data.instances]
    found = _calibration(scores, chosen, confidence, bound, form)
    return model.with_rule(found.rule), found


def calibrate_starts(
    model: LearnedModel,
    starts: Iterable[Task],
    confidence: float,
    *,
    bound: float = 1.0,
    form: str | None = None,
    rule: Rule | None = None,
    limits: Optimal | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[LearnedModel, Calibration]:
    """A model of a task, calibrated by other starts of it. `progress` gets the number of those looked at."""
    form = conformal.usual_form(bound) if form is None else form
    chosen = _uncalibrated(model.belief()[1] if rule is None else rule)
    plain = model.with_rule(chosen)
    scores, left_out = [], 0
    for number, start in enumerate(starts, 1):
        task = start.with_unit_cost()
        try:
            states = optimal_states(task, limits or Optimal())
        except NoLabelError:
            left_out += 1
        else:
            values = evaluate(task, plain, np.array(states, dtype=np.int32))
            scores.append(_plan_score(task.name, values[:-1], np.arange(len(states) - 1, 0, -1), form))
        if progress is not None:
            progress(number)
    found = replace(_calibration(scores, chosen, confidence, bound, form), left_out=left_out)
    return model.with_rule(found.rule), found


def calibrate_puzzle(
    model: PuzzleModel,
    instances: Sequence[Instance[Puzzle]],
    confidence: float,
    *,
    bound: float = 1.0,
    form: str | None = None,
    rule: Rule | None = None,
    distribution: str = "",
    time_limit: float | None = None,
    cache: bool = True,
    progress: Callable[[int], None] | None = None,
) -> tuple[PuzzleModel, Calibration]:
    """A model of a puzzle, calibrated by instances of it, of which `distribution` tells in words.

    `rule`: what is calibrated, the mean or a quantile; `time_limit`: of the search for an optimal plan.
    `progress` gets the number of instances that were looked at.
    """
    conformal.check_instances(len(instances), confidence)
    form = conformal.usual_form(bound) if form is None else form
    chosen = _uncalibrated(model.rule if rule is None else rule)
    network, plans = scored_network(model, chosen, cache=cache), optimal_plans(model.puzzle, cache=cache)
    scores, left_out = [], 0
    for number, one in enumerate(instances, 1):
        states = plans.states(one.puzzle, time_limit)
        if states is None:
            left_out += 1
        elif one.optimal_cost not in (None, len(states) - 1):
            raise InputError(f"{one.id}: its optimal cost is {len(states) - 1}, not {one.optimal_cost}")
        else:
            scores.append(_plan_score(one.id, *puzzle_plan_values(network, states), form))
        if progress is not None:
            progress(number)
    if left_out and conformal.rank(len(scores), confidence) > len(scores):
        raise InputError(
            f"{left_out} of {len(instances)} instances were not solved within the limits, and the others are "
            f"too few for a confidence of {confidence:g}"
        )
    if conformal.quantile(scores, confidence) == -np.inf:
        raise InputError("too many instances begin in the goal to calibrate by them; use longer walks")
    found = _calibration(scores, chosen, confidence, bound, form)
    found = replace(found, rule=replace(found.rule, distribution=distribution), left_out=left_out)
    return replace(model, rule=found.rule), found


def scored_network(model: PuzzleModel, rule: Rule, *, cache: bool = True) -> PuzzleNetwork:
    """The network for `puzzle_plan_values`, in parts of a move, without a floor."""
    puzzle = model.puzzle.puzzle()
    return model.network(puzzle, rule=rule, floor=False, cache=cache, factor=_PARTS, shift=0)


def puzzle_plan_values(network: PuzzleNetwork, states: Sequence[State]) -> tuple[Array, Array]:
    """Along a plan, without its goal: values before they are rounded to moves, and h*.

    What is below 0 counts as 0 here, which makes a score no less.
    """
    parts = network.values(states[:-1]).astype(np.float64)
    # Above a million all values are the same for the core, whatever they are.
    return np.where(parts > 1e6, np.inf, parts / _PARTS), np.arange(len(states) - 1, 0, -1, dtype=np.float64)


def plan_values(model: DomainModel, instance: RelationalInstance, rule: Rule) -> tuple[Array, Array]:
    """Along a plan, without its goal: what a search sees by this rule, and h*."""
    plan = instance.with_labels()
    label = plan.columns["label"].astype(np.float64)
    if not np.array_equal(np.sort(label), np.arange(len(label))) or len(label) < 2:
        raise InputError(f"{instance.name}: its labelled states are not those of an optimal plan")
    reader = model.reader()
    bounded = model.estimate.bounded or isinstance(rule, Clip)
    lower = model.lower if bounded else None
    for name in (*reader.columns, model.base, lower):
        if name is not None and name not in plan.columns:
            raise InputError(f"the data have no column {name}; label the problems anew")
    count = len(label)
    states = StateRows(
        instances=(reader.encode(model.words, plan.relations),),
        instance=np.zeros(count, dtype=np.int64),
        state=np.repeat(np.arange(count), np.diff(plan.ends, prepend=0)),
        atom=plan.atoms.astype(np.int64),
        columns={name: plan.columns[name] for name in reader.columns},
    )
    raw = reader.raw(model.words, states, model.tensors, model.estimate.outputs)
    base, low = (
        None if name is None else plan.columns[name].astype(np.float64) for name in (model.base, lower)
    )
    values = _core.believed_values(
        np.ascontiguousarray(raw, dtype=np.float64),
        base=base,
        lower=low,
        **belief_options(model.estimate, rule),
    )
    before = label > 0
    values = np.where(np.isnan(raw).any(axis=1), np.nan, values)  # as the search, which refuses them
    return values[before], label[before]


def _plan_score(name: str, values: Array, label: npt.ArrayLike, form: str) -> float:
    try:
        return conformal.plan_score(values, label, form)
    except InputError as error:
        raise InputError(f"{name}: {error.message}") from None


def _calibration(scores: list[float], of: Rule, confidence: float, bound: float, form: str) -> Calibration:
    rule = Calibrated(
        confidence=confidence,
        instances=len(scores),
        score=conformal.quantile(scores, confidence),
        bound=bound,
        form=form,
        whole=True,
        of=of,
    )
    return Calibration(rule, tuple(scores))


def _uncalibrated(rule: Rule) -> Rule:
    return rule.of if isinstance(rule, Calibrated) else rule
