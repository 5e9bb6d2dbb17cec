"""Reports: the files for other tools say what the store says, and bad input is refused."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hstar.errors import InputError
from hstar.experiments.job import Job, Outcome
from hstar.experiments.report import FORMATS, Run, page, read_runs, write_rows
from hstar.experiments.report.figures import write_figures
from hstar.experiments.store import Store
from hstar.experiments.tables import tables_of

from .runs import NASTY, compared_run, labelling, made_up_run, training


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (found,) = read_runs([made_up_run(tmp_path / "first")])
    return found


def embedded(text: str) -> Any:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


@pytest.mark.slow
def test_every_row_and_how_to_repeat_it(run: Run) -> None:
    assert len(run.rows) == 1 + 3 * (2 * (1 + 3) + 3)
    assert (run.missing, len(run.machines)) == (0, 1)
    row = next(row for row in run.rows if row["status"] == "error")
    assert row["error"] == NASTY
    assert run.logs[row["key"]].startswith("log of ferry-ferry/1-ff")
    with Store(run.folder, read_only=True) as store:
        digest = next(run.files([run.origins[row["key"]].inputs]))["task.sas"]
        assert store.get(digest).startswith(b"task of ferry-ferry/1-ff")


def test_logs_beyond_the_budget_stay_files(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hstar.experiments.report.runs.LOG_BUDGET", 1)
    (short,) = read_runs([run.folder])
    assert [row["status"] for row in run.rows if row["key"] in short.logs] == ["error"]
    assert "null" in page([short])


def test_page_holds_the_data_and_nothing_breaks_out(run: Run) -> None:
    text = page([run])
    data = embedded(text)
    assert data["contestants"] == ["learned", "ff"]
    assert len(data["searches"]["status"]) == 27
    assert data["statuses"][data["searches"]["status"][data["searches"]["error"].index(NASTY)]] == "error"
    assert NASTY not in text
    assert not re.search(r"(src|href)=|https?://(?!www\.w3\.org/2000/svg)", text)


def test_csv(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(write_rows([run], "csv"))))
    assert len(rows) == len(run.rows)
    assert {row["run"] for row in rows} == {"first"}
    assert next(row for row in rows if row["status"] == "error")["error"] == NASTY
    assert sum(int(row["expansions"] or 0) for row in rows if row["contestant"] == "ff") == 700


def test_json(run: Run) -> None:
    assert json.loads(write_rows([run], "json")) == [{**row, "run": "first"} for row in run.rows]


def test_lab_properties(run: Run) -> None:
    properties = json.loads(write_rows([run], "lab"))
    assert len(properties) == 27
    one = properties["learned, seed 1-blocks-1:p3"]
    assert one["id"] == [one["algorithm"], one["domain"], one["problem"]]
    assert (one["coverage"], one["error"]) == (0, "time_limit")
    assert properties["ff-blocks-2:p1"]["expansions"] == 100
    assert properties["ff-blocks-2:p1"]["coverage"] == 1


def test_two_runs(run: Run, tmp_path: Path) -> None:
    second = made_up_run(tmp_path / "second", better=True)
    runs = read_runs([run.folder, second])
    data = embedded(page(runs))
    assert data["contestants"] == ["first: learned", "first: ff", "second: learned", "second: ff"]
    (change,) = data["changes"]
    assert [len(one["gained"]) for one in change["contestants"]] == [3, 0]
    text = write_rows(runs, "markdown")
    assert "## second against first" in text
    assert "| learned | coverage | 3 | 0 | 6 | 0.250 |" in text
    assert "- learned, gained 3: blocks/1 p3, blocks/2 p3, ferry/1 p3" in text


@pytest.mark.slow
def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    folders = [made_up_run(tmp_path / name / "run") for name in ("a", "b")]
    assert [run.name for run in read_runs(folders)] == [str(folder) for folder in folders]
    with pytest.raises(InputError, match="given twice"):
        read_runs([folders[0], folders[0]])


def test_significance_where_asked(run: Run) -> None:
    assert "Pairs" not in write_rows([run], "markdown")
    assert "| learned | ff | 4 / 0 | 0.125 | 5 / 0 | 0.062 |" in write_rows(
        [run], "markdown", significance=True
    )
    assert "4 / 0" in write_rows([run], "latex", significance=True)


def test_tables_and_contestants_that_are_asked_for(run: Run) -> None:
    text = write_rows([run], "markdown", tables=["effort"])
    assert "## Effort" in text and "## Coverage" not in text
    assert write_rows([run], "latex", tables=["coverage"]).count("tabular}{") == 1
    text = write_rows([run.of_contestants(["lea*"])], "markdown", tables=["coverage"])
    assert "learned" in text and "ff" not in text.replace("Effort", "")
    assert not run.of_contestants(["FF"]).rows


def test_many_contestants_have_lines_of_their_own() -> None:
    about = {"step": "search", "seed": 0, "start": "p1", "status": "solved", "domain": "d", "instance": "d/1"}
    rows = [{**about, "contestant": f"c{i}"} for i in range(10)]
    (few,) = tables_of(rows[:9], ["coverage"])
    assert few.table == [["", *(f"c{i}" for i in range(9))], ["d/1", *["100"] * 9]]
    (many,) = tables_of(rows, ["coverage"])
    assert many.table == [["", "d/1"], *([f"c{i}", "100"] for i in range(10))]


@pytest.mark.parametrize("form", FORMATS)
def test_a_run_that_is_going_on_can_be_read(run: Run, form: str) -> None:
    with Store(run.folder) as store:
        store.put(b"at work")
        assert write_rows(read_runs([run.folder]), form) == write_rows([run], form)


@pytest.mark.slow
def test_figures(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rows = [row for row in run.rows if row["domain"] == "ferry"]
    files = write_figures(rows, tmp_path / "figures")
    assert {file.suffix for file in files} == {".svg", ".png"}
    names = {file.stem for file in files}
    assert names == {
        "solved_within_expansions",
        "solved_within_search_time",
        "expansions_learned_ff",
        "search_time_learned_ff",
        "training_ferry_1",
    }
    assert all(file.stat().st_size > 1000 for file in files)
    drawn = (tmp_path / "figures" / "expansions_learned_ff.svg").read_text()
    assert "learned: expansions" in drawn
    write_figures(rows, tmp_path / "again", ["expansions_*", "nothing"])
    assert {file.stem for file in (tmp_path / "again").iterdir()} == {"expansions_learned_ff"}
    assert (tmp_path / "again" / "expansions_learned_ff.svg").read_text() == drawn


@pytest.fixture
def compared(tmp_path: Path) -> Run:
    (found,) = read_runs([compared_run(tmp_path / "compared")])
    return found


def test_accuracy_in_every_format(compared: Run) -> None:
    text = write_rows([compared], "markdown", significance=True)
    assert "## Accuracy (mean squared error)" in text
    assert "| blocks/test | 120 | 9 | 16 | 4 | 2 ± 1.41 |" in text
    assert "| blocks/test | belief | 1.50 ± 0 | 4 ± 2.83 | 0.12 ± 0.18 |" in text
    assert "- ferry/test accuracy, broken: </script>" in text
    assert "Coverage" not in text
    assert "Pairs" not in text
    tables = write_rows([compared], "latex", significance=True)
    assert tables.count(r"\begin{tabular}") == 2
    assert r"blocks/test & 120 & 9 & 16 & 4 & 2 $\pm$ 1.41 \\" in tables
    assert "% Accuracy (mean squared error)\n" in tables
    rows = list(csv.DictReader(io.StringIO(write_rows([compared], "csv"))))
    assert [row["mse"] for row in rows if row["contestant"] == "belief"] == ["1.0", "3.0", "1.0", "2.0"]
    assert "calibration_error" in rows[0]
    assert "calibration" not in rows[0]  # a list
    found = json.loads(write_rows([compared], "json"))
    curves = [row["calibration"] for row in found if row["contestant"] == "belief"]
    assert curves[1] == [[0.25, 0.5], [0.5, 0.5], [0.75, 0.75]]
    assert json.loads(write_rows([compared], "lab")) == {}


def test_the_page_knows_what_was_compared(compared: Run) -> None:
    data = embedded(page([compared]))
    assert data["contestants"] == ["wl", "belief", "broken"]
    assert [row["mse"] for row in data["comparisons"]] == [4.0, 0.5, 1.0, 3.0, 1.0, 2.0, None]
    assert [row["error"] for row in data["comparisons"]] == [None] * 6 + [NASTY]


@pytest.mark.slow
def test_figures_of_beliefs(compared: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    files = write_figures(compared.rows, tmp_path / "figures")
    names = {f"calibration_{domain}_test.{form}" for domain in ("blocks", "ferry") for form in ("svg", "png")}
    assert {file.name for file in files} == names
    drawn = (tmp_path / "figures" / "calibration_blocks_test.svg").read_text()
    assert ">belief<" in drawn
    assert ">wl<" not in drawn  # which has no spread
    again = write_figures(compared.rows, tmp_path / "again")
    assert [file.read_bytes() for file in again] == [file.read_bytes() for file in files]


@pytest.mark.parametrize("what", ["labels", "trainings", "nothing"])
def test_runs_of_one_kind_of_job(tmp_path: Path, what: str) -> None:
    place = {"domain": "blocks", "instance": "blocks/1", "contestant": "one", "seed": 0}
    with Store(tmp_path / "run") as store:
        if what == "labels":
            labelling(store, place, 12)
        elif what == "trainings":
            training(store, place, [1.0, -1.0])
    runs = read_runs([tmp_path / "run"])
    assert embedded(page(runs))["comparisons"] == []
    written = {form: write_rows(runs, form, significance=True) for form in FORMATS}
    assert ("Labelled problems" in written["markdown"]) == (what == "labels")
    assert (r"\begin{tabular}{llrrrr}" in written["latex"]) == (what == "labels")
    assert len(json.loads(written["json"])) == (0 if what == "nothing" else 1)
    files = write_figures(runs[0].rows, tmp_path / "figures")
    assert {file.stem for file in files} == ({"training_blocks_1"} if what == "trainings" else set())


@pytest.mark.slow
def test_the_command_line(compared: Run, tmp_path: Path) -> None:
    with Store(tmp_path / "empty"):
        pass

    def report(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "hstar", "report", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    found = report("compared")
    assert (found.returncode, found.stderr) == (0, "compared/report.html\n")
    assert len(embedded((tmp_path / "compared" / "report.html").read_text())["comparisons"]) == 7
    empty = report("empty")
    assert empty.returncode == 33
    assert empty.stderr.endswith("nothing has been run yet\n")
    assert empty.stderr.count("\n") == 1
    chosen = report("compared", "--format", "csv", "--figures", "f", "--figure", "absent_*")
    assert (chosen.returncode, chosen.stderr) == (33, "hstar: error: no figure fits absent_*\n")
    alone = report("compared", "--figure", "calibration_*")
    assert (alone.returncode, alone.stderr) == (33, "hstar: error: --figure chooses among --figures\n")


@pytest.mark.slow
def test_names_that_a_terminal_or_unicode_does_not_have(tmp_path: Path) -> None:
    odd = {"domain": "d", "instance": "d/1", "contestant": "caf\udce9 ä", "seed": 0, "step": "search"}
    with Store(tmp_path / "run") as store:
        job = Job("search", ("true",), labels={**odd, "start": "p0"})
        store.add([job])
        figures = {"expansions": 1, "evaluations": 1, "plan_length": 1, "search_time": 0.1, "h": math.nan}
        store.record(job, Outcome({"status": "solved", **figures}, {}, "", {"host": "here"}, 1.0, 1.0))
    for form in FORMATS:
        command = [sys.executable, "-m", "hstar", "report", "run", "--format", form]
        environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, env=environment)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"caf\xe9 \xc3\xa4" in done.stdout or b"caf\\udce9 \\u00e4" in done.stdout
    assert page(read_runs([tmp_path / "run"]))


def test_what_is_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a folder of results"):
        read_runs([tmp_path])
