"""Colour refinement in the core: against its definition in plain Python, and against wlplan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hstar
from hstar.errors import InputError, UnsupportedError
from hstar.generators import GENERATORS
from hstar.models.wl import Sparse, WLConfig, WLFeatures, stack
from hstar.sampling.exact import exact_distances
from hstar.sampling.relational import RelationalData, instance_of
from hstar.sampling.walks import Walks
from hstar.spaces.lifted import GroundAtom
from hstar.spaces.relations import Vocabulary, relations, vocabulary

DATA = Path(__file__).parents[1] / "data"
SIZES = {
    "blocksworld": {"blocks": 4},
    "ferry": {"locations": 3, "cars": 2},
    "npuzzle": {"rows": 2, "columns": 3},
}


def generated(folder: Path, generator: str, **sizes: int) -> hstar.Task:
    folder.mkdir(parents=True, exist_ok=True)
    texts = GENERATORS.get(generator)(**sizes)
    for name, text in zip(("domain.pddl", "problem.pddl"), texts, strict=True):
        (folder / name).write_text(text)
    return hstar.load(folder / "domain.pddl", folder / "problem.pddl")


def walked(task: hstar.Task, number: int, seed: int = 0) -> np.ndarray:
    """The initial state and ends of random walks."""
    ends = Walks(walks=number, min_length=1, max_length=12, seed=seed).states(task)
    return np.vstack([np.array([task.core.initial_state], dtype=np.int32), ends])


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[hstar.Task]]:
    folder = tmp_path_factory.mktemp("tasks")
    return {
        name: [generated(folder / f"{name}{seed}", name, **sizes, seed=seed) for seed in (0, 1)]
        for name, sizes in SIZES.items()
    }


def data_of(words: Vocabulary, *given: tuple[hstar.Task, np.ndarray]) -> RelationalData:
    instances = []
    for i, (task, states) in enumerate(given):
        label = np.zeros(len(states), dtype=np.float32)
        instances.append(instance_of(f"p{i}", task, words, states, {"label": label}))
    return RelationalData(words, tuple(instances))


# --- the definition ---------------------------------------------------------------------------------


def atoms_that_hold(task: hstar.Task, state: np.ndarray) -> set[GroundAtom]:
    told = {atom for atoms in task.atoms for atom in atoms if atom is not None}
    held = {task.atoms[variable][value] for variable, value in enumerate(state)} - {None}
    return held | set(task.lifted.problem.init - told)


def colours_by_definition(
    task: hstar.Task, state: np.ndarray, iterations: int, multiset: bool, types: bool
) -> Counter[Hashable]:
    """Colours as nested tuples: nothing is hashed away."""
    held, goal = atoms_that_hold(task, state), set(task.lifted.goal_atoms)
    colour: dict[Hashable, Hashable] = {}
    edges: list[tuple[int, Hashable, Hashable]] = []
    for name, kind in task.lifted.objects.items():
        constant = name in task.lifted.domain.constants
        colour[name] = name if constant else (kind if types else "object")
    for atom in held | goal:
        status = ("goal " if atom in goal else "") + ("holds" if atom in held else "open")
        colour[atom] = (atom[0], status)
        for i, name in enumerate(atom[1:]):
            edges += [(i, atom, name), (i, name, atom)]
    found: Counter[Hashable] = Counter((0, one) for one in colour.values())
    for iteration in range(1, iterations + 1):
        seen: dict[Hashable, list[Hashable]] = {node: [] for node in colour}
        for label, source, target in edges:
            seen[target].append((label, colour[source]))
        gather = (lambda many: frozenset(Counter(many).items())) if multiset else frozenset
        colour = {node: (one, gather(seen[node])) for node, one in colour.items()}
        found.update((iteration, one) for one in colour.values())
    return found


@pytest.mark.parametrize("multiset", [False, True])
@pytest.mark.parametrize("iterations", [0, 1, 3])
@pytest.mark.parametrize("name", SIZES)
def test_features_are_those_of_the_definition(
    tasks: dict[str, list[hstar.Task]], name: str, iterations: int, multiset: bool
) -> None:
    """One feature for each colour of the definition, with the same counts in every state."""
    words = vocabulary(tasks[name][0])
    features = WLFeatures(words, WLConfig(iterations=iterations, multiset=multiset))
    data = [(task, walked(task, 8)) for task in tasks[name]]
    matrix = features.collect(data_of(words, *data)).dense()
    expected = [
        colours_by_definition(task, state, iterations, multiset, types=True)
        for task, states in data
        for state in states
    ]
    names = sorted({colour for counts in expected for colour in counts}, key=repr)
    assert len(names) == len(features)
    reference = np.array([[counts[colour] for colour in names] for counts in expected])
    assert sorted(map(tuple, matrix.T)) == sorted(map(tuple, reference.T))
    second = matrix[len(data[0][1]) :]
    assert (features.count_states(*data[1]).dense() == second).all()
    assert (features.count(data_of(words, data[1]).instances[0]).dense() == second).all()


@pytest.mark.parametrize("multiset", [False, True])
@pytest.mark.parametrize("iterations", [1, 2])
@pytest.mark.parametrize("name", SIZES)
def test_features_are_those_of_wlplan(
    tasks: dict[str, list[hstar.Task]], name: str, iterations: int, multiset: bool
) -> None:
    pytest.importorskip("wlplan")
    from wlplan.data import DomainDataset, ProblemDataset
    from wlplan.feature_generator import init_feature_generator
    from wlplan.planning import Atom, State, parse_domain, parse_problem

    first = tasks[name][0]
    domain = parse_domain(str(first.domain_file))
    predicates = {predicate.name: predicate for predicate in domain.predicates}
    problems, data = [], []
    for task in tasks[name]:
        states = walked(task, 8)
        given = [
            State(
                [Atom(predicates[atom[0]], list(atom[1:])) for atom in sorted(atoms_that_hold(task, state))]
            )
            for state in states
        ]
        problem = parse_problem(str(task.domain_file), str(task.problem_file))
        problems.append(ProblemDataset(problem, given))
        data.append((task, states))
    theirs = init_feature_generator("wl", domain, "ilg", iterations=iterations, multiset_hash=multiset)
    dataset = DomainDataset(domain, problems)
    theirs.collect(dataset)
    reference = np.array(theirs.embed(dataset))
    words = vocabulary(first)
    ours = WLFeatures(words, WLConfig(iterations=iterations, multiset=multiset, types=False))
    matrix = ours.collect(data_of(words, *data)).dense()
    assert sorted(map(tuple, matrix.T)) == sorted(map(tuple, reference.T))


# --- what features promise --------------------------------------------------------------------------


def test_names_of_objects_do_not_matter(tmp_path: Path) -> None:
    task = generated(tmp_path / "one", "blocksworld", blocks=5, seed=3)
    renamed = tmp_path / "two"
    renamed.mkdir()
    (renamed / "domain.pddl").write_text((tmp_path / "one" / "domain.pddl").read_text())
    text = (tmp_path / "one" / "problem.pddl").read_text()
    for i in range(1, 6):
        text = text.replace(f"b{i}", f"z{6 - i}")
    (renamed / "problem.pddl").write_text(text)
    other = hstar.load(renamed / "domain.pddl", renamed / "problem.pddl")
    features = WLFeatures(vocabulary(task), WLConfig(iterations=2))
    (first,) = features.collect(data_of(features.words, (task, walked(task, 0)))).dense()
    assert (features.count_states(other, walked(other, 0)).dense() == first).all()


def test_new_colours_are_left_out(tasks: dict[str, list[hstar.Task]]) -> None:
    one, two = tasks["ferry"]
    features = WLFeatures(vocabulary(one), WLConfig(iterations=2))
    features.collect(data_of(features.words, (one, walked(one, 0))))
    known = len(features)
    found = features.count_states(two, walked(two, 5))
    assert len(features) == known
    assert found.dense().shape == (6, known)


def test_rare_features_are_dropped(tasks: dict[str, list[hstar.Task]]) -> None:
    task = tasks["blocksworld"][0]
    words, states = vocabulary(task), walked(task, 10)
    data = data_of(words, (task, states))
    everything = WLFeatures(words, WLConfig(iterations=2))
    full = everything.collect(data).dense()
    few = WLFeatures(words, WLConfig(iterations=2, least_states=3))
    matrix = few.collect(data).dense()
    kept = (full > 0).sum(axis=0) >= 3
    assert 0 < kept.sum() < len(everything)
    assert (matrix == full[:, kept]).all()
    assert (few.count_states(task, states).dense() == matrix).all()


def test_a_table_from_its_colours(tasks: dict[str, list[hstar.Task]]) -> None:
    task = tasks["npuzzle"][0]
    features = WLFeatures(vocabulary(task))
    matrix = features.collect(data_of(features.words, (task, walked(task, 4)))).dense()
    words = Vocabulary.from_json(features.words.to_json())
    again = WLFeatures(words, features.config, features.colours)
    assert (again.count_states(task, walked(task, 4)).dense() == matrix).all()
    with pytest.raises(InputError, match="given twice"):
        WLFeatures(words, features.config, [5, 7, 5])


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000), iterations=st.integers(0, 3), multiset=st.booleans())
def test_the_core_sums_up_weights(
    tasks: dict[str, list[hstar.Task]], seed: int, iterations: int, multiset: bool
) -> None:
    task = tasks["ferry"][0]
    states = walked(task, 6, seed)
    features = WLFeatures(vocabulary(task), WLConfig(iterations=iterations, multiset=multiset))
    matrix = features.collect(data_of(features.words, (task, states))).dense()
    random = np.random.default_rng(seed)
    weights, bias = random.normal(size=(2, len(features))), random.normal(size=2)
    linear = features.model(task, weights, bias)
    assert linear.raw(task.core, states) == pytest.approx(matrix @ weights.T + bias)
    hidden, offset = random.normal(size=(5, len(features))), random.normal(size=5)
    head = random.normal(size=(2, 5))
    network = features.model(task, hidden, offset, head, bias)
    expected = np.maximum(matrix @ hidden.T + offset, 0) @ head.T + bias
    assert network.raw(task.core, states) == pytest.approx(expected, rel=1e-4, abs=1e-3)


def test_stacking() -> None:
    one = Sparse(np.array([1, 3]), np.array([0, 0, 1], np.int32), np.array([2, 1, 1], np.int32), 2)
    two = Sparse(np.array([1]), np.array([2], np.int32), np.array([5], np.int32), 3)
    assert stack([one, two], 3).dense().tolist() == [[2, 0, 0], [1, 1, 0], [0, 0, 5]]


# --- what does not fit ------------------------------------------------------------------------------


def test_another_domain(tasks: dict[str, list[hstar.Task]]) -> None:
    words = vocabulary(tasks["ferry"][0])
    with pytest.raises(InputError, match="is of another domain than ferry: it has the predicate"):
        relations(tasks["blocksworld"][0], words)


def test_negative_goals() -> None:
    """Their atoms have colours of their own; data, states and the incremental model agree."""
    task = hstar.load(DATA / "lights" / "p04.pddl")
    words = vocabulary(task)
    states, h = exact_distances(task)
    instance = instance_of("p", task, words, states, {"label": h.astype(np.float32)})
    features = WLFeatures(words, WLConfig(iterations=2))
    matrix = features.collect(RelationalData(words, (instance,))).dense()
    assert np.array_equal(matrix, features.count_states(task, states).dense())
    assert len(np.unique(matrix, axis=0)) > 50, "lit and unlit cells differ"
    weights = np.random.default_rng(0).normal(size=(1, len(features)))
    expected = matrix @ weights.T
    assert features.model(task, weights, np.zeros(1)).raw(task.core, states) == pytest.approx(expected)
    # A state in which all is done has the colours of satisfied goals, whatever the number of atoms that hold.
    assert instance.relations.goal == frozenset() and len(instance.relations.negative_goal) == 9
    with pytest.raises(
        UnsupportedError, match=r"nlm cannot read negative goals such as \(not \(lit c0-0\)\); wl"
    ):
        instance.relations.check_positive_goal("nlm")


def test_quantified_goals(tmp_path: Path) -> None:
    text = (DATA / "lights" / "p01.pddl").read_text()
    every = text[: text.index("(:goal")] + "(:goal (forall (?c - cell) (not (lit ?c)))))"
    (tmp_path / "p.pddl").write_text(every)
    one, other = (
        hstar.load(DATA / "lights" / "domain.pddl", path).lifted.goal_literals
        for path in (DATA / "lights" / "p01.pddl", tmp_path / "p.pddl")
    )
    assert one == other and len(one.negated) == 4


def test_goals_that_are_no_conjunction_of_literals(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(
        "(define (domain d) (:predicates (p ?x) (q))"
        " (:action a :parameters (?x) :precondition (q) :effect (and (p ?x) (not (q)))))"
    )
    (tmp_path / "problem.pddl").write_text(
        "(define (problem x) (:domain d) (:objects o) (:init (q)) (:goal (or (p o) (not (q)))))"
    )
    task = hstar.load(tmp_path / "domain.pddl", tmp_path / "problem.pddl")
    with pytest.raises(UnsupportedError, match=r"not a conjunction of literals but has .*hstar train nrsl"):
        relations(task, vocabulary(task))


@pytest.mark.parametrize("options", [{"iterations": -1}, {"iterations": 21}, {"least_states": 0}])
def test_impossible_options(options: dict[str, int]) -> None:
    with pytest.raises(InputError):
        WLConfig(**options)
