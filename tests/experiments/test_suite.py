"""Suites: what a file says is what is run, and what it says wrongly is told with its line."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from hstar.errors import InputError
from hstar.experiments.driver import LocalExecutor, run
from hstar.experiments.store import Store
from hstar.experiments.suite import read_suite
from hstar.experiments.suite_jobs import suite_jobs

ROOT = Path(__file__).parents[2]
SUITE = """\
search = "gbfs"

[limits]
time = "10s"

[[tasks]]
generator = "blocksworld"
parameters = { blocks = [3, 4] }
seeds = [0, 1]
starts = 2

[[train]]
name = "little"
recipe = "fsm"
options = { states = 100, epochs = 1, sui = false }
seeds = [0, 1]

[[plan]]
model = "little"

[[plan]]
name = "little, lazy"
model = "little"
search = "lazy"

[[plan]]
heuristic = "ff"

[profiles.quick]
limits = { time = "5s" }
tasks = { parameters = { blocks = 3 }, seeds = [0], starts = 1 }
train = { options = { states = 50 }, seeds = [0] }
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "run") as store:
        yield store


def write(folder: Path, text: str) -> Path:
    file = folder / "suite.toml"
    file.write_text(text)
    return file


def test_jobs(tmp_path: Path, store: Store) -> None:
    jobs = suite_jobs(read_suite(write(tmp_path, SUITE)), tmp_path, store)
    counts = Counter((job.labels["step"], job.labels["contestant"]) for job in jobs)
    # Four tasks. The two seeds of the training serve both plans that name it.
    assert counts == {
        ("train", "little"): 8,
        ("search", "little"): 16,
        ("search", "little, lazy"): 16,
        ("search", "ff"): 8,
    }
    assert {job.labels["instance"].partition("/")[2] for job in jobs} == {
        f"blocks{blocks}-seed{seed}" for blocks in (3, 4) for seed in (0, 1)
    }
    training = next(job for job in jobs if job.kind == "train")
    assert "--no-sui" in training.command
    assert all("10s" in job.command for job in jobs if job.kind == "search")


def test_profiles_change_every_table_they_name(tmp_path: Path, store: Store) -> None:
    suite = read_suite(write(tmp_path, SUITE), "quick")
    assert (suite.limits.time, suite.limits.memory) == ("5s", "4G")
    assert suite.train[0].options == {"states": 50, "epochs": 1, "sui": False}
    assert len(suite_jobs(suite, tmp_path, store)) == 1 + 3
    with pytest.raises(InputError, match=r"unknown profile 'quik'.*did you mean 'quick'"):
        read_suite(write(tmp_path, SUITE), "quik")


