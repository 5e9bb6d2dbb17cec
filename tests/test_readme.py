"""What the README shows works as it stands there."""

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
    r"^    (hstar (?:solve|validate|info|generate|label|train|accuracy|evaluate|report|puzzle|grid) .*)$",
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
    assert len(done.stdout.splitlines()) == 5
    assert "cost 6 in 6 steps" in done.stdout.splitlines()[-1]  # the jugs


def test_example_draws_its_picture(tmp_path: Path) -> None:
    script = ROOT / "examples" / "guidance.py"
    code = script.read_text().replace("blocks=9, seed=1", "blocks=5, seed=1")
    picture = tmp_path / "picture.svg"
    subprocess.run([sys.executable, "-c", code, str(picture)], check=True)
    assert picture.read_text().count("<rect") == 5
