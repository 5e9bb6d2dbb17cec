"""`hstar sample`, and learning from what it wrote."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from hstar.models.trained_model import load_model
from hstar.sampling import dataset

from .conftest import DATA, Refused, Run

QUICK = ("--epochs", "2", "--width", "8", "--seed", "3")


@pytest.fixture
def folder(blocks: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(blocks)
    return blocks


def test_data_and_summary(hstar: Run, folder: Path) -> None:
    done = hstar("sample", "fsm", "problem.pddl", "-o", "states", "--states", "200", "--seed", "1")
    assert (done.code, done.out) == (0, "")
    assert re.fullmatch(r"states: fsm, 200 states \(\d+ distinct\) of 25 atoms in [0-9.]+ s\n", done.err)
    data = dataset.load(folder / "states")
    assert len(data) == 200
    assert json.loads(data.provenance["options"])["seed"] == 1


def test_json_with_errors(hstar: Run, folder: Path) -> None:
    done = hstar("sample", "exact", "problem.pddl", "-o", "states", "--errors", "--json", "-q")
    assert done.err == ""
    record = json.loads(done.out)
    assert (record["sampler"], record["label_error"], record["comparable"]) == ("exact", 0.0, 1.0)
    assert record["states"] == record["distinct"] == sum(count for _, _, count in record["error_by_h"])


def test_defaults_are_those_of_the_recipe(hstar: Run, folder: Path) -> None:
    for words, length in (([], 0), (["--profile", "paper"], 500), (["--length", "7"], 7)):
        assert hstar("sample", "rsl", "problem.pddl", "-o", "states", "--states", "50", *words).code == 0
        assert json.loads(dataset.load(folder / "states").provenance["options"])["length"] == length


def test_training_on_data_is_training_by_sampling(hstar: Run, folder: Path) -> None:
    words = ("problem.pddl", "-o", "states", "--states", "300", "--seed", "3")
    assert hstar("sample", "fsm", *words).code == 0
    done = hstar("train", "fsm", "problem.pddl", "-o", "from_data", "--data", "states", *QUICK)
    assert re.match(r"from_data: fsm, 25 atoms, \d+ states from states", done.err)
    assert hstar("train", "fsm", "problem.pddl", "-o", "sampled", "--states", "300", *QUICK).code == 0
    one, two = load_model(folder / "from_data"), load_model(folder / "sampled")
    assert one.summary["curve"][-1][1:] == two.summary["curve"][-1][1:]
    assert one.recipe_config["sampler"]["sampler"] == "fsm"  # where the data come from


def test_what_is_refused(refused: Refused, hstar: Run, folder: Path) -> None:
    sample = ("sample", "fsm", "problem.pddl", "-o", "states")
    assert "--rollouts is not an option of fsm" in refused(33, *sample, "--rollouts", "3")
    assert "unknown sampler 'fms'" in refused(33, "sample", "fms", "problem.pddl", "-o", "states")
    assert "unknown profile of fsm 'papre'" in refused(33, *sample, "--profile", "papre")
    assert "cannot write the data" in refused(33, "sample", "fsm", "problem.pddl", "-o", "absent/states")
    train = ("train", "fsm", "problem.pddl", "-o", "model", "--data")
    assert "absent: no such file" in refused(33, *train, "absent")
    assert "problem.pddl: is PDDL, and not a file of labelled states" in refused(33, *train, "problem.pddl")
    assert hstar(*sample, "--states", "20").code == 0
    assert "--states is for sampling" in refused(33, *train, "states", "--states", "5")
    other = folder / "other"
    shutil.copytree(DATA / "costs", other)
    words = ("train", "fsm", other / "problem.pddl", "-o", "model", "--data", "states")
    assert "the data are not of problem" in refused(33, *words)
    assert not (folder / "model").exists()
