"""Replay a plan on the PDDL as it was written: states of a lifted task, conditions in them, actions.

Semantics: PDDL 2.2 (Thiébaux, Hoffmann and Nebel, AIJ 168, 2005, for derived predicates). Effect
conditions are read in the old state, deletes come before adds. Derived predicates are the least
fixpoint of their rules, stratum by stratum, with negation as failure; one is computed only when a
condition mentions it, and semi-naively: a new fact is joined with the rest of every rule body that
it occurs in. Nothing is grounded: a condition is a query over the facts, most selective part first.

Plain and slow next to the core. But for the parser it shares no code with it: this is what plans are checked
against.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

from hstar.spaces.lifted import (
    Action,
    And,
    Atom,
    Effect,
    Exists,
    ForAll,
    Formula,
    LiftedTask,
    Not,
    Or,
    Parameter,
    subformulas,
)
from hstar.spaces.validate import Verdict

# Conditions, compiled. Negation is pushed down to the atoms and forall is "no counterexample", so
# that every condition can be answered by looking for bindings in the facts.

Binding: TypeAlias = Mapping[str, str]
Domains: TypeAlias = Mapping[str, frozenset[str]]  # the objects that each variable may stand for


@dataclass(frozen=True, slots=True)
class _Literal:
    atom: Atom
    positive: bool
    free: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Compound:
    """`all` or `any` of the parts, `some` or `none` of the bindings of the (only) part."""

    kind: str
    parts: tuple[_Node, ...]
    free: frozenset[str]
    local: tuple[str, ...] = ()


_Node: TypeAlias = _Literal | _Compound


def _compile(formula: Formula, positive: bool = True) -> _Node:
    if isinstance(formula, Atom):
        variables = frozenset(term for term in formula.terms if term.startswith("?"))
        return _Literal(formula, positive, variables)
    if isinstance(formula, Not):
        return _compile(formula.part, not positive)
    if isinstance(formula, And | Or):
        parts = tuple(_compile(part, positive) for part in formula.parts)
        kind = "all" if isinstance(formula, And) == positive else "any"
        return _compound(kind, parts)
    existential = isinstance(formula, Exists)
    part = _compile(formula.part, existential)
    local = tuple(parameter.name for parameter in formula.parameters)
    kind = "some" if existential == positive else "none"
    return _compound(kind, (part,), local)


def _compound(kind: str, parts: tuple[_Node, ...], local: tuple[str, ...] = ()) -> _Compound:
    free = frozenset[str]().union(*(part.free for part in parts))
    return _Compound(kind, parts, free.difference(local), local)


def _occurrences(node: _Node) -> Iterator[tuple[Atom, frozenset[str], _Node]]:
    """Atoms that can make the node true, each with the variables it may bind and the node's case.

    The case is the node reduced to the alternatives in which the atom occurs: what a new fact can
    make true, it makes true there.
    """
    if isinstance(node, _Literal):
        if node.positive:
            yield node.atom, node.free, node
    elif node.kind == "any":
        for part in node.parts:
            yield from _occurrences(part)
    elif node.kind == "none":
        # The fact removes one counterexample; what is bound inside differs between them.
        for atom in _negated_atoms(node.parts[0]):
            yield atom, node.free, node
    else:
        for i, part in enumerate(node.parts):
            for atom, bindable, case in _occurrences(part):
                parts = (*node.parts[:i], case, *node.parts[i + 1 :])
                yield atom, bindable, _compound(node.kind, parts, node.local)


def _negated_atoms(node: _Node, positive: bool = False) -> Iterator[Atom]:
    if isinstance(node, _Literal):
        if node.positive == positive:
            yield node.atom
    else:
        for part in node.parts:
            yield from _negated_atoms(part, positive != (node.kind == "none"))


class _Relation:
    """The true argument tuples of one predicate, indexed by whichever positions are asked for."""

    def __init__(self, facts: Iterable[tuple[str, ...]] = ()) -> None:
        self.facts = set(facts)
        self._indices: dict[tuple[int, ...], dict[tuple[str, ...], list[tuple[str, ...]]]] = {}

    def add(self, fact: tuple[str, ...]) -> None:
        self.facts.add(fact)
        for positions, index in self._indices.items():
            index.setdefault(tuple(fact[i] for i in positions), []).append(fact)

    def matching(self, positions: tuple[int, ...], key: tuple[str, ...]) -> Sequence[tuple[str, ...]]:
        """The facts that have `key` at `positions`."""
        if positions not in self._indices:
            index: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
            for fact in self.facts:
                index.setdefault(tuple(fact[i] for i in positions), []).append(fact)
            self._indices[positions] = index
        return self._indices[positions].get(key, ())


@dataclass(frozen=True, slots=True)
class Schema:
    """A condition with the objects that each variable may stand for."""

    condition: _Node
    parameters: tuple[str, ...]
    domains: Domains


Effects: TypeAlias = Sequence[tuple[Schema, Effect]]
"""The effects of an action, each with its compiled condition."""


class Program:
    """The task, compiled once per validation; actions on first use."""

    def __init__(self, task: LiftedTask) -> None:
        self.task = task
        self._actions: dict[str, tuple[Schema, Effects]] = {}
        self.rules: dict[str, list[Schema]] = {}
        # For every derived predicate: where a new fact of it can make a rule of its stratum fire.
        self.triggers: dict[str, list[tuple[str, Schema, Atom, frozenset[str]]]] = {}
        for rule in task.domain.rules:
            schema = self.schema(rule.condition, rule.parameters)
            self.rules.setdefault(rule.predicate, []).append(schema)
            for atom, bindable, case in _occurrences(schema.condition):
                if atom.predicate in self.stratum(rule.predicate):
                    trigger = (rule.predicate, replace(schema, condition=case), atom, bindable)
                    self.triggers.setdefault(atom.predicate, []).append(trigger)

    def stratum(self, predicate: str) -> list[str]:
        """The derived predicates that depend on each other, this one among them."""
        needs = self.task.domain.derived
        return [p for p in needs if p == predicate or (p in needs[predicate] and predicate in needs[p])]

    def schema(self, condition: Formula, own: Sequence[Parameter], outer: Sequence[Parameter] = ()) -> Schema:
        """Compile a condition over its `own` variables and those bound `outer` of it."""
        domains: dict[str, frozenset[str]] = {}
        quantifiers = (part for part in subformulas(condition) if isinstance(part, ForAll | Exists))
        quantified = (parameter for part in quantifiers for parameter in part.parameters)
        for parameter in (*outer, *own, *quantified):
            domains[parameter.name] = frozenset(self.task.objects_of(*parameter.types))
        return Schema(_compile(condition), tuple(p.name for p in own), domains)

    def compiled(self, action: Action) -> tuple[Schema, Effects]:
        """The precondition of an action, and its effects."""
        if action.name not in self._actions:
            effects = [(self.schema(e.condition, e.parameters, action.parameters), e) for e in action.effects]
            self._actions[action.name] = self.schema(action.precondition, action.parameters), effects
        return self._actions[action.name]


class LiftedState:
    """One state: the basic relations, and the derived ones as soon as they are asked for."""

    def __init__(self, program: Program, relations: dict[str, _Relation]) -> None:
        self.program = program
        self.basic = relations
        self._derived: dict[str, _Relation] = {}

    @classmethod
    def initial(cls, program: Program) -> LiftedState:
        """The initial state: the atoms of `:init`."""
        facts: dict[str, list[tuple[str, ...]]] = {name: [] for name in program.task.domain.predicates}
        for fact in program.task.problem.init:
            facts[fact[0]].append(fact[1:])
        return cls(program, {name: _Relation(found) for name, found in facts.items()})

    def successor(self, effects: Effects, binding: Binding) -> LiftedState:
        """The state after the effects of an action: deletes come before adds."""
        adds: dict[str, set[tuple[str, ...]]] = {}
        deletes: dict[str, set[tuple[str, ...]]] = {}
        for schema, effect in effects:
            changes = adds if effect.positive else deletes
            for found in self.instances(schema, binding):
                fact = tuple(found.get(term, term) for term in effect.atom.terms)
                changes.setdefault(effect.atom.predicate, set()).add(fact)
        relations = dict(self.basic)
        for name in adds.keys() | deletes.keys():
            kept = self.basic[name].facts - deletes.get(name, set())
            relations[name] = _Relation(kept | adds.get(name, set()))
        return LiftedState(self.program, relations)

    def relation(self, predicate: str) -> _Relation:
        """The facts of a predicate that are true in this state."""
        if predicate not in self.program.rules:
            return self.basic[predicate]
        if predicate not in self._derived:
            self._derive(self.program.stratum(predicate))
        return self._derived[predicate]

    def _derive(self, stratum: list[str]) -> None:
        """The least fixpoint of the rules of one stratum."""
        for name in stratum:
            self._derived[name] = _Relation()
        new: list[tuple[str, tuple[str, ...]]] = []

        def fire(name: str, schema: Schema, binding: Binding) -> None:
            relation = self._derived[name]
            # The relation must not grow while it is being searched.
            for found in list(self.instances(schema, binding)):
                fact = tuple(found[parameter] for parameter in schema.parameters)
                if fact not in relation.facts:
                    relation.add(fact)
                    new.append((name, fact))

        for name in stratum:
            for schema in self.program.rules[name]:
                fire(name, schema, {})
        while new:
            name, fact = new.pop()
            for head, schema, atom, bindable in self.program.triggers.get(name, ()):
                binding = _unify(atom, fact, {}, schema.domains)
                if binding is not None:
                    fire(head, schema, {v: o for v, o in binding.items() if v in bindable})

    def holds(self, schema: Schema, binding: Binding) -> bool:
        """Whether the condition is true for a binding of all its free variables."""
        return any(True for _ in self._solve(schema.condition, binding, schema.domains))

    def false_part(self, formula: Formula, binding: Binding, outer: Sequence[Parameter] = ()) -> str:
        """The first conjunct that is false, as text with the bound variables replaced."""
        if isinstance(formula, And):
            for part in formula.parts:
                if not self.holds(self.program.schema(part, (), outer), binding):
                    return self.false_part(part, binding, outer)
        return re.sub(r"\?[^\s()]+", lambda match: binding.get(match[0], match[0]), str(formula))

    def instances(self, schema: Schema, binding: Binding) -> Iterator[Binding]:
        """The extensions of `binding` to the schema's parameters that make the condition true."""
        for found in self._solve(schema.condition, binding, schema.domains):
            yield from _complete(schema.parameters, found, schema.domains)

    def _solve(self, node: _Node, binding: Binding, domains: Domains) -> Iterator[Binding]:
        """Extensions of `binding` that make the node true, whatever is still unbound."""
        if isinstance(node, _Literal):
            yield from self._solve_literal(node, binding, domains)
        elif node.kind == "all":
            yield from self._solve_all(node.parts, binding, domains)
        elif node.kind == "none":
            for full in _complete(sorted(node.free), binding, domains):
                if next(self._solve_some(node, full, domains), None) is None:
                    yield full
        elif all(v in binding for v in node.free):
            # Nothing to find out but whether it is true: the first witness will do.
            if next(self._solve_some(node, binding, domains), None) is not None:
                yield binding
        else:
            yield from self._solve_some(node, binding, domains)

    def _solve_some(self, node: _Compound, binding: Binding, domains: Domains) -> Iterator[Binding]:
        if all(domains[variable] for variable in node.local):
            for part in node.parts:
                yield from self._solve(part, binding, domains)

    def _solve_all(self, parts: Sequence[_Node], binding: Binding, domains: Domains) -> Iterator[Binding]:
        unknown: list[_Node] = []
        for part in parts:
            if any(variable not in binding for variable in part.free):
                unknown.append(part)
            elif next(self._solve(part, binding, domains), None) is None:
                return
        if not unknown:
            yield binding
            return
        best = min(unknown, key=lambda part: self._size(part, binding, domains))
        unknown.remove(best)
        for found in self._solve(best, binding, domains):
            yield from self._solve_all(unknown, found, domains)

    def _size(self, node: _Node, binding: Binding, domains: Domains) -> float:
        """About how many bindings the node has; below 1 when it only tests. Orders conjunctions."""
        unbound = [variable for variable in node.free if variable not in binding]
        if isinstance(node, _Literal):
            if not unbound:
                return 0.0
            if node.positive and node.atom.predicate == "=":
                return 1.0
            if node.positive:
                return float(len(self._candidates(node.atom, binding)))
        elif node.kind == "all":
            return min((self._size(part, binding, domains) for part in node.parts), default=0.0)
        elif node.kind == "any":
            return sum(self._size(part, binding, domains) for part in node.parts) + 0.5
        elif node.kind == "some":
            return self._size(node.parts[0], binding, domains) + 0.5
        size = 0.5
        for variable in unbound:
            size *= 2 * len(domains[variable])
        return size

    def _candidates(self, atom: Atom, binding: Binding) -> Sequence[tuple[str, ...]]:
        """The facts that agree with the bound terms of the atom."""
        positions: list[int] = []
        key: list[str] = []
        for i, term in enumerate(atom.terms):
            if term in binding or not term.startswith("?"):
                positions.append(i)
                key.append(binding.get(term, term))
        return self.relation(atom.predicate).matching(tuple(positions), tuple(key))

    def _solve_literal(self, node: _Literal, binding: Binding, domains: Domains) -> Iterator[Binding]:
        terms = node.atom.terms
        equality = node.atom.predicate == "="
        if node.positive and not equality:
            for fact in self._candidates(node.atom, binding):
                found = _unify(node.atom, fact, binding, domains)
                if found is not None:
                    yield found
            return
        known = [binding.get(t, t) for t in terms if t in binding or not t.startswith("?")]
        if node.positive and len(known) == 1:
            found = _unify(node.atom, (known[0], known[0]), binding, domains)
            if found is not None:
                yield found
            return
        for full in _complete(sorted(node.free), binding, domains):
            values = tuple(full.get(term, term) for term in terms)
            if equality:
                true = values[0] == values[1]
            else:
                true = values in self.relation(node.atom.predicate).facts
            if true == node.positive:
                yield full


