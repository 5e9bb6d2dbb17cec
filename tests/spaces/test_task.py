"""Loading tasks, and giving them another initial state by the names of atoms."""

from __future__ import annotations

from pathlib import Path

import pytest

import hstar
from conftest import DATA, HAND_MADE, RANDOM, SMALL, Case, Cases
from hstar.errors import InputError, PDDLError, UnsupportedError
from hstar.spaces.task import format_atom, parse_atom
from hstar.spaces.translate import find_domain
from oracles import sas

BLOCKS = DATA / "blocks"


# --- loading ------------------------------------------------------------------------------------


def test_from_domain_and_problem() -> None:
    task = hstar.load(BLOCKS / "domain.pddl", str(BLOCKS / "problem.pddl"))
    assert (task.name, task.domain_file) == ("problem.pddl", BLOCKS / "domain.pddl")
    assert hstar.solve(task, "lmcut", "astar").plan_cost == 6
    assert task.lifted.problem.objects.keys() == {"a", "b", "c", "d"}


def test_with_the_domain_beside_it(tmp_path: Path) -> None:
    task = hstar.load(BLOCKS / "problem.pddl")
    assert task.domain_file == BLOCKS / "domain.pddl"
    lonely = tmp_path / "problem.pddl"
    lonely.write_text((BLOCKS / "problem.pddl").read_text())
    with pytest.raises(InputError, match=r"no domain file given, and none of domain\.pddl"):
        hstar.load(lonely)


def test_from_sas(cases: Cases, tmp_path: Path) -> None:
    path = tmp_path / "output.sas"
    path.write_text(cases["costs"].text)
    task = hstar.load(path)
    assert (task.name, task.domain_file) == ("output.sas", None)
    assert hstar.solve(task, "hmax", "astar").plan_cost == 20
    with pytest.raises(UnsupportedError, match=r"output\.sas was read from a \.sas file.*load its PDDL"):
        _ = task.lifted


def test_broken_sas_names_file_and_line(cases: Cases, tmp_path: Path) -> None:
    path = tmp_path / "output.sas"
    path.write_text(cases["costs"].text.replace("begin_goal", "begin_gaol"))
    with pytest.raises(InputError, match=r"output\.sas:\d+: expected 'begin_goal'") as caught:
        hstar.load(path)
    assert path.read_text().split("\n")[caught.value.line - 1] == "begin_gaol"
    with pytest.raises(InputError, match=r"none\.sas: cannot read: No such file"):
        hstar.load(tmp_path / "none.sas")
    with pytest.raises(InputError, match="cannot read"):
        (tmp_path / "folder.sas").mkdir()
        hstar.load(tmp_path / "folder.sas")


@pytest.mark.parametrize("name", ["empty", "syntax"])
def test_broken_pddl_is_refused(name: str) -> None:
    with pytest.raises(PDDLError):
        hstar.load(DATA / "broken" / f"{name}.pddl", BLOCKS / "problem.pddl")
    with pytest.raises(InputError, match=r"(?i)no such file"):
        hstar.load(BLOCKS / "domain.pddl", BLOCKS / "nothing.pddl")


def test_unit_cost() -> None:
    plain, unit = (hstar.load(DATA / "costs" / "problem.pddl", unit_cost=flag) for flag in (False, True))
    assert hstar.solve(plain, "blind", "astar").plan_cost == 20
    result = hstar.solve(unit, "blind", "astar")
    assert (result.plan_cost, result.unit_cost) == (1, True)
    assert result.plan_text().endswith("(unit cost)\n")
    assert not plain.core.unit_cost


def test_undeclared_requirements_are_accepted(tmp_path: Path) -> None:
    for name in ("domain", "problem"):
        text = (BLOCKS / f"{name}.pddl").read_text()
        (tmp_path / f"{name}.pddl").write_text(text.replace("(:requirements :strips :typing)", ""))
    task = hstar.load(tmp_path / "problem.pddl")
    assert "used but not declared: :typing" in task.lifted.warnings[0]
    assert hstar.solve(task, "lmcut", "astar").plan_cost == 6


