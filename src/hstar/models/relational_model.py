"""The contract of a model for all tasks of a domain: how it reads states and how training gets its network.

A registered model is a frozen dataclass with its options, and importing it needs no torch. It reads states
in two steps: `encode` makes once what all states of an instance share, `inputs` makes a batch of any states
of any instances into what the module takes. The module answers with raw outputs (states, outputs) in float32;
what they mean is the business of an `Estimate`. Outputs of a state do not depend on the other states of its
batch, but for rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.models.model import Tensors
from hstar.sampling.relational import RelationalData
from hstar.spaces.relations import Relations, Vocabulary
from hstar.spaces.task import Task

if TYPE_CHECKING:
    from torch import nn

Integers: TypeAlias = npt.NDArray[np.int64]
Array: TypeAlias = npt.NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class StateRows:
    """Some states of some instances, as the atoms that hold in them.

    `atom[i]` (its number in the `Relations` of the instance) holds in state `state[i]`, which is of the
    instance `instances[instance[state[i]]]`; `state` never falls. `columns` has numbers for each state by
    the names of a dataset's columns: those that the model asked for by `columns`.
    """

    instances: tuple[Any, ...]  # as `encode` made them
    instance: Integers
    state: Integers
    atom: Integers
    columns: Mapping[str, npt.NDArray[np.float32]]

    def __len__(self) -> int:
        return len(self.instance)


class RelationalModel(Protocol):
    """Options of a model, and what can be made of them."""

    name: ClassVar[str]
    spaces: ClassVar[tuple[str, ...]]
    columns: ClassVar[tuple[str, ...]]  # what it reads of a state beyond its atoms
    operators: ClassVar[bool]  # whether it needs the ground operators of an instance
    tabular: ClassVar[bool]  # whether inputs are a matrix, one row a state: then training makes it once

    def __init__(self, **options: Any) -> None: ...

    def fitted(self, data: RelationalData, target: npt.NDArray[np.float64]) -> RelationalModel:
        """The model after a look at the data it will be trained on; itself if it needs none.

        `target`: what the first output should be for each state, NaN where that is not known.
        """

    def encode(self, words: Vocabulary, relations: Relations) -> Any:
        """What all states of an instance share; an `UnsupportedError` if the model cannot read them."""

    def inputs(self, words: Vocabulary, states: StateRows) -> Any:
        """What the module takes: one tensor, or a NamedTuple of tensors, on the cpu."""

    def build(self, words: Vocabulary, outputs: int) -> nn.Module:
        """A fresh module; its weights depend on torch's random state and on `fitted` only."""

    def export(self, module: nn.Module) -> Tensors:
        """All that a model file has to hold of a trained module."""

    def raw(self, words: Vocabulary, states: StateRows, tensors: Tensors, outputs: int) -> Array:
        """Of what `export` gave: the raw outputs for states of data; a `ModelError` as in `native`."""

    def native(self, task: Task, words: Vocabulary, tensors: Tensors, outputs: int) -> _core.RawModel:
        """Of what `export` gave the model for the search in a task: an `InputError` if it is of another
        domain, a `ModelError` if the tensors are not those of this model."""


class TorchModel:
    """The parts of the contract that are alike for all models that torch runs in the search, too."""

    spaces: ClassVar[tuple[str, ...]] = ("domain",)
    columns: ClassVar[tuple[str, ...]] = ()
    operators: ClassVar[bool] = False
    tabular: ClassVar[bool] = False

    def fitted(self: T, data: RelationalData, target: npt.NDArray[np.float64]) -> T:
        """Nothing is needed."""
        return self

    def export(self, module: nn.Module) -> Tensors:
        """The weights by the names of torch."""
        return {name: weights.detach().cpu().numpy() for name, weights in module.state_dict().items()}

    def raw(
        self: RelationalModel, words: Vocabulary, states: StateRows, tensors: Tensors, outputs: int
    ) -> Array:
        """A forward pass."""
        from hstar.models.torch_search import load_module, outputs_of

        return outputs_of(load_module(self, words, tensors, outputs), self.inputs(words, states))

    def native(
        self: RelationalModel, task: Task, words: Vocabulary, tensors: Tensors, outputs: int
    ) -> _core.RawModel:
        """A function of a batch of states: all new successors of an expansion in one forward pass."""
        from hstar.models.torch_search import torch_model

        return torch_model(self, task, words, tensors, outputs)
