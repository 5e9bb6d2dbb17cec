"""Rules: the values that a search sees."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from hstar.errors import InputError, UnsupportedError
from hstar.estimates import RULES, Bounded, Calibrated, Clip, Known, Likely, Mean, Quantile
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.point import Point
from hstar.estimates.rules import chosen, format_rule, from_json, parse, to_json
from hstar.estimates.truncated import TruncatedGaussian

RAW = torch.tensor([[-2.0], [3.0], [9.0]])
NAN = math.nan
NOTHING = Known()


def test_mean() -> None:
    assert Mean().value(Point(), RAW, NOTHING).tolist() == [-2, 3, 9]
    base = Known(base=torch.tensor([1.0, 2.0, 3.0]))
    assert Mean().value(Point(), RAW, base).tolist() == [-1, 5, 12]


def test_quantile() -> None:
    estimate = Gaussian(sigma=2)
    assert Quantile(0.5).value(estimate, RAW, NOTHING).tolist() == [-2, 3, 9]
    one_sigma = (1 + math.erf(-1 / math.sqrt(2))) / 2
    assert Quantile(one_sigma).value(estimate, RAW, NOTHING).tolist() == pytest.approx([-4, 1, 7])
    with pytest.raises(UnsupportedError, match="use the rule 'mean'"):
        Quantile(0.2).value(Point(), RAW, NOTHING)


def test_clip() -> None:
    assert Clip().value(Point(), RAW, NOTHING).tolist() == [0, 3, 9]
    assert Clip(lower=None, upper=4).value(Point(), RAW, NOTHING).tolist() == [-2, 3, 4]
    assert Clip(lower=None).value(Point(), RAW, NOTHING).tolist() == [-2, 3, 9]
    assert Clip(Clip(upper=4), lower=1).value(Point(), RAW, NOTHING).tolist() == [1, 3, 4]


def test_bounded() -> None:
    lower = Known(torch.tensor([2.0, 2.0, 4.0]))
    assert Bounded(2.0).value(Point(), RAW, lower).tolist() == [2, 3, 8]
    assert Bounded(1.0).value(Point(), RAW, lower).tolist() == [2, 2, 4]
    one_sigma = (1 + math.erf(-1 / math.sqrt(2))) / 2
    cautious = Bounded(10.0, Quantile(one_sigma)).value(Gaussian(sigma=2), RAW, lower).tolist()
    assert cautious == pytest.approx([2, 2, 7])
    # A dead end stays one, a goal is worth 0, and a state without a bound keeps the value.
    others = Known(torch.tensor([math.inf, 0.0, NAN]))
    assert Bounded(2.0).value(Point(), RAW, others).tolist() == [math.inf, 0, 9]
    with pytest.raises(InputError, match="the rule 'bounded' needs a lower bound"):
        Bounded(2.0).value(Point(), RAW, NOTHING)


@pytest.mark.parametrize("eps", [0.99, 0, -1, NAN, math.inf])
def test_no_bound(eps: float) -> None:
    with pytest.raises(InputError, match=r"eps must be a number from 1 on(, finite)?, got"):
        Bounded(eps)


def test_rules_as_they_are_typed() -> None:
    assert parse("bounded:1.5") == Bounded(1.5)
    assert parse("bounded:2:quantile:0.3") == Bounded(2.0, Quantile(0.3))
    assert parse("bounded:2:mean") == Bounded(2.0, Mean())
    for wrong in ("bounded", "bounded:", "bounded:much"):
        with pytest.raises(InputError, match=r"bounded needs a number, as in bounded:1\.5"):
            parse(wrong)
    for wrong in ("bounded:2:clip", "bounded:2:order", "bounded:2:bounded:3", "clip:order"):
        with pytest.raises(InputError, match=f"not a rule: '{wrong}'"):
            parse(wrong)
    with pytest.raises(InputError, match="eps must be a number from 1 on"):
        parse("bounded:0.5")


def test_bounds_of_states() -> None:
    known = Known(torch.tensor([1.0, 4.0, NAN]), torch.tensor([NAN, 2.0, 7.0]))
    assert Clip().value(Point(), RAW, known).tolist() == [1, 4, 7]


def test_only_estimates_with_bounds_are_moved_to_them() -> None:
    """The margin of the estimate does not reach the search."""
    raw, known = torch.full((2, 1), -50.0), Known(torch.tensor([5.0, NAN]))
    estimate = TruncatedGaussian(sigma=1)
    assert 4.9 <= float(estimate.mean(raw, known)[0]) < 4.95
    for rule in (Mean(), Quantile(0.1)):
        value = rule.value(estimate, raw, known).tolist()
        assert value[0] == 5 and value[1] == pytest.approx(-50, abs=2)
        assert rule.value(Gaussian(sigma=1), raw, known).tolist() == pytest.approx([-50, -50], abs=2)
    # Nor does it above; where bounds contradict each other, the lower one holds.
    above = Known(torch.tensor([1.0, 8.0]), torch.tensor([5.0, 3.0]))
    for rule in (Mean(), Quantile(0.9)):
        assert rule.value(estimate, -raw, above).tolist() == [5, 8]
        assert rule.value(Gaussian(sigma=1), -raw, above).tolist() == pytest.approx([50, 50], abs=2)


def test_calibrated() -> None:
    slack = 1 / 1024
    below = Calibrated(confidence=0.9, instances=9, score=2.5)
    assert below.value(Point(), RAW, NOTHING).tolist() == [-4.5 - slack, 0.5 - slack, 6.5 - slack]
    whole = Calibrated(confidence=0.9, instances=9, score=2.5, whole=True)
    assert whole.value(Point(), RAW, NOTHING).tolist() == [-4, 1, 7]
    exact = Calibrated(confidence=0.9, instances=9, score=-2.0, whole=True)
    assert exact.value(Point(), RAW, NOTHING).tolist() == [0, 5, 11], "the slack does not show"
    ratio = Calibrated(confidence=0.9, instances=9, score=2.0, bound=1.5, form="ratio", whole=True)
    both = Calibrated(confidence=0.9, instances=9, score=2.0, bound=1.5, whole=True)
    assert both.value(Point(), RAW, NOTHING).tolist() == [1.5 * (x - 2 - slack) for x in (-2, 3, 9)]
    assert ratio.value(Point(), RAW, NOTHING).tolist() == [0.75 * (x - slack) for x in (-2, 3, 9)]
    known = Known(torch.tensor([1.0, 1.0, NAN]))
    assert whole.value(Point(), RAW, known).tolist() == [1, 1, 7]
    clipped = Calibrated(confidence=0.9, instances=9, score=1.0, whole=True, of=Clip(upper=4))
    assert clipped.value(Point(), RAW, NOTHING).tolist() == [-1, 2, 3]


def test_promises() -> None:
    optimal = Calibrated(confidence=0.9, instances=99, score=2.5)
    assert optimal.promise == (
        "optimal with probability at least 0.9, for problems like the 99 of the calibration"
    )
    bounded = Calibrated(confidence=0.75, instances=20, score=2.5, bound=1.5)
    assert bounded.promise.startswith("at most 1.5 times the optimal cost with probability at least 0.75")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 1.0}, "confidence must be a number above 0, below 1, got 1.0"),
        ({"confidence": NAN}, "confidence must be a number above 0, below 1, got nan"),
        ({"bound": 0.9}, "bound must be a number from 1 on, got 0.9"),
        ({"instances": 8}, "calibrated: 8 instances are too few for 0.9"),
        ({"score": math.inf}, "no finite score for a confidence of 0.9: the model takes states of optimal"),
        ({"score": NAN}, "no finite score"),
        ({"form": "ratios"}, "unknown form 'ratios'"),
        ({"score": 0.0, "form": "ratio"}, "the model has no values above 0"),
        ({"score": "low"}, "not options of the rule 'calibrated'"),
        ({"of": to_json(Calibrated(confidence=0.5, instances=2, score=0.0))}, "promised already"),
    ],
)
def test_no_calibration(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        from_json({"name": "calibrated", "confidence": 0.9, "instances": 9, "score": 1.0, **options})


def test_a_calibration_is_not_typed() -> None:
    with pytest.raises(InputError, match="hstar calibrate writes it into a model"):
        parse("calibrated:0.9")


def test_a_dead_end_stays_one() -> None:
    raw, known = torch.zeros(1, 1), Known(torch.tensor([math.inf]))
    for rule in (
        Mean(),
        Quantile(0.1),
        Clip(),
        Calibrated(confidence=0.5, instances=1, score=3.0, whole=True),
    ):
        assert rule.value(TruncatedGaussian(sigma=1), raw, known).tolist() == [math.inf]


@pytest.mark.parametrize(
    "rule",
    [
        *(
            Mean(),
            Quantile(0.3),
            Likely(0.9),
            Clip(),
            Clip(Clip(Mean(), 1, None), None, 4),
            Clip(Quantile(0.1)),
        ),
        Bounded(1.5, Quantile(0.1)),
        Calibrated(confidence=0.9, instances=9, score=-1.5, whole=True, of=Clip(Quantile(0.1))),
        Calibrated(confidence=0.9, instances=9, score=1.5, bound=2.0, form="ratio"),
    ],
)
def test_json(rule: Any) -> None:
    assert from_json(to_json(rule)) == rule
    assert RULES.get(rule.name) is type(rule)


@pytest.mark.parametrize("number", [0, 1, -0.1, 1.5, NAN])
def test_no_quantile(number: float) -> None:
    with pytest.raises(InputError, match=f"level must be a number above 0, below 1, got {number}"):
        Quantile(number)
    with pytest.raises(InputError, match=f"alpha must be a number above 0, below 1, got {number}"):
        Likely(number)


def test_alpha_is_the_probability_of_being_admissible() -> None:
    """And the level of a quantile that of h* being below it; in files of hstar 0.1 that was called alpha."""
    estimate, states = Gaussian(sigma=2), NOTHING
    likely, low = (rule.value(estimate, RAW, states) for rule in (Likely(0.75), Quantile(0.25)))
    assert torch.equal(likely, low) and bool((low < Mean().value(estimate, RAW, states)).all())
    assert from_json({"name": "quantile", "alpha": 0.3}) == Quantile(0.3)
    assert from_json({"name": "clip", "of": {"name": "quantile", "alpha": 0.3}}) == Clip(Quantile(0.3))
    assert chosen(None, 0.9) == Likely(0.9) and chosen("mean", None) == Mean() and chosen(None, None) is None
    with pytest.raises(InputError, match="either --rule or --alpha"):
        chosen("mean", 0.9)


@pytest.mark.parametrize(
    "text",
    [
        "mean",
        "order",
        "quantile:0.3",
        "likely:0.9",
        "clip",
        "clip:likely:0.9",
        "bounded:1.5",
        "bounded:2:quantile:0.1",
    ],
)
def test_rules_are_written_as_they_are_typed(text: str) -> None:
    assert format_rule(parse(text)) == text


def test_mistakes() -> None:
    with pytest.raises(InputError, match=r"the lower bound 3 is above the upper one 2"):
        Clip(lower=3, upper=2)
    with pytest.raises(InputError, match=r"unknown rule 'man' .* did you mean 'mean'"):
        from_json({"name": "man"})
    with pytest.raises(InputError, match="not options of the rule 'mean': alpha"):
        from_json({"name": "mean", "alpha": 1})
    with pytest.raises(InputError, match="not options of the rule 'quantile': none"):
        from_json({"name": "quantile"})
    with pytest.raises(InputError, match="level must be a number above 0, below 1, got 'half'"):
        from_json({"name": "quantile", "level": "half"})
    for data in ({}, [], {"name": "clip", "of": "mean"}):
        with pytest.raises(InputError, match="not a rule"):
            from_json(data)  # type: ignore[arg-type]
