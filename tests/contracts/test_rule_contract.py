"""Every rule in the registry, on every estimate: values of the right shape, or a refusal in one line."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields
from typing import Any

import pytest
import torch

from hstar.errors import HstarError, InputError
from hstar.estimates import ESTIMATES, Clip, Known, Mean, Quantile
from hstar.estimates.rules import RULES, format_rule, from_json, parse, to_json

NEEDED = {"level": 0.3, "alpha": 0.7, "eps": 1.5, "confidence": 0.5, "instances": 9, "score": 0.25}
N = 50


def made(name: str, **options: Any) -> Any:
    """A rule with what it needs."""
    kind = RULES.get(name)
    required = {entry.name for entry in fields(kind) if MISSING is entry.default is entry.default_factory}
    return kind(**{key: NEEDED[key] for key in required}, **options)


def states(outputs: int) -> tuple[torch.Tensor, Known]:
    generator = torch.Generator().manual_seed(5)
    raw = torch.randn(N, outputs, generator=generator, dtype=torch.float64) * 4 + 6
    lower = (torch.rand(N, generator=generator, dtype=torch.float64) * 8).floor()
    return raw, Known(lower, lower + 5)


@pytest.mark.parametrize("name", list(RULES))
def test_plain_data_and_words(name: str) -> None:
    rule = made(name)
    assert rule.name == name and RULES.get(name).__doc__
    assert from_json(to_json(rule)) == rule
    if name == "calibrated":
        with pytest.raises(InputError, match="not typed"):
            parse(format_rule(rule))
    else:
        assert parse(format_rule(rule)) == rule
    for wrong in ({"name": name, "nothing": 1}, {"name": f"{name}s"}, {}):
        with pytest.raises(HstarError) as told:
            from_json(wrong)
        assert "\n" not in str(told.value)


@pytest.mark.parametrize("estimate", list(ESTIMATES))
@pytest.mark.parametrize("name", list(RULES))
def test_values(name: str, estimate: str) -> None:
    """Each state on its own; never below the lower bound where the rule knows one, which it keeps."""
    rule, kind = made(name), ESTIMATES.get(estimate)()
    raw, known = states(kind.outputs)
    try:
        found = rule.value(kind, raw, known)
    except HstarError as error:
        assert name in ("quantile", "likely") and "\n" not in str(error)
        with pytest.raises(HstarError):
            Quantile(0.5).value(kind, raw, known)
        return
    assert found.shape == (N,) and found.dtype == raw.dtype and bool(found.isfinite().all())
    assert known.lower is not None and known.upper is not None
    half = rule.value(kind, raw[::2], Known(known.lower[::2], known.upper[::2]))
    torch.testing.assert_close(half, found[::2])
    if name in ("clip", "bounded", "calibrated") or kind.bounded:
        assert bool((found >= known.lower).all())


@pytest.mark.parametrize(
    "name", [name for name in RULES if "of" in {one.name for one in fields(RULES.get(name))}]
)
def test_rules_of_rules(name: str) -> None:
    """The inner one is asked, written and read."""
    rule, kind = made(name, of=Quantile(0.1)), ESTIMATES.get("gaussian")()
    raw, known = states(kind.outputs)
    unknown = torch.full((N,), math.nan, dtype=torch.float64)
    free = Known(unknown, unknown)
    assert from_json(to_json(rule)) == rule and "quantile:0.1" in format_rule(rule)
    assert bool((rule.value(kind, raw, free) < made(name, of=Mean()).value(kind, raw, free)).any())
    assert bool((Clip(rule).value(kind, raw, known) >= known.lower).all())
