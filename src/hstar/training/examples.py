"""What the training loop learns from: states that can be split, and made into batches.

`StateExamples` are the states of one task as bits, `OwnExamples` those of a user's own space as rows of
inputs, `RelationalExamples` those of many tasks of a domain as objects and atoms, each made into what its
model reads. Those of maps are in `grid_examples.py`.
"""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from hstar.errors import InputError, UnsupportedError
from hstar.estimates.estimate import Batch, Known
from hstar.models.relational_model import RelationalModel, StateRows
from hstar.sampling.dataset import Dataset
from hstar.sampling.relational import RelationalData

Indices: TypeAlias = npt.NDArray[np.integer[Any]]
Column: TypeAlias = npt.NDArray[np.float32]
Self = TypeVar("Self", bound="Examples")


class Examples(Protocol):
    """Labelled states with numbers from 0 on."""

    def __len__(self) -> int: ...

    @property
    def label(self) -> Column:
        """The cost-to-go of each state."""

    def split(self: Self, share: float, seed: int) -> tuple[Self, Self]:
        """The rest and a share to hold out, by chance; no state is in both."""

    def digest(self) -> str:
        """The identity of the data."""

    def batch(self, indices: Indices, device: torch.device) -> tuple[Any, Batch]:
        """Of some states what the model takes, and what is known about them."""


def tensor(column: Column, indices: Indices, device: torch.device) -> Tensor:
    """Some entries of a column."""
    return torch.from_numpy(column[indices]).to(device)


def optional_tensor(column: Column | None, indices: Indices, device: torch.device) -> Tensor | None:
    return None if column is None else tensor(column, indices, device)


def held_out_size(number: int, share: float) -> int:
    """How many of so many groups of states are held out: at least one and not all, where there are two."""
    return 0 if share == 0 or number < 2 else min(max(round(share * number), 1), number - 1)


@dataclass(frozen=True, eq=False)
class StateExamples:
    """The states of a `Dataset`; inputs are zeros and ones (states, atoms)."""

    data: Dataset

    def __len__(self) -> int:
        return len(self.data)

    @property
    def label(self) -> Column:
        return self.data.label

    def split(self, share: float, seed: int) -> tuple[StateExamples, StateExamples]:
        rest, held_out = self.data.split(share, seed)
        return StateExamples(rest), StateExamples(held_out)

    def digest(self) -> str:
        return self.data.digest()

    def batch(self, indices: Indices, device: torch.device) -> tuple[Any, Batch]:
        lower, upper = (optional_tensor(one, indices, device) for one in (self.data.lower, self.data.upper))
        inputs = torch.from_numpy(self.data.unpack(indices)).to(device)
        return inputs, Batch(tensor(self.label, indices, device), Known(lower, upper))


@dataclass(frozen=True, eq=False)
class OwnExamples:
    """Inputs (states, inputs), the cost-to-go and, where it is known, a lower bound of each state."""

    inputs: npt.NDArray[np.float32]
    label: Column
    lower: Column | None = None

    def __len__(self) -> int:
        return len(self.label)

    def split(self, share: float, seed: int) -> tuple[OwnExamples, OwnExamples]:
        """By states, which are different ones."""
        order = np.random.default_rng(seed).permutation(len(self))
        held_out = round(share * len(self))
        return self._some(np.sort(order[held_out:])), self._some(np.sort(order[:held_out]))

    def _some(self, chosen: Indices) -> OwnExamples:
        lower = None if self.lower is None else self.lower[chosen]
        return OwnExamples(self.inputs[chosen], self.label[chosen], lower)

    def digest(self) -> str:
        found = hashlib.sha256(str(self.inputs.shape).encode())
        for column in (self.inputs, self.label, self.lower):
            if column is not None:
                found.update(np.ascontiguousarray(column).tobytes())
        return found.hexdigest()

    def batch(self, indices: Indices, device: torch.device) -> tuple[Tensor, Batch]:
        known = Known(optional_tensor(self.lower, indices, device))
        return tensor(self.inputs, indices, device), Batch(tensor(self.label, indices, device), known)


