"""The Neural Logic Machine: against its definition, which builds every wide tensor; what must not matter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.generators import GENERATORS
from hstar.models import nlm, nlm_config
from hstar.models.model import MODELS
from hstar.models.nlm import NLM, NLMInputs
from hstar.models.nlm_config import NO_TYPES, Channels, NLMConfig, pair_types
from hstar.models.relational_model import StateRows
from hstar.spaces.lifted import GroundAtom
from hstar.spaces.pddl import read_task
from hstar.spaces.relations import Relations, Vocabulary

# What holds in a state of some relations.
State = tuple[Relations, frozenset[GroundAtom]]

BLOCKS = Vocabulary(
    "blocks", (("arm-empty", 0), ("clear", 1), ("holding", 1), ("on", 2), ("on-table", 1)), ("object",), ()
)
ALL_ARITIES = Vocabulary(
    "arities",
    (("between", 3), ("bright", 0), ("dark", 0), ("likes", 2), ("near", 2), ("red", 1)),
    ("object", "cat", "dog"),
    ("home",),
)
UNARY = Vocabulary("unary", (("done", 0), ("green", 1), ("red", 1)), ("object",), ())
WORDS = {words.domain: words for words in (BLOCKS, ALL_ARITIES, UNARY)}


def random_state(words: Vocabulary, objects: int, seed: int, density: float = 0.2) -> State:
    """Any atoms at all, in the state and in the goal: more than a task would ever have."""
    rng = np.random.default_rng([seed, objects])
    names = tuple(f"o{i}" for i in range(objects))
    kinds = tuple(int(kind) for kind in rng.integers(0, len(words.types), objects))
    if words.constants and objects:
        names, kinds = (*names[:-1], words.constants[0]), (*kinds[:-1], len(words.types))
    atoms = []
    for name, arity in words.predicates:
        for place in np.ndindex(*[objects] * arity):
            atoms.append((name, *(names[i] for i in place)))
    chosen = rng.random((2, len(atoms))) < density
    held = frozenset(atom for atom, yes in zip(atoms, chosen[0], strict=True) if yes)
    goal = frozenset(atom for atom, yes in zip(atoms, chosen[1], strict=True) if yes)
    return Relations(names, kinds, tuple(sorted(held | goal)), goal), held


def rows(config: NLMConfig, words: Vocabulary, states: Sequence[State]) -> StateRows:
    """States as training and search hand them over; instances that states share are there once."""
    known: list[Relations] = []
    for relations, _ in states:
        if not any(relations is one for one in known):
            known.append(relations)
    instance = [next(i for i, one in enumerate(known) if one is relations) for relations, _ in states]
    atoms = [sorted(relations.number[atom] for atom in held) for relations, held in states]
    return StateRows(
        tuple(config.encode(words, relations) for relations in known),
        np.array(instance, dtype=np.int64),
        np.repeat(np.arange(len(states)), [len(one) for one in atoms]),
        np.array([number for one in atoms for number in one], dtype=np.int64),
        {},
    )


def read(config: NLMConfig, words: Vocabulary, states: Sequence[State]) -> NLMInputs:
    return config.inputs(words, rows(config, words, states))


def build(config: NLMConfig, words: Vocabulary, outputs: int = 2, seed: int = 0) -> NLM:
    torch.manual_seed(seed)
    return config.build(words, outputs)


def double(inputs: NLMInputs) -> NLMInputs:
    return NLMInputs(*(value.double() if value.is_floating_point() else value for value in inputs))


def outputs(config: NLMConfig, words: Vocabulary, states: Sequence[State]) -> Tensor:
    with torch.no_grad():
        return build(config, words).double()(double(read(config, words, states)))


# --- the definition ---------------------------------------------------------------------------------------


def truth(words: Vocabulary, state: State) -> list[Tensor | None]:
    """Per arity the truth values of a state and of the goal, and the types and constants of objects."""
    relations, held = state
    n = len(relations.objects)
    found: list[Tensor | None] = []
    for arity in range(4):
        names = [name for name, own in words.predicates if own == arity]
        channels = []
        for atoms in (held, relations.goal):
            for name in names:
                values = torch.zeros([n] * arity, dtype=torch.float64)
                for place in np.ndindex(*values.shape):
                    values[place] = float((name, *(relations.objects[i] for i in place)) in atoms)
                channels.append(values)
        if arity == 1 and (words.constants or len(words.types) > 2):
            for kind in range(1, len(words.types) + len(words.constants)):
                channels.append(torch.tensor([float(own == kind) for own in relations.kinds]).double())
        found.append(torch.stack(channels, dim=-1) if channels else None)
    return found


def by_definition(config: NLMConfig, words: Vocabulary, module: NLM, state: State) -> Tensor:
    """The outputs of one state: all orders of the axes of all that a layer sees, beside each other."""
    x, n = truth(words, state), len(state[0].objects)
    for layer in module.layers:
        new: list[Tensor | None] = [None] * 4
        for arity in range(4):
            if str(arity) not in layer:
                continue
            parts = []
            if arity and x[arity - 1] is not None:
                below = x[arity - 1].unsqueeze(arity - 1)
                parts.append(below.expand(*[n] * arity, below.shape[-1]))
            if x[arity] is not None:
                parts.append(x[arity])
            if arity < 3 and x[arity + 1] is not None:
                above = x[arity + 1]
                nothing = torch.zeros(above.shape[:-1], dtype=torch.bool)
                if config.exclude_self:
                    for place in np.ndindex(*nothing.shape):
                        nothing[place] = len(set(place)) < len(place)
                # One more value, as if for an object that decides nothing: there may be no other.
                more = above.new_ones((*above.shape[:arity], 1, above.shape[-1]))
                for least, reduce in ((1.0, torch.amin), (0.0, torch.amax)):
                    values = above.masked_fill(nothing[..., None], least)
                    parts.append(reduce(torch.cat([values, least * more], arity), arity))
            wide = torch.cat(parts, dim=-1)
            orders = [wide.permute(*order, arity) for order in permutations(range(arity))]
            new[arity] = layer[str(arity)].linear(torch.cat(orders, dim=-1))
        if layer is module.layers[-1]:
            assert new[0] is not None
            return new[0]
        x = [
            None
            if z is None
            else torch.cat([*([old] if config.residual and old is not None else []), z.sigmoid()], -1)
            for old, z in zip(x, new, strict=True)
        ]
    raise AssertionError


CASES: list[tuple[str, dict[str, Any]]] = [
    ("blocks", {}),
    ("blocks", {"exclude_self": True}),
    ("blocks", {"residual": True}),
    ("blocks", {"residual": True, "exclude_self": True, "depth": 6}),
    ("blocks", {"depth": 4}),
    ("blocks", {"depth": 3, "exclude_self": True}),
    ("blocks", {"breadth": 2}),
    ("arities", {}),
    ("arities", {"exclude_self": True, "residual": True}),
    ("arities", {"depth": 3}),
    ("unary", {}),
    ("unary", {"residual": True, "depth": 6}),
    ("unary", {"breadth": 1, "depth": 2}),
    ("unary", {"depth": 1}),
]


@pytest.mark.parametrize(("domain", "options"), CASES)
def test_is_the_function_of_the_definition_with_its_gradients(domain: str, options: dict[str, Any]) -> None:
    words, config = WORDS[domain], NLMConfig(features=5, **options)
    states = [random_state(words, n, seed) for seed, n in enumerate((4, 2, 5, 4, 1, 3, 0, 2))]
    states.append((states[0][0], frozenset()))
    module = build(config, words).double()
    weights = torch.randn(len(states), 2, dtype=torch.float64)
    found = module(double(read(config, words, states)))
    gradients = torch.autograd.grad((found * weights).sum(), list(module.parameters()), allow_unused=True)
    expected = torch.stack([by_definition(config, words, module, state) for state in states])
    wanted = torch.autograd.grad((expected * weights).sum(), list(module.parameters()), allow_unused=True)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-9)
    for own, right in zip(gradients, wanted, strict=True):
        assert (own is None) == (right is None)
        torch.testing.assert_close(own, right, rtol=1e-7, atol=1e-9)
    single = build(config, words)(read(config, words, states))
    assert single.dtype == torch.float32
    torch.testing.assert_close(single.double(), expected, rtol=1e-5, atol=1e-5)


# --- what must not matter ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_types_of_pairs_only_save_work(monkeypatch: pytest.MonkeyPatch) -> None:
    for options in ({}, {"exclude_self": True}, {"depth": 6, "residual": True}):
        config = NLMConfig(**options)
        states = [random_state(BLOCKS, n, seed, density=0.1) for seed, n in enumerate((7, 3, 6, 7, 5))]
        assert len(read(config, BLOCKS, states).types) == sum(n * n for n in (7, 3, 6, 7, 5))
        typed = outputs(config, BLOCKS, states)
        with monkeypatch.context() as patch:
            patch.setattr(nlm_config, "pair_types", lambda *_: NO_TYPES)
            assert not len(read(config, BLOCKS, states).types)
            torch.testing.assert_close(outputs(config, BLOCKS, states), typed, rtol=0, atol=1e-10)
        with monkeypatch.context() as patch:
            patch.setattr(nlm_config, "_LOOK", 0)  # types that there may be instead of those that there are
            patch.setattr(nlm_config, "_TABLE", 0)
            torch.testing.assert_close(outputs(config, BLOCKS, states), typed, rtol=0, atol=1e-10)


# Features that fill less than a vector, some of them, and more than the registers hold.
@pytest.mark.parametrize("features", [1, 5, 16, 40])
@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("domain", WORDS)
def test_without_gradients_it_is_the_same_function(
    domain: str, residual: bool, exclude_self: bool, features: int
) -> None:
    words = WORDS[domain]
    config = NLMConfig(features=features, depth=4, exclude_self=exclude_self, residual=residual)
    for seed, sizes in enumerate([(4, 2, 5, 4, 1, 3, 0, 2), (0, 0), (1,), (2, 2), (7,)]):
        states = [random_state(words, n, seed + 10 * i, density=0.1) for i, n in enumerate(sizes)]
        module, inputs = build(config, words, seed=seed), read(config, words, states)
        with torch.inference_mode():
            found = module(inputs)
        wanted = module(inputs)
        assert wanted.requires_grad
        torch.testing.assert_close(found, wanted.detach(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("most", [1, 20, 100])  # rows of less than a state, and of more
@pytest.mark.parametrize("options", [{}, {"depth": 6, "residual": True}, {"exclude_self": True}])
@pytest.mark.parametrize("domain", WORDS)
def test_a_batch_in_parts_is_the_same_function(
    domain: str, options: dict[str, Any], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, config = WORDS[domain], NLMConfig(features=5, **options)
    states = [random_state(words, n, seed, density=0.1) for seed, n in enumerate((4, 2, 5, 4, 1, 3, 0, 2, 7))]
    module = build(config, words)
    wanted = module(read(config, words, states)).detach()
    monkeypatch.setattr(nlm, "MOST_ROWS", most)
    monkeypatch.setattr(nlm_config, "_MOST_TUPLES", most)
    parts = list(config.search_inputs(words, rows(config, words, states)))
    assert len(parts) > 1 or domain == "unary"  # of which twins leave little
    with torch.inference_mode():
        found = torch.cat([module(part) for part in parts])
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"exclude_self": True}, {"residual": True}, {"breadth": 2}])
@pytest.mark.parametrize("domain", ["blocks", "unary"])
def test_searches_need_no_twins(domain: str, options: dict[str, Any]) -> None:
    words, config = WORDS[domain], NLMConfig(**options)
    most = config.breadth if config.exclude_self else 1
    module, merged = build(config, words).double(), 0
    for density in (0.0, 0.01, 0.03, 0.1, 0.5):
        sizes = (6, 1, 0, 9, 2, 3, 9)
        states = [random_state(words, n, seed, density) for seed, n in enumerate(sizes)]
        # All pairs of the last objects, or no pair but those of one object: twins in the first case only.
        for atoms in ([("on", a, b) for a in "abc" for b in "abc"], [("on", a, a) for a in "abc"]):
            held = frozenset(atoms if domain == "blocks" else [])
            states.append((Relations(tuple("abcd"), (0,) * 4, tuple(sorted(held)), frozenset()), held))
        every = config.inputs(words, rows(config, words, states))
        (few,) = config.search_inputs(words, rows(config, words, states))
        found, begin, pair = few.objects[few.row].tolist(), 0, 0
        expected = torch.zeros(len(states), dtype=torch.int64)
        for place, n in enumerate(every.objects.tolist()):
            unary, binary = every.unary[begin : begin + n], every.binary[pair : pair + n * n]
            binary = binary.reshape(n, n, binary.shape[1])
            told = [(unary[i].tolist(), binary[i].tolist(), binary[:, i].tolist()) for i in range(n)]
            expected[place] = sum(told[:i].count(one) < most for i, one in enumerate(told))
            begin, pair = begin + n, pair + n * n
        assert found == expected[every.row].tolist()
        merged += sum(every.objects.tolist()) - sum(found)
        with torch.no_grad():
            outputs = [module(double(inputs)) for inputs in (every, few)]
        torch.testing.assert_close(outputs[1], outputs[0], rtol=0, atol=1e-10)
    assert merged > 20, "there were twins"


def test_arrays_that_do_not_fit_are_refused() -> None:
    rng = np.random.default_rng(0)
    sizes = np.array([3, 0, 2], dtype=np.int64)
    types = np.zeros(13, dtype=np.int32)
    tuples: dict[str, Any] = {
        "table": rng.random((1, 13, 4), dtype=np.float32),
        "row": None,
        "objects": sizes,
        "arity": 2,
        "exclude_self": False,
        "result": np.zeros((1, 5, 8), dtype=np.float32),
    }
    triples: dict[str, Any] = {
        "table": rng.random((2, 1, 4), dtype=np.float32),
        "types": types,
        "codes": np.zeros((3, 1), dtype=np.int32),
        "numbers": np.zeros(1, dtype=np.int32),
        "objects": sizes,
        "exclude_self": False,
        "result": np.zeros((2, 13, 8), dtype=np.float32),
    }
    _core.nlm_tuple_extremes(**tuples)
    _core.nlm_tuple_extremes(**tuples | {"table": tuples["table"][:, :1], "row": types})
    _core.nlm_triple_extremes(**triples)
    for change in (
        {"objects": np.array([3, -1, 2])},
        {"objects": np.array([3, 1 << 40, 2])},
        {"objects": np.array([3, 1])},
        {"arity": 0},
        {"arity": 3},
        {"arity": 4},
        {"row": types[1:]},
        {"row": types + 13},
        {"row": types - 1},
        {"result": np.zeros((1, 4, 8), dtype=np.float32)},
        {"result": np.zeros((1, 10, 4), dtype=np.float32)},
    ):
        with pytest.raises(InputError):
            _core.nlm_tuple_extremes(**tuples | change)
    for change in (
        {"objects": np.array([3, 2, 2])},
        {"types": types[1:]},
        {"types": types + 1},
        {"types": types - 1},
        {"codes": np.zeros((2, 1), dtype=np.int32)},
        {"codes": np.zeros((3, 0), dtype=np.int32)},
        {"codes": np.full((3, 1), -1, dtype=np.int32)},
        {"codes": np.array([[0], [1], [0]], dtype=np.int32)},
        {"numbers": np.full(1, 1, dtype=np.int32)},
        {"numbers": np.full(1, -2, dtype=np.int32)},
        {"numbers": np.zeros(0, dtype=np.int32)},
        {"table": np.zeros((2, 0, 4), dtype=np.float32)},
        {"result": np.zeros((1, 13, 8), dtype=np.float32)},
        {"result": np.zeros((2, 12, 8), dtype=np.float32)},
    ):
        with pytest.raises(InputError):
            _core.nlm_triple_extremes(**triples | change)


def test_many_channels_are_told_apart() -> None:
    """More than one number can hold: rows are of one type if and only if they are equal."""
    rng = np.random.default_rng(0)
    unary = (rng.random((6, 40)) < 0.5).astype(np.float32)
    unary[3] = unary[0]
    binary = np.zeros((18, 35), dtype=np.float32)
    binary[4, 34] = binary[13, 34] = 1  # (1, 1) of both states
    types = pair_types(np.array([3, 3]), unary, binary).types.reshape(2, 3, 3)
    assert len(np.unique(types)) == 17
    assert types[0, 0, 0] == types[1, 0, 0]


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS.keys())
def test_names_and_order_of_objects_do_not_matter(words: Vocabulary) -> None:
    config = NLMConfig()
    relations, held = random_state(words, 5, 3)
    order = np.random.default_rng(1).permutation(5)
    other = Relations(
        tuple(relations.objects[i] for i in order),
        tuple(relations.kinds[i] for i in order),
        relations.atoms[::-1],
        relations.goal,
    )
    found = outputs(config, words, [(relations, held), (other, held)])
    torch.testing.assert_close(found[0], found[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"exclude_self": True}])
def test_other_states_of_the_batch_do_not_matter(options: dict[str, Any]) -> None:
    config = NLMConfig(**options)
    states = [random_state(BLOCKS, n, n) for n in (9, 3, 12, 1, 5, 3)]
    states += [(states[0][0], frozenset()), states[2]]
    together = outputs(config, BLOCKS, states)
    alone = torch.cat([outputs(config, BLOCKS, [state]) for state in states])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-10)
    torch.testing.assert_close(together[2], together[7], rtol=0, atol=1e-12)


def test_what_states_say_matters() -> None:
    relations, held = random_state(ALL_ARITIES, 4, 0, density=0.4)
    held |= {("bright",), ("dark",)}
    goal = relations.goal | {("bright",), ("dark",)}
    relations = Relations(relations.objects, relations.kinds, tuple(sorted(held | goal)), goal)
    states = [(relations, held)]
    for name, _ in ALL_ARITIES.predicates:  # one atom less of each predicate, and one goal less
        states.append((relations, held - {next(atom for atom in sorted(held) if atom[0] == name)}))
        wanted = next(atom for atom in sorted(relations.goal) if atom[0] == name)
        less = Relations(relations.objects, relations.kinds, relations.atoms, relations.goal - {wanted})
        states.append((less, held))
    for i in range(4):  # another type, or no longer the constant
        kinds = list(relations.kinds)
        kinds[i] = (kinds[i] + 1) % 3
        states.append((Relations(relations.objects, tuple(kinds), relations.atoms, relations.goal), held))
    found = outputs(NLMConfig(residual=True), ALL_ARITIES, states)
    for row in found[1:]:
        assert (row - found[0]).abs().max() > 1e-9


def test_exclude_self_is_another_function_with_the_same_weights() -> None:
    states = [random_state(BLOCKS, 5, 0)]
    own, other = (outputs(NLMConfig(exclude_self=yes), BLOCKS, states) for yes in (False, True))
    assert (own - other).abs().max() > 1e-6


def test_goals_without_arguments_and_empty_states() -> None:
    names = ("a", "b")
    words = Vocabulary("bare", (("done", 0), ("p", 1)), ("object",), ())
    goals = [frozenset[GroundAtom](), frozenset({("done",)})]
    states = [(Relations(names, (0, 0), (("done",),), goal), frozenset[GroundAtom]()) for goal in goals]
    inputs = read(NLMConfig(), words, states)
    assert inputs.nullary.tolist() == [[0, 0], [0, 1]]
    assert not inputs.unary.any()
    found = outputs(NLMConfig(), words, states)
    assert torch.isfinite(found).all()
    assert not torch.equal(found[0], found[1])


def test_no_states_at_all() -> None:
    for words in WORDS.values():
        assert outputs(NLMConfig(), words, []).shape == (0, 2)


def test_one_seed_fixes_everything() -> None:
    states = [random_state(BLOCKS, n, n) for n in (4, 6)]
    inputs = read(NLMConfig(), BLOCKS, states)
    results = []
    for seed in (0, 0, 1):
        module = build(NLMConfig(), BLOCKS, seed=seed)
        module(inputs).square().sum().backward()
        results.append([*(p.grad for p in module.parameters()), module(inputs)])
    assert all(torch.equal(a, b) for a, b in zip(results[0], results[1], strict=True))
    assert not torch.equal(results[0][-1], results[2][-1])


def test_fresh_states_differ_by_more_with_a_larger_gain() -> None:
    inputs = read(NLMConfig(), BLOCKS, [random_state(BLOCKS, 6, seed) for seed in range(8)])
    spread = []
    for gain in (1.0, 3.0):
        module = build(NLMConfig(gain=gain), BLOCKS, seed=0)
        spread.append(module(inputs)[:, 0].std().item())
    assert spread[1] > 100 * spread[0] > 0  # four sigmoids and five layers


@pytest.mark.slow
def test_learns_whether_anything_is_red() -> None:
    config = NLMConfig(features=8, depth=3, breadth=2)
    states = [random_state(UNARY, 3, seed, density=0.25) for seed in range(40)]
    label = torch.tensor([float(any(atom[0] == "red" for atom in held)) for _, held in states])
    module, inputs = build(config, UNARY, outputs=1), read(config, UNARY, states)
    optimizer = torch.optim.Adam(module.parameters(), lr=0.05)
    for _ in range(200):
        loss = (module(inputs)[:, 0] - label).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1 * label.var().item()


# --- memory -----------------------------------------------------------------------------------------------


class Largest(TorchDispatchMode):
    """Records the bytes of the largest tensor that is made, in gradients, too."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        sizes = [leaf.untyped_storage().nbytes() for leaf in tree_leaves(made) if isinstance(leaf, Tensor)]
        self.bytes = max([self.bytes, *sizes])
        return made


