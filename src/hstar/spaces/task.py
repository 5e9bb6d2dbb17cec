"""A planning task: finite-domain variables for the search, and the lifted PDDL they come from.

`load_task` translates PDDL (or reads a `.sas` file), `Task` keeps both sides together. The finite-domain side
lives in the core; the lifted side is parsed from the PDDL when first asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypedDict

from hstar import _core
from hstar.errors import InputError, PlanError, UnsupportedError
from hstar.files import blamed_on, read_bytes
from hstar.registry import unknown
from hstar.spaces.pddl import read_task, translate_natively
from hstar.spaces.problem import HeuristicClaim, Replay, end_of_walk
from hstar.spaces.translate import find_domain, translate
from hstar.spaces.validate import validate_sas

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Unpack

    from hstar.spaces.lifted import GroundAtom, LiftedTask

# Which admissible heuristics prove a bound, the best first.
_PROOFS = {"lmcut": 0, "hmax": 1, "blind": 2}
TRANSLATORS = ("native", "fast-downward")
"""Who turns PDDL into finite-domain variables; the second one is a package of its own, and a process."""

_FACT = re.compile(r"(Atom|NegatedAtom) ([^()\s]+)\((.*)\)")


@dataclass(frozen=True)
class Task:
    """One instance: variables, operators, an initial state and a goal."""

    kind: ClassVar[str] = "task"
    core: _core.Task
    name: str
    domain_file: Path | None = None
    problem_file: Path | None = None

    @cached_property
    def native(self) -> _core.Problem:
        return _core.Problem(self.core)

    @property
    def claims(self) -> Sequence[HeuristicClaim]:
        """The symbolic heuristics; what one of them cannot handle it says when it is built."""
        order = sorted(_core.heuristics(), key=lambda info: _PROOFS.get(info.name, len(_PROOFS)))
        return [HeuristicClaim(info.name, info.admissible) for info in order]

    @property
    def unit_cost(self) -> bool:
        return self.core.unit_cost

    def named_heuristic(self, name: str) -> _core.Heuristic:
        return _core.symbolic_heuristic(self.core, name)

    def states_of(self, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """The values of the task's variables, one row for each state."""
        return rows

    def replay(self, actions: Sequence[int]) -> Replay:
        """The plan, given by numbers of operators, checked on the finite-domain task."""
        verdict = validate_sas(self.core, actions)
        if not verdict.valid:
            raise PlanError(f"the search returned an invalid plan: {verdict.reason}")
        # The translator ends the names of actions without parameters with a space.
        return Replay(tuple(self.core.operator(op).name.strip() for op in actions), verdict.cost, None)

    def at(self, start: Iterable[str | GroundAtom]) -> Task:
        """The same task from another initial state, given by its atoms (see `with_initial_state`)."""
        return self.with_initial_state(start)

    def walk(self, steps: int, seed: int) -> Task:
        """The same task from the end of a random walk of so many steps from the initial state."""
        core = self.core
        state = end_of_walk(core.initial_state, steps, seed, core.applicable_operators, core.successor)
        return replace(self, core=core.with_initial_state(state))

    def random(self, seed: int) -> Task:
        """Refused: hstar knows no distribution of the states of a planning task."""
        raise UnsupportedError(f"{self.name} has no random starts; use walk(steps, seed)")

    @cached_property
    def lifted(self) -> LiftedTask:
        """Objects, types, predicates, static facts and the lifted goal, read from the PDDL."""
        if self.domain_file is None or self.problem_file is None:
            raise UnsupportedError(
                f"{self.name} was read from a .sas file, which has no lifted side; load its PDDL"
            )
        return read_task(self.domain_file, self.problem_file)

    @cached_property
    def atoms(self) -> list[list[GroundAtom | None]]:
        """Per variable and value: the atom that the value stands for, None for negated and other values."""
        return [[_positive_atom(name) for name in names] for names in self.core.fact_names]

    @property
    def initial_atoms(self) -> frozenset[GroundAtom]:
        """The atoms of the finite-domain variables that hold in the initial state."""
        values = self.core.initial_state
        held = (self.atoms[variable][value] for variable, value in enumerate(values))
        return frozenset(atom for atom in held if atom is not None)

    def with_unit_cost(self) -> Task:
        """The same task, variables and states, where every operator costs 1."""
        return replace(self, core=self.core.with_unit_cost())

    def with_initial_state(self, atoms: Iterable[str | GroundAtom], *, ignore_unknown: bool = False) -> Task:
        """The same task, variables and facts from another initial state.

        `atoms` are all fluent atoms that hold, as tuples `("on", "a", "b")` or texts `"on(a, b)"` or
        `"(on a b)"`. Derived atoms are recomputed. An atom that no variable stands for can mean that the
        translator saw it as constant, unreachable or irrelevant to the goal; unless it holds in this task's
        own initial state as well it is an error, which `ignore_unknown` turns off.
        """
        wanted = {parse_atom(atom) for atom in atoms}
        values = list(self.core.default_values)
        known: set[GroundAtom] = set()
        for variable, facts in enumerate(self.atoms):
            known.update(fact for fact in facts if fact is not None)
            if self.core.axiom_layers[variable] >= 0:
                continue
            values[variable] = self._value(variable, facts, wanted)
        if not ignore_unknown:
            self._check_unknown(wanted - known, known)
        return replace(self, core=self.core.with_initial_state(values))

    def _value(self, variable: int, facts: list[GroundAtom | None], wanted: set[GroundAtom]) -> int:
        held = [value for value, atom in enumerate(facts) if atom in wanted]
        if len(held) > 1:
            both = " and ".join(format_atom(facts[value]) for value in held[:2])
            raise InputError(f"initial state: {both} exclude each other")
        if held:
            return held[0]
        for value, atom in enumerate(facts):
            if atom is None:
                return value
        choices = ", ".join(format_atom(atom) for atom in facts[:4])
        more = ", ..." if len(facts) > 4 else ""
        raise InputError(f"initial state: one of {choices}{more} has to hold")

    def _check_unknown(self, unknown: set[GroundAtom], known: set[GroundAtom]) -> None:
        constant: frozenset[GroundAtom] = frozenset()
        if self.domain_file is not None:
            constant = self.lifted.problem.init - known
            missing = self.lifted.fluent_init - known - unknown
            if missing:
                raise InputError(
                    f"initial state: {format_atom(min(missing))} holds in {self.name} and the "
                    "translator took it for granted; load that problem on its own"
                )
        foreign = unknown - constant
        if foreign:
            raise InputError(
                f"initial state: {format_atom(min(foreign))} is not a fact of {self.name} (unreachable "
                "there, or irrelevant to its goal: then load it with keep_unimportant=True)"
            )


