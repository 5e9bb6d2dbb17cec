"""A task as objects and ground atoms: what models that work for any number of objects look at.

Atoms of a state are those that the finite-domain variables tell, and those that hold in every state: static
ones, and others of the initial state that no variable stands for because the translator found them constant.
A `Vocabulary` gives predicates, types and constants of a domain their numbers, so that the same things have
the same numbers in all its tasks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.spaces.lifted import GroundAtom, LiftedTask
from hstar.spaces.task import Task, format_atom


@dataclass(frozen=True)
class Vocabulary:
    """Predicates with their arities, types and constants of a domain, each numbered by its place."""

    domain: str
    predicates: tuple[tuple[str, int], ...]
    types: tuple[str, ...]
    constants: tuple[str, ...]

    @cached_property
    def predicate_number(self) -> Mapping[str, int]:
        return {name: i for i, (name, _) in enumerate(self.predicates)}

    def kind(self, name: str, type_: str) -> int:
        """Of an object: the number of its type; a constant is a kind of its own."""
        if name in self.constants:
            return len(self.types) + self.constants.index(name)
        return self.types.index(type_)

    def to_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Vocabulary:
        """What `to_json` gave; an `InputError` for anything else."""
        try:
            return msgspec.convert(data, Vocabulary)
        except msgspec.ValidationError:
            raise InputError("not a vocabulary of a domain") from None


class GroundOperator(NamedTuple):
    """An operator without deletes, by the numbers of atoms in ascending order.

    Atoms that hold in every state are left out, and so are added atoms that are preconditions.
    """

    preconditions: tuple[int, ...]
    adds: tuple[int, ...]


@dataclass(frozen=True)
class Relations:
    """Objects with their kinds, the ground atoms that states can have or the goal is about, and the goal.

    `negative_goal` has the atoms that the goal forbids. The operators are there for models that look at them.
    """

    objects: tuple[str, ...]
    kinds: tuple[int, ...]
    atoms: tuple[GroundAtom, ...]
    goal: frozenset[GroundAtom]
    operators: tuple[GroundOperator, ...] = ()
    negative_goal: frozenset[GroundAtom] = frozenset()

    @cached_property
    def number(self) -> Mapping[GroundAtom, int]:
        return {atom: i for i, atom in enumerate(self.atoms)}

    def native(self, words: Vocabulary, *, types: bool = True) -> _core.RelationalTask:
        """The same for the core. `types`: objects of different types differ; else only constants do."""
        objects = {name: i for i, name in enumerate(self.objects)}
        return _core.RelationalTask.of_atoms(
            object_kinds=_kinds(self.kinds, words, types),
            predicates=[words.predicate_number[atom[0]] for atom in self.atoms],
            arguments=[[objects[name] for name in atom[1:]] for atom in self.atoms],
            goal=[1 if atom in self.goal else 2 * (atom in self.negative_goal) for atom in self.atoms],
        )

    def check_positive_goal(self, model: str) -> None:
        """An `UnsupportedError` if the goal has negated atoms, which only `wl` can read."""
        if self.negative_goal:
            literal = f"(not ({' '.join(min(self.negative_goal))}))"
            raise UnsupportedError(f"{model} cannot read negative goals such as {literal}; wl can")


@dataclass(frozen=True)
class TaskRelations:
    """The relations of a task, and how its states tell them."""

    relations: Relations
    constant: tuple[int, ...]  # atoms that hold in every state
    atom_of_fact: tuple[int, ...]  # per fact of the task, variables in order; -1 for none, no atom twice


def vocabulary(task: Task | LiftedTask) -> Vocabulary:
    """That of a task's domain, in alphabetical order."""
    domain = (task.lifted if isinstance(task, Task) else task).domain
    predicates = tuple(sorted((name, len(types)) for name, types in domain.predicates.items()))
    return Vocabulary(
        domain.name, predicates, ("object", *sorted(domain.types)), tuple(sorted(domain.constants))
    )


