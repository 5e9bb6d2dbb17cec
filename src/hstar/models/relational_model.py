"""The contract of a model for all tasks of a domain: how it reads states and how training gets its network.

A registered model is a frozen dataclass with its options, and importing it needs no torch. It reads states
in two steps: `encode` makes once what all states of an instance share, `inputs` makes a batch of any states
of any instances into what the module takes. The module answers with raw outputs (states, outputs) in float32;
what they mean is the business of an `Estimate`. Outputs of a state do not depend on the other states of its
batch, but for rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.models.model import Tensors, weights_of, with_weights
from hstar.sampling.relational import RelationalData
from hstar.search.heuristics import States
from hstar.spaces.relations import Relations, Vocabulary, relations
from hstar.spaces.task import Task

if TYPE_CHECKING:
    from torch import nn

Integers: TypeAlias = npt.NDArray[np.int64]
Array: TypeAlias = npt.NDArray[np.float64]
T = TypeVar("T")

_MOST_ATOMS = 1 << 19  # of states that are read together in a search


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

    def part(self, begin: int, end: int) -> StateRows:
        """Some of the states, without their columns."""
        first, last = np.searchsorted(self.state, [begin, end])
        state, atom = self.state[first:last] - begin, self.atom[first:last]
        return StateRows(self.instances, self.instance[begin:end], state, atom, {})


class RelationalModel(Protocol):
    """Options of a model, and what can be made of them; where nothing else is said, torch runs it."""

    name: ClassVar[str]
    spaces: ClassVar[tuple[str, ...]] = ("domain",)
    columns: ClassVar[tuple[str, ...]] = ()  # what it reads of a state beyond its atoms
    operators: ClassVar[bool] = False  # whether it needs the ground operators of an instance
    tabular: ClassVar[bool] = (
        False  # whether inputs are a matrix, a row for each state, which training makes once
    )

    def fitted(self: T, data: RelationalData, target: npt.NDArray[np.float64]) -> T:
        """The model after a look at the data it will be trained on; itself if it needs none.

        `target`: what the first output should be for each state, of those without a label what it should be
        at least; NaN where that is not known.
        """
        return self

    def encode(self, words: Vocabulary, relations: Relations) -> Any:
        """What all states of an instance share; an `UnsupportedError` if the model cannot read them."""

    def inputs(self, words: Vocabulary, states: StateRows) -> Any:
        """What the module takes: one tensor, or a NamedTuple of tensors, on the cpu."""

    def search_inputs(self, words: Vocabulary, states: StateRows) -> Iterator[Any]:
        """The same in a search, where gradients are not needed: one for some states after the other.

        A search is asked before each whether it has to stop. So one should take no more than milliseconds.
        """
        yield self.inputs(words, states)

    def build(self, words: Vocabulary, outputs: int) -> nn.Module:
        """A fresh module; its weights depend on torch's random state and on `fitted` only."""

    def export(self, module: nn.Module) -> Tensors:
        """All that a model file has to hold of a trained module."""
        return weights_of(module)

    def raw(self, words: Vocabulary, states: StateRows, tensors: Tensors, outputs: int) -> Array:
        """Of what `export` gave: the raw outputs for states of data; a `ModelError` as in `native`."""
        module = with_weights(lambda: self.build(words, outputs), tensors, self.name)
        return _outputs(module, self.inputs(words, states))

    def native(self, task: Task, words: Vocabulary, tensors: Tensors, outputs: int) -> _core.RawModel:
        """Of what `export` gave the model for the search in a task: an `InputError` if it is of another
        domain, a `ModelError` if the tensors are not those of this model.

        Torch gets all new successors of an expansion in one forward pass, or in a few if they are large.
        """
        found = relations(task, words, operators=self.operators)
        module = with_weights(lambda: self.build(words, outputs), tensors, self.name)
        encoded = (self.encode(words, found.relations),)
        constant = np.array(found.constant, dtype=np.int64)
        atom_of_fact = np.array(found.atom_of_fact, dtype=np.int64)
        offset = np.cumsum([0, *(len(values) for values in task.atoms)])[:-1]

        def run(states: States) -> Array:
            most = max(1, _MOST_ATOMS // (len(constant) + states.shape[1]))
            parts = (states[begin : begin + most] for begin in range(0, len(states), most))
            inputs = (one for part in parts for one in self.search_inputs(words, rows(part)))
            raw = np.empty((len(states), outputs))
            begin = 0
            for one in inputs:
                _core.keep_limits()
                found = _outputs(module, one)
                raw[begin : begin + len(found)] = found
                begin += len(found)
            return raw

        def rows(states: States) -> StateRows:
            told = atom_of_fact[states + offset]
            atoms = np.concatenate([np.broadcast_to(constant, (len(told), len(constant))), told], axis=1)
            state, place = np.nonzero(atoms >= 0)
            return StateRows(encoded, np.zeros(len(states), dtype=np.int64), state, atoms[state, place], {})

        return _core.callback_model(run, outputs, self.name)


def _outputs(module: nn.Module, inputs: Any) -> Array:
    import torch

    with torch.inference_mode():
        raw: Array = module(inputs).double().numpy()
        return raw
