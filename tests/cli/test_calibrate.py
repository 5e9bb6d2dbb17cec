"""`hstar calibrate`, and what `info` and `solve` tell of it; the commands of docs/calibration.md."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hstar.estimates import Calibrated, Clip, Quantile
from hstar.estimates.rules import RULES, Likely, Mean, Order, Rule
from hstar.models import models_of
from hstar.models.trained_model import load_model
from hstar.recipes import train
from hstar.sampling import relational
from hstar.sampling.relational import RelationalData
from hstar.sampling.walks import Walks
from hstar.search.heuristics import evaluate
from labelled import generated, labelled

from .conftest import DATA, Refused, Run

CALIBRATE = ("calibrate", "model.hstar", "others.data", "-o", "new.hstar", "--confidence")
SOLVE = ("solve", "task/domain.pddl", "task/problem.pddl", "-e", "new.hstar")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of few plans, plans that it has not seen, and the task they are all starts of."""
    folder = tmp_path_factory.mktemp("made")
    task = generated(folder, "blocksworld", blocks=5, seed=4)
    assert task.problem_file is not None
    shutil.copytree(task.problem_file.parent, folder / "task")
    walks = Walks(walks=60, min_length=10, max_length=50).tasks(task)
    starts = [one for one in walks if evaluate(one, "goalcount", [one.core.initial_state])[0] > 0]
    states, rest = labelled(starts[:3]), labelled(starts[3:], letter="q")
    seen = {one.digest() for one in states.instances}
    others = [one for one in rest.instances if one.digest() not in seen][:20]
    assert len(others) == 20
    relational.save(folder / "states.data", states)
    relational.save(folder / "others.data", RelationalData(rest.words, tuple(others)))
    relational.save(folder / "empty.data", RelationalData(rest.words, ()))
    ferry = labelled([generated(folder, "ferry", locations=3, cars=1, seed=2)])
    relational.save(folder / "ferry.data", ferry)
    train("wl", states, iterations=1).save(folder / "model.hstar")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of them where a run starts."""
    for path in (*made.glob("*.data"), made / "model.hstar"):
        shutil.copy(path, tmp_path)
    shutil.copytree(made / "task", tmp_path / "task")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- from a model to a promise ----------------------------------------------------------------------


def test_calibrate_info_and_solve(hstar: Run, folder: Path) -> None:
    done = hstar(*CALIBRATE, "0.9")
    assert (done.code, done.out) == (0, "")
    promise = "optimal with probability at least 0.9, for problems like the 20 of the calibration"
    pattern = rf"new\.hstar: h - -?[0-9.]+; plans of astar and idastar are {promise}\n"
    assert re.fullmatch(pattern, done.err), done.err
    rule = load_model(folder / "new.hstar").calibration
    assert rule is not None and (rule.confidence, rule.instances, rule.whole) == (0.9, 20, True)

    record = json.loads(hstar("info", "new.hstar", "--json").out)
    assert record["promise"] == promise and json.loads(record["rule"])["score"] == rule.score
    assert "promise" not in json.loads(hstar("info", "model.hstar", "--json").out)
    assert promise in hstar("info", "new.hstar").out

    optimum = json.loads(hstar("solve", *SOLVE[1:3], "-s", "astar", "-e", "lmcut", "--json").out)["cost"]
    for search in ("astar", "idastar"):
        done = hstar(*SOLVE, "--search", search)
        assert done.code == 0 and done.err.splitlines()[-1] == f"the plan is {promise}"
        record = json.loads(hstar(*SOLVE, "--search", search, "--json").out)
        assert record["promise"] == {
            "kept": True,
            "confidence": 0.9,
            "bound": 1.0,
            "instances": 20,
            "text": f"is {promise}",
        }
        assert record["cost"] == optimum


def test_a_bound_and_a_second_calibration(hstar: Run, folder: Path) -> None:
    done = hstar(*CALIBRATE, "0.8", "--bound", "1.5", "--json", "-q")
    record = json.loads(done.out)
    assert (done.err, record["bound"], record["rank"], record["replaced"]) == ("", 1.5, 17, False)
    assert record["promise"].startswith("at most 1.5 times the optimal cost with probability at least 0.8")
    assert record["form"] == "ratio"
    done = hstar(*CALIBRATE, "0.8", "--bound", "1.5", "--form", "additive")
    assert "new.hstar: 1.5 (h - " in done.err and "at most 1.5 times" in done.err
    again = ("calibrate", "new.hstar", "others.data", "-o", "new.hstar", "--confidence", "0.9")
    done = hstar(*again)
    assert done.code == 0 and done.err.endswith(", in place of an earlier calibration\n")
    first = load_model(folder / "new.hstar").rule
    assert hstar(*CALIBRATE, "0.9", "-q").code == 0
    assert load_model(folder / "new.hstar").rule == first


@pytest.mark.slow
def test_problems_are_solved_first(hstar: Run, folder: Path) -> None:
    generate = ("generate", "blocksworld", "--blocks", "4", "--seeds", "3", "-o", "problems", "-q")
    assert hstar(*generate).code == 0
    words = ("calibrate", "model.hstar", "problems", "-o", "new.hstar", "--confidence", "0.5", "--json", "-q")
    record = json.loads(hstar(*words).out)
    assert (record["instances"], record["left_out"]) == (3, 0)
    both = json.loads(hstar(*words, "others.data").out)
    assert both["instances"] == 23
    assert json.loads(hstar(*words, "others.data", "--time-limit", "0").out)["left_out"] == 3


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--search", "gbfs"], "gbfs does not keep that of the calibration, astar and idastar do"),
        (["--search", "lazy"], "lazy does not keep"),
        (["--search", "wastar", "--weight", "2"], "wastar with weight 2 does not keep"),
        (["--search", "astar", "-e", "ff", "--combine", "max"], "alone, or as --combine max with admissible"),
        (["--search", "astar", "-e", "lmcut", "--combine", "sum"], "alone, or as --combine max"),
        (["--search", "astar", "-e", "new.hstar", "--combine", "max"], "2 heuristics are calibrated"),
    ],
)
def test_nothing_is_promised(hstar: Run, folder: Path, words: list[str], reason: str) -> None:
    assert hstar(*CALIBRATE, "0.5", "-q").code == 0
    record = json.loads(hstar(*SOLVE, *words, "--json").out)
    assert record["promise"]["kept"] is False
    assert record["promise"]["text"].startswith("comes without a promise: ")
    assert reason in record["promise"]["text"] and record["promise"]["text"] in hstar(*SOLVE, *words).err


@pytest.mark.parametrize(
    "words",
    [["--search", "wastar", "--weight", "0.5"], ["--search", "astar", "-e", "lmcut", "--combine", "max"]],
)
def test_the_promise_is_kept(hstar: Run, folder: Path, words: list[str]) -> None:
    assert hstar(*CALIBRATE, "0.5", "-q").code == 0
    assert json.loads(hstar(*SOLVE, *words, "--json").out)["promise"]["kept"] is True


def test_without_a_plan_or_a_calibration(hstar: Run, folder: Path) -> None:
    assert hstar(*CALIBRATE, "0.5", "-q").code == 0
    stopped = json.loads(hstar(*SOLVE, "--search", "astar", "--max-expansions", "1", "--json").out)
    assert (stopped["status"], stopped["promise"]) == ("expansion_limit", None)
    for words in ((*SOLVE[:3], "-e", "model.hstar"), (*SOLVE[:3], "-e", "ff"), (*SOLVE, "--rule", "mean")):
        assert json.loads(hstar(*words, "--json").out)["promise"] is None


def test_costs_are_not_steps(hstar: Run, folder: Path) -> None:
    for name in ("domain.pddl", "problem.pddl"):
        shutil.copy(DATA / "costs" / name, folder / f"costs-{name}")
    files = ("costs-domain.pddl", "costs-problem.pddl")
    label = ("sample", "optimal", files[1], "--domain", files[0], "-o", "costs.data", "-q")
    assert hstar(*label).code == 0
    assert hstar("train", "wl", "costs.data", "-o", "c.hstar", "--least-states", "1", "-q").code == 0
    model = load_model(folder / "c.hstar")
    (one,) = relational.load(folder / "costs.data").instances
    replace(model, trained_on=()).save(folder / "c.hstar")
    relational.save(
        folder / "costs.data",
        RelationalData(model.space.words, tuple(replace(one, name=str(i)) for i in range(3))),
    )
    words = ("calibrate", "c.hstar", "costs.data", "-o", "c.hstar", "--confidence", "0.5", "-q")
    assert hstar(*words).code == 0
    solve = ("solve", *files, "--search", "astar", "-e", "c.hstar", "--json")
    told = json.loads(hstar(*solve).out)["promise"]
    assert not told["kept"] and "actions have costs, and the calibration counts steps" in told["text"]
    assert json.loads(hstar(*solve, "--unit-cost").out)["promise"]["kept"]


# --- any rule with any model ------------------------------------------------------------------------

RULES_OF: dict[str, list[Rule]] = {
    "mean": [Mean()],
    "quantile": [Quantile(0.3)],
    "likely": [Likely(0.7)],
    "clip": [Clip(), Clip(Quantile(0.2), 1.0, 30.0)],
    "order": [Order()],
    "calibrated": [
        Calibrated(confidence=0.5, instances=1, score=0.5, whole=True, bound=bound, form=form, of=of)
        for bound, form in ((1.0, "additive"), (1.5, "ratio"), (1.5, "additive"))
        for of in (Mean(), Quantile(0.3), Clip(), Order())
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("model", models_of("domain"))
def test_any_rule_with_any_model(hstar: Run, folder: Path, model: str) -> None:
    """And every one of them can be calibrated."""
    assert {*RULES_OF, "bounded"} == set(RULES), "bounded makes a promise of its own"
    data = relational.load(folder / "states.data")
    small: dict[str, dict[str, Any]] = {"hgn": {"hidden": 4, "steps": 1}, "nlm": {"features": 2}}
    learned = train("truncated", data, model=model, epochs=1, validation=0.0, **small.get(model, {}))
    others = relational.load(folder / "others.data")
    relational.save(folder / "few.data", RelationalData(others.words, others.instances[:2]))
    solve = ("solve", *SOLVE[1:3], "-s", "astar", "-e", "any.hstar", "--max-evaluations", "12", "--json")
    for rule in [rule for given in RULES_OF.values() for rule in given]:
        learned.with_rule(rule).save(folder / "any.hstar")
        first = hstar(*solve)
        words = ("calibrate", "any.hstar", "few.data", "-o", "any.hstar", "--confidence", "0.5", "-q")
        assert hstar(*words).code == 0, rule
        for done in (first, hstar(*solve)):
            assert done.code in (0, 12), (rule, done)
            assert json.loads(done.out)["initial_h"] >= 0


# --- models of one task -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_model_of_one_task(hstar: Run, refused: Refused, folder: Path) -> None:
    train = ("train", "rsl", *SOLVE[1:3], "-o", "model.hstar", "--states", "60", "--epochs", "1", "-q")
    assert hstar(*train).code == 0
    words = ("calibrate", "model.hstar", "-o", "new.hstar", "--confidence", "0.5", "task/problem.pddl", "-q")
    record = json.loads(hstar(*words, "--walks", "6", "--json").out)
    assert record["instances"] + record["left_out"] == 6 and record["instances"] >= 3
    assert json.loads(hstar(*words, "--json").out)["instances"] == 1
    solve = (*SOLVE, "--search", "astar", "--json")
    assert json.loads(hstar(*solve).out)["promise"]["kept"]
    told = json.loads(hstar(*solve, "--precision", "int16").out)["promise"]
    assert not told["kept"] and "calibrated with layers in float32" in told["text"]
    assert "promise" in json.loads(hstar("info", "new.hstar", "--json").out)
    assert "by its problems, not by others.data" in refused(33, *words, "others.data")
    assert json.loads(hstar(*words, "--rule", "clip", "--json").out)["of"]["name"] == "clip"
    assert "a point estimate has no quantile" in refused(34, *words, "--rule", "quantile:0.2")


# --- mistakes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["others.data", "--confidence", "1"], "a confidence must be between 0 and 1, got 1.0"),
        (["others.data", "--confidence", "0"], "a confidence must be between 0 and 1, got 0.0"),
        (["others.data", "--confidence", "nan"], "a confidence must be between 0 and 1, got nan"),
        (["others.data", "--confidence", "high"], "invalid float value: 'high'"),
        (["others.data"], "the following arguments are required: --confidence"),
        (["others.data", "--confidence", "0.9", "--bound", "0.5"], "1 or greater and finite, got 0.5"),
        (
            ["others.data", "--confidence", "0.99"],
            "20 instances are too few for a confidence of 0.99; it takes",
        ),
        (["ferry.data", "--confidence", "0.5"], "trained for blocksworld-4ops, the data are of ferry"),
        (["states.data", "--confidence", "0.5"], "3 of 3 instances are those that the model was trained on"),
        (["empty.data", "--confidence", "0.5"], "0 instances are too few"),
        (["absent.data", "--confidence", "0.5"], "no such file, nor data that come with hstar"),
        (["absent.pddl", "--confidence", "0.5", "--domain", "task/domain.pddl"], "absent.pddl: no such file"),
        (["task", "--confidence", "0.5", "--time-limit", "0"], "no problem was solved within the limits"),
        (["others.data", "--confidence", "0.5", "--rule", "calibrated"], "writes it into a model"),
        (
            ["others.data", "--confidence", "0.5", "--rule", "quantile:0.2"],
            "a point estimate has no quantile",
        ),
        (
            ["others.data", "--confidence", "0.5", "--walks", "3"],
            "--walks is not for models of a domain: model.hstar is one",
        ),
        (["others.data", "others.data", "--confidence", "0.5"], "two instances of the data have one name"),
    ],
)
def test_wrong_input(refused: Refused, folder: Path, words: list[str], message: str) -> None:
    code = 34 if "quantile:0.2" in words else 33
    assert message in refused(code, "calibrate", "model.hstar", *words, "-o", "new.hstar", "-q")
    assert not (folder / "new.hstar").exists()


def test_other_wrong_files(refused: Refused, folder: Path) -> None:
    words = ("-o", "new.hstar", "--confidence", "0.5", "-q")
    assert "no such file" in refused(33, "calibrate", "absent.hstar", "others.data", *words)
    refused(33, "calibrate", "others.data", "others.data", *words)
    data = relational.load(folder / "others.data")
    first = data.instances[0]
    columns = {**first.columns, "label": np.full(len(first), np.nan, dtype=np.float32)}
    broken = RelationalData(data.words, (replace(first, columns=columns), *data.instances[1:]))
    relational.save(folder / "broken.data", broken)
    message = refused(33, "calibrate", "model.hstar", "broken.data", *words)
    assert f"{first.name}: its labelled states are not those of an optimal plan" in message
    assert "cannot write the model" in refused(
        33, "calibrate", "model.hstar", "others.data", "-o", "absent/new.hstar", "--confidence", "0.5"
    )
