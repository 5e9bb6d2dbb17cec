"""Goal rules: lifted macros, each of which achieves one goal, learned from plans of a domain's small tasks.

Chen, Hofmann, Klassen and McIlraith, "Satisficing and Optimal Generalised Planning via Goal Regression" (AAAI
2026). A goal is regressed through the actions of a plan that it depends on, which gives the condition under
which these actions achieve it. With variables instead of objects that is a rule for the whole domain. The
policy that follows the rules runs in the core on the lifted task (`core/policy/goal_rules.h`): nothing is
grounded.

Differences from the paper: (1) rules come from whole plans, in which regression finds the actions of a goal,
not from plans for one goal after the other. (2) Actions that change one argument of one atom under static
conditions are movements: a rule says where to, and the policy finds shortest paths. (3) A rule is dropped if
another needs no more conditions and actions, or if others are as good in the situations that it comes from.
(4) Goals come in the order, by the last action of their rules, that solves most training tasks, and then at
the lowest cost.

Invariant: a rule whose condition holds achieves its goal, unless two of its variables stand for one object;
the policy tries each instance before it follows it.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import msgspec

from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.search.config import SearchConfig, native_limits
from hstar.search.result import Result
from hstar.spaces.lazy_task import LazyTask
from hstar.spaces.lifted import Action, And, Atom, GroundAtom, LiftedTask, Not
from hstar.spaces.pddl import read_task
from hstar.spaces.validate import read_plan

MOST_ACTIONS = 8  # of a rule, movements not counted
MOST_CONDITIONS = 16
MOST_RULES = 60
LEARNING_S = 15.0  # of CPU time, from files
MOST_ORDERS = 24  # of goals that are tried
MOST_JUDGES = 20  # tasks that the order of goals is chosen by
MOST_ORIGINS = 3  # of a rule: situations that it was found in
_TRIAL = SearchConfig(cpu_time_limit=0.5)

Term: TypeAlias = str
Words: TypeAlias = tuple[str, ...]  # an atom, or an action, with its terms
Binding: TypeAlias = Mapping[Term, str]


class Movement(NamedTuple):
    """Atoms of this predicate change in this argument, counted from 1, by movements."""

    predicate: str
    place: int


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
        if len(self.adds) != 1 or len(self.deletes) != 1 or self.adds[0][0] != self.deletes[0][0]:
            return None
        after, before = self.adds[0], self.deletes[0]
        places = [i for i in range(1, len(after)) if after[i] != before[i]]
        changing = [atom for atom in self.positive if atom[0] not in static]
        # A movement to where it is already has no use, so it does not matter that it is forbidden.
        forbidden = [atom for atom in self.negative if atom != after]
        if len(places) != 1 or changing != [before] or forbidden:
            return None
        return Movement(after[0], places[0])


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


class _World:
    """What rules need to know of a lifted task."""

    def __init__(self, task: LiftedTask) -> None:
        if task.domain.rules:
            raise UnsupportedError("goal rules cannot be learned: the domain has derived predicates")
        self.task = task
        self.goals = task.goal_atoms
        self.schemas = {name: _schema(action) for name, action in task.domain.actions.items()}
        static = task.static_predicates
        self.movement = {name: schema.movement(static) for name, schema in self.schemas.items()}

    def ground(self, action: Words) -> tuple[set[Words], set[Words], set[Words]]:
        """Positive preconditions, adds and deletes of an action."""
        schema = self.schemas[action[0]]
        binding = dict(zip(schema.parameters, action[1:], strict=True))
        pre, adds, deletes = (
            {_bound(atom, binding) for atom in atoms}
            for atoms in (schema.positive, schema.adds, schema.deletes)
        )
        return pre, adds, deletes

    def moved(self, atom: Words) -> Movement | None:
        """The movement that can change the atom, of an object that can move."""
        for name, movement in self.movement.items():
            if movement is None or movement.predicate != atom[0]:
                continue
            schema = self.schemas[name]
            types = dict(zip(schema.parameters, schema.types, strict=True))
            pairs = zip(schema.deletes[0][1:], atom[1:], strict=True)
            if all(
                any(thing in self.task.objects_of_type(kind) for kind in types[term])
                if term in types
                else term == thing
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
            known = {name for kind in types for name in self.task.objects_of_type(kind)}
            of_type[types] = sorted(objects[name] for name in known)

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


# Learning.


def _macro(world: _World, plan: Sequence[Words], goal: Words) -> list[tuple[int, Step]]:
    """The actions of a plan that its last step's goal depends on, with movements in one step each.

    With every step comes the number of actions before it, or before its first action if it is a movement.
    """
    needed, kept = {goal}, list[int]()
    for number in reversed(range(len(plan))):
        pre, adds, _ = world.ground(plan[number])
        if needed & adds:
            kept.append(number)
            needed = (needed - adds) | pre
    steps = list[tuple[int, Step]]()
    moving = dict[Words, tuple[int, Step]]()  # a movement is kept back until something needs it

    def arrive(atoms: Iterable[Words]) -> None:
        for atom in atoms:
            for mover, (_, step) in list(moving.items()):
                if step.after == atom:
                    steps.append(moving.pop(mover))

    for number in reversed(kept):
        action = plan[number]
        pre, adds, deletes = world.ground(action)
        if (movement := world.movement[action[0]]) is None:
            arrive(sorted(pre))
            steps.append((number, Step(action)))
            continue
        (before,), (after,), place = deletes, adds, movement.place
        mover = (*after[:place], *after[place + 1 :])
        first, begun = moving.get(mover, (number, Step(before, place)))
        moving[mover] = first, Step(begun.words, place, after[place])
    arrive([goal])
    return steps


def _regressed(world: _World, goal: Words, steps: Sequence[Step]) -> list[Rule]:
    """A rule for each end of the macro, the shortest first; movements come first where they help."""
    found, needed = list[Rule](), {goal}
    for i in range(len(steps) - 1, -1, -1):
        step = steps[i]
        if step.place:
            pre, adds = {step.words}, {step.after}
        else:
            pre, adds, _ = world.ground(step.words)
        needed = (needed - adds) | pre
        rest = steps[i:]
        if sum(not one.place for one in rest) > MOST_ACTIONS or len(needed) > MOST_CONDITIONS:
            break
        found.append(_with_approach(world, goal, sorted(needed), rest))
    return found


def _with_approach(world: _World, goal: Words, needed: Sequence[Words], steps: Sequence[Step]) -> Rule:
    """The rule in which everything that can move comes from anywhere."""
    conditions, approach = list[Words](), list[Step]()
    for number, atom in enumerate(needed):
        movement = world.moved(atom)
        if movement is None:
            conditions.append(atom)
            continue
        place, anywhere = movement.place, f"?from{number}"
        before = (*atom[:place], anywhere, *atom[place + 1 :])
        conditions.append(before)
        if steps and steps[0].place and steps[0].words == atom:
            approach.append(Step(before, place, steps[0].to))
            steps = steps[1:]
        else:
            approach.append(Step(before, place, atom[place]))
    return _lifted(goal, conditions, (*approach, *steps), world.task.domain.constants)


def _lifted(
    goal: Words, conditions: Iterable[Words], steps: Sequence[Step], constants: Mapping[str, str]
) -> Rule:
    """With variables instead of objects, numbered from the goal on and from the last step to the first."""
    names: dict[str, str] = {}

    def lift(words: Words) -> Words:
        return (words[0], *(term(name) for name in words[1:]))

    def term(name: str) -> str:
        return name if name in constants else names.setdefault(name, f"?{len(names)}")

    goal = lift(goal)
    backwards = [
        Step(lift(step.words), step.place, term(step.to) if step.place else "") for step in reversed(steps)
    ]
    return Rule(goal, tuple(sorted(lift(atom) for atom in conditions)), tuple(reversed(backwards)))


def _replaces(rule: Rule, other: Rule) -> bool:
    """Whether a rule needs no more than another and has no more actions (theta-subsumption)."""
    if rule.actions > other.actions or len(rule.conditions) > len(other.conditions):
        return False

    def match(atom: Words, there: Words, binding: dict[str, str]) -> dict[str, str] | None:
        if atom[0] != there[0]:
            return None
        binding = dict(binding)
        for term, name in zip(atom[1:], there[1:], strict=True):
            if not term.startswith("?"):
                if term != name:
                    return None
            elif term in binding:
                if binding[term] != name:
                    return None
            else:
                binding[term] = name
        return binding

    def rest(number: int, binding: dict[str, str]) -> bool:
        if number == len(rule.conditions):
            return True
        found = (match(rule.conditions[number], there, binding) for there in other.conditions)
        return any(one is not None and rest(number + 1, one) for one in found)

    first = match(rule.goal, other.goal, {})
    return first is not None and rest(0, first)


def learn(examples: Iterable[tuple[LiftedTask, Sequence[str]]], seconds: float | None = None) -> GoalRules:
    """Rules from tasks of one domain with a plan each; an `UnsupportedError` if rules cannot say its PDDL.

    After `seconds` of CPU time, if given, no more rules are added to those that are there, the shortest ones.
    """
    deadline = math.inf if seconds is None else time.process_time() + seconds
    found: dict[Rule, list[Situation]] = {}
    for task, steps in examples:
        world = _World(task)
        plan: list[Words] = [tuple(step.split()) for step in steps]
        states = [frozenset(task.problem.init)]
        since = dict.fromkeys(world.goals, 0)  # per goal: after which step it holds for good
        for number, action in enumerate(plan, 1):
            _, adds, deletes = world.ground(action)
            for goal in since:
                if goal in adds and goal not in states[-1]:
                    since[goal] = number
            states.append((states[-1] - deletes) | adds)
        for goal, end in since.items():
            macro = _macro(world, plan[:end], goal) if end else []
            rules = _regressed(world, goal, [step for _, step in macro])
            for rule, (number, _) in zip(rules, reversed(macro), strict=False):
                origins = found.setdefault(rule, [])
                if len(origins) < MOST_ORIGINS:
                    origins.append(Situation(task, states[number], goal))
    kept: list[Rule] = []
    for rule in sorted(found, key=_generality):
        if time.process_time() > deadline or len(kept) == MOST_RULES:
            break
        if not any(_replaces(other, rule) for other in kept) and _useful(rule, kept, found[rule]):
            kept.append(rule)
    if not kept:
        raise InputError("no rules can be learned: no plan achieves a goal")
    return GoalRules(tuple(kept))


def _generality(rule: Rule) -> tuple[int, int, int, Rule]:
    """Fewer actions, fewer conditions and more variables first."""
    terms = {term for atom in (rule.goal, *rule.conditions) for term in atom[1:]}
    return rule.actions, len(rule.conditions), -len(terms), rule


def _useful(rule: Rule, kept: Sequence[Rule], origins: Iterable[Situation]) -> bool:
    """Whether the rule leads to the goal at a lower cost than the others, in a situation it comes from."""

    def cost(rules: Sequence[Rule], origin: Situation) -> float:
        if not rules:
            return math.inf
        run = GoalRules(tuple(rules)).follow(origin.task, _TRIAL, origin)
        return math.inf if run.plan is None else len(run.plan)

    return any(cost([rule], origin) < cost(kept, origin) for origin in origins)


def in_best_order(rules: GoalRules, tasks: Sequence[LiftedTask]) -> GoalRules:
    """The rules with that order of kinds which solves most of the tasks, and then at the lowest cost."""

    def score(candidate: GoalRules) -> tuple[int, int]:
        plans = [candidate.follow(task, _TRIAL).plan for task in tasks]
        solved = [len(plan) for plan in plans if plan is not None]
        return -len(solved), sum(solved)

    orders = itertools.islice(itertools.permutations(rules.order), MOST_ORDERS)
    candidates = [replace(rules, order=order) for order in orders]
    return candidates[0] if len(candidates) == 1 else min(candidates, key=score)


def learn_from_files(domain: Path, examples: Sequence[tuple[Path, Path]]) -> list[GoalRules]:
    """Rules from pairs of a problem and a plan file, in the best order; none if the PDDL is beyond rules."""
    tasks = [(read_task(domain, problem), read_plan(plan)) for problem, plan in examples]
    try:
        rules = learn(tasks, LEARNING_S)
    except (InputError, UnsupportedError):
        return []
    largest = sorted((task for task, _ in tasks), key=lambda task: len(task.objects))[-MOST_JUDGES:]
    return [in_best_order(rules, largest)]


# Following.


@dataclass(frozen=True)
class GoalRules:
    """Rules of a domain; `order` has their kinds, those whose goals come first. A candidate of knowledge."""

    kind: ClassVar[str] = "goal-rules"
    family: ClassVar[str] = kind
    name: ClassVar[str] = kind
    translated: ClassVar[bool] = False

    rules: tuple[Rule, ...]
    order: tuple[str, ...] = ()

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
        world = _World(task)
        native, predicates, objects = world.native(start)
        rules = [self._native(rule, world, predicates, objects) for rule in self.rules]
        limits = native_limits(SearchConfig() if config is None else config)
        for mixed in (True, False):
            run = _core.follow_goal_rules(native, rules, limits, mixed)
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
        self, rule: Rule, world: _World, predicates: Mapping[str, int], objects: Mapping[str, int]
    ) -> _core.GoalRule:
        numbers: dict[str, int] = {}

        def term(name: str) -> int:
            return numbers.setdefault(name, len(numbers)) if name.startswith("?") else ~objects[name]

        def atom(words: Words) -> list[int]:
            return [predicates[words[0]], *map(term, words[1:])]

        def step(one: Step) -> list[int]:
            if not one.place:
                return [0, schemas.index(one.words[0]), *map(term, one.words[1:])]
            movement = movements.index(Movement(one.words[0], one.place))
            return [1, movement, *map(term, (*one.words[1:], one.to))]

        schemas, movements = list(world.schemas), world.movements()
        try:
            goal, conditions = atom(rule.goal), [atom(words) for words in rule.conditions]
            steps = [step(one) for one in rule.steps]
        except (KeyError, ValueError) as error:
            raise InputError(f"rules of another domain: {world.task.domain.name} lacks {error}") from None
        rank = self.order.index(rule.kind)
        return _core.GoalRule(
            goal=goal, conditions=conditions, steps=steps, variables=len(numbers), rank=rank
        )

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Plain JSON data, and no tensors."""
        return msgspec.to_builtins({"rules": self.rules, "order": self.order}), {}

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], tensors: Mapping[str, Any]) -> GoalRules:
        """What `to_parts` gave; an `InputError` for anything else."""
        try:
            rules = msgspec.convert(header["rules"], tuple[Rule, ...])
            order = msgspec.convert(header["order"], tuple[str, ...])
        except msgspec.ValidationError as error:
            raise InputError(f"not goal rules: {error}") from None
        if any(not rule.goal or not rule.steps or rule.kind not in order for rule in rules):
            raise InputError("not goal rules: a rule without a goal, steps or a place in the order")
        return cls(rules, order)