@dataclass(frozen=True)
class KnownColumns:
    """Which columns of the data are bounds on h* and the base that a model's output is added to.

    Values of heuristics, `lower` and `base`, are infinite at dead ends; `upper` is NaN where there is none.
    """

    lower: str | None = None
    upper: str | None = None
    base: str | None = None

    def names(self) -> list[str]:
        return [name for name in (self.lower, self.upper, self.base) if name is not None]

    def check(self, data: RelationalData, *further: str) -> None:
        """An error if the data lack one of them, one of the further columns, or values of a heuristic."""
        for name in (*self.names(), *further):
            if name not in data.instances[0].columns:
                how = " with --upper" if name == self.upper else ""
                raise InputError(f"the data have no column {name}; label the problems anew{how}")
            if name in (self.lower, self.base) and np.isnan(data.column(name)).any():
                flags = (
                    "lower and base" if self.lower == self.base else "lower" if name == self.lower else "base"
                )
                raise UnsupportedError(
                    f"{name} has no values for conditional effects and axioms; use hmax or none as {flags}"
                )


class RelationalExamples:
    """The states of a `RelationalData` that have a label, read by a model.

    `inputs=False`: nothing is made for training; `states` and `known_batch` serve who reads them otherwise.
    With `siblings` a batch has further rows behind those of its states: the other successors of their parents
    and the parents themselves, and pairs that say which state is better than which.
    """

    def __init__(
        self,
        data: RelationalData,
        model: RelationalModel,
        known: KnownColumns,
        *,
        siblings: bool = False,
        inputs: bool = True,
    ) -> None:
        self.data, self.model, self.known, self.siblings = data, model, known, siblings
        self.table = _Table(data, model, known, inputs)
        self.instances: npt.NDArray[np.int64] = np.arange(len(data.instances))
        self.rows = np.flatnonzero(self.table.labelled)
        if siblings and self.table.labelled.all():
            raise InputError("the data have no siblings, which ranking needs; label with --siblings")

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def label(self) -> Column:
        return self.table.label[self.rows]

    def split(self, share: float, seed: int) -> tuple[RelationalExamples, RelationalExamples]:
        """By instances: states of one plan are much alike."""
        size = held_out_size(len(self.instances), share)
        order = np.random.default_rng(seed).permutation(self.instances)
        return self._of(np.sort(order[size:])), self._of(np.sort(order[:size]))

    def _of(self, instances: npt.NDArray[np.int64]) -> RelationalExamples:
        part = copy.copy(self)
        part.instances = instances
        part.rows = self.rows[np.isin(self.table.instance[self.rows], instances)]
        return part

    def digest(self) -> str:
        found = hashlib.sha256(repr((self.known, self.siblings, self.model, self.data.words)).encode())
        for instance in self.data.instances:
            about = instance.relations
            told: tuple[Any, ...] = (
                instance.name,
                about.kinds,
                about.atoms,
                sorted(about.goal),
                about.operators,
            )
            told += (sorted(about.negative_goal),) if about.negative_goal else ()
            found.update(repr(told).encode())
            found.update(instance.atoms.tobytes())
            found.update(instance.ends.tobytes())
        for name in sorted(self.data.instances[0].columns):
            found.update(self.data.column(name).tobytes())
        return found.hexdigest()

    def batch(self, indices: Indices, device: torch.device) -> tuple[Any, Batch]:
        """What the model reads of the states and, with siblings, of those they are compared with."""
        rows, pairs = self.rows[indices], None
        label = tensor(self.table.label, rows, device)
        if self.siblings:
            rows, found = self.table.with_rivals(rows)
            pairs = torch.from_numpy(found).to(device)
        known = self.table.known(rows, device)
        return to_device(self.table.inputs(rows), device), Batch(label, known, pairs)

    def states(self, indices: Indices) -> StateRows:
        return self.table.states(self.rows[indices])

    def known_batch(self, indices: Indices, device: torch.device) -> Batch:
        rows = self.rows[indices]
        return Batch(tensor(self.table.label, rows, device), self.table.known(rows, device))

    def column(self, name: str) -> Column:
        """A column of the data, of the labelled states."""
        return self.data.column(name)[self.rows]


