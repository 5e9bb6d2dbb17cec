"""The truncated Gaussian estimate: published numbers, wild input, and labels that contradict their bounds."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hstar.errors import InputError
from hstar.estimates import Batch, Clip, Known, Mean, Quantile
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.truncated import TruncatedGaussian
from oracles import truncated_normal as oracle

NAN, INF = math.nan, math.inf
MARGIN = 0.1
# All spreads from 1e-3 to 1e3 by the second output.
WIDE = TruncatedGaussian(margin=MARGIN, floor=1e-3, range=1e3)

# mu, sigma, lower end of the support, label, mean, log of the mass that is not cut off, negative
# log-likelihood; without an upper bound.
REFERENCE = [
    (0, 1, 0, 1, 0.7978845608, -0.6931471806, 0.7257913526),
    (5, 2, 3, 6, 5.575199942, -0.1727537790, 1.564331935),
    (2, math.sqrt(2), 4.9, 5, 5.419733493, -3.904427565, -0.3889154414),
    (-60, 3.4, 18.9, 19, 19.04597541, -273.3216806, -1.239520310),
    (-200, 9, 18.9, 22, 19.26879141, -299.8972592, 7.441126128),
    (-1000, 5, 9.9, 12, 9.924753713, -20404.18733, 81.22104472),
    (12, 0.1, 18.9, 19, 18.90144867, -2385.653255, 62.96309847),
    (10, math.sqrt(0.5), 2.9, 9, 10.000000, -5.04e-24, 1.572364943),
]
COLUMNS = ("mu", "sigma", "a", "label", "mean", "log_z", "nll")


@pytest.mark.parametrize(COLUMNS, REFERENCE)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_reference(
    mu: float, sigma: float, a: float, label: float, mean: float, log_z: float, nll: float, dtype: torch.dtype
) -> None:
    estimate = TruncatedGaussian(sigma)
    raw = torch.tensor([[mu]], dtype=dtype)
    known = Known(torch.tensor([a + 0.1], dtype=torch.float64))
    found = estimate.mean(raw, known)
    assert found.dtype == dtype and float(found) == pytest.approx(mean, rel=1e-6)
    loss = estimate.loss(raw, Batch(torch.tensor([label], dtype=dtype), known))
    assert loss.dtype == dtype and loss.shape == () and float(loss) == pytest.approx(nll, rel=1e-6)


@pytest.mark.parametrize(COLUMNS, REFERENCE)
def test_reference_of_the_mass(
    mu: float, sigma: float, a: float, label: float, mean: float, log_z: float, nll: float
) -> None:
    """It is what the likelihood has more than that of the normal distribution, which is not cut off."""
    with mp.workdps(oracle.DIGITS):
        right = oracle.TruncatedNormal(mu, sigma, a, INF).log_mass()
    assert float(right) == pytest.approx(log_z, rel=1e-3 if log_z > -1e-20 else 1e-9, abs=0)
    raw, x = torch.tensor([[mu]], dtype=torch.float64), torch.tensor([label], dtype=torch.float64)
    cut = Known(torch.tensor([a + MARGIN], dtype=torch.float64))
    losses = [kind(sigma).loss(raw, Batch(x, cut)) for kind in (TruncatedGaussian, Gaussian)]
    assert float(losses[0] - losses[1]) == pytest.approx(log_z, rel=1e-9, abs=1e-14)


def test_reference_with_an_upper_bound() -> None:
    raw = torch.zeros(1, 1, dtype=torch.float64)
    known = Known(raw[0] + 10.1, raw[0] + 10.9)
    assert float(TruncatedGaussian(1.0).mean(raw, known)) == pytest.approx(10.09806837, rel=1e-6)
    loss = TruncatedGaussian(1.0).loss(raw, Batch(torch.tensor([10.5]), known))
    assert float(loss) == pytest.approx(2.812628308, rel=1e-6)


def test_without_bounds_it_is_the_gaussian() -> None:
    raw, x = torch.tensor([[2.0, -1.0], [-7.0, 4.0]]), torch.tensor([4.0, -11.0])
    nan = torch.full((2,), NAN)
    for known in (Known(), Known(nan, nan), Known(-nan.new_full((2,), INF), nan.new_full((2,), INF))):
        cut, free = TruncatedGaussian(), Gaussian()
        torch.testing.assert_close(cut.mean(raw, known), free.mean(raw, known))
        torch.testing.assert_close(cut.cdf(raw, x, known), free.cdf(raw, x, known))
        torch.testing.assert_close(cut.loss(raw, Batch(x, known)), free.loss(raw, Batch(x, known)))
        for alpha in (0.001, 0.5, 0.9):
            torch.testing.assert_close(cut.quantile(raw, alpha, known), free.quantile(raw, alpha, known))


def test_one_bound_is_enough() -> None:
    raw = torch.zeros(2, 1)
    both = TruncatedGaussian(1.0).mean(raw, Known(torch.tensor([1.0, NAN]), torch.tensor([NAN, -1.0])))
    assert float(both[0]) == pytest.approx(-float(both[1])) and float(both[0]) > 1
    alone = TruncatedGaussian(1.0).mean(raw, Known(upper=torch.tensor([NAN, -1.0])))
    assert alone.tolist() == pytest.approx([0, float(both[1])], abs=1e-6)


# --- wild input ---------------------------------------------------------------------------------


def scaled(least: float, greatest: float) -> st.SearchStrategy[float]:
    """Numbers of all sizes, as 32 bits have them."""
    return st.floats(math.log10(least), math.log10(greatest)).map(lambda e: float(torch.tensor(10.0**e)))


signed = st.tuples(st.sampled_from([-1, 1]), scaled(1e-3, 1e6)).map(lambda pair: pair[0] * pair[1])
mus = st.one_of(signed, st.integers(-50, 50).map(float))
lowers = st.one_of(st.integers(0, 60).map(float), scaled(1e-3, 1e5), st.just(NAN))
widths = st.one_of(st.sampled_from([0.0, 1e-6, 1.0, NAN]), scaled(1e-6, 1e5))
states = st.lists(st.tuples(mus, st.floats(-20, 20, width=32), lowers, widths), min_size=1, max_size=12)
wild = settings(max_examples=60, deadline=None)


def parse(rows: list[tuple[float, ...]], dtype: torch.dtype) -> tuple[torch.Tensor, Known]:
    mu, raw, lower, width = torch.tensor(rows, dtype=dtype).T
    upper = torch.where(lower.isnan(), mu, lower) + width  # also where there is no lower bound
    return torch.stack([mu, raw], dim=1), Known(lower, upper)


def ends(known: Known, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """The support as it is rounded to the type of the results."""
    assert known.lower is not None and known.upper is not None
    a, b = known.lower.double() - MARGIN, known.upper.double() + MARGIN
    return a.nan_to_num(nan=-INF).to(dtype), b.nan_to_num(nan=INF).to(dtype)


@pytest.mark.slow
@wild
@given(states, st.sampled_from([torch.float32, torch.float64]))
def test_values_are_finite_and_in_the_support(rows: list[tuple[float, ...]], dtype: torch.dtype) -> None:
    raw, known = parse(rows, dtype)
    a, b = ends(known, dtype)
    quantiles = [WIDE.quantile(raw, alpha, known) for alpha in (1e-6, 0.05, 0.3, 0.5, 0.9, 1 - 1e-6)]
    for value in (WIDE.mean(raw, known), *quantiles):
        assert value.dtype == dtype and bool(value.isfinite().all())
        assert bool((value >= a).all() and (value <= b).all())
    for low, high in itertools.pairwise(quantiles):
        assert bool((low <= high).all())
    for x in (quantiles[1], a, b, raw[:, 0], raw[:, 0] - 1e6):
        p = WIDE.cdf(raw, x, known)
        assert bool((p >= 0).all() and (p <= 1).all())


@pytest.mark.slow
@wild
@given(states, st.floats(1e-6, 1 - 1e-6))
def test_quantiles_are_the_inverse(rows: list[tuple[float, ...]], alpha: float) -> None:
    raw, known = parse(rows, torch.float64)
    x = WIDE.quantile(raw, alpha, known)
    step = 4e-16 * x.abs()  # x is rounded, and the support may be narrow
    below, above = WIDE.cdf(raw, x - step, known), WIDE.cdf(raw, x + step, known)
    assert bool((below <= alpha + 1e-12).all() and (above >= alpha - 1e-12).all())


@wild
@given(states, st.floats(0.01, 0.99))
def test_rules_are_never_beyond_the_bounds(rows: list[tuple[float, ...]], alpha: float) -> None:
    raw, known = parse(rows, torch.float32)
    assert known.lower is not None and known.upper is not None
    for rule in (Mean(), Quantile(alpha), Clip(), Clip(Quantile(alpha))):
        h = rule.value(WIDE, raw, known)
        assert not bool((h < known.lower).any()) and bool(h.isfinite().all())
        assert not bool((h > known.upper).any()), "the bounds are in order"


@pytest.mark.slow
@wild
@given(states, st.floats(0, 1), st.sampled_from([torch.float32, torch.float64]))
def test_losses_and_gradients_are_finite(
    rows: list[tuple[float, ...]], place: float, dtype: torch.dtype
) -> None:
    raw, known = parse(rows, dtype)
    raw.requires_grad_()
    assert known.lower is not None and known.upper is not None
    low = known.lower.nan_to_num(nan=-1e5).minimum(known.upper.nan_to_num(nan=1e6))
    label = low + place * (known.upper.nan_to_num(nan=1e6) - low)
    loss = WIDE.loss(raw, Batch(label, known))
    (gradient,) = torch.autograd.grad(loss, raw)
    assert loss.dtype == dtype and bool(loss.isfinite()) and bool(gradient.isfinite().all())
    for value in (WIDE.mean(raw, known), WIDE.quantile(raw, 0.2, known), WIDE.cdf(raw, label, known)):
        (gradient,) = torch.autograd.grad(value.sum(), raw)
        assert bool(gradient.isfinite().all())


@settings(max_examples=60, deadline=None)
@given(states)
def test_32_bits_are_as_good_as_64(rows: list[tuple[float, ...]]) -> None:
    """Of the same numbers; but the spread itself is made in 32 bits."""
    raw, known = parse(rows, torch.float32)
    exact = Known(*(None if side is None else side.double() for side in (known.lower, known.upper)))
    found = WIDE.mean(raw, known).double()
    expected = WIDE.mean(raw.double(), exact)
    error = (found - expected).abs() / (expected.abs() + WIDE.spread(raw) + 1)
    assert float(error.max()) < 1e-5


@pytest.mark.slow
def test_gradients_of_the_loss() -> None:
    raw = torch.tensor(
        [[m, r] for m in (-30.0, 2.0, 6.5, 40.0) for r in (-6.0, 0.0, 3.0)],
        dtype=torch.float64,
        requires_grad=True,
    )
    n = len(raw)
    generator = torch.Generator().manual_seed(1)
    lower = torch.rand(n, generator=generator, dtype=torch.float64) * 8
    upper = lower + torch.rand(n, generator=generator, dtype=torch.float64) * 5
    base = torch.rand(n, generator=generator, dtype=torch.float64)
    label = (lower + upper) / 2
    for known in (Known(lower, upper, base), Known(lower, base=base), Known(upper=upper), Known()):
        assert torch.autograd.gradcheck(lambda raw, known=known: WIDE.loss(raw, Batch(label, known)), (raw,))
        assert torch.autograd.gradcheck(lambda raw, known=known: WIDE.mean(raw, known), (raw,))


@pytest.mark.slow
def test_chances() -> None:
    """Samples of many states: their probabilities are uniform (Kolmogorov and Smirnov, 0.1 per cent)."""
    n = 20_000
    generator = torch.Generator().manual_seed(3)
    mu = torch.randn(n, generator=generator, dtype=torch.float64) * 100
    raw = torch.stack([mu, torch.randn(n, generator=generator, dtype=torch.float64) * 3], dim=1)
    lower = torch.rand(n, generator=generator, dtype=torch.float64) * 20
    known = Known(lower, torch.where(torch.arange(n) % 2 == 0, lower + 4, NAN))
    estimate = TruncatedGaussian()
    uniform = torch.rand(n, generator=generator, dtype=torch.float64)
    p = estimate.cdf(raw, estimate._belief(raw, known).quantile(uniform), known).sort().values
    steps = torch.arange(n, dtype=torch.float64) / n
    assert float(torch.maximum((p - steps).abs(), (p - steps - 1 / n).abs()).max()) < 1.95 / math.sqrt(n)


# --- contradictions -----------------------------------------------------------------------------


def test_labels_beyond_their_bounds() -> None:
    raw = torch.zeros(4, 1)
    known = Known(torch.tensor([1.0, 2.0, NAN, 0.0]), torch.tensor([NAN, 5.0, 3.0, 9.0]))

    def loss(*labels: float, known: Known = known) -> float:
        return float(TruncatedGaussian(1.0).loss(raw, Batch(torch.tensor(labels), known)))

    assert math.isfinite(loss(1, 5, 3, 0))
    assert math.isfinite(loss(0.95, 5.05, -100, 9.05)), "the margin is allowed"
    with pytest.raises(
        InputError, match=r"1 of 4 labels are beyond .* first is 0\.5, with the bounds 1 and nan"
    ):
        loss(0.5, 5, 3, 0)
    with pytest.raises(InputError, match=r"2 of 4 labels are beyond .* first is 6, with the bounds 2 and 5"):
        loss(1, 6, 3.5, 0)
    with pytest.raises(InputError, match=r"1 of 4 labels are beyond .* first is nan"):
        loss(1, NAN, 3, 0)
    with pytest.raises(InputError, match=r"1 of 4 labels .* first is 1, with the bounds none and 0\.5"):
        loss(0, 0, 0, 1, known=Known(upper=torch.tensor([NAN, NAN, NAN, 0.5])))


def test_where_bounds_contradict_each_other_the_lower_one_holds() -> None:
    raw, known = torch.tensor([[0.0], [50.0]]), Known(torch.tensor([8.0, 8.0]), torch.tensor([3.0, 3.0]))
    for value in (TruncatedGaussian(1.0).mean(raw, known), TruncatedGaussian(1.0).quantile(raw, 0.5, known)):
        assert value.tolist() == pytest.approx([8, 8], abs=0.1)
        assert 7.9 <= float(value[0]) < float(value[1]) <= 8.1


def test_infinite_bounds_are_no_bounds() -> None:
    """Those of dead ends: the rules say that h* is infinite, the estimate stays finite."""
    raw, known = torch.tensor([[3.0], [3.0]]), Known(torch.tensor([INF, NAN]), torch.tensor([NAN, -INF]))
    assert TruncatedGaussian(1.0).mean(raw, known).tolist() == pytest.approx([3, 3])
    with pytest.raises(InputError, match="2 of 2 labels are beyond"):
        TruncatedGaussian(1.0).loss(raw, Batch(torch.tensor([3.0, 3.0]), known))


def test_bounds_that_swallow_the_margin() -> None:
    raw = torch.tensor([[0.0], [1e30], [1e17]], dtype=torch.float64)
    bound = torch.full((3,), 1e17, dtype=torch.float64)
    known = Known(bound, bound)
    for value in (TruncatedGaussian(1.0).mean(raw, known), TruncatedGaussian(1.0).quantile(raw, 0.3, known)):
        assert value.tolist() == pytest.approx([1e17] * 3)
    assert math.isfinite(TruncatedGaussian(1.0).loss(raw, Batch(bound, known)))


@pytest.mark.parametrize("margin", [0, -1, INF, NAN])
def test_mistakes(margin: float) -> None:
    with pytest.raises(InputError, match=f"margin must be a number above 0.*, got {margin}"):
        TruncatedGaussian(margin=margin)
    with pytest.raises(InputError, match="sigma must be a number from 1e-06 on"):
        TruncatedGaussian(-1.0)
    with pytest.raises(InputError, match="level between 0 and 1, got 1"):
        TruncatedGaussian().quantile(torch.zeros(1, 2), 1, Known())
