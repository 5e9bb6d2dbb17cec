"""A model of one task: which task that is, and how its inputs lie in the task it is asked for.

Such a model has one input for each positive atom of the variables (`atoms_of`) and knows one goal. It can be
used from any other start. Facts are matched by the names of atoms, never by numbers: the translator
drops atoms that are constant from a given start, and goals that hold for ever.

Invariant: `TaskIdentity.inputs` gives the network the same input for a state, however the task was
translated. An input without a fact in the task has the constant value that it has in the initial state of
that PDDL, not simply 0.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from hstar import _core
from hstar.errors import HstarError, ModelError
from hstar.models.identity import IDENTITIES, Identity, believed, expect, native_network
from hstar.models.native import NativeNetwork
from hstar.spaces.lifted import LiftedTask
from hstar.spaces.task import Task, format_atom, parse_atom

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel

_NOT = "NegatedAtom "


class TaskInputs(NamedTuple):
    """Where the inputs of a model lie in a task."""

    facts: tuple[int, ...]  # for each fact of the task, variables in order: its input, or -1
    constant: tuple[int, ...]  # inputs that always hold and have no fact: see NativeNetwork.holding


@IDENTITIES.register("task")
@dataclass(frozen=True)
class TaskIdentity(Identity):
    """A task without its initial state, and the inputs of a model for it."""

    kind: ClassVar[str] = "task"

    domain: str
    problem: str
    digest: str  # SHA-256 over variables, their facts, and the goal
    goal: tuple[str, ...]  # atoms as on(a, b); other facts as the translator names them
    atoms: tuple[str, ...]  # input i of a model is atoms[i]

    def __str__(self) -> str:
        return f"{self.problem} of {self.domain}" if self.domain else self.problem

    def check(self, problem: Any) -> None:
        self.inputs(problem)

    def network(self, model: TrainedModel[TaskIdentity]) -> NativeNetwork:
        if len(set(self.atoms)) != len(self.atoms):
            raise ModelError("an input of the model is named twice")
        return native_network(model, len(self.atoms))

    def build(self, model: TrainedModel[TaskIdentity], problem: Any, *, cache: bool) -> _core.Heuristic:
        inputs = self.inputs(problem)
        network = model.network.holding(inputs.constant).core(model.precision)
        return believed(model, problem, _core.atom_model(problem.core, network, list(inputs.facts)))

    def describe(self, model: TrainedModel[TaskIdentity]) -> dict[str, Any]:
        return {"atoms": len(self.atoms)}

    def inputs(self, task: Any) -> TaskInputs:
        """How to feed the model with states of the task; a `ModelError` if it was not trained for that."""
        expect(self, task, Task)
        index = {atom: i for i, atom in enumerate(self.atoms)}
        facts: list[int] = []
        used: set[int] = set()
        for atoms in task.atoms:
            for atom in atoms:
                name = "" if atom is None else format_atom(atom)
                if name and name not in index:
                    raise _misfit(self, task, f"{name} is not among the {len(index)} atoms it knows")
                # An atom that two variables stand for counts once.
                fact = -1 if atom is None or index[name] in used else index[name]
                facts.append(fact)
                used.add(fact)
        constant = tuple(i for i, atom in enumerate(self.atoms) if i not in used and _holds(self, task, atom))
        _check_goal(self, task)
        return TaskInputs(tuple(facts), constant)


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
    digest = hashlib.sha256(text.encode()).hexdigest()
    return TaskIdentity(domain, problem, digest, tuple(goal), atoms_of(task))


def _check_goal(space: TaskIdentity, task: Task) -> None:
    """The same goal, except for parts that hold from this start on."""
    goal = {_goal_name(task, variable, value) for variable, value in task.core.goal}
    for name in sorted(goal - set(space.goal)):
        raise _misfit(space, task, f"{name} is not in the goal it was trained for")
    for name in sorted(set(space.goal) - goal):
        negated = name.startswith(_NOT)
        atom = name.removeprefix(_NOT)
        known = not atom.startswith("<") and any(parse_atom(atom) in facts for facts in task.atoms)
        if atom.startswith("<") or known or _holds(space, task, atom) == negated:
            raise _misfit(space, task, f"{name}, in the goal it was trained for, is no goal there")


def _holds(space: TaskIdentity, task: Task, name: str) -> bool:
    """The value of an atom that no variable of the task stands for."""
    lifted = _lifted(task)
    if lifted is None:
        raise _misfit(
            space, task, f"{name} is not an atom of it (read the PDDL, where constant atoms are known)"
        )
    atom = parse_atom(name)
    predicate = lifted.domain.predicates.get(atom[0])
    known = predicate is not None and len(predicate) == len(atom) - 1
    if not known or any(one not in lifted.objects for one in atom[1:]):
        raise _misfit(space, task, f"{name} is not an atom of it")
    if atom[0] in lifted.domain.derived:
        raise _misfit(space, task, f"{name} is derived, and the translator left it out")
    return atom in lifted.problem.init


def _goal_name(task: Task, variable: int, value: int) -> str:
    atom = task.atoms[variable][value]
    return task.core.fact_names[variable][value] if atom is None else format_atom(atom)


def _lifted(task: Task) -> LiftedTask | None:
    """The PDDL side, if there is one that our parser can read."""
    try:
        return task.lifted
    except HstarError:
        return None


def _misfit(space: TaskIdentity, task: Task, reason: str) -> ModelError:
    return ModelError(f"the model was trained for {space}, asked for {identify(task)}: {reason}")
