"""The model file: what is saved comes back, and nothing else is taken for a model."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hstar
from hstar import container
from hstar.errors import InputError, ModelError
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.point import Point
from hstar.estimates.rules import Clip
from hstar.estimates.truncated import TruncatedGaussian
from hstar.models.native import NativeNetwork
from hstar.models.task_identity import TaskIdentity
from hstar.models.trained_model import TrainedModel, from_parts, load_model

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


def learned(**change: Any) -> TrainedModel[TaskIdentity]:
    return TrainedModel(
        **{
            "space": TaskIdentity("blocks", "blocks-4", "abc", ("on(a, b)",), ATOMS),
            "tensors": network().tensors(),
            "recipe": "nrsl",
            "recipe_config": {"states": 100000, "share": 0.5},
            "model": "resnet",
            "model_config": {"width": 3, "output_relu": True},
            "estimate": Point(),
            "rule": Clip(),
            "seed": 7,
            "search": {"search": "gbfs"},
            "summary": {"epochs": 3, "best_loss": 0.1},
            "versions": {"hstar": "0.1.0", "torch": "2.13.0"},
            **change,
        }
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.hstar"


def test_save_and_load(path: Path) -> None:
    model = learned(base="ff", lower="lmcut", upper="upper", encoder="atoms", trained_on=("abc",))
    model.save(path)
    again = hstar.load_model(path)
    for name in model.__dataclass_fields__:
        if name != "tensors":
            assert getattr(again, name) == getattr(model, name), name
    assert again.network.output_relu and again.tensors.keys() == model.tensors.keys()
    for name, tensor in model.tensors.items():
        np.testing.assert_array_equal(again.tensors[name], tensor)
    data = path.read_bytes()
    again.save(path)
    assert path.read_bytes() == data
    assert repr(again) == "<TrainedModel nrsl: resnet, point, clip, for blocks-4 of blocks>"


def test_options_of_the_estimate(path: Path) -> None:
    estimate = TruncatedGaussian(sigma=1.5, margin=0.2)
    learned(estimate=estimate).save(path)
    again = load_model(path)
    assert again.estimate == estimate
    data = path.read_bytes()
    again.save(path)
    assert path.read_bytes() == data


def test_parts_that_do_not_fit() -> None:
    for change, message in (
        ({"estimate": Gaussian()}, "the network has 1 outputs, the estimate gaussian needs 2"),
        ({"model": "vin"}, "vin is a model of a map, not of a task"),
        ({"model_config": {"depth": 3}}, "not options of the model 'resnet': depth"),
    ):
        with pytest.raises(ModelError, match=message):
            learned(**change)
    with pytest.raises(InputError, match="unknown model 'resnot'"):
        learned(model="resnot")


def test_a_failed_save_leaves_the_old_file(path: Path) -> None:
    learned().save(path)
    data = path.read_bytes()
    with pytest.raises(TypeError):
        learned(summary={"x": object()}).save(path)
    assert path.read_bytes() == data
    assert list(path.parent.iterdir()) == [path]


def test_loading_imports_no_torch(path: Path) -> None:
    learned().save(path)
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from hstar.models.trained_model import load_model\n"
        f"assert load_model({str(path)!r}).recipe == 'nrsl'\n"
        "from hstar.sampling.dataset import Dataset\n"
        f"assert load_model({str(path)!r}).rule.name == 'clip'\n"
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
    learned().save(path)
    data = path.read_bytes()
    for cut in [*range(0, len(data), 11), len(data) - 1]:
        path.write_bytes(data[:cut])
        refused(path, "damaged")
    path.write_bytes(data + b"x")
    refused(path, "damaged")


def test_flipped_bytes(path: Path) -> None:
    learned().save(path)
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
    container.write(path, "model", 3, {}, {})
    refused(path, "model of format 3, this hstar knows up to 2: use a newer hstar")


@pytest.mark.parametrize(
    ("header", "tensors", "message"),
    [
        ({"seed": None}, {}, r"Expected `int`, got `null` - at `\$.seed`"),
        ({"seed": "7"}, {}, r"Expected `int`, got `str` - at `\$.seed`"),
        ({"space": {"atoms": [1, 2, 3, 4, 5]}}, {}, r"Expected `str`, got `int` - at `\$.atoms\[0\]`"),
        ({"space": {"atoms": list(ATOMS[:4])}}, {}, "the network has 5 inputs, the space 4"),
        ({"space": {"atoms": [*ATOMS[:4], ATOMS[0]]}}, {}, "named twice"),
        ({"space": {"domain": None}}, {}, r"Expected `str`, got `null` - at `\$.domain`"),
        ({"space": {"kind": "tusk"}}, {}, "unknown kind of model 'tusk' .* did you mean 'task'"),
        ({"space": {"kind": None}}, {}, "unknown kind of model 'None'"),
        ({"space": []}, {}, r"Expected `object`, got `array` - at `\$.space`"),
        ({"estimate": {"name": "guess"}}, {}, "unknown estimate 'guess'"),
        ({"rule": {"name": "guess"}}, {}, "unknown rule 'guess'"),
        ({"search": "gbfs"}, {}, r"Expected `object`, got `str` - at `\$.search`"),
        ({"lower": 3}, {}, r"Expected `str \| null`, got `int` - at `\$.lower`"),
        ({"trained_on": [3]}, {}, r"Expected `str`, got `int` - at `\$.trained_on\[0\]`"),
        ({}, {"bias": None}, "bias is None, and its options ask for"),
        ({}, {"bias": np.zeros(4, np.float32)}, r"bias is \(4,\), and its options ask for \(3,\)"),
        ({}, {"head_bias": np.full(1, np.nan, np.float32)}, "head_bias are not all finite"),
        ({}, {"other": np.zeros(4, np.float32)}, "other is"),
    ],
)
def test_wrong_content(path: Path, header: dict[str, Any], tensors: dict[str, Any], message: str) -> None:
    learned().save(path)
    old_header, old_tensors = container.read(path, "model", 2)
    changed = {name: t for name, t in {**old_tensors, **tensors}.items() if t is not None}
    if isinstance(header.get("space"), dict):
        header = {"space": {**old_header["space"], **header["space"]}}
    container.write(path, "model", 2, {**old_header, **header}, changed)
    refused(path, f"damaged model: .*{message}")


def test_a_rule_of_thousands_of_rules_is_damage() -> None:
    header, tensors = learned().to_parts()
    rule: dict[str, Any] = {"name": "mean"}
    for _ in range(5000):
        rule = {"name": "clip", "of": rule}
    with pytest.raises(ModelError, match="damaged model: maximum recursion depth"):
        from_parts({**header, "rule": rule}, tensors)