def _unify(
    atom: Atom,
    fact: tuple[str, ...],
    binding: Binding,
    domains: Domains,
) -> dict[str, str] | None:
    """`binding` extended so that the atom is the fact; None if there is no such binding."""
    found = dict(binding)
    for term, value in zip(atom.terms, fact, strict=True):
        if not term.startswith("?"):
            if term != value:
                return None
        elif term in found:
            if found[term] != value:
                return None
        elif value in domains[term]:
            found[term] = value
        else:
            return None
    return found


def _complete(variables: Iterable[str], binding: Binding, domains: Domains) -> Iterator[Binding]:
    """`binding` extended to all variables, in every way."""
    unbound = [variable for variable in variables if variable not in binding]
    if not unbound:
        yield binding
        return
    for values in product(*(sorted(domains[variable]) for variable in unbound)):
        yield {**binding, **dict(zip(unbound, values, strict=True))}


# Plans.


def validate_pddl(task: LiftedTask, plan: Sequence[str]) -> Verdict:
    """Replay steps like `pick-up a` or `(pick-up a)` on the task as it was written."""
    program = Program(task)
    state = LiftedState.initial(program)
    cost = 0
    for number, step in enumerate(plan, 1):
        words = step.strip().removeprefix("(").removesuffix(")").lower().split()
        outcome = _replay_step(program, state, words)
        if isinstance(outcome, str):
            return Verdict(False, cost, f"step {number} ({' '.join(words)}): {outcome}", number)
        state, step_cost = outcome
        cost += step_cost
    if not state.holds(program.schema(task.problem.goal, ()), {}):
        return Verdict(False, cost, f"goal {state.false_part(task.problem.goal, {})} is false")
    return Verdict(True, cost)


