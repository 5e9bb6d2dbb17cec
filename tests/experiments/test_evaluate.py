"""Evaluations on real processes: contestants, starts, resuming, and what they come to."""

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hstar
from hstar.cli.runs import run_and_print
from hstar.errors import InputError
from hstar.experiments.contestants import parse_contestant
from hstar.experiments.driver import LocalExecutor, run
from hstar.experiments.fast_downward import FastDownward
from hstar.experiments.job import Job
from hstar.experiments.problems import Source, read_instance
from hstar.experiments.protocol import Limits, contestant_jobs
from hstar.experiments.store import Store
from hstar.experiments.tables import coverage_table, summarise
from hstar.generators import GENERATORS
from hstar.spaces.pddl import parse_task, read_task

Row = dict[str, Any]

QUICK = "fsm,states=200,epochs=2,width=16,precision=int16"


def _on_table(*blocks: int) -> str:
    return " ".join(f"(on-table b{block}) (clear b{block})" for block in blocks)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An instance as evaluations expect it: a base task, and two starts that are states of it."""
    folder = tmp_path_factory.mktemp("instances") / "five"
    folder.mkdir()
    domain, base = GENERATORS.get("blocksworld")(blocks=5, seed=2)
    (folder / "domain.pddl").write_text(domain)
    (folder / "base.pddl").write_text(base)
    before, _, rest = base.partition("(:init")
    init, _, goal = rest.partition("(:goal")
    for name, start in {
        "p1": f"(arm-empty) {_on_table(1, 2, 3, 4, 5)})",
        "p2": f"(holding b1) {_on_table(2, 3, 4, 5)})",
        "p10": init,
    }.items():
        (folder / f"{name}.pddl").write_text(f"{before}(:init {start}\n(:goal{goal}")
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "run") as store:
        yield store


def evaluate(store: Store, folder: Path, *words: str, starts: int = 3, time_limit: float = 20) -> list[Row]:
    """The rows of an evaluation, jobs that were run before included."""
    contestants = [parse_contestant(word) for word in words]
    instance = read_instance(folder, store, most=starts)
    limits = Limits(time_limit=time_limit)
    jobs = [job for one in contestants for job in contestant_jobs(one, [instance], store, limits=limits)]
    return run(store, jobs, LocalExecutor(2))


def test_starts_are_the_other_problems_in_natural_order(folder: Path, store: Store) -> None:
    instance = read_instance(folder, store)
    assert instance.name.endswith("/five")
    assert list(instance.starts) == ["p1", "p2", "p10"]
    base, first = (load(store, source) for source in (instance.lesson.source, instance.starts["p1"]))
    assert base.core.fact_names == first.core.fact_names
    assert ("clear", "b3") in first.initial_atoms
    assert len(read_instance(folder, store, most=1).starts) == 1


def load(store: Store, source: Source) -> hstar.Task:
    copy = store.folder / "task.sas"
    copy.write_bytes(store.get(str(source.files["task.sas"])))
    return hstar.load(copy)


def test_a_problem_alone_gets_walks(folder: Path, store: Store) -> None:
    instance = read_instance(folder / "base.pddl", store, walks=3)
    assert list(instance.starts) == ["walk1", "walk2", "walk3"]
    assert all(hstar.solve(load(store, source)).solved for source in instance.starts.values())


def test_models_of_a_domain_get_the_same_starts_as_problems(folder: Path, store: Store) -> None:
    """With all atoms of the start, and no others."""
    for path in (folder, folder / "base.pddl"):
        instance = read_instance(path, store, walks=3)
        assert "domain" in instance.kinds and list(instance.problems) == list(instance.starts)
        for start, source in instance.problems.items():
            for name, digest in source.files.items():
                (store.folder / name).write_bytes(store.get(str(digest)))
            problem = hstar.load(store.folder / "domain.pddl", store.folder / "problem.pddl")
            atoms = load(store, instance.starts[start]).initial_atoms
            assert set(atoms) <= problem.lifted.problem.init
            assert (
                problem.lifted.problem.goal
                == read_task(folder / "domain.pddl", folder / "base.pddl").problem.goal
            )
            known = {fact for facts in load(store, instance.lesson.source).atoms for fact in facts}
            assert not (problem.lifted.problem.init & known) - set(atoms)


def test_other_goals_and_other_domains_are_refused(folder: Path, store: Store, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for file in folder.glob("*.pddl"):
        (other / file.name).write_text(file.read_text())
    text = (other / "p1.pddl").read_text()
    (other / "p1.pddl").write_text(text[: text.index("(:goal")] + "(:goal (holding b1)))")
    with pytest.raises(InputError, match=r"p1\.pddl: its goal is not that of base\.pddl"):
        read_instance(other, store)
    with pytest.raises(InputError, match=r"no base\.pddl in this folder"):
        read_instance(tmp_path, store)


@pytest.mark.slow
def test_a_run_is_made_once(folder: Path, store: Store) -> None:
    words = ("ff", "goalcount,search=lazy", QUICK)
    rows = evaluate(store, folder, *words)
    assert len(rows) == 10  # three starts each, and a training
    assert all(row["status"] in ("solved", "trained") for row in rows)
    assert evaluate(store, folder, *words) == rows
    assert len(list(store.attempts())) == 10
    # Other limits are other runs; the model is not trained again.
    evaluate(store, folder, *words, time_limit=19)
    added = list(store.attempts())[10:]
    assert [attempt.kind for attempt in added] == ["search"] * 9


def test_plans_are_kept(folder: Path, store: Store) -> None:
    evaluate(store, folder, "ff", starts=1)
    (attempt,) = store.attempts()
    plan = store.get(attempt.outputs["plan"]).decode()
    assert plan.count("\n(") + 1 == attempt.record["plan_length"]
    assert "hstar solve" in store.get(attempt.log).decode()


def test_failures_are_recorded_and_do_not_stop_the_rest(folder: Path, store: Store) -> None:
    rows = evaluate(store, folder, "fsm,states=0", "ff", starts=1)
    assert [row["status"] for row in rows] == ["error", "solved"]  # without a model there is no search
    assert "states must be a whole number from 1 on" in rows[0]["error"]
    assert "states must be" in summarise(rows)
    # The contestant that could not be trained is in the table, and the command says so.
    assert coverage_table(rows)[-1] == ["jobs that ended in an error", "1", "0"]


def test_errors_of_jobs_are_an_exit_code(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    labels = {"step": "search", "domain": "d", "instance": "i", "start": "p", "contestant": "ff", "seed": 0}
    job = Job("search", ("{python}", "-c", "raise SystemExit('broken')"), labels=labels)
    options = {"jobs": 1, "cluster": None, "retry": False, "json": False, "quiet": True}
    assert run_and_print(store, [job], argparse.Namespace(**options)) == 1
    said = capsys.readouterr()
    assert said.err == "hstar: 1 of 1 jobs ended in an error; the same command with --retry runs them again\n"
    assert "- i p, ff: broken" in said.out and "| jobs that ended in an error | 1 |" in said.out


@pytest.mark.skipif(FastDownward.find() is None, reason="needs up-fast-downward (extra bench)")
def test_fast_downward_takes_part(folder: Path, store: Store) -> None:
    rows = evaluate(store, folder, "fd:lama-first", starts=2)
    assert [row["status"] for row in rows] == ["solved", "solved"]
    assert all(row["expansions"] > 0 and row["plan_length"] > 0 for row in rows)
    with pytest.raises(InputError, match="unknown contestant"):
        parse_contestant("lama-first")


def test_contestants() -> None:
    paper = parse_contestant("nrsl,profile=paper,networks=10,search=lazy")
    assert paper.recipe == "nrsl"
    assert paper.options == ("--profile", "paper", "--networks", "10")
    assert paper.search == "lazy"
    assert parse_contestant("fsm,no-sui").options == ("--no-sui",)
    assert parse_contestant("fsm,precision=int16").precision == "int16"
    for word, message in {
        "fff": "did you mean 'ff'",
        "ff,states=3": "'ff' has no option 'states'",
        "nrsl,preferred": "'nrsl' has no preferred operators",
        "fd:lama-first,search=lazy": "unknown contestant 'fd:lama-first'",
        "none.hstar": "none.hstar: no such model",
        "ff,search=a*": "unknown search 'a\\*'",
        "fsm,precision=int4": "unknown precision 'int4'",
        "ff,precision=int16": "ff,precision=int16: precision is for models",
    }.items():
        with pytest.raises(InputError, match=message):
            parse_contestant(word)


def record(instance: str, start: str, contestant: str, status: str, expansions: int = 1) -> dict[str, object]:
    return {
        "step": "search",
        "domain": instance.partition("/")[0],
        "instance": instance,
        "start": start,
        "contestant": contestant,
        "seed": 0,
        "status": status,
        "expansions": expansions,
        "plan_length": 4,
        "evaluations": 1000 * expansions,
        "cpu_time": 1.0,
    }


def test_domains_count_alike_however_many_instances_they_have() -> None:
    records = [
        *(record("x/1", start, "a", status) for start, status in (("p1", "solved"), ("p2", "time_limit"))),
        record("x/2", "p1", "a", "time_limit"),
        record("y/1", "p1", "a", "solved", expansions=100),
        record("y/1", "p1", "b", "solved", expansions=25),
    ]
    lines = summarise(records).splitlines()
    assert "| x/1 | 50 | – |" in lines
    assert "| x, mean | 25 | – |" in lines
    assert "| **mean over domains** | 62.5 | 1 of 4 |" in lines
    assert "| expansions, geometric mean (1 starts solved by all) | 100 | 25 |" in lines


@pytest.mark.slow
def test_the_command_line(folder: Path, tmp_path: Path) -> None:
    evaluate, output = [sys.executable, "-m", "hstar", "evaluate"], ["-o", str(tmp_path / "run")]
    found = subprocess.run([*evaluate, "ff", str(folder), *output, "--json"], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert [json.loads(line)["start"] for line in found.stdout.splitlines()] == ["p1", "p2", "p10"]
    models = [tmp_path / name / "m.hstar" for name in ("a", "b")]
    for model in models:
        model.parent.mkdir()
        model.touch()
    for words, message in {
        ("ff",): "no PROBLEM",
        (*map(str, models), str(folder)): "two contestants are called m; give their files other names",
        (str(folder),): "no CONTESTANT",
        ("ff", str(folder), "--search", "best"): "unknown search 'best'",
        ("ff", str(folder), "--jobs", "0"): "--jobs takes 1 or more",
        ("ff", str(folder), "--seeds", "0"): "--seeds takes 1 or more",
    }.items():
        found = subprocess.run([*evaluate, *words, *output], capture_output=True, text=True)
        assert found.returncode == 33
        assert message in found.stderr
        assert found.stderr.count("\n") == 1


@pytest.mark.slow
def test_ctrl_c_leaves_nothing_running_and_no_false_result(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"

    def training() -> str:
        found = subprocess.run(["pgrep", "-f", f"hstar train .*{run}"], capture_output=True, text=True)
        return found.stdout

    words = ["evaluate", "ff", "fsm,states=2000,epochs=100000,patience=100000", str(folder), "-o", str(run)]
    driver = subprocess.Popen([sys.executable, "-m", "hstar", *words], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not training() and time.monotonic() < deadline:
        time.sleep(0.05)
    driver.send_signal(signal.SIGINT)
    _, errors = driver.communicate(timeout=60)
    assert driver.returncode == 130
    assert errors.splitlines()[-1].endswith("run the same command again")
    assert "rror" not in errors
    with Store(run) as store:
        assert {row["contestant"] for row in store.rows()} == {"ff"}
    assert not training()


def test_problems_of_any_layout_have_random_starts(folder: Path, tmp_path: Path, store: Store) -> None:
    (tmp_path / "domain.pddl").write_text((folder / "domain.pddl").read_text())
    text = (folder / "base.pddl").read_text().replace("(:init", "( :INIT ; as it begins\n")
    (tmp_path / "p.pddl").write_text(text)
    instance = read_instance(tmp_path / "p.pddl", store, walks=1)
    (source,) = instance.problems.values()
    written = store.get(str(source.files["problem.pddl"])).decode()
    assert (
        written.count("init") == 1 and parse_task((folder / "domain.pddl").read_text(), written).problem.init
    )
