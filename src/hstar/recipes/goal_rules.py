"""Goal rules: lifted macros, each of which achieves one goal, and the policy that follows them.

Chen, Hofmann, Klassen and McIlraith, "Satisficing and Optimal Generalised Planning via Goal Regression" (AAAI
2026). How rules are learned is in `learn_goal_rules.py`. The policy runs in the core on the lifted task
(`core/policy/goal_rules.h`): nothing is grounded.

Invariant: a rule whose condition holds achieves its goal, unless two of its variables stand for one object;
the policy tries each instance before it follows it.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import msgspec

from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.search.config import SearchConfig, native_limits
from hstar.search.result import Result
from hstar.spaces.lazy_task import LazyTask
from hstar.spaces.lifted import Action, And, Atom, GroundAtom, LiftedTask, Not

Term: TypeAlias = str
Words: TypeAlias = tuple[str, ...]  # an atom, or an action, with its terms
Binding: TypeAlias = Mapping[Term, str]

SAME = "="  # the relation of an object to itself


class Movement(NamedTuple):
    """Atoms of this predicate change in this argument, counted from 1, by movements.

    The guard must hold of where they lead to; with `swaps` it is taken from there and given to what is left.
    """

    predicate: str
    place: int
    guard: str = ""
    swaps: bool = False


class Situation(NamedTuple):
    """A state of a task, and one goal to achieve from there."""

    task: LiftedTask
    holds: frozenset[Words]
    goal: Words


class Step(msgspec.Struct, frozen=True, array_like=True, order=True):
    """An action; or, with `place`, a movement: `words` is the atom before it, `to` where it leads."""

    words: Words
    place: int = 0
    to: str = ""

    @property
    def after(self) -> Words:
        return (*self.words[: self.place], self.to, *self.words[self.place + 1 :])


class Rule(msgspec.Struct, frozen=True, array_like=True, order=True):
    """Where the conditions hold, the steps achieve the goal. Terms that begin with ? are variables."""

    goal: Words
    conditions: tuple[Words, ...]
    steps: tuple[Step, ...]

    @property
    def actions(self) -> int:
        return sum(not step.place for step in self.steps)

    @property
    def kind(self) -> str:
        """How the goal is achieved at last: by which action schema, or by moving."""
        return self.steps[-1].words[0]


class GoalOrder(msgspec.Struct, frozen=True, array_like=True, order=True):
    """Goals of `first` come before goals of `second` that have the same object, at these places from 1 on.

    Or whose objects are in a static fact of `relation`, at the places `first_in` and `second_in`.
    """

    first: str
    first_place: int
    second: str
    second_place: int
    relation: str = SAME
    first_in: int = 0
    second_in: int = 0


def related_goals(
    task: LiftedTask, goals: Sequence[Words], relations: Collection[str] | None = None
) -> Iterator[tuple[GoalOrder, int, int]]:
    """Numbers of goals with the same object or related ones, and the order that puts the former first."""
    having: dict[str, list[tuple[int, int]]] = {}
    for number, goal in enumerate(goals):
        for place, thing in enumerate(goal[1:], 1):
            having.setdefault(thing, []).append((number, place))
    pairs = [(SAME, 0, 0, thing, thing) for thing in having]
    for fact in task.static_facts:
        if relations is None or fact[0] in relations:
            places = itertools.permutations(range(1, len(fact)), 2)
            pairs += [(fact[0], i, j, fact[i], fact[j]) for i, j in places]
    for relation, first_in, second_in, one, other in pairs:
        for i, first_place in having.get(one, ()):
            for j, second_place in having.get(other, ()):
                if i != j:
                    first, second = (goals[i][0], first_place), (goals[j][0], second_place)
                    yield GoalOrder(*first, *second, relation, first_in, second_in), i, j


@dataclass(frozen=True)
class _Schema:
    """An action schema of literals."""

    name: str
    parameters: tuple[Term, ...]
    types: tuple[tuple[str, ...], ...]
    positive: tuple[Words, ...]
    negative: tuple[Words, ...]
    adds: tuple[Words, ...]
    deletes: tuple[Words, ...]
    different: tuple[tuple[Term, Term], ...]

    def movement(self, static: frozenset[str]) -> Movement | None:
        """What it moves, if it only moves something."""
        pairs = itertools.product(self.deletes, self.adds)
        return next((one for pair in pairs if (one := self._moves(*pair, static)) is not None), None)

    def _moves(self, before: Words, after: Words, static: frozenset[str]) -> Movement | None:
        places = [i for i, term in enumerate(after) if before[0] == after[0] and before[i] != term]
        changing = [atom for atom in self.positive if atom[0] not in static and atom != before]
        # A movement to where it is already has no use, so it does not matter that it is forbidden.
        forbidden = [atom for atom in self.negative if atom != after]
        if len(places) != 1 or before not in self.positive or len(changing) > 1 or forbidden:
            return None
        left, to = before[places[0]], after[places[0]]
        if any(atom[1:] != (to,) for atom in changing):
            return None
        guard = changing[0][0] if changing else ""
        rest = set(self.deletes) - {before}, set(self.adds) - {after}
        swaps = rest == ({(guard, to)}, {(guard, left)})
        return Movement(after[0], places[0], guard, swaps) if swaps or rest == (set(), set()) else None

    def moving_first(self, predicate: str) -> _Schema:
        """With effects that begin with those of a predicate."""

        def ordered(atoms: tuple[Words, ...]) -> tuple[Words, ...]:
            return tuple(sorted(atoms, key=lambda atom: atom[0] != predicate))

        return replace(self, adds=ordered(self.adds), deletes=ordered(self.deletes))


def _schema(action: Action) -> _Schema:
    parts = action.precondition.parts if isinstance(action.precondition, And) else (action.precondition,)
    literals: dict[bool, list[Words]] = {True: [], False: []}
    for part in parts:
        atom = part.part if isinstance(part, Not) else part
        if not isinstance(atom, Atom):
            raise UnsupportedError(f"goal rules cannot be learned: {action.name} needs {part}")
        literals[not isinstance(part, Not)].append((atom.predicate, *atom.terms))
    if any(atom[0] == "=" for atom in literals[True]):
        raise UnsupportedError(f"goal rules cannot be learned: {action.name} needs an equality")
    effects: dict[bool, list[Words]] = {True: [], False: []}
    for effect in action.effects:
        if effect.parameters or effect.condition != And(()):
            raise UnsupportedError(f"goal rules cannot be learned: {action.name} has conditional effects")
        effects[effect.positive].append((effect.atom.predicate, *effect.atom.terms))
    return _Schema(
        action.name,
        tuple(parameter.name for parameter in action.parameters),
        tuple(parameter.types for parameter in action.parameters),
        tuple(dict.fromkeys(literals[True])),
        tuple(atom for atom in literals[False] if atom[0] != "="),
        tuple(effects[True]),
        tuple(atom for atom in effects[False] if atom not in effects[True]),
        tuple((atom[1], atom[2]) for atom in literals[False] if atom[0] == "="),
    )


class RuleWorld:
    """What rules need to know of a lifted task."""

    def __init__(self, task: LiftedTask) -> None:
        if task.domain.rules:
            raise UnsupportedError("goal rules cannot be learned: the domain has derived predicates")
        self.task = task
        self.goals = task.goal_atoms
        self.schemas = {name: _schema(action) for name, action in task.domain.actions.items()}
        static = task.static_predicates
        self.movement = {name: schema.movement(static) for name, schema in self.schemas.items()}
        for name, movement in self.movement.items():
            if movement is not None:
                self.schemas[name] = self.schemas[name].moving_first(movement.predicate)

    def ground(self, action: Words) -> tuple[set[Words], set[Words], set[Words]]:
        """Positive preconditions, adds and deletes of an action."""
        schema = self.schemas[action[0]]
        binding = dict(zip(schema.parameters, action[1:], strict=True))
        pre, adds, deletes = (
            {_bound(atom, binding) for atom in atoms}
            for atoms in (schema.positive, schema.adds, schema.deletes)
        )
        return pre, adds, deletes

    def moves(self, action: Words) -> tuple[Words, Words, int] | None:
        """Of a movement the atoms before and after it, and the place in which they differ."""
        if (movement := self.movement[action[0]]) is None:
            return None
        schema = self.schemas[action[0]]
        binding = dict(zip(schema.parameters, action[1:], strict=True))
        return _bound(schema.deletes[0], binding), _bound(schema.adds[0], binding), movement.place

    def moved(self, atom: Words) -> Movement | None:
        """The movement that can change the atom, of an object that can move."""
        for name, movement in self.movement.items():
            if movement is None or movement.predicate != atom[0]:
                continue
            schema = self.schemas[name]
            types = dict(zip(schema.parameters, schema.types, strict=True))
            pairs = zip(schema.deletes[0][1:], atom[1:], strict=True)
            if all(
                thing in self.task.objects_of(*types[term]) if term in types else term == thing
                for term, thing in pairs
            ):
                return movement
        return None

    def native(self, start: Situation | None) -> tuple[_core.RuleTask, dict[str, int], dict[str, int]]:
        """For the core, from `start` if it is given; with the numbers of predicates and objects."""
        init, goals = (self.task.problem.init, self.goals) if start is None else (start.holds, (start.goal,))
        predicates = {name: i for i, name in enumerate(self.task.domain.predicates)}
        objects = {name: i for i, name in enumerate(self.task.objects)}
        of_type: dict[tuple[str, ...], list[int]] = {}
        for types in {types for schema in self.schemas.values() for types in schema.types}:
            of_type[types] = sorted(objects[name] for name in self.task.objects_of(*types))

        def schema(one: _Schema) -> _core.RuleSchema:
            numbers = {name: i for i, name in enumerate(one.parameters)}
            numbers |= {name: ~number for name, number in objects.items()}
            atoms = {
                part: [[predicates[name], *(numbers[term] for term in terms)] for name, *terms in found]
                for part, found in (
                    ("positive", one.positive),
                    ("negative", one.negative),
                    ("adds", one.adds),
                    ("deletes", one.deletes),
                )
            }
            different = [[numbers[first], numbers[second]] for first, second in one.different]
            return _core.RuleSchema(
                candidates=[of_type[types] for types in one.types], different=different, **atoms
            )

        def numbered(atom: GroundAtom) -> list[int]:
            return [predicates[atom[0]], *(objects[name] for name in atom[1:])]

        names = list(self.schemas)
        task = _core.RuleTask(
            objects=len(objects),
            arities=[len(types) for types in self.task.domain.predicates.values()],
            schemas=[schema(self.schemas[name]) for name in names],
            movements=[
                _core.RuleMovement(
                    predicate=predicates[one.predicate],
                    place=one.place,
                    schemas=[i for i, name in enumerate(names) if self.movement[name] == one],
                    guard=predicates.get(one.guard, -1),
                    swaps=one.swaps,
                )
                for one in self.movements()
            ],
            init=[numbered(atom) for atom in sorted(init)],
            goals=[numbered(atom) for atom in goals],
        )
        return task, predicates, objects

    def movements(self) -> list[Movement]:
        return list(dict.fromkeys(one for one in self.movement.values() if one is not None))


def _bound(atom: Words, binding: Binding) -> Words:
    return (atom[0], *(binding.get(term, term) for term in atom[1:]))


@dataclass(frozen=True)
class GoalRules:
    """Rules of a domain; `order` has their kinds, those whose goals come first. A candidate of knowledge.

    Rules of `subgoals` achieve conditions of others.
    """

    kind: ClassVar[str] = "goal-rules"
    family: ClassVar[str] = kind
    name: ClassVar[str] = kind
    translated: ClassVar[bool] = False

    rules: tuple[Rule, ...]
    order: tuple[str, ...] = ()
    subgoals: tuple[Rule, ...] = ()
    orders: tuple[GoalOrder, ...] = ()

    def __post_init__(self) -> None:
        if not self.order:
            object.__setattr__(self, "order", tuple(dict.fromkeys(rule.kind for rule in self.rules)))

    def run(self, problem: LazyTask, limits: SearchConfig) -> Result:
        """A plan for two PDDL files, which nobody has validated."""
        return self.follow(problem.lifted, limits)

    def follow(
        self, task: LiftedTask, config: SearchConfig | None = None, start: Situation | None = None
    ) -> Result:
        """Follows the rules on a lifted task within the limits; 'incomplete' where no rule leads on.

        Goals of all kinds make progress beside each other; if that leads nowhere, kinds come one by one.
        """
        world = RuleWorld(task)
        native, predicates, objects = world.native(start)
        rules = [self._native(rule, world, predicates, objects) for rule in (*self.rules, *self.subgoals)]
        orders: set[tuple[int, int]] = set()
        if self.orders and start is None:
            known = related_goals(task, world.goals, {one.relation for one in self.orders})
            orders = {(i, j) for order, i, j in known if order in self.orders}
        limits = native_limits(SearchConfig() if config is None else config)
        for mixed in (True, False):
            run = _core.follow_goal_rules(native, rules, sorted(orders), limits, mixed)
            if run.status != "incomplete":
                break
        plan = None
        if run.status == "solved":
            schemas, names = list(world.schemas), list(objects)
            plan = tuple(" ".join((schemas[schema], *(names[i] for i in rest))) for schema, *rest in run.plan)
        return Result(
            run.status,
            plan,
            plan_length=None if plan is None else len(plan),
            expanded=run.expanded,
            search_time=run.search_time,
            cpu_time=run.cpu_time,
            unit_cost=not task.problem.metric,
            ran=self.name,
        )

    def _native(
        self, rule: Rule, world: RuleWorld, predicates: Mapping[str, int], objects: Mapping[str, int]
    ) -> _core.GoalRule:
        numbers: dict[str, int] = {}

        def term(name: str) -> int:
            return numbers.setdefault(name, len(numbers)) if name.startswith("?") else ~objects[name]

        def atom(words: Words) -> list[int]:
            return [predicates[words[0]], *map(term, words[1:])]

        def step(one: Step) -> list[int]:
            if not one.place:
                return [0, schemas.index(one.words[0]), *map(term, one.words[1:])]
            return [1, movements.index((one.words[0], one.place)), *map(term, (*one.words[1:], one.to))]

        schemas, movements = list(world.schemas), [one[:2] for one in world.movements()]
        try:
            goal, conditions = atom(rule.goal), [atom(words) for words in rule.conditions]
            steps = [step(one) for one in rule.steps]
        except (KeyError, ValueError) as error:
            raise InputError(f"rules of another domain: {world.task.domain.name} lacks {error}") from None
        rank = self.order.index(rule.kind) if rule.kind in self.order else len(self.order)
        return _core.GoalRule(
            goal=goal, conditions=conditions, steps=steps, variables=len(numbers), rank=rank
        )

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Plain JSON data, and no tensors."""
        names = ("rules", "order", "subgoals", "orders")
        return msgspec.to_builtins({name: getattr(self, name) for name in names}), {}

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], tensors: Mapping[str, Any]) -> GoalRules:
        """What `to_parts` gave; an `InputError` for anything else."""
        try:
            rules = msgspec.convert(header["rules"], tuple[Rule, ...])
            order = msgspec.convert(header["order"], tuple[str, ...])
            subgoals = msgspec.convert(header.get("subgoals", ()), tuple[Rule, ...])
            orders = msgspec.convert(header.get("orders", ()), tuple[GoalOrder, ...])
        except msgspec.ValidationError as error:
            raise InputError(f"not goal rules: {error}") from None
        if any(not rule.goal or not rule.steps for rule in (*rules, *subgoals)):
            raise InputError("not goal rules: a rule without a goal or steps")
        if any(rule.kind not in order for rule in rules):
            raise InputError("not goal rules: a rule without a place in the order")
        return cls(rules, order, subgoals, orders)