def _replay_step(program: Program, state: LiftedState, words: Sequence[str]) -> tuple[LiftedState, int] | str:
    """The next state and the cost of the step, or why the step is not possible."""
    name, arguments = "".join(words[:1]), words[1:]
    action = program.task.domain.actions.get(name)
    if action is None:
        return f"there is no action '{name}'"
    schema, effects = program.compiled(action)
    if len(arguments) != len(action.parameters):
        return f"the action takes {len(action.parameters)} arguments, got {len(arguments)}"
    for parameter, value in zip(action.parameters, arguments, strict=True):
        if value not in program.task.objects:
            return f"there is no object '{value}'"
        if value not in schema.domains[parameter.name]:
            return f"'{value}' is not of type '{' or '.join(parameter.types)}'"
    binding = dict(zip(schema.parameters, arguments, strict=True))
    if not state.holds(schema, binding):
        part = state.false_part(action.precondition, binding, action.parameters)
        return f"precondition {part} is false"
    cost = _step_cost(program.task, action, binding)
    return cost if isinstance(cost, str) else (state.successor(effects, binding), cost)


def _step_cost(task: LiftedTask, action: Action, binding: Binding) -> int | str:
    """What the step costs under the metric, or that its cost is undefined."""
    if not task.problem.metric:
        return 1
    if not isinstance(action.cost, Atom):
        return action.cost
    key = (action.cost.predicate, *(binding.get(term, term) for term in action.cost.terms))
    return task.problem.costs.get(key, f"({' '.join(key)}) has no value")