def first_state(blocks: int, seed: int, folder: Path) -> State:
    """That of a generated problem: unlike random atoms, pairs of its blocks are of few types."""
    texts = GENERATORS.get("blocksworld")(blocks=blocks, seed=seed)
    for name, text in zip(("domain.pddl", "problem.pddl"), texts, strict=True):
        (folder / name).write_text(text)
    task = read_task(folder / "domain.pddl", folder / "problem.pddl")
    held, goal = frozenset(task.problem.init), frozenset(task.goal_atoms)
    return Relations(tuple(task.objects), (0,) * blocks, tuple(sorted(held | goal)), goal), held


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"exclude_self": True}, {"residual": True}])
def test_the_wide_tensors_are_never_there(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the definition a layer reads 16 features of 2 tensors in 6 orders for every triple: 192 channels."""
    config, blocks, number = NLMConfig(**options), 12, 8
    states = [first_state(blocks, seed, tmp_path) for seed in range(number)]
    wide = 4 * 192 * number * blocks**3
    module = build(config, BLOCKS)
    with Largest() as found:
        by_definition(config, BLOCKS, module.double(), first_state(4, 0, tmp_path))
    assert found.bytes >= 8 * 192 * 4**3, "what is looked for would be seen"
    module.float()
    with Largest() as found:
        module(read(config, BLOCKS, states)).square().sum().backward()
    assert 0 < found.bytes < wide / 10
    # Where all pairs are different, and types are of no use, half of it is there.
    monkeypatch.setattr(nlm_config, "pair_types", lambda *_: NO_TYPES)
    with Largest() as found:
        module(read(config, BLOCKS, states)).square().sum().backward()
    assert found.bytes <= wide / 2


# --- domains and options ----------------------------------------------------------------------------------

SIZES = {
    "blocksworld": {"blocks": 3},
    "ferry": {"locations": 2, "cars": 2},
    "gripper": {"balls": 2},
    "visitall": {"rows": 2, "columns": 2, "goal_percent": 100},
    "logistics": {"cities": 2, "locations": 2, "packages": 1, "airplanes": 1},
}


def words_of(generator: str, folder: Any) -> Vocabulary:
    """Those of a generator's domain."""
    texts = GENERATORS.get(generator)(**SIZES[generator], seed=0)
    for name, text in zip(("domain.pddl", "problem.pddl"), texts, strict=True):
        (folder / name).write_text(text)
    domain = read_task(folder / "domain.pddl", folder / "problem.pddl").domain
    predicates = tuple(sorted((name, len(types)) for name, types in domain.predicates.items()))
    return Vocabulary(domain.name, predicates, ("object", *sorted(domain.types)), tuple(domain.constants))


@pytest.mark.parametrize(
    ("generator", "channels", "parameters"),
    [
        ("blocksworld", (2, 6, 2, 0), 13_714),
        ("ferry", (2, 8, 4, 0), 14_194),
        ("gripper", (0, 10, 4, 0), 14_290),
        ("visitall", (0, 4, 2, 0), 13_490),
    ],
)
def test_has_the_weights_of_the_paper(
    generator: str, channels: tuple[int, ...], parameters: int, tmp_path: Any
) -> None:
    words = words_of(generator, tmp_path)
    assert Channels.of(words).counts == channels
    assert sum(p.numel() for p in NLMConfig().build(words, 2).parameters()) == parameters


def test_types_and_constants_have_channels_if_they_tell_objects_apart(tmp_path: Any) -> None:
    words = words_of("logistics", tmp_path)
    unary = sum(arity == 1 for _, arity in words.predicates)
    assert Channels.of(words).counts[1] == 2 * unary + len(words.types) - 1
    assert Channels.of(ALL_ARITIES).counts == (4, 2 + 3, 4, 2)
    assert Channels.of(ALL_ARITIES).kinds == (None, 2, 3, 4)
    inputs = read(
        NLMConfig(), ALL_ARITIES, [(Relations(("x", "home"), (1, 3), (), frozenset()), frozenset())]
    )
    assert inputs.unary.tolist() == [[0, 0, 1, 0, 0], [0, 0, 0, 0, 1]]


def test_is_registered_with_its_options() -> None:
    assert MODELS.get("nlm") is NLMConfig
    assert NLMConfig() == NLMConfig(features=16, depth=5, breadth=3, exclude_self=False, residual=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": 0}, "features must be a whole number from 1 to 4096, got 0"),
        ({"depth": 2.5}, "depth must be a whole number from 1 to 256, got 2.5"),
        ({"breadth": True}, "breadth must be a whole number from 1 to 3, got True"),
        ({"breadth": 4}, "breadth must be a whole number from 1 to 3, got 4"),
        ({"residual": 1}, "residual must be true or false, got 1"),
        ({"gain": 0}, "gain must be a number above 0, got 0"),
        ({"gain": float("nan")}, "gain must be a number above 0, got nan"),
        ({"gain": "3"}, "gain must be a number above 0, got '3'"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        NLMConfig(**options)
    assert str(caught.value) == message


def test_predicates_that_it_cannot_read() -> None:
    empty = Relations((), (), (), frozenset())
    for options in ({"breadth": 2}, {"depth": 2}):
        with pytest.raises(
            UnsupportedError, match="predicate between of arities has 3 arguments, and nlm needs"
        ):
            NLMConfig(**options).encode(ALL_ARITIES, empty)
        with pytest.raises(UnsupportedError, match="predicate between"):
            NLMConfig(**options).build(ALL_ARITIES, 2)
    wide = Vocabulary("wide", (("huge", 4),), ("object",), ())
    with pytest.raises(
        UnsupportedError, match="predicate huge of wide has 4 arguments, and nlm reads at most 3"
    ):
        NLMConfig().encode(wide, empty)
    with pytest.raises(UnsupportedError, match="has no predicates"):
        NLMConfig().build(Vocabulary("void", (), ("object",), ()), 2)
