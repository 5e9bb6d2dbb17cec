"""Reference semantics of Fast Downward's `.sas` format (version 3), written to be read.

Format and semantics: Helmert, "The Fast Downward Planning System" (JAIR 2006) and the translator's
output format page. h^max and h^add: Bonet and Geffner, "Planning as heuristic search" (AIJ 2001).

Invariant: nothing here shares code or data structures with `hstar`, so agreement is evidence.

Conventions:
1. A state lists one value per variable; `close` computes the derived ones from the others.
2. Effect conditions are tested in the old state; of two effects on a variable the later one wins.
3. The default value of a derived variable is the one that `begin_state` gives it.
4. Without a metric every operator costs 1, whatever number the file holds.
5. In the relaxation an axiom is an operator of cost 0. How a derived variable gets back to its
   default value is a choice, see `Negation`.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Fact = tuple[int, int]
Facts = frozenset[Fact]
State = tuple[int, ...]


class FormatError(ValueError):
    """The text is not a `.sas` task of version 3."""


class TooManyStates(ValueError):  # noqa: N818  (an outcome of `explore`, named for what happened)
    """The reachable part of the state space is larger than the limit."""


@dataclass(frozen=True)
class Variable:
    name: str
    layer: int  # axiom layer, -1 for a variable that operators change
    facts: tuple[str, ...]

    @property
    def derived(self) -> bool:
        return self.layer >= 0


@dataclass(frozen=True)
class Effect:
    conditions: tuple[Fact, ...]
    fact: Fact


@dataclass(frozen=True)
class Operator:
    name: str
    preconditions: tuple[Fact, ...]
    effects: tuple[Effect, ...]
    cost: int


@dataclass(frozen=True)
class Axiom:
    conditions: tuple[Fact, ...]
    fact: Fact


@dataclass(frozen=True)
class Task:
    variables: tuple[Variable, ...]
    mutexes: tuple[tuple[Fact, ...], ...]
    defaults: State  # `begin_state` as written: derived variables hold their default value
    goal: tuple[Fact, ...]
    operators: tuple[Operator, ...]
    axioms: tuple[Axiom, ...]
    metric: bool

    @property
    def initial(self) -> State:
        """The initial state with derived variables evaluated."""
        return close(self, self.defaults)

    def is_goal(self, state: State) -> bool:
        return holds(self.goal, state)


# --- reading ------------------------------------------------------------------------------------


class _Lines:
    """The lines of a file, one after the other, with the number of the last one for messages."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.number = 0

    def line(self) -> str:
        if self.number == len(self.lines):
            raise FormatError(f"line {self.number}: the file ends too early")
        self.number += 1
        return self.lines[self.number - 1].strip()

    def expect(self, word: str) -> None:
        if (got := self.line()) != word:
            raise FormatError(f"line {self.number}: expected '{word}', got '{got}'")

    def integers(self) -> list[int]:
        text = self.line()
        try:
            return [int(word) for word in text.split()]
        except ValueError:
            raise FormatError(f"line {self.number}: expected integers, got '{text}'") from None

    def integer(self) -> int:
        numbers = self.integers()
        if len(numbers) != 1:
            raise FormatError(f"line {self.number}: expected one integer, got {numbers}")
        return numbers[0]

    def facts(self) -> tuple[Fact, ...]:
        """A count, then a line `variable value` each."""
        found: list[Fact] = []
        for _ in range(self.integer()):
            variable, value = self.integers()
            found.append((variable, value))
        return tuple(found)


def parse(text: str) -> Task:
    """Reads a task from the text of a `.sas` file."""
    source = _Lines(text)
    source.expect("begin_version")
    source.expect("3")
    source.expect("end_version")
    source.expect("begin_metric")
    metric = source.integer() == 1
    source.expect("end_metric")
    variables = tuple(_variable(source) for _ in range(source.integer()))
    mutexes = tuple(_mutex(source) for _ in range(source.integer()))
    source.expect("begin_state")
    defaults = tuple(source.integer() for _ in variables)
    source.expect("end_state")
    source.expect("begin_goal")
    goal = source.facts()
    source.expect("end_goal")
    operators = tuple(_operator(source, metric) for _ in range(source.integer()))
    axioms = tuple(_axiom(source) for _ in range(source.integer()))
    return Task(variables, mutexes, defaults, goal, operators, axioms, metric)


def read(path: Path) -> Task:
    """Reads a `.sas` file."""
    return parse(path.read_text())


def _variable(source: _Lines) -> Variable:
    source.expect("begin_variable")
    name = source.line()
    layer = source.integer()
    facts = tuple(source.line() for _ in range(source.integer()))
    source.expect("end_variable")
    return Variable(name, layer, facts)


