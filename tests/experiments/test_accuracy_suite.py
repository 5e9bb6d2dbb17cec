"""Suites that compare models of a domain with true distances: from labels to accuracies and plans."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from hstar.errors import InputError
from hstar.experiments.job import Job, Made
from hstar.experiments.report import read_runs
from hstar.experiments.store import Store
from hstar.experiments.suite import read_suite
from hstar.experiments.suite_jobs import suite_jobs
from hstar.generators import GENERATORS
from hstar.generators.splits import GRIDS, split_instances

DOMAIN = "blocksworld-4ops"
SUITE = """
[limits]
time = "60s"

[[tasks]]
problems = ["large/*.pddl"]

[[label]]
name = "small"
problems = ["small/*.pddl"]
siblings = true

[[label]]
name = "judges"
problems = ["judges/*.pddl"]

[[train]]
name = "weights"
recipe = "wl"
data = "small"
options = { least-states = 1 }

[[train]]
name = "belief"
recipe = "truncated"
data = "small"
held_out = "judges"
options = { updates = 5 }

[[accuracy]]
model = "belief"
data = "judges"

[[accuracy]]
model = "weights"
data = "judges"
rule = "clip"

[[plan]]
model = "belief"
options = { max_evaluations = 10000, goal_at_generation = true, evaluate_duplicates = true }

