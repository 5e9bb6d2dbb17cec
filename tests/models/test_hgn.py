"""The hypergraph network: against its definition in plain loops, and what must not change its outputs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

import hstar
from hstar.errors import InputError, UnsupportedError
from hstar.generators import GENERATORS
from hstar.models import MODELS, hgn_config
from hstar.models.hgn import HGN, MLP
from hstar.models.hgn_config import HGNConfig, Hypergraphs
from hstar.models.relational_model import StateRows
from hstar.sampling.walks import Walks
from hstar.spaces.relations import GroundOperator, Relations, Vocabulary, relations, vocabulary

SIZES = {
    "blocksworld": {"blocks": 3},
    "ferry": {"locations": 3, "cars": 2},
    "visitall": {"rows": 2, "columns": 3, "goal_percent": 50},
}
SMALL = {"hidden": 5, "steps": 3}
WORDS = Vocabulary("numbers", (("p", 1),), ("object",), ())

Case = tuple[Vocabulary, list[Relations], list[list[set[int]]]]  # states of each instance, by atoms


def task_of(folder: Path, texts: tuple[str, str]) -> hstar.Task:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip(("domain.pddl", "problem.pddl"), texts, strict=True):
        (folder / name).write_text(text)
    return hstar.load(folder / "domain.pddl", folder / "problem.pddl", unit_cost=True)


def states_of(task: hstar.Task, words: Vocabulary, number: int) -> tuple[Relations, list[set[int]]]:
    """The initial state and ends of random walks."""
    found = relations(task, words, operators=True)
    ends = Walks(walks=number, min_length=1, max_length=6, seed=0).states(task)
    states = np.vstack([np.array([task.core.initial_state], dtype=np.int32), ends])
    first = np.cumsum([0, *(len(values) for values in task.atoms)])[:-1]
    told = np.array(found.atom_of_fact)[states + first]
    return found.relations, [{*found.constant, *row[row >= 0].tolist()} for row in told]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    found = {"hand": hand_made()}
    for name, sizes in SIZES.items():
        folder = tmp_path_factory.mktemp(name)
        tasks = [task_of(folder / str(s), GENERATORS.get(name)(**sizes, seed=s)) for s in (0, 1)]
        words = vocabulary(tasks[0])
        pairs = [states_of(task, words, 1) for task in tasks]
        found[name] = (words, [pair[0] for pair in pairs], [pair[1] for pair in pairs])
    return found


def numbered(
    atoms: int, goal: Sequence[int], *operators: tuple[tuple[int, ...], tuple[int, ...]]
) -> Relations:
    """An instance whose atoms are (p o00), (p o01) and so on."""
    names = [f"o{i:02}" for i in range(atoms)]
    return Relations(
        objects=tuple(names),
        kinds=(0,) * atoms,
        atoms=tuple(("p", name) for name in names),
        goal=frozenset(("p", names[i]) for i in goal),
        operators=tuple(GroundOperator(*operator) for operator in operators),
    )


def hand_made() -> Case:
    """All slots in use, operators without preconditions or adds, atoms of the goal alone or of no use."""
    one = numbered(
        12, (2, 10), ((0, 1, 2, 3, 4, 5, 6), (7, 8, 9)), ((), (3,)), ((4, 9), ()), ((), ()), ((8,), (0, 1))
    )
    two = numbered(3, (), ((), (1,)))
    return WORDS, [one, two], [[{0, 1, 11}, set(), {2, 10, 3}], [{1}, {0, 2}]]


def rows_of(encoded: Sequence[Any], *states: tuple[int, set[int]]) -> StateRows:
    """A batch of instances' numbers with atoms."""
    return StateRows(
        tuple(encoded),
        np.array([instance for instance, _ in states], dtype=np.int64),
        np.repeat(np.arange(len(states)), [len(atoms) for _, atoms in states]),
        np.array([atom for _, atoms in states for atom in sorted(atoms)], dtype=np.int64),
        {},
    )


def inputs_of(config: HGNConfig, case: Case) -> Hypergraphs:
    """All states of a case; the instances take turns."""
    words, instances, states = case
    order = sorted((j, i) for i, own in enumerate(states) for j in range(len(own)))
    encoded = [config.encode(words, instance) for instance in instances]
    return config.inputs(words, rows_of(encoded, *((i, states[i][j]) for j, i in order)))


def build(config: HGNConfig, seed: int = 0, outputs: int = 2) -> HGN:
    torch.manual_seed(seed)
    return config.build(WORDS, outputs)


def double(graphs: Hypergraphs) -> Hypergraphs:
    return graphs._replace(
        types=graphs.types.double(), kinds=graphs.kinds.double(), counts=graphs.counts.double()
    )


# --- the definition ---------------------------------------------------------------------------------


def mlp(part: MLP, *pieces: Tensor) -> Tensor:
    x = functional.linear(torch.cat(pieces), part.first.weight, part.first.bias)
    x = functional.linear(torch.where(x > 0, x, 0.01 * x), part.second.weight, part.second.bias)
    return torch.where(x > 0, x, 0.01 * x)


