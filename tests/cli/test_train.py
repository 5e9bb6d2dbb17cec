"""`hstar train` as people meet it: help, progress, mistakes, full disks, Ctrl-C and kills."""

from __future__ import annotations

import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hstar import container
from hstar.cli import training
from hstar.cli.app import command_parser
from hstar.cli.progress import ProgressLine
from hstar.models.trained_model import load_model
from hstar.recipes import RECIPES
from hstar.recipes.rsl import DEFAULT

from .conftest import DATA, Refused, Run, fastest, generated, start

QUICK = ["--states", "200", "--width", "8", "--epochs", "2"]
ENDLESS = [
    *("--states", "200", "--width", "8", "--epochs", "1000000", "--patience", "1000000"),
    *("--schedule", "constant"),  # so that another number of epochs is the same training
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a run starts, and what it may leave something in: nothing but a task is there."""
    monkeypatch.chdir(tmp_path)
    generated("blocksworld", tmp_path, blocks=4, seed=1)
    return tmp_path


def left(folder: Path) -> set[str]:
    """Names of what a run left behind."""
    return {path.name for path in folder.iterdir()} - {"domain.pddl", "problem.pddl"}


# --- help ---------------------------------------------------------------------------------------


def help_groups(recipe: str, *words: str) -> dict[str, str]:
    """The help of a recipe by its headings."""
    text = command_parser("train", [recipe, *words, "--help"])[0].format_help()
    parts = re.split(r"^([a-z ]+):$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], (re.sub(r"\s+", " ", part) for part in parts[2::2]), strict=True))


def test_help_is_grouped_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    groups = help_groups("fsm")
    for flag, group in {
        "--output": "options",
        "--checkpoint": "options",
        "--estimate": "parts",
        "--states": "sampler",
        "--bfs-share": "sampler",
        "--width": "model",
        "--blocks": "model",
        "--learning-rate": "training",
        "--time-limit": "training",
        "--networks": "selection",
    }.items():
        found = [name for name, text in groups.items() if f" {flag} " in text and name != "examples"]
        assert found == [group]


def test_help_shows_what_applies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    general = command_parser("train", ["--help"])[0].format_help()
    assert all(name in general for name in RECIPES) and "--learning-rate" not in general
    monkeypatch.setenv("COLUMNS", "80")
    nrsl = command_parser("train", ["nrsl", "--help"])[0].format_help()
    assert len(nrsl.splitlines()) < 80
    assert "--rollouts" in nrsl and "--bfs-share" not in nrsl and "--held-out" not in nrsl
    # Of the default profile, not of the class.
    assert f"step of the optimizer [{DEFAULT['batch_size']}]" in help_groups("nrsl")["training"]
    # Of the parts that are asked for.
    assert "--bfs-share" in help_groups("nrsl", "--sampler", "fsm")["sampler"]
    assert "--breadth" in help_groups("truncated", "--model", "nlm")["model"]
    assert "--ranking" in help_groups("truncated")["training"]
    # By the kind of space where they differ.
    assert (
        "puzzle, own: Closed states at which the backward search ends" in help_groups("prolonged")["sampler"]
    )


# The options of the training are in a package that imports the loop.


@pytest.mark.parametrize(
    "words", [["--help"], ["nrls", "problem.pddl", "-o", "model"]], ids=["help", "mistake"]
)
def test_torch_is_not_imported_to_say_something(words: list[str]) -> None:
    script = (
        "import sys\nfrom hstar.cli import main\n"
        "try:\n    main(['train', *sys.argv[1:]])\n"
        "finally:\n    print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True)
    assert done.stdout.endswith("False\n"), done


@pytest.mark.slow
def test_help_in_half_a_second(with_bytecode: dict[str, str]) -> None:
    """Or, on a machine that is slower just now, in the time that it takes to import NumPy four times."""
    numpy = min(_seconds_to_import("numpy") for _ in range(5))
    assert fastest(["train", "--help"], with_bytecode) < max(0.5, 4 * numpy)


def _seconds_to_import(module: str) -> float:
    process = subprocess.Popen([sys.executable, "-c", f"import {module}"])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


# --- progress -----------------------------------------------------------------------------------


def record(**change: Any) -> Any:
    """A record of a training."""
    values = {"epoch": 3, "epochs": 9, "batch": 1, "batches": 2, "train_loss": 0.5, "best_loss": 0.25}
    values |= {"best_epoch": 2, "time_s": 1.0, "network": 1, "networks": 1, "validation_loss": None}
    return SimpleNamespace(**{**values, **change})


def test_a_line_a_minute_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine() as line:
        for second in range(130):
            line.update(float(second), f"at {second}")
    assert capsys.readouterr().err == "at 60\nat 120\n"
    with ProgressLine(quiet=True) as line:
        line.announce("sampling")
        line.update(1000.0, "at 1000")
    assert capsys.readouterr().err == ""


def test_long_phases_are_named_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ProgressLine, "LINE_EVERY", 0.01)
    shown = ""
    with ProgressLine() as line:
        line.announce("translating")
        while not shown:
            time.sleep(0.01)
            shown += capsys.readouterr().err
        monkeypatch.setattr(ProgressLine, "LINE_EVERY", 1000.0)
        line.announce("sampling")
    assert shown == "translating\n"
    assert capsys.readouterr().err == "", "what was over in time is not named"


def test_words_of_progress() -> None:
    text = training.epoch(record())
    assert text == "    1.0 s  epoch 3 of at most 9  loss 0.5  best 0.25 in epoch 2"
    assert training.epoch(record(epoch=1, best_epoch=0, best_loss=float("inf"))).endswith("loss 0.5  best -")
    assert "  network 2 of 5  epoch 3 " in training.epoch(record(network=2, networks=5))


def test_sampling_is_what_passes_before_the_first_record(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=lambda: now))
    watch = training.Watch(ProgressLine(quiet=True))
    now = 103.0
    assert watch.sampling_s() == 3.0, "a training that its checkpoint ended"
    watch(record(epoch=1, time_s=0.5))
    assert watch.sampling_s() == 2.5
    now = 110.0
    watch(record(epoch=2, time_s=7.5))
    assert watch.sampling_s() == 2.5
    now = 114.0
    watch(record(epoch=1, time_s=1.0, network=2, networks=2))
    assert watch.sampling_s() == 5.5
    resumed = training.Watch(ProgressLine(quiet=True))
    now = 115.0
    resumed(record(epoch=7, time_s=5000.0))
    assert resumed.sampling_s() == 1.0


def test_summary(hstar: Run, folder: Path) -> None:
    done = hstar("train", "rsl", "problem.pddl", "-o", "model", *QUICK)
    assert (done.code, done.out) == (0, "")
    shape = (
        r"model: rsl, 25 atoms, \d+ states sampled in [0-9.]+ s, 2 epochs \(ended by epochs\), "
        r"loss [0-9.e+]+, [0-9.]+ s in all\n"
    )
    assert re.fullmatch(shape, done.err), done.err
    assert hstar("train", "rsl", "problem.pddl", "-o", "model", "-q", *QUICK).err == ""
    assert left(folder) == {"model"}


def test_json(hstar: Run, folder: Path) -> None:
    done = hstar("train", "rsl", "problem.pddl", "-o", "model", "--json", "-q", *QUICK)
    record = json.loads(done.out)
    assert (record["recipe"], record["atoms"], record["epochs"]) == ("rsl", 25, 2)
    times, losses, validation_losses = zip(*record["curve"], strict=True)
    assert list(times) == sorted(times)
    assert record["best_loss"] == min(validation_losses)
    assert min(losses) > 0
    assert record["total_time"] >= record["sampling_time"] > 0


# --- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nrls", "problem.pddl", "-o", "m"], "unknown recipe or folder of problems 'nrls' (known: "),
        (["problem.pddl", "-o", "m"], "unknown recipe or folder of problems 'problem.pddl' (known: "),
        (["rsl", "problem.pddl"], "required: --output/-o"),
        (["rsl", "-o", "m"], "required: [DOMAIN] PROBLEM"),
        (["rsl", "absent.pddl", "-o", "m"], "absent.pddl: no such file"),
        (["rsl", "a.pddl", "b.pddl", "c.pddl", "-o", "m"], "got 3 files"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_words(refused: Refused, folder: Path, words: list[str], message: str) -> None:
    assert message in refused(33, "train", *words)
    assert left(folder) == set()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--profile", "papers"], "unknown profile of rsl 'papers' (known: default, paper); did you mean"),
        (["--bfs-share", "0.1"], "--bfs-share is not an option of rsl"),
        (["--no-sai"], "--sai is not an option of rsl"),
        (["--epoch", "3"], "unknown option '--epoch'; did you mean '--epochs'?"),
        (["--states", "many"], "--states: expected a whole number"),
        (["--states", "0"], "states must be a whole number from 1 on"),
        (["--length", "99999999999"], "--length: expected a whole number up to 2147483647"),
        (["--threads", "99999999999"], "--threads: expected a whole number up to 2147483647"),
        (["--random-share", "nan"], "random_share must be a number from 0 on, at most 1"),
        (["--width", "0"], "width must be a whole number from 1 to 65536"),
        (["--init", "zeros"], "unknown init 'zeros'"),
        (["--epochs", "0"], "--epochs takes 1 or more"),
        (["--learning-rate", "-1"], "learning_rate must be a number above 0"),
        (["--learning-rate", "fast"], "--learning-rate: invalid float value: 'fast'"),
        (["--optimizer", "sgd"], "unknown optimizer 'sgd'"),
        (["--time-limit", "soon"], "--time-limit: expected a time"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_options_are_refused_before_the_translation(
    refused: Refused, folder: Path, words: list[str], message: str
) -> None:
    broken = DATA / "broken" / "syntax.pddl"  # which would be the error of the translation
    domain = DATA / "blocks" / "domain.pddl"
    assert message in refused(33, "train", "rsl", domain, broken, "-o", "model", *words)
    assert left(folder) == set()


@pytest.mark.slow
def test_what_only_the_task_or_torch_can_tell(refused: Refused, folder: Path) -> None:
    words = ["train", "rsl", "problem.pddl", "-o", "model", *QUICK]
    assert "unknown pool 'deep' (known: cumulative, level)" in refused(33, *words, "--pool", "deep")
    assert "device 'abacus' cannot be used" in refused(33, *words, "--device", "abacus")
    assert "the loss became" in refused(33, *words, "--learning-rate", "1e30", "--epochs", "50")
    briefcase = DATA / "briefcase" / "problem.pddl"
    words = ["train", "rsl", briefcase, "-o", "model", "--sampler", "rsl", *QUICK]
    assert "rsl samples by regression" in refused(34, *words)
    broken = DATA / "broken" / "syntax.pddl"
    assert "syntax.pddl:4:" in refused(31, "train", "rsl", DATA / "blocks" / "domain.pddl", broken, "-o", "m")
    assert left(folder) == set()


def test_a_network_that_does_not_fit_into_memory(
    refused: Refused, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*words: object, **options: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.")

    monkeypatch.setattr("hstar.recipes.recipe.Recipe.learn", full)
    assert refused(22, "train", "rsl", "problem.pddl", "-o", "model") == "out of memory"


def test_outputs_that_cannot_be_written(refused: Refused, folder: Path) -> None:
    os.mkfifo(folder / "pipe")  # stands for devices, which a whole new file would replace
    before = left(folder)
    for option, what in (("-o", "model"), ("--checkpoint", "checkpoint")):
        other = ["-o", "model"] if option != "-o" else []
        for target, why in {
            "absent/x": "No such file or directory",
            "problem.pddl/x": "Not a directory",
            "/proc/x": "",
            ".": "not a regular file",
            "pipe": "not a regular file",
            "x" * 300: "File name too long",
        }.items():
            message = refused(33, "train", "rsl", "problem.pddl", *other, option, target, *QUICK)
            assert message.startswith(f"{target}: cannot write the {what}: {why}")
    assert left(folder) == before


def test_damaged_and_foreign_checkpoints(hstar: Run, refused: Refused, folder: Path) -> None:
    words = ["train", "rsl", "problem.pddl", "-o", "model", *QUICK, "--checkpoint"]
    assert hstar(*words, "checkpoint").code == 0
    model, whole = (folder / "model").read_bytes(), (folder / "checkpoint").read_bytes()
    assert "another training (data: " in refused(33, *words, "checkpoint", "--seed", "5")
    for text in (whole[:-1], whole[:100], b"", b"\0" * 1000, whole[:-9] + b"x" + whole[-8:]):
        (folder / "checkpoint").write_bytes(text)
        assert re.match("checkpoint: .*damaged", refused(33, *words, "checkpoint"))
        assert (folder / "checkpoint").read_bytes() == text, "it is for the user to delete"
    (folder / "old").write_bytes(model)
    assert "old: a model of hstar, expected a checkpoint" in refused(33, *words, "old")
    assert "model and checkpoint cannot be the same file" in refused(33, *words, "model")
    assert (folder / "model").read_bytes() == model


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file can grow beyond a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_full_disk(hstar: Run, refused: Refused, folder: Path) -> None:
    words = ["train", "rsl", "problem.pddl", "-o", "model", *QUICK, "--width", "64"]
    assert hstar(*words).code == 0
    before = (folder / "model").read_bytes()
    assert len(before) > 20_000
    with full_disk(20_000):
        assert refused(33, *words) == "model: cannot write: File too large"
        assert refused(33, *words, "--checkpoint", "c") == "c: cannot write: File too large"
    assert left(folder) == {"model"}
    assert (folder / "model").read_bytes() == before, "the old model is still there"


# --- Ctrl-C and kills -----------------------------------------------------------------------------


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    """Until a file is there."""
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)


@pytest.mark.slow
def test_ctrl_c_with_a_checkpoint(hstar: Run, folder: Path) -> None:
    words = ["train", "rsl", "problem.pddl", "-o", "model", "--checkpoint", "checkpoint", *ENDLESS]
    process = start(*words)
    wait_for(folder / "checkpoint", process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    message = (
        r"model: .* epochs \(interrupted\), .*\n"
        r"hstar: interrupted: model has the best model so far; "
        r"to go on from checkpoint, run the same command again\n"
    )
    assert re.fullmatch(message, err), err
    assert left(folder) == {"checkpoint", "model"}
    done = hstar(*words, "--epochs", "1", "-q")
    assert (done.code, left(folder)) == (0, {"checkpoint", "model"})


def on_terminal(*words: str | Path, until: bytes) -> tuple[int, str]:
    """Exit code, and what a run shows on a terminal that gets Ctrl-C when it has shown something."""
    controller, terminal = pty.openpty()
    process = start(*words, stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    shown, sent = b"", False
    try:
        while chunk := os.read(controller, 4096):
            shown += chunk
            if until in shown and not sent:
                process.send_signal(signal.SIGINT)
                sent = True
    except OSError:  # the other end is closed
        pass
    os.close(controller)
    return process.wait(), shown.decode()


@pytest.mark.slow
def test_ctrl_c_on_a_terminal(folder: Path) -> None:
    """While it samples: there is no model yet."""
    words = ("train", "rsl", "problem.pddl", "-o", "model", "--states", "100000000")
    code, shown = on_terminal(*words, until=b"sampling by rsl")
    assert code == 130
    *live, last = shown.split("\r")[:-1] if shown.endswith("\r\n") else shown.split("\r")
    hint = "; no model is written (with --checkpoint FILE it could go on)"
    assert last == f"hstar: interrupted{hint}", shown
    assert not live[-1].strip(), "the line is wiped"
    assert any("sampling by rsl" in line for line in live)
    assert all(len(line) <= 79 for line in live)
    assert left(folder) == set()


@pytest.mark.slow
def test_sigterm_keeps_it_too(folder: Path) -> None:
    process = start("train", "rsl", "problem.pddl", "-o", "model", "--checkpoint", "checkpoint", *ENDLESS)
    wait_for(folder / "checkpoint", process)
    process.send_signal(signal.SIGTERM)
    assert "model has the best model so far" in process.communicate(timeout=60)[1]
    assert process.returncode == 128 + signal.SIGTERM
    assert (folder / "model").is_file()


def plain(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """A model file without the times that its training took."""
    header, tensors = container.read(path, "model", 2)
    summary = header["summary"]
    assert summary.pop("time_s") > 0
    summary["curve"] = [losses for _, *losses in summary["curve"]]
    return header, {name: tensor.tobytes() for name, tensor in tensors.items()}


@pytest.mark.slow
def test_killed_and_started_again(hstar: Run, folder: Path) -> None:
    words = ["train", "rsl", "problem.pddl", "--seed", "3", "--states", "500", "--width", "16", "-q"]
    words += ["--batch-size", "16", "--epochs", "100", "--patience", "100"]
    resumed = [*words, "-o", "resumed", "--checkpoint", "checkpoint"]
    process = start(*resumed)
    wait_for(folder / "checkpoint", process)
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert not (folder / "resumed").exists()
    header, _ = container.read(folder / "checkpoint", "checkpoint", 1)
    assert 0 < len(header["history"]) < 100, "it was killed in the middle"

    assert hstar(*resumed).code == 0
    assert hstar(*words, "-o", "whole").code == 0
    assert plain(folder / "resumed") == plain(folder / "whole")
    assert load_model(folder / "resumed").summary["epochs"] == 100
