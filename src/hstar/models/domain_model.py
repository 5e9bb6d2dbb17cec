"""A heuristic for all tasks of a domain: Weisfeiler-Leman features and a weight for each.

The file is a safetensors container with a JSON header, like that of a model for one task (`models/file.py`);
`load_heuristic` reads either. Loading runs no code from the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hstar import __version__, _core, container
from hstar.errors import InputError, ModelError
from hstar.models.file import RESOLUTION, LearnedModel, load_model
from hstar.models.wl import WLConfig, WLFeatures
from hstar.spaces.relations import Vocabulary
from hstar.spaces.task import Task

KIND = "domain model"
FORMAT_VERSION = 1


@dataclass(frozen=True, eq=False)
class DomainModel:
    """Features by their colours, weights, and where they come from. All mappings hold plain JSON data."""

    words: Vocabulary
    config: WLConfig
    colours: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.float64]
    bias: float
    recipe: str
    recipe_config: Mapping[str, Any]
    seed: int
    summary: Mapping[str, Any] = field(default_factory=dict)  # of the training
    versions: Mapping[str, str] = field(default_factory=lambda: {"hstar": __version__})

    def __post_init__(self) -> None:
        if self.colours.shape != self.weights.shape or self.colours.ndim != 1:
            raise ModelError(f"there are {self.weights.size} weights for {self.colours.size} features")
        if not np.isfinite(self.weights).all() or not np.isfinite(self.bias):
            raise ModelError("a weight is not a number")

    def build(self, task: Task) -> _core.Heuristic:
        """The native heuristic for a task, as `solve` asks for it; a `ModelError` if it does not fit."""
        features = WLFeatures(self.words, self.config, self.colours)
        try:
            return features.heuristic(task, self.weights, self.bias, self.recipe, RESOLUTION)
        except InputError as error:
            raise ModelError(f"the model was trained for {self.words.domain}: {error.message}") from None


def save_domain_model(path: str | Path, model: DomainModel) -> None:
    """Writes the file, as a whole or not at all."""
    header = {
        "vocabulary": model.words.to_json(),
        "features": asdict(model.config),
        "bias": model.bias,
        "recipe": model.recipe,
        "recipe_config": dict(model.recipe_config),
        "seed": model.seed,
        "summary": dict(model.summary),
        "versions": dict(model.versions),
    }
    tensors = {"colours": model.colours, "weights": model.weights}
    container.write(Path(path), KIND, FORMAT_VERSION, header, tensors)


def load_domain_model(path: str | Path) -> DomainModel:
    """Reads what `save_domain_model` wrote; anything else is a `ModelError`."""
    try:
        header, tensors = container.read(Path(path), KIND, FORMAT_VERSION)
    except InputError as error:
        raise ModelError(str(error)) from None
    try:
        return DomainModel(
            words=Vocabulary.from_json(header["vocabulary"]),
            config=WLConfig(**header["features"]),
            colours=tensors["colours"].astype(np.uint64, casting="safe"),
            weights=tensors["weights"].astype(np.float64, casting="safe"),
            bias=float(header["bias"]),
            recipe=str(header["recipe"]),
            recipe_config=dict(header["recipe_config"]),
            seed=int(header["seed"]),
            summary=dict(header["summary"]),
            versions=dict(header["versions"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{path}: damaged model: {error}") from None
    except InputError as error:
        raise ModelError(f"{path}: damaged model: {error.message}") from None


def load_heuristic(path: str | Path) -> LearnedModel | DomainModel:
    """A model of a task or of a domain, whichever the file holds."""
    if container.kind(Path(path)) == KIND:
        return load_domain_model(path)
    return load_model(path)
