"""Calibration of a learned heuristic, so that A* with it keeps a promise (`estimates/conformal.py`).

1. Optimal plans of instances that the model has not learned from. 2. What the search would see along them,
and of each plan its score. 3. The quantile of the scores, as the rule `calibrated` around the model's own.

A model of a domain takes plans as labelled data; a model of a task takes other starts of the task, models of
a puzzle and of maps problems of theirs, which are solved here. In all but maps costs are steps: the promise
is for searches in which every action counts 1, and h* are whole numbers. Instances without an optimal plan
within the limits have no score, so the promise is for instances like those that have one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError, ModelError
from hstar.estimates import conformal
from hstar.estimates.belief import native_belief
from hstar.estimates.rules import Calibrated, Clip, Rule
from hstar.models.domain_identity import DomainIdentity
from hstar.models.identity import space_of
from hstar.models.map_identity import MapIdentity
from hstar.models.puzzle_identity import FEATURES, PuzzleIdentity
from hstar.models.relational_model import StateRows
from hstar.models.task_identity import TaskIdentity
from hstar.models.trained_model import TrainedModel
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
class Promise:
    """What is to hold of plans: they cost at most `bound` times the optimum, with this confidence."""

    confidence: float
    bound: float = 1.0
    form: str | None = None  # one of `conformal.FORMS`; None: additive for the bound 1, else ratio
    rule: Rule | None = None  # what is calibrated, instead of the model's own
    distribution: str = ""  # in words, what the instances are drawn from

    def chosen(self, model: TrainedModel[Any]) -> Rule:
        """The rule that is calibrated."""
        rule = model.rule if self.rule is None else self.rule
        return rule.of if isinstance(rule, Calibrated) else rule

    def calibration(
        self, plans: Iterable[ScoredPlan], of: Rule, progress: Counter | None = None, *, whole: bool = True
    ) -> Calibration:
        """By the values along the plans of all instances; `progress` gets the number of those looked at."""
        form, scores, left_out = self.form or conformal.usual_form(self.bound), [], 0
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
    model: TrainedModel[DomainIdentity], data: RelationalData, confidence: float, **options: Any
) -> tuple[TrainedModel[DomainIdentity], Calibration]:
    """A model of a domain, calibrated by plans. `options` are the fields of `Promise`, here and below."""
    promise, words = Promise(confidence, **options), space_of(model, DomainIdentity).words
    if data.words != words:
        raise ModelError(f"the model was trained for {words.domain}, the data are of {data.words.domain}")
    seen = set(model.trained_on)
    known = [one.name for one in data.instances if len(one) and one.digest() in seen]
    if known:
        raise InputError(
            f"{len(known)} of {len(data.instances)} instances are those that the model was trained on, first "
            f"{known[0]}; calibrate by others"
        )
    chosen = promise.chosen(model)
    plans = ((one.name, *plan_values(model, one, chosen)) for one in data.instances)
    found = promise.calibration(plans, chosen)
    return model.with_rule(found.rule), found


def calibrate_starts(
    model: TrainedModel[TaskIdentity],
    starts: Iterable[Task],
    confidence: float,
    *,
    limits: Optimal | None = None,
    progress: Counter | None = None,
    **options: Any,
) -> tuple[TrainedModel[TaskIdentity], Calibration]:
    """A model of a task, calibrated by other starts of it. `progress` gets the number of those looked at."""
    space_of(model, TaskIdentity)
    promise = Promise(confidence, **options)
    chosen = promise.chosen(model)
    plain = model.with_rule(chosen)

    def plans() -> Iterator[ScoredPlan]:
        for start in starts:
            task = start.with_unit_cost()
            try:
                states = optimal_states(task, limits or Optimal())
            except NoLabelError:
                yield None
                continue
            values = evaluate(task, plain, np.array(states, dtype=np.int32))[:-1]
            yield task.name, values, np.arange(len(values), 0, -1)

    found = promise.calibration(plans(), chosen, progress)
    return model.with_rule(found.rule), found


def calibrate_puzzle(
    model: TrainedModel[PuzzleIdentity],
    instances: Sequence[Instance[Puzzle]],
    confidence: float,
    *,
    time_limit: float | None = None,
    cache: bool = True,
    progress: Counter | None = None,
    **options: Any,
) -> tuple[TrainedModel[PuzzleIdentity], Calibration]:
    """A model of a puzzle, calibrated by instances of it.

    A clip of the rule stays outside. `time_limit`: of the search for an optimal plan. `progress` gets the
    number of instances that were looked at.
    """
    promise, puzzle = Promise(confidence, **options), space_of(model, PuzzleIdentity).puzzle
    conformal.check_instances(len(instances), confidence)
    chosen = promise.chosen(model)
    if isinstance(chosen, Clip):
        model, chosen = replace(model, rule=chosen.of, lower=FEATURES), chosen.of
    network, solver = scored_network(model, chosen, cache=cache), optimal_plans(puzzle, cache=cache)

    def plans() -> Iterator[ScoredPlan]:
        for one in instances:
            states = solver.states(one.puzzle, time_limit)
            if states is not None and one.optimal_cost not in (None, len(states) - 1):
                raise InputError(f"{one.id}: its optimal cost is {len(states) - 1}, not {one.optimal_cost}")
            yield None if states is None else (one.id, *puzzle_plan_values(network, states))

    found = promise.calibration(plans(), chosen, progress)
    return model.with_rule(found.rule), found


def calibrate_maps(
    model: TrainedModel[MapIdentity],
    problems: Sequence[GridLike],
    confidence: float,
    *,
    progress: Counter | None = None,
    **options: Any,
) -> tuple[TrainedModel[MapIdentity], Calibration]:
    """A model of maps, calibrated by problems on them. `progress` gets the number of those looked at.

    Costs are those of paths. Values are rounded up where all costs are whole numbers: without diagonal steps.
    """
    promise, space = Promise(confidence, **options), space_of(model, MapIdentity)
    conformal.check_instances(len(problems), confidence)
    chosen = promise.chosen(model)
    plain = model.with_rule(chosen)

    def plans() -> Iterator[ScoredPlan]:
        for number, problem in enumerate(problems, 1):
            space.check(problem)
            try:
                path = OptimalPath().sample(problem)
            except InputError:  # no path
                yield None
                continue
            before = path.label > 0
            values = plain.build(problem).values.reshape(-1)[path.states[before].astype(np.int64)]
            yield f"problem {number}", values, path.label[before]

    whole = space.neighbours == 4 and float(space.turn_cost).is_integer()
    found = promise.calibration(plans(), chosen, progress, whole=whole)
    return model.with_rule(found.rule), found


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