class Translation(TypedDict, total=False):
    """Options of a translation of PDDL; `progress` is for hstar's own front end alone."""

    time_limit: float | None  # seconds
    memory_limit: int | None  # bytes
    keep_unimportant: bool  # variables that do not influence the goal, for `with_initial_state`
    progress: Callable[[_core.Progress], object] | None  # `evaluated` facts, `generated` operators so far


def load_task(
    domain: str | Path,
    problem: str | Path | None = None,
    *,
    unit_cost: bool = False,
    translator: str = "native",
    **translation: Unpack[Translation],
) -> Task:
    """Loads a task from PDDL, or from a `.sas` file that a translator wrote.

    `load_task("domain.pddl", "problem.pddl")`; `load_task("problem.pddl")` if `domain.pddl` lies beside it;
    `load_task("output.sas")`. `translator="fast-downward"` runs the package `fast-downward.translate` instead
    of hstar's own front end. For the other options see `Translation`.
    """
    if unknown_options := sorted(set(translation) - set(Translation.__annotations__)):
        raise TypeError(f"load_task has no option '{unknown_options[0]}'")
    if translator not in TRANSLATORS:
        raise unknown("translator", translator, list(TRANSLATORS))
    first = Path(domain)
    if problem is None and first.suffix == ".sas":
        text = read_bytes(first)
        with blamed_on(first):
            return Task(_core.Task.parse(text, unit_cost=unit_cost), first.name)
    domain_file, problem_file = (find_domain(first), first) if problem is None else (first, Path(problem))
    if translator == "native":
        core = translate_natively(domain_file, problem_file, unit_cost=unit_cost, **translation)
    else:
        translation.pop("progress", None)
        text = translate(domain_file, problem_file, **translation)  # type: ignore[misc]
        core = _core.Task.parse(text, unit_cost=unit_cost)
    return Task(core, problem_file.name, domain_file, problem_file)


def with_state_of(text: bytes, task: _core.Task) -> bytes:
    """The `.sas` text from the initial state of `task`, which has the same variables, for other planners.

    Derived variables get the default values that the format asks for; planners compute the others.
    """
    table = zip(task.initial_state, task.default_values, task.axiom_layers, strict=True)
    values = [default if layer >= 0 else value for value, default, layer in table]
    lines = b"\n".join(b"%d" % value for value in values)
    begin, end = b"\nbegin_state\n", b"\nend_state\n"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise InputError(f"not a .sas text: {text.count(begin)} initial states")
    return text.partition(begin)[0] + begin + lines + end + text.partition(end)[2]


def parse_atom(atom: str | GroundAtom) -> GroundAtom:
    """The tuple form of an atom written as `on(a, b)`, `(on a b)` or `on a b`."""
    if not isinstance(atom, str):
        return tuple(atom)
    words = re.findall(r"[^\s(),]+", atom.lower())
    if not words:
        raise InputError(f"not an atom: '{atom}'")
    return tuple(words)


def format_atom(atom: GroundAtom | None) -> str:
    """An atom as text: `on(a, b)`."""
    return "none of those" if atom is None else f"{atom[0]}({', '.join(atom[1:])})"


def _positive_atom(fact: str) -> GroundAtom | None:
    match = _FACT.fullmatch(fact)
    if match is None or match[1] == "NegatedAtom":
        return None
    arguments = [word.strip() for word in match[3].split(",")] if match[3] else []
    return (match[2], *arguments)
