"""Regression and label improvement over partial states, written to be read.

Regression: O'Toole et al. (ICAPS 2022), eq. 4 and 5, over finite-domain variables. SUI: Bettker et al. (JAIR
80, 2024). A partial state is a tuple of values, -1 where anything goes.

Invariant: nothing here shares code or data structures with `hstar`, so agreement is evidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations, product

from . import sas

Partial = tuple[int, ...]

# The cases of `conftest` without axioms and conditional effects, and those with few combinations of values.
TINY = (
    *("chain", "one-match", "zero-costs", "reopening", "costs", "unsolvable"),
    *("random-33", "random-37", "random-44", "random-63"),
)
PLAIN = (
    *TINY,
    *("blocks", "blocksworld-3", "blocksworld-4", "ferry-3-2", "npuzzle-2x3"),
    *("ipc-blocks", "ipc-gripper", "ipc-miconic", "ipc-visitall"),
)


def facts(partial: Sequence[int]) -> dict[int, int]:
    return {variable: value for variable, value in enumerate(partial) if value != -1}


def partial(task: sas.Task, chosen: dict[int, int]) -> Partial:
    return tuple(chosen.get(variable, -1) for variable in range(len(task.variables)))


def mutex_free(task: sas.Task, chosen: Iterable[sas.Fact]) -> bool:
    """Whether no two of the facts are values of one variable or members of one mutex group."""
    for a, b in combinations(set(chosen), 2):
        if a[0] == b[0] or any(a in group and b in group for group in task.mutexes):
            return False
    return True


def goal(task: sas.Task) -> Partial:
    return partial(task, dict(task.goal))


def regress(task: sas.Task, operator: sas.Operator, target: Partial) -> Partial | None:
    """What had to hold before the operator led into the partial state; None if it cannot have."""
    effects = {effect.fact[0]: effect.fact[1] for effect in operator.effects}
    wanted, before = facts(target), dict(operator.preconditions)
    if not any(wanted.get(variable) == value for variable, value in effects.items()):
        return None
    if any(wanted.get(variable, value) != value for variable, value in effects.items()):
        return None
    kept = {variable: value for variable, value in wanted.items() if variable not in effects}
    if any(kept.get(variable, value) != value for variable, value in before.items()):
        return None
    prevail = {variable: value for variable, value in before.items() if variable not in effects}
    if not mutex_free(task, [*before.items(), *kept.items()]):
        return None
    if not mutex_free(task, [*prevail.items(), *effects.items(), *kept.items()]):
        return None
    return partial(task, kept | before)


def predecessors(task: sas.Task, target: Partial) -> list[tuple[sas.Operator, Partial]]:
    found = ((operator, regress(task, operator, target)) for operator in task.operators)
    return [(operator, before) for operator, before in found if before is not None]


def contains(partial: Sequence[int], state: Sequence[int]) -> bool:
    """Whether the state (or partial state) has all facts of the partial one."""
    return all(value in (-1, have) for value, have in zip(partial, state, strict=True))


def is_atom(task: sas.Task, fact: sas.Fact) -> bool:
    return task.variables[fact[0]].facts[fact[1]].startswith("Atom ")


def novelty(task: sas.Task, operator: sas.Operator, seen: set[sas.Fact]) -> int:
    """mu+: preconditions, positive ones, that no earlier pre-image of the rollout has."""
    return sum(fact not in seen and is_atom(task, fact) for fact in operator.preconditions)


def improve(task: sas.Task, states: list[Partial], labels: list[int]) -> list[int]:
    """SUI: h(s) = min(h(s), h(t) + 1) for t contained in a successor of s, to the fixpoint."""
    arcs = []
    for s, state in enumerate(states):
        for operator in task.operators:
            if not all(state[variable] == value for variable, value in operator.preconditions):
                continue
            after = list(state)
            for effect in operator.effects:
                after[effect.fact[0]] = effect.fact[1]
            arcs += [(s, t) for t, target in enumerate(states) if contains(target, after)]
    h = list(labels)
    changed = True
    while changed:
        changed = False
        for s, t in arcs:
            if h[t] + 1 < h[s]:
                h[s], changed = h[t] + 1, True
    return h


def steps_everywhere(task: sas.Task) -> dict[sas.State, float]:
    """Fewest steps to the goal from every combination of values, reachable or not."""
    states = list(product(*(range(len(variable.facts)) for variable in task.variables)))
    reverse: dict[sas.State, list[sas.State]] = {state: [] for state in states}
    for state in states:
        for _, target in sas.successors(task, state):
            reverse[target].append(state)
    distance = {state: 0.0 if task.is_goal(state) else math.inf for state in states}
    queue = [state for state in states if distance[state] == 0]
    for state in queue:
        for source in reverse[state]:
            if distance[source] == math.inf:
                distance[source] = distance[state] + 1
                queue.append(source)
    return distance
