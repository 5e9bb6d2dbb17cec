"""Limits of commands hold for all their work, and Ctrl-C is answered wherever it comes.

Seconds are those of the processor: a busy machine makes everything late.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import hstar
from cli.conftest import DATA, Refused, Run, generated, start
from conftest import benchmark_folder
from hstar.spaces.grid_files import write_map, write_png
from labelled import labelled

LIMIT_S, LATE_S = 1.0, 1.0
STARTING_S = 1.0  # Python, and the modules of a command
BLOCKS = DATA / "blocks" / "problem.pddl"
ROVERS = {"rovers": 1, "waypoints": 3, "objectives": 1, "cameras": 1, "goals": 2}
ENDLESS = {
    "databases": ["solve", "tiles:4x4", "--random", "1", "--bound", "1.5", "--no-cache"],
    "more databases": ["solve", "tiles:5x5", "--random", "1", "-e", "databases", "--no-cache"],
    "idastar": ["solve", "tiles:5x5", "--random", "1"],
    "random maze": ["solve", "--kind", "maze", "--rows", "4000", "--columns", "4000"],
    "random obstacles": ["solve", "--kind", "scattered", "--rows", "8000", "--columns", "8000"],
    "many maps": ["solve", "--kind", "rooms", "--random", "100000"],
    "optimum": ["solve", "tiles:4x4", "--random", "1", "--weight", "3", "--optimum", "--no-cache"],
}
TRAININGS = {
    "sampling by nrsl": ["train", "nrsl", BLOCKS, "--states", "100000000"],
    "sampling by fsm": ["train", "fsm", BLOCKS, "--states", "100000000"],
    "training": ["train", "nrsl", BLOCKS, "--states", "2000", "--epochs", "1000000", "--patience", "1000000"],
    "maps": ["train", "prolonged", "--scenarios", "1000000"],
}
SAMPLERS = {
    "nrsl": ["sample", "nrsl", BLOCKS, "--states", "100000000"],
    "forward": ["sample", "forward", BLOCKS, "--walks", "100000000"],
    "generating": ["generate", "blocksworld", "--blocks", "30", "--seeds", "1000000"],
}


def test_databases_keep_a_memory_limit() -> None:
    process = start(*ENDLESS["databases"], "--memory-limit", "200M", "--json")
    row = json.loads(process.communicate()[0])
    assert (process.returncode, row["status"]) == (22, "memory_limit") and row["memory"] < 250 << 20


def test_a_training_without_time_for_sampling(tmp_path: Path) -> None:
    model = tmp_path / "model.hstar"
    process = start(*TRAININGS["sampling by nrsl"], "-o", model, "--time-limit", "2s", "--quiet")
    out, err = process.communicate()
    assert (process.returncode, out) == (23, "") and not model.exists()
    assert err == "hstar: error: the time limit is reached before a search or a training began\n"


def test_the_first_problem_that_needs_databases_pays_for_them(hstar: Run) -> None:
    done = hstar(*ENDLESS["databases"], "--time-limit", "0.3s", "--json")
    assert done.code == 23 and json.loads(done.out)["status"] == "time_limit"
    several = [word.replace("1", "2") if word == "1" else word for word in ENDLESS["databases"]]
    done = hstar(*several, "--time-limit", "0.3s", "--json")
    assert [json.loads(line)["status"] for line in done.out.splitlines()] == ["time_limit"] * 2


def used(pid: int) -> float:
    """Processor seconds of a process so far."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def seconds_after(words: Sequence[str | Path], after: float, *, endless: bool = True) -> float:
    """How long a process works from Ctrl-C, when it has worked for so many seconds, to the line about it.

    `endless`: whether it must not have ended before.
    """
    process = start(*words, stdout=subprocess.DEVNULL)
    while used(process.pid) < after:
        time.sleep(0.01)
        if process.poll() is not None:
            output = process.communicate()
            assert process.returncode == 0 and not endless, output
            return 0.0
    before = used(process.pid)
    process.send_signal(signal.SIGINT)
    killer = threading.Timer(60, process.kill)
    killer.start()
    assert process.stderr is not None
    answer = process.stderr.readline()
    seconds = used(process.pid) - before  # torch takes as long again to end
    process.communicate()
    killer.cancel()
    # All was written before.
    finished = not endless and (process.returncode in (0, -signal.SIGINT) or answer.startswith("solved:"))
    assert finished or (process.returncode == 130 and "interrupted" in answer)
    return seconds


