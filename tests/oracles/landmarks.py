"""The path-dependent status of landmarks, word by word as in Richter and Westphal (JAIR 2010), with sets."""

from __future__ import annotations

import math

from hstar import _core
from oracles import sas


class LandmarkStatus:
    """What the paths of one search have reached; landmarks and orders are those of the core."""

    def __init__(self, core: _core.Task, oracle: sas.Task) -> None:
        self.oracle = oracle
        self.facts, orders = _core.landmarks(core)
        self.before: list[set[int]] = [set() for _ in self.facts]
        self.needed_for: list[set[int]] = [set() for _ in self.facts]
        for before, after, kind in orders:
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
        reached, total = self.reached[state], 0
        for i, facts in enumerate(self.facts):
            goal = len(facts) == 1 and tuple(facts[0]) in self.oracle.goal
            again = not self.holds(i, state) and (goal or bool(self.needed_for[i] - reached))
            if i in reached and not again:
                continue
            if i in reached and goal and not self.costs[i]:
                return math.inf
            total += max([1, min(self.costs[i], default=1)])
        return total
