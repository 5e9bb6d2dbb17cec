"""Help: it is quick, it names everything there is, and its examples work."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest

import hstar as api
from hstar.cli.app import COMMANDS, command_parser
from hstar.experiments.knowledge import Knowledge, steps_of
from hstar.recipes import train
from hstar.sampling import relational
from hstar.search.result import EXIT_CODES, WITH_PLAN
from hstar.spaces.grid_files import write_png
from hstar.spaces.relations import vocabulary
from labelled import generated, labelled
from puzzle_models import made

from .conftest import DATA, Run

SUITE = """\
tasks = [{ instances = ["problem.pddl"], starts = 2 }]
plan = [{ heuristic = "ff" }]
profiles.quick.limits.time = "5s"
"""


def examples() -> list[str]:
    lines = []
    for name in COMMANDS:
        text = command_parser(name)[0].format_help()
        lines += [line.strip() for line in text.splitlines() if line.startswith(f"  hstar {name}")]
    return lines


def test_every_command_has_examples() -> None:
    for name in COMMANDS:
        assert any(line.startswith(f"hstar {name}") for line in examples())


def test_help_explains_every_exit_code_of_a_search() -> None:
    text = command_parser("solve")[0].format_help().partition("exit codes:")[2]
    signals = {128 + signal.SIGINT, 128 + signal.SIGTERM}
    assert {*EXIT_CODES.values(), *WITH_PLAN.values(), *signals} <= {*map(int, re.findall(r"\d+", text))}


def prepare_calibration(folder: Path) -> None:
    """A model, other problems of its domain, as files and as data, and a model of a puzzle."""
    made("tiles:3x3").save(folder / "eight.hstar")
    tasks = [generated(folder / "made", "blocksworld", blocks=4, seed=seed) for seed in range(20)]
    train("wl", labelled(tasks[:1]), least_states=1).save(folder / "model.hstar")
    relational.save(folder / "states.data", labelled(tasks[1:]))
    (folder / "folder").mkdir(exist_ok=True)
    for number, task in enumerate(tasks[1:]):
        assert task.domain_file is not None and task.problem_file is not None
        shutil.copy(task.domain_file, folder / "folder" / "domain.pddl")
        shutil.copy(task.problem_file, folder / "folder" / f"p{number}.pddl")


def prepare_grid(folder: Path) -> None:
    """A map, and a model that has hardly learned."""
    write_png(folder / "map.png", np.zeros((20, 30), dtype=bool))
    (folder / "map.yaml").write_text("image: map.png\nresolution: 0.05\norigin: [0, 0, 0]\n")
    train("prolonged", scenarios=2, updates=1, rows=8, columns=8).save(folder / "model.hstar")


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", [line for line in examples() if not line.startswith(("hstar serve", "hstar mcp"))]
)
def test_examples_work(
    line: str, hstar: Run, blocks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for servers, which do not end; tests/service starts one."""
    monkeypatch.chdir(blocks)
    if " validate " in line:
        assert hstar("solve", "problem.pddl", "--plan-file", "plan.txt").code == 0
    if " bench " in line:
        Path("suite.toml").write_text(SUITE)
    if " plan " in line or " info knowledge" in line:
        Knowledge(vocabulary(api.load("problem.pddl")), steps_of([])).save(Path("knowledge.hstar"))
    if any(word in line for word in (" optimal folder", " plans folder", " train folder", " learn ")):
        Path("folder").mkdir()
        for name in ("domain.pddl", "problem.pddl"):
            shutil.copy(name, "folder")
    if " plans folder" in line:
        Path("plans").mkdir()
        assert hstar("solve", "problem.pddl", "--plan-file", "plans/problem.plan").code == 0
    if "states.data" in line and " sample " not in line and " calibrate " not in line:
        assert hstar("sample", "optimal", "problem.pddl", "-o", "states.data", "-q").code == 0
    if " evaluate model.hstar " in line:
        assert hstar("train", "wl", "states.data", "-o", "model.hstar", "--least-states", "1", "-q").code == 0
    if " calibrate " in line or " compare " in line:
        prepare_calibration(blocks)
    if "own.py" in line:
        example = "own_heuristic.py" if "--heuristic own.py" in line else "own_space.py"
        shutil.copy(DATA.parents[1] / "examples" / example, "own.py")
    if " show " in line or " solve map." in line or " --kind " in line or " info model" in line:
        prepare_grid(blocks)
    if " report " in line:
        for name in ("first", "second"):
            words = ("evaluate", "ff", "problem.pddl", "-o", f"runs/{name}", "--walks", "2", "-q")
            assert hstar(*words).code == 0
    done = hstar(*shlex.split(line)[1:])
    assert done.code == 0, done
    assert done.out or done.err
    assert ("--plan-file" not in line) or Path("plan.txt").read_text().endswith("; cost = 6 (unit cost)\n")


def test_domain_may_be_left_out(hstar: Run, tmp_path: Path) -> None:
    shutil.copy(DATA / "costs" / "domain.pddl", tmp_path / "p01-domain.pddl")
    shutil.copy(DATA / "costs" / "problem.pddl", tmp_path / "p01.pddl")
    assert hstar("solve", tmp_path / "p01.pddl").code == 0


@pytest.mark.parametrize("words", [[], ["-h"], ["--help"]])
def test_main_help_names_the_commands(hstar: Run, words: list[str]) -> None:
    done = hstar(*words)
    assert (done.code, done.err) == (0, "")
    for name in COMMANDS:
        assert f"  {name} " in done.out


def test_help_of_solve_names_what_there_is(hstar: Run) -> None:
    done = hstar("solve", "--help")
    assert (done.code, done.err) == (0, "")
    for info in [*api.searches(), *api.heuristics()]:
        assert info.name in done.out
    for code in ("11 ", "12 ", "22 ", "23 ", "31 ", "33 ", "34 ", "130 "):
        assert code in done.out


def test_version(hstar: Run) -> None:
    assert hstar("--version").out == f"hstar {api.__version__}\n"
