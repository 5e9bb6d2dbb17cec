"""The model file: what is saved comes back, and nothing else is taken for a model."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hstar import container
from hstar.errors import ModelError
from hstar.estimates.estimate import from_json as estimate_from_json
from hstar.estimates.truncated import TruncatedGaussian
from hstar.models.file import LearnedModel, TaskIdentity, load_model, save_model
from hstar.models.native import NativeNetwork

ATOMS = tuple(f"on({i}, b)" for i in range(5))


def network(width: int = 3, **change: Any) -> NativeNetwork:
    rng = np.random.default_rng(0)

    def random(*shape: int) -> Any:
        return rng.normal(size=shape).astype(np.float32)

    residual = (random(width, width), random(width), random(width, width), random(width))
    made = NativeNetwork(
        rows=random(len(ATOMS), width),
        bias=random(width),
        blocks=((random(width, width), random(width)), residual),
        head=random(1, width),
        head_bias=random(1),
        output_relu=True,
    )
    return replace(made, **change)


def learned(**change: Any) -> LearnedModel:
    return LearnedModel(
        **{
            "network": network(),
            "atoms": ATOMS,
            "task": TaskIdentity("blocks", "blocks-4", "abc", ("on(a, b)",)),
            "recipe": "nrsl",
            "recipe_config": {"states": 100000, "share": 0.5},
            "model": "resnet",
            "model_config": {"width": 3},
            "estimate": "point",
            "rule": {"name": "clip", "of": {"name": "mean"}, "lower": 0.0, "upper": None},
            "seed": 7,
            "summary": {"epochs": 3, "best_loss": 0.1},
            "versions": {"hstar": "0.1.0", "torch": "2.13.0"},
            **change,
        }
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.hstar"


def test_save_and_load(path: Path) -> None:
    model = learned()
    save_model(path, model)
    again = load_model(path)
    for name in model.__dataclass_fields__:
        if name != "network":
            assert getattr(again, name) == getattr(model, name), name
    assert again.network.output_relu
    assert again.network.tensors().keys() == model.network.tensors().keys()
    for name, tensor in model.network.tensors().items():
        np.testing.assert_array_equal(again.network.tensors()[name], tensor)
    data = path.read_bytes()
    save_model(path, again)
    assert path.read_bytes() == data


def test_options_of_the_estimate(path: Path) -> None:
    config = asdict(TruncatedGaussian(sigma=1.5, margin=0.2))
    save_model(path, learned(estimate="truncated", estimate_config=config))
    again = load_model(path)
    described = {"name": again.estimate, **again.estimate_config}
    assert estimate_from_json(described) == TruncatedGaussian(sigma=1.5, margin=0.2)
    data = path.read_bytes()
    save_model(path, again)
    assert path.read_bytes() == data


def test_a_file_without_options_of_the_estimate(path: Path) -> None:
    """As all files were before estimates had options, and as those of `point` still are."""
    save_model(path, learned())
    header, tensors = container.read(path, "model", 1)
    assert "estimate_config" not in header
    assert load_model(path).estimate_config == {}
    container.write(path, "model", 1, {**header, "estimate_config": [1]}, tensors)
    refused(path, "damaged model: estimate_config is a list")


def test_a_failed_save_leaves_the_old_file(path: Path) -> None:
    save_model(path, learned())
    data = path.read_bytes()
    with pytest.raises(TypeError):
        save_model(path, learned(summary={"x": object()}))
    assert path.read_bytes() == data
    assert list(path.parent.iterdir()) == [path]


def test_loading_imports_no_torch(path: Path) -> None:
    save_model(path, learned())
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from hstar.models.file import load_model, check_task\n"
        f"assert load_model({str(path)!r}).recipe == 'nrsl'\n"
        "from hstar.sampling.dataset import Dataset\n"
        "from hstar.estimates.rules import from_json\n"
        f"assert from_json(load_model({str(path)!r}).rule).name == 'clip'\n"
        "assert sys.modules['torch'] is None and not any(m.startswith('torch.') for m in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def refused(path: Path, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        load_model(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    assert caught.value.exit_code == 33


def test_truncated(path: Path) -> None:
    save_model(path, learned())
    data = path.read_bytes()
    for cut in [*range(0, len(data), 11), len(data) - 1]:
        path.write_bytes(data[:cut])
        refused(path, "damaged")
    path.write_bytes(data + b"x")
    refused(path, "damaged")


def test_flipped_bytes(path: Path) -> None:
    save_model(path, learned())
    data = path.read_bytes()
    for place in range(0, len(data), 7):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 5
        path.write_bytes(changed)
        refused(path, "damaged|format|expected a model")


def test_other_files(path: Path) -> None:
    refused(path, "cannot read: No such file")
    for content in (b"", b"PK\x03\x04 a zip, as torch writes", b"\x80\x02}q\x00.", b"{" * 5000):
        path.write_bytes(content)
        refused(path, "not a model of hstar, or damaged")
    container.write(path, "dataset", 1, {}, {})
    refused(path, "a dataset of hstar, expected a model")
    container.write(path, "model", 2, {}, {})
    refused(path, "model of format 2, this hstar knows up to 1: use a newer hstar")


@pytest.mark.parametrize(
    ("header", "tensors", "message"),
    [
        ({"seed": None}, {}, "no seed"),
        ({"seed": "7"}, {}, "seed is a str"),
        ({"atoms": [1, 2, 3, 4, 5]}, {}, "atoms are not names"),
        ({"atoms": list(ATOMS[:4])}, {}, "encoder has 4 atoms, the network 5 inputs"),
        ({"atoms": [*ATOMS[:4], ATOMS[0]]}, {}, "named twice"),
        ({"task": {}}, {}, "no domain"),
        ({"task": []}, {}, "task is a list"),
        ({}, {"bias": None}, "weights bias are missing"),
        ({}, {"bias": np.zeros(4, np.float32)}, r"bias have shape \(4,\), expected \(3,\)"),
        ({}, {"head_bias": np.full(1, np.nan, np.float32)}, "head_bias are not all finite"),
        ({}, {"other": np.zeros(4, np.float32)}, "foreign"),
    ],
)
def test_wrong_content(path: Path, header: dict[str, Any], tensors: dict[str, Any], message: str) -> None:
    save_model(path, learned())
    old_header, old_tensors = container.read(path, "model", 1)
    changed = {name: t for name, t in {**old_tensors, **tensors}.items() if t is not None}
    container.write(path, "model", 1, {**old_header, **header}, changed)
    refused(path, f"damaged model: .*{message}")
