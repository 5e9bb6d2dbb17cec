"""What the README shows works as it stands there."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(
    r"^    (hstar (?:solve|validate|info|generate|sample|train|evaluate|report|show) .*)$",
    README,
    re.MULTILINE,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """domain.pddl, problem.pddl, output.sas and plan.txt."""
    for name in ("domain.pddl", "problem.pddl"):
        shutil.copy(ROOT / "tests" / "data" / "blocks" / name, tmp_path)
    translate = [sys.executable, "-m", "fast_downward.translate", "domain.pddl", "problem.pddl"]
    subprocess.run(translate, cwd=tmp_path, check=True, capture_output=True)
    run("hstar solve problem.pddl --plan-file plan.txt", tmp_path)
    return tmp_path


def run(line: str, folder: Path) -> str:
    command = [
        sys.executable,
        "-c",
        "from hstar.cli import main; main()",
        *shlex.split(line, comments=True)[1:],
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_commands_in_order(folder: Path) -> None:
    assert len(COMMANDS) >= 9
    for line in COMMANDS:
        # The examples train for minutes on purpose.
        if line.startswith(("hstar train fsm", "hstar train nrsl")):
            line = line.replace("hstar train", "hstar train --states 300 --epochs 3")
        line = line.replace("train prolonged", "train prolonged --scenarios 5 --updates 3")
        run(line.replace("--number 40", "--number 3").replace("--iterations 20", "--iterations 2"), folder)
    assert (folder / "model.hstar").is_file()


@pytest.mark.slow
def test_python(folder: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("solved 6 (")
    lines = done.stdout.splitlines()
    assert len(lines) == 7
    assert "where an optimal plan costs" in lines[3]  # twice the goal count is not admissible
    assert "cost 6 in 6 steps" in lines[5] and int(lines[6]) >= 6  # the jugs


def test_examples_of_own_parts() -> None:
    def printed(name: str, *words: str) -> list[str]:
        command = [sys.executable, str(ROOT / "examples" / name), *words]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    assert all("cost 4 in 4 steps" in line for line in printed("own_space.py"))
    fine, best, wrong, plan = printed("own_heuristic.py")
    assert "fine=True" in fine and "fine=False" in wrong and "where an optimal plan costs" in wrong
    assert "cost 23 in 23 steps" in best and "solved" in plan
    model, result = printed("own_model.py", "500")
    assert "Board" in model and "status solved" in result


def test_example_draws_its_picture(tmp_path: Path) -> None:
    script = ROOT / "examples" / "guidance.py"
    code = script.read_text().replace("blocks=9, seed=1", "blocks=5, seed=1")
    picture = tmp_path / "picture.svg"
    subprocess.run([sys.executable, "-c", code, str(picture)], check=True)
    assert picture.read_text().count("<rect") == 5
