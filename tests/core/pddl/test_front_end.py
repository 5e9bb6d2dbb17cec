"""The native front end against Fast Downward's translator, by the names of atoms; and what only it can do."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hstar
from conftest import DATA, benchmark_folder
from hstar import _core
from hstar.cli import main
from hstar.cli.progress import ProgressLine
from hstar.errors import InputError, PDDLError, TranslatorLimitError, UnsupportedError
from hstar.generators import GENERATORS
from scripts import load_script

TESTED = ["blocks", "costs", "briefcase", "reach", "unsolvable"]
GENERATED: dict[str, tuple[int, ...]] = {
    "blocksworld": (5,),
    "childsnack": (3, 1, 2, 4),
    "ferry": (4, 3),
    "gripper": (4,),
    "logistics": (2, 2, 2, 1),
    "miconic": (4, 3),
    "npuzzle": (3, 3),
    "rovers": (2, 4, 2, 2, 5),
    "satellite": (2, 2, 2, 4, 3),
    "sokoban": (5, 6, 2, 3),
    "spanner": (4, 2, 4),
    "transport": (5, 2, 2),
    "visitall": (3, 4, 50),
}
BENCHMARKS = [
    "ipc/airport/p01-airport1-p1",
    "ipc/assembly/prob01",
    "ipc/depot/p01",
    "ipc/elevators-opt11-strips/p01",
    "ipc/grid/prob01",
    "ipc/miconic-simpleadl/s7-0",
    "ipc/openstacks-opt11-strips/p01",
    "ipc/pipesworld-notankage/p11-net2-b10-g2",
    "ipc/psr-large/p01-s29-n2-l5-f30",
    "ipc/rovers/p01",
    "ipc/satellite/p01-pfile1",
    "ipc/scanalyzer-opt11-strips/p01",
    "ipc/sokoban-opt11-strips/p01",
    "ipc/transport-opt11-strips/p01",
    "ipc/trucks/p01",
    "ipc/visitall-opt11-strips/problem02-full",
    "ipc/zenotravel/p01",
    "ipc23lt/childsnack/training/p01",
    "ipc23lt/floortile/training/p01",
    "ipc23lt/spanner/training/p01",
    "ferber21/npuzzle/moderate/prob-n6-1/p1",
    "ferber21/storage/moderate/p18/base",
]
# Parts of PDDL that the benchmarks hardly have, one task each.
HAND_MADE = {
    "conditional": """
(:types loc it) (:constants c1 - loc)
(:predicates (at ?i - it ?x - loc) (in ?i - it) (conn ?x ?y - loc) (rain) (broken ?i - it) (hot ?i - it))
(:action mv :parameters (?i - it ?x ?y - loc) :precondition (and (at ?i ?x) (conn ?x ?y))
 :effect (and (not (at ?i ?x)) (at ?i ?y) (when (rain) (broken ?i))))
(:action drop :parameters () :precondition (not (rain))
 :effect (and (rain) (forall (?i - it) (when (at ?i c1) (not (at ?i c1))))))
(:action away :parameters (?i - it ?l - loc) :precondition (not (at ?i ?l))
 :effect (and (not (rain)) (when (not (at ?i c1)) (broken ?i))))
(:action cond :parameters (?i - it ?x ?y - loc) :precondition (and (at ?i ?x) (conn ?x ?y))
 :effect (and (when (rain) (and (not (at ?i ?x)) (at ?i ?y))) (when (hot ?i) (and (not (at ?i ?x)) (in ?i)))))
(:action heat :parameters (?i - it) :precondition (and)
 :effect (and (when (not (rain)) (hot ?i)) (when (rain) (not (hot ?i)))))
| l1 l2 - loc i1 i2 - it
| (at i1 l1) (at i2 c1) (conn l1 l2) (conn l2 c1) (conn c1 l1)
| (and (at i1 l2) (not (at i2 l2)) (rain))""",
    "one-place": """
