"""Structs of the core from names that tests use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hstar import _core

_ESTIMATE = {"estimate": "kind", "sigma": "sigma", "floor": "floor", "range": "range", "margin": "margin"}
_CALIBRATION = ("factor", "shift", "whole")
_RULE = ("level", "clip", "clip_lower", "clip_upper", "offset", "eps", "sure_below")


def belief(fields: Mapping[str, Any]) -> tuple[_core.Belief, dict[str, Any]]:
    """A belief by the fields of its estimate, its rule and a calibration; and what is none of these."""
    estimate = _core.Estimate(**{to: fields[name] for name, to in _ESTIMATE.items() if name in fields})
    rule = _core.Rule(**{name: fields[name] for name in _RULE if name in fields})
    if calibration := {name: fields[name] for name in _CALIBRATION if name in fields}:
        rule.calibration = _core.Calibration(**calibration)
    known = {*_ESTIMATE, *_RULE, *_CALIBRATION}
    return _core.Belief(estimate, rule), {name: fields[name] for name in fields if name not in known}
