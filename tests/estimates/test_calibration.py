"""Calibration: a right model has it, a model that is too sure has not."""

from __future__ import annotations

import json

import pytest
import torch

from draws import drawn
from hstar.errors import InputError, UnsupportedError
from hstar.estimates import Batch, Known
from hstar.estimates.calibration import LEVELS, calibration
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.point import Point
from hstar.estimates.truncated import TruncatedGaussian

N = 20_000


def states() -> tuple[torch.Tensor, Known]:
    generator = torch.Generator().manual_seed(5)
    lower = torch.rand(N, generator=generator) * 10
    return 20 * torch.rand(N, 1, generator=generator), Known(lower, lower + 12)


@pytest.mark.parametrize("kind", [Gaussian, TruncatedGaussian])
def test_right_and_wrong_models(kind: type[Gaussian]) -> None:
    raw, known = states()
    batch = Batch(drawn(kind(3.0), raw, known, 5), known)
    right = calibration(kind(3.0), raw, batch)
    assert right.states == N and right.levels == LEVELS == tuple(i / 20 for i in range(1, 20))
    assert right.error < 0.015, "4 standard deviations of a share"
    too_sure = calibration(kind(1.5), raw, batch)
    assert too_sure.error > 0.08
    assert too_sure.shares[0] > 0.1 and too_sure.shares[-1] < 0.9, "labels are farther away than thought"
    too_high = calibration(kind(3.0), raw + 2, batch)
    assert too_high.error > 0.08 and all(s > level for s, level in zip(too_high.shares, LEVELS, strict=True))


def test_shares_are_of_labels_below_quantiles() -> None:
    raw, known = states()
    label = drawn(TruncatedGaussian(3.0), raw, known, 5).round().clamp(known.lower, known.upper)
    found = calibration(TruncatedGaussian(2.0), raw, Batch(label, known))
    for level, share in list(zip(found.levels, found.shares, strict=True))[::4]:
        below = label <= TruncatedGaussian(2.0).quantile(raw, level, known)
        assert share == pytest.approx(float(below.double().mean()), abs=1e-3)


def test_the_record_is_plain() -> None:
    batch = Batch(torch.tensor([-10.0, 10.0]))
    found = calibration(Gaussian(1.0), torch.zeros(2, 1), batch)
    assert set(found.shares) == {0.5}
    record = json.loads(json.dumps(found.record()))
    assert record["states"] == 2 and record["calibration_error"] == pytest.approx(0.45)
    assert record["calibration"][0] == [0.05, 0.5] and len(record["calibration"]) == 19


def test_mistakes() -> None:
    with pytest.raises(InputError, match="no states to calibrate by"):
        calibration(Gaussian(1.0), torch.zeros(0, 1), Batch(torch.zeros(0)))
    with pytest.raises(UnsupportedError, match="no distribution"):
        calibration(Point(), torch.zeros(1, 1), Batch(torch.zeros(1)))