def test_facts_are_atoms(cases: Cases) -> None:
    task = cases["blocks"].task
    atoms = {atom for facts in task.atoms for atom in facts if atom is not None}
    assert ("on", "a", "b") in atoms
    assert ("handempty",) in atoms
    assert ("clear", "a") in task.initial_atoms
    assert len(task.initial_atoms) == 9
    assert task.initial_atoms == task.lifted.problem.init


@pytest.mark.parametrize("text", ["on(a, b)", "(on a b)", "on a b", " ON( A,B ) "])
def test_atoms_are_written_in_several_ways(text: str) -> None:
    assert parse_atom(text) == ("on", "a", "b") == parse_atom(("on", "a", "b"))
    assert format_atom(parse_atom(text)) == "on(a, b)"


@pytest.mark.parametrize("text", ["", "  ", "()"])
def test_what_is_no_atom(text: str) -> None:
    with pytest.raises(InputError, match="not an atom"):
        parse_atom(text)


# --- another initial state ----------------------------------------------------------------------


# Not of cases made by hand, whose facts have no names, nor of one of which the translator leaves nothing.
@pytest.mark.parametrize(
    "case", [name for name in SMALL if name not in {*HAND_MADE, *RANDOM, "unsolvable"}], indirect=True
)
def test_every_state_can_be_named_by_its_atoms(case: Case) -> None:
    known = {atom for facts in case.task.atoms for atom in facts}
    constant = case.task.lifted.problem.init - known
    for state in case.states[:60]:
        facts = [case.task.atoms[v][value] for v, value in enumerate(state)]
        swapped = case.task.with_initial_state([*constant, *(atom for atom in facts if atom is not None)])
        assert tuple(swapped.core.initial_state) == state
    assert tuple(case.task.core.initial_state) == case.oracle.initial, "the task itself stays as it was"


def test_swapped_tasks_are_solved_from_there(cases: Cases) -> None:
    case = cases["blocks"]
    tower = "ontable(d) on(c, d) on(b, c) on(a, b) clear(a) handempty()"
    task = case.task.with_initial_state(tower.replace(") ", ")|").split("|"))
    state = tuple(task.core.initial_state)
    assert hstar.solve(task, "lmcut", "astar").plan_cost == case.exact[state] > 6


def test_derived_atoms_are_recomputed(cases: Cases) -> None:
    task = cases["reach"].task
    closed = [atom for atom in task.initial_atoms if atom[0] == "closed"]
    assert len(closed) == 4
    kept = [atom for atom in task.initial_atoms if atom[0] != "closed"]
    swapped = task.with_initial_state([*kept, "closed(n4)"])
    oracle = cases["reach"].oracle
    assert tuple(swapped.core.initial_state) == sas.close(oracle, swapped.core.initial_state)
    assert not any(atom[0] == "live" for atom in swapped.initial_atoms)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda atoms: [*atoms, "on(a, b)"], r"on\(a, b\) and ontable\(a\)|ontable\(a\) and on\(a, b\)"),
        (lambda atoms: atoms - {("ontable", "a")}, r"one of .*\(a.* has to hold"),
        (lambda atoms: [*atoms, "on(a, a)"], r"on\(a, a\) is not a fact of problem\.pddl"),
        (lambda atoms: [*atoms, "beside(a, b)"], r"beside\(a, b\) is not a fact"),
        (lambda atoms: [*atoms, "on(a, z)"], r"on\(a, z\) is not a fact"),
    ],
    ids=["two values", "missing", "impossible", "predicate", "object"],
)
def test_wrong_initial_states_are_refused(cases: Cases, change: object, message: str) -> None:
    task = cases["blocks"].task
    with pytest.raises(InputError, match=message):
        task.with_initial_state(change(task.initial_atoms))  # type: ignore[operator]


