"""`hstar label --siblings`, `train truncated`, `accuracy`, `info` and `solve --rule` as people meet them."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hstar import container
from hstar.errors import InputError
from hstar.models.trained_model import load_model
from hstar.sampling import relational
from hstar.sampling.relational import RelationalData
from labelled import generated, labelled

from .conftest import Refused, Run, start

TRAIN = ("train", "truncated", "states.data", "-o", "model.hstar")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data to learn from, others to be judged by, two problems, and a model of one task."""
    folder = tmp_path_factory.mktemp("made")
    for name, seeds in (("states", range(6)), ("others", range(10, 13))):
        tasks = [generated(folder / name, "blocksworld", blocks=4, seed=seed) for seed in seeds]
        found = labelled(tasks, siblings=name == "states", letter=name[0])
        relational.save(folder / f"{name}.data", found)
    larger = generated(folder, "blocksworld", blocks=6, seed=1)
    assert larger.problem_file is not None
    shutil.copytree(larger.problem_file.parent, folder / "larger")
    ferry = labelled([generated(folder, "ferry", locations=3, cars=1, seed=2)])
    relational.save(folder / "ferry.data", ferry)
    relational.save(folder / "empty.data", RelationalData(found.words, ()))
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of them where a run starts."""
    for name in ("states.data", "others.data", "ferry.data", "empty.data"):
        shutil.copy(made / name, tmp_path / name)
    shutil.copytree(made / "larger", tmp_path / "larger")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def weights(path: Path) -> dict[str, bytes]:
    return {name: tensor.tobytes() for name, tensor in load_model(path).tensors.items()}


# --- from problems to plans -------------------------------------------------------------------------


def test_labels_with_siblings(hstar: Run, folder: Path) -> None:
    words = ("sample", "optimal", "larger/problem.pddl", "-o")
    assert hstar(*words, "plain.data", "-q").code == 0
    done = hstar(*words, "both.data", "--siblings", "--json")
    record = json.loads(done.out)
    plain, both = (relational.load(folder / name) for name in ("plain.data", "both.data"))
    states = len(plain.column("label"))
    assert record["states"] == record["cost"] + 1 == states == both.labelled.sum()
    assert done.err.endswith(f"both.data: {states} states\n")
    assert len(both.column("label")) > 2 * states and plain.labelled.all()
    for name in ("label", "parent", "ff", "lmcut"):
        assert np.array_equal(both.column(name)[:states], plain.column(name), equal_nan=True)
    assert (both.column("parent")[states:] < states - 1).all(), (
        "siblings are successors of states of the plan"
    )


@pytest.mark.slow
def test_upper_bounds(hstar: Run, refused: Refused, folder: Path) -> None:
    """From labels to a model that is judged with them; the search does without."""
    generate = ("generate", "ferry", "--locations", "2", "--cars", "2", "--seeds", "3", "-o", "problems")
    assert hstar(*generate).code == 0
    assert hstar("sample", "optimal", "problems", "-o", "some.data", "--upper", "-q").code == 0
    data = relational.load(folder / "some.data")
    assert len(data.instances) == 3 and (data.column("upper") >= data.column("label")).all()
    train = ("train", "truncated", "-o", "m.hstar", "--updates", "2", "--upper", "upper", "-q")
    assert hstar(*train, "some.data").code == 0
    assert json.loads(hstar("info", "m.hstar", "--json").out)["upper_bound"] == "upper"
    assert hstar("evaluate", "m.hstar", "some.data").code == 0
    problem = next(file for file in sorted((folder / "problems").glob("*.pddl")) if file.stem != "domain")
    assert hstar("solve", problem, "-e", "m.hstar", "-q").code == 0
    message = "the data have no column upper; label the problems anew with --upper"
    assert refused(33, *train, "states.data") == message
    assert refused(33, "evaluate", "m.hstar", "ferry.data") == message


@pytest.mark.slow
def test_labels_with_siblings_of_several_problems(hstar: Run, folder: Path) -> None:
    generate = ("generate", "ferry", "--locations", "2", "--cars", "2", "--seeds", "2", "-o", "problems")
    assert hstar(*generate).code == 0
    assert hstar("sample", "optimal", "problems", "-o", "some.data", "--siblings", "-q").code == 0
    data = relational.load(folder / "some.data")
    assert len(data.instances) == 2 and all(not one.labelled.all() for one in data.instances)
    done = hstar("train", "truncated", "some.data", "-o", "m.hstar", "--ranking", "0.5", "--updates", "2")
    assert done.code == 0, done


def test_train_info_accuracy_and_solve(hstar: Run, folder: Path) -> None:
    done = hstar(*TRAIN, "--updates", "20", "--held-out", "others.data")
    assert (done.code, done.out) == (0, "")
    assert re.fullmatch(
        r"model\.hstar: truncated, wl and truncated, \d+ states of 6 tasks of blocksworld-4ops, "
        r"20 epochs \(ended by updates\), mse [0-9.]+ on held-out tasks, [0-9.]+ s in all\n",
        done.err,
    ), done.err

    record = json.loads(hstar("info", "model.hstar", "--json").out)
    assert (record["recipe"], record["base"], record["lower_bound"]) == ("truncated", "ff", "lmcut")
    assert re.match(r'wl \{.*"iterations": [123]\b', record["network"])
    assert record["weights"] == load_model(folder / "model.hstar").tensors["weights.0"].size + 2
    assert json.loads(record["estimate"])["margin"] == 0.1 and json.loads(record["rule"]) == {"name": "mean"}
    assert json.loads(record["configuration"])["training"]["updates"] == 20
    assert "on/2" in record["predicates"]
    assert "curve" not in record["training"] and hstar("info", "model.hstar").code == 0

    found = json.loads(hstar("evaluate", "model.hstar", "others.data", "--json").out)
    assert found["instances"] == 3 and 0 < found["mse"] < found["mse_ff"]
    assert len(found["calibration"]) == 19
    lines = hstar("evaluate", "model.hstar", "others.data").out.splitlines()
    assert lines[0].split() == ["instances", "3"] and lines[2].split() == ["mse", f"{found['mse']:.4g}"]
    assert len(lines) == len(found) - 1 + 19 and "of the distances are up to it" in lines[-1]
    both = json.loads(hstar("evaluate", "model.hstar", "others.data", "states.data", "--json").out)
    assert both["instances"] == 9 and both["states"] > found["states"]
    cautious = ("evaluate", "model.hstar", "others.data", "--json", "--rule", "quantile:0.02")
    assert json.loads(hstar(*cautious).out)["mean_error"] < found["mean_error"]

    first = {}
    for rule in ((), ("--rule", "clip"), ("--rule", "quantile:0.9"), ("--rule", "clip:quantile:0.2")):
        done = hstar("solve", "larger/problem.pddl", "-e", "model.hstar", "--json", *rule)
        assert done.code == 0, done
        first[rule] = json.loads(done.out)["initial_h"]
    assert first[()] == first["--rule", "clip"], "a truncated belief is within its bound already"
    assert first["--rule", "clip:quantile:0.2"] < first[()] < first["--rule", "quantile:0.9"]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["linear", "hgn", "nlm"])
def test_other_models(hstar: Run, folder: Path, model: str) -> None:
    words = (*TRAIN, "--model", model, "--updates", "2", "--estimate", "gaussian", "--sigma", "fixed")
    done = hstar(*words, "--profile", "as-run", "--json", "-q")
    assert (done.code, done.err) == (0, "")
    record = json.loads(done.out)
    assert (record["recipe"], record["model"], record["epochs"]) == ("truncated", model, 2)
    assert record["train_states"] + record["validation_states"] == record["states"]
    estimate = json.loads(json.loads(hstar("info", "model.hstar", "--json").out)["estimate"])
    assert estimate["sigma"] == pytest.approx(2**0.5)
    assert hstar("solve", "larger/problem.pddl", "-e", "model.hstar", "--rule", "clip", "-q").code == 0


def test_a_summary_without_held_out_tasks(hstar: Run, folder: Path) -> None:
    done = hstar(*TRAIN, "--epochs", "3", "--validation", "0", "--instances", "2")
    assert re.search(
        r"states of 2 tasks .*, 3 epochs \(ended by epochs\), loss -?[0-9.]+ on the same tasks", done.err
    ), done


# --- mistakes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "hng"], "unknown model 'hng' (known: hgn, linear, nlm, wl); did you mean 'hgn'?"),
        (["--estimate", "normal"], "unknown estimate 'normal'"),
        (["--base", "add"], "unknown base 'add' (known: none, blind, goalcount, hmax, ff, lmcut)"),
        (["--lower", "ff"], "unknown lower 'ff' (known: none, blind, hmax, lmcut)"),
        (["--sigma", "wide"], "sigma must be learned, fixed or a number, got 'wide'"),
        (["--fixed-sigma", "-1"], "fixed_sigma must be a number above 0, got -1.0"),
        (["--margin", "0"], "margin must be a number above 0, got 0.0"),
        (["--rule", "mode"], "not a rule: 'mode'"),
        (["--rule", "quantile:0.1", "--estimate", "point"], "a point estimate has no spread"),
        (["--updates", "0"], "updates must be a whole number from 1 on, got 0"),
        (["--instances", "0"], "instances must be a whole number from 1 on, got 0"),
        (["--updates", "3", "--epochs", "3"], "updates and epochs are two ways to say how long to train"),
        (["--batch-size", "0"], "batch_size must be a whole number from 1 on, got 0"),
        (["--validation", "1"], "validation must be a number from 0 on, below 1, got 1.0"),
        (["--ranking", "1.5"], "ranking must be a number from 0 on, at most 1, got 1.5"),
        (["--criterion", "mae"], "unknown criterion 'mae'"),
        (["--learning-rate", "1e30", "--model", "linear", "--estimate", "point"], "the loss became"),
        (["--hidden", "20000"], "hidden must be a whole number from 0 to 10000, got 20000"),
        (["--steps", "3"], "--steps is not an option of truncated for a domain"),
        (["--model", "wl", "--steps", "3"], "--steps is not an option of truncated"),
        (["--width", "3"], "--width is not an option of truncated"),
        (["--data", "states.data"], "--data is not an option of truncated"),
        (["--profile", "paper"], "unknown profile of truncated 'paper' (known: default)"),
        (["--profile", "as-runs", "--model", "nlm"], "did you mean 'as-run'?"),
        (["--held-out", "absent.data"], "absent.data: no such file"),
        (["--held-out", "ferry.data"], "data of blocksworld-4ops, held-out data of ferry"),
        (["--held-out", "empty.data"], "no states in the held-out data"),
        (["--held-out", "others.data", "--ranking", "0.5"], "the data have no siblings, which ranking needs"),
        (["--checkpoint", "model.hstar"], "model and checkpoint cannot be the same file"),
        (["--checkpoint", "states.data"], "a relational dataset of hstar, expected a checkpoint"),
        (["--checkpoint", "absent/c"], "cannot write the checkpoint"),
        (["--device", "abacus"], "device 'abacus' cannot be used"),
    ],
)
def test_wrong_options(refused: Refused, folder: Path, words: list[str], message: str) -> None:
    assert message in refused(33, *TRAIN, *words, "-q")
    assert not (folder / "model.hstar").exists()


def test_wrong_data(hstar: Run, refused: Refused, folder: Path) -> None:
    train = ("train", "truncated", "-o", "model.hstar", "-q", "--updates", "1")
    assert "no such file" in refused(33, *train, "absent.data")
    assert "is PDDL, and not a file of labelled states" in refused(33, *train, "larger/problem.pddl")
    assert "are different domains" in refused(33, *train, "states.data", "ferry.data")
    assert "two instances of the data have one name" in refused(33, *train, "states.data", "states.data")
    assert "no states to learn from" in refused(33, *train, "empty.data")
    assert "which ranking needs; label with --siblings" in refused(
        33, *train, "others.data", "--ranking", "1"
    )
    data = container.read(folder / "states.data", "relational dataset", 2)
    container.write(folder / "old.data", "relational dataset", 1, *data)
    message = "old.data: relational dataset of the old format 1, this hstar reads 2 and later: make it anew"
    assert refused(33, *train, "old.data") == message
    whole = (folder / "states.data").read_bytes()
    (folder / "cut.data").write_bytes(whole[:-10])
    assert "cut.data: not a relational dataset of hstar, or damaged" in refused(33, *train, "cut.data")
    assert not (folder / "model.hstar").exists()


def test_wrong_models_and_rules(hstar: Run, refused: Refused, folder: Path) -> None:
    assert hstar(*TRAIN, "--updates", "1", "--estimate", "point", "-q").code == 0
    accuracy = ("evaluate", "model.hstar", "others.data")
    solve = ("solve", "larger/problem.pddl", "--heuristic", "model.hstar", "-q")
    assert "the data are of ferry" in refused(33, "evaluate", "model.hstar", "ferry.data")
    assert "no labelled states to compare with" in refused(33, "evaluate", "model.hstar", "empty.data")
    assert "absent.hstar: no such file" in refused(33, "evaluate", "absent.hstar", "others.data")
    Path("wrong.hstar").write_bytes(Path("others.data").read_bytes())
    assert "expected a model" in refused(33, "evaluate", "wrong.hstar", "others.data")
    assert "not a rule: 'mode'" in refused(33, *accuracy, "--rule", "mode")
    assert "not a rule: 'mode'" in refused(33, *solve, "--rule", "mode")
    assert "a point estimate has no quantile" in refused(34, *accuracy, "--rule", "quantile:0.3")
    assert "a point estimate has no quantile" in refused(34, *solve, "--rule", "quantile:0.3")
    by_ff = ("solve", "larger/problem.pddl", "--heuristic", "ff", "--rule", "mean")
    assert "--rule is for model files, not for ff" in refused(33, *by_ff)
    assert hstar("generate", "ferry", "--locations", "2", "--cars", "1", "--seeds", "1", "-o", "f").code == 0
    (problem,) = (file for file in (folder / "f").glob("*.pddl") if file.stem != "domain")
    message = refused(33, "solve", problem, "--heuristic", "model.hstar")
    assert message.startswith("the model was trained for blocksworld-4ops: ") and "predicate" in message
    header, tensors = container.read(folder / "model.hstar", "model", 2)
    path = folder / "old.hstar"
    container.write(path, "domain model", 1, header, tensors)
    assert "domain model of the old format 1" in refused(33, "info", "old.hstar")
    container.write(path, "model", 2, {**header, "base": "magic"}, tensors)
    assert "unknown heuristic 'magic'" in refused(33, *solve[:3], "old.hstar", "-q")
    path.write_bytes((folder / "model.hstar").read_bytes()[:-5])
    assert "damaged" in refused(33, *solve[:3], "old.hstar", "-q")


# --- Ctrl-C and kills -------------------------------------------------------------------------------


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    """Until the file is there, and the process still at work."""
    limit = time.monotonic() + 120
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < limit, "no checkpoint after two minutes"
        time.sleep(0.02)


def epochs(path: Path) -> int:
    for _ in range(10):
        # It may be replaced between the openings for its header and for its tensors.
        with contextlib.suppress(InputError):
            return len(container.read(path, "checkpoint", 1)[0]["history"])
    raise AssertionError("the checkpoint is damaged")


@pytest.mark.slow
def test_it_goes_on_after_ctrl_c_and_after_a_kill(hstar: Run, folder: Path) -> None:
    options = ("--schedule", "constant", "--batch-size", "16", "--checkpoint", "c", "-q")
    endless = start(*TRAIN, *options, "--epochs", "1000000")
    wait_for(folder / "c", endless)
    endless.send_signal(signal.SIGINT)
    out, err = endless.communicate(timeout=120)
    assert (endless.returncode, out) == (130, "")
    assert re.fullmatch(
        r"hstar: interrupted: model.hstar has the best model so far; "
        r"to go on from c, run the same command again\n",
        err,
    ), err
    (folder / "model.hstar").unlink()
    first = epochs(folder / "c")

    killed = start(*TRAIN, *options, "--epochs", "1000000")
    limit = time.monotonic() + 120
    while epochs(folder / "c") == first:
        assert killed.poll() is None and time.monotonic() < limit
        time.sleep(0.02)
    killed.kill()
    killed.communicate(timeout=120)
    assert not (folder / "model.hstar").exists()

    last = str(epochs(folder / "c") + 2)
    assert hstar(*TRAIN, *options, "--epochs", last).code == 0
    resumed = weights(folder / "model.hstar")
    (folder / "c").unlink()
    assert hstar(*TRAIN, *options, "--epochs", last).code == 0
    assert weights(folder / "model.hstar") == resumed


def test_ctrl_c_without_a_checkpoint(hstar: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hstar.training import loop

    epoch, calls = loop._Run._epoch, []

    def stop(self: Any, number: int, batches: int) -> Any:
        calls.append(number)
        if number == 3:
            raise KeyboardInterrupt
        return epoch(self, number, batches)

    monkeypatch.setattr(loop._Run, "_epoch", stop)
    done = hstar(*TRAIN, "--updates", "50")
    assert (done.code, done.out, calls) == (130, "", [1, 2, 3])
    assert "2 epochs (interrupted)" in done.err
    assert "model.hstar has the best model so far; with --checkpoint FILE it could go on" in done.err
    assert load_model(folder / "model.hstar").summary["stopped"] == "interrupted"
