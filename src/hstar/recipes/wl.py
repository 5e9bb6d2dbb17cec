"""`wl` (Chen, Trevizan and Thiébaux, ICAPS 2024): a linear function of Weisfeiler-Leman features.

1. Features of the states by colour refinement. 2. Ridge regression of h* on their counts; the rounds of
refinement and the strength of the ridge are those that, learned from the smaller instances, predict the
largest ones best: what is asked of the heuristic is to be right where it has seen nothing. 3. The same on all
states.

Not in the paper: siblings of a plan's states have no h*, but it is bounded below, by lmcut and by the state
of the plan beside them, which is nearest to the goal of all successors. Falling short of that is an error,
too. It is what leads a greedy search astray, and h* along plans says nothing about it.

With `--objective svr` the errors are those of a support vector machine. With `--objective gpr` step 2 is the
mean of a Gaussian process with a linear kernel, whose noise is the likeliest one; it learns from plans alone.

With `--objective ranking` step 2 learns an order instead of h* (Garrett, Kaelbling and Lozano-Pérez, IJCAI
2016): every state of a plan ranks before the state that it follows, and before the other successors of that
state. Rounds and ridge are those that rank most pairs of the largest instances right. The values are good for
greedy search only.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError
from hstar.estimates.point import Point
from hstar.estimates.rules import Mean, Order
from hstar.models.domain_identity import DomainIdentity
from hstar.models.gaussian_process import likeliest_ridge
from hstar.models.rank_svm import rank_svm_path, ranked_right
from hstar.models.ridge import RIDGES, Choice, Path, choose_ridge, ridge_path, squared_error
from hstar.models.svr import svr_path
from hstar.models.trained_model import TrainedModel
from hstar.models.wl import ITERATIONS, WLConfig, WLFeatures, stack
from hstar.options import Checked, option
from hstar.recipes.domain_data import check_data, origin
from hstar.recipes.recipe import Method, Parts, Recipe, Run, enter
from hstar.sampling.relational import RelationalData, RelationalInstance

REGRESSION, GPR, SVR, RANKING = OBJECTIVES = ("regression", "gpr", "svr", "ranking")

Array: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[np.int64]
Told: TypeAlias = "dict[str, float | None]"


@dataclass(frozen=True)
class WLOptions(Checked):
    """Options of the features, and of the regression."""

    objective: str = option(
        REGRESSION,
        "regression: predict h* by ridge regression. gpr, svr: the same by a Gaussian process or a support "
        "vector machine. ranking: order states for greedy search.",
        words=OBJECTIVES,
    )
    iterations: int | None = option(None, "Rounds of colour refinement; chosen from 1 to 3.", most=20)
    multiset: bool = option(False, "Count neighbours of equal colour instead of noting that there is one.")
    types: bool = option(True, "Objects of different types differ from the start.")
    least_states: int = option(2, "Training states that must have a feature.", least=1)
    ridge: float | None = option(None, "Penalty on squared weights; chosen on held-out instances.", above=0)
    siblings: bool = option(True, "Learn from the lower bounds of siblings, if the data have them.")
    validation: float = option(0.25, "Share of instances, the largest, to choose by.", above=0, below=1)
    seed: int = option(0, "Seed of all random choices.")


class WL(Method):
    """For all tasks of a domain, from labelled states of some."""

    takes = ("held_out",)
    own_options = WLOptions
    uses_torch = False

    def learn(self, source: RelationalData, parts: Parts, run: Run) -> TrainedModel[DomainIdentity]:
        data, held_out = check_data(source, run)
        started, given = time.monotonic(), parts["recipe"]
        # 1. and 2. on the smaller instances: rounds and ridge.
        judges, learners = held_out, data
        if judges is None:
            large = data.largest(given.validation)
            judges, learners = data.only(large), data.only(~large)
        choose, fit = (_choose, _fit) if given.objective != RANKING else (_choose_ranking, _fit_ranking)
        choices: list[tuple[int, Choice]] = []
        for iterations in ITERATIONS if given.iterations is None else (given.iterations,):
            features = _features(learners, given, iterations)
            choices.append((iterations, choose(features, learners, judges, given)))
            if choices[-1][1].loss is None:  # a single instance: nothing to choose by
                break
        iterations, choice = min(choices, key=lambda one: one[1].loss or 0.0)
        # 3. All states.
        features = _features(data, given, iterations)
        weights, bias, told = fit(features, data, choice, given)
        return TrainedModel(
            space=DomainIdentity(data.words),
            model="wl",
            model_config=asdict(features.config),
            tensors={
                "colours": features.colours,
                "weights.0": weights.reshape(1, -1),
                "bias.0": np.array([bias]),
            },
            estimate=Point(),
            rule=Mean() if given.objective != RANKING else Order(),
            recipe="wl",
            recipe_config=asdict(given),
            seed=given.seed,
            trained_on=origin(data, held_out),
            summary={
                "instances": len(data.instances),
                "features": len(features),
                "iterations": iterations,
                "ridge": choice.ridge,
                **told,
                "time_s": round(time.monotonic() - started, 3),
            },
        )


def _choose(
    features: WLFeatures, learners: RelationalData, judges: RelationalData, given: WLOptions
) -> Choice:
    rows, others = (_rows(features, part, _with_bounds(given)) for part in (learners, judges))
    matrix, target, bounds = (np.concatenate(parts) for parts in zip(rows, others, strict=True))
    apart = np.arange(len(target)) >= len(rows.target)
    ridge = likeliest_ridge(rows.matrix, rows.target) if _by_evidence(given) else given.ridge
    return choose_ridge(matrix, target, apart, ridge, bounds, _path(given))


def _fit(
    features: WLFeatures, data: RelationalData, choice: Choice, given: WLOptions
) -> tuple[Array, float, Told]:
    """Weights, bias, and what is told of them."""
    matrix, target, bounds = _rows(features, data, _with_bounds(given))
    ridge = likeliest_ridge(matrix, target) if _by_evidence(given) else choice.ridge
    ((weights, bias),) = _path(given)(matrix, target, (ridge,), bounds)
    error = squared_error(weights, bias, matrix[~bounds], target[~bounds])
    told = {"states": int((~bounds).sum()), "siblings": int(bounds.sum()), "ridge": ridge}
    return weights, bias, {**told, "mse": error, "held_out_mse": choice.error}


def _with_bounds(given: WLOptions) -> bool:
    return given.siblings and given.objective != GPR  # a Gaussian process has no bounds


def _by_evidence(given: WLOptions) -> bool:
    return given.objective == GPR and given.ridge is None


def _path(given: WLOptions) -> Path:
    return svr_path if given.objective == SVR else ridge_path


def _choose_ranking(
    features: WLFeatures, learners: RelationalData, judges: RelationalData, given: WLOptions
) -> Choice:
    """The strength that ranks most pairs of the judges right, or the given one."""
    pairs, others = (_pairs(features, part, given.siblings) for part in (learners, judges))
    if not len(others):
        return Choice(given.ridge or 1.0, None, None)
    ridges = sorted(RIDGES, reverse=True) if given.ridge is None else [given.ridge]
    path = zip(ridges, rank_svm_path(pairs, ridges), strict=True)
    choices = [Choice(ridge, 1 - ranked_right(others, weights), None) for ridge, weights in path]
    return min(choices, key=lambda choice: choice.loss or 0.0)


def _fit_ranking(
    features: WLFeatures, data: RelationalData, choice: Choice, given: WLOptions
) -> tuple[Array, float, Told]:
    pairs = _pairs(features, data, given.siblings)
    if not len(pairs):
        raise InputError("no two states to rank have different features; raise iterations")
    (weights,) = rank_svm_path(pairs, [choice.ridge])
    states = int(data.labelled.sum())
    told = {"states": states, "siblings": len(data.labelled) - states if given.siblings else 0}
    held_out = None if choice.loss is None else 1 - choice.loss
    right = ranked_right(pairs, weights)
    return weights, 0.0, {**told, "ranked_right": right, "held_out_ranked_right": held_out}


def _pairs(features: WLFeatures, data: RelationalData, siblings: bool) -> Array:
    """For each pair of a worse and a better state the difference of their features, where there is one."""
    parts = [np.zeros((0, len(features)))]
    for instance in data.instances:
        worse, better = _worse_and_better(instance, siblings)
        matrix = features.count(instance).dense()
        parts.append(matrix[worse] - matrix[better])
    differences: Array = np.concatenate(parts)
    return differences[differences.any(axis=1)]


def _worse_and_better(instance: RelationalInstance, siblings: bool) -> tuple[Numbers, Numbers]:
    """Rows of states: of a plan's state the one before is worse, and so are the other successors of that."""
    if "parent" not in instance.columns:
        raise InputError(f"{instance.name}: ranking needs the column 'parent'; sample the data anew")
    labelled, parent = instance.labelled, instance.columns["parent"]
    after = np.flatnonzero(~np.isnan(parent))
    before = parent[after].astype(np.int64)
    on_plan = labelled[after]
    worse, better = before[on_plan], after[on_plan]
    if siblings and not on_plan.all():
        follower = np.full(len(labelled), -1)
        follower[worse] = better
        beside, chosen = after[~on_plan], follower[before[~on_plan]]
        worse = np.concatenate([worse, beside[chosen >= 0]])
        better = np.concatenate([better, chosen[chosen >= 0]])
    return worse, better


class _Rows(NamedTuple):
    """Features of states; h*, or a lower bound of it where `bounds` says so."""

    matrix: Array
    target: Array
    bounds: npt.NDArray[np.bool_]


def _features(data: RelationalData, given: WLOptions, iterations: int) -> WLFeatures:
    """Features that the labelled states of the data have."""
    config = WLConfig(given.multiset, given.types, given.least_states, iterations)
    features = WLFeatures(data.words, config)
    features.collect(data.with_labels())
    return features


def _rows(features: WLFeatures, data: RelationalData, siblings: bool) -> _Rows:
    data = data if siblings else data.with_labels()
    if not data.instances:
        return _Rows(np.zeros((0, len(features))), np.zeros(0), np.zeros(0, dtype=bool))
    matrix = stack([features.count(instance) for instance in data.instances], len(features)).dense()
    target = data.least()
    rows, useful = _Rows(matrix, target, ~data.labelled), np.isfinite(target)  # dead ends have no h*
    return rows if useful.all() else _Rows(matrix[useful], target[useful], rows.bounds[useful])


enter(Recipe("wl", "Chen, Trevizan and Thiébaux, ICAPS 2024", {"domain": WL()}))