[[plan]]
model = "weights"
options = { max_evaluations = 1, goal_at_generation = false }
"""


def write_problems(home: Path) -> Path:
    """The suite and its problems."""
    for folder, blocks, seeds in (("small", 3, (0, 1)), ("judges", 4, (2,)), ("large", 5, (3,))):
        (home / folder).mkdir(parents=True)
        for seed in seeds:
            domain, problem = GENERATORS.get("blocksworld")(blocks=blocks, seed=seed)
            (home / folder / "domain.pddl").write_text(domain)
            (home / folder / f"p{seed}.pddl").write_text(problem)
    (home / "suite.toml").write_text(SUITE)
    return home


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return write_problems(tmp_path)


def jobs_of(home: Path, text: str = SUITE) -> list[Job]:
    (home / "suite.toml").write_text(text)
    with Store(home / "made") as store:
        return suite_jobs(read_suite(home / "suite.toml"), home, store)


def bench(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hstar", "bench", "suite.toml", "-o", "run", "--jobs", "2", *words]
    return subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=600)


# --- the jobs -------------------------------------------------------------------------------------------


def test_searches_and_accuracies_share_a_training(home: Path) -> None:
    jobs = jobs_of(home)
    kinds = Counter((job.kind, job.labels["contestant"]) for job in jobs)
    assert kinds == {
        ("label", "small"): 2,
        ("label", "judges"): 1,
        ("train", "belief"): 1,
        ("train", "weights"): 1,
        ("accuracy", "belief"): 1,
        ("accuracy", "weights, clip"): 1,
        ("search", "belief"): 1,
        ("search", "weights"): 1,
    }
    by_name = {(job.kind, job.labels["contestant"]): job for job in jobs}
    made = Made(by_name["train", "belief"].key, "model.hstar")
    for kind in ("accuracy", "search"):
        assert by_name[kind, "belief"].inputs["model.hstar"] == made
    held_out = by_name["label", "judges"]
    assert by_name["train", "belief"].inputs["held-out0.data"] == Made(held_out.key, "labels.data")
    assert held_out.key in by_name["accuracy", "belief"].needs()
    assert "--rule" not in by_name["accuracy", "belief"].command
    clipped = by_name["accuracy", "weights, clip"].command
    assert clipped[clipped.index("--rule") + 1] == "clip"
    assert "--siblings" in by_name["label", "small"].command
    assert "--siblings" not in held_out.command
    assert {"--goal-at-generation", "--evaluate-duplicates"} < set(by_name["search", "belief"].command)
    assert not any("goal" in word for word in by_name["search", "weights"].command)  # there is no word for no


def test_labels_with_upper_bounds(home: Path) -> None:
    """Another command and more time; all other jobs stay as they are."""
    plain = {job.labels["instance"]: job for job in jobs_of(home) if job.kind == "label"}
    text = SUITE.replace("siblings = true\n", "siblings = true\nupper = true\n")
    for job in jobs_of(home, text):
        if job.kind != "label":
            continue
        other = plain[job.labels["instance"]]
        if job.labels["contestant"] == "judges":
            assert job.key == other.key
        else:
            assert job.command == (*other.command[:-3], "--upper", *other.command[-3:])
            assert job.time_limit == 2 * other.time_limit


def test_labels_by_processor_time(home: Path) -> None:
    plain = {job.labels["instance"]: job for job in jobs_of(home) if job.kind == "label"}
    for job in jobs_of(home, SUITE.replace("[limits]\n", "[limits]\ncpu = true\n")):
        if job.kind == "label":
            assert job.cpu
            assert job.command == (*plain[job.labels["instance"]].command[:-3], "--cpu", *job.command[-3:])


def test_accuracy_without_searches(home: Path) -> None:
    text = SUITE[: SUITE.index("[[plan]]")].replace('[[tasks]]\nproblems = ["large/*.pddl"]\n', "")
    assert Counter(job.kind for job in jobs_of(home, text)) == {"label": 3, "train": 2, "accuracy": 2}
    with pytest.raises(InputError, match="'weights' is for one task: see the errors of a "):
        jobs_of(home, text.replace('recipe = "wl"', 'recipe = "fsm"'))


def test_one_model_on_two_sets_of_data(home: Path) -> None:
    more = '\n[[accuracy]]\nmodel = "belief"\ndata = "small"\n'
    accuracies = [job.labels for job in jobs_of(home, SUITE + more) if job.kind == "accuracy"]
    assert Counter((labels["contestant"], labels["instance"]) for labels in accuracies) == {
        ("belief", f"{DOMAIN}/judges"): 1,
        ("belief", f"{DOMAIN}/small"): 1,
        ("weights, clip", f"{DOMAIN}/judges"): 1,
    }


def test_a_name_tells_its_model(home: Path) -> None:
    plans = "".join(
        f'\n[[plan]]\nname = "{{model}}, again"\nmodel = "{model}"\n' for model in ("belief", "weig*")
    )
    names = {job.labels["contestant"] for job in jobs_of(home, SUITE + plans) if job.kind == "search"}
    assert names == {"belief", "belief, again", "weights", "weights, again"}


def test_the_published_comparison() -> None:
    """Profile `paper`: the whole grids of the paper, with its limits and its rule for what is not solved."""
    suite = read_suite(Path(__file__).parents[2] / "suites" / "truncated.toml", "paper")
    tables = {(table.name, str(table.generator)): table for table in suite.label}
    assert len(tables) == len(suite.label) == 3 * len(GRIDS)
    for (name, generator), table in tables.items():
        assert (table.split, table.attempts, table.memory) == (name, 20, "8G")
        assert table.time == ("30m" if name == "large" else "5m")
        assert not table.parameters and table.number is None and table.problems is None
        assert name in GRIDS[generator]
    for generator, grids in GRIDS.items():
        table = tables["large", generator]
        found = {tuple(sorted(one.sizes.items())) for one in split_instances(generator, str(table.split))}
        assert found == {tuple(sorted(cell.items())) for cell in grids["large"].cells}
    names = {(training.data, training.held_out) for training in suite.train}
    assert names == {("train", "val")} and {table.data for table in suite.accuracy} == {"large"}


OTHER = '[[label]]\nname = "judges"\ngenerator = "gripper"\nsplit = "train"\nnumber = 1\n'
JUDGES = '[[label]]\nname = "judges"\nproblems = ["judges/*.pddl"]\n'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('[[accuracy]]\nmodel = "belief"', '[[accuracy]]\nmodel = "beleif"', "did you mean 'belief'"),
        ('model = "belief"\ndata = "judges"', 'model = "belief"\ndata = "judge"', "did you mean 'judges'"),
        ('held_out = "judges"', 'held_out = "jugdes"', "unknown data 'jugdes'.*did you mean 'judges'"),
        ('recipe = "truncated"', 'recipe = "truncate"', "did you mean 'truncated'"),
        ("updates = 5", "update = 5", "unknown option of truncated 'update'.*did you mean 'updates'"),
        ("updates = 5", 'model = "nml"', "'nml' .*did you mean 'nlm'"),
        ("updates = 5", 'profile = "as-ran"', "unknown profile of truncated 'as-ran'"),
        ('rule = "clip"', 'rule = "clop"', "not a rule: 'clop' .*quantile:LEVEL"),
        ('rule = "clip"', 'rul = "clip"', "accuracy.1.rul: unknown key 'rul'; did you mean 'rule'"),
        ('model = "weights"\ndata', 'name = "belief"\nmodel = "weights"\ndata', "are called 'belief'"),
        (
            'recipe = "wl"\ndata = "small"\noptions = { least-states = 1 }',
            'recipe = "fsm"\ndata = "small"',
            r"'small' is a \[\[label\]\], and fsm learns from",
        ),
        (JUDGES, OTHER, "'belief': there are no held-out problems of blocksworld-4ops"),
    ],
)
def test_what_is_refused(home: Path, old: str, new: str, message: str) -> None:
    assert old in SUITE
    with pytest.raises(InputError, match=message):
        jobs_of(home, SUITE.replace(old, new, 1))


def test_data_of_another_domain(home: Path) -> None:
    text = SUITE.replace(JUDGES, OTHER).replace('held_out = "judges"\n', "")
    with pytest.raises(InputError, match="'belief': there are no labelled problems of gripper"):
        jobs_of(home, text)


def test_a_recipe_for_one_task_has_no_held_out_problems(home: Path) -> None:
    text = """
