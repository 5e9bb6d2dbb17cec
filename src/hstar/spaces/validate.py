"""Replay a plan, independently of everything that searches.

Two levels: `validate_pddl` follows the plan through the PDDL as it was written, with typed
parameters, quantifiers, conditional effects and derived predicates; `validate_sas` follows it
through the finite-domain task. Neither shares code with the native successor generation, so that a
bug there is seen here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from hstar.errors import InputError
from hstar.files import read_text

if TYPE_CHECKING:  # most searches replay on the finite-domain level and start without the lifted one
    from hstar.spaces.lifted import Action, Formula, LiftedTask, Parameter
    from hstar.spaces.lifted_state import Binding, LiftedState, Program


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


# The PDDL level.


def validate_pddl(task: LiftedTask, plan: Sequence[str]) -> Verdict:
    """Replay steps like `pick-up a` or `(pick-up a)` on the task as it was written."""
    from hstar.spaces.lifted_state import LiftedState, Program

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
    if not state.holds(program.schema(task.goal, ()), {}):
        part = _false_part(program, state, task.goal, {}, ())
        return Verdict(False, cost, f"goal {part} is false")
    return Verdict(True, cost)


def _replay_step(program: Program, state: LiftedState, words: Sequence[str]) -> tuple[LiftedState, int] | str:
    """The next state and the cost of the step, or why the step is not possible."""
    name, arguments = "".join(words[:1]), words[1:]
    compiled = program.action(name)
    if compiled is None:
        return f"there is no action '{name}'"
    action, schema = compiled.action, compiled.precondition
    if len(arguments) != len(action.parameters):
        return f"the action takes {len(action.parameters)} arguments, got {len(arguments)}"
    for parameter, value in zip(action.parameters, arguments, strict=True):
        if value not in program.task.objects:
            return f"there is no object '{value}'"
        if value not in schema.domains[parameter.name]:
            return f"'{value}' is not of type '{' or '.join(parameter.types)}'"
    binding = dict(zip(schema.parameters, arguments, strict=True))
    if not state.holds(schema, binding):
        part = _false_part(program, state, action.precondition, binding, action.parameters)
        return f"precondition {part} is false"
    cost = _step_cost(program.task, action, binding)
    return cost if isinstance(cost, str) else (state.successor(compiled, binding), cost)


def _step_cost(task: LiftedTask, action: Action, binding: Binding) -> int | str:
    """What the step costs under the metric, or that its cost is undefined."""
    if not task.problem.metric:
        return 1
    if action.cost is None or isinstance(action.cost, int):
        return action.cost or 0
    key = (action.cost.predicate, *(binding.get(term, term) for term in action.cost.terms))
    return task.problem.costs.get(key, f"({' '.join(key)}) has no value")


def _false_part(
    program: Program,
    state: LiftedState,
    formula: Formula,
    binding: Binding,
    outer: Sequence[Parameter],
) -> str:
    """The first conjunct that is false, as text with the bound variables replaced."""
    from hstar.spaces.lifted import And

    if isinstance(formula, And):
        for part in formula.parts:
            if not state.holds(program.schema(part, (), outer), binding):
                return _false_part(program, state, part, binding, outer)
    return re.sub(r"\?[^\s()]+", lambda match: binding.get(match[0], match[0]), str(formula))


# The finite-domain level.

Fact: TypeAlias = tuple[int, int]
"""A variable and its value."""


class SasOperator(Protocol):
    """A ground operator; an effect is (conditions, variable, value)."""

    @property
    def name(self) -> str:
        """The action with its arguments, without parentheses."""

    @property
    def cost(self) -> int:
        """What it costs under the metric of the task."""

    @property
    def preconditions(self) -> Sequence[Fact]:
        """All must hold."""

    @property
    def effects(self) -> Sequence[tuple[Sequence[Fact], int, int]]:
        """Applied together, in order where they disagree."""


class SasAxiom(Protocol):
    """A rule that sets a derived variable to `value` when all conditions hold."""

    @property
    def conditions(self) -> Sequence[Fact]:
        """All must hold."""

    @property
    def variable(self) -> int:
        """The derived variable."""

    @property
    def value(self) -> int:
        """What it becomes."""


class SasTask(Protocol):
    """The part of a finite-domain task that a replay needs; the core's task has it."""

    @property
    def initial_state(self) -> Sequence[int]:
        """One value per variable; those of derived variables are not used."""

    @property
    def goal(self) -> Sequence[Fact]:
        """All must hold."""

    @property
    def num_axioms(self) -> int:
        """Number of axioms."""

    @property
    def axiom_layers(self) -> Sequence[int]:
        """The layer of each derived variable, -1 for the others."""

    @property
    def default_values(self) -> Sequence[int]:
        """The value of each derived variable when no axiom fires."""

    def operator(self, index: int, /) -> SasOperator:
        """One operator."""

    def axiom(self, index: int, /) -> SasAxiom:
        """One axiom."""


class _Axioms:
    """Evaluates derived variables layer by layer, each axiom by a count of its open conditions."""

    def __init__(self, task: SasTask) -> None:
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
        """Set the derived variables of `state`."""
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


def validate_sas(task: SasTask, operator_ids: Sequence[int]) -> Verdict:
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


def states_along(task: SasTask, operator_ids: Sequence[int]) -> list[list[int]]:
    """The states of a plan that `validate_sas` accepts, from the initial one to the last."""
    axioms = _Axioms(task)
    state = list(task.initial_state)
    axioms.evaluate(state)
    states = [state]
    for index in operator_ids:
        states.append(_successor(task.operator(index), states[-1], axioms))
    return states


def _successor(operator: SasOperator, state: list[int], axioms: _Axioms) -> list[int]:
    successor = list(state)
    for conditions, variable, value in operator.effects:
        if all(state[v] == wanted for v, wanted in conditions):
            successor[variable] = value
    axioms.evaluate(successor)
    return successor
