"""Pages of results are filled from runs, files of measurements, and the rows that results/ keeps of them."""

from __future__ import annotations

import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.runs import made_up_run, search, training
from hstar.errors import InputError
from hstar.experiments.store import Store
from scripts import load_script

SCRIPT = Path(__file__).parents[1] / "tools" / "results.py"
TEXT = """\
# Results

<!-- hstar report runs/first --format markdown -->
old figures
<!-- end -->

Between.

<!-- hstar report runs/absent --format markdown -->
figures of another machine
<!-- end -->

After.
"""


def fill(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, "RESULTS.md"], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made_up_run(tmp_path / "runs" / "first")
    (tmp_path / "RESULTS.md").write_text(TEXT)
    return tmp_path


@pytest.mark.slow
def test_blocks_are_what_their_commands_print(folder: Path) -> None:
    done = fill(folder)
    assert done.returncode == 0, done.stderr
    assert "left as it is, there is no runs/absent" in done.stderr
    text = (folder / "RESULTS.md").read_text()
    assert "old figures" not in text
    assert "\n### Coverage (%)\n" in text
    assert "| blocks/1 | 83.3 ± 23.6 | 66.7 |" in text
    assert text.endswith(TEXT[TEXT.index("Between.") :])
    fill(folder)
    assert (folder / "RESULTS.md").read_text() == text


def test_a_command_that_fails_changes_nothing(folder: Path) -> None:
    broken = TEXT.replace("--format markdown -->\nold", "--format markdwon -->\nold")
    (folder / "RESULTS.md").write_text(broken)
    done = fill(folder)
    assert done.returncode == 33
    assert (folder / "RESULTS.md").read_text() == broken


# --- commands that are scripts ------------------------------------------------------------------

PYTHON_TEXT = """\
Before.

<!-- python scripts/shout.py --print runs/words.txt --table "two words" -->
old figures
<!-- end -->

<!-- python scripts/shout.py --print runs/absent.txt -->
figures of another machine
<!-- end -->
"""
# Says what it was given, and fails if the file says so.
SHOUT = """\
import sys
from pathlib import Path

text = Path(sys.argv[2]).read_text()
print("# Words\\n\\n" + text.upper() + "|".join(sys.argv[3:]))
sys.exit(3 if "fail" in text else 0)
"""


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    for name, text in (
        ("scripts/shout.py", SHOUT),
        ("runs/words.txt", "twelve\n"),
        ("RESULTS.md", PYTHON_TEXT),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_block_of_a_script(scripts: Path) -> None:
    done = fill(scripts)
    assert done.returncode == 0, done.stderr
    assert "RESULTS.md: 1 blocks filled" in done.stderr
    text = (scripts / "RESULTS.md").read_text()
    assert '"two words" -->\n\n## Words\n\nTWELVE\n--table|two words\n\n<!-- end -->\n' in text
    # The other one has no file here, and stays.
    assert "--print runs/absent.txt: left as it is, there is no runs/absent.txt" in done.stderr
    assert text.endswith(PYTHON_TEXT[PYTHON_TEXT.index("<!-- python scripts/shout.py --print runs/absent") :])
    assert fill(scripts).returncode == 0
    assert (scripts / "RESULTS.md").read_text() == text


def test_a_script_that_fails_changes_nothing(scripts: Path) -> None:
    (scripts / "runs" / "words.txt").write_text("fail\n")
    done = fill(scripts)
    assert done.returncode == 3
    assert '--table "two words": failed; RESULTS.md is unchanged' in done.stderr
    assert (scripts / "RESULTS.md").read_text() == PYTHON_TEXT


def test_a_block_without_end_changes_nothing(scripts: Path) -> None:
    broken = PYTHON_TEXT.replace("<!-- end -->\n\n", "\n", 1)
    (scripts / "RESULTS.md").write_text(broken)
    done = fill(scripts)
    assert done.returncode == 1
    assert "no end before the next block" in done.stderr
    assert (scripts / "RESULTS.md").read_text() == broken


# --- rows that are kept ---------------------------------------------------------------------------


def keep(folder: Path, run: str, act: str = "--keep") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPT, act, run]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_page_is_rebuilt_from_kept_rows(folder: Path) -> None:
    assert keep(folder, "runs/first").returncode == 0
    fill(folder)
    text = (folder / "RESULTS.md").read_text()
    shutil.rmtree(folder / "runs")
    (folder / "RESULTS.md").write_text(TEXT)
    assert fill(folder).returncode == 0
    assert (folder / "RESULTS.md").read_text() == text


