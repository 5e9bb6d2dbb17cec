"""Whether two translations of a PDDL task are the same task: facts, operators, goal, axioms, initial state.

Everything is compared by the names of atoms, so that numbers and orders do not matter. If the variables are
the same, all conditions and effects have to be. If they differ, ours must have mutex groups that the
reference does not know; then what operators ask for, add and remove is compared atom by atom, and an operator
that only the reference has must ask for two atoms that exclude each other. A fact that only the reference has
must be unreachable by the operators that are left, even if nothing is ever deleted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from hstar import _core

Pair = tuple[int, int]
Names = frozenset[Hashable]
Step = tuple[str, int, Names, frozenset[tuple[Names, Hashable]]]
SOME = 3  # how many examples of a difference are shown


@dataclass(frozen=True)
class View:
    """A task by names. Facts other than atoms are known by their name and all values of their variable."""

    core: _core.Task
    dropped: frozenset[Hashable] = frozenset()

    @cached_property
    def names(self) -> list[list[Hashable]]:
        """Per variable and value."""
        found: list[list[Hashable]] = []
        for values in self.core.fact_names:
            group = frozenset(values)
            found.append([(name, group) if name.startswith("<") else name for name in values])
        return found

    def name(self, fact: Pair) -> Hashable:
        """Of a fact."""
        return self.names[fact[0]][fact[1]]

    def some(self, facts: Iterable[Pair]) -> frozenset[Hashable]:
        """The names of facts."""
        return frozenset(map(self.name, facts))

    @cached_property
    def variables(self) -> set[Hashable]:
        """Values and layer of each."""
        layers = self.core.axiom_layers
        found: set[Hashable] = set()
        for values, layer in zip(self.names, layers, strict=True):
            if not self.dropped.intersection(values):
                found.add((frozenset(values), layer))
        return found

    @cached_property
    def atoms(self) -> set[Hashable]:
        """What can be true."""
        all_names = {name for values in self.names for name in values}
        return {name for name in all_names if str(name).startswith("Atom ")} - self.dropped

    @cached_property
    def initial(self) -> set[Hashable]:
        """The atoms of the initial state before axioms."""
        return {self.names[v][value] for v, value in enumerate(self.core.default_values)} & self.atoms

    @cached_property
    def goal(self) -> frozenset[Hashable]:
        """As names."""
        return self.some(self.core.goal)

    def operators(self) -> Iterator[Step]:
        """Name, cost, preconditions, and effects as pairs of conditions and fact."""
        for i in range(self.core.num_operators):
            op = self.core.operator(i)
            needs = self.some(op.preconditions)
            effects = frozenset(
                (self.some(conditions), self.name((variable, value)))
                for conditions, variable, value in op.effects
            )
            if not needs & self.dropped:
                yield op.name.strip(), op.cost, needs, effects

    @cached_property
    def axioms(self) -> set[Hashable]:
        """Conditions and head."""
        rules = [self.core.axiom(i) for i in range(self.core.num_axioms)]
        return {(self.some(rule.conditions), self.name((rule.variable, rule.value))) for rule in rules}

    @cached_property
    def groups(self) -> list[frozenset[Hashable]]:
        """Atoms of which at most one holds, those of a variable as well."""
        written = [self.some(group) & self.atoms for group in self.core.mutex_groups]
        return [*written, *(frozenset(values) & self.atoms for values in self.names)]

    @cached_property
    def groups_of(self) -> dict[Hashable, list[int]]:
        """The numbers of the groups of each atom."""
        found: dict[Hashable, list[int]] = {}
        for number, group in enumerate(self.groups):
            for atom in group:
                found.setdefault(atom, []).append(number)
        return found

    def excluded(self, atoms: Iterable[Hashable]) -> bool:
        """Whether two of the atoms exclude each other."""
        numbers = Counter(number for atom in atoms for number in self.groups_of.get(atom, ()))
        return any(count > 1 for count in numbers.values())

    @cached_property
    def steps(self) -> Counter[Hashable]:
        """Operators atom by atom: name, cost, what they ask for, add under conditions, and surely remove."""
        group_of = {name: v for v, values in enumerate(self.names) for name in values}
        found: Counter[Hashable] = Counter()
        for name, cost, needs, effects in self.operators():
            adds, changed = set(), set()
            for conditions, fact in effects:
                if fact in self.atoms:
                    adds.add((conditions & self.atoms, fact))
                if not conditions:
                    changed.add(group_of[fact])
            held = needs & self.atoms
            added = {fact for _, fact in adds}
            removed = frozenset(atom for atom in held if group_of[atom] in changed and atom not in added)
            found[name, cost, held, frozenset(adds), removed] += 1
        return found


def unreachable(core: _core.Task, ours: View) -> frozenset[Hashable]:
    """The names of facts that no operator leads to, without those that the mutex groups of `ours` exclude."""
    view = View(core)
    reached = {(v, value) for v, value in enumerate(core.default_values)}
    waiting: list[tuple[set[Pair], Pair]] = []
    for i in range(core.num_operators):
        op = core.operator(i)
        if ours.excluded(view.some(op.preconditions)):
            continue
        for conditions, variable, value in op.effects:
            waiting.append(({*op.preconditions, *conditions}, (variable, value)))
    for i in range(core.num_axioms):
        rule = core.axiom(i)
        waiting.append((set(rule.conditions), (rule.variable, rule.value)))
    changed = True
    while changed:
        ready = [fact for needs, fact in waiting if needs <= reached]
        waiting = [entry for entry in waiting if not entry[0] <= reached]
        changed = not reached.issuperset(ready)
        reached.update(ready)
    every = {(v, value) for v, values in enumerate(core.fact_names) for value in range(len(values))}
    return view.some(every - reached)


@dataclass(frozen=True)
class Comparison:
    """What is different, one line each; and whether ours has better variables or fewer facts."""

    differences: tuple[str, ...]
    better: tuple[str, ...]


def compare(reference: _core.Task, ours: _core.Task) -> Comparison:
    """Compares two translations of the same PDDL."""
    theirs, mine = View(reference), View(ours)
    better, found = [], []
    if theirs.atoms - mine.atoms:
        theirs = View(reference, unreachable(reference, mine))
        better.append("fewer facts")
    same = theirs.variables == mine.variables
    if not same:
        better.append("other variables")
    for what in ("atoms", "initial", "goal"):
        found += _different(what, getattr(theirs, what), getattr(mine, what))
    found += _weaker(theirs, mine)
    if reference.uses_metric != ours.uses_metric:
        found.append("metric: only one of them has it")
    if same:
        # A million operators do not fit into memory by their names; their hashes do.
        if Counter(map(hash, theirs.operators())) != Counter(map(hash, mine.operators())):
            found += _different("operators", Counter(theirs.operators()), Counter(mine.operators()))
        found += _different("axioms", theirs.axioms, mine.axioms)
    else:
        if "fewer facts" not in better and not _weaker(mine, theirs):
            found += _different("variables", theirs.variables, mine.variables)
        possible = Counter({step: n for step, n in theirs.steps.items() if not mine.excluded(step[2])})  # type: ignore[index]
        found += _different("operators", possible, mine.steps)
    return Comparison(tuple(found), tuple(better))


def _different(what: str, theirs: object, mine: object) -> list[str]:
    if theirs == mine:
        return []
    left = Counter(theirs) if not isinstance(theirs, Counter) else theirs  # type: ignore[call-overload]
    right = Counter(mine) if not isinstance(mine, Counter) else mine  # type: ignore[call-overload]
    missing, added = left - right, right - left
    shown = [f"-{item}" for item in list(missing)[:SOME]] + [f"+{item}" for item in list(added)[:SOME]]
    return [f"{what}: {len(missing)} missing, {len(added)} too many: {' '.join(shown)[:600]}"]


def _weaker(theirs: View, mine: View) -> list[str]:
    """Groups of the reference that are no part of one of ours."""
    missing = []
    for group in theirs.groups:
        if len(group) < 2:
            continue
        shared = None
        for atom in group:
            numbers = set(mine.groups_of.get(atom, ()))
            shared = numbers if shared is None else shared & numbers
        if not shared:
            missing.append(sorted(map(str, group)))
    return [f"mutex groups: {len(missing)} missing: {missing[0][:6]}"] if missing else []
