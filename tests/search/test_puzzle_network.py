"""Networks of puzzles in the core against plain NumPy; what they see; values along moves; wrong numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hstar.errors import InputError, UnsupportedError
from hstar.search import puzzle_network as features_module
from hstar.search.databases import BLOCKS_15, PANCAKE_24, PUZZLE_15, PUZZLE_24, Patterns
from hstar.search.puzzle_network import PuzzleFeatures, PuzzleNetwork, puzzle_features
from hstar.search.solve import solve
from hstar.spaces.blocks import Blocks
from hstar.spaces.pancake import Pancake
from hstar.spaces.puzzle import Puzzle, State
from hstar.spaces.tiles import Tiles, mirrored
from oracles import puzzle_networks as oracle

# Made when they are needed, and sets of patterns for those that have databases.
PUZZLES: dict[str, Callable[[], Puzzle]] = {
    "tiles-4x4": lambda: Tiles.solved(4, 4).random(1),
    "tiles-2x3": lambda: Tiles.solved(2, 3).random(2),
    "tiles-2x18": lambda: Tiles.solved(2, 18).random(3),
    "pancake-24": lambda: Pancake.solved(24).random(4),
    "pancake-5": lambda: Pancake.solved(5).random(5),
    "pancake-1": lambda: Pancake((0,)),
    "blocks-15": lambda: Blocks.solved(15).random(6),
    "blocks-5-other": lambda: Blocks((2, 0, 0, 3, 4), (0, 0, 1, 2, 3)),
    "tiles-3x3 databases": lambda: Tiles.solved(3, 3).random(7),
    "pancake-7 databases": lambda: Pancake.solved(7).random(8),
    "pancake-6 databases": lambda: Pancake.solved(6).random(9),
    "blocks-6 databases": lambda: Blocks.solved(6).random(10),
}
SETS: dict[str, list[Patterns]] = {
    "tiles-3x3 databases": [[[1, 2, 3], [4, 5, 6], [7, 8]], [[1, 4, 7], [2, 5]]],
    "pancake-7 databases": [[[0, 1, 2], [3, 4, 5, 6]], [[6, 0], [3]]],
    "pancake-6 databases": [[[0, 5], [2, 3]]],
    "blocks-6 databases": [[[1, 2, 3], [4, 5], [6]]],
}
ONE_HOT = [name for name in PUZZLES if name not in SETS]
FLOORS = {"tiles": "manhattan", "pancake": "gap", "blocks": "misplaced"}  # where inputs are one-hot


@cache
def puzzle_of(name: str) -> Puzzle:
    return PUZZLES[name]()


@cache
def features_of(name: str) -> PuzzleFeatures:
    if name in SETS:
        return puzzle_features(puzzle_of(name), "databases", sets=SETS[name], cache=False)
    return puzzle_features(puzzle_of(name), "one-hot")


def network_for(
    features: PuzzleFeatures, width: int, outputs: int, seed: int, **options: Any
) -> PuzzleNetwork:
    mean = 20.0 / options.get("scale", 1.0)
    return PuzzleNetwork(
        features, **oracle.random_network(features.inputs, width, outputs, seed, mean), **options
    )


def walk(puzzle: Puzzle, steps: int, seed: int) -> list[State]:
    """A start, and the states of random moves from there."""
    rng = random.Random(seed)
    states = [tuple(puzzle.core.walk(puzzle.goal, rng.randrange(200), seed))]
    for _ in range(steps):
        actions = puzzle.core.actions(states[-1])
        if actions:
            states.append(tuple(puzzle.core.apply(states[-1], rng.choice(actions))[0]))
    return states


def check(network: PuzzleNetwork, puzzle: Puzzle, states: list[State]) -> None:
    """Values are those of the reference, but for its own rounding, which may tip a half."""
    plain = oracle.unrounded(network, states)
    bounded = network.floor_admissible or network.truncated
    floors = network.features.admissible(states) if bounded else np.zeros(len(states))
    for state, exact, floor, value in zip(states, plain, floors, network.values(states), strict=True):
        if state == puzzle.goal:
            assert value == 0
            continue
        close = 1e-4 + 1e-6 * abs(exact)
        if network.truncated:  # its table is exact to a small part of sigma
            close += 1e-5 * network.scale * max(1.0, network.highest_rho)
        possible = {max(int(floor), round(float(exact) + error)) for error in (-close, 0, close)}
        assert value in possible, (state, exact)


@pytest.mark.parametrize("name", ONE_HOT)
def test_inputs_are_one_hot(name: str) -> None:
    puzzle, features = puzzle_of(name), features_of(name)
    states = [puzzle.start, puzzle.goal, *walk(puzzle, 20, 1)]
    array = features.array(states)
    assert array.dtype == np.float32
    assert array.shape == (len(states), features.inputs)
    assert array.tolist() == [oracle.one_hot(puzzle, state) for state in states]
    plain = FLOORS[puzzle.name]
    assert features.admissible(states).tolist() == [puzzle.core.value(plain, state) for state in states]
    assert len(set(features.names)) == features.inputs


def test_numbers_and_names_of_inputs() -> None:
    assert features_of("tiles-4x4").inputs == 128
    assert features_of("tiles-4x4").names[3:5] == ("blank in column 3", "blank in row 0")
    assert features_of("pancake-24").inputs == 576
    assert features_of("blocks-15").inputs == 240
    assert features_of("blocks-15").names[:2] == ("1 on table", "1 on 1")
    assert features_of("blocks-5-other").array([]).shape == (0, 30)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_values_are_those_of_numpy(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(PUZZLES)), "name")
    width = data.draw(st.sampled_from([1, 8, 9, 20, 24, 25, 128]), "width")
    options = data.draw(
        st.fixed_dictionaries(
            {
                "alpha": st.sampled_from([None, 0.5, 0.95, 0.9, 0.75, 0.25, 0.05, 0.999]),
                "scale": st.sampled_from([1.0, 10.0, 0.37]),
                "shift": st.sampled_from([0.0, 1.25, -2.0]),
                "factor": st.sampled_from([1.0, 0.5, 1.7]),
                "switch": st.sampled_from([None, 20.0, -np.inf, np.inf]),
                "floor_admissible": st.booleans(),
            }
        ),
        "options",
    )
    low = data.draw(st.sampled_from([-5.0, -1.0, 0.25, -30.0]), "lowest_rho")
    options |= {"lowest_rho": low, "highest_rho": low + data.draw(st.sampled_from([0.01, 6.0, 29.0]), "rho")}
    seed = data.draw(st.integers(0, 1000), "seed")
    outputs = data.draw(st.integers(1, 2), "outputs")
    options["truncated"] = outputs == 2 and data.draw(st.booleans(), "truncated")
    network = network_for(features_of(name), width, outputs, seed, **options)
    check(network, puzzle_of(name), [puzzle_of(name).goal, *walk(puzzle_of(name), 60, seed)])


@pytest.mark.parametrize("name", PUZZLES)
@pytest.mark.parametrize("width", [8, 20, 40, 100])
def test_values_along_moves_are_those_from_scratch(name: str, width: int) -> None:
    puzzle = puzzle_of(name)
    floors = {"floor_admissible": width == 20, "truncated": width == 40}
    network = network_for(features_of(name), width, 2, 7, alpha=0.9, scale=10.0, **floors)
    core: Any = puzzle.core
    states = walk(puzzle, 40, 3)
    for state in states:
        for action in core.actions(state):
            after = tuple(core.apply(state, action)[0])
            assert core.child_value(network.core, state, action) == core.value(network.core, after)
    assert network.values(states).tolist() == [core.value(network.core, state) for state in states]


@pytest.mark.parametrize("name", SETS)
def test_inputs_with_databases(name: str) -> None:
    puzzle, features = puzzle_of(name), features_of(name)
    states = [puzzle.goal, puzzle.start, *walk(puzzle, 100, 2)]
    rows = [oracle.with_databases(puzzle, SETS[name], state) for state in states]
    expected = np.array([[value / divisor for value, divisor in row.inputs] for row in rows])
    array = features.array(states)
    assert array.shape == (len(states), features.inputs)
    np.testing.assert_allclose(array, expected, rtol=1e-6)
    assert array.min() >= 0
    assert array.max() <= 1
    assert features.admissible(states).tolist() == [row.admissible for row in rows]
    assert len(set(features.names)) == features.inputs


def test_floors_are_admissible() -> None:
    """A network that says 0 leaves the greatest admissible input, and plans are optimal."""
    for name in (*SETS, "tiles-2x3", "pancake-5", "blocks-5-other"):
        puzzle, features = puzzle_of(name), features_of(name)
        zeros = np.zeros((features.inputs, 4)), np.zeros(4), np.zeros((4, 1)), np.zeros(1)
        network = PuzzleNetwork(features, *zeros, floor_admissible=True)
        states = walk(puzzle, 50, 4)
        assert network.values(states).tolist() == features.admissible(states).tolist()
        found, plain = solve(puzzle, network, "idastar"), solve(puzzle, FLOORS[puzzle.name], "idastar")
        assert found.plan_cost == plain.plan_cost
        if name not in SETS:
            assert found.generated == plain.generated, "it is the same search"


def test_a_floor_is_a_maximum() -> None:
    for name in PUZZLES:
        features, states = features_of(name), walk(puzzle_of(name), 50, 5)
        without, floored = (
            network_for(features, 20, 2, 2, alpha=0.95, floor_admissible=floor).values(states)
            for floor in (False, True)
        )
        assert floored.tolist() == np.maximum(without, features.admissible(states)).tolist()


@pytest.mark.parametrize("alpha", [None, 0.999999, 0.99, 0.9, 0.5, 0.05, 1e-4])
@pytest.mark.parametrize("mean", [-400.0, 0.0, 18.0, 25.0, 60.0])
def test_a_truncated_belief_to_a_thousandth_of_a_move(alpha: float | None, mean: float) -> None:
    """Sigma is between 0.07 and 13 moves; bounds are from far below the mean to far above it."""
    features, puzzle = features_of("tiles-4x4"), puzzle_of("tiles-4x4")
    states = [state for state in walk(puzzle, 300, 6) if state != puzzle.goal]
    weights = oracle.random_network(features.inputs, 20, 2, 3, mean / 10)
    weights["output_weights"][:, 0] *= np.float32(0.3)
    network = PuzzleNetwork(features, **weights, scale=10.0, alpha=alpha, truncated=True, factor=1000.0)
    values, exact = network.values(states) / 1000, oracle.unrounded(network, states) / 1000
    assert np.abs(values - exact).max() < 1e-3
    assert (values >= features.admissible(states)).all()
    uncut = replace(network, truncated=False)
    assert (values >= uncut.values(states) / 1000 - 1e-3).all(), "nothing is below what was cut off"


def test_databases_of_the_mirror_image() -> None:
    name = "tiles-3x3 databases"
    puzzle, plain = puzzle_of(name), features_of(name)
    features = puzzle_features(puzzle, "mirrored-databases", sets=SETS[name], cache=False)
    states = [puzzle.goal, puzzle.start, *walk(puzzle, 100, 2)]
    images = [mirrored(state) for state in states]
    assert features.kind == "mirrored-databases"
    patterns, sums = sum(map(len, SETS[name])), len(SETS[name])
    assert features.inputs == 2 * (patterns + sums) + 3 == len(set(features.names))
    one, two = np.hsplit(features.array(states)[:, : 2 * patterns], 2)
    np.testing.assert_array_equal(one, plain.array(states)[:, :patterns])
    np.testing.assert_array_equal(two, plain.array(images)[:, :patterns])
    both = np.maximum(plain.admissible(states), plain.admissible(images))
    assert features.admissible(states).tolist() == both.tolist() == features.admissible(images).tolist()
    assert (both > plain.admissible(states)).any()
    exact = [solve(replace(puzzle, start=state), "manhattan", "idastar").plan_cost or 0 for state in states]
    assert (both <= exact).all()


def test_sets_that_are_images_of_each_other_are_there_once() -> None:
    sets = [[[1, 2], [5, 8]], [[6, 3], [7, 8]]]
    features = puzzle_features(puzzle_of("tiles-3x3 databases"), "mirrored-databases", sets=sets, cache=False)
    assert [name for name in features.names if name.startswith("sum")] == ["sum 1", "sum 2"]


@pytest.mark.parametrize("puzzle", [Tiles.solved(2, 3).random(0), Pancake.solved(5).random(0)])
def test_what_has_no_mirror_image(puzzle: Puzzle) -> None:
    with pytest.raises(UnsupportedError, match="has no mirror images; only square tiles have"):
        puzzle_features(puzzle, "mirrored-databases", sets=[[[1, 2]]])


def test_puzzles_without_known_patterns() -> None:
    with pytest.raises(UnsupportedError, match="no patterns are known for tiles-3x4; give sets"):
        puzzle_features(Tiles.solved(3, 4).random(0), "databases")
    with pytest.raises(UnsupportedError, match=r"no patterns are known for blocks-5-0\.0\.1\.2\.3"):
        puzzle_features(puzzle_of("blocks-5-other"), "databases")


@pytest.mark.parametrize(
    ("puzzle", "sets"),
    [
        (Tiles.solved(4, 4).random(0), PUZZLE_15),
        (Tiles.solved(5, 5).random(0), PUZZLE_24),
        (Pancake.solved(24).random(0), PANCAKE_24),
    ],
)
def test_known_patterns(puzzle: Puzzle, sets: tuple[Patterns, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """What would be built for a puzzle, instead of building it; all pieces are in each set."""
    asked: list[Any] = []

    def stop(puzzle: Puzzle, sets: Any, **_: Any) -> None:
        asked.append(sets)
        raise InputError("enough")

    monkeypatch.setattr(features_module, "pattern_databases", stop)
    with pytest.raises(InputError, match="enough"):
        puzzle_features(puzzle, "databases")
    assert asked == [sets]
    pieces = set(puzzle.goal) - ({0} if isinstance(puzzle, Tiles) else set())
    assert all({piece for pattern in patterns for piece in pattern} == pieces for patterns in sets)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tiles-4x4", "tiles", "pancake", "blocks"])
def test_features_of_large_puzzles(name: str) -> None:
    """With the smaller ones of the known patterns, which are built in seconds."""
    make: dict[str, Callable[[], Puzzle]] = {
        "tiles-4x4": lambda: Tiles.solved(4, 4).random(0),
        "tiles": lambda: Tiles.solved(5, 5).random(0),
        "pancake": lambda: Pancake.solved(24).random(0),
        "blocks": lambda: Blocks.solved(15).walk(5000, 0),
    }
    patterns = {
        "tiles-4x4": [[PUZZLE_15[0][2]], [PUZZLE_15[1][2]]],
        "tiles": [[PUZZLE_24[0][4]], [PUZZLE_24[1][4]]],
        "pancake": [[PANCAKE_24[0][4]], [PANCAKE_24[1][0]]],
        "blocks": [BLOCKS_15[:1]],
    }[name]
    puzzle = make[name]()
    features = puzzle_features(puzzle, "databases", sets=patterns, cache=False)
    states = [puzzle.start, puzzle.goal, *walk(puzzle, 200, 1)]
    array = features.array(states)
    assert 0 <= array.min() <= array.max() <= 1
    assert features.admissible(states)[0] > 0
    assert features.admissible(states)[1] == 0
    check(network_for(features, 8, 2, 1, alpha=0.9, floor_admissible=True), puzzle, states)


@pytest.mark.parametrize("name", ["tiles-2x3", "pancake-5", "blocks-5-other", *SETS])
def test_a_search_finds_the_goal_whatever_the_network_says_there(name: str) -> None:
    puzzle = puzzle_of(name)
    network = network_for(features_of(name), 8, 2, 3, alpha=0.95)
    assert abs(oracle.unrounded(network, [puzzle.goal])[0]) > 1, "the network would be wrong there"
    assert network.values([puzzle.goal]).tolist() == [0]
    result = solve(puzzle, network, "idastar")
    assert result.solved
    assert result.initial_h == network.values([puzzle.start])[0]
    again = solve(puzzle, network, "idastar")
    assert (again.actions, again.generated) == (result.actions, result.generated)


def test_a_search_with_a_network_counts_like_plain_python() -> None:
    """Iterative deepening over values of the reference generates as many states."""
    puzzle = Tiles.solved(3, 3).walk(14, 5)
    network = network_for(puzzle_features(puzzle, "one-hot"), 20, 2, 1, alpha=0.75, factor=0.3)
    values: dict[State, int] = {}

    def value(state: State) -> int:
        if state not in values:
            values[state] = int(network.values([state])[0])
        return values[state]

    generated = 0
    following: list[int] = []

    def search(state: State, g: int, bound: int, last: State | None) -> int | None:
        nonlocal generated
        if state == puzzle.goal:
            return g
        for action in range(4):
            after = puzzle.successor(state, action)
            if after is None or after == last:
                continue
            generated += 1
            f = g + 1 + value(after)
            if f > bound:
                following.append(f)
            elif (found := search(after, g + 1, bound, state)) is not None:
                return found
        return None

    bound, cost = value(puzzle.start), None
    while (cost := search(puzzle.start, 0, bound, None)) is None:
        bound = min(following)
        following.clear()
    result = solve(puzzle, network, "idastar")
    assert (result.plan_cost, result.generated, result.round_bound) == (cost, generated, bound)


def test_a_network_that_always_says_nothing_is_blind() -> None:
    puzzle = Tiles.solved(2, 3).walk(8, 1)
    features = puzzle_features(puzzle, "one-hot")
    zeros = np.zeros((features.inputs, 4)), np.zeros(4), np.zeros((4, 1)), np.zeros(1)
    network = PuzzleNetwork(features, *zeros)
    result, blind = solve(puzzle, network, "idastar"), solve(puzzle, "blind", "idastar")
    assert (result.plan_cost, result.generated) == (blind.plan_cost, blind.generated)


# --- mistakes -----------------------------------------------------------------------------------


def small() -> PuzzleFeatures:
    return puzzle_features(Tiles.solved(2, 3).random(0), "one-hot")


def test_the_number_of_inputs() -> None:
    assert small().inputs == 30


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_weights": np.zeros((29, 5))}, "needs weights for 30 inputs, got 29"),
        ({"hidden_weights": np.zeros(30)}, r"hidden_weights must have 2 axes, got the shape \(30,\)"),
        ({"hidden_weights": "much"}, "hidden_weights must be an array of numbers"),
        ({"hidden_biases": np.zeros(4)}, "needs a bias for each hidden unit"),
        ({"output_weights": np.zeros((5, 3))}, "has 1 or 2 outputs, not 3"),
        ({"output_weights": np.zeros((0, 2))}, "needs output weights for each hidden unit"),
        (
            {"output_biases": np.zeros(1)},
            "needs output weights for each hidden unit and a bias for each output",
        ),
        ({"hidden_biases": [0, 0, 0, 0, np.nan]}, "has a number in its hidden biases that is not finite"),
        (
            {"output_weights": np.full((5, 2), np.inf)},
            "has a number in its output weights that is not finite",
        ),
        ({"hidden_weights": np.full((30, 5), 1e38)}, "too large"),
        ({"alpha": 0.0}, "needs an alpha between 0 and 1"),
        ({"alpha": 1.0}, "needs an alpha between 0 and 1"),
        ({"alpha": np.nan}, "needs an alpha between 0 and 1"),
        ({"scale": 0.0}, "a scale above 0"),
        ({"scale": np.inf}, "that is not finite"),
        ({"lowest_rho": 1.0}, "lowest_rho < highest_rho"),
        ({"highest_rho": 31.0}, "highest_rho <= 30"),
        ({"switch": np.nan}, "needs a number to switch at"),
        (
            {"output_weights": np.zeros((5, 1)), "output_biases": np.zeros(1), "truncated": True},
            "needs two outputs for a truncated belief",
        ),
    ],
)
def test_wrong_numbers_are_one_line(changes: dict[str, Any], message: str) -> None:
    right = oracle.random_network(30, 5, 2, 0)
    PuzzleNetwork(small(), **right)
    with pytest.raises(InputError, match=message) as caught:
        PuzzleNetwork(small(), **(right | changes))
    assert "\n" not in str(caught.value)


def test_networks_that_are_too_wide() -> None:
    with pytest.raises(InputError, match="at most 128 hidden units, not 129"):
        network_for(small(), 129, 1, 0)


def test_networks_belong_to_a_puzzle_and_a_size() -> None:
    network = network_for(small(), 5, 2, 0)
    for other, name in (
        (Tiles.solved(3, 2).random(0), "tiles-3x2"),
        (Pancake.solved(6).random(0), "pancake-6"),
    ):
        with pytest.raises(InputError, match=f"a network for tiles-2x3 does not fit {name}"):
            solve(other, network, "idastar")
    blocks = network_for(features_of("blocks-5-other"), 5, 2, 0)
    with pytest.raises(InputError, match=r"a network for blocks-5-0\.0\.1\.2\.3 does not fit blocks-5$"):
        solve(Blocks.solved(5).random(1), blocks, "idastar")
    with pytest.raises(InputError, match="expected 5 numbers"):
        network_for(features_of("pancake-5"), 5, 1, 0).values([(0, 1, 2, 3)])


def test_unknown_kinds_name_the_known_ones() -> None:
    with pytest.raises(InputError, match="one-hot"):
        puzzle_features(Pancake.solved(4).random(0), "two-hot")


def test_values_that_no_search_can_have() -> None:
    features = small()
    numbers = oracle.random_network(features.inputs, 3, 1, 0, mean=1e7)
    network = PuzzleNetwork(features, **numbers)
    with pytest.raises(InputError, match="the heuristic gives values of 1000001 moves"):
        solve(Tiles.solved(2, 3).random(0), network, "idastar")


def test_arrays_of_a_network_cannot_change() -> None:
    mine = oracle.random_network(30, 5, 2, 0)
    network = PuzzleNetwork(small(), **mine)
    mine["hidden_weights"][:] = 0
    assert network.hidden_weights.any()
    with pytest.raises(ValueError, match="read-only"):
        network.hidden_weights[0, 0] = 1
