"""Networks in the core: kernels against their scalar specification, int16 against its formula in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import hstar
from hstar import _core
from hstar.errors import InputError
from hstar.models.native import NativeNetwork

Array: TypeAlias = npt.NDArray[Any]

ATOMS = 40
PRECISIONS = _core.precisions()
WIDTHS = [1, 2, 7, 15, 16, 17, 33, 100, 250]
BATCHES = [*range(1, 14), 300]


def float32(values: Any) -> Array:
    return np.ascontiguousarray(values, dtype=np.float32)


def random_network(widths: Sequence[int], seed: int = 0, *, bias: float = 0.1) -> NativeNetwork:
    """A plain block to each width but the first, and a residual one after it, narrower or wider inside."""
    rng = np.random.default_rng(seed)

    def layer(outputs: int, inputs: int) -> tuple[Array, Array]:
        weights = rng.uniform(-1, 1, (outputs, inputs)) / np.sqrt(inputs)
        return float32(weights), float32(rng.normal(0, bias, outputs))

    blocks = []
    for inputs, width in pairwise(widths):
        inner = width // 2 + 3
        blocks += [layer(width, inputs), (*layer(inner, width), *layer(width, inner))]
    head, head_bias = layer(3, widths[-1])
    rows = float32(rng.normal(size=(ATOMS, widths[0])))
    return NativeNetwork(rows, float32(rng.normal(size=widths[0])), tuple(blocks), head, head_bias)


def last_layer(network: NativeNetwork) -> NativeNetwork:
    """The same with the outputs of the last block laid open: a product with ones and zeros is exact."""
    width = network.head.shape[1]
    return replace(network, head=float32(np.eye(width)), head_bias=float32(np.zeros(width)))


def native(network: NativeNetwork, precision: str = "int16") -> _core.Network:
    blocks = network.blocks
    return _core.Network.make(
        network.rows, network.bias, blocks, network.head, network.head_bias, network.output_relu, precision
    )


def inputs(n: int, seed: int = 1) -> npt.NDArray[np.uint8]:
    return (np.random.default_rng(seed).random((n, ATOMS)) < 0.3).astype(np.uint8)


def integer_layer(x: Array, weights: Array) -> Array:
    """W x by the formula in dense_int16.h, with integers of 64 bits."""
    top = np.maximum(x.max(axis=1, keepdims=True), np.float32(1e-30))
    scale = top / np.float32(8191)
    rows = np.minimum((x + scale / 2) * (np.float32(8191) / top), np.float32(8191)).astype(np.int64)
    exact = np.abs(weights.astype(np.float64))
    room = 2**31 / 8191 - weights.shape[1]
    total = np.cumsum(exact, axis=1)[:, -1]  # one after the other, as the core adds
    steps = float32(np.maximum(exact.max(axis=1) / 32767, total / room))
    quantised = np.rint(weights / steps.astype(np.float64)[:, None]).astype(np.int64)
    assert np.abs(quantised).max() <= 32767
    assert np.abs(quantised).sum(axis=1).max() * 8191 < 2**31
    return float32(rows @ quantised.T) * (scale * steps)


def integer_blocks(network: NativeNetwork, x: Array) -> Array:
    """The outputs of the last block for the outputs of the first layer; biases are zero."""
    for block in network.blocks:
        inner = np.maximum(integer_layer(x, block[0]), 0)
        x = inner if len(block) == 2 else np.maximum(integer_layer(inner, block[2]) + x, 0)
    return x


# --- kernels ------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("width", WIDTHS)
def test_kernels_are_their_specification(precision: str, width: int) -> None:
    network = native(random_network([width, width + 5]), precision)
    for n in BATCHES:
        x = inputs(n)
        np.testing.assert_allclose(network.run(x), network.run(x, reference=True), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("width", WIDTHS)
def test_integers_are_those_of_the_formula(width: int) -> None:
    """With biases of zero the floats show the integers to the bit, however a compiler fuses operations."""
    network = last_layer(random_network([width, width + 1, 20], bias=0))
    x = inputs(50)
    # The core adds row by row; NumPy's product may add in another order.
    first = network.bias + np.zeros((len(x), 1), dtype=np.float32)
    for atom in range(ATOMS):
        first[x[:, atom] == 1] += network.rows[atom]
    expected = integer_blocks(network, np.maximum(first, 0))
    assert width == 1 or expected.any()
    np.testing.assert_array_equal(native(network).run(x), expected)
    np.testing.assert_array_equal(native(network).run(x, reference=True), expected)


@pytest.mark.parametrize("width", [1, 2, 8, 9, 64, 250, 1000])
@pytest.mark.parametrize("shape", ["equal", "one large", "alternating", "huge"])
def test_sums_do_not_overflow(width: int, shape: str) -> None:
    """All inputs at their greatest, against weights that give the greatest sums."""
    weights = {
        "equal": np.ones(width),
        "one large": np.where(np.arange(width) == 0, 1, 1e-3),
        "alternating": np.where(np.arange(width) % 2 == 0, 1, -0.5),
        "huge": np.full(width, 1e30),
    }[shape]
    blocks = ((float32([weights, -weights]), float32([0, 0])),)
    network = NativeNetwork(
        float32(np.zeros((1, width))), float32(np.ones(width)), blocks, float32(np.eye(2)), float32([0, 0])
    )
    found = native(network).run(np.zeros((1, 1), np.uint8))
    np.testing.assert_array_equal(found, integer_blocks(network, float32(np.ones((1, width)))))
    np.testing.assert_allclose(found, network.reference([[0]]), rtol=1e-2)  # rounded all alike


@pytest.mark.parametrize(
    ("widths", "most"),
    [([16], 0), ([16, 16], 5e-4), ([250, 250], 5e-4), ([250, 250, 250], 5e-4), ([64, 1000, 10], 2e-3)],
)
def test_int16_is_near_float32(widths: list[int], most: float) -> None:
    """As a share of the outputs' range; wide layers have coarser weights, for their sums must fit as well."""
    for seed in range(3):
        network = random_network(widths, seed)
        expected = native(network, "float32").run(inputs(200))
        error = np.abs(native(network).run(inputs(200)) - expected).max()
        assert error <= most * np.ptp(expected)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_batch_does_not_matter(precision: str) -> None:
    network = native(random_network([100, 130]), precision)
    x = inputs(300)
    expected = network.run(x)
    for size in (1, 2, 3, 4, 5, 7, 64):
        parts = [network.run(x[begin : begin + size]) for begin in range(0, len(x), size)]
        np.testing.assert_array_equal(np.concatenate(parts), expected)


