"""Goal rules: what is learned from plans of small tasks solves larger ones, and every plan is valid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hstar
from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.experiments import knowledge
from hstar.generators import GENERATORS
from hstar.recipes.goal_rules import GoalOrder, GoalRules, Movement, Rule, RuleWorld, Step
from hstar.recipes.learn_goal_rules import learn, learn_from_files
from hstar.search.config import SearchConfig
from hstar.search.result import Result
from hstar.spaces.lifted import LiftedTask
from hstar.spaces.lifted_state import validate_pddl
from hstar.spaces.pddl import parse_task
from hstar.spaces.relations import vocabulary

# By domain: options of small tasks to learn from, and of one that is larger than all of them.
SIZES: dict[str, tuple[list[dict[str, int]], dict[str, int]]] = {
    "blocksworld": ([{"blocks": n} for n in (3, 4, 5, 6)], {"blocks": 60}),
    "ferry": ([{"cars": n, "locations": 4} for n in (1, 2, 3)], {"cars": 60, "locations": 20}),
    "gripper": ([{"balls": n} for n in (1, 2, 3)], {"balls": 60}),
    "miconic": ([{"passengers": n, "floors": 4} for n in (1, 2, 3)], {"passengers": 50, "floors": 30}),
    "transport": (
        [{"vehicles": 2, "packages": n, "locations": 5} for n in (1, 2, 3)],
        {"vehicles": 5, "packages": 30, "locations": 25},
    ),
    "spanner": (
        [{"spanners": 3, "nuts": n, "locations": 3} for n in (1, 2)],
        {"spanners": 20, "nuts": 15, "locations": 12},
    ),
    "satellite": (
        [{"satellites": 2, "instruments": 2, "modes": 2, "directions": n + 1, "images": n} for n in (2, 3)],
        {"satellites": 6, "instruments": 3, "modes": 3, "directions": 30, "images": 25},
    ),
}


def texts(domain: str, options: dict[str, int], seed: int) -> tuple[str, str]:
    return GENERATORS.get(domain)(**options, seed=seed)


def example(folder: Path, domain: str, problem: str) -> tuple[LiftedTask, tuple[str, ...]]:
    """A task with an optimal plan."""
    files = folder / "domain.pddl", folder / "problem.pddl"
    for file, text in zip(files, (domain, problem), strict=True):
        file.write_text(text)
    plan = hstar.solve(hstar.load(*files), "lmcut", search="astar").plan
    assert plan is not None
    return parse_task(domain, problem), plan


def assert_valid(task: LiftedTask, result: Result) -> None:
    assert result.status == "solved" and result.plan is not None
    verdict = validate_pddl(task, result.plan)
    assert verdict.valid, verdict.reason


@pytest.mark.parametrize("domain", SIZES)
def test_rules_of_small_tasks_solve_a_large_one(domain: str, tmp_path: Path) -> None:
    small, large = SIZES[domain]
    pairs = [example(tmp_path, *texts(domain, options, seed)) for options in small for seed in range(4)]
    rules = learn(pairs)
    for task, _ in pairs:
        assert_valid(task, rules.follow(task))
    task = parse_task(*texts(domain, large, 7))
    assert_valid(task, rules.follow(task))


def test_towers_are_taken_apart_by_subgoals_and_built_from_below(tmp_path: Path) -> None:
    sizes = [{"blocks": n} for n in (3, 4, 5, 6)]
    pairs = [example(tmp_path, *texts("blocksworld", size, seed)) for size in sizes for seed in range(4)]
    rules = learn(pairs)
    assert GoalOrder("on", 1, "on", 2) in rules.orders
    emptied = Rule(("arm-empty",), (("holding", "?0"),), (Step(("putdown", "?0")),))
    assert emptied in rules.subgoals
    blocks = [f"b{i}" for i in range(1, 31)]
    domain, _ = texts("blocksworld", {"blocks": 3}, 0)
    tower = " ".join(f"(on {above} {below})" for above, below in itertools.pairwise(blocks))
    turned = " ".join(f"(on {below} {above})" for above, below in itertools.pairwise(blocks))

    def with_goal(goal: str) -> LiftedTask:
        objects = " ".join(blocks)
        init = f"(arm-empty) (clear b1) (on-table b30) {tower}"
        about = "(define (problem p) (:domain blocksworld-4ops)"
        return parse_task(domain, f"{about} (:objects {objects}) (:init {init}) (:goal (and {goal})))")

    for goal in (turned, "(on b30 b1)"):  # of 30 blocks one stays, or goes twice
        task = with_goal(goal)
        result = rules.follow(task)
        assert_valid(task, result)
        assert result.plan_length == 60
    assert replace(rules, subgoals=(), orders=()).follow(task).plan is None
    header, tensors = rules.to_parts()
    assert GoalRules.from_parts(header, tensors) == rules


def test_rules_are_lifted_regressions_with_movements(tmp_path: Path) -> None:
    pairs = [example(tmp_path, *texts("gripper", {"balls": n}, 0)) for n in (1, 2)]
    shortest = learn(pairs).rules[0]
    assert shortest == Rule(
        ("at", "?0", "?1"),
        (("at-robby", "?3"), ("ball", "?0"), ("carry", "?0", "?2"), ("gripper", "?2"), ("room", "?1")),
        (Step(("at-robby", "?3"), 1, "?1"), Step(("drop", "?0", "?1", "?2"))),
    )
    assert RuleWorld(pairs[0][0]).movements() == [Movement("at-robby", 1)]


ONE_WAY = """
(define (domain one-way)
  (:requirements :strips :typing)
  (:types place key door - object)
  (:predicates (here ?p - place) (next ?p ?q - place) (lies ?k - key ?p - place) (held ?k - key)
               (at ?d - door ?p - place) (open ?d - door))
  (:action go :parameters (?p ?q - place)
    :precondition (and (here ?p) (next ?p ?q)) :effect (and (here ?q) (not (here ?p))))
  (:action take :parameters (?k - key ?p - place)
    :precondition (and (here ?p) (lies ?k ?p)) :effect (and (held ?k) (not (lies ?k ?p))))
  (:action unlock :parameters (?d - door ?p - place ?k - key)
    :precondition (and (here ?p) (at ?d ?p) (held ?k)) :effect (and (open ?d) (not (held ?k)))))
