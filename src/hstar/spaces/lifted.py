"""A planning task as it was written: objects, types, predicates, action schemas, rules, the goal.

Holds what finite-domain variables drop and lifted models, generators and the plan validator need. The
parser of the core (`core/pddl/parser.h`) hands it over as plain data; `hstar.spaces.pddl` asks for it.

Invariant: everything in a `LiftedTask` is declared, has the right arity and is lower case. Conditions are in
negation normal form: only atoms are negated, and `(imply a b)` is `(or (not a) b)`. Every variable of an
action, a rule or the goal has a name of its own there: nothing is shadowed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from hstar.errors import UnsupportedError

GroundAtom: TypeAlias = tuple[str, ...]
"""A ground fact, predicate first: `("on", "a", "b")`."""


class Parameter(Struct, frozen=True, array_like=True):
    """A typed variable; more than one type means `(either ...)`."""

    name: str
    types: tuple[str, ...]


# Formulas. A term is a variable when it starts with `?`, and the name of an object otherwise.


class _Formula(Struct, frozen=True, array_like=True, tag=str.lower):
    pass


class Atom(_Formula, frozen=True):
    """A predicate (or `=`, or a function) with its terms."""

    predicate: str
    terms: tuple[str, ...]

    def __str__(self) -> str:
        return f"({' '.join((self.predicate, *self.terms))})"


class Not(_Formula, frozen=True):
    """Negation of an atom in a condition or an effect."""

    part: Atom

    def __str__(self) -> str:
        return f"(not {self.part})"


class _Parts(_Formula, frozen=True):
    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        return f"({' '.join((type(self).__name__.lower(), *map(str, self.parts)))})"


class And(_Parts, frozen=True):
    """Conjunction; true when it has no parts."""


class Or(_Parts, frozen=True):
    """Disjunction; false when it has no parts."""


class _Quantifier(_Formula, frozen=True):
    parameters: tuple[Parameter, ...]
    part: Formula

    def __str__(self) -> str:
        names = " ".join(parameter.name for parameter in self.parameters)
        return f"({type(self).__name__.lower()} ({names}) {self.part})"


class ForAll(_Quantifier, frozen=True):
    """Universal quantification over the objects of the parameters' types."""


class Exists(_Quantifier, frozen=True):
    """Existential quantification over the objects of the parameters' types."""


Formula: TypeAlias = Atom | Not | And | Or | ForAll | Exists
TRUE = And(())


def subformulas(formula: Formula) -> Iterator[Formula]:
    """The formula and all its parts."""
    yield formula
    if isinstance(formula, And | Or):
        for part in formula.parts:
            yield from subformulas(part)
    elif not isinstance(formula, Atom):
        yield from subformulas(formula.part)


class GoalLiterals(NamedTuple):
    """Ground atoms that a goal asks for, and atoms that it forbids."""

    atoms: tuple[GroundAtom, ...]
    negated: tuple[GroundAtom, ...]


# The two halves of a task.


class Effect(Struct, frozen=True, array_like=True):
    """For all `parameters` with `condition`: the atom becomes true (`positive`) or false."""

    parameters: tuple[Parameter, ...]
    condition: Formula
    atom: Atom
    positive: bool


class Action(Struct, frozen=True, array_like=True):
    """An action schema; `cost` is a number or a function term."""

    name: str
    parameters: tuple[Parameter, ...]
    precondition: Formula
    effects: tuple[Effect, ...]
    cost: int | Atom


class Rule(Struct, frozen=True, array_like=True):
    """A derived predicate: the head holds for every binding for which the condition does."""

    predicate: str
    parameters: tuple[Parameter, ...]
    condition: Formula


class Domain(Struct, frozen=True, array_like=True, dict=True):
    """A PDDL domain. `types` maps every type but `object` to its parent, `constants` each to its type.

    Predicates (without `=`) and functions are mapped to the types of each of their arguments.
    """

    name: str
    requirements: tuple[str, ...]
    types: Mapping[str, str]
    constants: Mapping[str, str]
    predicates: Mapping[str, tuple[tuple[str, ...], ...]]
    functions: Mapping[str, tuple[tuple[str, ...], ...]]
    actions: Mapping[str, Action]
    rules: tuple[Rule, ...]

    @cached_property
    def derived(self) -> Mapping[str, frozenset[str]]:
        """Every derived predicate with the derived ones it depends on, also indirectly."""
        needs: dict[str, set[str]] = {rule.predicate: set() for rule in self.rules}
        for rule in self.rules:
            atoms = (part for part in subformulas(rule.condition) if isinstance(part, Atom))
            needs[rule.predicate] |= {atom.predicate for atom in atoms if atom.predicate in needs}
        for middle in needs:
            for found in needs.values():
                if middle in found:
                    found |= needs[middle]
        return {name: frozenset(found) for name, found in needs.items()}


class Problem(Struct, frozen=True, array_like=True):
    """A PDDL problem. `costs` are the function values of `:init`; they count if `metric` is set."""

    name: str
    objects: Mapping[str, str]
    init: frozenset[GroundAtom]
    costs: Mapping[GroundAtom, int]
    goal: Formula
    metric: bool


class LiftedTask(Struct, frozen=True, array_like=True, dict=True):
    """A domain with one of its problems, and what is unusual about their texts."""

    domain: Domain
    problem: Problem
    warnings: tuple[str, ...]

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

    def objects_of(self, *types: str) -> tuple[str, ...]:
        """The objects of these types and of their subtypes, each once, type by type as they are declared."""
        if len(types) == 1:
            return self._by_type[types[0]]
        return tuple(dict.fromkeys(name for kind in types for name in self._by_type[kind]))

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

    @cached_property
    def goal_literals(self) -> GoalLiterals:
        """The atoms of the goal; an `UnsupportedError` unless it is a conjunction of literals.

        A universal quantifier is the conjunction over the objects.
        """
        atoms, negated = dict[GroundAtom, None](), dict[GroundAtom, None]()
        stack: list[tuple[Formula, Mapping[str, str]]] = [(self.problem.goal, {})]
        while stack:
            part, values = stack.pop()
            if isinstance(part, And):
                stack.extend((one, values) for one in reversed(part.parts))
            elif isinstance(part, ForAll):
                names = [parameter.name for parameter in part.parameters]
                objects = [self.objects_of(*parameter.types) for parameter in part.parameters]
                for chosen in reversed(list(itertools.product(*objects))):
                    stack.append((part.part, {**values, **dict(zip(names, chosen, strict=True))}))
            elif isinstance(part, Atom | Not):
                atom = part.part if isinstance(part, Not) else part
                ground = (atom.predicate, *(values.get(term, term) for term in atom.terms))
                (negated if isinstance(part, Not) else atoms)[ground] = None
            else:
                raise UnsupportedError(
                    f"the goal of problem '{self.problem.name}' is not a conjunction of literals but has "
                    f"{part}; models of a domain cannot read it, those of one task can (hstar train nrsl)"
                )
        return GoalLiterals(tuple(atoms), tuple(negated))

    @property
    def goal_atoms(self) -> tuple[GroundAtom, ...]:
        """The atoms of a goal without negated ones; an `UnsupportedError` for others."""
        atoms, negated = self.goal_literals
        if negated:
            text = f"(not ({' '.join(negated[0])}))"
            raise UnsupportedError(
                f"the goal of problem '{self.problem.name}' is not a conjunction of atoms but has {text}"
            )
        return atoms
