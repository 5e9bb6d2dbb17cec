"""A heuristic for all tasks of a domain: a model, the estimate that its outputs are, and a rule.

The file is a safetensors container with a JSON header, like that of a model for one task (`models/file.py`);
`load_heuristic` reads either. Loading runs no code from the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hstar import __version__, _core, container
from hstar.errors import InputError, ModelError
from hstar.estimates import estimate as estimates
from hstar.estimates import rules
from hstar.estimates.belief import belief_options
from hstar.estimates.estimate import Estimate
from hstar.estimates.rules import Bounded, Calibrated, Clip, Rule
from hstar.models.file import RESOLUTION, LearnedModel, load_model
from hstar.models.relational_model import RELATIONAL_MODELS, RelationalModel, Tensors
from hstar.search.heuristics import States, build
from hstar.spaces.relations import Vocabulary
from hstar.spaces.task import Task

KIND = "domain model"
FORMAT_VERSION = 2


@dataclass(frozen=True, eq=False)
class DomainModel:
    """What the search needs, and where it comes from. All mappings hold plain JSON data.

    `base` and `lower` name symbolic heuristics: the one that the first output is added to, and the admissible
    one that an estimate or a rule with bounds asks. `upper` names a column of data, of which a search knows
    nothing: upper bounds that it was trained with, and is judged with where there are labels.
    """

    words: Vocabulary
    model: str  # name in RELATIONAL_MODELS
    model_config: Mapping[str, Any]
    tensors: Tensors
    estimate: Estimate
    rule: Rule
    recipe: str
    recipe_config: Mapping[str, Any]
    seed: int
    base: str | None = None
    lower: str | None = None
    upper: str | None = None
    summary: Mapping[str, Any] = field(default_factory=dict)  # of the training
    versions: Mapping[str, str] = field(default_factory=lambda: {"hstar": __version__})
    trained_on: tuple[str, ...] = ()  # digests of instances, of which a calibration must know nothing

    def __post_init__(self) -> None:
        for name, tensor in self.tensors.items():
            if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
                raise ModelError(f"weights {name} are not all finite")
        self.reader()  # options that do not fit are told at once

    def reader(self) -> RelationalModel:
        """The model without its weights."""
        try:
            return RELATIONAL_MODELS.get(self.model)(**self.model_config)
        except TypeError:
            given = ", ".join(self.model_config)
            raise ModelError(f"not options of the model '{self.model}': {given}") from None

    def with_rule(self, rule: Rule) -> DomainModel:
        """The same with another rule; `clip`, `bounded` and what is calibrated take `lower`."""
        return replace(self, rule=rule)

    @property
    def calibration(self) -> Calibrated | None:
        """The rule that a calibration found; None if there was none."""
        return self.rule if isinstance(self.rule, Calibrated) else None

    def build(self, task: Task) -> _core.Heuristic:
        """The native heuristic for a task, as `solve` asks for it; a `ModelError` if it does not fit."""
        if not task.core.num_operators:  # the first state decides, and some models read operators
            return build(task, "blind")
        return believed(self, task, self._native(task))

    def raw(self, task: Task, states: States) -> npt.NDArray[np.float64]:
        """The raw outputs for states of a task, given by the values of its variables."""
        return self._native(task).raw(task.native, np.ascontiguousarray(states, dtype=np.int32))

    def _native(self, task: Task) -> _core.RawModel:
        try:
            return self.reader().native(task, self.words, self.tensors, self.estimate.outputs)
        except ModelError:
            raise
        except InputError as error:
            raise ModelError(f"the model was trained for {self.words.domain}: {error.message}") from None


def believed(model: DomainModel, task: Task, raw: _core.RawModel) -> _core.Heuristic:
    """The heuristic of the core.

    Heuristics that it asks count steps, as the labels do; but the bound of the rule `bounded` is of the costs
    of the task.
    """
    options, steps = belief_options(model.estimate, model.rule), task.with_unit_cost()
    bound = isinstance(model.rule, Bounded)
    if bound and model.lower is None:
        raise ModelError("the rule 'bounded' needs a model with an admissible bound (trained with --lower)")
    needs_lower = model.estimate.bounded or isinstance(model.rule, Clip | Bounded | Calibrated)
    return _core.believed_heuristic(
        task.native,
        raw,
        **options,
        base=None if model.base is None else build(steps, model.base),
        lower=build(task if bound else steps, model.lower) if model.lower and needs_lower else None,
        name=model.recipe,
        scale=RESOLUTION,
    )


def save_domain_model(path: str | Path, model: DomainModel) -> None:
    """Writes the file, as a whole or not at all."""
    header: dict[str, Any] = {
        "vocabulary": model.words.to_json(),
        "model": model.model,
        "model_config": dict(model.model_config),
        "estimate": estimates.to_json(model.estimate),
        "rule": rules.to_json(model.rule),
        "base": model.base,
        "lower": model.lower,
        "recipe": model.recipe,
        "recipe_config": dict(model.recipe_config),
        "seed": model.seed,
        "summary": dict(model.summary),
        "versions": dict(model.versions),
    }
    if model.upper is not None:  # older files do not know
        header["upper"] = model.upper
    if model.trained_on:  # older files do not know
        header["trained_on"] = list(model.trained_on)
    container.write(Path(path), KIND, FORMAT_VERSION, header, dict(model.tensors))


def load_domain_model(path: str | Path) -> DomainModel:
    """Reads what `save_domain_model` wrote; anything else is a `ModelError`."""
    try:
        header, tensors = container.read(Path(path), KIND, FORMAT_VERSION, FORMAT_VERSION)
    except InputError as error:
        raise ModelError(str(error)) from None
    try:
        return DomainModel(
            words=Vocabulary.from_json(header["vocabulary"]),
            model=str(header["model"]),
            model_config=dict(header["model_config"]),
            tensors=tensors,
            estimate=estimates.from_json(header["estimate"]),
            rule=rules.from_json(header["rule"]),
            base=_heuristic(header["base"]),
            lower=_heuristic(header["lower"]),
            upper=_heuristic(header.get("upper")),
            recipe=str(header["recipe"]),
            recipe_config=dict(header["recipe_config"]),
            seed=int(header["seed"]),
            summary=dict(header["summary"]),
            versions=dict(header["versions"]),
            trained_on=tuple(map(str, header.get("trained_on", ()))),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{path}: damaged model: {error}") from None
    except (InputError, ModelError) as error:
        raise ModelError(f"{path}: damaged model: {error}") from None


def _heuristic(name: Any) -> str | None:
    if name is not None and not isinstance(name, str):
        raise ModelError(f"not a heuristic: {name!r}")
    return name


def load_heuristic(path: str | Path) -> LearnedModel | DomainModel:
    """A model of a task or of a domain, whichever the file holds."""
    if container.kind(Path(path)) == KIND:
        return load_domain_model(path)
    return load_model(path)
