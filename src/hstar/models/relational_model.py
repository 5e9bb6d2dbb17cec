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
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar.registry import Registry
from hstar.spaces.relations import Relations, Vocabulary

if TYPE_CHECKING:
    from torch import nn

Integers: TypeAlias = npt.NDArray[np.int64]


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
    columns: ClassVar[tuple[str, ...]]  # what it reads of a state beyond its atoms
    operators: ClassVar[bool]  # whether it needs the ground operators of an instance

    def __init__(self, **options: Any) -> None: ...

    def encode(self, words: Vocabulary, relations: Relations) -> Any:
        """What all states of an instance share; an `UnsupportedError` if the model cannot read them."""

    def inputs(self, words: Vocabulary, states: StateRows) -> Any:
        """What the module takes: one tensor, or a NamedTuple of tensors, on the cpu."""

    def build(self, words: Vocabulary, outputs: int) -> nn.Module:
        """A fresh module; its weights depend on torch's random state only."""


RELATIONAL_MODELS: Registry[type[RelationalModel]] = Registry("model")
