"""Reads headers and tensors of model files, those of hstar 0.1 among them.

hstar 0.1 had four kinds: "model" of a task (format 1), "domain model", "puzzle model" and "grid model". Their
headers become that of today, weights stay bit by bit what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from hstar import container
from hstar.errors import ModelError
from hstar.estimates import estimate as estimates
from hstar.models.ffnn_config import FFNNConfig
from hstar.models.model import MODELS
from hstar.models.puzzle_identity import FEATURES
from hstar.models.trained_model import FORMAT_VERSION, KIND

Header: TypeAlias = dict[str, Any]
Tensors: TypeAlias = container.Tensors

_SAME = ("rule", "recipe", "recipe_config", "seed", "summary", "versions")
_NONE: Header = {"encoder": None, "base": None, "lower": None, "upper": None, "search": {}, "trained_on": []}
_MEAN = {"name": "mean"}


def read(path: Path) -> tuple[Header, Tensors]:
    """Header and tensors of a model file, in the form of today; an `InputError` for other files."""
    kind = container.kind(path)
    if kind in _OLD:
        oldest, convert = _OLD[kind]
        header, tensors = container.read(path, str(kind), oldest, oldest)
    else:
        header, tensors = container.read(path, KIND, FORMAT_VERSION)
        if "space" in header:
            return header, tensors
        convert = _task
    try:
        new, weights = convert(header, tensors)
        return {**_NONE, **{name: header[name] for name in _SAME if name in header}, **new}, weights
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"{path}: damaged model: no {error}") from None


def _task(old: Mapping[str, Any], tensors: Tensors) -> tuple[Header, Tensors]:
    config, output_relu = dict(old["model_config"]), old["output_relu"]
    if old["model"] == FFNNConfig.name:  # in its weights the mean was in moves
        names = {"rows": "hidden_weights", "bias": "hidden_biases", "head_bias": "output_biases"}
        weights = {new: tensors[name] for name, new in names.items()}
        tensors = {**weights, "output_weights": tensors["head"].T.copy()}
        config |= {"scale": 1.0, "outputs": len(tensors["output_biases"])}
    else:
        config["output_relu"] = output_relu
    new = {
        "space": {"kind": "task", **old["task"], "atoms": old["atoms"]},
        "model": old["model"],
        "model_config": config,
        "estimate": {"name": old["estimate"], **old.get("estimate_config", {})},
    }
    return new, tensors


def _domain(old: Mapping[str, Any], tensors: Tensors) -> tuple[Header, Tensors]:
    names = ("model", "model_config", "estimate", "base", "lower")
    later = {name: old[name] for name in ("upper", "trained_on") if name in old}
    return {"space": {"kind": "domain", **old["vocabulary"]}, **{n: old[n] for n in names}, **later}, tensors


def _puzzle(old: Mapping[str, Any], tensors: Tensors) -> tuple[Header, Tensors]:
    outputs = dict(old["outputs"])
    floor = outputs.pop("floor_admissible")
    _, width = tensors["hidden_weights"].shape
    config = FFNNConfig(width=width, outputs=len(tensors["output_biases"]), **outputs)
    new = {
        "space": {"kind": "puzzle", "puzzle": old["puzzle"], "goal": old["goal"]},
        "model": FFNNConfig.name,
        "model_config": asdict(config),
        "encoder": old["inputs"],
        "estimate": estimates.to_json(config.estimate),
        "rule": old.get("rule", _MEAN),
        "lower": FEATURES if floor else None,
        "search": {"search": "idastar"},
    }
    return new, tensors


def _map(old: Mapping[str, Any], tensors: Tensors) -> tuple[Header, Tensors]:
    network = dict(old["network"])
    name = network.pop("name")
    space = {"headings": 0, "turn_cost": 0.0}  # older files are of grids
    space |= {word: old[word] for word in (*space, "neighbours", "cut_corners", "sizes") if word in old}
    new = {
        "space": {"kind": "map", **space, "any_size": MODELS.get(name).any_size},
        "model": name,
        "model_config": {**network, "scale": old["scale"]},
        "estimate": old["estimate"],
        "rule": _MEAN,
        "search": {"search": "astar"},
    }
    return new, tensors


_Convert: TypeAlias = Callable[[Mapping[str, Any], Tensors], tuple[Header, Tensors]]
_OLD: dict[str | None, tuple[int, _Convert]] = {
    "domain model": (2, _domain),
    "puzzle model": (1, _puzzle),
    "grid model": (1, _map),
}
