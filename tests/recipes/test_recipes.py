"""Contracts over all recipes: they learn something, the same each time, and say what they do not know."""

from pathlib import Path

import pytest

import hstar
from hstar.errors import InputError
from hstar.recipes import RECIPES
from hstar.sampling.walks import Walks

OF_A_TASK = [name for name in RECIPES if "task" in RECIPES.get(name).spaces and name != "likely-admissible"]
QUICK = {"states": 1000, "epochs": 30, "width": 32}


@pytest.fixture
def task(small_blocks: hstar.Task) -> hstar.Task:
    return small_blocks


@pytest.mark.parametrize("name", OF_A_TASK)
def test_learned_search_expands_less_than_blind_search(name: str, task: hstar.Task) -> None:
    model = hstar.train(name, task, **QUICK)
    starts = Walks(walks=5, min_length=30, max_length=30, seed=1).tasks(task)
    learned = [hstar.solve(start, model) for start in starts]
    assert all(result.solved for result in learned)
    blind = [hstar.solve(start, "blind") for start in starts]
    assert sum(result.expanded for result in learned) < sum(result.expanded for result in blind)


@pytest.mark.parametrize("name", OF_A_TASK)
def test_one_seed_fixes_the_model(name: str, task: hstar.Task) -> None:
    tensors = [
        hstar.train(name, task, seed=seed, states=300, epochs=2).network.tensors() for seed in (1, 1, 2)
    ]
    assert all((tensors[0][key] == tensors[1][key]).all() for key in tensors[0])
    assert any((tensors[0][key] != tensors[2][key]).any() for key in tensors[0])


def test_the_paper_profile_sets_every_part(task: hstar.Task) -> None:
    model = hstar.train("nrsl", task, profile="paper", states=600, epochs=1, length=20)
    assert model.recipe_config["sampler"]["completion"] == "atoms"
    assert model.recipe_config["training"]["patience"] == 2
    assert model.model_config["output_relu"] is True


def test_wrong_names_are_answered_with_the_known_ones(task: hstar.Task) -> None:
    with pytest.raises(InputError, match=r"unknown recipe 'nrls'.*did you mean 'nrsl'"):
        hstar.train("nrls", task)
    with pytest.raises(InputError, match=r"unknown option of rsl 'epoch'.*did you mean 'epochs'"):
        hstar.train("rsl", task, epoch=3)
    with pytest.raises(InputError, match="unknown profile of fsm"):
        hstar.train("fsm", task, profile="papers")


def test_without_regression_states_are_sampled_forward() -> None:
    """Unless a sampler is named that cannot do it."""
    data = Path(__file__).parents[1] / "data" / "briefcase"
    task = hstar.load(data / "domain.pddl", data / "problem.pddl")
    with pytest.raises(hstar.UnsupportedError, match="nrsl samples by regression"):
        hstar.train("nrsl", task, states=100, sampler="nrsl")
    model = hstar.train("nrsl", task, states=100, epochs=1, walks=3)
    assert model.recipe_config["sampler"]["walks"] == 3
