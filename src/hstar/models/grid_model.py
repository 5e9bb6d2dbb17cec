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
from hstar.spaces.grid import GridLike, LatticeProblem

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
    headings: int = 0  # of a lattice, 4 or 8, with goals for every heading; 0: cells without headings
    turn_cost: float = 0.0
    summary: Mapping[str, Any] = field(default_factory=dict)  # of the training
    versions: Mapping[str, str] = field(default_factory=lambda: {"hstar": __version__})

    def __post_init__(self) -> None:
        if not 0 < self.scale < math.inf:
            raise ModelError(f"the scale must be a number above 0, got {self.scale!r}")
        if self.neighbours not in (4, 8):
            raise ModelError(f"neighbours are 4 or 8, got {self.neighbours!r}")
        if self.headings not in (0, 4, 8):
            raise ModelError(f"headings are 4 or 8, or 0, got {self.headings!r}")
        for name, tensor in self.tensors.items():
            if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
                raise ModelError(f"weights {name} are not all finite")

    def check(self, problem: GridLike) -> None:
        """A `ModelError` if the model is not for such problems."""
        grid = problem.grid
        if grid.costs is not None:
            raise ModelError("the model was trained for steps that cost 1, asked for costs of cells")
        self._check_headings(problem)
        corners = grid.cut_corners and (self.headings or grid.neighbours) == 8
        if self.headings:
            if corners != self.cut_corners:
                raise ModelError("the model was trained for other rules of corners than it is asked for")
        elif (grid.neighbours, corners) != (self.neighbours, self.cut_corners):
            raise ModelError(
                f"the model was trained for {_steps(self.neighbours, self.cut_corners)}, "
                f"asked for {_steps(grid.neighbours, corners)}"
            )
        if not self.network.any_size and grid.shape not in self.sizes:
            known = ", ".join(f"{rows} x {columns}" for rows, columns in self.sizes)
            raise ModelError(
                f"the model {self.network.name} was trained for maps of {known} cells, "
                f"asked for {grid.shape[0]} x {grid.shape[1]}; a vin takes any size"
            )

    def _check_headings(self, problem: GridLike) -> None:
        lattice = problem if isinstance(problem, LatticeProblem) else None
        asked = (lattice.headings, lattice.turn_cost) if lattice is not None else (0, 0.0)
        if asked != (self.headings, self.turn_cost):
            raise ModelError(
                f"the model was trained for {_headings(self.headings, self.turn_cost)}, "
                f"asked for {_headings(*asked)}"
            )
        if lattice is not None and len(lattice.goal) != 2:
            raise ModelError("the model was trained for goals that do not say a heading")

    def values(self, problem: GridLike) -> npt.NDArray[np.float32]:
        """The value map that `grid_astar` takes, of the problem's shape; cells that are blocked have 0."""
        import torch

        self.check(problem)
        headings = max(self.headings, 1)
        states = np.flatnonzero(np.repeat(~problem.grid.blocked.reshape(-1), headings))
        bounds = problem.lower_bounds().reshape(-1).astype(np.float32)
        image = self.network.encode(problem)
        size = len(states) if self.network.whole else CELLS_AT_ONCE
        found = []
        with torch.inference_mode():
            for start in range(0, len(states), size):
                some = states[start : start + size]
                scenario = np.zeros(len(some), dtype=np.int64)
                bound = torch.from_numpy(bounds[some])
                known = Known(lower=bound, base=bound if self.network.relative else None)
                raw = self.module(self.network.inputs([image], scenario, some, headings))
                found.append(self.estimate.mean(raw, known).numpy())
        result = np.zeros(len(bounds), dtype=np.float32)
        result[states] = np.concatenate(found)
        return result.reshape(problem.shape)

    @cached_property
    def module(self) -> nn.Module:
        """The network with its weights; a `ModelError` if these are not its own."""
        import torch

        weights = {name: torch.from_numpy(array.copy()) for name, array in self.tensors.items()}
        module = self.network.build(self.estimate.outputs, self.scale, max(self.headings, 1))
        try:
            module.load_state_dict(weights)
        except RuntimeError as error:
            raise ModelError(f"weights of {self.network.name}: {' '.join(str(error).split())}") from None
        return module.eval()


def _steps(neighbours: int, cut_corners: bool) -> str:
    return f"{neighbours} neighbours{' and cut corners' if cut_corners else ''}"


def _headings(headings: int, turn_cost: float) -> str:
    return f"{headings} headings, turns for {turn_cost:g}" if headings else "cells without headings"


def save_grid_model(path: str | Path, model: GridModel) -> None:
    """Writes the file, as a whole or not at all."""
    header: dict[str, Any] = {
        "network": {"name": model.network.name, **asdict(model.network)},  # type: ignore[call-overload]
        "estimate": estimates.to_json(model.estimate),
        "scale": model.scale,
        "neighbours": model.neighbours,
        "cut_corners": model.cut_corners,
        "headings": model.headings,
        "turn_cost": model.turn_cost,
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
            headings=int(header.get("headings", 0)),  # older files are of grids
            turn_cost=float(header.get("turn_cost", 0)),
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
