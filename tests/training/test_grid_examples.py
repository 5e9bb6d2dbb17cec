"""Labelled cells: eight sides of a scenario tell the same, and no scenario is on both sides of a split."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from hstar.models.grid_config import PaperConfig, ValueMapConfig, VinConfig
from hstar.recipes.prolonged_map import ProlongedOptions, labelled
from hstar.sampling.prolonged import Prolonged
from hstar.spaces.grid import Grid, LatticeProblem
from hstar.spaces.grid_maps import problem_digest, random_problems, with_headings
from hstar.training.grid_examples import SYMMETRIES, GridExamples, LabelledScenario

CPU = torch.device("cpu")


def scenarios(number: int, **options: Any) -> list[LabelledScenario]:
    found = []
    for problem in random_problems(number, seed=2, **options):
        labels = Prolonged(k_pr=1.5, open=False).sample(problem)
        found.append(
            LabelledScenario(problem, labels.states.astype(np.int64), labels.label.astype(np.float32))
        )
    return found


def test_turned_scenarios_have_the_same_distances() -> None:
    """A batch of each side: its labels are the exact distances on the map that is shown."""
    given = scenarios(2, rows=9, columns=6)
    examples = GridExamples(given, ValueMapConfig(distance=True), symmetries=True)
    assert len(examples) == 2 * SYMMETRIES
    images = set()
    for index in range(len(examples)):
        inputs, batch = examples.batch(np.array([index]), CPU)
        free, goal, _ = inputs.image[0].numpy()
        grid = Grid(free == 0)
        cell = tuple(int(place) for place in np.argwhere(goal == 1)[0])
        places = inputs.place.numpy()
        assert np.array_equal(grid.distances(cell).reshape(-1)[places], batch.label.numpy())
        assert batch.known.base is not None
        assert np.array_equal(grid.lower_bounds(cell).reshape(-1)[places], batch.known.base.numpy())
        images.add((grid.shape, free.tobytes()))
    assert len(images) == 2 * SYMMETRIES


@pytest.mark.parametrize("headings", [4, 8])
def test_headings_turn_with_the_map(headings: int) -> None:
    """Labels of every side of a lattice are the exact costs there."""
    (grid,) = random_problems(1, seed=3, rows=6, columns=8)
    (problem,) = with_headings([grid], headings, 1.5, seed=0)
    labels = Prolonged(k_pr=math.inf, open=False).sample(problem)
    given = LabelledScenario(problem, labels.states.astype(np.int64), labels.label.astype(np.float32))
    examples = GridExamples([given], VinConfig(), symmetries=True)
    for index in range(SYMMETRIES):
        inputs, batch = examples.batch(np.array([index]), CPU)
        free, goal, _ = inputs.image[0].numpy()
        cell = tuple(int(place) for place in np.argwhere(goal == 1)[0])
        turned = LatticeProblem(Grid(free == 0), (*cell, 0), cell, headings, 1.5)
        found = Prolonged(k_pr=math.inf, open=False).sample(turned)
        exact = dict(zip(found.states.tolist(), found.label.astype(np.float32).tolist(), strict=True))
        assert [exact[place] for place in inputs.place.tolist()] == batch.label.tolist()
        assert batch.known.lower is not None and bool((batch.known.lower <= batch.label + 1e-4).all())


@pytest.mark.parametrize("symmetries", [False, True])
def test_single_cells_are_shown_where_they_are(symmetries: bool) -> None:
    given = scenarios(3, rows=16, columns=16)
    examples = GridExamples(given, PaperConfig(), symmetries=symmetries)
    assert len(examples) == sum(len(one.cells) for one in given) * (SYMMETRIES if symmetries else 1)
    indices = np.random.default_rng(0).permutation(len(examples))[:40]
    images, batch = examples.batch(indices, CPU)
    assert batch.known.base is None and images.shape == (40, 3, 16, 16)
    for (obstacles, node, goal), label in zip(images.numpy(), batch.label.tolist(), strict=True):
        assert node.sum() == goal.sum() == 1
        distances = Grid(obstacles == 1).distances(tuple(map(int, np.argwhere(goal == 1)[0])))
        assert distances[node == 1].tolist() == [label]


def test_scenarios_are_held_out() -> None:
    examples = GridExamples(scenarios(10, rows=8, columns=8), ValueMapConfig(), symmetries=True)
    rest, held_out = examples.split(0.3, seed=1)
    assert (len(rest), len(held_out)) == (7 * SYMMETRIES, 3)
    one, two = ({problem_digest(s.problem) for s in side.scenarios} for side in (rest, held_out))
    assert len(one) == 7 and len(two) == 3 and not one & two
    assert len(rest.label) + len(held_out.label) == len(examples.label)
    assert len(examples.split(0, 1)[1]) == 0 and len(examples.split(0.01, 1)[1]) == 1


def test_targets_and_digests() -> None:
    given = scenarios(2, rows=8, columns=8)
    relative, plain = (
        GridExamples(given, ValueMapConfig()),
        GridExamples(given, ValueMapConfig(distance=False)),
    )
    assert np.array_equal(plain.target(), plain.label)
    bounds = [s.problem.grid.lower_bounds(s.problem.goal).reshape(-1)[s.cells] for s in given]
    assert np.array_equal(relative.target(), relative.label - np.concatenate(bounds).astype(np.float32))
    assert relative.target().min() >= 0
    digests = {
        relative.digest(),
        plain.digest(),
        GridExamples(given[:1], ValueMapConfig()).digest(),
        GridExamples(given, ValueMapConfig(), symmetries=True).digest(),
    }
    assert len(digests) == 4 and GridExamples(given, ValueMapConfig()).digest() == relative.digest()


def test_held_out_scenarios_are_as_hard_as_the_rest() -> None:
    """Drawn freely, a tenth has between 0.4 and 1.9 times the squared distances from the bound."""
    config = ProlongedOptions()
    for seed in range(5):
        given = list(labelled(random_problems(531, seed), config))
        rest, held_out = GridExamples(given, VinConfig()).split(0.1, seed)
        assert len(held_out.scenarios) == 53 and len(rest.scenarios) == 478
        ratio = np.square(held_out.target()).mean() / np.square(rest.target()).mean()
        assert 0.7 < ratio < 1.4