def relations(task: Task, words: Vocabulary, *, operators: bool = False) -> TaskRelations:
    """The objects and atoms of a task; an `InputError` if it is not of the domain of `words`.

    `operators`: its operators, too.
    """
    lifted = task.lifted
    check_fit(task, words)
    # Of a task that it finds unsolvable the translator leaves one fact, which is not of the domain.
    known = words.predicate_number
    facts = [atom if atom is None or atom[0] in known else None for atoms in task.atoms for atom in atoms]
    told = {atom for atom in facts if atom is not None}
    constant = lifted.problem.init - told
    goal, negated = map(frozenset, lifted.goal_literals)
    found = Relations(
        tuple(lifted.objects),
        _object_kinds(task, words),
        tuple(sorted(told | constant | goal | negated)),
        goal,
        negative_goal=negated,
    )
    if operators:
        found = replace(found, operators=_operators(task, found))
    first = {atom: i for i, atom in reversed(list(enumerate(facts))) if atom is not None}
    return TaskRelations(
        found,
        tuple(found.number[atom] for atom in sorted(constant)),
        # An atom that two variables stand for counts once.
        tuple(
            found.number[atom] if atom is not None and first[atom] == i else -1
            for i, atom in enumerate(facts)
        ),
    )


def native_relations(task: Task, words: Vocabulary, *, types: bool = True) -> _core.RelationalTask:
    """The objects and atoms of a task for its states in the core, of which a large task has very many.

    `types` as in `Relations.native`; errors as in `relations`.
    """
    check_fit(task, words)
    lifted = task.lifted
    return _core.RelationalTask.of_task(
        task.core,
        predicates=[name for name, _ in words.predicates],
        objects=list(lifted.objects),
        object_kinds=_kinds(_object_kinds(task, words), words, types),
        initial=list(lifted.problem.init),
        goal=list(lifted.goal_literals.atoms),
        negative_goal=list(lifted.goal_literals.negated),
    )


def _object_kinds(task: Task, words: Vocabulary) -> tuple[int, ...]:
    return tuple(words.kind(name, type_) for name, type_ in task.lifted.objects.items())


def _kinds(kinds: Sequence[int], words: Vocabulary, types: bool) -> list[int]:
    return [kind if types or kind >= len(words.types) else 0 for kind in kinds]


def _operators(task: Task, found: Relations) -> tuple[GroundOperator, ...]:
    """Those of the task in their order; facts that no atom stands for are left out."""

    def numbers(facts: Iterable[tuple[int, int]]) -> set[int]:
        atoms = (task.atoms[variable][value] for variable, value in facts)
        return {found.number[atom] for atom in atoms if atom is not None and atom in found.number}

    operators = []
    for operator in map(task.core.operator, range(task.core.num_operators)):
        if any(conditions for conditions, _, _ in operator.effects):
            raise UnsupportedError(
                f"{operator.name.strip()} has conditional effects, which the data cannot hold"
            )
        preconditions = numbers(operator.preconditions)
        adds = numbers((variable, value) for _, variable, value in operator.effects) - preconditions
        operators.append(GroundOperator(tuple(sorted(preconditions)), tuple(sorted(adds))))
    return tuple(operators)


def check_fit(task: Task, words: Vocabulary) -> None:
    """An `InputError` if a task is not of the domain of `words`, an `UnsupportedError` for some goals."""
    check_domain(task.name, vocabulary(task), words)
    lifted = task.lifted
    goal = itertools.chain(*lifted.goal_literals)
    derived = {atom for atom in goal if atom[0] in lifted.domain.derived} - lifted.problem.init
    if lost := derived.difference(*task.atoms) if derived else ():
        raise UnsupportedError(f"{format_atom(min(lost))} is derived, and the translator left it out")


def check_domain(name: str, own: Vocabulary, words: Vocabulary) -> None:
    """An `InputError` about the task of this name unless its vocabulary has the same predicates, types and
    constants; names of domains differ here and there.
    """
    parts: tuple[tuple[str, Sequence[str], Sequence[str]], ...] = (
        ("predicate", _spelled(own), _spelled(words)),
        ("type", own.types, words.types),
        ("constant", own.constants, words.constants),
    )
    for kind, found, known in parts:
        more = (f"has the {kind} {one}" for one in found if one not in known)
        less = (f"has no {kind} {one}" for one in known if one not in found)
        if what := next(itertools.chain(more, less), None):
            raise InputError(f"{name} is of another domain than {words.domain}: it {what}")


def _spelled(words: Vocabulary) -> list[str]:
    return [f"{name} with {arity} arguments" for name, arity in words.predicates]
