"""Labelled states of maps for the training loop: cells, or cells and headings of lattices.

For a network that values whole maps an example is a scenario with all its labelled states; for one that takes
an image for each cell it is a cell. Scenarios, not states, are held out: those of one are much alike. Ten of
500 random scenarios, with long detours, may have half of all squared distances from the admissible bound, and
a tenth that is drawn freely mostly has none of them. So the held-out ones are drawn from groups of equally
hard ones. With `symmetries` each scenario is there in all eight turns and reflections of the square, and
headings with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from hstar.estimates.estimate import Batch, Known
from hstar.models.grid_config import GridNetwork
from hstar.spaces.grid import GridLike
from hstar.training.examples import Column, Indices, held_out_size, tensor, to_device

SYMMETRIES = 8

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, eq=False)
class LabelledScenario:
    """A problem, states of it as flat indices over its shape, and the cost-to-go of each."""

    problem: GridLike
    cells: npt.NDArray[np.int64]
    label: Column
    reached: bool = True  # the start, by the backward search


class GridExamples:
    """Scenarios read by a network."""

    def __init__(
        self, scenarios: Sequence[LabelledScenario], network: GridNetwork, *, symmetries: bool = False
    ) -> None:
        self.scenarios, self.network = [one for one in scenarios if len(one.cells)], network
        self.turns = SYMMETRIES if symmetries else 1
        self.images = [network.encode(one.problem) for one in self.scenarios]
        sizes = [len(one.cells) for one in self.scenarios]
        self._first = np.cumsum([0, *sizes])  # of the cells of a scenario, in the columns of all of them
        self._scenario = np.repeat(np.arange(len(sizes)), sizes)
        self._cell = np.concatenate([np.zeros(0, np.int64), *(one.cells for one in self.scenarios)])
        self.label = np.concatenate([np.zeros(0, np.float32), *(one.label for one in self.scenarios)])
        self._bound = np.zeros(len(self.label), np.float32)
        for one, first in zip(self.scenarios, self._first, strict=False):
            bounds = one.problem.lower_bounds().reshape(-1)
            self._bound[first : first + len(one.cells)] = bounds[one.cells]

    def __len__(self) -> int:
        return self.turns * (len(self.scenarios) if self.network.whole else len(self.label))

    def target(self) -> Column:
        """What the network has to say of the labelled cells."""
        return self.label - self._bound if self.network.relative else self.label

    def split(self, share: float, seed: int) -> tuple[GridExamples, GridExamples]:
        """By scenarios, one of each group of equally hard ones; those that are held out are there once."""
        size = held_out_size(len(self.scenarios), share)
        rng = np.random.default_rng(seed)
        groups = np.array_split(np.argsort(self._hardness(), kind="stable"), size) if size else []
        chosen = {int(rng.choice(group)) for group in groups}
        rest = [one for i, one in enumerate(self.scenarios) if i not in chosen]
        held_out = GridExamples([self.scenarios[i] for i in sorted(chosen)], self.network)
        return GridExamples(rest, self.network, symmetries=self.turns > 1), held_out

    def _hardness(self) -> npt.NDArray[np.float64]:
        """Of each scenario what a network has in the loss that knows the admissible distances alone."""
        squares = np.square(self.label - self._bound, dtype=np.float64)
        found = np.bincount(self._scenario, weights=squares, minlength=len(self.scenarios))
        return found.astype(np.float64)

    def digest(self) -> str:
        found = hashlib.sha256(repr((self.network, self.turns)).encode())
        for one in self.scenarios:
            grid = one.problem.grid
            told = (one.problem.shape, grid.neighbours, grid.cut_corners, one.problem.start, one.problem.goal)
            found.update(repr(told).encode())
            for array in (grid.blocked, one.cells, one.label):
                found.update(array.tobytes())
        return found.hexdigest()

    def batch(self, indices: Indices, device: torch.device) -> tuple[Any, Batch]:
        """What the network reads; labels, and the admissible distances, which it may add to.

        Cells of one image stand together, whatever the order of the indices.
        """
        images, rows, states = [], [], []
        headings = 1
        for scenario, turn, some in self._groups(indices):
            images.append(_turned(self.images[scenario], turn))
            rows.append(some)
            shape = self.scenarios[scenario].problem.shape
            headings = shape[2] if len(shape) > 2 else 1  # the same in all scenarios
            states.append(_moved(shape, turn)[self._cell[some]])
        chosen = np.concatenate(rows)
        place = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
        inputs = to_device(self.network.inputs(images, place, np.concatenate(states), headings), device)
        label, bound = (tensor(column, chosen, device) for column in (self.label, self._bound))
        return inputs, Batch(label, Known(lower=bound, base=bound if self.network.relative else None))

    def _groups(self, indices: Indices) -> Iterator[tuple[int, int, Indices]]:
        """Scenarios, how they are turned, and rows of their cells."""
        number, turn = np.divmod(indices, self.turns)
        if self.network.whole:
            for one, way in zip(number.tolist(), turn.tolist(), strict=True):
                yield one, way, np.arange(self._first[one], self._first[one + 1])
            return
        key = self._scenario[number] * self.turns + turn
        for one in np.unique(key).tolist():
            yield one // self.turns, one % self.turns, number[key == one]


def _turned(image: npt.NDArray[T], turn: int) -> npt.NDArray[T]:
    """Turned by so many right angles, and reflected from the fifth way on; the last two axes count."""
    found = np.rot90(image, turn % 4, (-2, -1))
    return found[..., ::-1] if turn >= 4 else found


def _moved(shape: tuple[int, ...], turn: int) -> npt.NDArray[np.int64]:
    """By flat index of a state the one that it has in the turned map."""
    order = _turned(np.arange(shape[0] * shape[1]).reshape(shape[:2]), turn).reshape(-1)
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.arange(len(order))
    if len(shape) == 2:
        return found
    headings = shape[2]
    heading = np.arange(headings) - turn % 4 * headings // 4  # right angles against the clock
    heading = (-heading if turn >= 4 else heading) % headings
    return (found[:, None] * headings + heading).reshape(-1)