def _mutex(source: _Lines) -> tuple[Fact, ...]:
    source.expect("begin_mutex_group")
    facts = source.facts()
    source.expect("end_mutex_group")
    return facts


def _operator(source: _Lines, metric: bool) -> Operator:
    source.expect("begin_operator")
    name = source.line()
    preconditions = list(source.facts())
    effects = []
    for _ in range(source.integer()):
        count, *numbers = source.integers()
        pairs, (variable, before, after) = numbers[: 2 * count], numbers[2 * count :]
        if before != -1:
            preconditions.append((variable, before))
        conditions = tuple(zip(pairs[::2], pairs[1::2], strict=True))
        effects.append(Effect(conditions, (variable, after)))
    cost = source.integer()
    source.expect("end_operator")
    return Operator(name, tuple(preconditions), tuple(effects), cost if metric else 1)


def _axiom(source: _Lines) -> Axiom:
    source.expect("begin_rule")
    conditions = source.facts()
    variable, _, after = source.integers()
    source.expect("end_rule")
    return Axiom(conditions, (variable, after))


# --- the state space ----------------------------------------------------------------------------


def holds(facts: Iterable[Fact], state: Sequence[int]) -> bool:
    """Whether all facts are true in the state."""
    return all(state[variable] == value for variable, value in facts)


def close(task: Task, state: Sequence[int]) -> State:
    """The state with its derived variables recomputed: layer by layer, each to its fixpoint."""
    layers = [variable.layer for variable in task.variables]
    values = [
        default if layer >= 0 else value
        for layer, default, value in zip(layers, task.defaults, state, strict=True)
    ]
    for current in sorted({layer for layer in layers if layer >= 0}):
        rules = [axiom for axiom in task.axioms if layers[axiom.fact[0]] == current]
        changed = True
        while changed:
            changed = False
            for axiom in rules:
                variable, value = axiom.fact
                if values[variable] != value and holds(axiom.conditions, values):
                    values[variable] = value
                    changed = True
    return tuple(values)


def apply(task: Task, operator: Operator, state: State) -> State:
    """The state after the operator; its precondition is taken to hold."""
    values = list(state)
    for effect in operator.effects:
        if holds(effect.conditions, state):
            values[effect.fact[0]] = effect.fact[1]
    return close(task, values)


def successors(task: Task, state: State) -> list[tuple[int, State]]:
    """Index of every applicable operator, in the order of the file, with the state it leads to."""
    return [
        (index, apply(task, operator, state))
        for index, operator in enumerate(task.operators)
        if holds(operator.preconditions, state)
    ]


@dataclass(frozen=True)
class Graph:
    """The reachable state space: `edges[i]` holds (operator, target's number) of `states[i]`."""

    states: list[State]
    number: dict[State, int]
    edges: list[list[tuple[int, int]]]


def explore(task: Task, limit: int = 100_000) -> Graph:
    """All states reachable from the initial one, breadth first; `TooManyStates` beyond `limit`."""
    graph = Graph([task.initial], {task.initial: 0}, [])
    while len(graph.edges) < len(graph.states):
        here: list[tuple[int, int]] = []
        for operator, target in successors(task, graph.states[len(graph.edges)]):
            if target not in graph.number:
                if len(graph.states) == limit:
                    raise TooManyStates(f"more than {limit} reachable states")
                graph.number[target] = len(graph.states)
                graph.states.append(target)
            here.append((operator, graph.number[target]))
        graph.edges.append(here)
    return graph


def exact(task: Task, limit: int = 100_000) -> dict[State, float]:
    """h* of every reachable state, infinite for dead ends: Dijkstra backward from all goals."""
    graph = explore(task, limit)
    reverse: list[list[tuple[int, int]]] = [[] for _ in graph.states]
    for source, edges in enumerate(graph.edges):
        for operator, target in edges:
            reverse[target].append((task.operators[operator].cost, source))
    distance = [0.0 if task.is_goal(state) else math.inf for state in graph.states]
    queue = [(0.0, number) for number, value in enumerate(distance) if value == 0]
    heapq.heapify(queue)
    while queue:
        value, target = heapq.heappop(queue)
        if value > distance[target]:
            continue
        for cost, source in reverse[target]:
            if value + cost < distance[source]:
                distance[source] = value + cost
                heapq.heappush(queue, (value + cost, source))
    return dict(zip(graph.states, distance, strict=True))


