"""`wl`: a linear function, or a small network, of Weisfeiler-Leman features of states.

Chen, Trevizan and Thiébaux (ICAPS 2024). The features of a state are how often each colour occurs in the
graph of its objects and atoms, over all iterations of colour refinement; the core computes them
(`core/features/colour_refinement.h`). Colours are collected from training states; what other states have
beyond is left out.

As a model for estimates it reads the counts less their mean over the training states, which goes into the
bias when training is over: the core adds up the rows of a state's colours, and a hidden layer, if there is
one, runs in it as well. Counts are not scaled to one deviation: a rare colour would get a great weight, and
larger tasks have many of them.

A linear function starts as the ridge regression of the target, and a learned spread as the deviation from it,
so that gradients only have to find what the regression does not know: the loss of the estimate. Rounds and
the strength of the ridge are those that, learned from the smaller instances, predict the largest ones best:
more rounds or a weaker ridge often fit small tasks and mislead a search in large ones. As in the recipe `wl`,
falling short of the lower bounds of siblings is an error of the regression, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError, ModelError
from hstar.estimates.gaussian import Gaussian
from hstar.models.model import MODELS, Tensors, check_shapes
from hstar.models.relational_model import Array, RelationalModel, StateRows
from hstar.models.ridge import Choice, choose_ridge, ridge_regression, squared_error
from hstar.options import Checked, option
from hstar.sampling.relational import RelationalData, RelationalInstance
from hstar.spaces.relations import Relations, Vocabulary, native_relations
from hstar.spaces.task import Task

if TYPE_CHECKING:
    from torch import Tensor, nn

MOST_ENTRIES = 500_000_000  # of a matrix of features; 4 GB
ITERATIONS = (1, 2, 3)  # rounds to choose from
JUDGES_SHARE = 0.25  # of the instances, the largest ones, to choose by

States: TypeAlias = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Counting(Checked):
    """What the Weisfeiler-Leman features of a state count."""

    multiset: bool = option(False, "Count neighbours of equal colour instead of noting that there is one.")
    types: bool = option(True, "Objects of different types differ from the start.")
    least_states: int = option(1, "Training states that must have a feature.", least=1)


@dataclass(frozen=True)
class WLConfig(Counting):
    """Options of the Weisfeiler-Leman features."""

    iterations: int = option(1, "Number of rounds of colour refinement.", most=20)


@dataclass(frozen=True, eq=False)
class Sparse:
    """A sparse matrix of counts by rows."""

    ends: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    width: int

    def __len__(self) -> int:
        return len(self.ends)

    def dense(self) -> Array:
        """The whole matrix; an `InputError` if it would be too large."""
        if len(self) * self.width > MOST_ENTRIES:
            raise InputError(
                f"{self.width} features of {len(self)} states are too many; raise least_states,"
                " lower iterations, or learn from fewer states (without siblings)"
            )
        matrix = np.zeros((len(self), self.width))
        lengths = np.diff(self.ends, prepend=0)
        matrix[np.repeat(np.arange(len(self)), lengths), self.columns] = self.counts
        return matrix


def stack(parts: Sequence[Sparse], width: int) -> Sparse:
    """All rows, as a matrix of `width` columns."""
    offsets = np.cumsum([0, *(len(part.columns) for part in parts)])
    return Sparse(
        np.concatenate([part.ends + offset for part, offset in zip(parts, offsets, strict=False)]),
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.counts for part in parts]),
        width,
    )


class WLFeatures:
    """Numbers for colours, collected from states of tasks of one domain."""

    def __init__(
        self, words: Vocabulary, config: WLConfig | None = None, colours: Iterable[int] = ()
    ) -> None:
        self.words = words
        self.config = WLConfig() if config is None else config
        self._table = _core.ColourTable.of(np.fromiter(colours, dtype=np.uint64))

    def __len__(self) -> int:
        return len(self._table)

    @property
    def colours(self) -> npt.NDArray[np.uint64]:
        return self._table.colours

    def collect(self, data: RelationalData) -> Sparse:
        """Features of training states; those of too few states are dropped."""
        if data.words != self.words:
            raise InputError(f"data of {data.words.domain}, features of {self.words.domain}")
        parts = [self.count(instance, add=True) for instance in data.instances]
        if not parts:
            raise InputError("no states to take features from")
        found = stack(parts, len(self))
        frequency = np.bincount(found.columns, minlength=len(self))
        kept = np.flatnonzero(frequency >= self.config.least_states)
        if len(kept) == len(self):
            return found
        self._table = _core.ColourTable.of(self.colours[kept])
        number = np.full(len(frequency), -1, dtype=np.int32)
        number[kept] = np.arange(len(kept))
        columns = number[found.columns]
        inside = columns >= 0
        ends = np.concatenate([[0], np.cumsum(inside)])[found.ends]
        return Sparse(ends, columns[inside], found.counts[inside], len(kept))

    def count(self, instance: RelationalInstance, *, add: bool = False) -> Sparse:
        """Features of other states; with `add` new colours become features."""
        native = instance.relations.native(self.words, types=self.config.types)
        return self.count_atoms(native, instance.ends, instance.atoms, add=add)

    def count_atoms(
        self, native: _core.RelationalTask, ends: npt.NDArray[np.int64], atoms: States, *, add: bool = False
    ) -> Sparse:
        """Features of states given by their atoms; those of state i end at ends[i]."""
        options = self.config.iterations, self.config.multiset, add
        return Sparse(*self._table.count_atoms(native, ends, atoms, *options), len(self))

    def count_states(self, task: Task, states: States) -> Sparse:
        """Features of states of a task, given by the values of its variables."""
        core, native, table, iterations, multiset = self._native(task)
        states = np.ascontiguousarray(states, dtype=np.int32)
        return Sparse(*table.count(core, native, states, iterations, multiset, False), len(self))

    def model(self, task: Task, weights: Array, *others: Array) -> _core.RawModel:
        """In the core: the sums of the weights (outputs, features) of a state's features, and a bias.

        With a head (outputs, units) and its bias after that the sums are those of a hidden layer with ReLU.
        """
        dtype: type[Any] = np.float32 if len(others) > 1 else np.float64
        rows, *rest = (np.ascontiguousarray(layer, dtype=dtype) for layer in (weights.T, *others))
        if len(rest) == 1:
            return _core.colour_model(*self._native(task), rows, rest[0])
        bias, head, head_bias = rest
        network = _core.Network.make(rows, bias, [], head, head_bias, False, "float32")
        return _core.colour_model(*self._native(task), network)

    def _native(self, task: Task) -> tuple[_core.Task, _core.RelationalTask, _core.ColourTable, int, bool]:
        native = native_relations(task, self.words, types=self.config.types)
        return task.core, native, self._table, self.config.iterations, self.config.multiset


class _Fitted(NamedTuple):
    """What the training data told: features, their means, and the first weights."""

    features: WLFeatures
    mean: Array
    weights: Array
    bias: float
    deviation: float  # of the target from it


@MODELS.register("wl")
@dataclass(frozen=True)
class WLModel(Counting, RelationalModel):
    """Options of the features and of the head."""

    name: ClassVar[str] = "wl"
    tabular: ClassVar[bool] = True

    iterations: int | None = option(None, "Rounds of colour refinement; chosen from 1 to 3.", most=20)
    hidden: int = option(0, "Units of a hidden layer; 0: a linear function.", most=10_000)
    fit: _Fitted | None = field(default=None, repr=False, compare=False)

    def fitted(self, data: RelationalData, target: Array) -> WLModel:
        rows = np.isfinite(target)
        target, bounds = target[rows], ~data.labelled[rows]
        apart = np.repeat(data.largest(JUDGES_SHARE), [len(one) for one in data.instances])[rows]
        choices: list[tuple[int, Choice]] = []
        for iterations in ITERATIONS if self.iterations is None else (self.iterations,):
            features = WLFeatures(data.words, self._config(iterations))
            features.collect(data.with_labels())
            choice = choose_ridge(_centred(features, data)[0][rows], target, apart, bounds=bounds)
            choices.append((iterations, choice))
        iterations, choice = min(choices, key=lambda one: one[1].loss or 0.0)
        features = WLFeatures(data.words, self._config(iterations))
        features.collect(data)
        matrix, mean = _centred(features, data)
        matrix = matrix[rows]
        weights, bias = ridge_regression(matrix, target, choice.ridge, bounds)
        deviation = squared_error(weights, bias, matrix[~bounds], target[~bounds]) ** 0.5
        fit = _Fitted(features, mean, weights, bias, deviation)
        return replace(self, iterations=iterations, fit=fit)

    def _config(self, iterations: int) -> WLConfig:
        return WLConfig(self.multiset, self.types, self.least_states, iterations)

    def encode(self, words: Vocabulary, relations: Relations) -> _core.RelationalTask:
        return relations.native(words, types=self.types)

    def inputs(self, words: Vocabulary, states: StateRows) -> Tensor:
        """The counts, less their means: (states, colours)."""
        import torch

        fit = self._fit()
        return torch.from_numpy((_counts(fit.features, states) - fit.mean).astype(np.float32))

    def build(self, words: Vocabulary, outputs: int) -> nn.Module:
        """A head; a linear one starts as the ridge regression, all further outputs as its deviation."""
        import torch
        from torch import nn

        fit = self._fit()
        hidden = [nn.Linear(len(fit.weights), self.hidden), nn.ReLU()] if self.hidden else []
        last = nn.Linear(self.hidden or len(fit.weights), outputs)
        with torch.no_grad():
            if not hidden:
                last.weight[0] = torch.from_numpy(fit.weights)
                last.bias[0] = fit.bias
            last.weight[1:] = 0
            last.bias[1:] = spread_output(fit.deviation)
        return nn.Sequential(*hidden, last)

    def export(self, module: nn.Module) -> Tensors:
        """Colours and weights; the means are in the bias."""
        fit = self._fit()
        weights, bias, *head = (array.double().cpu().numpy() for array in module.state_dict().values())
        layers = (weights, bias - weights @ fit.mean, *head)
        return {"colours": fit.features.colours, **dict(zip(self._names, layers, strict=True))}

    def native(self, task: Task, words: Vocabulary, tensors: Tensors, outputs: int) -> _core.RawModel:
        features, layers = self._parts(words, tensors, outputs)
        return features.model(task, *layers)

    def raw(self, words: Vocabulary, states: StateRows, tensors: Tensors, outputs: int) -> Array:
        features, layers = self._parts(words, tensors, outputs)
        x: Array = _counts(features, states) @ layers[0].T + layers[1]
        return np.maximum(x, 0) @ layers[2].T + layers[3] if self.hidden else x

    @property
    def _names(self) -> list[str]:
        return [f"{part}.{i}" for i in range(2 if self.hidden else 1) for part in ("weights", "bias")]

    def _parts(self, words: Vocabulary, tensors: Tensors, outputs: int) -> tuple[WLFeatures, list[Array]]:
        names, colours = self._names, tensors.get("colours", np.zeros(0, np.uint64))
        widths = (colours.size, self.hidden, outputs) if self.hidden else (colours.size, outputs)
        shapes = [shape for before, width in pairwise(widths) for shape in ((width, before), (width,))]
        wanted = {"colours": (colours.size,), **dict(zip(names, shapes, strict=True))}
        check_shapes(tensors, wanted, self.name)
        if colours.dtype.kind != "u":
            raise ModelError(f"weights of {self.name}: colours are whole numbers from 0, got {colours.dtype}")
        layers = [tensors[name].astype(np.float64) for name in names]
        config = self._config(ITERATIONS[0] if self.iterations is None else self.iterations)
        return WLFeatures(words, config, colours.astype(np.uint64)), layers

    def _fit(self) -> _Fitted:
        assert self.fit is not None, "fitted() comes first"
        return self.fit


def _centred(features: WLFeatures, data: RelationalData) -> tuple[Array, Array]:
    """Counts of the features in training states, less their means; and the means."""
    if not len(features):
        raise InputError(f"no feature is in {features.config.least_states} states; lower least_states")
    matrix = stack([features.count(instance) for instance in data.instances], len(features)).dense()
    mean = matrix.mean(axis=0)
    return matrix - mean, mean


def spread_output(deviation: float) -> float:
    """The output that `gaussian` reads as this spread, as it is unless other limits are given."""
    share = min(max((deviation - Gaussian.floor) / Gaussian.range, 1e-3), 1 - 1e-3)
    return math.log(share / (1 - share))


def _counts(features: WLFeatures, states: StateRows) -> Array:
    """How often a state has each feature: (states, features)."""
    matrix = np.zeros((len(states), len(features)))
    owner = states.instance[states.state]
    size = np.bincount(states.state, minlength=len(states))
    for number, native in enumerate(states.instances):
        rows = np.flatnonzero(states.instance == number)
        atoms = states.atom[owner == number].astype(np.int32)
        matrix[rows] = features.count_atoms(native, np.cumsum(size[rows]), atoms).dense()
    return matrix
