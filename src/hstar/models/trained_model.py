"""A trained model: weights, what their outputs mean, what they are for, and where they come from.

One class and one file for all kinds of spaces. The file is safetensors with a JSON header (`container.py`);
it holds float32 weights and plain data. What only one kind of space knows is in the model's `Identity`.

Invariants: reading runs no code from the file, and needs torch for models alone that run in torch. A file
that is cut, overwritten, of a newer format or not a model is a `ModelError` of one line, and so are parts
that do not fit each other. Writing what was read gives the same bytes. Files of hstar 0.1 are read, too
(`old_files.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

import numpy as np

from hstar import __version__, _core, container
from hstar.errors import InputError, ModelError, UnsupportedError
from hstar.estimates import estimate as estimates
from hstar.estimates import rules
from hstar.estimates.estimate import Estimate
from hstar.estimates.rules import Calibrated, Rule
from hstar.models.identity import IDENTITIES, Identity, converted
from hstar.models.model import MODELS, Tensors
from hstar.registry import unknown
from hstar.spaces.load import in_words

if TYPE_CHECKING:
    from torch import nn

KIND = "model"
FORMAT_VERSION = 2

S = TypeVar("S", bound=Identity)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedModel(Generic[S]):
    """What a search needs, and where it comes from. All mappings hold plain JSON data.

    `base` and `lower` name heuristics: the one that the first output is added to, and the admissible one that
    estimates and rules with bounds ask. `upper` names a column of data, of which a search knows nothing. An
    `encoder` is named where a model has a choice of inputs. `search` has the options of `hstar.solve` that
    the recipe recommends, `search` itself among them; they are taken where the user names no search.
    """

    space: S  # what it is trained for
    model: str  # name in MODELS
    model_config: Mapping[str, Any]
    tensors: Tensors
    estimate: Estimate
    rule: Rule
    recipe: str
    recipe_config: Mapping[str, Any]
    seed: int
    encoder: str | None = None
    base: str | None = None
    lower: str | None = None
    upper: str | None = None
    search: Mapping[str, Any] = field(default_factory=dict)
    summary: Mapping[str, Any] = field(default_factory=dict)  # of the training
    versions: Mapping[str, str] = field(default_factory=lambda: {"hstar": __version__})
    trained_on: tuple[str, ...] = ()  # digests of instances, of which a calibration must know nothing
    precision: str = "float32"  # of the search, not of the file: see with_precision

    def __post_init__(self) -> None:
        for name, tensor in self.tensors.items():
            # A module of the user's own may have infinite masks; other models of own spaces check theirs.
            if self.space.kind != "own" and tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
                raise ModelError(f"weights {name} are not all finite")
        _ = self.network  # parts that do not fit each other are told at once

    def __repr__(self) -> str:
        rule = rules.format_rule(self.rule)
        return f"<TrainedModel {self.recipe}: {self.model}, {self.estimate.name}, {rule}, for {self.space}>"

    @property
    def options(self) -> Any:
        """The entry of MODELS with the options of this model."""
        kind = MODELS.get(self.model)
        if self.space.kind not in kind.spaces:
            raise ModelError(
                f"{self.model} is a model of {in_words(kind.spaces)}, not of {in_words([self.space.kind])}"
            )
        try:
            return kind(**self.model_config)
        except TypeError:
            given = ", ".join(self.model_config)
            raise ModelError(f"not options of the model '{self.model}': {given}") from None

    @cached_property
    def network(self) -> Any:
        """What runs, with the weights in it; of which type depends on the kind of space."""
        return self.space.network(self)

    @property
    def calibration(self) -> Calibrated | None:
        """The rule that a calibration found; None if there was none."""
        return self.rule if isinstance(self.rule, Calibrated) else None

    def with_rule(self, rule: Rule | str) -> TrainedModel[S]:
        """The same with another rule, which may be typed, as in quantile:0.3."""
        return replace(self, rule=rules.parse(rule) if isinstance(rule, str) else rule)

    def with_precision(self, precision: str) -> TrainedModel[S]:
        """The same with layers in "float32" or in "int16", which is faster and differs little."""
        if precision not in (known := _core.precisions()):
            raise unknown("precision", precision, known)
        if self.space.kind != "task":
            raise UnsupportedError(
                f"a precision is for networks of a task, and {self.recipe} is for {self.space}"
            )
        return replace(self, precision=precision)

    def build(self, problem: Any, *, cache: bool = True) -> Any:
        """The heuristic for a problem, as the search takes it; a `ModelError` if the model does not fit.

        A task has a `_core.Heuristic`, a puzzle a `PuzzleNetwork`, a map a `ValueMap`, an own space a
        `BatchHeuristic`.
        """
        return self.space.build(self, problem, cache=cache)

    def to_parts(self) -> tuple[dict[str, Any], Tensors]:
        """Header and tensors, as a file holds them; `from_parts` reads them."""
        plain = {name: getattr(self, name) for name in _Header.__annotations__}
        header = {
            **{name: dict(value) if isinstance(value, Mapping) else value for name, value in plain.items()},
            "space": {"kind": self.space.kind, **self.space.to_json()},
            "estimate": estimates.to_json(self.estimate),
            "rule": rules.to_json(self.rule),
        }
        return header, dict(self.tensors)

    def save(self, path: str | Path) -> None:
        """Writes the file, as a whole or not at all."""
        container.write(Path(path), KIND, FORMAT_VERSION, *self.to_parts())


class _Header(TypedDict):
    """The header of a file; most of it are the fields of a `TrainedModel` as they are."""

    space: dict[str, Any]
    estimate: dict[str, Any]
    rule: dict[str, Any]
    model: str
    model_config: dict[str, Any]
    recipe: str
    recipe_config: dict[str, Any]
    seed: int
    encoder: str | None
    base: str | None
    lower: str | None
    upper: str | None
    search: dict[str, Any]
    summary: dict[str, Any]
    versions: dict[str, Any]
    trained_on: tuple[str, ...]


def load_model(
    path: str | Path, *, model: Callable[[int, int], nn.Module] | None = None
) -> TrainedModel[Any]:
    """Reads a model of any kind; anything else is a `ModelError`.

    A file holds no code. If the model is a torch module of your own, pass its class (or function) as `model`.
    """
    from hstar.models.old_files import read

    if model is None and (kept := _kept.get(str(path))) is not None and kept[0] == _version(path):
        return kept[1]
    if container.kind(Path(path)) == "knowledge":
        raise ModelError(f"{path}: knowledge of a domain, not a model; hstar plan runs it")
    try:
        header, tensors = read(Path(path))
    except InputError as error:
        raise ModelError(str(error)) from None
    try:
        return from_parts(header, tensors, model=model)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


_kept: dict[str, tuple[tuple[int, ...], TrainedModel[Any]]] = {}


def keep_loaded(path: str) -> None:
    """`load_model` has this model at hand while its file stays as it is: for a server that forks."""
    version = _version(path)
    _kept[path] = version, load_model(path)


def _version(path: str | Path) -> tuple[int, ...]:
    """What changes with a file; empty if there is none."""
    try:
        found = Path(path).stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def from_parts(
    header: Mapping[str, Any], tensors: Tensors, *, model: Callable[[int, int], nn.Module] | None = None
) -> TrainedModel[Any]:
    """What `TrainedModel.to_parts` gave; a `ModelError` for anything else. `model` as in `load_model`."""
    try:
        parts = {"tensors": tensors, **_parts(converted(header, _Header))}
        if model is None:
            return TrainedModel(**parts)
    except KeyError as error:
        raise ModelError(f"damaged model: no {error}") from None
    except (TypeError, ValueError, AttributeError, RecursionError, InputError, ModelError) as error:
        raise ModelError(f"damaged model: {error}") from None
    parts["space"] = parts["space"].with_module(model, tensors, parts["estimate"].outputs)
    return TrainedModel(**parts)


def _parts(header: _Header) -> dict[str, Any]:
    space = dict(header["space"])
    return {
        **header,
        "space": IDENTITIES.get(str(space.pop("kind"))).from_json(space),
        "estimate": estimates.from_json(header["estimate"]),
        "rule": rules.from_json(header["rule"]),
    }
