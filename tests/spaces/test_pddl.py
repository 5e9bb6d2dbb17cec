"""The lifted side: what is read, which mistakes are named where, and that nothing else escapes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hstar.errors import InputError, PDDLError, UnsupportedError
from hstar.spaces import pddl
from hstar.spaces.lifted import And, Atom, Exists, ForAll, LiftedTask, Not, Or

DATA = Path(__file__).parents[1] / "data"
BENCHMARKS = Path(__file__).parents[2].parent / "shared" / "benchmarks"
TASKS = ("blocks", "costs", "briefcase", "reach", "unsolvable")


def read(name: str) -> LiftedTask:
    return pddl.read_task(DATA / name / "domain.pddl", DATA / name / "problem.pddl")


def small(domain: str = "", problem: str = "(:init) (:goal (and))", name: str = "d") -> LiftedTask:
    return pddl.parse_task(
        f"(define (domain d)\n{domain}\n)", f"(define (problem x) (:domain {name})\n{problem}\n)"
    )


# What is read.


def test_blocks() -> None:
    task = read("blocks")
    assert task.domain.name == "blocks"
    assert task.objects == {"a": "block", "b": "block", "c": "block", "d": "block"}
    assert ("ontable", "a") in task.problem.init
    assert len(task.problem.init) == 9
    assert task.goal_atoms == (("on", "d", "c"), ("on", "c", "b"), ("on", "b", "a"))
    assert task.static_predicates == frozenset()
    assert [(e.atom.predicate, e.positive) for e in task.domain.actions["pick-up"].effects] == [
        ("ontable", False),
        ("clear", False),
        ("handempty", False),
        ("holding", True),
    ]
    assert task.warnings == ()


def test_costs() -> None:
    task = read("costs")
    assert task.problem.metric
    assert task.problem.costs[("length", "mill", "port")] == 5
    costs = {name: action.cost for name, action in task.domain.actions.items()}
    assert costs == {
        "drive": Atom("length", ("?a", "?b")),
        "carry": 20,
        "load": 0,
        "unload": 0,
    }
    assert task.domain.types["truck"] == "thing"
    assert task.objects_of("thing") == ("red", "box")
    assert len(task.objects_of("object")) == 5
    assert task.static_predicates == {"road"}
    assert {fact[0] for fact in task.static_facts} == {"road"}
    assert task.fluent_init == {("at", "red", "home"), ("at", "box", "mill")}


def test_adl_and_constants() -> None:
    task = read("briefcase")
    assert tuple(task.objects) == ("office", "home", "bank", "pen", "key")
    move = task.domain.actions["move"]
    assert isinstance(move.precondition, And)
    assert move.precondition.parts[1] == Not(Atom("=", ("?from", "?to")))
    inside = move.effects[2]
    assert [p.name for p in inside.parameters] == ["?i"]
    assert inside.condition == And((Atom("in", ("?i",)),))
    assert isinstance(task.domain.actions["unlock"].precondition, Or)
    assert isinstance(task.problem.goal, And)
    assert task.problem.goal.parts[-1] == Or((Not(Atom("case-at", ("home",))), Atom("in", ("pen",))))
    with pytest.raises(UnsupportedError, match="conjunction of literals"):
        _ = task.goal_atoms


def test_derived_predicates_know_what_they_depend_on() -> None:
    task = read("reach")
    assert task.domain.derived == {
        "live": {"live"},
        "lit": {"live"},
        "dark": {"lit", "live"},
        "all-lit": {"lit", "live"},
    }
    assert task.static_predicates == {"wire", "battery", "lamp"}


def test_no_variable_shadows_another() -> None:
    goal = "(exists (?x) (p ?x)) (forall (?x) (exists (?x) (p ?x)))"
    goal += "(exists (?y) (forall (?x) (q ?x ?y)))"
    task = small("(:predicates (p ?x) (q ?x ?y))", f"(:init) (:goal (and {goal}))")
    assert isinstance(task.problem.goal, And)
    first, second, third = task.problem.goal.parts
    assert isinstance(first, Exists)
    assert isinstance(second, ForAll)
    assert isinstance(third, Exists)
    names = [p.name for p in (*first.parameters, *second.parameters, *third.parameters)]
    assert isinstance(second.part, Exists)
    assert second.part.part == Atom("p", (second.part.parameters[0].name,))
    assert len({*names, second.part.parameters[0].name}) == 4


def test_lenient_input() -> None:
    """Sections in any order, comments with any character, either, types known only as parents."""
    task = small(
        "(:predicates (p ?x - (either car boat) ?y)) ; é\n(:types car boat - vehicle)\n",
        "(:goal (and)) (:init (p C V) (not (p v v))) (:objects c - CAR v - vehicle)\r\n",
    )
    assert task.problem.init == {("p", "c", "v")}
    assert task.objects_of("vehicle") == ("c", "v")


def test_domain_name_mismatch_is_a_warning() -> None:
    (warning,) = small(name="other").warnings
    assert warning == "problem: the problem is for domain 'other', the domain is called 'd'"


def test_objects_of_two_types_are_unsupported() -> None:
    with pytest.raises(UnsupportedError, match="problem: object 'x' has more than one type"):
        small("(:types a b)", "(:objects x - (either a b)) (:init) (:goal (and))")


def test_undeclared_requirements() -> None:
    task = small(
        "(:requirements :strips :existential-preconditions) (:types t)"
        "(:predicates (p) (r ?x - t)) (:functions (total-cost))"
        "(:derived (p) (exists (?x - t) (r ?x)))"
        "(:action a :parameters (?x ?y - t) :precondition (and (not (r ?x)) (not (= ?x ?y)))"
        " :effect (and (when (or (p)) (r ?x)) (increase (total-cost) 1)))"
    )
    (warning,) = task.warnings
    assert warning == (
        "domain: used but not declared: :action-costs, :conditional-effects, :derived-predicates, "
        ":disjunctive-preconditions, :equality, :negative-preconditions, :typing"
    )


# What is refused.


@pytest.mark.parametrize(
    ("file", "line", "words"),
    [
        ("syntax.pddl", 4, "missing ')': '(:action' is inside the '(' of 3:"),
        ("empty.pddl", None, "empty"),
        ("binary.pddl", 2, "not a text file"),
    ],
)
def test_broken_domain_files(file: str, line: int | None, words: str) -> None:
    path = DATA / "broken" / file
    with pytest.raises(PDDLError, match=r"^[^\n]*$") as caught:
        pddl.read_task(path, path)
    assert caught.value.line == (line or 0)
    assert words in str(caught.value)
    assert file in str(caught.value)
    assert caught.value.exit_code == 31


@pytest.mark.parametrize(
    ("file", "line", "words"),
    [
        ("unknown-type.pddl", 4, "undeclared type 'blok'"),
        ("undeclared-predicate.pddl", 5, "undeclared predicate 'above'"),
    ],
)
def test_broken_problem_files(file: str, line: int, words: str) -> None:
    with pytest.raises(PDDLError) as caught:
        pddl.read_task(DATA / "blocks" / "domain.pddl", DATA / "broken" / file)
    assert (caught.value.line, caught.value.message) == (line, words)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.pddl: no such file") as caught:
        pddl.read_task(tmp_path / "nothing.pddl", tmp_path / "nothing.pddl")
    assert caught.value.exit_code == 33


@pytest.mark.parametrize(
    ("domain", "line", "words"),
    [
        ("(:predicates (p ?x))\n(:action a :effect (p c))", 3, "unknown object 'c'"),
        ("(:predicates (p ?x))\n(:action a :effect (p ?x))", 3, "unknown variable '?x'"),
        ("(:predicates (p ?x))\n(:action a :effect (p))", 3, "'p' has 1 arguments, got 0"),
        ("(:predicates (p))\n(:action a\n:oops (p))", 4, "expected :parameters"),
        ("(:predicates (p))\n(:action a\n:effect)", 4, "':effect' has no value"),
        ("(:types a - b\nb - a)", 3, "its own ancestor"),
        ("(:types a)\n(:constants c - )", 3, "expected a type after '-'"),
        ("(:constants a - b)", 2, "undeclared type 'b'"),
        ("(:predicates (p))\n(:derived (p) (not (p)))", 3, "its own negation"),
        ("(:predicates (p))\n(:derived (p) (and))\n(:action a :effect (p))", 4, "can change 'p'"),
        ("(:predicates (p))\n(:predicates (p))", 3, "second ':predicates'"),
        ("(:sorts a)", 2, "unknown section ':sorts'"),
        ("(:predicates (p))\n(:action a :precondition (imply (p)) :effect (p))", 3, "takes 2"),
        (")", 2, "unexpected ')'"),
        ("(" * 2000 + ")" * 2000, 2, "too deeply"),
    ],
)
def test_mistakes_are_named_with_their_line(domain: str, line: int, words: str) -> None:
    with pytest.raises(PDDLError) as caught:
        pddl.parse_task(f"(define (domain d)\n{domain})", "(define (problem p) (:domain d))")
    assert caught.value.line == line
    assert words in caught.value.message


@pytest.mark.parametrize(
    "domain",
    [
        "(:durative-action a)",
        "(:predicates (p)) (:functions (f)) (:action a :precondition (> (f) 1) :effect (p))",
        "(:predicates (p)) (:functions (f)) (:action a :effect (increase (f) 1))",
        "(:predicates (p)) (:action a :effect (increase (total-cost) 1.5))",
        "(:predicates (p)) (:action a :effect (when (p) (increase (total-cost) 1)))",
    ],
)
def test_numbers_and_time_are_unsupported(domain: str) -> None:
    with pytest.raises(UnsupportedError, match=r"domain:2:\d+: "):
        small(domain)


# Any text.

TEXTS = [
    ((DATA / name / "domain.pddl").read_text(), (DATA / name / "problem.pddl").read_text()) for name in TASKS
]
TOKENS = [
    "(",
    ")",
    "-",
    "?x",
    "not",
    "and",
    "forall",
    "when",
    "increase",
    "=",
    ":init",
    "\n",
    ";",
    "é",
]


@given(st.sampled_from(TEXTS), st.data())
@settings(max_examples=300, deadline=None)
def test_mutated_text_gives_an_input_error_or_a_task(texts: tuple[str, str], data: st.DataObject) -> None:
    mutated = list(texts)
    for _ in range(data.draw(st.integers(1, 4))):
        which = data.draw(st.integers(0, 1))
        text = mutated[which]
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        mutated[which] = text[:start] + data.draw(st.sampled_from(["", *TOKENS])) + text[end:]
    try:
        pddl.parse_task(*mutated)
    except (InputError, UnsupportedError) as error:
        assert "\n" not in str(error)


@given(st.binary(max_size=200))
@example(b"(define (domain d) (:action a :effect (increase (total-cost) " + b"9" * 5000 + b")))")
def test_any_bytes_give_an_input_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "domain.pddl"
    path.write_bytes(data)
    with pytest.raises((InputError, UnsupportedError)):
        pddl.read_task(path, path)


def test_big_problems_are_read_quickly() -> None:
    """Half a second for a megabyte is the aim; the limit here is for a busy machine."""
    facts = "\n".join(f"(at object-{i} place-{i % 977})" for i in range(40_000))
    objects = " ".join([f"object-{i}" for i in range(40_000)] + [f"place-{i}" for i in range(977)])
    text = f"(:objects {objects}) (:init {facts}) (:goal (at object-1 place-1))"
    start = time.process_time()
    task = small("(:predicates (at ?x ?y))", text)
    assert time.process_time() - start < 2.0 * len(text) / 1e6
    assert len(task.problem.init) == 40_000


@pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="the shared benchmark folder is not here")
def test_benchmarks_are_read() -> None:
    count = 0
    for problem in sorted((BENCHMARKS / "ipc").glob("*/*.pddl")):
        if "domain" not in problem.name:
            domain = problem.with_name("domain.pddl")
            if not domain.exists():
                domain = problem.with_name(problem.name[:3] + "-domain.pddl")
            task = pddl.read_task(domain, problem)
            assert task.static_facts | task.fluent_init == task.problem.init
            count += 1
    assert count >= 22
