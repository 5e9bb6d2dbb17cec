"""Selection keeps the network that searches best, with no more searches than it has to do."""

from typing import Any

import pytest

import hstar
from hstar.errors import InputError
from hstar.recipes import selection
from hstar.recipes.selection import Candidate, Selection

NEEDS = {"good": 5, "fair": 15, "slow": 35, "lost": 10**9}
"""Evaluations that each of some made-up networks needs from any start."""


class Result:
    """What a search of a made-up network gives."""

    def __init__(self, needs: int, budget: int) -> None:
        self.solved = needs <= budget
        self.evaluated = min(needs, budget)
        self.status = "solved" if self.solved else "evaluation_limit"


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The searches that were made: network and budget."""
    made: list[tuple[str, int]] = []

    def search(start: object, model: str, name: str, *, max_evaluations: int) -> Result:
        made.append((model, max_evaluations))
        return Result(NEEDS[model], max_evaluations)

    monkeypatch.setattr(selection, "solve", search)
    return made


def candidates(*names: str) -> list[Candidate]:
    """Networks whose losses rank them the wrong way round."""
    losses = dict(zip(sorted(NEEDS, key=NEEDS.__getitem__, reverse=True), range(4), strict=True))
    return [Candidate(name, losses[name]) for name in names]  # type: ignore[arg-type]


STARTS: Any = ["first", "second"]


def test_halving_drops_half_and_doubles_the_budget(searches: list[tuple[str, int]]) -> None:
    best = selection.best(candidates("lost", "slow", "fair", "good"), STARTS, "halving", 10)
    assert best.model == "good"
    # "lost" and "slow" tie with all their budget used; the loss decides which of the losers is dropped, and
    # "fair" has solved nothing within 10 either.
    assert searches[:8] == [(name, 10) for name in ("lost", "slow", "fair", "good") for _ in STARTS]
    # The second round: what was solved is not searched again.
    assert searches[8:] == [("lost", 20)] * 2


def test_halving_finds_what_needs_the_larger_budget(searches: list[tuple[str, int]]) -> None:
    best = selection.best(candidates("lost", "fair"), STARTS, "halving", 10)
    assert best.model == "lost"  # within 10 evaluations both fail, so the loss decides
    best = selection.best(candidates("lost", "fair"), STARTS, "halving", 15)
    assert best.model == "fair"


def test_validate_searches_once_from_each_start(searches: list[tuple[str, int]]) -> None:
    best = selection.best(candidates("slow", "fair", "lost"), STARTS, "validate", 40)
    assert best.model == "fair"
    assert len(searches) == 6


def test_loss_needs_no_search(searches: list[tuple[str, int]]) -> None:
    assert selection.best(candidates("good", "lost", "fair"), STARTS, "loss", 10).model == "lost"
    assert not searches


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="unknown select 'halve'"):
        Selection(select="halve")
    with pytest.raises(InputError, match="networks must be a whole number from 1 on"):
        Selection(networks=0)


def test_the_kept_network_is_one_of_the_trained(small_blocks: hstar.Task) -> None:
    options = {"states": 400, "epochs": 4, "width": 16, "seed": 3}
    chosen = hstar.train(
        "fsm", small_blocks, networks=3, validation_starts=4, validation_budget=50, **options
    )
    records = chosen.summary["selection"]
    assert [record["seed"] for record in records] == [3, 4, 5]
    assert chosen.recipe_config["selection"]["select"] == "halving"
    # It is the network that its seed alone gives.
    alone = hstar.train("fsm", small_blocks, **{**options, "seed": chosen.seed})
    for name, tensor in alone.network.tensors().items():
        assert (chosen.network.tensors()[name] == tensor).all()


def test_each_network_has_its_own_checkpoint(small_blocks: hstar.Task, tmp_path) -> None:  # type: ignore[no-untyped-def]
    options = {"states": 300, "epochs": 2, "width": 16, "networks": 2, "validation_starts": 2}
    checkpoint = tmp_path / "run.checkpoint"
    first = hstar.train("rsl", small_blocks, checkpoint=checkpoint, **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.checkpoint.1", "run.checkpoint.2"]
    again = hstar.train("rsl", small_blocks, checkpoint=checkpoint, **options)
    assert first.seed == again.seed
    assert (first.network.rows == again.network.rows).all()
