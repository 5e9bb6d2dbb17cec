"""`wl`: Weisfeiler-Leman features of states (Chen, Trevizan and Thiébaux, ICAPS 2024).

The features of a state are how often each colour occurs in the graph of its objects and atoms, over all
iterations of colour refinement; the core computes them (`core/features/colour_refinement.h`). Colours are
collected from training states; what other states have beyond is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import InputError
from hstar.options import Checked, option
from hstar.sampling.relational import RelationalData, RelationalInstance
from hstar.spaces.relations import Vocabulary, relations
from hstar.spaces.task import Task

MOST_ENTRIES = 500_000_000  # of a matrix of features; 4 GB

States: TypeAlias = npt.NDArray[np.int32]
Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class WLConfig(Checked):
    """Options of the features."""

    iterations: int = option(1, "Rounds of colour refinement.", most=20)
    multiset: bool = option(False, "Count neighbours of equal colour.")
    types: bool = option(True, "Objects of different types differ from the start.")
    least_states: int = option(1, "Training states that must have a feature.", least=1)


@dataclass(frozen=True, eq=False)
class Sparse:
    """A sparse matrix of counts by rows."""

    ends: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]
    width: int

    def __len__(self) -> int:
        return len(self.ends)

    def dense(self, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[np.float64]:
        """The whole matrix; an `InputError` if it would be too large."""
        if len(self) * self.width > MOST_ENTRIES:
            raise InputError(
                f"{self.width} features of {len(self)} states are too many; raise least_states,"
                " lower iterations, or learn from fewer states (without siblings)"
            )
        matrix = np.zeros((len(self), self.width), dtype=dtype)
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
        """What stands for each feature, for the model file."""
        return self._table.colours

    def collect(self, data: RelationalData) -> Sparse:
        """Features of training states; those of too few states are dropped."""
        if data.words != self.words:
            raise InputError(f"data of {data.words.domain}, features of {self.words.domain}")
        parts = [self._count(instance, add=True) for instance in data.instances]
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

    def count(self, instance: RelationalInstance) -> Sparse:
        """Features of other states."""
        return self._count(instance, add=False)

    def count_states(self, task: Task, states: States) -> Sparse:
        """Features of states of a task, given by the values of its variables."""
        config = self.config
        found = self._table.count(
            task.core,
            relations(task, self.words).native(self.words, types=config.types),
            np.ascontiguousarray(states, dtype=np.int32),
            config.iterations,
            config.multiset,
            False,
        )
        return Sparse(*found, len(self))

    def _count(self, instance: RelationalInstance, add: bool) -> Sparse:
        config = self.config
        native = instance.relations.native(self.words, types=config.types)
        found = self._table.count_atoms(
            native, instance.ends, instance.atoms, config.iterations, config.multiset, add
        )
        return Sparse(*found, len(self))

    def count_atoms(
        self, relations: _core.RelationalTask, ends: npt.NDArray[np.int64], atoms: npt.NDArray[np.int32]
    ) -> Sparse:
        """Features of states given by their atoms; those of state i end at ends[i]."""
        config = self.config
        found = self._table.count_atoms(relations, ends, atoms, config.iterations, config.multiset, False)
        return Sparse(*found, len(self))

    def linear(self, task: Task, weights: Array, bias: Array) -> _core.RawModel:
        """In the core: the sums of the weights (outputs, features) of a state's features."""
        rows = np.ascontiguousarray(weights.T, dtype=np.float64)
        return _core.colour_model(*self._native(task), rows, np.ascontiguousarray(bias, dtype=np.float64))

    def network(
        self, task: Task, weights: Array, bias: Array, head: Array, head_bias: Array
    ) -> _core.RawModel:
        """In the core: a hidden layer (units, features) with ReLU, and a head (outputs, units)."""
        layers = (
            np.ascontiguousarray(layer, dtype=np.float32) for layer in (weights.T, bias, head, head_bias)
        )
        rows, bias, head, head_bias = layers
        network = _core.Network.make(rows, bias, [], head, head_bias, False, "float32")
        return _core.colour_model(*self._native(task), network)

    def _native(self, task: Task) -> tuple[_core.Task, _core.RelationalTask, _core.ColourTable, int, bool]:
        native = relations(task, self.words).native(self.words, types=self.config.types)
        return task.core, native, self._table, self.config.iterations, self.config.multiset
