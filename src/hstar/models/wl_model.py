"""`wl` as a model for estimates: a linear function, or a small network, of Weisfeiler-Leman features.

The features are the counts of the colours of a state's graph (`wl.py`), less their mean over the training
states, which goes into the bias when training is over: the core adds up the rows of a state's colours, and a
hidden layer, if there is one, runs in it as well. They are not scaled to one deviation: a rare colour would
get a great weight, and larger tasks have many of them.

A linear function starts as the ridge regression of the target, whose strength is chosen on held-out
instances, and a learned spread as the deviation from it, so that gradients only have to find what the
regression does not know: the loss of the estimate.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError, ModelError
from hstar.models.model import MODELS, Tensors
from hstar.models.relational_model import Array, StateRows
from hstar.models.ridge import choose_ridge, held_out_rows, ridge_regression, squared_error
from hstar.models.wl import WLConfig, WLFeatures
from hstar.options import option
from hstar.sampling.relational import RelationalData
from hstar.spaces.relations import Relations, Vocabulary
from hstar.spaces.task import Task

if TYPE_CHECKING:
    from torch import Tensor, nn

    from hstar.models.wl_head import WLHead


@dataclass(frozen=True, eq=False)
class _Fitted:
    """What the training data told: features, their means, and the first weights."""

    features: WLFeatures
    mean: Array
    weights: Array
    bias: float
    deviation: float  # of the target from it


@MODELS.register("wl")
@dataclass(frozen=True)
class WLModel(WLConfig):
    """Options of the features and of the head."""

    name: ClassVar[str] = "wl"
    spaces: ClassVar[tuple[str, ...]] = ("domain",)
    columns: ClassVar[tuple[str, ...]] = ()
    operators: ClassVar[bool] = False
    tabular: ClassVar[bool] = True

    hidden: int = option(0, "Units of a hidden layer; 0: a linear function.")
    fit: _Fitted | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.hidden <= 10_000:
            raise InputError(f"hidden must be in 0..10000, got {self.hidden}")

    def fitted(self, data: RelationalData, target: npt.NDArray[np.float64]) -> WLModel:
        """Collects the colours of all states."""
        features = WLFeatures(data.words, self._config())
        matrix = features.collect(data).dense()
        if not len(features):
            raise InputError(f"no feature is in {self.least_states} states; lower least_states")
        mean = matrix.mean(axis=0)
        known = ~np.isnan(target)
        instance = np.repeat(np.arange(len(data.instances)), [len(one) for one in data.instances])
        scaled = matrix[known] - mean
        ridge = choose_ridge(scaled, target[known], held_out_rows(instance[known], 0.2, seed=0)).ridge
        weights, bias = ridge_regression(scaled, target[known], ridge)
        deviation = squared_error(weights, bias, scaled, target[known]) ** 0.5
        return replace(self, fit=_Fitted(features, mean, weights, bias, deviation))

    def encode(self, words: Vocabulary, relations: Relations) -> _core.RelationalTask:
        """Objects and atoms for the core."""
        return relations.native(words, types=self.types)

    def inputs(self, words: Vocabulary, states: StateRows) -> Tensor:
        """The counts, less their means: (states, colours)."""
        import torch

        found = self._fit()
        matrix = _counts(found.features, states)
        return torch.from_numpy((matrix - found.mean).astype(np.float32))

    def build(self, words: Vocabulary, outputs: int) -> nn.Module:
        """A head; a linear one starts as the ridge regression."""
        from hstar.models.wl_head import WLHead

        found = self._fit()
        return WLHead(found.weights, found.bias, found.deviation, outputs, self.hidden)

    def export(self, module: nn.Module) -> Tensors:
        """Colours and weights; the means are in the bias."""
        found, head = self._fit(), cast("WLHead", module)
        tensors: dict[str, npt.NDArray[Any]] = {"colours": found.features.colours}
        for number, (weights, bias) in enumerate(head.layers()):
            if number == 0:
                bias = bias - weights @ found.mean
            tensors |= {f"weights.{number}": weights, f"bias.{number}": bias}
        return tensors

    def native(self, task: Task, words: Vocabulary, tensors: Tensors, outputs: int) -> _core.RawModel:
        """All in the core."""
        features, layers = self._parts(words, tensors)
        if not self.hidden:
            return features.linear(task, *layers)
        return features.network(task, *layers)

    def raw(self, words: Vocabulary, states: StateRows, tensors: Tensors, outputs: int) -> Array:
        """The layers in NumPy."""
        features, layers = self._parts(words, tensors)
        x: Array = _counts(features, states) @ layers[0].T + layers[1]
        return np.maximum(x, 0) @ layers[2].T + layers[3] if self.hidden else x

    def _parts(self, words: Vocabulary, tensors: Tensors) -> tuple[WLFeatures, list[Array]]:
        names = [f"{part}.{i}" for i in range(2 if self.hidden else 1) for part in ("weights", "bias")]
        if set(tensors) != {"colours", *names}:
            raise ModelError(f"{self.name} has colours, {', '.join(names)}; there are {', '.join(tensors)}")
        colours = tensors["colours"].astype(np.uint64, casting="safe")
        layers = [tensors[name].astype(np.float64) for name in names]
        if layers[0].shape[1:] != colours.shape:
            raise ModelError(f"there are weights of shape {layers[0].shape} for {colours.size} colours")
        return WLFeatures(words, self._config(), colours), layers

    def _config(self) -> WLConfig:
        return WLConfig(self.iterations, self.multiset, self.types, self.least_states)

    def _fit(self) -> _Fitted:
        assert self.fit is not None, "fitted() comes first"
        return self.fit


def _counts(features: WLFeatures, states: StateRows) -> Array:
    """How often a state has each feature: (states, features)."""
    matrix = np.zeros((len(states), len(features)))
    owner = states.instance[states.state]
    size = np.bincount(states.state, minlength=len(states))
    for number, relations in enumerate(states.instances):
        rows = np.flatnonzero(states.instance == number)
        atoms = states.atom[owner == number].astype(np.int32)
        matrix[rows] = features.count_atoms(relations, np.cumsum(size[rows]), atoms).dense()
    return matrix
