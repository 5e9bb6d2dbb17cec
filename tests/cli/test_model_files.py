"""Commands take model files of every kind, or say in one line which kind they are for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import DATA
from hstar.models.trained_model import load_model

from .conftest import Refused, Run

MODELS = sorted((DATA / "models").glob("*.hstar"))


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_info(hstar: Run, path: Path) -> None:
    record = json.loads(hstar("info", path, "--json").out)
    model = load_model(path)
    assert (record["recipe"], record["trained_for"]) == (model.recipe, str(model.space))
    assert record["kind"] == path.stem.partition("-")[0] and record["weights"] > 5
    assert json.loads(record["rule"])["name"] == model.rule.name
    assert ("promise" in record) == ("calibrated" in path.stem)


def test_a_model_of_maps_is_calibrated(hstar: Run, refused: Refused, tmp_path: Path) -> None:
    maps, new = DATA / "models" / "map-vin.hstar", tmp_path / "new.hstar"
    asked = ("calibrate", maps, "-o", new, "--confidence", "0.8")
    record = json.loads(hstar(*asked, "--random", "9", "--json", "-q").out)
    assert record["instances"] == 9 and record["distribution"] == "random maps" and record["whole"]
    assert load_model(new).calibration is not None
    assert "9 of the calibration (random maps)" in json.loads(hstar("info", new, "--json").out)["promise"]
    done = hstar(
        "solve", "--rows", "8", "--columns", "8", "--random", "2", "--heuristic", new, "--json", "-q"
    )
    assert [json.loads(line)["status"] for line in done.out.splitlines()] == ["solved", "solved"]
    assert "by .scen files, or by --random N" in refused(33, *asked)
    assert "--walks is not for models of a map" in refused(33, *asked, "--random", "9", "--walks", "3")


def test_models_of_other_kinds_are_refused(refused: Refused) -> None:
    maps, puzzle = DATA / "models" / "map-vin.hstar", DATA / "models" / "puzzle-floor.hstar"
    problem = DATA / "blocks" / "problem.pddl"
    assert "expected a model of a domain, got one of a map" in refused(33, "evaluate", maps, "gripper")
    assert "trained for tiles:2x3, asked for a task" in refused(33, "solve", problem, "-e", puzzle)
    asked = ("solve", "pancake:5", "--random", "1", "--heuristic")
    assert "trained for tiles:2x3, asked for pancake" in refused(33, *asked, puzzle)
    assert "asked for a puzzle" in refused(33, *asked, maps)
    assert "asked for a map" in refused(33, "solve", "--kind", "maze", "--heuristic", puzzle)