def by_definition(model: HGN, instance: Relations, holds: set[int]) -> Tensor:
    """One state, one hyperedge after the other, all latents behind one another."""
    config = model.config

    def number(*values: float) -> Tensor:
        return torch.tensor(values, dtype=torch.float64)

    def total(given: Sequence[Tensor]) -> Tensor:
        if not given:
            return torch.zeros(config.hidden, dtype=torch.float64)
        return sum(given[1:], given[0]) / (len(given) if config.normalise else 1)

    goal = {instance.atoms.index(atom) for atom in instance.goal}
    nodes = sorted(goal.union(*(operator.preconditions + operator.adds for operator in instance.operators)))
    v0 = v = {i: mlp(model.encode_node, number(i in holds, i in goal)) for i in nodes}
    e0 = e = [
        mlp(model.encode_edge, number(1, len(operator.preconditions), len(operator.adds)))
        for operator in instance.operators
    ]
    counts = number(len(nodes), len(e)) * config.global_features
    u0 = u = mlp(model.encode_state, torch.log(1 + counts) if config.normalise else counts)
    nothing = torch.zeros(2 * config.hidden, dtype=torch.float64)
    for _ in range(config.steps):
        new = []
        for k, operator in enumerate(instance.operators):
            pieces = [e0[k], e[k]]
            for atoms, slots in ((operator.adds, config.receivers), (operator.preconditions, config.senders)):
                ordered = sorted(atoms, key=lambda i: instance.atoms[i])
                pieces += [torch.cat([v0[i], v[i]]) for i in ordered]
                pieces += [nothing] * (slots - len(atoms))
            new.append(mlp(model.edge, *pieces))
        e = new
        arriving = {i: [e[k] for k, o in enumerate(instance.operators) if i in o.adds] for i in nodes}
        v = {i: mlp(model.node, total(arriving[i]), v0[i], v[i]) for i in nodes}
        u = mlp(model.state, total(e), total(list(v.values())), u0, u)
    return functional.linear(mlp(model.decode, u), model.head.weight, model.head.bias)


@pytest.mark.parametrize("name", ["hand", *SIZES])
@pytest.mark.parametrize("options", [{}, {"normalise": True}, {"global_features": False, "steps": 1}])
def test_outputs_and_gradients_are_those_of_the_definition(
    cases: dict[str, Case], name: str, options: dict[str, Any]
) -> None:
    config = HGNConfig(**SMALL | options)
    _, instances, states = cases[name]
    graphs, plain = inputs_of(config, cases[name]), build(config)
    single = plain(graphs).detach().numpy()
    model = plain.double()
    order = sorted((j, i) for i, own in enumerate(states) for j in range(len(own)))
    expected = torch.stack([by_definition(model, instances[i], states[i][j]) for j, i in order])
    assert np.unique(np.round(expected.detach().numpy(), 9)[:, 0]).size > 2, "the states look all alike"
    np.testing.assert_allclose(single, expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    found = model(double(graphs))
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-9)

    weights = torch.linspace(-1, 1, expected.numel(), dtype=torch.float64).view_as(expected)
    names = [name for name, _ in model.named_parameters()]
    gradients = [
        torch.autograd.grad((out * weights).sum(), list(model.parameters())) for out in (found, expected)
    ]
    for parameter, one, other in zip(names, *gradients, strict=True):
        scale = float(other.abs().max())
        told = config.global_features or parameter != "encode_state.first.weight"
        assert (scale > 0) is told, f"{parameter} has no influence"
        np.testing.assert_allclose(
            one.numpy(), other.numpy(), rtol=1e-7, atol=1e-9 * scale, err_msg=parameter
        )