(:types loc) (:predicates (at ?x - loc) (conn ?x ?y - loc) (done) (wet))
(:action mv :parameters (?x ?y - loc) :precondition (and (at ?x) (conn ?x ?y))
 :effect (and (not (at ?x)) (at ?y)))
(:action dry :parameters (?x - loc) :precondition (not (at ?x)) :effect (when (not (wet)) (done)))
(:action rain :parameters (?x - loc) :precondition (at ?x)
 :effect (and (when (not (done)) (wet)) (when (done) (and (not (at ?x))))))
| l1 l2 l3 l4 - loc | (at l1) (conn l1 l2) (conn l2 l3) (conn l3 l4) (conn l4 l1) | (and (done) (wet))""",
    "derived": """
(:predicates (a) (b) (c) (s) (d1) (d2) (d3) (d4) (d5 ?x) (e ?x) (d6))
(:derived (d1) (or (a) (b))) (:derived (d2) (s)) (:derived (d3) (and (d1) (not (d4))))
(:derived (d4) (and (c) (forall (?x) (e ?x))))
(:derived (d5 ?x) (or (e ?x) (exists (?y) (and (d5 ?y) (e ?x))))) (:derived (d6) (not (d2)))
(:action x :parameters (?x) :precondition (and (d2) (not (d3)))
 :effect (and (a) (when (forall (?y) (d5 ?y)) (e ?x)) (when (d1) (c))))
(:action y :parameters (?x) :precondition (and (not (d5 ?x)) (exists (?y) (not (e ?y))))
 :effect (and (e ?x) (not (a))))
(:action z :parameters () :precondition (d6) :effect (b))
| o1 o2 | (s) | (and (c) (d3) (not (d4)) (forall (?x) (d5 ?x)))""",
    "unreachable": """