def test_rows_of_zeros_and_weights_of_zero() -> None:
    network = last_layer(random_network([30, 30]))
    silent = replace(network, bias=float32(np.full(30, -100)))
    x = inputs(5)
    np.testing.assert_allclose(native(silent).run(x), silent.reference(x), rtol=1e-3, atol=1e-5)
    tiny = np.float32(1e-45)
    empty = tuple(tuple(float32(w * tiny if w.ndim == 2 else w) for w in block) for block in network.blocks)
    nothing = replace(network, blocks=empty)
    np.testing.assert_array_equal(native(nothing).run(x), nothing.reference(x))


def test_infinities_stay_in_their_row() -> None:
    network = random_network([20, 20])
    rows = network.rows.copy()
    rows[0] = np.finfo(np.float32).max
    network = replace(network, rows=rows, bias=float32(np.full(20, np.finfo(np.float32).max)))
    x = inputs(10)
    x[:5, 0], x[5:, 0] = 1, 0
    np.testing.assert_array_equal(native(network).run(x)[5:], native(network).run(x[5:]))


def test_what_cannot_be_made() -> None:
    with pytest.raises(InputError, match="float32 or int16, not in 'int8'"):
        native(random_network([4]), "int8")
    width = 2**14 + 1
    wide = NativeNetwork(
        float32(np.zeros((1, width))),
        float32(np.zeros(width)),
        ((float32(np.zeros((1, width))), float32([0])),),
        float32([[1]]),
        float32([0]),
    )
    with pytest.raises(InputError, match="16385 inputs is too wide for int16, use float32"):
        native(wide)


# --- inside a search ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Learned:
    """A random network as `solve` takes it."""

    precision: str
    incremental: bool

    def build(self, task: hstar.Task) -> _core.Heuristic:
        facts = [atom is not None for atoms in task.atoms for atom in atoms]
        rows = [sum(facts[:i]) if fact else -1 for i, fact in enumerate(facts)]
        network = random_network([60, 60], seed=3)
        rng = np.random.default_rng(4)
        # Multiples of 1/64: sums of the first layer are exact, in any order.
        first = float32(rng.integers(-64, 65, (sum(facts), 60)) / 64)
        head = {"head": network.head[:1], "head_bias": network.head_bias[:1]}
        network = replace(network, rows=first, bias=float32(np.ones(60)), **head)
        core = native(network, self.precision)
        model = _core.atom_model(task.core, core, rows, self.incremental)
        return _core.believed_heuristic(task.core, model, name="random", scale=1024)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_incremental_equals_refresh(precision: str, small_blocks: hstar.Task) -> None:
    results = [hstar.solve(small_blocks, Learned(precision, incremental)) for incremental in (False, True)]
    assert results[0].evaluated > 50
    for name in ("expanded", "evaluated", "plan", "initial_h"):
        assert getattr(results[0], name) == getattr(results[1], name)
