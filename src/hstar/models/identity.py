"""Which task a model was trained for, and how its inputs lie in the task it is asked for.

A model of one task has one input for each positive atom of the variables (`atoms_of`) and knows one goal. It
can be used from any other start. Facts are matched by the names of atoms, never by numbers: the translator
drops atoms that are constant from a given start, and goals that hold for ever.

Invariant: `check_task` gives the network the same input for a state, however the task was translated. An
input without a fact in the task has the constant value that it has in the initial state of that PDDL, not
simply 0.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hstar.errors import HstarError, ModelError
from hstar.spaces.lifted import LiftedTask
from hstar.spaces.task import Task, format_atom, parse_atom

if TYPE_CHECKING:
    from hstar.models.file import LearnedModel

_NOT = "NegatedAtom "


@dataclass(frozen=True)
class TaskIdentity:
    """A task without its initial state."""

    domain: str
    problem: str
    digest: str  # SHA-256 over variables, their facts, and the goal
    goal: tuple[str, ...]  # atoms as on(a, b); other facts as the translator names them

    def __str__(self) -> str:
        return f"{self.problem} of {self.domain}" if self.domain else self.problem


@dataclass(frozen=True)
class TaskInputs:
    """Where the inputs of a model lie in a task."""

    facts: tuple[int, ...]  # for each fact of the task, variables in order: its input, or -1
    constant: tuple[int, ...]  # inputs that always hold and have no fact: see NativeNetwork.holding


def atoms_of(task: Task) -> tuple[str, ...]:
    """The inputs of a model for this task: its positive atoms by name, in the order of the variables."""
    found = (format_atom(atom) for facts in task.atoms for atom in facts if atom is not None)
    return tuple(dict.fromkeys(found))


def identify(task: Task) -> TaskIdentity:
    """The identity of a task; starts that keep the variables share it."""
    facts = task.core.fact_names
    goal = sorted(_goal_name(task, variable, value) for variable, value in task.core.goal)
    text = json.dumps([facts, sorted(task.core.goal)])
    lifted = _lifted(task)
    domain, problem = ("", task.name) if lifted is None else (lifted.domain.name, lifted.problem.name)
    return TaskIdentity(domain, problem, hashlib.sha256(text.encode()).hexdigest(), tuple(goal))


def check_task(model: LearnedModel, task: Task) -> TaskInputs:
    """How to feed the model with states of the task; a `ModelError` if it was not trained for such a task."""
    index = {atom: i for i, atom in enumerate(model.atoms)}
    facts: list[int] = []
    used: set[int] = set()
    for atoms in task.atoms:
        for atom in atoms:
            name = "" if atom is None else format_atom(atom)
            if name and name not in index:
                raise _misfit(model, task, f"{name} is not among the {len(index)} atoms it knows")
            # An atom that two variables stand for counts once.
            fact = -1 if atom is None or index[name] in used else index[name]
            facts.append(fact)
            used.add(fact)
    constant = tuple(i for i, atom in enumerate(model.atoms) if i not in used and _holds(model, task, atom))
    _check_goal(model, task)
    return TaskInputs(tuple(facts), constant)


def _check_goal(model: LearnedModel, task: Task) -> None:
    """The same goal, except for parts that hold from this start on."""
    goal = {_goal_name(task, variable, value) for variable, value in task.core.goal}
    for name in sorted(goal - set(model.task.goal)):
        raise _misfit(model, task, f"{name} is not in the goal it was trained for")
    for name in sorted(set(model.task.goal) - goal):
        negated = name.startswith(_NOT)
        atom = name.removeprefix(_NOT)
        if atom.startswith("<") or _is_fact(task, atom) or _holds(model, task, atom) == negated:
            raise _misfit(model, task, f"{name}, in the goal it was trained for, is no goal there")


def _holds(model: LearnedModel, task: Task, name: str) -> bool:
    """The value of an atom that no variable of the task stands for."""
    lifted = _lifted(task)
    if lifted is None:
        raise _misfit(
            model, task, f"{name} is not an atom of it (read the PDDL, where constant atoms are known)"
        )
    atom = parse_atom(name)
    predicate = lifted.predicates.get(atom[0])
    known = predicate is not None and len(predicate.parameters) == len(atom) - 1
    if not known or any(one not in lifted.objects for one in atom[1:]):
        raise _misfit(model, task, f"{name} is not an atom of it")
    if atom[0] in lifted.domain.derived:
        raise _misfit(model, task, f"{name} is derived, and the translator left it out")
    return atom in lifted.problem.init


def _is_fact(task: Task, name: str) -> bool:
    atom = parse_atom(name)
    return any(atom in facts for facts in task.atoms)


def _goal_name(task: Task, variable: int, value: int) -> str:
    atom = task.atoms[variable][value]
    return task.core.fact_names[variable][value] if atom is None else format_atom(atom)


def _lifted(task: Task) -> LiftedTask | None:
    """The PDDL side, if there is one that our parser can read."""
    try:
        return task.lifted
    except HstarError:
        return None


def _misfit(model: LearnedModel, task: Task, reason: str) -> ModelError:
    return ModelError(f"the model was trained for {model.task}, asked for {identify(task)}: {reason}")
