"""Labelled states as columns: what samplers give and training takes.

A state is a row of bits, one for each input atom: bit `i % 64` of word `i // 64` says that atom `i` holds.
`label` is the cost-to-go to learn; `lower` and `upper` are bounds on h*, NaN where there is none.

Invariants: all columns have one entry for each state; bits beyond the last atom are 0; the parts of a split
share no state. Labels of a state met twice: the minimum ("sample improvement", SAI, Bettker, Minini, Pereira
and Ritt, JAIR 80, 2024), since each of them is the length of a way to the goal; for the same reason the
greatest lower and the least upper bound.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar import container
from hstar.errors import InputError

FORMAT_VERSION = 1
WORD_BITS = 64
_COLUMNS = {
    "states": "uint64",
    "label": "float32",
    "instance": "int32",
    "lower": "float32",
    "upper": "float32",
}

Words: TypeAlias = npt.NDArray[np.uint64]
Column: TypeAlias = npt.NDArray[np.float32]
Indices: TypeAlias = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Dataset:
    """States of one list of atoms with their labels; `provenance` says where they come from."""

    atoms: tuple[str, ...]
    states: Words
    label: Column
    instance: npt.NDArray[np.int32]
    lower: Column | None = None
    upper: Column | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.atoms or len(set(self.atoms)) != len(self.atoms):
            raise InputError("a data set needs atoms, each of them once")
        n, words = len(self.label), -(-len(self.atoms) // WORD_BITS)
        for name, column in _columns(self).items():
            shape = (n, words) if name == "states" else (n,)
            if column.dtype.name != _COLUMNS[name] or column.shape != shape:
                raise InputError(
                    f"column {name} of a data set must be {_COLUMNS[name]} {shape}, "
                    f"got {column.dtype.name} {column.shape}"
                )
        used = len(self.atoms) % WORD_BITS
        if used and n and np.any(self.states[:, -1] >> np.uint64(used)):
            raise InputError("states of a data set have bits beyond the last atom")

    def __len__(self) -> int:
        return len(self.label)

    def take(self, indices: Indices) -> Dataset:
        """The states of these indices, in this order."""
        columns: dict[str, Any] = {name: column[indices] for name, column in _columns(self).items()}
        return replace(self, **columns)

    def unpack(self, indices: Indices | None = None) -> npt.NDArray[np.uint8]:
        """Zeros and ones (states, atoms), of all states or of these."""
        rows = self.states if indices is None else self.states[indices]
        octets = np.ascontiguousarray(rows, dtype="<u8").view(np.uint8)
        return np.unpackbits(octets, axis=1, count=len(self.atoms), bitorder="little")

    def deduplicate(self) -> Dataset:
        """Every state once for each instance, at its first place: minimal label, tightest bounds."""
        first, group = _groups(np.column_stack([self.states, self.instance.astype(np.uint64)]))
        if len(first) == len(self):
            return self
        label = self.label[first]
        np.minimum.at(label, group, self.label)
        found = replace(self.take(first), label=label)
        if self.lower is not None and found.lower is not None:
            np.fmax.at(found.lower, group, self.lower)
        if self.upper is not None and found.upper is not None:
            np.fmin.at(found.upper, group, self.upper)
        return found

    def split(self, fraction: float, seed: int) -> tuple[Dataset, Dataset]:
        """Deduplicated rest and `fraction`, by chance; all copies of a state go to the same part."""
        if not 0 <= fraction < 1:
            raise InputError(f"the fraction of a split must be in [0, 1), got {fraction}")
        unique = self.deduplicate()
        first, group = _groups(unique.states)
        size = round(fraction * len(first))
        if fraction > 0 and len(first) > 1:
            size = min(max(size, 1), len(first) - 1)
        chosen = np.zeros(len(first), dtype=bool)
        chosen[np.random.default_rng(seed).permutation(len(first))[:size]] = True
        held_out = chosen[group]
        return unique.take(np.flatnonzero(~held_out)), unique.take(np.flatnonzero(held_out))

    def digest(self) -> str:
        """SHA-256 of atoms and columns: the identity of the data."""
        found = hashlib.sha256("\n".join(self.atoms).encode())
        for name, column in sorted(_columns(self).items()):
            found.update(f"\n{name} {column.shape}\n".encode())
            found.update(np.ascontiguousarray(column).tobytes())
        return found.hexdigest()


def pack(inputs: npt.ArrayLike) -> Words:
    """The rows of bits for a matrix (states, atoms) of truth values."""
    matrix = np.asarray(inputs, dtype=bool)
    octets = np.packbits(matrix, axis=1, bitorder="little")
    words = -(-matrix.shape[1] // WORD_BITS)
    padded = np.zeros((len(matrix), words * 8), dtype=np.uint8)
    padded[:, : octets.shape[1]] = octets
    return padded.view("<u8").astype(np.uint64, copy=False)


def concatenate(parts: Sequence[Dataset]) -> Dataset:
    """All states of data sets over the same atoms. Instances keep their numbers, missing bounds are NaN."""
    if not parts:
        raise InputError("no data sets to put together")
    atoms = parts[0].atoms
    if any(part.atoms != atoms for part in parts):
        raise InputError("data sets over different atoms cannot be put together")
    columns: dict[str, npt.NDArray[Any]] = {}
    for name in _COLUMNS:
        found = [getattr(part, name) for part in parts]
        if all(column is None for column in found):
            continue
        missing = (np.full(len(part), np.nan, dtype=np.float32) for part in parts)
        columns[name] = np.concatenate([b if a is None else a for a, b in zip(found, missing, strict=True)])
    said: dict[str, dict[str, None]] = {}
    for part in parts:
        for key, value in part.provenance.items():
            said.setdefault(key, {})[value] = None
    return Dataset(
        atoms=atoms, provenance={key: " + ".join(values) for key, values in said.items()}, **columns
    )


def save(path: str | Path, dataset: Dataset) -> None:
    header = {"atoms": list(dataset.atoms), "provenance": dict(dataset.provenance)}
    container.write(Path(path), "dataset", FORMAT_VERSION, header, _columns(dataset))


def load(path: str | Path) -> Dataset:
    """Reads what `save` wrote; anything else is an `InputError`."""
    container.check_not_pddl(Path(path), "hstar sample fsm")
    header, columns = container.read(Path(path), "dataset", FORMAT_VERSION)
    atoms, provenance = header.get("atoms"), header.get("provenance")
    if not (isinstance(atoms, list) and isinstance(provenance, dict) and _are_texts(atoms, provenance)):
        raise InputError("damaged dataset: no list of atoms or no provenance", file=path)
    try:
        return Dataset(atoms=tuple(atoms), provenance=provenance, **columns)
    except TypeError:
        found = ", ".join(columns) or "none"
        raise InputError(f"damaged dataset: missing or foreign columns, found {found}", file=path) from None
    except InputError as error:
        raise InputError(f"damaged dataset: {error.message}", file=path) from None


def _columns(dataset: Dataset) -> dict[str, npt.NDArray[Any]]:
    columns = {name: getattr(dataset, name) for name in _COLUMNS}
    return {name: column for name, column in columns.items() if column is not None}


def _are_texts(atoms: list[Any], provenance: dict[str, Any]) -> bool:
    return all(isinstance(one, str) for one in [*atoms, *provenance.values()])


def _groups(rows: Words) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Of the distinct rows: where each occurs first, in that order; and for each row, which one it is."""
    keys = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1] * 8))).reshape(len(rows))
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse]
