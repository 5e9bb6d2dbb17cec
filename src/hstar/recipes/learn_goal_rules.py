"""Learns goal rules from plans of a domain's small tasks.

A goal is regressed through the actions of a plan that it depends on, which gives the condition under which
these actions achieve it. With variables instead of objects that is a rule for the whole domain.

Differences from the paper (`goal_rules.py` names it): (1) rules come from whole plans, in which regression
finds the actions of a goal, not from plans for one goal after the other. (2) Actions that change one argument
of one atom under static conditions, and perhaps need that the place is free, are movements: a rule says where
to, and the policy finds shortest paths.
(3) A rule is dropped if another needs no more conditions and actions, or if others are as good in the
situations that it comes from. (4) Goals come in the order, by the last action of their rules, that solves
most training tasks, and then at the lowest cost. (5) Conditions of rules have rules of one action, too, which
achieve them as subgoals where no rule is applicable. (6) Goals that share an object, or have objects that are
related by a static fact, come in the order of all plans, if there is one: blocks that are below others first.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hstar.errors import InputError, UnsupportedError
from hstar.recipes.goal_rules import (
    GoalOrder,
    GoalRules,
    Rule,
    RuleWorld,
    Situation,
    Step,
    Words,
    related_goals,
)
from hstar.search.config import SearchConfig
from hstar.spaces.lifted import LiftedTask
from hstar.spaces.pddl import read_task
from hstar.spaces.validate import read_plan

MOST_ACTIONS = 8  # of a rule, movements not counted
MOST_CONDITIONS = 16
MOST_RULES = 60
LEARNING_S = 15.0  # of CPU time, from files
ORDERING_S = 10.0  # of CPU time, to try orders of goals
MOST_ORDERS = 24  # of goals that are tried
MOST_JUDGES = 20  # tasks that the order of goals is chosen by
MOST_ORIGINS = 3  # of a rule: situations that it was found in
LEAST_ORDERED = 3  # pairs of goals that come in one order, and none in the other
_TRIAL = SearchConfig(cpu_time_limit=0.5)


def _macro(world: RuleWorld, plan: Sequence[Words], goal: Words) -> list[tuple[int, Step]]:
    """The actions of a plan that its last step's goal depends on, with movements in one step each.

    With every step comes the number of actions before it, or before its first action if it is a movement.
    """
    needed, kept = {goal}, list[tuple[int, tuple[Words, Words, int] | None]]()
    for number in reversed(range(len(plan))):
        pre, adds, _ = world.ground(plan[number])
        if needed & adds:
            moves = world.moves(plan[number])
            if moves is not None and needed & adds == {moves[1]}:
                pre = {moves[0]}  # the policy finds a path that is free
            else:
                moves = None  # or of use because it leaves a place
            kept.append((number, moves))
            needed = (needed - adds) | pre
    steps = list[tuple[int, Step]]()
    moving = dict[Words, tuple[int, Step]]()  # a movement is kept back until something needs it

    def arrive(atoms: Iterable[Words]) -> None:
        for atom in atoms:
            for mover, (_, step) in list(moving.items()):
                if step.after == atom:
                    steps.append(moving.pop(mover))

    for number, moves in reversed(kept):
        if moves is None:
            arrive(sorted(world.ground(plan[number])[0]))
            steps.append((number, Step(plan[number])))
            continue
        before, after, place = moves
        mover = (*after[:place], *after[place + 1 :])
        first, begun = moving.get(mover, (number, Step(before, place)))
        moving[mover] = first, Step(begun.words, place, after[place])
    arrive([goal])
    return steps


def _regressed(world: RuleWorld, goal: Words, steps: Sequence[Step]) -> list[Rule]:
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


def _with_approach(world: RuleWorld, goal: Words, needed: Sequence[Words], steps: Sequence[Step]) -> Rule:
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


@dataclass(frozen=True)
class _Example:
    """A task, and a plan with the states along it, the initial one first."""

    world: RuleWorld
    plan: list[Words]
    states: list[frozenset[Words]]

    @classmethod
    def of(cls, task: LiftedTask, steps: Sequence[str]) -> _Example:
        world, plan = RuleWorld(task), [tuple(step.split()) for step in steps]
        states = [frozenset(task.problem.init)]
        for action in plan:
            _, adds, deletes = world.ground(action)
            states.append((states[-1] - deletes) | adds)
        return cls(world, plan, states)

    def added(self) -> Iterable[tuple[int, Words]]:
        """The atoms that become true, each after how many actions."""
        for number, (before, after) in enumerate(itertools.pairwise(self.states), 1):
            yield from ((number, atom) for atom in sorted(after - before))

    def since(self) -> dict[Words, int]:
        """Per goal: after how many actions it holds for good."""
        return dict.fromkeys(self.world.goals, 0) | {
            atom: number for number, atom in self.added() if atom in self.world.goals
        }

    def rules(self, atom: Words, end: int) -> Iterable[tuple[Rule, Situation]]:
        """Rules for an atom that becomes true after so many actions, the shortest first."""
        macro = _macro(self.world, self.plan[:end], atom)
        rules = _regressed(self.world, atom, [step for _, step in macro])
        for rule, (number, _) in zip(rules, reversed(macro), strict=False):
            yield rule, Situation(self.world.task, self.states[number], atom)


def learn(examples: Iterable[tuple[LiftedTask, Sequence[str]]], seconds: float | None = None) -> GoalRules:
    """Rules from tasks of one domain with a plan each; an `UnsupportedError` if rules cannot say its PDDL.

    After `seconds` of CPU time, if given, no more rules are added to those that are there, the shortest ones.
    """
    deadline = math.inf if seconds is None else time.process_time() + seconds
    plans = [_Example.of(task, steps) for task, steps in examples]
    kept = _selected(
        (pair for one in plans for goal, end in one.since().items() if end for pair in one.rules(goal, end)),
        deadline,
    )
    if not kept:
        raise InputError("no rules can be learned: no plan achieves a goal")
    return GoalRules(tuple(kept), subgoals=_subgoal_rules(kept, plans, deadline), orders=_goal_orders(plans))


def _selected(pairs: Iterable[tuple[Rule, Situation]], deadline: float) -> list[Rule]:
    """The rules that others do not replace."""
    found: dict[Rule, list[Situation]] = {}
    for rule, situation in pairs:
        origins = found.setdefault(rule, [])
        if len(origins) < MOST_ORIGINS:
            origins.append(situation)
    kept: list[Rule] = []
    for rule in sorted(found, key=_generality):
        if time.process_time() > deadline or len(kept) == MOST_RULES:
            break
        if not any(_replaces(other, rule) for other in kept) and _useful(rule, kept, found[rule]):
            kept.append(rule)
    return kept


def _subgoal_rules(rules: Sequence[Rule], plans: Sequence[_Example], deadline: float) -> tuple[Rule, ...]:
    """Rules of one action for the conditions of rules, and for their own conditions."""
    goals = {rule.goal[0] for rule in rules}
    wanted = {atom[0] for rule in rules for atom in rule.conditions} - goals
    found: dict[Rule, Situation] = {}
    for one in plans:
        if time.process_time() > deadline:
            break
        for number, atom in one.added():
            if atom[0] not in goals and one.world.moved(atom) is None:
                for rule, situation in one.rules(atom, number):
                    if rule.actions == 1:
                        found.setdefault(rule, situation)
    for _ in range(len(found)):  # what the conditions of such rules need
        wanted |= {atom[0] for rule in found for atom in rule.conditions if rule.goal[0] in wanted} - goals
    return tuple(
        _selected(((rule, origin) for rule, origin in found.items() if rule.goal[0] in wanted), deadline)
    )


def _goal_orders(plans: Sequence[_Example]) -> tuple[GoalOrder, ...]:
    """The orders that hold for all pairs of goals with the same object or related ones, in all plans."""
    seen = Counter[tuple[GoalOrder, bool]]()
    for one in plans:
        since = one.since()
        goals, ends = list(since), list(since.values())
        for order, i, j in related_goals(one.world.task, goals):
            if ends[i] != ends[j]:
                seen[order, ends[i] < ends[j]] += 1
    return tuple(
        sorted(
            order
            for (order, agrees), number in seen.items()
            if agrees and number >= LEAST_ORDERED and not seen[order, False]
        )
    )


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
    """The rules with the order of kinds that solves most of the tasks, and then at the lowest cost.

    Orders of goals are left out if that is better: the plans may have come in one order by chance.
    """

    deadline = time.process_time() + ORDERING_S

    def score(candidate: GoalRules) -> tuple[int, int]:
        if time.process_time() > deadline:
            return 1, 0
        plans = [candidate.follow(task, _TRIAL).plan for task in tasks]
        solved = [len(plan) for plan in plans if plan is not None]
        return -len(solved), sum(solved)

    kinds = itertools.islice(itertools.permutations(rules.order), MOST_ORDERS)
    orders = dict.fromkeys((rules.orders, ()))
    candidates = [replace(rules, order=order, orders=some) for order in kinds for some in orders]
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
