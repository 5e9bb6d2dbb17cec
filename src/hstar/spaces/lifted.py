"""A planning task as it was written: objects, types, predicates, action schemas, rules, the goal.

Holds what the translator's `.sas` output drops and lifted models, generators and the plan validator
need. `hstar.spaces.pddl` reads it from PDDL.

Invariant: everything in a `LiftedTask` is declared, has the right arity and is lower case; every
variable of an action, a rule or the goal has a name of its own there: nothing is shadowed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from hstar.errors import UnsupportedError

GroundAtom: TypeAlias = tuple[str, ...]
"""A ground fact, predicate first: `("on", "a", "b")`."""


# Formulas. A term is a variable when it starts with `?`, and the name of an object otherwise.


@dataclass(frozen=True, slots=True)
class Parameter:
    """A typed variable; more than one type means `(either ...)`."""

    name: str
    types: tuple[str, ...] = ("object",)


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate (or `=`) with its terms."""

    predicate: str
    terms: tuple[str, ...]

    def __str__(self) -> str:
        return f"({' '.join((self.predicate, *self.terms))})"


@dataclass(frozen=True, slots=True)
class Not:
    """Negation."""

    part: Formula

    def __str__(self) -> str:
        return f"(not {self.part})"


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction; true when it has no parts."""

    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        return f"({' '.join(('and', *map(str, self.parts)))})"


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction; false when it has no parts."""

    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        return f"({' '.join(('or', *map(str, self.parts)))})"


@dataclass(frozen=True, slots=True)
class Imply:
    """Implication."""

    premise: Formula
    conclusion: Formula

    def __str__(self) -> str:
        return f"(imply {self.premise} {self.conclusion})"


@dataclass(frozen=True, slots=True)
class ForAll:
    """Universal quantification over the objects of the parameters' types."""

    parameters: tuple[Parameter, ...]
    part: Formula

    def __str__(self) -> str:
        return f"(forall ({' '.join(p.name for p in self.parameters)}) {self.part})"


@dataclass(frozen=True, slots=True)
class Exists:
    """Existential quantification over the objects of the parameters' types."""

    parameters: tuple[Parameter, ...]
    part: Formula

    def __str__(self) -> str:
        return f"(exists ({' '.join(p.name for p in self.parameters)}) {self.part})"


Formula: TypeAlias = Atom | Not | And | Or | Imply | ForAll | Exists
TRUE = And(())


# The two halves of a task.


@dataclass(frozen=True, slots=True)
class Predicate:
    """A declared predicate or function symbol."""

    name: str
    parameters: tuple[Parameter, ...]

    @property
    def arity(self) -> int:
        """Number of arguments."""
        return len(self.parameters)


@dataclass(frozen=True, slots=True)
class Effect:
    """For all `parameters` with `condition`: the atom becomes true (`positive`) or false."""

    parameters: tuple[Parameter, ...]
    condition: Formula
    atom: Atom
    positive: bool


@dataclass(frozen=True, slots=True)
class Action:
    """An action schema; `cost` is a number, a function term, or None where nothing is increased."""

    name: str
    parameters: tuple[Parameter, ...]
    precondition: Formula
    effects: tuple[Effect, ...]
    cost: int | Atom | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A derived predicate: the head holds for every binding for which the condition does."""

    predicate: str
    parameters: tuple[Parameter, ...]
    condition: Formula


@dataclass(frozen=True)
class Domain:
    """A PDDL domain. `types` maps every type but `object` to its parent."""

    name: str
    requirements: tuple[str, ...]
    types: Mapping[str, str]
    constants: Mapping[str, str]
    predicates: Mapping[str, Predicate]
    functions: Mapping[str, Predicate]
    actions: Mapping[str, Action]
    rules: tuple[Rule, ...]

    @cached_property
    def derived(self) -> Mapping[str, frozenset[str]]:
        """Every derived predicate with the derived ones it depends on, also indirectly."""
        needs: dict[str, set[str]] = {rule.predicate: set() for rule in self.rules}
        for rule in self.rules:
            needs[rule.predicate] |= {
                atom.predicate for atom, _ in literals(rule.condition) if atom.predicate in needs
            }
        for middle in needs:
            for found in needs.values():
                if middle in found:
                    found |= needs[middle]
        return {name: frozenset(found) for name, found in needs.items()}


@dataclass(frozen=True)
class Problem:
    """A PDDL problem. `costs` are the function values of `:init`; they count if `metric` is set."""

    name: str
    domain_name: str
    requirements: tuple[str, ...]
    objects: Mapping[str, str]
    init: frozenset[GroundAtom]
    costs: Mapping[GroundAtom, int]
    goal: Formula
    metric: bool


@dataclass(frozen=True)
class LiftedTask:
    """A domain with one of its problems."""

    domain: Domain
    problem: Problem

    @cached_property
    def objects(self) -> Mapping[str, str]:
        """Constants and objects, each with its type."""
        return {**self.domain.constants, **self.problem.objects}

    @cached_property
    def _by_type(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {name: [] for name in ("object", *self.domain.types)}
        for name, kind in self.objects.items():
            found["object"].append(name)
            while kind != "object":
                found[kind].append(name)
                kind = self.domain.types[kind]
        return {kind: tuple(names) for kind, names in found.items()}

    def objects_of_type(self, name: str) -> tuple[str, ...]:
        """The objects of a type and of its subtypes, in the order of declaration."""
        return self._by_type[name]

    @property
    def predicates(self) -> Mapping[str, Predicate]:
        """The declared predicates (`=` is not among them)."""
        return self.domain.predicates

    @cached_property
    def static_predicates(self) -> frozenset[str]:
        """The predicates that neither an effect nor a derived rule touches."""
        touched = {e.atom.predicate for a in self.domain.actions.values() for e in a.effects}
        return frozenset(self.domain.predicates) - touched - self.domain.derived.keys()

    @cached_property
    def static_facts(self) -> frozenset[GroundAtom]:
        """The initial facts that can never change."""
        return frozenset(a for a in self.problem.init if a[0] in self.static_predicates)

    @cached_property
    def fluent_init(self) -> frozenset[GroundAtom]:
        """The initial facts that can change."""
        return self.problem.init - self.static_facts

    @property
    def goal(self) -> Formula:
        """The goal as it was written."""
        return self.problem.goal

    @cached_property
    def goal_atoms(self) -> tuple[GroundAtom, ...]:
        """The positive atoms of a goal that is a conjunction of literals."""
        atoms: list[GroundAtom] = []
        stack = [self.problem.goal]
        while stack:
            part = stack.pop()
            if isinstance(part, And):
                stack.extend(reversed(part.parts))
            elif isinstance(part, Atom):
                atoms.append((part.predicate, *part.terms))
            elif not (isinstance(part, Not) and isinstance(part.part, Atom)):
                raise UnsupportedError(
                    f"the goal of problem '{self.problem.name}' is not a conjunction of literals "
                    f"but has {part}; use a heuristic that works on the translated task"
                )
        return tuple(dict.fromkeys(atoms))


def literals(formula: Formula, positive: bool = True) -> Iterator[tuple[Atom, bool]]:
    """Every atom of the formula with the polarity under which it occurs."""
    if isinstance(formula, Atom):
        yield formula, positive
    elif isinstance(formula, Not):
        yield from literals(formula.part, not positive)
    elif isinstance(formula, Imply):
        yield from literals(formula.premise, not positive)
        yield from literals(formula.conclusion, positive)
    elif isinstance(formula, And | Or):
        for part in formula.parts:
            yield from literals(part, positive)
    else:
        yield from literals(formula.part, positive)