def whole(words: Sequence[str | Path]) -> tuple[int, float]:
    """The exit code of a process, and how many seconds it worked."""
    process = start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def check_time_limit(words: Sequence[str | Path]) -> None:
    code, seconds = whole([*words, "--time-limit", f"{LIMIT_S}s"])
    assert code in (12, 23)  # 12: of several problems
    assert seconds < STARTING_S + LIMIT_S * (os.cpu_count() or 1) + LATE_S


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ENDLESS if name != "optimum"])
def test_time_limits(name: str) -> None:
    check_time_limit(ENDLESS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ENDLESS, *TRAININGS, *SAMPLERS])
def test_ctrl_c(name: str, tmp_path: Path) -> None:
    words = ENDLESS.get(name) or [*{**TRAININGS, **SAMPLERS}[name], "-o", tmp_path / "made"]
    for after in (2.5, 4.5) if name in TRAININGS else (0.8, 2.0):
        assert seconds_after(words, after) < LATE_S


@pytest.mark.slow
def test_a_translation(slow_to_translate: Path) -> None:
    check_time_limit(["solve", slow_to_translate])
    for command in (["solve"], ["sample", "nrsl"], ["train", "nrsl"]):
        files = [] if command == ["solve"] else ["-o", slow_to_translate.with_name("made")]
        assert seconds_after([*command, slow_to_translate, *files], 1.5) < LATE_S


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAININGS)
def test_time_limits_of_trainings(name: str, tmp_path: Path) -> None:
    """From the loading on; the start of torch, which no clock interrupts, may be all that fits."""
    process = start(*TRAININGS[name], "-o", tmp_path / "model.hstar", "--time-limit", "8s", "--quiet")
    assert process.stderr is not None
    process.stderr.readline()  # says how it ended, or that the process ends
    seconds = used(process.pid)
    process.communicate()
    assert process.returncode in (0, 23) and seconds < STARTING_S + 8 + LATE_S


# --- large maps -------------------------------------------------------------------------------------------

SIDE = 3000
ENDS = ["--start", "0,0", "--goal", f"{SIDE - 1},{SIDE - 1}"]
ON_MAPS: dict[str, list[str | Path]] = {
    "png": ["solve", "map.png", *ENDS, "--neighbours", "8"],
    "map": ["solve", "map.map", *ENDS, "-e", "blind"],
    "pgm": ["solve", "map.pgm", *ENDS, "-e", "blind"],
    "inflating": ["solve", "map.npy", *ENDS, "--inflate", "2", "-e", "blind"],
    "dijkstra": ["solve", "map.npy", *ENDS, "-e", "dijkstra"],
    "dijkstra of gbfs": ["solve", "map.npy", *ENDS, "-e", "dijkstra", "-s", "gbfs"],
    "lattice": ["solve", "map.npy", "--random", "1", "--headings", "8", "-e", "dijkstra"],
    "picture": ["show", "map.npy", *ENDS, "-e", "blind", "-o", "made.png"],
    "page": ["show", "map.npy", *ENDS, "-e", "blind", "-o", "made.html"],
}


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A map of 9 million cells with short walls, in all kinds of files."""
    folder, numbers = tmp_path_factory.mktemp("maps"), np.arange(SIDE)
    blocked = (numbers % 16 == 8)[:, None] & (numbers % 40 < 20)
    write_map(folder / "map.map", blocked)
    write_png(folder / "map.png", blocked)
    np.save(folder / "map.npy", blocked)
    (folder / "map.pgm").write_bytes(
        b"P2 %d %d 1\n" % (SIDE, SIDE)
        + b"%b\n" % b" ".join(b" ".join([b"0" if one else b"1" for one in row]) for row in blocked.tolist())
    )
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_MAPS)
def test_large_maps(name: str, maps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading, inflating, tables, searches and pictures: in each Ctrl-C comes at some moments."""
    monkeypatch.chdir(maps)
    code, seconds = whole(ON_MAPS[name])
    assert code == 0
    rng = random.Random(name)
    for _ in range(3):
        after = STARTING_S / 4 + rng.random() * (min(seconds, 10.0) - STARTING_S / 4)
        assert seconds_after(ON_MAPS[name], after, endless=False) < LATE_S
    if name not in ("picture", "page"):  # whose drawing no limit covers
        code, seconds = whole([*ON_MAPS[name], "--time-limit", "0.3s"])
        assert code in (0, 23) and seconds < STARTING_S + 0.3 * (os.cpu_count() or 1) + LATE_S


