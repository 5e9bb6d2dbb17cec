"""A learned heuristic for maps: a network, what its outputs mean, and where it comes from.

The file is a safetensors container with a JSON header, like those of the other models (`models/file.py`), of
a kind of its own. Loading runs no code from the file; a file that is damaged, of another kind, or whose parts
do not fit each other is a `ModelError` of one line, and so is a problem that the model was not trained for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hstar import __version__, container
from hstar.errors import InputError, ModelError
from hstar.estimates import estimate as estimates
from hstar.estimates.estimate import Estimate, Known
from hstar.models.grid_config import GRID_NETWORKS, GridNetwork
from hstar.spaces.grid import GridProblem

if TYPE_CHECKING:
    from torch import nn

    from hstar.models.relational_model import Tensors

KIND = "grid model"
FORMAT_VERSION = 1
CELLS_AT_ONCE = 256  # in one pass of a network that takes an image for each cell


@dataclass(frozen=True, eq=False)
class GridModel:
    """What gives values to the cells of a map, and where it comes from. All mappings hold plain JSON data."""

    network: GridNetwork
    tensors: Tensors
    estimate: Estimate
    scale: float  # what the outputs of the network are multiplied by
    neighbours: int  # of a cell, in the maps of the training
    cut_corners: bool
    sizes: tuple[tuple[int, int], ...]  # rows and columns of these maps
    recipe: str
    recipe_config: Mapping[str, Any]
    seed: int
    summary: Mapping[str, Any] = field(default_factory=dict)  # of the training
    versions: Mapping[str, str] = field(default_factory=lambda: {"hstar": __version__})

    def __post_init__(self) -> None:
        if not 0 < self.scale < math.inf:
            raise ModelError(f"the scale must be a number above 0, got {self.scale!r}")
        if self.neighbours not in (4, 8):
            raise ModelError(f"neighbours are 4 or 8, got {self.neighbours!r}")
        for name, tensor in self.tensors.items():
            if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
                raise ModelError(f"weights {name} are not all finite")

    def check(self, problem: GridProblem) -> None:
        """A `ModelError` if the model is not for such problems."""
        grid = problem.grid
        if grid.costs is not None:
            raise ModelError("the model was trained for steps that cost 1, asked for costs of cells")
        corners = grid.neighbours == 8 and grid.cut_corners
        if (grid.neighbours, corners) != (self.neighbours, self.cut_corners):
            raise ModelError(
                f"the model was trained for {_steps(self.neighbours, self.cut_corners)}, "
                f"asked for {_steps(grid.neighbours, corners)}"
            )
        if not self.network.any_size and grid.shape not in self.sizes:
            known = ", ".join(f"{rows} x {columns}" for rows, columns in self.sizes)
            raise ModelError(
                f"the model {self.network.name} was trained for maps of {known} cells, "
                f"asked for {grid.shape[0]} x {grid.shape[1]}; a value-map takes any size"
            )

    def values(self, problem: GridProblem) -> npt.NDArray[np.float32]:
        """The value map that `grid_astar` takes; cells that are blocked have 0."""
        import torch

        self.check(problem)
        cells = np.flatnonzero(~problem.grid.blocked)
        image = self.network.encode(problem)
        size = len(cells) if self.network.whole else CELLS_AT_ONCE
        found = []
        with torch.inference_mode():
            for start in range(0, len(cells), size):
                some = cells[start : start + size]
                base = None
                if self.network.relative:
                    bounds = problem.grid.lower_bounds(problem.goal).reshape(-1)[some]
                    base = torch.from_numpy(bounds.astype(np.float32))
                raw = self.module(self.network.inputs([image], np.zeros(len(some), dtype=np.int64), some))
                found.append(self.estimate.mean(raw, Known(base=base)).numpy())
        result = np.zeros(problem.grid.blocked.size, dtype=np.float32)
        result[cells] = np.concatenate(found)
        return result.reshape(problem.grid.shape)

    @cached_property
    def module(self) -> nn.Module:
        """The network with its weights; a `ModelError` if these are not its own."""
        import torch

        weights = {name: torch.from_numpy(array.copy()) for name, array in self.tensors.items()}
        module = self.network.build(self.estimate.outputs, self.scale)
        try:
            module.load_state_dict(weights)
        except RuntimeError as error:
            raise ModelError(f"weights of {self.network.name}: {' '.join(str(error).split())}") from None
        return module.eval()


def _steps(neighbours: int, cut_corners: bool) -> str:
    return f"{neighbours} neighbours{' and cut corners' if cut_corners else ''}"


def save_grid_model(path: str | Path, model: GridModel) -> None:
    """Writes the file, as a whole or not at all."""
    header: dict[str, Any] = {
        "network": {"name": model.network.name, **asdict(model.network)},  # type: ignore[call-overload]
        "estimate": estimates.to_json(model.estimate),
        "scale": model.scale,
        "neighbours": model.neighbours,
        "cut_corners": model.cut_corners,
        "sizes": [list(size) for size in model.sizes],
        "recipe": model.recipe,
        "recipe_config": dict(model.recipe_config),
        "seed": model.seed,
        "summary": dict(model.summary),
        "versions": dict(model.versions),
    }
    container.write(Path(path), KIND, FORMAT_VERSION, header, dict(model.tensors))


def load_grid_model(path: str | Path) -> GridModel:
    """Reads what `save_grid_model` wrote; anything else is a `ModelError`."""
    try:
        header, tensors = container.read(Path(path), KIND, FORMAT_VERSION)
    except InputError as error:
        raise ModelError(str(error)) from None
    try:
        network: GridNetwork = estimates.named_part(GRID_NETWORKS, header["network"])
        model = GridModel(
            network=network,
            tensors=tensors,
            estimate=estimates.from_json(header["estimate"]),
            scale=float(header["scale"]),
            neighbours=int(header["neighbours"]),
            cut_corners=bool(header["cut_corners"]),
            sizes=tuple((int(rows), int(columns)) for rows, columns in header["sizes"]),
            recipe=str(header["recipe"]),
            recipe_config=dict(header["recipe_config"]),
            seed=int(header["seed"]),
            summary=dict(header["summary"]),
            versions=dict(header["versions"]),
        )
        _ = model.module  # weights that do not fit are told at once
        return model
    except (KeyError, TypeError, ValueError, InputError, ModelError) as error:
        raise ModelError(f"{path}: damaged model: {error}") from None