def test_measurements_are_kept_too(scripts: Path) -> None:
    rows = '{"machine": {"commit": "0123456789ab"}, "rate": 1}\n'
    (scripts / "runs" / "rates.jsonl").write_text(rows)
    (scripts / "RESULTS.md").write_text(PYTHON_TEXT.replace("words.txt", "rates.jsonl"))
    assert keep(scripts, "runs/rates.jsonl").returncode == 0
    (scripts / "runs" / "rates.jsonl").unlink()
    assert fill(scripts).returncode == 0
    assert (scripts / "runs" / "rates.jsonl").read_text() == rows


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            "INSERT INTO job VALUES ('k', 'search', '{}'); INSERT INTO label VALUES ('k', '{}')",
            "1 jobs are not",
        ),
        ('UPDATE attempt SET machine = \'{"commit": "0123456789ab-dirty"}\'', "rows of a changed work tree"),
    ],
)
def test_unfinished_runs_and_changed_trees_are_not_kept(folder: Path, change: str, why: str) -> None:
    with sqlite3.connect(folder / "runs" / "first" / "results.sqlite") as store:
        store.executescript(change)
    done = keep(folder, "runs/first")
    assert done.returncode == 1
    assert why in done.stderr
    assert not (folder / "results").exists()


def test_a_paused_run_goes_on_elsewhere(folder: Path) -> None:
    run = folder / "runs" / "second"
    with Store(run) as store:
        made = training(store, {"contestant": "fsm", "instance": "blocks/1", "seed": 0}, [2.0, 1.0])
        search(store, {"contestant": "fsm", "instance": "blocks/1"}, left={"plan": b"(a)"})
        plan = store.latest()
    assert keep(folder, "runs/second", "--pause").returncode == 0
    done = keep(folder, "runs/second", "--resume")
    assert done.returncode == 1
    assert "not resumed, it is there already" in done.stderr
    shutil.rmtree(run)
    assert keep(folder, "runs/second", "--resume").returncode == 0
    with Store(run) as store:
        assert store.latest() == plan
        assert store.get(store.outputs(made.key)["model.hstar"]) == b"weights"
    assert keep(folder, "runs/third", "--resume").returncode == 1


def test_paused_measurements_go_on_elsewhere(scripts: Path) -> None:
    rates = scripts / "runs" / "rates.jsonl"
    rates.write_text("{}\n")
    assert keep(scripts, "runs/rates.jsonl", "--pause").returncode == 0
    rates.unlink()
    assert keep(scripts, "runs/rates.jsonl", "--resume").returncode == 0
    assert rates.read_text() == "{}\n"
    assert keep(scripts, "runs/rates.jsonl", "--resume").returncode == 1


def test_the_scripts_of_the_real_file_understand_their_commands(tmp_path: Path) -> None:
    """A block whose file is not here is never run, so a wrong option in it would not be noticed."""
    root = SCRIPT.parents[1]
    text = "".join(page.read_text() for page in [root / "RESULTS.md", *(root / "docs/results").glob("*.md")])
    commands = re.findall(r"^<!-- python benchmarks/(\w+)\.py (.*) -->$", text, re.MULTILINE)
    assert {name for name, _ in commands} >= {
        "fast_downward",
        "network",
        "precision",
        "sampling",
        "experiments",
    }
    mains = {name: load_script(name)["main"] for name, _ in commands}
    for name, words in commands:
        absent = [str(tmp_path / word) if word.startswith("runs/") else word for word in shlex.split(words)]
        with pytest.raises(
            InputError, match=r"\.jsonl: cannot read: No such file|not a folder of results"
        ):  # a wrong option is a SystemExit
            mains[name](absent)
