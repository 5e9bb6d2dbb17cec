"""Splits: the sets of problems that a learner is trained, validated and tested on.

The grids of sizes are those of Núñez-Molina et al. (arXiv 2308.11905), for four domains: `train`, `val` and
`test` share their sizes, `large` has larger ones. A cell is one choice of sizes, with a number of problems
for each split that has it.

Invariant: no problem is in two splits, nor twice in one.

Differences from the published sets:
1. The seed of a problem depends on its split. There it does not, so that validation and small test problems
   are among the training problems, and half of the large blocksworld test is.
2. Problems are compared by content, the set of their initial facts and the set of their goals: one that was
   there before, in any split of the cell, is replaced by the next attempt.
3. Where a cell has fewer problems than its splits want, they are dealt out in proportion to what the splits
   want, and a warning names the cell. (`gripper` with 2 balls has 24, `visitall` with all cells in the goal
   one a cell.)
4. Problems that no optimal planner solves in time are not left out: that is the business of who labels them.
   There the next seed takes the place of such a problem; `split_attempts` gives who labels the next ones.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hstar.errors import InputError
from hstar.generators import GENERATORS
from hstar.registry import unknown

logger = logging.getLogger(__name__)

SPLITS = ("train", "val", "test", "large")
Sizes = Mapping[str, int]

# So many attempts in a row without a new problem: a cell has no more of them. Those that run out have up to
# 25 problems, all equally likely, and the chance to miss the last one of 25 is 1 in 10^8.
ATTEMPTS = 500


@dataclass(frozen=True)
class Grid:
    """The cells of a split, and how many problems of each it wants."""

    cells: tuple[Sizes, ...]
    number: int


@dataclass(frozen=True)
class Instance:
    """A problem of a split. `base_seed` counts the problems of its cell in the split."""

    generator: str
    split: str
    sizes: Sizes
    base_seed: int
    attempt: int
    seed: int
    domain: str
    problem: str
    digest: str


def _crossed(**sizes: Iterable[int]) -> tuple[Sizes, ...]:
    return tuple(dict(zip(sizes, chosen, strict=True)) for chosen in itertools.product(*sizes.values()))


def _square(sides: Iterable[int]) -> tuple[Sizes, ...]:
    return tuple(
        {"rows": side, "columns": side, "goal_percent": percent} for side in sides for percent in (50, 100)
    )


def _grids(
    small: tuple[Sizes, ...], train: int, val: int, large: tuple[Sizes, ...], number: int
) -> dict[str, Grid]:
    return {
        "train": Grid(small, train),
        "val": Grid(small, val),
        "test": Grid(small, val),
        "large": Grid(large, number),
    }


_TENS = (10, 15, 20, 25, 30)
GRIDS: dict[str, dict[str, Grid]] = {
    "blocksworld": _grids(_crossed(blocks=range(5, 17)), 38, 11, _crossed(blocks=range(11, 23)), 11),
    "ferry": _grids(
        _crossed(locations=range(2, 7), cars=range(2, 7)), 16, 4, _crossed(locations=_TENS, cars=_TENS), 4
    ),
    "gripper": _grids(_crossed(balls=(2, 4, 6, 8, 10)), 80, 20, _crossed(balls=(20, 30, 40, 50, 60)), 20),
    "visitall": _grids(_square((3, 4, 5)), 70, 17, _square((6, 7, 8)), 17),
}
"""By generator and split."""


def instance_seed(generator: str, split: str, sizes: Sizes, base_seed: int, attempt: int) -> int:
    """The seed of an attempt: 4 h + the number of the split, so that no two splits share one.

    h is the first 44 bits of the SHA-256 of the JSON text `[generator, split, sizes, base_seed, attempt]`,
    with the sizes as an object in order of their names and no spaces.
    """
    about = [generator, split, dict(sizes), base_seed, attempt]
    text = json.dumps(about, sort_keys=True, separators=(",", ":"))
    h = int(hashlib.sha256(text.encode()).hexdigest()[:11], 16)
    return 4 * h + SPLITS.index(split)


def split_instances(generator: str, split: str) -> list[Instance]:
    """The problems of a split, by base seed and then by cell: any first part of it has all sizes."""
    return [first for first, *_ in split_attempts(generator, split, 1)]


def split_attempts(generator: str, split: str, number: int) -> list[list[Instance]]:
    """The problems of a split, each with those that may take its place: up to `number` of one base seed.

    No problem is there twice, in this split or in others with whatever number, and those for a smaller number
    come first among those for a greater one. Where a cell runs out of problems there are fewer.
    """
    if generator not in GRIDS:
        GENERATORS.get(generator)  # refuses what is not even a generator
        raise InputError(f"{generator} has no splits (those that have: {', '.join(GRIDS)})")
    if split not in SPLITS:
        raise unknown("split", split, list(SPLITS))
    grid = GRIDS[generator][split]
    cells = []
    for sizes in grid.cells:
        cells.append(cell_attempts(generator, sizes, number)[split])
        if len(cells[-1]) < grid.number:
            words = ", ".join(f"{name} {value}" for name, value in sizes.items())
            logger.warning(
                "%s with %s has too few distinct problems: %s has %d of %d",
                *(generator, words, split, len(cells[-1]), grid.number),
            )
    rounds = itertools.zip_longest(*cells)
    return [attempts for one in rounds for attempts in one if attempts is not None]


def cell_attempts(generator: str, sizes: Sizes, number: int) -> dict[str, list[list[Instance]]]:
    """All problems with these sizes, by split, and behind each the next attempts of its base seed.

    The splits take turns, in proportion to what they want; then all that they have got take turns again.
    """
    wanted = {split: grid.number for split, grid in GRIDS[generator].items() if sizes in grid.cells}
    turns = sorted(
        ((2 * base_seed + 1) / (2 * number), SPLITS.index(split), split, base_seed)
        for split, number in wanted.items()
        for base_seed in range(number)
    )
    found: dict[str, list[list[Instance]]] = {split: [] for split in wanted}
    seen: set[str] = set()

    def new(split: str, base_seed: int, first: int) -> Instance | None:
        attempts = itertools.islice(_attempts(generator, split, sizes, base_seed, first), ATTEMPTS)
        chosen = next((instance for instance in attempts if instance.digest not in seen), None)
        if chosen is not None:
            seen.add(chosen.digest)
        return chosen

    for _, _, split, base_seed in turns:
        instance = new(split, base_seed, 0)
        if instance is None:
            return found  # nor are there any to take the place of another
        found[split].append([instance])
    for _, (_, _, split, base_seed) in itertools.product(range(1, number), turns):
        others = found[split][base_seed]
        instance = new(split, base_seed, others[-1].attempt + 1)
        if instance is None:
            break
        others.append(instance)
    return found


def _attempts(generator: str, split: str, sizes: Sizes, base_seed: int, first: int) -> Iterator[Instance]:
    for attempt in itertools.count(first):
        seed = instance_seed(generator, split, sizes, base_seed, attempt)
        domain, problem = GENERATORS.get(generator)(**sizes, seed=seed)
        about = (generator, split, sizes, base_seed, attempt, seed)
        yield Instance(*about, domain, problem, content_digest(problem))


def content_digest(problem: str) -> str:
    """The SHA-256 of what is initially true and of the goals, whatever their order, name and layout."""
    tree = _tree(iter(re.findall(r"[()]|[^\s()]+", problem.lower())))
    sections = {section[0]: section[1:] for section in tree[0][1:]}
    (goal,) = sections[":goal"]
    goals = goal[1:] if goal[0] == "and" else [goal]
    content = [sorted(set(map(str, parts))) for parts in (sections[":init"], goals)]
    return hashlib.sha256(str(content).encode()).hexdigest()


def _tree(tokens: Iterator[str]) -> list[Any]:
    """The parenthesised lists of a text; reads up to the end of the current one."""
    found: list[Any] = []
    for token in tokens:
        if token == ")":
            break
        found.append(_tree(tokens) if token == "(" else token)
    return found