def test_static_atoms_may_be_named_but_not_changed(cases: Cases) -> None:
    task = cases["costs"].task
    static = [("road", "home", "mill"), ("road", "mill", "port")]
    swapped = task.with_initial_state([*task.initial_atoms, *static])
    assert swapped.core.initial_state == task.core.initial_state
    with pytest.raises(InputError, match=r"road\(home, port\) is not a fact"):
        task.with_initial_state([*task.initial_atoms, "road(home, port)"])
    lenient = task.with_initial_state([*task.initial_atoms, "road(home, port)"], ignore_unknown=True)
    assert lenient.core.initial_state == task.core.initial_state


def test_what_the_translator_took_for_granted_has_to_hold(cases: Cases) -> None:
    """The robot's first place is visited for good, so it has no variable; without it the task is another."""
    task = cases["ipc-visitall"].task
    with pytest.raises(InputError, match=r"visited\(.*\) holds in problem02-full\.pddl"):
        task.with_initial_state(task.initial_atoms)
    assert task.with_initial_state(task.lifted.problem.init).core.initial_state == task.core.initial_state


def test_ignored_atoms_do_not_hide_contradictions(cases: Cases) -> None:
    task = cases["costs"].task
    with pytest.raises(InputError, match="exclude each other"):
        task.with_initial_state([*task.initial_atoms, "at(red, port)"], ignore_unknown=True)
    with pytest.raises(InputError, match="has to hold"):
        task.with_initial_state(["at(red, port)"], ignore_unknown=True)


# --- benchmarks ---------------------------------------------------------------------------------


def first_problems(folder: Path) -> list[Path]:
    """The first problem of each domain, domains aside."""
    found = []
    for domain in sorted(folder.iterdir()):
        problems = sorted(path for path in domain.glob("*.pddl") if "domain" not in path.name)
        found.append(problems[0])
    return found


@pytest.mark.slow
def test_the_first_problem_of_every_competition_domain_loads(ipc: Path) -> None:
    problems = first_problems(ipc)
    assert len(problems) >= 20
    for problem in problems:
        task = hstar.load(problem)
        assert task.domain_file == find_domain(problem)
        assert task.core.num_operators > 0, problem
        names = {task.core.operator(i).name.split()[0] for i in range(task.core.num_operators)}
        assert names <= set(task.lifted.domain.actions), problem
        # Everything that holds at the start and has a variable is in the PDDL too, or derived.
        derived = set(task.lifted.domain.derived)
        plain = {atom for atom in task.initial_atoms if atom[0] not in derived and "@" not in atom[0]}
        assert plain <= task.lifted.problem.init, problem
        result = hstar.solve(task, "ff", "gbfs", max_expansions=3000, preferred=True)
        if result.solved:
            verdict = hstar.validate_pddl(task.lifted, result.plan)
            assert (verdict.valid, verdict.cost) == (True, result.plan_cost), (problem, verdict.reason)


@pytest.mark.slow
@pytest.mark.parametrize(
    "instance",
    ["blocks/moderate/probBLOCKS-14-0", "grid/moderate/prob03-0", "npuzzle/moderate/prob-n6-1"],
)
def test_swapped_initial_states_plan_for_the_original_problems(ferber21: Path, instance: str) -> None:
    """Translate base.pddl once; plans from the states of p1, p2, ... are plans of those files themselves."""
    from hstar.spaces.pddl import read_task

    folder = ferber21 / instance
    base = hstar.load(folder / "base.pddl")
    solved = 0
    for number in (1, 2):
        problem = folder / f"p{number}.pddl"
        original = read_task(folder / "domain.pddl", problem)
        task = base.with_initial_state(original.problem.init)
        assert task.core.initial_state != base.core.initial_state
        result = hstar.solve(task, "ff", "gbfs", max_expansions=60_000, preferred=True)
        if not result.solved:
            continue
        solved += 1
        verdict = hstar.validate_pddl(original, result.plan)
        assert verdict.valid, verdict.reason
        assert verdict.cost == result.plan_cost
        assert not hstar.validate_pddl(base.lifted, result.plan).valid, "the states differ, so plans do"
    assert solved
