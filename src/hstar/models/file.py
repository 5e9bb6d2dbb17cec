"""The model file: one safetensors file with everything that a search by a learned heuristic needs.

Tensors are those of `NativeNetwork`; the header holds the recipe and its configuration, the model and its
options, the estimate and its options, the rule, the encoder (the list of atoms), the identity of the task,
versions, the seed and a summary of the training.

Invariants: reading needs no torch and runs no code from the file. A file that is cut, overwritten, of a newer
format or not a model is a `ModelError` of one line. Writing what was read gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from hstar import __version__, _core, container
from hstar.errors import InputError, ModelError
from hstar.estimates import estimate as estimates
from hstar.estimates import rules
from hstar.estimates.belief import belief_options
from hstar.estimates.estimate import Estimate
from hstar.estimates.rules import Bounded, Calibrated, Rule
from hstar.models.identity import TaskIdentity, TaskInputs, atoms_of, check_task, identify
from hstar.models.native import NativeNetwork, from_tensors
from hstar.registry import unknown
from hstar.search.heuristics import build
from hstar.spaces.task import Task

__all__ = [
    "FORMAT_VERSION",
    "LearnedModel",
    "TaskIdentity",
    "TaskInputs",
    "atoms_of",
    "check_task",
    "identify",
    "load_model",
    "save_model",
]

FORMAT_VERSION = 1
RESOLUTION = 1024  # the search sees values in units of 1/1024 step
LOWER = "lmcut"  # the admissible bound of the rule `bounded`

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class LearnedModel:
    """A trained network and what it is. All mappings hold plain JSON data."""

    network: NativeNetwork
    atoms: tuple[str, ...]  # the encoder: input i is atoms[i]
    task: TaskIdentity
    recipe: str
    recipe_config: Mapping[str, Any]
    model: str  # name in MODELS, or ffnn
    model_config: Mapping[str, Any]
    estimate: str  # name in ESTIMATES
    rule: Mapping[str, Any]  # as estimates.rules.to_json gives it
    seed: int
    estimate_config: Mapping[str, Any] = field(default_factory=dict)  # its options
    summary: Mapping[str, Any] = field(default_factory=dict)  # of the training
    versions: Mapping[str, str] = field(default_factory=lambda: {"hstar": __version__})
    precision: str = "float32"  # of the search, not of the file: see with_precision

    def __post_init__(self) -> None:
        if self.precision not in (known := _core.precisions()):
            raise unknown("precision", self.precision, known)
        if len(set(self.atoms)) != len(self.atoms):
            raise ModelError("an input of the model is named twice")
        if len(self.atoms) != self.network.atoms:
            raise ModelError(
                f"the encoder has {len(self.atoms)} atoms, the network {self.network.atoms} inputs"
            )

    def with_precision(self, precision: str) -> LearnedModel:
        """The model with layers in "float32" or in "int16", which is faster and differs little."""
        return replace(self, precision=precision)

    @property
    def calibration(self) -> Calibrated | None:
        """The rule that a calibration found; None if there was none."""
        if self.rule.get("name") != Calibrated.name:
            return None
        rule = self.belief()[1]
        return rule if isinstance(rule, Calibrated) else None

    def with_rule(self, rule: Rule) -> LearnedModel:
        """The same with another rule; `bounded` takes lmcut for the lower bound."""
        return replace(self, rule=rules.to_json(rule))

    def belief(self) -> tuple[Estimate, Rule]:
        """What the outputs are, and which number of that the search sees."""
        try:
            estimate = estimates.from_json({"name": self.estimate, **self.estimate_config})
            return estimate, rules.from_json(self.rule)
        except InputError as error:
            raise ModelError(f"damaged model: {error.message}") from None

    def build(self, task: Task) -> _core.Heuristic:
        """The native heuristic for a task, as `solve` asks for it; a `ModelError` if it does not fit."""
        estimate, rule = self.belief()
        options = belief_options(estimate, rule)
        inputs = check_task(self, task)
        network = self.network.holding(inputs.constant)
        if network.outputs != estimate.outputs:
            raise ModelError(
                f"damaged model: the network has {network.outputs} outputs, the estimate {estimate.name} "
                f"needs {estimate.outputs}"
            )
        raw = _core.atom_model(task.core, network.core(self.precision), list(inputs.facts))
        lower = build(task, LOWER) if isinstance(rule, Bounded) else None
        return _core.believed_heuristic(
            task.native, raw, **options, lower=lower, name=self.recipe, scale=RESOLUTION
        )


def save_model(path: str | Path, model: LearnedModel) -> None:
    """Writes the file, as a whole or not at all."""
    header = {
        "atoms": list(model.atoms),
        "task": asdict(model.task),
        "recipe": model.recipe,
        "recipe_config": dict(model.recipe_config),
        "model": model.model,
        "model_config": dict(model.model_config),
        "output_relu": model.network.output_relu,
        "estimate": model.estimate,
        "rule": dict(model.rule),
        "seed": model.seed,
        "summary": dict(model.summary),
        "versions": dict(model.versions),
    }
    if model.estimate_config:  # an estimate without options is written as it always was
        header["estimate_config"] = dict(model.estimate_config)
    container.write(Path(path), "model", FORMAT_VERSION, header, dict(model.network.tensors()))


def load_model(path: str | Path) -> LearnedModel:
    """Reads what `save_model` wrote; anything else is a `ModelError`."""
    try:
        header, tensors = container.read(Path(path), "model", FORMAT_VERSION)
    except InputError as error:
        raise ModelError(str(error)) from None
    try:
        return _model(header, tensors)
    except ModelError as error:
        raise ModelError(f"{path}: damaged model: {error}") from None


def _model(header: dict[str, Any], tensors: container.Tensors) -> LearnedModel:
    task = _get(header, "task", dict)
    return LearnedModel(
        network=from_tensors(tensors, _get(header, "output_relu", bool)),
        atoms=_texts(header, "atoms"),
        task=TaskIdentity(
            domain=_get(task, "domain", str),
            problem=_get(task, "problem", str),
            digest=_get(task, "digest", str),
            goal=_texts(task, "goal"),
        ),
        recipe=_get(header, "recipe", str),
        recipe_config=_get(header, "recipe_config", dict),
        model=_get(header, "model", str),
        model_config=_get(header, "model_config", dict),
        estimate=_get(header, "estimate", str),
        rule=_get(header, "rule", dict),
        seed=_get(header, "seed", int),
        estimate_config=_get({"estimate_config": {}, **header}, "estimate_config", dict),
        summary=_get(header, "summary", dict),
        versions=_get(header, "versions", dict),
    )


def _get(data: Mapping[str, Any], name: str, kind: type[T]) -> T:
    value = data.get(name)
    if not isinstance(value, kind):
        raise ModelError(f"no {name}" if value is None else f"{name} is a {type(value).__name__}")
    return value


def _texts(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = _get(data, name, list)
    if not all(isinstance(value, str) for value in values):
        raise ModelError(f"{name} are not names")
    return tuple(values)
