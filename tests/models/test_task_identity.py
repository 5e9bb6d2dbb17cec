"""Models meet tasks: inputs by the names of atoms, constant atoms filled in, other tasks refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hstar
from conftest import DATA
from hstar import Task
from hstar.errors import ModelError
from hstar.estimates.point import Point
from hstar.estimates.rules import Mean
from hstar.models.task_identity import atoms_of, identify
from hstar.models.trained_model import TrainedModel
from hstar.spaces.task import format_atom

DOMAIN = """(define (domain tour) (:requirements :strips)
  (:predicates (at ?x) (seen ?x) (edge ?x ?y))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (edge ?x ?y))
    :effect (and (at ?y) (not (at ?x)) (seen ?y))))"""
EVERYWHERE = "(edge a b) (edge b a) (edge b c) (edge c b)"

Make = Callable[..., Task]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    (tmp_path / "domain.pddl").write_text(DOMAIN)

    def problem(name: str, init: str, goal: str, edges: str = EVERYWHERE, objects: str = "a b c") -> Task:
        path = tmp_path / f"{name}.pddl"
        path.write_text(
            f"(define (problem {name}) (:domain tour) (:objects {objects}) "
            f"(:init {init} {edges}) (:goal (and {goal})))"
        )
        return hstar.load(path)

    return problem


def learned(task: Task) -> TrainedModel[Any]:
    atoms = atoms_of(task)
    rng = np.random.default_rng(0)
    weights = {
        "hidden_weights": rng.normal(size=(len(atoms), 4)).astype(np.float32),
        "hidden_biases": np.zeros(4, np.float32),
        "output_weights": np.ones((4, 1), np.float32),
        "output_biases": np.zeros(1, np.float32),
    }
    config = {"width": 4, "outputs": 1, "scale": 1.0}
    return TrainedModel(identify(task), "ffnn", config, weights, Point(), Mean(), "nrsl", {}, 0)


def initial_value(model: TrainedModel[Any], task: Task) -> float:
    """The network on the initial state, fed as its identity says."""
    inputs = model.space.inputs(task)
    starts = np.cumsum([0, *(len(facts) for facts in task.atoms)])
    row = np.zeros(len(model.space.atoms), np.uint8)
    for variable, value in enumerate(task.core.initial_state):
        fact = inputs.facts[starts[variable] + value]
        if fact >= 0:
            row[fact] = 1
    return float(model.network.holding(inputs.constant).reference(row[None])[0, 0])


def by_names(model: TrainedModel[Any], held: set[str]) -> float:
    row = np.array([[atom in held for atom in model.space.atoms]], np.uint8)
    return float(model.network.reference(row)[0, 0])


def test_the_task_itself() -> None:
    task = hstar.load(DATA / "blocks" / "problem.pddl")
    model = learned(task)
    inputs = model.space.inputs(task)
    assert sorted(i for i in inputs.facts if i >= 0) == list(range(len(model.space.atoms)))
    assert len(inputs.facts) == task.core.num_facts and inputs.constant == ()
    flat = [atom for facts in task.atoms for atom in facts]
    for atom, i in zip(flat, inputs.facts, strict=True):
        assert (i == -1) if atom is None else model.space.atoms[i] == format_atom(atom)
    assert all(atom.count("(") == 1 for atom in model.space.atoms)


def test_identity() -> None:
    task = hstar.load(DATA / "blocks" / "problem.pddl")
    identity = identify(task)
    other = task.core.successor(
        task.core.initial_state, task.core.applicable_operators(task.core.initial_state)[0]
    )
    moved = Task(task.core.with_initial_state(other), task.name, task.domain_file, task.problem_file)
    assert identify(moved) == identity
    assert identity != identify(hstar.load(DATA / "costs" / "problem.pddl"))
    assert str(identity).endswith(f"of {task.lifted.domain.name}")


def test_atoms_that_became_constant(make: Make) -> None:
    model = learned(make("base", "(at a)", "(seen a) (seen b) (seen c)"))
    later = make("later", "(at b) (seen b) (seen a)", "(seen a) (seen b) (seen c)")
    held = {"seen(a)", "seen(b)"}
    assert held <= set(model.space.atoms) and not held & set(atoms_of(later)), "the translator dropped them"
    inputs = model.space.inputs(later)
    assert {model.space.atoms[i] for i in inputs.constant} == held
    assert initial_value(model, later) == pytest.approx(by_names(model, held | {"at(b)"}), abs=1e-5)


def test_atoms_that_became_unreachable(make: Make) -> None:
    one_way = "(edge a b) (edge b c)"
    model = learned(make("base", "(at a)", "(seen c)", one_way))
    later = make("later", "(at b)", "(seen c)", one_way)
    assert "at(a)" in model.space.atoms and "at(a)" not in atoms_of(later)
    assert model.space.inputs(later).constant == ()
    assert initial_value(model, later) == pytest.approx(by_names(model, {"at(b)"}), abs=1e-5)


def test_an_atom_the_model_never_saw(make: Make) -> None:
    goal = "(seen a) (seen b) (seen c)"
    model = learned(make("base", "(at b) (seen b) (seen a)", goal))
    earlier = make("earlier", "(at a)", goal)
    with pytest.raises(
        ModelError, match=r"trained for base of tour, asked for earlier of tour: seen\([ab]\) is not among"
    ):
        model.space.inputs(earlier)


def test_other_goals(make: Make) -> None:
    model = learned(make("base", "(at a)", "(seen b) (seen c)"))
    for goal in ("(seen b) (seen c) (at a)", "(at a) (seen c) (seen b)"):
        with pytest.raises(ModelError, match=r"at\(a\) is not in the goal it was trained for"):
            model.space.inputs(make("more", "(at a)", goal))
    with pytest.raises(ModelError, match=r"seen\(b\), in the goal it was trained for, is no goal there"):
        model.space.inputs(make("less", "(at a)", "(seen c)"))


def test_other_tasks(make: Make, tmp_path: Path) -> None:
    base = make("base", "(at a)", "(seen b)")
    blocks = hstar.load(DATA / "blocks" / "problem.pddl")
    with pytest.raises(ModelError, match=r"trained for base of tour, asked for .*: .* is not among the"):
        learned(base).space.inputs(blocks)
    with pytest.raises(ModelError, match=r"(at|seen)\(c\) is not an atom of it$"):
        bigger = learned(make("bigger", "(at a)", "(seen b) (seen c)"))
        bigger.space.inputs(make("smaller", "(at a)", "(seen b)", "(edge a b) (edge b a)", "a b"))


def test_sas_without_pddl(tmp_path: Path, make: Make) -> None:
    from hstar.spaces.translate import translate

    goal = "(seen a) (seen b) (seen c)"
    base, later = make("base", "(at a)", goal), make("later", "(at b) (seen b) (seen a)", goal)
    assert later.domain_file and later.problem_file
    path = tmp_path / "later.sas"
    path.write_bytes(translate(later.domain_file, later.problem_file))
    with pytest.raises(ModelError, match=r"seen\([ab]\) is not an atom of it \(read the PDDL"):
        learned(base).space.inputs(hstar.load(path))
    assert learned(later).space.inputs(hstar.load(path)).constant == ()
