"""The path-dependent status of landmarks, word by word as in Richter and Westphal (JAIR 2010), with sets.

`LandmarkPartition` is the admissible value on top of it (Karpas and Domshlak, IJCAI 2009).
"""

from __future__ import annotations

import math

from hstar import _core
from oracles import sas

Role = tuple[int, bool]  # a landmark, and whether it becomes true again


class LandmarkStatus:
    """What the paths of one search have reached; landmarks and orders are those of the core."""

    ordered = True  # a landmark is reached only after those that are ordered before it

    def __init__(self, core: _core.Task, oracle: sas.Task) -> None:
        self.oracle = oracle
        self.facts, orders = _core.landmarks(core, not self.ordered)
        self.before: list[set[int]] = [set() for _ in self.facts]
        self.needed_for: list[set[int]] = [set() for _ in self.facts]
        for before, after, kind in orders:
            if self.ordered:
                self.before[after].add(before)
            if kind == "greedy-necessary":
                self.needed_for[before].add(after)
        unary = sas.unary_operators(oracle, "acyclic")
        self.costs = [[u.cost for u in unary if u.fact in facts] for facts in self.facts]
        self.solvable = sas.hmax(oracle, oracle.initial, "acyclic") < math.inf
        self.reached: dict[sas.State, set[int]] = {}

    def holds(self, landmark: int, state: sas.State) -> bool:
        return any(state[variable] == value for variable, value in self.facts[landmark])

    def derived(self, landmark: int) -> bool:
        return any(self.oracle.variables[variable].derived for variable, _ in self.facts[landmark])

    def start(self, state: sas.State) -> None:
        self.reached = {state: self._closed(set(), state, list(range(len(self.facts))))}

    def follow(self, parent: sas.State, state: sas.State) -> None:
        old = self.reached[parent]
        plain = {
            i
            for i in range(len(self.facts))
            if not self.derived(i) and self.holds(i, state) and self.before[i] <= old
        }
        derived = [i for i in range(len(self.facts)) if self.derived(i)]
        now = self._closed(old | plain, state, derived)
        self.reached[state] = self.reached[state] & now if state in self.reached else now

    def _closed(self, reached: set[int], state: sas.State, candidates: list[int]) -> set[int]:
        """With those candidates that hold and have all before them reached, until there are no more."""
        while True:
            more = {i for i in candidates if self.holds(i, state) and self.before[i] <= reached} - reached
            if not more:
                return reached
            reached = reached | more

    def value(self, state: sas.State) -> float:
        if self.oracle.is_goal(state):
            return 0
        if not self.solvable:
            return math.inf
        total = 0
        for i, again in self.needed(state):
            if again and self.is_goal(i) and not self.costs[i]:
                return math.inf
            total += max([1, min(self.costs[i], default=1)])
        return total

    def is_goal(self, landmark: int) -> bool:
        facts = self.facts[landmark]
        return len(facts) == 1 and tuple(facts[0]) in self.oracle.goal

    def needed(self, state: sas.State) -> list[Role]:
        """Landmarks that are not reached, and then those that are required again."""
        reached, numbers = self.reached[state], range(len(self.facts))
        again = [
            (i, True)
            for i in sorted(reached)
            if not self.holds(i, state) and (self.is_goal(i) or self.needed_for[i] - reached)
        ]
        return [(i, False) for i in numbers if i not in reached] + again


class LandmarkPartition(LandmarkStatus):
    """Operator costs divided among the needed landmarks."""

    ordered = False

    def __init__(self, core: _core.Task, oracle: sas.Task) -> None:
        super().__init__(core, oracle)
        self.unary = sas.unary_operators(oracle, "acyclic")
        sources = [i for i, operator in enumerate(oracle.operators) for _ in operator.effects]
        self.sources: list[int | None] = [*sources, *[None] * (len(self.unary) - len(sources))]
        roles: dict[int, list[Role]] = {}
        self.free = set()
        for role in [(i, again) for i in range(len(self.facts)) for again in (False, True)]:
            operators = self.achievers(*role)
            paid = [op for op in operators if op is not None and oracle.operators[op].cost]
            if len(paid) < len(operators):
                self.free.add(role)
                continue
            for op in paid:
                roles.setdefault(op, []).append(role)
        self.groups: dict[tuple[Role, ...], int] = {}  # the least cost of operators with these roles
        for op, played in roles.items():
            cost = oracle.operators[op].cost
            self.groups[tuple(played)] = min(cost, self.groups.get(tuple(played), cost))

    def achievers(self, landmark: int, again: bool) -> set[int | None]:
        """Operators, None for an axiom, that make a landmark true, again or for the first time."""
        facts = {tuple(fact) for fact in self.facts[landmark]}
        known = set(enumerate(self.oracle.initial)) - facts
        while more := {u.fact for u in self.unary if u.conditions <= known} - known - facts:
            known |= more
        return {
            op
            for op, u in zip(self.sources, self.unary, strict=True)
            if u.fact in facts and (again or u.conditions <= known)
        }

    def value(self, state: sas.State) -> float:
        if not self.solvable:
            return math.inf
        roles = [role for role in self.needed(state) if role not in self.free]
        using = {role: [group for group in self.groups if role in group] for role in roles}
        if not all(using.values()):
            return math.inf
        total, left = 0, dict(self.groups)
        for role in sorted(roles, key=lambda role: (len(using[role]), role)):
            share = min(left[group] for group in using[role])
            total += share
            for group in using[role]:
                left[group] -= share
        return total
