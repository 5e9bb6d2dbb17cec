"""From a weak heuristic and random instances to a learned one."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hstar.errors import InputError
from hstar.models.trained_model import TrainedModel
from hstar.recipes import train
from hstar.search.solve import solve
from hstar.spaces.puzzles import parse_puzzle

SIZE = parse_puzzle("tiles:2x3")
SMALL: dict[str, Any] = {
    "instances": 30,
    "least_solved": 8,
    "nodes": 40,
    "most_nodes": 2000,
    "hidden": 8,
    "planner_steps": 150,
    "first": "misplaced",
}


def learned(progress: Any = None, checkpoint: Path | None = None, **options: Any) -> TrainedModel[Any]:
    return train("bootstrap", SIZE, progress=progress, checkpoint=checkpoint, **{**SMALL, **options})


def told(model: TrainedModel[Any]) -> list[dict[str, Any]]:
    return [{name: v for name, v in row.items() if name != "time_s"} for row in model.summary["curve"]]


def test_limits_double_and_solved_instances_leave() -> None:
    model = learned()
    rows = told(model)
    assert any(row["learned"] for row in rows) and any(not row["learned"] for row in rows)
    for row, after in pairwise(rows):
        assert row["learned"] == (row["solved"] >= 8)
        assert after["nodes"] == (row["nodes"] if row["learned"] else 2 * row["nodes"])
        assert after["tasks"] == (row["tasks"] - row["solved"] if row["learned"] else row["tasks"])
    assert model.summary["solved"] == sum(row["solved"] for row in rows if row["learned"])
    assert model.estimate.outputs == 1
    network = model.build(SIZE)
    assert solve(SIZE.walk(4, 1), network, "idastar", max_evaluations=10**6).solved


def test_a_killed_run_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    whole, path = learned(), tmp_path / "run.part"

    class KilledError(Exception):
        pass

    def kill(record: Any) -> None:
        if record.iteration == 3:
            raise KilledError

    with pytest.raises(KilledError):
        learned(kill, path)
    found = learned(None, path)
    assert told(found) == told(whole)
    assert all(np.array_equal(found.tensors[name], whole.tensors[name]) for name in whole.tensors)


def test_nothing_to_learn_from() -> None:
    with pytest.raises(InputError, match=r"misplaced solved \d of 30 instances, less than 8 .* raise nodes"):
        learned(nodes=1, most_nodes=1)
    with pytest.raises(InputError, match="unknown heuristic of tiles:2x3 'gap'"):
        learned(first="gap")
    with pytest.raises(InputError, match=r"least_solved .* is above instances"):
        learned(instances=2)
