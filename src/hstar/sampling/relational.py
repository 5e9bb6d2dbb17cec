"""Labelled states of many tasks of one domain, as objects and atoms: what models of a domain learn from.

Nothing of the PDDL or its translation is needed to learn from these data: an instance has its objects, its
ground atoms, its operators and its goal, a state is the list of the atoms that hold in it, and columns say
what is known about each state: `label` (h*, NaN where it is not known), `parent` (the row of a state that has
it for a successor, NaN where there is none), and values of heuristics by their names.

Invariants: all instances share one vocabulary; every atom of a state holds in it, static ones included.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from hstar import container
from hstar.errors import InputError
from hstar.spaces.lifted import GroundAtom
from hstar.spaces.relations import GroundOperator, Relations, Vocabulary, relations
from hstar.spaces.task import Task

FORMAT_VERSION = 2

Column: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class RelationalInstance:
    """One task and some of its states. `ends[i]` is where the atoms of state i end in `atoms`."""

    name: str
    relations: Relations
    ends: npt.NDArray[np.int64]
    atoms: npt.NDArray[np.int32]
    columns: Mapping[str, Column]

    def __post_init__(self) -> None:
        n = len(self.ends)
        if any(column.shape != (n,) for column in self.columns.values()):
            raise InputError(f"{self.name}: a column has not one entry for each of {n} states")
        if "label" not in self.columns:
            raise InputError(f"{self.name}: states without a label")
        if n and (np.any(np.diff(self.ends, prepend=0) < 0) or self.ends[-1] != len(self.atoms)):
            raise InputError(f"{self.name}: the atoms of states are not in order")
        highest = max((atom for one in self.relations.operators for part in one for atom in part), default=0)
        if self.relations.operators and highest >= len(self.relations.atoms):
            raise InputError(f"{self.name}: an operator has an atom that there is not")
        if len(self.atoms) and not 0 <= self.atoms.min() <= self.atoms.max() < len(self.relations.atoms):
            raise InputError(f"{self.name}: a state has an atom that there is not")

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def labelled(self) -> npt.NDArray[np.bool_]:
        return ~np.isnan(self.columns["label"])

    def least(self) -> npt.NDArray[np.float64]:
        """h* of labelled states; of others what it is at least, and NaN where nothing is known."""
        label = self.columns["label"].astype(np.float64)
        parent = self.columns.get("parent", np.full(len(label), np.nan))
        known = ~np.isnan(parent)
        bound = self.columns.get("lmcut", np.full(len(label), np.nan)).astype(np.float64)
        bound[known] = np.fmax(bound[known], label[parent[known].astype(np.int64)] - 1)  # costs are 1
        return np.where(np.isnan(label), bound, label)

    def with_labels(self) -> RelationalInstance:
        """Only the states that have a label, in their order."""
        kept = self.labelled
        sizes = np.diff(self.ends, prepend=0)
        parent = self.columns.get("parent")
        columns = {name: column[kept] for name, column in self.columns.items()}
        if parent is not None:  # rows have new numbers, and some parents are gone
            number = np.where(kept, np.cumsum(kept) - 1, np.nan).astype(np.float32)
            known = ~np.isnan(parent)
            moved = np.full_like(parent, np.nan)
            moved[known] = number[parent[known].astype(np.int64)]
            columns["parent"] = moved[kept]
        return RelationalInstance(
            self.name, self.relations, np.cumsum(sizes[kept]), self.atoms[np.repeat(kept, sizes)], columns
        )

    def digest(self) -> str:
        """The identity of the task: its objects, its goal and its first state, by their names."""
        known = self.relations
        told: tuple[Any, ...] = (known.objects, known.kinds, sorted(known.goal), sorted(self.state(0)))
        told += (sorted(known.negative_goal),) if known.negative_goal else ()
        return hashlib.sha256(repr(told).encode()).hexdigest()[:16]

    def state(self, index: int) -> frozenset[GroundAtom]:
        begin = int(self.ends[index - 1]) if index else 0
        return frozenset(self.relations.atoms[i] for i in self.atoms[begin : self.ends[index]])


def instance_of(
    name: str, task: Task, words: Vocabulary, states: npt.NDArray[np.int32], columns: Mapping[str, Column]
) -> RelationalInstance:
    """States of a task, given by the values of its variables (states, variables)."""
    found = relations(task, words, operators=not task.core.has_conditional_effects)
    offsets = np.cumsum([0, *(len(values) for values in task.atoms)])[:-1]
    told = np.array(found.atom_of_fact)[states + offsets]
    rows = [np.concatenate([found.constant, row[row >= 0]]).astype(np.int32) for row in told]
    ends = np.cumsum([len(row) for row in rows], dtype=np.int64)
    return RelationalInstance(name, found.relations, ends, np.concatenate(rows), columns)


@dataclass(frozen=True, eq=False)
class RelationalData:
    """Labelled states of several problems of one domain."""

    words: Vocabulary
    instances: tuple[RelationalInstance, ...]

    def __post_init__(self) -> None:
        names = [instance.name for instance in self.instances]
        if twice := next((name for name, number in Counter(names).items() if number > 1), None):
            raise InputError(f"two instances of the data have one name: {twice}")
        columns = {tuple(sorted(instance.columns)) for instance in self.instances}
        if len(columns) > 1:
            raise InputError("the instances of the data have different columns")

    @property
    def labelled(self) -> npt.NDArray[np.bool_]:
        return ~np.isnan(self.column("label"))

    def with_labels(self) -> RelationalData:
        return RelationalData(self.words, tuple(one.with_labels() for one in self.instances))

    def column(self, name: str) -> Column:
        if not self.instances:
            return np.zeros(0, dtype=np.float32)
        return np.concatenate([instance.columns[name] for instance in self.instances])

    def least(self) -> npt.NDArray[np.float64]:
        return np.concatenate([np.zeros(0), *(instance.least() for instance in self.instances)])

    def largest(self, share: float) -> npt.NDArray[np.bool_]:
        """Which instances are the share with the most objects, of equal ones those with the longest plans.

        At least one, and not the only one.
        """
        plans = [one.columns["label"][one.labelled].max(initial=-1) for one in self.instances]
        objects = [len(one.relations.objects) for one in self.instances]
        number = len(self.instances)
        found = np.zeros(number, dtype=np.bool_)
        if number > 1:
            found[np.lexsort((plans, objects))[-min(max(round(share * number), 1), number - 1) :]] = True
        return found

    def only(self, chosen: npt.NDArray[np.bool_]) -> RelationalData:
        """The chosen instances, in their order."""
        return RelationalData(self.words, tuple(itertools.compress(self.instances, chosen)))


def merge(parts: Iterable[RelationalData]) -> RelationalData:
    given = list(parts)
    if not given:
        raise InputError("no data to put together")
    if other := next((part for part in given if part.words != given[0].words), None):
        raise InputError(f"data of {given[0].words.domain} and of {other.words.domain} are different domains")
    return RelationalData(given[0].words, tuple(one for part in given for one in part.instances))


# --- files ----------------------------------------------------------------------------------------------


def save(path: str | Path, data: RelationalData) -> None:
    names = sorted(data.instances[0].columns) if data.instances else ["label"]
    header = {
        "vocabulary": data.words.to_json(),
        "columns": names,
        "instances": [
            {
                **msgspec.to_builtins(replace(instance.relations, operators=())),
                "name": instance.name,
                "goal": sorted(map(list, instance.relations.goal)),
                "negative_goal": sorted(map(list, instance.relations.negative_goal)),
                "operators": len(instance.relations.operators),
                "states": len(instance),
                "entries": len(instance.atoms),
            }
            for instance in data.instances
        ],
    }
    tensors: dict[str, npt.NDArray[Any]] = {
        "ends": _join([instance.ends for instance in data.instances], np.int64),
        "atoms": _join([instance.atoms for instance in data.instances], np.int32),
    }
    operators = [operator for instance in data.instances for operator in instance.relations.operators]
    for name in GroundOperator._fields:
        lists: list[tuple[int, ...]] = [getattr(operator, name) for operator in operators]
        tensors[f"{name}.sizes"] = np.array([len(atoms) for atoms in lists], dtype=np.int32)
        tensors[f"{name}.atoms"] = np.array([atom for atoms in lists for atom in atoms], dtype=np.int32)
    for name in names:
        tensors[f"column.{name}"] = data.column(name)
    container.write(Path(path), "relational dataset", FORMAT_VERSION, header, tensors)


def shipped() -> dict[str, Path]:
    """Data that come with hstar, by name: states of small problems, to learn from at once."""
    folder = Path(__file__).parents[1] / "data"
    return {path.stem: path for path in sorted(folder.glob("*.data"))}


def locate(path: str | Path) -> Path:
    """A file that is there, or shipped data by their name."""
    found = Path(path)
    if found.is_file():
        container.check_not_pddl(found, "hstar sample optimal")
        return found
    known = shipped()
    if str(path) in known:
        return known[str(path)]
    if found.is_dir():
        raise InputError("is a directory, not a file", file=path)
    raise InputError(f"no such file, nor data that come with hstar ({', '.join(known)})", file=path)


def load(path: str | Path) -> RelationalData:
    """Reads what `save` wrote, or shipped data by name; anything else is an `InputError`."""
    path = locate(path)
    header, tensors = container.read(path, "relational dataset", FORMAT_VERSION, FORMAT_VERSION)
    try:
        words = Vocabulary.from_json(header["vocabulary"])
        columns = {name: tensors[f"column.{name}"] for name in header["columns"]}
        operators = iter(_operators(tensors))
        instances, state, entry = [], 0, 0
        for about in header["instances"]:
            n, m = about["states"], about["entries"]
            relations = replace(
                msgspec.convert({**about, "operators": ()}, Relations),
                operators=tuple(itertools.islice(operators, about["operators"])),
            )
            own = {name: column[state : state + n] for name, column in columns.items()}
            ends, atoms = tensors["ends"][state : state + n], tensors["atoms"][entry : entry + m]
            instances.append(RelationalInstance(about["name"], relations, ends, atoms, own))
            state, entry = state + n, entry + m
        return RelationalData(words, tuple(instances))
    except (KeyError, TypeError, ValueError, IndexError, msgspec.ValidationError):
        raise InputError("damaged relational dataset: something is missing in it", file=path) from None
    except InputError as error:
        raise InputError(f"damaged relational dataset: {error.message}", file=path) from None


def _operators(tensors: container.Tensors) -> list[GroundOperator]:
    def lists(name: str) -> Iterator[tuple[int, ...]]:
        atoms = iter(tensors[f"{name}.atoms"].tolist())
        for size in tensors[f"{name}.sizes"].tolist():
            yield tuple(itertools.islice(atoms, size))

    return [GroundOperator(*both) for both in zip(*map(lists, GroundOperator._fields), strict=True)]


def _join(parts: Sequence[npt.NDArray[Any]], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=dtype), *parts])