@pytest.mark.parametrize(
    ("wrong", "line", "message"),
    [
        (("starts = 2", "strats = 2"), 10, "tasks.0.strats: unknown key 'strats'; did you mean 'starts'"),
        (("seeds = [0, 1]\nstarts", "seeds = 3\nstarts"), 9, "tasks.0.seeds: Expected `array`, got `int`"),
        (('time = "10s"', "time = 10"), 4, "limits.time: Expected `str`, got `int`"),
        (("[limits]", "[limit]"), 3, "unknown key 'limit'; did you mean 'limits'"),
        (('search = "lazy"', 'serach = "lazy"'), 24, "unknown key 'serach'; did you mean 'search'"),
        (('search = "gbfs"', 'search = "gbfs'), 1, "not TOML"),
        (("states = 100", "states = [1]"), 15, "options"),
    ],
)
def test_wrong_keys_and_values(tmp_path: Path, wrong: tuple[str, str], line: int, message: str) -> None:
    assert wrong[0] in SUITE
    with pytest.raises(InputError) as caught:
        read_suite(write(tmp_path, SUITE.replace(*wrong, 1)))
    assert message in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (('model = "little"', 'model = "litle"'), "unknown model 'litle'.*did you mean 'little'"),
        (
            ('heuristic = "ff"', 'heuristic = "fff"'),
            "suite.toml:27: plan.2.heuristic: unknown heuristic of .*did you mean 'ff'",
        ),
        (('heuristic = "ff"', 'heuristic = "ff"\nmodel = "little"'), "one of model, heuristic and planner"),
        (('generator = "blocksworld"', 'generator = "blockworld"'), "did you mean 'blocksworld'"),
        (('generator = "blocksworld"', 'instances = ["none/*"]'), "8: tasks.0.parameters: is for generator"),
        (
            (
                'generator = "blocksworld"\nparameters = { blocks = [3, 4] }\nseeds = [0, 1]',
                'instances = ["no/*"]',
            ),
            "suite.toml:7: tasks.0.instances: nothing matches 'no/",
        ),
        (
            ("parameters = { blocks", "parameters = { block"),
            "unknown size of blocksworld 'block'.*did you mean 'blocks'",
        ),
        (('search = "lazy"', 'search = "lasy"'), "unknown search 'lasy'"),
        (('recipe = "fsm"', 'recipe = "ff"'), "unknown recipe 'ff'"),
        (('time = "10s"', 'time = "ten"'), "expected a time"),
        (('name = "little, lazy"\n', ""), "suite.toml:.*: two on 'blocksworld.*' are called 'little'"),
        (
            ("[[plan]]", '[[train]]\nname = "little"\nrecipe = "nrsl"\n\n[[plan]]'),
            "suite.toml:19: train.1.name: two trainings are called 'little'",
        ),
    ],
)
def test_what_does_not_fit_together(
    tmp_path: Path, store: Store, wrong: tuple[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        suite_jobs(read_suite(write(tmp_path, SUITE.replace(*wrong, 1))), tmp_path, store)


LEARNED = """\
[[label]]
name = "small"
generator = "ferry"
split = "train"
number = 1

[[train]]
name = "one"
recipe = "wl"
data = "small"

[[accuracy]]
model = "one"
data = "small"
"""
SAMPLED = """\
[[tasks]]
generator = "blocksworld"
parameters = { blocks = 3 }

[[sample]]
name = "states"
sampler = "fsm"
"""


@pytest.mark.parametrize("option", ["output", "o", "plan-file", "checkpoint", "steps", "data", "alias-file"])
@pytest.mark.parametrize(
    ("text", "table"),
    [
        (SUITE, '[[plan]]\nheuristic = "ff"'),
        (SUITE.replace("options = { states = 100, epochs = 1, sui = false }\n", ""), 'recipe = "fsm"'),
        (LEARNED, 'recipe = "wl"'),
        (SAMPLED, 'sampler = "fsm"'),
    ],
)
def test_a_suite_names_no_files_to_write(
    tmp_path: Path, store: Store, text: str, table: str, option: str
) -> None:
    victim = tmp_path / "victim"
    for spelled in (option, option.replace("-", "_")):
        wrong = text.replace(table, f'{table}\noptions = {{ {spelled} = "{victim}" }}', 1)
        with pytest.raises(InputError, match=r"suite.toml:\d+: .*unknown option"):
            suite_jobs(read_suite(write(tmp_path, wrong)), tmp_path, store)


@pytest.mark.parametrize(
    "name", ["{seed.x}", "{seed.__class__}", "{seed:>2000000000}", "{seed!r}", "{0}", "{"]
)
def test_names_know_their_fields_only(tmp_path: Path, store: Store, name: str) -> None:
    text = f'''[[plan]]\nname = "{name}"\nheuristic = "ff"\neach = {{ seed = [1, 2] }}\n'''
    with pytest.raises(InputError, match="asks for what each has not"):
        suite_jobs(read_suite(write(tmp_path, text)), tmp_path, store)


def test_instances_from_folders(tmp_path: Path, store: Store) -> None:
    text = '[[tasks]]\ninstances = ["data/blocks/problem.pddl"]\nstarts = 3\n[[plan]]\nheuristic = "ff"\n'
    jobs = suite_jobs(read_suite(write(tmp_path, text)), ROOT / "tests", store)
    assert [job.labels["start"] for job in jobs] == ["walk1", "walk2", "walk3"]


@pytest.mark.parametrize("file", sorted((ROOT / "suites").glob("*.toml")), ids=lambda file: file.stem)
def test_our_suites_can_be_read(file: Path) -> None:
    suite = read_suite(file)
    for profile in suite.profiles:
        read_suite(file, profile)


@pytest.mark.slow
def test_the_command_line(tmp_path: Path) -> None:
    write(tmp_path, SUITE)

    def bench(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "hstar", "bench", "suite.toml", "-o", "run", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    dry = bench("--dry-run", "--profile", "quick", "--jobs", "1")
    assert dry.returncode == 0
    assert dry.stderr.startswith("4 jobs (1 of step train, 3 of step search), 0 finished\n")
    assert not (tmp_path / "run").exists()
    first = bench("--profile", "quick")
    assert first.returncode == 0, first.stderr
    assert "| blocksworld-4ops/blocks3-seed0 | 100 | 100 | 100 |" in first.stdout
    assert bench("--profile", "quick").stdout == first.stdout
    assert ", 4 finished\n" in bench("--dry-run", "--profile", "quick").stderr
    wrong = bench("--profile", "none")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (33, 1)
    # Another limit makes other jobs of the same names, and tables have these.
    write(tmp_path, SUITE.replace('time = "5s"', 'time = "6s"'))
    other = bench("--profile", "quick")
    assert other.stdout == first.stdout
    assert other.stderr.startswith(
        "hstar: warning: run: 3 results are no longer in tables, since other jobs have their names now\n"
    )


SAMPLING = """
[[tasks]]
generator = "blocksworld"
parameters = { blocks = 4 }
starts = 2

[[sample]]
name = "states"
sampler = "fsm"
options = { states = 100 }
errors = true

[[train]]
name = "little"
recipe = "fsm"
data = "states"
options = { epochs = 1, width = 8 }
seeds = [0, 1]

[[plan]]
model = "little"
"""


@pytest.mark.slow
def test_trainings_share_labelled_states(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(SAMPLING)
    with Store(tmp_path / "run") as store:
        jobs = suite_jobs(read_suite(tmp_path / "suite.toml"), tmp_path, store)
        (sample,) = (job for job in jobs if job.kind == "sample")
        trainings = [job for job in jobs if job.kind == "train"]
        assert [job.needs() for job in trainings] == [{sample.key}] * 2
        rows = run(store, [sample, trainings[1]], LocalExecutor(1))
    assert [row["status"] for row in rows] == ["sampled", "trained"]
    assert rows[0]["label_error"] is not None
    assert rows[0]["distinct"] == rows[1]["states"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('data = "states"', 'data = "stats"', "unknown data 'stats'"),
        ("states = 100", "state = 100", "unknown option of fsm 'state'"),
        ('sampler = "fsm"', 'sampler = "fms"', "unknown sampler 'fms'"),
        ("errors = true", "seeds = [0, 2]", "'little' has seed 1, but 'states' has not"),
    ],
)
def test_wrong_samples(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "suite.toml").write_text(SAMPLING.replace(old, new))
    with Store(tmp_path / "run") as store, pytest.raises(InputError, match=message):
        suite_jobs(read_suite(tmp_path / "suite.toml"), tmp_path, store)


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ('space = "tiles:3x3"\nnumber = 1000000000', "number"),
        ('generator = "blocksworld"\nparameters = { blocks = 1000000000 }', "parameters"),
        ('generator = "blocksworld"\nparameters = { blocks = 3 }\nstarts = 1000000000', "starts"),
        ('grid = "maze"\noptions = { rows = 1000000000, columns = 1000000000 }\nnumber = 1', "options"),
    ],
)
def test_sizes_are_bounded(tmp_path: Path, store: Store, table: str, key: str) -> None:
    file = tmp_path / "suite.toml"
    file.write_text(f'[[tasks]]\n{table}\n[[plan]]\nheuristic = "zero"\n')
    with pytest.raises(InputError, match=rf"suite\.toml.*{key}|at most 67108864 cells"):
        suite_jobs(read_suite(file), tmp_path, store)
