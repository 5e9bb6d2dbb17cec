"""Calibration of a learned heuristic, so that A* with it keeps a promise (`estimates/conformal.py`).

1. Optimal plans of instances that the model has not learned from. 2. What the search would see along them,
and of each plan its score. 3. The quantile of the scores, as the rule `calibrated` around the model's own.

A model of a domain takes plans as labelled data; a model of a task takes other starts of the task, models of
a puzzle, of maps and of one map with its goal problems of theirs, which are solved here. In all but maps
costs are steps: the promise is for searches in which every action counts 1, and h* are whole numbers.
Instances without an optimal plan within the limits have no score, so the promise is for instances like those
that have one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError, ModelError, UnsupportedError
from hstar.estimates import conformal
from hstar.estimates.belief import native_belief
from hstar.estimates.conformal import FORMS
from hstar.estimates.rules import Calibrated, Clip, Rule
from hstar.models.domain_identity import DomainIdentity
from hstar.models.puzzle_identity import FEATURES, PuzzleIdentity
from hstar.models.relational_model import StateRows
from hstar.models.task_identity import TaskIdentity
from hstar.models.trained_model import TrainedModel
from hstar.options import Checked, option
from hstar.sampling.optimal import NoLabelError, Optimal, optimal_states
from hstar.sampling.prolonged import OptimalPath
from hstar.sampling.relational import RelationalData, RelationalInstance
from hstar.search.heuristics import evaluate
from hstar.search.puzzle_network import PuzzleNetwork
from hstar.search.puzzle_optimal import optimal_plans
from hstar.spaces.grid import GridLike
from hstar.spaces.puzzle import Instance, Puzzle, State
from hstar.spaces.task import Task

Array: TypeAlias = npt.NDArray[np.float64]
Counter: TypeAlias = Callable[[int], None]
ScoredPlan: TypeAlias = "tuple[str, Array, npt.ArrayLike] | None"
"""Of an instance its name, and along an optimal plan without the goal values and h*; None without a plan."""
_PARTS = 1024  # of a move, in which values of puzzles are measured: half of one is less than the slack


@dataclass(frozen=True)
class Calibration:
    """What a calibration looked at: the scores of the instances, and how many had no plan."""

    rule: Calibrated
    scores: tuple[float, ...]
    left_out: int = 0


@dataclass(frozen=True)
class Promise(Checked):
    """What is to hold of plans: they cost at most `bound` times the optimum, with this confidence."""

    confidence: float = field(metadata={"above": 0, "below": 1})
    bound: float = option(1.0, "Greatest cost, times the optimum.", least=1)
    form: str | None = option(None, "Form of the scores; additive for the bound 1, else ratio.", words=FORMS)
    rule: Rule | None = None  # what is calibrated, instead of the model's own
    distribution: str = ""  # in words, what the instances are drawn from

    def calibration(
        self, plans: Iterable[ScoredPlan], of: Rule, progress: Counter | None = None, *, whole: bool = True
    ) -> Calibration:
        """By the values along the plans of all instances; `progress` gets the number of those looked at."""
        form, scores, left_out = self.form or ("additive" if self.bound == 1 else "ratio"), [], 0
        for number, plan in enumerate(plans, 1):
            if plan is None:
                left_out += 1
            else:
                name, values, label = plan
                try:
                    scores.append(conformal.plan_score(values, label, form))
                except InputError as error:
                    raise InputError(f"{name}: {error.message}") from None
            if progress is not None:
                progress(number)
        if left_out and conformal.rank(len(scores), self.confidence) > len(scores):
            raise InputError(
                f"{left_out} of {left_out + len(scores)} instances were not solved within the limits, and "
                f"the others are too few for a confidence of {self.confidence:g}"
            )
        score = conformal.quantile(scores, self.confidence)
        if score == -np.inf:
            raise InputError("too many instances begin in the goal to calibrate by them; use others")
        rule = Calibrated(
            confidence=self.confidence,
            instances=len(scores),
            score=score,
            bound=self.bound,
            form=form,
            whole=whole,
            distribution=self.distribution,
            of=of,
        )
        return Calibration(rule, tuple(scores), left_out)


def calibrate(
    model: TrainedModel[Any],
    instances: Any,
    confidence: float,
    *,
    limits: Optimal | None = None,
    cache: bool = True,
    progress: Counter | None = None,
    **options: Any,
) -> tuple[TrainedModel[Any], Calibration]:
    """The model, calibrated by instances that it has not learned from.

    A model of a domain takes `RelationalData`, one of a task other starts of it, one of a puzzle a list of
    `Instance`, one of maps or of one map with its goal problems on them. `limits` are those of the searches
    for optimal plans; with `cache` databases of puzzles are kept; `progress` gets the number of instances
    looked at; `options` are the other fields of `Promise`.
    """
    promise, kind = Promise(confidence, **options), model.space.kind
    if kind not in PLANS:
        raise UnsupportedError(f"models of a {kind} cannot be calibrated; those of a {', '.join(PLANS)} can")
    if isinstance(instances, Sequence):  # before any of them is solved
        conformal.check_instances(len(instances), confidence)
    rule = promise.rule or model.rule
    chosen = rule.of if isinstance(rule, Calibrated) else rule
    if kind == "puzzle" and isinstance(chosen, Clip):  # which stays outside
        model, chosen = replace(model, rule=chosen.of, lower=FEATURES), chosen.of
    plans = PLANS[kind](model.with_rule(chosen), instances, limits, cache)
    # On maps costs are those of paths: whole numbers without diagonal steps.
    straight = getattr(model.space, "neighbours", 4) == 4
    whole = straight and float(getattr(model.space, "turn_cost", 1)).is_integer()
    found = promise.calibration(plans, chosen, progress, whole=whole)
    return model.with_rule(found.rule), found


def _domain_plans(
    model: TrainedModel[DomainIdentity], data: RelationalData, limits: Optimal | None, cache: bool
) -> Iterator[ScoredPlan]:
    words, seen = model.space.words, set(model.trained_on)
    if data.words != words:
        raise ModelError(f"the model was trained for {words.domain}, the data are of {data.words.domain}")
    known = [one.name for one in data.instances if len(one) and one.digest() in seen]
    if known:
        raise InputError(
            f"{len(known)} of {len(data.instances)} instances are those that the model was trained on, first "
            f"{known[0]}; calibrate by others"
        )
    for one in data.instances:
        yield one.name, *plan_values(model, one, model.rule)


def _task_plans(
    model: TrainedModel[TaskIdentity], starts: Iterable[Task], limits: Optimal | None, cache: bool
) -> Iterator[ScoredPlan]:
    for start in starts:
        task = start.with_unit_cost()
        try:
            states = optimal_states(task, limits or Optimal())
        except NoLabelError:
            yield None
            continue
        values = evaluate(task, model, np.array(states, dtype=np.int32))[:-1]
        yield task.name, values, np.arange(len(values), 0, -1)


def _puzzle_plans(
    model: TrainedModel[PuzzleIdentity],
    instances: Sequence[Instance[Puzzle]],
    limits: Optimal | None,
    cache: bool,
) -> Iterator[ScoredPlan]:
    network = scored_network(model, model.rule, cache=cache)
    solver = optimal_plans(model.space.puzzle, cache=cache)
    for one in instances:
        states = solver.states(one.puzzle, None if limits is None else limits.time_limit)
        if states is not None and one.optimal_cost not in (None, len(states) - 1):
            raise InputError(f"{one.id}: its optimal cost is {len(states) - 1}, not {one.optimal_cost}")
        yield None if states is None else (one.id, *puzzle_plan_values(network, states))


def _map_plans(
    model: TrainedModel[Any], problems: Sequence[GridLike], limits: Optimal | None, cache: bool
) -> Iterator[ScoredPlan]:
    for number, problem in enumerate(problems, 1):
        model.space.check(problem)
        try:
            path = OptimalPath().sample(problem)
        except InputError:  # no path
            yield None
            continue
        before = path.label > 0
        values = model.build(problem).values.reshape(-1)[path.states[before].astype(np.int64)]
        yield f"problem {number}", values, path.label[before]


PLANS: dict[str, Callable[..., Iterator[ScoredPlan]]] = {
    "domain": _domain_plans,
    "task": _task_plans,
    "puzzle": _puzzle_plans,
    "map": _map_plans,
    "map goal": _map_plans,
}
"""By the kind of space: along an optimal plan of each instance what the search sees, and h*."""


def scored_network(model: TrainedModel[PuzzleIdentity], rule: Rule, *, cache: bool = True) -> PuzzleNetwork:
    """The network for `puzzle_plan_values`, in parts of a move, without a floor."""
    network: PuzzleNetwork = model.with_rule(rule).build(model.space.puzzle, cache=cache)
    return replace(network, factor=_PARTS, shift=0.0, floor_admissible=False)


def puzzle_plan_values(network: PuzzleNetwork, states: Sequence[State]) -> tuple[Array, Array]:
    """Along a plan, without its goal: values before they are rounded to moves, and h*.

    What is below 0 counts as 0 here, which makes a score no less.
    """
    parts = network.values(states[:-1]).astype(np.float64)
    # Above a million all values are the same for the core, whatever they are.
    return np.where(parts > 1e6, np.inf, parts / _PARTS), np.arange(len(states) - 1, 0, -1, dtype=np.float64)


def plan_values(
    model: TrainedModel[DomainIdentity], instance: RelationalInstance, rule: Rule
) -> tuple[Array, Array]:
    """Along a plan, without its goal: what a search sees by this rule, and h*."""
    plan = instance.with_labels()
    label = plan.columns["label"].astype(np.float64)
    if not np.array_equal(np.sort(label), np.arange(len(label))) or len(label) < 2:
        raise InputError(f"{instance.name}: its labelled states are not those of an optimal plan")
    reader, words = model.network, model.space.words
    bounded = model.estimate.bounded or isinstance(rule, Clip)
    lower = model.lower if bounded else None
    for name in (*reader.columns, model.base, lower):
        if name is not None and name not in plan.columns:
            raise InputError(f"the data have no column {name}; label the problems anew")
    count = len(label)
    states = StateRows(
        instances=(reader.encode(words, plan.relations),),
        instance=np.zeros(count, dtype=np.int64),
        state=np.repeat(np.arange(count), np.diff(plan.ends, prepend=0)),
        atom=plan.atoms.astype(np.int64),
        columns={name: plan.columns[name] for name in reader.columns},
    )
    raw = reader.raw(words, states, model.tensors, model.estimate.outputs)
    base, low = (
        None if name is None else plan.columns[name].astype(np.float64) for name in (model.base, lower)
    )
    belief = native_belief(model.estimate, rule)
    values = _core.believed_values(np.ascontiguousarray(raw, dtype=np.float64), belief, base=base, lower=low)
    before = label > 0
    values = np.where(np.isnan(raw).any(axis=1), np.nan, values)  # as the search, which refuses them
    return values[before], label[before]