@pytest.mark.slow
def test_a_training_keeps_its_limit(tmp_path: Path) -> None:
    model = tmp_path / "model.hstar"
    process = start(*TRAININGS["training"], "-o", model, "--time-limit", "20s", "--json")
    out = json.loads(process.communicate()[0])
    assert (process.returncode, out["stopped"]) == (0, "time_limit") and model.exists()
    assert out["total_time"] < 20 + LATE_S


@pytest.fixture(scope="module")
def rovers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model `wl` of the domain rovers, and a problem with 90 waypoints for it."""
    folder = tmp_path_factory.mktemp("rovers")
    small = [
        hstar.load(generated("rovers", folder / f"{seed}", **{**ROVERS, "seed": seed})) for seed in (1, 2, 3)
    ]
    hstar.train("wl", labelled(small), iterations=3, least_states=1).save(folder / "wl")
    sizes = {"rovers": 10, "waypoints": 90, "objectives": 10, "cameras": 10, "goals": 60, "seed": 1}
    generated("rovers", folder, **sizes)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lmcut", "landmarks", "wl"])
def test_slow_evaluations(rovers: Path, name: str) -> None:
    """One batch of evaluations of a large task takes seconds, and more."""
    heuristic = rovers / name if name == "wl" else name
    words = ["solve", rovers / "problem.pddl", "--search", "astar", "--heuristic", heuristic]
    assert seconds_after(words, 1.5) < LATE_S
    limit_s = 5.0  # of which a busy machine takes some to load the model
    process = start(*words, "--time-limit", f"{limit_s}s", "--json")
    row = json.loads(process.communicate()[0])
    assert (process.returncode, row["status"]) == (23, "time_limit") and row["search_time"] < limit_s + LATE_S


@pytest.mark.slow
def test_a_large_task_of_the_competition() -> None:
    """A task of the learning track of IPC 2023 with 84 waypoints, where it is at hand."""
    problem = benchmark_folder("ipc23lt") / "rovers" / "dev" / "medium" / "p28.pddl"
    domain = problem.parents[2] / "domain.pddl"
    assert seconds_after(["solve", domain, problem, "-s", "astar", "-e", "lmcut"], 2.0) < LATE_S


def test_walks_are_bounded(refused: Refused) -> None:
    words = ["solve", "tiles:4x4", "--walk", "1000000000000"]
    assert refused(33, *words) == "a walk has at most 1000000 moves, got 1000000000000"


@pytest.mark.slow
def test_interrupted_labelling_leaves_no_temporary_folder(tmp_path: Path) -> None:
    problems, scratch = tmp_path / "problems", tmp_path / "scratch"
    generated("blocksworld", problems, blocks=14, seed=1)
    scratch.mkdir()
    words = ["train", problems, "-o", tmp_path / "model.hstar", "--label-limit", "60s"]
    process = start(*words, env={**os.environ, "TMPDIR": str(scratch)})
    while not any(path.is_dir() for path in scratch.iterdir()):  # tempfile tries a file of its own before
        time.sleep(0.01)
        assert process.poll() is None, process.communicate()
    process.terminate()
    process.communicate()
    assert process.returncode == 128 + signal.SIGTERM and not list(scratch.iterdir())


def test_an_endless_plan(refused: Refused) -> None:
    said = refused(33, "validate", BLOCKS.with_name("domain.pddl"), BLOCKS, "/dev/zero")
    assert said == "/dev/zero: is longer than 268435456 bytes, at which a reader stops"


def test_processes_are_as_many_as_the_cores_that_we_may_use() -> None:
    mine = "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    code = f"import os; {mine}; from hstar.limits import cores; print(cores())"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "1\n"


@pytest.mark.slow
def test_training_on_a_large_map(maps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its labelled states would not fit in the memory of most machines: it does not come to its end here."""
    monkeypatch.chdir(maps)
    words = ["train", "prolonged", "map.npy", "--scenarios", "4", "-o", "made.hstar"]
    for after in (1.0, 3.0, 5.0):
        assert seconds_after(words, after) < LATE_S
    code, seconds = whole([*words, "--time-limit", "4s"])
    assert code == 23 and seconds < STARTING_S + 4 + LATE_S