def walk_states(task: Task, count: int, length: int = 30, seed: int = 0) -> list[State]:
    """Up to `count` different states met on random walks from the initial state, that one first."""
    rng = random.Random(seed)
    found = {task.initial: None}
    for _ in range(20 * count):
        state = task.initial
        for _ in range(rng.randint(1, length)):
            options = successors(task, state)
            if not options:
                break
            state = rng.choice(options)[1]
        found[state] = None
        if len(found) >= count:
            break
    return list(found)[:count]


# --- delete relaxation --------------------------------------------------------------------------

Negation = Literal["free", "acyclic"]
"""How the relaxation reaches the default value of a derived variable.

`free`: at no cost (Fast Downward's `axioms=approximate_negative`). `acyclic`: at no cost if the
variable depends on itself, otherwise by zero-cost rules that say when none of its axioms fires
(Fast Downward's default, `axioms=approximate_negative_cycles`). The second is exponential in the
number of axioms per variable.
"""


@dataclass(frozen=True)
class Unary:
    """One effect of one operator or axiom under the delete relaxation."""

    conditions: Facts
    fact: Fact
    cost: int


def unary_operators(task: Task, negation: Negation = "free") -> list[Unary]:
    """The relaxed task: operators split by effect, effect conditions joined to the precondition."""
    found = [
        Unary(frozenset(operator.preconditions + effect.conditions), effect.fact, operator.cost)
        for operator in task.operators
        for effect in operator.effects
    ]
    found += [Unary(frozenset(axiom.conditions), axiom.fact, 0) for axiom in task.axioms]
    looping = _self_dependent(task) if negation == "acyclic" else set()
    for variable, definition in enumerate(task.variables):
        if definition.derived:
            exact = negation == "acyclic" and variable not in looping
            bodies = _negated_bodies(task, variable) if exact else [frozenset[Fact]()]
            fact = (variable, task.defaults[variable])
            found += [Unary(body, fact, 0) for body in bodies]
    return found


def _self_dependent(task: Task) -> set[int]:
    """Derived variables whose non-default value depends, directly or not, on itself."""
    needs: dict[int, set[int]] = {}
    for axiom in task.axioms:
        positive = {v for v, value in axiom.conditions if value != task.defaults[v]}
        derived = {v for v in positive if task.variables[v].derived}
        needs.setdefault(axiom.fact[0], set()).update(derived)
    looping = set()
    for variable in needs:
        reached: set[int] = set()
        frontier = set(needs[variable])
        while frontier:
            reached |= frontier
            frontier = {v for u in frontier for v in needs.get(u, ())} - reached
        if variable in reached:
            looping.add(variable)
    return looping


def _negated_bodies(task: Task, variable: int) -> list[Facts]:
    """The smallest consistent sets of facts that violate every axiom of the variable."""
    bodies: set[Facts] = {frozenset()}
    for axiom in task.axioms:
        if axiom.fact[0] != variable:
            continue
        violations = {
            (v, other)
            for v, value in axiom.conditions
            for other in range(len(task.variables[v].facts))
            if other != value
        }
        extended = set()
        for body in bodies:
            if body & violations:
                extended.add(body)
                continue
            fixed = {v for v, _ in body}
            extended |= {body | {fact} for fact in violations if fact[0] not in fixed}
        bodies = {body for body in extended if not any(other < body for other in extended)}
    return sorted(bodies, key=sorted)


def fact_costs(
    task: Task,
    state: State,
    combine: Callable[[Iterable[float]], float],
    negation: Negation = "free",
) -> dict[Fact, float]:
    """Cost of every fact: the fixpoint of cost(p) = min over achievers of cost + combine(body)."""
    costs = {
        (variable, value): 0 if state[variable] == value else math.inf
        for variable, definition in enumerate(task.variables)
        for value in range(len(definition.facts))
    }
    operators = unary_operators(task, negation)
    changed = True
    while changed:
        changed = False
        for operator in operators:
            cost = operator.cost + combine(costs[fact] for fact in operator.conditions)
            if cost < costs[operator.fact]:
                costs[operator.fact] = cost
                changed = True
    return costs


def _largest(values: Iterable[float]) -> float:
    return max(values, default=0)


def hmax(task: Task, state: State, negation: Negation = "free") -> float:
    """h^max of a state; infinite if the goal is unreachable even without deletes."""
    costs = fact_costs(task, state, _largest, negation)
    return _largest(costs[fact] for fact in task.goal)


def hadd(task: Task, state: State, negation: Negation = "free") -> float:
    """h^add of a state; infinite if the goal is unreachable even without deletes."""
    costs = fact_costs(task, state, sum, negation)
    return sum(costs[fact] for fact in task.goal)
