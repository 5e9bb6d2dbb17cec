"""The residual network: torch, NumPy and the core compute the same function."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

from hstar import _core
from hstar.errors import InputError, ModelError
from hstar.models import MODELS
from hstar.models.native import NativeNetwork
from hstar.models.resnet import SPARSE_ATOMS, ResNet, ResNetConfig, dead, export


def build(seed: int = 0, atoms: int = 30, outputs: int = 1, **options: Any) -> ResNet:
    torch.manual_seed(seed)
    return ResNetConfig(**{"width": 16, **options}).build(atoms, outputs)


def inputs(n: int, atoms: int, share: float = 0.3) -> Any:
    return (np.random.default_rng(1).random((n, atoms)) < share).astype(np.uint8)


def run(model: ResNet, x: Any) -> Any:
    with torch.no_grad():
        return model(torch.from_numpy(x)).numpy()


def test_it_is_registered() -> None:
    assert MODELS.get("resnet") is ResNetConfig
    assert ResNetConfig() == ResNetConfig(width=250, blocks=1, output_relu=False, init="default")


def test_options_need_no_torch() -> None:
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from hstar.models import MODELS\n"
        "assert MODELS.get('resnet')(width=3).width == 3\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_size_of_the_paper() -> None:
    model = ResNetConfig(output_relu=True).build(300, 1)
    layers = (300 + 1) * 250 + 3 * 251 * 250 + 251
    assert sum(p.numel() for p in model.parameters()) == layers


@pytest.mark.parametrize("blocks", [0, 1, 3])
@pytest.mark.parametrize("output_relu", [False, True])
def test_torch_numpy_and_the_core_agree(blocks: int, output_relu: bool) -> None:
    model = build(blocks=blocks, output_relu=output_relu, outputs=2)
    x = inputs(50, 30)
    network = export(model)
    expected = run(model, x)
    assert not output_relu or expected.min() >= 0
    np.testing.assert_allclose(network.reference(x), expected, rtol=1e-4, atol=1e-5)
    core = _core.Network.make(
        network.rows, network.bias, network.blocks, network.head, network.head_bias, network.output_relu
    )
    np.testing.assert_allclose(core.run(x), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5])
def test_sparse_and_dense_batches_agree(share: float) -> None:
    atoms = SPARSE_ATOMS + 100
    model, x = build(atoms=atoms), inputs(20, atoms, share)
    results = []
    for batch in (torch.from_numpy(x), torch.from_numpy(x).float()):
        model.zero_grad()
        out = model(batch)
        out.square().sum().backward()
        assert model.input.rows.grad is not None
        results.append((out.detach().numpy(), model.input.rows.grad.numpy().copy()))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-4, atol=1e-5)


def test_default_initialisation_is_that_of_a_linear_layer() -> None:
    model = build(atoms=400, width=200)
    assert float(model.input.rows.detach().abs().max()) == pytest.approx(1 / 20, rel=0.01)
    assert float(model.input.rows.detach().std()) == pytest.approx(1 / 20 / 3**0.5, rel=0.05)


def test_he_initialisation() -> None:
    model = build(atoms=400, width=200, init="he")
    assert float(model.input.rows.detach().abs().max()) == pytest.approx((6 / 400) ** 0.5, rel=0.01)
    assert float(model.second.weight.detach().abs().max()) == pytest.approx((6 / 200) ** 0.5, rel=0.01)
    assert all(not p.any() for name, p in model.named_parameters() if name.endswith("bias"))


def test_dead_outputs_are_seen() -> None:
    sample = torch.from_numpy(inputs(64, 30))
    model = build(output_relu=True)
    with torch.no_grad():
        model.head.bias.fill_(-100)
    assert dead(model, sample)
    with torch.no_grad():
        model.head.bias.fill_(100)
    assert not dead(model, sample)


def test_inputs_that_always_hold() -> None:
    network = export(build())
    x = inputs(10, 30)
    x[:, [3, 7]] = 1
    without = x.copy()
    without[:, [3, 7]] = 0
    np.testing.assert_allclose(network.holding((3, 7)).reference(without), network.reference(x), atol=1e-5)
    np.testing.assert_array_equal(network.holding(()).reference(x), network.reference(x))


def test_wrong_options() -> None:
    for options in ({"width": 0}, {"blocks": -1}, {"init": "zeros"}):
        with pytest.raises(InputError, match=next(iter(options))):
            ResNetConfig(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("rows", lambda t: t[:, :-1].copy(), r"rows is \(30, 15\), and its options ask for \(30, 16\)"),
        ("rows", lambda t: t[0], r"rows is \(16,\), and its options"),
        ("bias", lambda t: t[:-1], r"bias is \(15,\)"),
        ("blocks.1.2", lambda t: t[:-1], r"blocks\.1\.2 is \(15, 16\), and its options ask for \(16, 16\)"),
        ("blocks.1.3", lambda t: None, r"blocks\.1\.3 is None, and its options ask for \(16,\)"),
        ("blocks.0.0", lambda t: t[0], r"blocks\.0\.0 is \(16,\)"),
        ("head", lambda t: None, "head is None"),
        ("head", lambda t: t * np.nan, "head are not all finite"),
        ("head", lambda t: t.astype(np.float64), "contiguous float32, got float64"),
        ("extra", lambda t: np.zeros(1, np.float32), r"extra is \(1,\), and its options ask for None"),
    ],
)
def test_wrong_weights(name: str, change: Any, message: str) -> None:
    tensors: dict[str, Any] = export(build()).tensors()
    config = ResNetConfig(width=16)
    assert isinstance(config.network(tensors), NativeNetwork)
    changed = change(tensors.get(name))
    tensors = {key: value for key, value in tensors.items() if key != name}
    if changed is not None:
        tensors[name] = changed
    with pytest.raises(ModelError, match=message):
        config.network(tensors)
