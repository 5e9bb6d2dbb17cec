"""Models that hstar 0.1 wrote, of its four kinds of files, give the values that they gave there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hstar
from conftest import DATA
from hstar import container
from hstar.errors import ModelError
from hstar.estimates.rules import parse
from hstar.models.puzzle_identity import truncated
from hstar.models.trained_model import TrainedModel, load_model
from hstar.search.heuristics import evaluate
from hstar.spaces.grid import Grid, GridProblem, LatticeProblem
from hstar.spaces.puzzles import parse_puzzle

MODELS = DATA / "models"
EXPECTED: dict[str, dict[str, Any]] = json.loads((MODELS / "expected.json").read_text())


def values(model: TrainedModel[Any], known: dict[str, Any]) -> list[float]:
    if known["kind"] == "task":
        blocks = DATA / "blocks"
        task = hstar.load(blocks / "domain.pddl", blocks / "problem.pddl", unit_cost=True)
        return evaluate(task, model, known["states"]).tolist()
    if known["kind"] == "puzzle":
        found = model.build(parse_puzzle(known["puzzle"])).values(known["states"])
        return [int(value) for value in found]
    blocked = np.array([[cell == "@" for cell in row] for row in known["map"]])
    grid, start, goal = Grid(blocked, None, known["neighbours"]), known["start"], known["goal"]
    turning = known["headings"]
    problem = LatticeProblem(grid, start, goal, turning) if turning else GridProblem(grid, start, goal)
    return model.build(problem).values.reshape(-1).tolist()


def ruled(model: TrainedModel[Any], text: str) -> TrainedModel[Any]:
    """With the rule that is typed, `own` for that of the model; behind `truncated` with such a belief."""
    first, _, rest = text.partition(" ")
    if first == "truncated":
        return truncated(model.with_rule(parse(rest)))
    return model if text == "own" else model.with_rule(parse(text))


@pytest.mark.parametrize("name", EXPECTED)
def test_values_are_those_of_the_release_that_wrote_them(name: str, tmp_path: Path) -> None:
    known, model = EXPECTED[name], load_model(MODELS / f"{name}.hstar")
    assert repr(model).count("\n") == 0 and str(model.space) in repr(model)
    model.save(tmp_path / "new.hstar")
    again = hstar.load_model(tmp_path / "new.hstar")
    again.save(tmp_path / "again.hstar")
    assert (tmp_path / "new.hstar").read_bytes() == (tmp_path / "again.hstar").read_bytes()
    assert (model.calibration is not None) == ("calibrated" in name)
    for text, expected in known["values"].items():
        for one in (model, again):
            found = values(ruled(one, text), known)
            if known["kind"] == "map":  # torch may round in another order on another machine
                assert found == pytest.approx(expected, rel=1e-5), text
            else:
                assert found == expected, text


def test_every_old_kind_is_there() -> None:
    kinds = {container.kind(path) for path in MODELS.glob("*.hstar")}
    assert kinds == {"model", "domain model", "puzzle model", "grid model"}
    assert {f"{name}.hstar" for name in EXPECTED} == {path.name for path in MODELS.glob("*.hstar")}


@pytest.mark.parametrize("name", EXPECTED)
def test_damaged_ones_are_told_in_one_line(name: str, tmp_path: Path) -> None:
    old, path = MODELS / f"{name}.hstar", tmp_path / "m.hstar"
    data, kind = old.read_bytes(), container.kind(old)
    assert kind is not None
    version = 2 if kind == "domain model" else 1
    header, tensors = container.read(old, kind, version)
    path.write_bytes(data[:-3])
    told = [refused(path)]
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    told.append(refused(path))
    for missing in header:
        if missing in ("upper", "trained_on", "estimate_config", "headings", "turn_cost"):
            continue  # older ones had none
        if missing == "rule" and kind == "puzzle model":
            continue
        container.write(path, kind, version, {k: v for k, v in header.items() if k != missing}, tensors)
        told.append(refused(path))
    first, *others = tensors
    container.write(path, kind, version, header, {one: tensors[one] for one in others})
    if kind != "domain model":  # whose tensors are read with the task that they are for
        told.append(refused(path))
    container.write(path, kind, version, header, {**tensors, first: np.full_like(tensors[first], np.nan)})
    if tensors[first].dtype.kind == "f":
        told.append(refused(path))
    for message in told:
        assert message.startswith(str(path)) and "\n" not in message, message


def refused(path: Path) -> str:
    with pytest.raises(ModelError) as told:
        load_model(path)
    return str(told.value)
