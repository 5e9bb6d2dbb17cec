"""`wl` for estimates: where its weights start, the same outputs everywhere, and domains of all kinds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

import hstar
from hstar.errors import InputError, ModelError
from hstar.estimates.gaussian import Gaussian
from hstar.models import MODELS
from hstar.models.ridge import RIDGES, ridge_regression
from hstar.models.wl import WLModel, spread_output
from hstar.sampling.relational import RelationalData
from hstar.spaces.relations import Vocabulary
from hstar.training.examples import KnownColumns, RelationalExamples
from labelled import described, dinner, generated, labelled, reachable

Numbers = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[hstar.Task]:
    folder = tmp_path_factory.mktemp("blocks")
    return [generated(folder, "blocksworld", blocks=4, seed=seed) for seed in range(4)]


@pytest.fixture(scope="module")
def data(tasks: list[hstar.Task]) -> RelationalData:
    return labelled(tasks)


def target(data: RelationalData) -> Numbers:
    return data.column("label").astype(np.float64)


def inputs(model: Any, data: RelationalData) -> torch.Tensor:
    found: torch.Tensor = model.inputs(data.words, all_states(model, data))
    return found


def all_states(model: Any, data: RelationalData) -> Any:
    examples = RelationalExamples(data, model, KnownColumns(), inputs=False)
    return examples.table.states(np.arange(len(examples.table.label)))


# --- where it starts --------------------------------------------------------------------------------


def test_counts_are_less_their_means(data: RelationalData) -> None:
    x = inputs(WLModel(iterations=2).fitted(data, target(data)), data)
    assert x.dtype == torch.float32 and len(x) == len(data.column("label"))
    np.testing.assert_allclose(x.mean(dim=0).numpy(), 0, atol=1e-5)
    counts = (x - x.min(dim=0).values).numpy()
    np.testing.assert_allclose(counts, counts.round(), atol=1e-5)
    assert not counts[:, 0].any() and counts.max() > 1, "some colours all states have, some only a few"


def test_a_linear_function_starts_as_the_regression(data: RelationalData) -> None:
    model = WLModel(iterations=2).fitted(data, target(data))
    x = inputs(model, data)
    with torch.no_grad():
        raw = model.build(data.words, 2)(x).double().numpy()
    solutions = [ridge_regression(x.double().numpy(), target(data), ridge) for ridge in RIDGES]
    distances = [np.abs(x.double().numpy() @ weights + bias - raw[:, 0]).max() for weights, bias in solutions]
    assert min(distances) < 1e-4 < sorted(distances)[1]
    # The spread is that of the errors, the same for all states.
    error = np.sqrt(np.mean((raw[:, 0] - target(data)) ** 2))
    sigma = Gaussian().spread(torch.from_numpy(raw))
    np.testing.assert_allclose(sigma.numpy(), max(error, Gaussian.floor + Gaussian.range * 1e-3), rtol=1e-4)


@pytest.mark.parametrize(
    ("deviation", "sigma"), [(0.0, 0.11), (0.5, 0.5), (5.1, 5.1), (10.0, 10.0), (1e6, 10.09)]
)
def test_the_output_that_means_a_spread(deviation: float, sigma: float) -> None:
    raw = torch.tensor([[0.0, spread_output(deviation)]], dtype=torch.float64)
    assert float(Gaussian().spread(raw)) == pytest.approx(sigma)


def test_states_without_a_target_do_not_pull(tasks: list[hstar.Task], data: RelationalData) -> None:
    """Siblings have features, but no label: the regression is that of the others."""
    both = labelled(tasks, siblings=True)
    model = WLModel(iterations=1).fitted(both, target(both))
    known = both.labelled
    x = inputs(model, both)
    with torch.no_grad():
        raw = model.build(both.words, 1)(x).double().numpy()[known, 0]
    matrix = x.double().numpy()[known]
    solutions = [ridge_regression(matrix, target(both)[known], ridge) for ridge in RIDGES]
    assert min(np.abs(matrix @ weights + bias - raw).max() for weights, bias in solutions) < 1e-4


def test_a_hidden_layer_starts_by_chance(data: RelationalData) -> None:
    model = WLModel(hidden=6).fitted(data, target(data))
    weights = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        weights.append(model.export(model.build(data.words, 2)))
    assert all((weights[0][name] == weights[1][name]).all() for name in weights[0])
    assert (weights[0]["weights.0"] != weights[2]["weights.0"]).any()
    assert not weights[0]["weights.1"][1].any(), "the spread is the same for all states at first"


# --- the same everywhere ----------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [0, 7])
@pytest.mark.parametrize("outputs", [1, 2])
def test_torch_numpy_and_core_agree(
    tasks: list[hstar.Task], data: RelationalData, hidden: int, outputs: int
) -> None:
    model = WLModel(iterations=2, hidden=hidden).fitted(data, target(data))
    torch.manual_seed(0)
    module = model.build(data.words, outputs)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.3)
    tensors, plain = model.export(module), WLModel(iterations=2, hidden=hidden)
    for task in tasks[:2]:
        states = reachable(task, 40)
        here = described(task, data.words, states)
        with torch.no_grad():
            expected = module(inputs(model, here)).double().numpy()
        assert expected.shape == (40, outputs) and np.ptp(expected[:, 0]) > 0.1
        found = plain.raw(data.words, all_states(plain, here), tensors, outputs)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
        native = plain.native(task, data.words, tensors, outputs).raw(task.core, states)
        np.testing.assert_allclose(native, expected, rtol=1e-4, atol=1e-4)


def test_colours_that_training_has_not_seen_count_nothing(tmp_path: Path, data: RelationalData) -> None:
    model = WLModel(iterations=3).fitted(data, target(data))
    tensors = model.export(model.build(data.words, 1))
    larger = generated(tmp_path, "blocksworld", blocks=9, seed=5)
    states = reachable(larger, 20)
    here = described(larger, data.words, states)
    found = model.raw(data.words, all_states(model, here), tensors, 1)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(
        model.native(larger, data.words, tensors, 1).raw(larger.core, states), found, rtol=1e-6
    )


def test_constants_types_four_arguments_and_goals_without(tmp_path: Path) -> None:
    task = dinner(tmp_path / "small", "fig", "kiwi")
    data = labelled([task])
    assert data.words.constants == ("stove",) and dict(data.words.predicates)["mixed"] == 4
    model = WLModel(iterations=1).fitted(data, target(data))
    tensors = model.export(model.build(data.words, 1))
    larger = dinner(tmp_path / "larger", "fig", "kiwi", "lemon")
    states = reachable(larger, 25)
    here = described(larger, data.words, states)
    found = model.raw(data.words, all_states(model, here), tensors, 1)
    native = model.native(larger, data.words, tensors, 1).raw(larger.core, states)
    np.testing.assert_allclose(native, found, rtol=1e-6, atol=1e-9)
    # The stove is another tool than the bowl, and objects of different types differ from the start.
    untyped = WLModel(iterations=1, types=False).fitted(data, target(data))
    assert untyped.fit is not None and model.fit is not None
    assert len(untyped.fit.features) < len(model.fit.features)


# --- options and mistakes ---------------------------------------------------------------------------


def test_it_is_registered_and_needs_no_torch() -> None:
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from hstar.models import MODELS\n"
        "one = MODELS.get('wl')(hidden=3)\n"
        "assert one == MODELS.get('wl')(hidden=3) and one.tabular and not one.columns\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert MODELS.get("wl") is WLModel


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden": -1}, r"hidden must be a whole number from 0 to 10000, got -1"),
        ({"iterations": 21}, r"iterations must be a whole number from 0 to 20, got 21"),
        ({"least_states": 0}, "least_states must be a whole number from 1 on, got 0"),
    ],
)
def test_wrong_options(options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        WLModel(**options)


def test_no_features(data: RelationalData) -> None:
    with pytest.raises(InputError, match="no feature is in 10000 states; lower least_states"):
        WLModel(least_states=10_000).fitted(data, target(data))


def test_weights_that_are_not_of_this_model(tasks: list[hstar.Task], data: RelationalData) -> None:
    model = WLModel().fitted(data, target(data))
    tensors = dict(model.export(model.build(data.words, 1)))
    for change, message in (
        ({"further": np.zeros(1)}, r"weights of wl: further is \(1,\), and its options ask for None"),
        ({"weights.0": tensors["weights.0"][:, 1:]}, r"weights\.0 is \(1, \d+\), and its options ask for"),
        ({"weights.0": tensors["weights.0"][0]}, r"weights\.0 is \(\d+,\), and its options ask for"),
        ({"bias.0": tensors["bias.0"][None]}, r"bias\.0 is \(1, 1\), and its options ask for \(1,\)"),
        ({"colours": tensors["colours"][None]}, r"colours is \(1, \d+\), and its options ask for"),
        ({"colours": tensors["colours"].astype(float)}, "colours are whole numbers from 0, got float64"),
    ):
        with pytest.raises(ModelError, match=message):
            model.native(tasks[0], data.words, {**tensors, **change}, 1)
        with pytest.raises(ModelError, match=message):
            model.raw(data.words, all_states(model, data), {**tensors, **change}, 1)
    with pytest.raises(ModelError, match=r"weights of wl: bias\.0 is \(1,\), and its options ask for \(4,\)"):
        replace(model, hidden=4).native(tasks[0], data.words, tensors, 1)
    other = Vocabulary("other", (("p", 1),), ("object",), ())
    with pytest.raises(InputError, match="is of another domain than other: it has the predicate"):
        model.native(tasks[0], other, tensors, 1)
