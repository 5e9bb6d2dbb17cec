"""Accuracy: errors against values by hand, batches as published, calibration of a belief that is right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from hstar.errors import InputError, ModelError, UnsupportedError
from hstar.estimates import Clip, Estimate, Mean, Quantile, Rule
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.point import Point
from hstar.estimates.truncated import TruncatedGaussian
from hstar.models.domain_identity import DomainIdentity
from hstar.models.trained_model import TrainedModel
from hstar.recipes import accuracy as module
from hstar.recipes import train
from hstar.recipes.accuracy import accuracy
from hstar.sampling import relational
from hstar.sampling.optimal import COLUMNS
from hstar.sampling.relational import RelationalData, RelationalInstance
from hstar.spaces.relations import Relations, Vocabulary
from labelled import generated, labelled

WORDS = Vocabulary("numbers", (("p", 1),), ("object",), ())
EMPTY = Relations(("a",), (0,), (("p", "a"),), frozenset([("p", "a")]))


def numbers(**columns: npt.ArrayLike) -> RelationalData:
    """States of which nothing is known but these columns; all others are 0."""
    given = {name: np.array(column, dtype=np.float32) for name, column in columns.items()}
    n = len(given["label"])
    found = {name: np.zeros(n, dtype=np.float32) for name in COLUMNS} | given
    ends, atoms = np.zeros(n, dtype=np.int64), np.zeros(0, dtype=np.int32)
    return RelationalData(WORDS, (RelationalInstance("all", EMPTY, ends, atoms, found),))


def linear(
    weights: list[list[float]],
    bias: list[float],
    estimate: Estimate | None = None,
    rule: Rule | None = None,
    base: str | None = None,
    lower: str | None = None,
    upper: str | None = None,
) -> TrainedModel[Any]:
    """A linear model of the four numbers, whose weights are known."""
    return TrainedModel(
        space=DomainIdentity(WORDS),
        model="linear",
        model_config={},
        tensors={"weight": np.array(weights, dtype=np.float32), "bias": np.array(bias, dtype=np.float32)},
        estimate=Point() if estimate is None else estimate,
        rule=Mean() if rule is None else rule,
        recipe="truncated",
        recipe_config={},
        seed=0,
        base=base,
        lower=lower,
        upper=upper,
    )


HAND = numbers(label=[4, 2, 0], ff=[3, 3, 0], lmcut=[2, 1, 0], goalcount=[2, 1, 0], operators=[3, 4, 0])


def test_values_by_hand() -> None:
    """The model says ff + goals / 2 - 1: 3, 2.5, -1."""
    found = accuracy(linear([[0.5, 0, 0, 0]], [-1], base="ff", lower="lmcut"), HAND)
    assert found == {
        "instances": 1,
        "states": 3,
        "mse": pytest.approx((1 + 0.25 + 1) / 3),
        "mse_of_batches": pytest.approx((1 + 0.25 + 1) / 3),
        "mean_error": pytest.approx((-1 + 0.5 - 1) / 3),
        "mean_label": 2,
        "mse_ff": pytest.approx((1 + 1 + 0) / 3),
        "mse_lmcut": pytest.approx((4 + 1 + 0) / 3),
        "mse_goalcount": pytest.approx((4 + 1 + 0) / 3),
        "by_size": found["by_size"],
    }
    (size,) = found["by_size"]
    assert size["states"] == 3 and {name: size[name] for name in size if name.startswith("mse")} == {
        name: found[name] for name in ("mse", "mse_ff", "mse_lmcut", "mse_goalcount")
    }
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("model", "rule", "values"),
    [
        (linear([[0, 0, 0, 0]], [0], base="ff"), None, [3, 3, 0]),
        (linear([[0, 1, 0, 0]], [-9], lower="lmcut"), Clip(), [2, 1, 0]),
        (linear([[0, 1, 0, 0]], [-9]), Clip(), [0, 0, 0]),
        (linear([[0, 1, 0, 0]], [-9]), None, [-6, -5, -9]),
        (linear([[0, 1, 0, 0]], [1], Gaussian(2.0)), Quantile(0.5), [4, 5, 1]),
        (linear([[0, 1, 0, 0]], [1], Gaussian(2.0), Clip()), None, [4, 5, 1]),
        # One standard deviation below.
        (linear([[0, 1, 0, 0]], [1], Gaussian(2.0)), Quantile(0.15865525393145707), [2, 3, -1]),
        # Far below the bound all that is left is the bound, up to a tenth.
        (linear([[0, 0, 0, 0]], [-1e6], TruncatedGaussian(1.0), lower="lmcut"), None, [2, 1, 0]),
    ],
)
def test_what_the_rule_says_is_judged(
    model: TrainedModel[Any], rule: Rule | None, values: list[float]
) -> None:
    error = np.array(values) - [4, 2, 0]
    found = accuracy(model, HAND, rule)
    assert found["mse"] == pytest.approx(np.mean(error**2), rel=1e-5)
    assert found["mean_error"] == pytest.approx(error.mean(), rel=1e-5)


def test_upper_bounds_of_the_data() -> None:
    """Far above all bounds what is left is the bound, where there is one."""
    data = numbers(label=[4, 2, 0], lmcut=[2, 1, 0], upper=[5, np.nan, 0])
    model = linear([[0, 0, 0, 0]], [1e3], TruncatedGaussian(1.0), lower="lmcut", upper="upper")
    assert accuracy(model, data)["mean_error"] == pytest.approx((1 + 998 + 0) / 3)
    assert accuracy(replace(model, upper=None), data)["mean_error"] == pytest.approx(998)
    with pytest.raises(InputError, match="the data have no column upper; label the problems anew with --upp"):
        accuracy(model, HAND)


def test_a_mean_of_means_of_batches() -> None:
    n = module.PUBLISHED_BATCH
    error = np.r_[np.full(n, 2.0), np.full(n, 1.0), np.full(4, 10.0)]
    found = accuracy(linear([[0, 0, 0, 0]], [0]), numbers(label=error))
    assert found["mse_of_batches"] == pytest.approx((4 + 1 + 100) / 3)
    assert found["mse"] == pytest.approx((4 * n + n + 400) / (2 * n + 4))


def test_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    data = numbers(label=rng.integers(0, 9, 50), goalcount=rng.integers(0, 9, 50), ff=rng.integers(0, 9, 50))
    model = linear([[1, 0, 0, 0], [0.1, 0, 0, 0]], [0, 0], Gaussian(), base="ff")
    whole = accuracy(model, data)
    monkeypatch.setattr(module, "CHUNK", 7)
    parts = accuracy(model, data)
    assert parts.pop("calibration") == whole.pop("calibration")
    (some,), (all_at_once,) = parts.pop("by_size"), whole.pop("by_size")
    assert some == pytest.approx(all_at_once, rel=1e-6) and parts == pytest.approx(whole, rel=1e-6)


def test_errors_by_size() -> None:
    """The mean over all states is that of the sizes, by their states."""
    data = relational.load("blocksworld")
    model = replace(linear([[0, 0, 0, 0]], [0], base="ff"), space=DomainIdentity(data.words))
    found = accuracy(model, data)
    sizes = found["by_size"]
    assert [one["objects"] for one in sizes] == sorted({len(one.relations.objects) for one in data.instances})
    assert len(sizes) > 3 and sum(one["instances"] for one in sizes) == len(data.instances)
    whole = sum(one["states"] * one["mse"] for one in sizes) / found["states"]
    assert whole == pytest.approx(found["mse"])
    assert len({one["mse"] for one in sizes}) > 3


# --- beliefs ----------------------------------------------------------------------------------------

MANY = 4000


@pytest.mark.parametrize(
    ("estimate", "calibrated"),
    [
        (Gaussian(2.0), True),
        (Gaussian(1.0), False),
        (TruncatedGaussian(2.0), False),  # nothing is cut off, but the belief thinks so
    ],
)
def test_a_right_belief_is_calibrated(estimate: Estimate, calibrated: bool) -> None:
    rng = np.random.default_rng(1)
    ff = rng.integers(5, 30, MANY)
    label = ff + 1.5 + 2.0 * rng.standard_normal(MANY)
    # The bound is below all labels, but for one half of them not far.
    lower = np.floor(np.minimum(label, ff + 1.5))
    model = linear([[0, 0, 0, 0]], [1.5], estimate, base="ff", lower="lmcut")
    found = accuracy(model, numbers(label=label, ff=ff, lmcut=lower))
    assert found["sigma"] == pytest.approx(estimate.sigma if isinstance(estimate, Gaussian) else 0)
    assert (found["calibration_error"] < 0.03) is calibrated
    assert [level for level, _ in found["calibration"]] == pytest.approx(np.arange(0.05, 0.96, 0.05))
    if calibrated:
        assert found["mse"] == pytest.approx(4, rel=0.1)
        assert found["nll"] == pytest.approx(np.log(2) + 0.5 * np.log(2 * np.pi) + 0.5, abs=0.05)


def test_a_right_truncated_belief_is_calibrated() -> None:
    """Labels drawn until they are above the bound, less the margin."""
    rng = np.random.default_rng(2)
    ff = rng.integers(5, 30, 3 * MANY)
    label, lower = ff + 2.0 * rng.standard_normal(len(ff)), (ff - 1).astype(np.float64)
    inside = label > lower - 0.1
    data = numbers(label=label[inside], ff=ff[inside], lmcut=lower[inside])
    model = linear([[0, 0, 0, 0]], [0], TruncatedGaussian(2.0), base="ff", lower="lmcut")
    found = accuracy(model, data)
    assert found["calibration_error"] < 0.03
    plain = accuracy(replace(model, estimate=Gaussian(2.0)), data)
    assert plain["calibration_error"] > 0.2 and plain["nll"] > found["nll"] and plain["mse"] > found["mse"]
    assert found["mean_error"] == pytest.approx(0, abs=0.1) and plain["mean_error"] < -0.5


def test_a_learned_spread_is_the_mean_of_all() -> None:
    model = linear([[0, 0, 0, 0], [1, 0, 0, 0]], [0, 0], Gaussian())
    found = accuracy(model, HAND)
    sigma = 0.1 + 10 / (1 + np.exp(-np.array([2.0, 1.0, 0.0])))
    assert found["sigma"] == pytest.approx(sigma.mean())
    nll = np.log(sigma) + np.array([4, 2, 0]) ** 2 / (2 * sigma**2) + np.log(2 * np.pi) / 2
    assert found["nll"] == pytest.approx(nll.mean())


# --- data -------------------------------------------------------------------------------------------


def test_states_without_a_label_are_left_out(tmp_path: Path) -> None:
    task = generated(tmp_path, "blocksworld", blocks=4, seed=0)
    both, plain = labelled([task], siblings=True), labelled([task])
    model = train("wl", plain)
    assert accuracy(model, both) == accuracy(model, plain)
    assert len(both.column("label")) > accuracy(model, both)["states"] == len(plain.column("label"))


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (
            RelationalData(replace(WORDS, domain="other"), HAND.instances),
            ModelError,
            "the model was trained for numbers, the data are of other",
        ),
        (RelationalData(WORDS, ()), InputError, "no labelled states to compare with"),
        (numbers(label=[np.nan]), InputError, "no labelled states to compare with"),
    ],
)
def test_data_that_do_not_fit(data: RelationalData, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        accuracy(linear([[1, 0, 0, 0]], [0]), data)


def test_data_without_the_columns(tmp_path: Path) -> None:
    (instance,) = HAND.instances
    for missing in ("goalcount", "lmcut"):
        columns = {name: column for name, column in instance.columns.items() if name != missing}
        poor = RelationalData(WORDS, (replace(instance, columns=columns),))
        with pytest.raises(InputError, match=f"the data have no column {missing}; label the problems anew"):
            accuracy(linear([[1, 0, 0, 0]], [0]), poor)


def test_rules_and_weights_that_do_not_fit() -> None:
    with pytest.raises(UnsupportedError, match="a point estimate has no quantile"):
        accuracy(linear([[1, 0, 0, 0]], [0]), HAND, Quantile(0.3))
    tensors: Mapping[str, Any] = {"weight": np.zeros((1, 3), dtype=np.float32), "bias": np.zeros(1)}
    with pytest.raises(ModelError, match=r"weight is \(1, 3\), and its options ask for \(1, 4\)"):
        accuracy(replace(linear([[1, 0, 0, 0]], [0]), tensors=tensors), HAND)