(:predicates (o ?x) (p ?x ?y) (q ?x) (r ?x))
(:action a :parameters (?x ?y) :precondition (and (o ?x) (o ?y) (not (= ?x ?y))) :effect (p ?x ?y))
(:action b :parameters (?x ?y) :precondition (and (p ?x ?y)) :effect (q ?x))
(:action c :parameters (?x) :precondition (p ?x ?x) :effect (r ?x))
(:action d :parameters (?x) :precondition (r ?x) :effect (q ?x))
| a b | (o a) (o b) | (and (q a) (q b))""",
    "solved": "(:predicates (o ?x)) (:action a :parameters (?x) :effect (not (o ?x))) | a b | (o a) | (o a)",
}


def write(folder: Path, domain: str, problem: str) -> tuple[Path, Path]:
    paths = folder / "domain.pddl", folder / "problem.pddl"
    for path, text in zip(paths, (domain, problem), strict=True):
        path.write_text(text)
    return paths


def hand_made(folder: Path, text: str) -> tuple[Path, Path]:
    """From sections of the domain, objects, initial state and goal, with bars between them."""
    sections, objects, init, goal = (part.strip() for part in text.split("|"))
    return write(
        folder,
        f"(define (domain d) (:requirements :adl :derived-predicates) {sections})",
        f"(define (problem p) (:domain d) (:objects {objects}) (:init {init}) (:goal {goal}))",
    )


def find(name: str, folder: Path) -> tuple[Path, Path]:
    """The files of a task by its name here."""
    if name in TESTED:
        return DATA / name / "domain.pddl", DATA / name / "problem.pddl"
    if name in HAND_MADE:
        return hand_made(folder, HAND_MADE[name])
    if name in GENERATED:
        return write(folder, *GENERATORS.get(name)(*GENERATED[name], seed=1))
    root, _, rest = name.partition("/")
    problem = benchmark_folder(root) / f"{rest}.pddl"
    domain_of = load_script("translate")["domain_of"]
    return domain_of(problem), problem


def both(name: str, folder: Path) -> tuple[hstar.Task, hstar.Task]:
    domain, problem = find(name, folder)
    return hstar.load(domain, problem, translator="fast-downward"), hstar.load(domain, problem)


def test_every_generator_is_compared() -> None:
    assert set(GENERATED) == set(GENERATORS)


@pytest.mark.parametrize("name", [*TESTED, *HAND_MADE, *GENERATED, *BENCHMARKS])
def test_equal_to_the_reference(name: str, tmp_path: Path) -> None:
    reference, native = both(name, tmp_path)
    found = load_script("translations")["compare"](reference.core, native.core)
    assert found.differences == ()


@pytest.mark.parametrize("name", [*TESTED, *HAND_MADE, *GENERATED, "ipc/scanalyzer-opt11-strips/p01"])
def test_same_optimal_costs(name: str, tmp_path: Path) -> None:
    reference, native = both(name, tmp_path)
    plain = not native.core.num_axioms and not native.core.has_conditional_effects
    for heuristic in ("blind", "lmcut") if plain else ("blind",):
        results = [
            hstar.solve(task, heuristic, "astar", max_expansions=50_000) for task in (reference, native)
        ]
        assert results[0].status == results[1].status, heuristic
        assert results[0].plan_cost == results[1].plan_cost, heuristic


def test_a_difference_is_seen() -> None:
    compare = load_script("translations")["compare"]
    text = hstar.load(DATA / "blocks" / "problem.pddl").core.to_sas()
    lines = text.splitlines()
    start = lines.index(b"begin_operator")
    lines[start + 1] = b"pick-up nothing"
    same, changed = _core.Task.parse(text), _core.Task.parse(b"\n".join(lines))
    assert compare(same, same).differences == ()
    assert "operators: 1 missing, 1 too many" in compare(same, changed).differences[0]


def test_written_and_read_it_is_the_same_task(tmp_path: Path) -> None:
    for name in (*TESTED, *HAND_MADE):
        task = hstar.load(*find(name, tmp_path)).core
        again = _core.Task.parse(task.to_sas())
        assert load_script("translations")["compare"](task, again).differences == ()
        assert (again.goal, again.fact_names) == (task.goal, task.fact_names)


# What the reference does not do.

TINY = """(:types t) (:predicates (p ?x - t) (q ?x))
(:action a :parameters (?x - t) :precondition (q ?x) :effect (p ?x))"""


def tiny(
    folder: Path,
    *changes: tuple[str, str],
    objects: str = "x y - t",
    init: str = "(q x)",
    goal: str = "(p x)",
) -> hstar.Task:
    text = f"{TINY} | {objects} | {init} | {goal}"
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return hstar.load(*hand_made(folder, text))


def names(task: hstar.Task) -> list[str]:
    return [task.core.operator(i).name for i in range(task.core.num_operators)]


def test_either_and_any_case(tmp_path: Path) -> None:
    task = tiny(
        tmp_path,
        ("(:types t)", "(:TYPES t u v)"),
        ("(?x - t) :precondition", "(?x - (either T u)) :precondition"),
        objects="x - t Y - U z - v",
        init="(q X) (q y) (q z)",
        goal="(and (P x) (p Y))",
    )
    assert names(task) == ["a x", "a y"]


def test_costs_are_looked_up_and_must_be_there(tmp_path: Path) -> None:
    domain, problem = DATA / "costs" / "domain.pddl", DATA / "costs" / "problem.pddl"
    assert hstar.load(domain, problem).core.uses_metric
    assert hstar.load(domain, problem, unit_cost=True).core.unit_cost
    lines = [line for line in problem.read_text().splitlines() if "(= (" not in line or "total-cost" in line]
    (tmp_path / "problem.pddl").write_text("\n".join(lines))
    with pytest.raises(InputError, match="no value in :init"):
        hstar.load(domain, tmp_path / "problem.pddl")


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        (("(q ?x) :effect", "(r ?x) :effect"), "(r ?x) :effect", "undeclared predicate 'r'"),
        (("(q ?x) :effect", "(q ?y) :effect"), "?y) :effect", "unknown variable '?y'"),
        (("(q ?x) :effect", "(q ?x ?x) :effect"), "(q ?x ?x)", "'q' has 1 arguments, got 2"),
        (("(?x - t) :precondition", "(?x - u) :precondition"), "u) :precondition", "undeclared type 'u'"),
        ((":effect (p ?x)", ":effekt (p ?x)"), ":effekt", "expected :parameters, :precondition or :effect"),
        (("(:types t)", "(:types a - b b - a t)"), "b - a t)", "is its own ancestor"),
        (("(:action a", "(:action"), ":parameters", "expected the name of the action"),
        (("(:action a", "(:aktion a"), "(:aktion", "unknown section ':aktion' of a domain"),
    ],
)
def test_errors_name_the_place(tmp_path: Path, change: tuple[str, str], place: str, words: str) -> None:
    with pytest.raises(PDDLError) as caught:
        tiny(tmp_path, change)
    path = tmp_path / "domain.pddl"
    before = path.read_text().partition(place)[0]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    assert str(caught.value).startswith(f"{path}:{line}:{column}: ") and words in str(caught.value)
    assert (caught.value.line, caught.value.column, caught.value.exit_code) == (line, column, 31)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "goal",
    ["(> (p x) 3)", "(preference a (p x))"],
)
def test_what_is_not_supported_is_said_by_name(tmp_path: Path, goal: str) -> None:
    with pytest.raises(UnsupportedError, match=r"problem\.pddl:1:\d+: '(>|preference)'"):
        tiny(tmp_path, goal=goal)


@pytest.mark.parametrize("text", ["(" * 100_000, "((((", "\0", "(define (domain d)\xff)", "", ")", "x"])
def test_hostile_texts_are_refused_in_a_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "domain.pddl"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(PDDLError) as caught:
        hstar.load(path, DATA / "blocks" / "problem.pddl")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ("(and " * 100_000 + "(p x)" + ")" * 100_000, "nested too deeply"),
        ("(forall (?y) " * 1000 + "(p ?y)" + ")" * 1000, "nested too deeply"),
        ("(p \0)", "not a text file"),
        ("(p \xe2\x82)", "not printable ASCII"),
    ],
    ids=["deep", "quantified", "NUL", "UTF-8"],
)
def test_hostile_goals_are_refused_with_their_place(tmp_path: Path, goal: str, words: str) -> None:
    domain, problem = hand_made(tmp_path, f"{TINY} | x - t | (q x) | GOAL")
    problem.write_bytes(problem.read_text().replace("GOAL", goal).encode("latin-1"))
    with pytest.raises(PDDLError, match=words) as caught:
        hstar.load(domain, problem)
    assert str(caught.value).startswith(f"{problem}:{caught.value.line}:{caught.value.column}: ")
    assert "\n" not in str(caught.value) and caught.value.exit_code == 31


def test_many_objects_and_parameters(tmp_path: Path) -> None:
    many = " ".join(f"o{i}" for i in range(100_000))
    task = tiny(tmp_path, objects=f"x {many} - t")
    assert names(task) == ["a x"]
    wide = " ".join(f"?v{i}" for i in range(50))
    action = f"(:action b :parameters ({wide}) :precondition (w {wide}) :effect (done))"
    task = hstar.load(
        *hand_made(tmp_path, f"(:predicates (w {wide}) (done)) {action} | o | (w {'o ' * 50}) | (done)")
    )
    assert names(task) == [f"b {'o ' * 50}".strip()]


def test_warnings(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(
        tmp_path,
        "(define (domain d) (:types t) (:predicates (p ?x - u)) "
        "(:action a :parameters (?x) :precondition (not (p ?x)) :effect (p ?x)))",
        "(define (problem p) (:domain other) (:objects x - t) (:init) (:goal (p x)))",
    )
    hstar.load(tmp_path / "problem.pddl")
    for words in (
        "undeclared type 'u' taken as object",
        "the problem is for domain 'other'",
        ":negative-preconditions, :typing",
    ):
        assert words in caplog.text


def endless(folder: Path) -> tuple[Path, Path]:
    """An action whose last parameter makes all of its 50^8 instances impossible."""
    objects = " ".join(f"o{i}" for i in range(50))
    bad = " ".join(f"(bad o{i})" for i in range(50))
    action = "(:action a :parameters (?a ?b ?c ?d ?e ?f ?g ?h) :precondition (not (bad ?h)) :effect (p))"
    return hand_made(folder, f"(:predicates (bad ?x) (p)) {action} | {objects} | {bad} | (p)")


@pytest.mark.parametrize(("limits", "code"), [({"time_limit": 0.2}, 21), ({"memory_limit": 1 << 20}, 20)])
def test_limits(tmp_path: Path, limits: dict[str, Any], code: int) -> None:
    with pytest.raises(
        TranslatorLimitError, match=r"ran out of (time|memory): \d+ facts and 0 operators"
    ) as caught:
        hstar.load(*endless(tmp_path), **limits)
    assert caught.value.exit_code == code


def test_an_exception_of_the_progress_function_ends_it(tmp_path: Path) -> None:
    def stop(progress: _core.Progress) -> None:
        if progress.evaluated == 50:  # the facts of the initial state are in
            raise ValueError("enough")

    files = endless(tmp_path)
    texts = files[0].read_bytes(), files[1].read_bytes()
    with pytest.raises(ValueError, match="enough"):
        _core.translate(texts, ("d", "p"), progress=stop)


def interrupt(*arguments: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("words", "code", "end"),
    [
        (["--time-limit", "0.3s"], 23, "ran out of time"),
        (["--memory-limit", "1M"], 22, "ran out of memory"),
        ([], 130, "was interrupted"),
    ],
)
def test_a_search_says_how_far_the_translation_was(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    code: int,
    end: str,
) -> None:
    if not words:
        monkeypatch.setattr(ProgressLine, "grounding", interrupt)
    _, problem = endless(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(["solve", str(problem), *words])
    line = rf"{re.escape(str(problem))}: the translation {end}: \d+ facts and 0 operators so far\n"
    assert stop.value.code == code and re.fullmatch(line, capsys.readouterr().err)


def test_an_interrupt_says_how_far_the_translation_was(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt, match=r"was interrupted: \d+ facts and 0 operators so far"):
        hstar.load(*endless(tmp_path), progress=interrupt)


def test_progress_of_grounding(capsys: pytest.CaptureFixture[str]) -> None:
    def record(seconds: float) -> Any:
        return SimpleNamespace(time=seconds, evaluated=1234, generated=5_600_000, memory=3 << 20, best_h=None)

    with ProgressLine() as line:  # not on a terminal: a line a minute
        for seconds in (1, 59, 61, 62, 119, 122):
            line.grounding(record(seconds))
    shown = "grounding: 1.2k facts, 5.6M operators  3.0 MiB\n"
    assert capsys.readouterr().err == f"   61.0 s  {shown}  122.0 s  {shown}"


def test_a_search_after_a_long_grounding_is_shown_in_time(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine() as line:
        for seconds in (100.0, 1.0, 59.0, 62.0):  # 100 s of grounding, then a search
            line.update(seconds, f"at {seconds}")
    assert capsys.readouterr().err == "at 100.0\nat 62.0\n"


def test_unknown_translator() -> None:
    with pytest.raises(InputError, match=r"unknown translator 'fast'.*native, fast-downward"):
        hstar.load(DATA / "blocks" / "problem.pddl", translator="fast")
