"""Rules: the values that a search sees."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from hstar.errors import InputError
from hstar.estimates import RULES, Clip, Mean
from hstar.estimates.point import Point
from hstar.estimates.rules import from_json, to_json

RAW = torch.tensor([[-2.0], [3.0], [9.0]])


def test_mean() -> None:
    assert Mean().value(Point(), RAW).tolist() == [-2, 3, 9]


def test_clip() -> None:
    assert Clip().value(Point(), RAW).tolist() == [0, 3, 9]
    assert Clip(lower=None, upper=4).value(Point(), RAW).tolist() == [-2, 3, 4]
    assert Clip(lower=None).value(Point(), RAW).tolist() == [-2, 3, 9]
    assert Clip(Clip(upper=4), lower=1).value(Point(), RAW).tolist() == [1, 3, 4]


def test_bounds_of_states() -> None:
    nan = float("nan")
    lower, upper = torch.tensor([1.0, 4.0, nan]), torch.tensor([nan, 2.0, 7.0])
    assert Clip().value(Point(), RAW, lower, upper).tolist() == [1, 4, 7]


@pytest.mark.parametrize("rule", [Mean(), Clip(), Clip(Clip(Mean(), 1, None), None, 4)])
def test_json(rule: Any) -> None:
    assert from_json(to_json(rule)) == rule
    assert RULES.get(rule.name) is type(rule)


def test_mistakes() -> None:
    with pytest.raises(InputError, match=r"the lower bound 3 is above the upper one 2"):
        Clip(lower=3, upper=2)
    with pytest.raises(InputError, match=r"unknown rule 'man' .* did you mean 'mean'"):
        from_json({"name": "man"})
    with pytest.raises(InputError, match="not options of the rule 'mean': alpha"):
        from_json({"name": "mean", "alpha": 1})
    with pytest.raises(InputError, match="not a rule"):
        from_json({})