# --- what must not matter ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hand", *SIZES])
def test_states_do_not_depend_on_their_batch(
    cases: dict[str, Case], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = HGNConfig(hidden=8)
    words, instances, states = cases[name]
    model = build(config)
    encoded = [config.encode(words, instance) for instance in instances]
    pairs = [(i, atoms) for i, own in enumerate(states) for atoms in own]
    pairs = [pairs[-1], *pairs, pairs[-1]]
    with torch.no_grad():
        together = model(config.inputs(words, rows_of(encoded, *pairs)))
        apart = [model(config.inputs(words, rows_of((None, encoded[i]), (1, atoms)))) for i, atoms in pairs]
        monkeypatch.setattr(hgn_config, "_MOST_ROWS", 3 * max(len(one.edge_rows.entries) for one in encoded))
        parts = [model(part) for part in config.search_inputs(words, rows_of(encoded, *pairs))]
    assert together.shape == (len(pairs), 2) and together.dtype == torch.float32
    np.testing.assert_allclose(together.numpy(), torch.cat(apart).numpy(), rtol=1e-4, atol=1e-5)
    assert {len(part) for part in parts[:-1]} == {3}
    np.testing.assert_allclose(together.numpy(), torch.cat(parts).numpy(), rtol=1e-4, atol=1e-5)


def test_no_states_give_no_outputs(cases: dict[str, Case]) -> None:
    config = HGNConfig()
    words, instances, _ = cases["ferry"]
    graphs = config.inputs(words, rows_of([config.encode(words, instances[0])]))
    assert build(config)(graphs).shape == (0, 2)


def test_names_of_objects_do_not_matter_while_their_order_is_kept(tmp_path: Path) -> None:
    domain, problem = GENERATORS.get("blocksworld")(blocks=4, seed=3)
    other, changed = re.subn(r"\bb(\d+)\b", r"stone\1", problem)
    assert changed > 8
    config = HGNConfig()
    model, outputs = build(config), []
    for i, text in enumerate((problem, other)):
        task = task_of(tmp_path / str(i), (domain, text))
        words = vocabulary(task)
        instance, states = states_of(task, words, 0)
        rows = rows_of([config.encode(words, instance)], *((0, atoms) for atoms in states))
        outputs.append(model(config.inputs(words, rows)).detach().numpy())
    np.testing.assert_allclose(outputs[0], outputs[1], rtol=1e-4)


def test_means_do_not_see_how_large_a_task_is() -> None:
    one = numbered(4, (3,), ((0,), (1,)), ((1, 2), (3,)))
    two = numbered(8, (3, 7), ((0,), (1,)), ((1, 2), (3,)), ((4,), (5,)), ((5, 6), (7,)))
    outputs = {}
    for normalise in (False, True):
        config = HGNConfig(normalise=normalise, global_features=False)
        encoded = [config.encode(WORDS, instance) for instance in (one, two)]
        graphs = config.inputs(WORDS, rows_of(encoded, (0, {0, 2}), (1, {0, 2, 4, 6})))
        outputs[normalise] = build(config)(graphs).detach().numpy()
    np.testing.assert_allclose(outputs[True][0], outputs[True][1], rtol=1e-5)
    assert np.abs(outputs[False][0] - outputs[False][1]).max() > 1e-3


def test_torch_s_seed_fixes_all(cases: dict[str, Case]) -> None:
    config = HGNConfig()
    graphs = inputs_of(config, cases["ferry"])
    results = []
    for seed in (7, 7, 8):
        model = build(config, seed)
        out = model(graphs)
        out.square().sum().backward()
        results.append([out.detach(), *(p.grad for p in model.parameters() if p.grad is not None)])
    assert all(torch.equal(one, other) for one, other in zip(results[0], results[1], strict=True))
    assert not torch.equal(results[0][0], results[2][0])


# --- the rest ---------------------------------------------------------------------------------------


def test_it_is_registered() -> None:
    assert MODELS.get("hgn") is HGNConfig
    assert HGNConfig.operators and not HGNConfig.columns


def test_the_size_of_the_paper() -> None:
    def layers(inputs: int) -> int:
        return (inputs + 1) * 32 + 33 * 32

    model = build(HGNConfig())
    parts = sum(layers(inputs) for inputs in (3, 2, 2, 704, 96, 128, 32))
    assert sum(p.numel() for p in model.parameters()) == parts + 2 * 33 == 38_626
    assert sum(array.size for array in HGNConfig().export(model).values()) == 38_626


def test_options_and_hypergraphs_need_no_torch() -> None:
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from hstar.models import MODELS\n"
        "from hstar.spaces.relations import GroundOperator, Relations, Vocabulary\n"
        "words = Vocabulary('d', (('p', 1),), ('object',), ())\n"
        "atoms = (('p', 'a'), ('p', 'b'))\n"
        "one = Relations(('a', 'b'), (0, 0), atoms, frozenset(atoms[1:]), (GroundOperator((0,), (1,)),))\n"
        "assert MODELS.get('hgn')(hidden=3).encode(words, one).edges == 1\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_operators_that_do_not_fit() -> None:
    many = numbered(9, (8,), ((0, 1), (2,)), ((0, 1, 2, 3), (4, 5, 6)))
    HGNConfig(senders=4, receivers=3).encode(WORDS, many)
    with pytest.raises(
        UnsupportedError, match="has 4 preconditions, but hgn has slots for 3: raise senders to 4"
    ):
        HGNConfig(senders=3).encode(WORDS, many)
    with pytest.raises(
        UnsupportedError, match="has 3 added atoms, but hgn has slots for 2: raise receivers to 3"
    ):
        HGNConfig(receivers=2).encode(WORDS, many)
    with pytest.raises(UnsupportedError, match="this problem of numbers has none"):
        HGNConfig().encode(WORDS, replace(many, operators=()))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("hidden", 0),
        ("steps", 0),
        ("senders", 0),
        ("receivers", 2.5),
        ("senders", 1001),
        ("global_features", 1),
        ("normalise", "yes"),
    ],
)
def test_wrong_options(option: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"^{option} must be"):
        HGNConfig(**{option: value})