"""


def one_way(doors: int) -> str:
    """A corridor without a way back: a key lies at each place, all doors are at its end."""
    places = " ".join(f"p{i}" for i in range(doors + 1))
    keys, names = (" ".join(f"{kind}{i}" for i in range(doors)) for kind in "kd")
    init = [f"(next p{i} p{i + 1}) (lies k{i} p{i}) (at d{i} p{doors})" for i in range(doors)]
    goal = " ".join(f"(open d{i})" for i in range(doors))
    return (
        f"(define (problem p) (:domain one-way) (:objects {places} - place {keys} - key {names} - door)"
        f" (:init (here p0) {' '.join(init)}) (:goal (and {goal})))"
    )


PAINTING = """
(define (domain painting)
  (:requirements :strips :typing)
  (:types cell robot - object)
  (:predicates (at ?r - robot ?c - cell) (free ?c - cell) (above ?c ?d - cell) (beside ?c ?d - cell)
               (painted ?c - cell))
  (:action paint :parameters (?r - robot ?c ?d - cell)
    :precondition (and (at ?r ?d) (above ?c ?d) (free ?c)) :effect (and (painted ?c) (not (free ?c))))
  (:action up :parameters (?r - robot ?c ?d - cell)
    :precondition (and (at ?r ?d) (above ?c ?d) (free ?c))
    :effect (and (at ?r ?c) (free ?d) (not (at ?r ?d)) (not (free ?c))))
  (:action down :parameters (?r - robot ?c ?d - cell)
    :precondition (and (at ?r ?c) (above ?c ?d) (free ?d))
    :effect (and (at ?r ?d) (free ?c) (not (at ?r ?c)) (not (free ?d))))
  (:action aside :parameters (?r - robot ?c ?d - cell)
    :precondition (and (at ?r ?c) (beside ?c ?d) (free ?d))
    :effect (and (at ?r ?d) (free ?c) (not (at ?r ?c)) (not (free ?d)))))
