"""Plan files, and the replay of a plan on the finite-domain task, independently of everything that searches.

`validate_pddl` (`hstar.spaces.lifted_state`) follows a plan through the PDDL as it was written, with typed
parameters, quantifiers, conditional effects and derived predicates. Neither shares code with the native
successor generation, so that a bug there is seen here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from hstar import _core
from hstar.errors import InputError
from hstar.files import read_text


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a plan is valid, its cost up to where it fails, and why it fails.

    `step` counts from 1; it is None for a valid plan and where only the goal is missed.
    """

    valid: bool
    cost: int
    reason: str = ""
    step: int | None = None


# Plan files.

_STEP = re.compile(r"(?:[\d.]+\s*:\s*)?\(\s*([^\s()]+(?:\s+[^\s()]+)*)\s*\)(?:\s*\[[\d.]+\])?")


def read_plan(path: Path) -> list[str]:
    """The steps of an IPC plan file, lower case and without parentheses."""
    text = read_text(path, "latin-1").replace("\r", "")
    steps: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        content = line.partition(";")[0].strip()
        match = _STEP.fullmatch(content)
        if match and content.isprintable():
            steps.append(" ".join(match[1].lower().split()))
        elif content:
            got = content[:40] if content.isprintable() else "characters that are not text"
            raise InputError(f"expected '(action argument ...)', got {got}", file=path, line=number)
    return steps


def format_plan(names: Iterable[str], cost: float, unit: bool) -> str:
    """A plan in IPC format, as Fast Downward writes it."""
    kind = "unit" if unit else "general"
    return "".join(f"({name})\n" for name in names) + f"; cost = {cost} ({kind} cost)\n"


# The finite-domain level.

Fact: TypeAlias = tuple[int, int]
"""A variable and its value."""


class _Axioms:
    """Evaluates derived variables layer by layer, each axiom by a count of its open conditions."""

    def __init__(self, task: _core.Task) -> None:
        self.layers = list(task.axiom_layers)
        self.defaults = list(task.default_values)
        self.axioms = [task.axiom(i) for i in range(task.num_axioms)]
        self.order: dict[int, list[int]] = {}
        self.watchers: dict[Fact, list[int]] = {}
        self.conditions = [[tuple(fact) for fact in axiom.conditions] for axiom in self.axioms]
        for i, axiom in enumerate(self.axioms):
            layer = self.layers[axiom.variable]
            self.order.setdefault(layer, []).append(i)
            for variable, value in self.conditions[i]:
                if self.layers[variable] == layer:
                    self.watchers.setdefault((variable, value), []).append(i)

    def evaluate(self, state: list[int]) -> None:
        for variable, layer in enumerate(self.layers):
            if layer >= 0:
                state[variable] = self.defaults[variable]
        for layer in sorted(self.order):
            members = self.order[layer]
            open_ = {
                i: sum(state[variable] != value for variable, value in self.conditions[i]) for i in members
            }
            ready = [i for i in members if open_[i] == 0]
            while ready:
                axiom = self.axioms[ready.pop()]
                if state[axiom.variable] == axiom.value:
                    continue
                state[axiom.variable] = axiom.value
                for i in self.watchers.get((axiom.variable, axiom.value), ()):
                    open_[i] -= 1
                    if open_[i] == 0:
                        ready.append(i)


def validate_sas(task: _core.Task, operator_ids: Sequence[int]) -> Verdict:
    """Replay operators, given by index, on the finite-domain task."""
    axioms = _Axioms(task)
    state = list(task.initial_state)
    axioms.evaluate(state)
    cost = 0
    for number, index in enumerate(operator_ids, 1):
        try:
            operator = task.operator(index)
        except (IndexError, TypeError):
            return Verdict(False, cost, f"step {number}: there is no operator {index}", number)
        for variable, value in operator.preconditions:
            if state[variable] != value:
                reason = f"precondition var{variable} = {value} is false"
                return Verdict(False, cost, f"step {number} ({operator.name}): {reason}", number)
        state = _successor(operator, state, axioms)
        cost += operator.cost
    for variable, value in task.goal:
        if state[variable] != value:
            return Verdict(False, cost, f"goal var{variable} = {value} is false")
    return Verdict(True, cost)


def _successor(operator: _core.Operator, state: list[int], axioms: _Axioms) -> list[int]:
    successor = list(state)
    for conditions, variable, value in operator.effects:
        if all(state[v] == wanted for v, wanted in conditions):
            successor[variable] = value
    axioms.evaluate(successor)
    return successor