class _Table:
    """All states of the data in one order, and what is made of them once."""

    def __init__(
        self, data: RelationalData, model: RelationalModel, known: KnownColumns, inputs: bool
    ) -> None:
        known.check(data, *model.columns)
        self.model, self.words, self.columns = model, data.words, known
        self.label = data.column("label")
        self.labelled = data.labelled
        sizes = [len(instance) for instance in data.instances]
        self.instance = np.repeat(np.arange(len(sizes)), sizes)
        self.encoded = tuple(model.encode(data.words, instance.relations) for instance in data.instances)
        self.atoms = np.concatenate([instance.atoms for instance in data.instances]).astype(np.int64)
        lengths = [np.diff(instance.ends, prepend=0) for instance in data.instances]
        self.length = np.concatenate(lengths)
        self.begin = np.cumsum(self.length) - self.length
        self._known = {name: data.column(name) for name in known.names()}
        self._read = {name: data.column(name) for name in model.columns}
        # Rows of parents in the whole table.
        first = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
        parent = (
            data.column("parent") if "parent" in data.instances[0].columns else np.full(len(first), np.nan)
        )
        self.parent = np.where(np.isnan(parent), -1, np.nan_to_num(parent) + first).astype(np.int64)
        # States that a search never compares: a heuristic that is known says that they are dead ends. An
        # upper bound is no heuristic: where it is missing, no plan was found in time.
        self.usable = np.ones(len(first), dtype=bool)
        heuristics = (self._known[name] for name in (known.lower, known.base) if name is not None)
        for column in (*heuristics, *self._read.values()):
            self.usable &= np.isfinite(column)
        self._order = np.argsort(self.parent, kind="stable")
        self._ends = np.searchsorted(self.parent[self._order], np.arange(len(first) + 1))
        tabular = model.tabular and inputs
        self._matrix = model.inputs(self.words, self.states(np.arange(len(first)))) if tabular else None

    def inputs(self, rows: Indices) -> Any:
        if self._matrix is not None:
            return self._matrix[torch.from_numpy(rows)]
        return self.model.inputs(self.words, self.states(rows))

    def known(self, rows: Indices, device: torch.device) -> Known:
        names = (self.columns.lower, self.columns.upper, self.columns.base)
        columns = (None if name is None else self._known[name] for name in names)
        return Known(*(optional_tensor(column, rows, device) for column in columns))

    def with_rivals(self, rows: Indices) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The rows, then all they are better than; and the pairs (better, worse) as places in that list."""
        better, worse = [], []
        for place, row in enumerate(rows):
            parent = self.parent[row]
            if parent < 0:
                continue
            children = self._order[self._ends[parent] : self._ends[parent + 1]]
            rivals = np.append(children[children != row], parent)
            rivals = rivals[self.usable[rivals]]
            better.append(np.full(len(rivals), place))
            worse.append(rivals)
        if not worse:
            return np.asarray(rows, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
        everyone = np.concatenate([rows, *worse]).astype(np.int64)
        pairs = np.column_stack([np.concatenate(better), np.arange(len(rows), len(everyone))])
        return everyone, pairs.astype(np.int64)

    def states(self, rows: Indices) -> StateRows:
        used, instance = np.unique(self.instance[rows], return_inverse=True)
        length = self.length[rows]
        state = np.repeat(np.arange(len(rows)), length)
        offset = np.arange(len(state)) - np.repeat(np.cumsum(length) - length, length)
        atom = self.atoms[np.repeat(self.begin[rows], length) + offset]
        columns = {name: column[rows] for name, column in self._read.items()}
        return StateRows(tuple(self.encoded[i] for i in used), instance, state, atom, columns)


def to_device(inputs: Any, device: torch.device) -> Any:
    """A tensor, or a NamedTuple of tensors, on a device."""
    if isinstance(inputs, Tensor):
        return inputs.to(device)
    return type(inputs)(
        *(to_device(part, device) if isinstance(part, Tensor | tuple) else part for part in inputs)
    )