"""


def painting(rows: int, columns: int, robots: Sequence[str]) -> str:
    """All cells but those of row 0 must be painted, from below: nobody enters a cell with paint."""
    cells = [f"c{row}-{column}" for row in range(rows + 1) for column in range(columns)]
    above = [f"(above c{i + 1}-{j} c{i}-{j})" for i in range(rows) for j in range(columns)]
    pairs = [(f"c{i}-{j}", f"c{i}-{j + 1}") for i in range(rows + 1) for j in range(columns - 1)]
    beside = [f"(beside {c} {d}) (beside {d} {c})" for c, d in pairs]
    free = [f"(free {cell})" for cell in cells if cell not in robots]
    at = [f"(at r{number} {cell})" for number, cell in enumerate(robots)]
    names = " ".join(f"r{number}" for number in range(len(robots)))
    goal = " ".join(f"(painted {cell})" for cell in cells[columns:])
    return (
        f"(define (problem p) (:domain painting) (:objects {' '.join(cells)} - cell {names} - robot)"
        f" (:init {' '.join([*at, *free, *above, *beside])}) (:goal (and {goal})))"
    )


def test_places_on_the_way_must_be_free_and_goals_that_are_related_come_in_order(tmp_path: Path) -> None:
    starts = [(2, 2, ["c0-0"]), (2, 2, ["c2-1"]), (2, 2, ["c1-0", "c2-0"]), (3, 2, ["c1-1"])]
    pairs = [example(tmp_path, PAINTING, painting(*start)) for start in starts]
    rules = learn(pairs)
    assert rules.orders == (GoalOrder("painted", 1, "painted", 1, "above", 1, 2),)
    assert RuleWorld(pairs[0][0]).movements() == [Movement("at", 2, "free", swaps=True)]
    assert min(len(rule.steps) for rule in rules.rules) == 2  # a path, and paint
    header, tensors = rules.to_parts()
    assert GoalRules.from_parts(header, tensors) == rules
    task = parse_task(PAINTING, painting(12, 12, ["c12-0", "c12-1", "c11-0", "c5-7"]))
    assert_valid(task, rules.follow(task))
    assert replace(rules, orders=()).follow(task).plan is None  # painted cells are in the way


def test_what_one_goal_uses_up_is_not_counted_on_by_others(tmp_path: Path) -> None:
    # Whoever walks to the first door with one key has lost: each goal must take a key of its own on the way.
    rules = learn([example(tmp_path, ONE_WAY, one_way(n)) for n in (1, 2)])
    task = parse_task(ONE_WAY, one_way(40))
    result = rules.follow(task)
    assert_valid(task, result)
    assert result.plan_length == 40 + 40 + 40  # the shortest plan


def test_no_rule_is_an_incomplete_run_and_limits_are_a_status(tmp_path: Path) -> None:
    pairs = [example(tmp_path, ONE_WAY, one_way(1))]
    rules = learn(pairs)
    (without_keys,) = [one_way(1).replace("(lies k0 p0)", "")]
    assert rules.follow(parse_task(ONE_WAY, without_keys)).status == "incomplete"
    limited = rules.follow(parse_task(ONE_WAY, one_way(40)), SearchConfig(cpu_time_limit=0))
    assert limited.status == "time_limit" and limited.plan is None


def test_rules_are_kept_in_a_knowledge_file(tmp_path: Path) -> None:
    task, plan = example(tmp_path, ONE_WAY, one_way(2))
    rules = learn([(task, plan)])
    path = tmp_path / "knowledge.hstar"
    knowledge.Knowledge(vocabulary(task), (knowledge.Step(rules),)).save(path)
    (step,) = knowledge.load(path).steps
    assert step.candidate == rules
    problem = knowledge.LazyTask(tmp_path / "domain.pddl", tmp_path / "problem.pddl")
    result, _ = knowledge.load(path).run(problem, SearchConfig())
    assert result.plan_cost == len(plan) and not problem.is_translated


@pytest.mark.parametrize(
    "change",
    [
        {"order": []},
        {"order": "unlock"},
        {"rules": [["open"]]},
        {"rules": [[["open", "?0"], [], []]]},
        {"rules": [[[], [], [[["unlock", "?0"], 0, ""]]]]},
    ],
)
def test_damaged_rules_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    header, tensors = learn([example(tmp_path, ONE_WAY, one_way(1))]).to_parts()
    with pytest.raises(InputError, match="not goal rules"):
        GoalRules.from_parts({**header, **change}, tensors)


@pytest.mark.parametrize(
    "words",
    [
        ("close", "?0"),  # no such predicate
        ("open", "?0", "?1"),  # another arity
        ("open", "nobody"),  # no such object
    ],
)
def test_rules_of_another_domain_are_refused(words: tuple[str, ...]) -> None:
    rules = GoalRules((Rule(words, (), (Step(("unlock", "?0", "?1", "?2")),)),))
    with pytest.raises(InputError):
        rules.follow(parse_task(ONE_WAY, one_way(1)))


@pytest.mark.parametrize("terms", [(5,), (-9,), (0, 0)])
def test_the_core_checks_numbers(terms: Sequence[int]) -> None:
    task, _, _ = RuleWorld(parse_task(ONE_WAY, one_way(1))).native(None)
    rule = _core.GoalRule(goal=[0, *terms], steps=[[0, 0, 0, 0]], variables=1)
    with pytest.raises(InputError, match="goal rules"):
        _core.follow_goal_rules(task, [rule], [], _core.Limits(), True)


@pytest.mark.parametrize("order", [(0, 1), (-1, 0)])
def test_the_core_checks_orders(order: tuple[int, int]) -> None:
    task, _, _ = RuleWorld(parse_task(ONE_WAY, one_way(1))).native(None)
    with pytest.raises(InputError, match="an order of goals that there are not"):
        _core.follow_goal_rules(task, [], [order], _core.Limits(), True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(and (open ?d) (not (held ?k)))", "(when (held ?k) (open ?d))"),
        ("(at ?d ?p) (held ?k))", "(at ?d ?p) (or (held ?k) (open ?d)))"),
        ("(at ?d ?p) (held ?k))", "(at ?d ?p) (held ?k) (= ?d ?d))"),
    ],
)
def test_what_rules_cannot_say_is_unsupported(old: str, new: str, tmp_path: Path) -> None:
    assert old in ONE_WAY
    domain = ONE_WAY.replace(old, new)
    with pytest.raises(UnsupportedError, match="goal rules"):
        learn([(parse_task(domain, one_way(1)), ["go p0 p1"])])
    files = tmp_path / "domain.pddl", tmp_path / "problem.pddl", tmp_path / "p.plan"
    for file, content in zip(files, (domain, one_way(1), "(go p0 p1)\n"), strict=True):
        file.write_text(content)
    assert learn_from_files(files[0], [files[1:]]) == []