[[tasks]]
generator = "blocksworld"
parameters = { blocks = 3 }
starts = 1

[[train]]
name = "one"
recipe = "fsm"
held_out = "judges"

[[plan]]
model = "one"
"""
    with pytest.raises(InputError, match=r"10: train\.0\.held_out: held_out is not for fsm on a task"):
        jobs_of(home, text)


# --- the run --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_runs_and_goes_on_without_repeating(home: Path) -> None:
    first = bench(home)
    assert first.returncode == 0, first.stderr
    (run,) = read_runs([home / "run"])
    status = Counter((row["step"], row["contestant"], row["status"]) for row in run.rows)
    assert status == {
        ("label", "small", "labelled"): 2,
        ("label", "judges", "labelled"): 1,
        ("train", "belief", "trained"): 1,
        ("train", "weights", "trained"): 1,
        ("accuracy", "belief", "compared"): 1,
        ("accuracy", "weights, clip", "compared"): 1,
        ("search", "belief", "solved"): 1,
        ("search", "weights", "evaluation_limit"): 1,
    }
    by_name = {(row["step"], row["contestant"]): row for row in run.rows}
    judged, belief = by_name["label", "judges"], by_name["accuracy", "belief"]
    assert belief["states"] == judged["states"] == by_name["train", "belief"]["validation_states"]
    assert belief["mse"] > 0
    assert 0 <= belief["calibration_error"] <= 1
    levels = [level for level, _ in belief["calibration"]]
    shares = [share for _, share in belief["calibration"]]
    assert levels == sorted(levels)
    assert shares == sorted(shares)  # the quantile for a higher level is not lower
    weights = by_name["accuracy", "weights, clip"]
    assert "sigma" not in weights  # a number, not a belief
    assert weights["mse_ff"] == belief["mse_ff"]
    assert "## Accuracy (mean squared error)" in first.stdout
    assert f"| {DOMAIN}/judges | {judged['states']} |" in first.stdout

    # A suite that has grown runs what is new: nothing here, since another name is not another comparison.
    more = '\n[[accuracy]]\nname = "again"\nmodel = "belief"\ndata = "judges"\n'
    (home / "suite.toml").write_text(SUITE + more)
    second = bench(home)
    assert second.returncode == 0, second.stderr
    with Store(home / "run", read_only=True) as store:
        assert len(list(store.attempts())) == 9
    (heads,) = (line for line in second.stdout.splitlines() if "| lmcut |" in line)
    assert {"belief", "weights, clip", "again"} < set(heads.strip("| ").split(" | "))
