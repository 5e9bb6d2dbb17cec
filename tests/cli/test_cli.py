"""The command line as strangers and hostile users meet it: output, errors, files, signals, terminals."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hstar.cli.app import COMMANDS

from .conftest import DATA, Refused, Run, fastest, fastest_process, start

STEPS = ["pick-up b", "stack b a", "pick-up c", "stack c b", "pick-up d", "stack d c"]
PLAN = "".join(f"({step})\n" for step in STEPS) + "; cost = 6 (unit cost)\n"
SUMMARY = r"{} [0-9.]+[kM]? expanded, [0-9.]+[kM]? evaluated \(.*/s\) in [0-9.]+ s, [0-9.]+ [MG]iB; {}\n"


# --- what goes where ------------------------------------------------------------------------------


def test_plan_to_standard_output_and_the_rest_to_standard_error(hstar: Run, blocks: Path) -> None:
    done = hstar("solve", blocks / "problem.pddl")
    assert (done.code, done.out) == (0, PLAN)
    assert re.fullmatch(
        SUMMARY.format(
            "solved: plan of length 6, cost 6;", "lazy with ff and landmarks, preferred operators"
        ),
        done.err,
    )
    assert hstar("solve", blocks / "problem.pddl", "-q").err == ""


def test_json_is_one_object_and_nothing_else(hstar: Run, blocks: Path) -> None:
    done = hstar("solve", blocks / "output.sas", "--json", "-s", "astar", "-e", "lmcut")
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    record = json.loads(done.out)
    assert record["plan"] == STEPS
    assert (record["coverage"], record["cost"], record["task"]) == (1, 6, "output.sas")
    assert (record["search"], record["heuristic"]) == ("astar", ["lmcut"])
    assert {"expansions", "evaluations", "search_time", "total_time", "memory"} <= record.keys()


def test_options_may_stand_anywhere(hstar: Run, blocks: Path) -> None:
    words = ["--json", blocks / "domain.pddl", "-s", "astar", blocks / "problem.pddl", "--heuristic=hmax"]
    assert json.loads(hstar("solve", *words).out)["heuristic"] == ["hmax"]


def test_info(hstar: Run, blocks: Path) -> None:
    done = hstar("info", blocks / "problem.pddl")
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^actions +pick-up, put-down, stack, unstack$", done.out, re.MULTILINE)
    record = json.loads(hstar("info", blocks / "output.sas", "--json").out)
    assert (record["variables"], record["operators"], record["axioms"]) == (9, 32, 0)
    assert "domain" not in record


@pytest.mark.parametrize(
    "words",
    [
        ["-s", "lazy", "-e", "ff", "-p", "--boost", "5"],
        ["-s", "wastar", "-e", "lmcut", "--weight", "2.5"],
        ["-s", "gbfs", "-e", "ff", "-e", "goalcount"],
        ["-s", "astar", "-e", "hmax", "-e", "lmcut", "--combine", "max"],
        ["-s", "idastar", "-e", "add", "-e", "ff", "--combine", "sum"],
        ["-s", "gbfs", "--ties", "random", "--seed", "7", "--goal-at-generation", "--evaluate-duplicates"],
        ["--weight", "2.5", "-e", "ff"],
        ["--cpu-time-limit", "1m"],
        ["--time-limit", "1m", "--memory-limit", "2G", "--max-evaluations", "10000"],
        ["--unit-cost"],
        ["--bound", "1.5", "-e", "goalcount"],
        ["--anytime", "--bound", "2", "--anchor", "hmax", "--anchor-every", "3"],
        ["-s", "focal", "-e", "lmcut"],
    ],
    ids=" ".join,
)
def test_ways_to_search(hstar: Run, words: list[str]) -> None:
    assert hstar("solve", DATA / "costs" / "problem.pddl", *words).code == 0


def test_better_and_better_plans(hstar: Run, tmp_path: Path) -> None:
    plan = tmp_path / "plan.txt"
    words = ["solve", DATA / "costs" / "problem.pddl", "-e", "goalcount", "--anytime", "--plan-file", plan]
    done = hstar(*words)
    lines = [line for line in done.err.splitlines() if " s: plan of cost " in line]
    costs = [int(re.search(r"plan of cost (\d+)", line)[1]) for line in lines]
    assert (done.code, done.out) == (0, "")
    assert costs == sorted(set(costs), reverse=True)
    assert f"cost {costs[-1]} (optimal)" in done.err
    assert f"; cost = {costs[-1]} " in plan.read_text()
    record = json.loads(hstar(*words[:-2], "--bound", "2", "--json").out)
    assert (record["cost"], record["lower_bound"], record["ratio"]) == (costs[-1], costs[-1], 1)
    assert (record["search"], record["bound"], record["anytime"]) == ("focal", 2, True)


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--search", "gbs"], "unknown search 'gbs' (known: gbfs"),
        (["--heuristic", "lmcat"], "did you mean 'lmcut'?"),
        (["--ties", "fofi"], "unknown ties 'fofi'"),
        (["--combine", "avg"], "unknown way to --combine 'avg'"),
        (["--time-limit", "-5"], "--time-limit/-t: expected a time"),
        (["--time-limit", ""], "--time-limit/-t: expected a time"),
        (["--memory-limit=-1G"], "--memory-limit/-m: expected an amount of memory"),
        (["--max-evaluations", "-1"], "--max-evaluations/--nodes: expected a whole number"),
        (["--max-expansions", "9" * 40], "--max-expansions: expected a whole number"),
        (["--seed", "x"], "--seed: expected a whole number"),
        (["--boost", "99999999999", "-p"], "boost must be "),
        (["-s", "wastar", "--weight", "nan"], "weight must be a number from 0 on, at most 1000000, got nan"),
        (["-s", "wastar", "--weight", "inf"], "weight must be a number"),
        (["-s", "wastar", "--weight", "-1"], "weight must be a number"),
        (["-s", "gbfs", "--weight", "2"], "--weight is for wastar, not for gbfs"),
        (["--goal-at-generation"], "--goal-at-generation is for gbfs, not for lazy"),
        (["-s", "astar", "-e", "lmcut", "--goal-at-generation"], "--goal-at-generation is for gbfs"),
        (["-s", "astar", "--preferred"], "--preferred is for gbfs, lazy, not for astar"),
        (["--preferred", "-e", "add"], "add has no preferred operators; use ff"),
        (["-s", "astar", "-e", "hmax", "-e", "blind"], "astar takes one heuristic"),
        (["--bound", "0.5"], "bound must be a number from 1 on, got 0.5"),
        (["--bound", "nan"], "bound must be a number from 1 on"),
        (["-s", "gbfs", "--bound", "2"], "--bound is for focal, not for gbfs"),
        (["--bound", "2", "--anchor", "ff"], "unknown admissible heuristic for --anchor 'ff'"),
        (["--bound", "2", "-e", "ff", "-e", "add"], "focal takes one heuristic"),
        (["--precision", "int16"], "--precision is for model files, not for the default heuristic"),
        (["--serch", "astar"], "unknown option '--serch'; did you mean '--search'?"),
        (["--searc", "astar"], "unknown option '--searc'"),
        (["--heuristic"], "--heuristic/-e: expected one argument"),
        (["absent.pddl", "b.pddl"], "absent.pddl: no such file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_impossible_options(refused: Refused, words: list[str], message: str) -> None:
    assert message in refused(33, "solve", DATA / "blocks" / "problem.pddl", *words)


def test_a_sas_file_is_a_whole_task(refused: Refused, blocks: Path) -> None:
    assert "a .sas file is a whole task" in refused(
        33, "solve", blocks / "problem.pddl", blocks / "output.sas"
    )


def test_several_tasks(hstar: Run, blocks: Path) -> None:
    """Problems one by one, a folder of them, walks from one, and what is already done."""
    one, two, domain = blocks / "problem.pddl", blocks / "second.pddl", blocks / "domain.pddl"
    two.write_text(one.read_text())
    for words in ([one, two], [domain, one, two], [blocks]):
        done = hstar("solve", *words, "-s", "astar", "-e", "lmcut")
        assert (
            done.code == 0
            and re.findall(r"pddl: cost 6 \(optimal\)", done.out) == ["pddl: cost 6 (optimal)"] * 2
        )
        assert done.err.startswith("2 of 2 solved, mean cost 6.00")
    words = ["solve", one, "--random", "3", "--walk", "5", "--json", "-o", blocks / "rows.jsonl", "-q"]
    rows = [json.loads(line) for line in hstar(*words).out.splitlines()]
    assert [row["id"] for row in rows] == [f"{one} {i}" for i in (1, 2, 3)]
    assert all(row["status"] == "solved" and row["ran"].startswith("lazy with ff") for row in rows)
    again = [json.loads(line) for line in hstar(*words).out.splitlines()]
    assert [row["search_time"] for row in again] == [row["search_time"] for row in rows]


def test_options_are_checked_before_the_translation(refused: Refused, slow_to_translate: Path) -> None:
    started = time.monotonic()
    refused(33, "solve", slow_to_translate, "-s", "astar", "-e", "ff", "-e", "add")
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["slove", "x"],
            f"unknown command 'slove' (known: {', '.join(COMMANDS)}); did you mean 'solve'?",
        ),
        (["--frobnicate"], "unknown option '--frobnicate'"),
        (["solve"], "required: PROBLEM"),
        (["solve", "absent.pddl"], "absent.pddl: no such file"),
        (["solve", "absent.sas"], "absent.sas: no such file"),
        (["solve", DATA / "blocks" / "domain.pddl", "absent.pddl"], "absent.pddl: no such file"),
        (["solve", DATA], "data: no problems in this folder"),
        (["info", DATA], "data: is a directory, not a file"),
        (
            ["solve", DATA / "broken" / "empty.pddl"],
            "empty.pddl: no domain file given, and none of domain.pddl",
        ),
        (["info", "a", "b", "c"], "got 3 files"),
        (["info", "tiles:3x3", "tiles:4x4"], "tiles:3x3 is described alone, without tiles:4x4"),
        (["validate", "a"], "expected [DOMAIN] PROBLEM PLAN, got 1 file"),
        (["validate", DATA / "blocks" / "problem.pddl", "absent"], "absent: no such file"),
        (["validate", DATA / "blocks" / "problem.pddl", DATA / "blocks" / "domain.pddl"], "domain.pddl:2: "),
        (["demo", "--blocks", "99"], "--blocks takes 3 to 30"),
        (["demo", "extra"], "unexpected argument 'extra'"),
    ],
    ids=lambda value: " ".join(Path(word).name for word in value) if isinstance(value, list) else "",
)
def test_wrong_files_and_commands(refused: Refused, words: list[str], message: str) -> None:
    assert message in refused(33, *words)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.6, 0.99])
def test_truncated_sas(refused: Refused, blocks: Path, share: float) -> None:
    path = blocks / "output.sas"
    text = path.read_text()
    path.write_text(text[: int(len(text) * share)])
    message = refused(33, "solve", path)
    assert re.match(re.escape(str(path)) + r":[1-9][0-9]*: \w", message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("begin_version\n3", "begin_version\n4", ":2: version 4 of the format; only 3 is known"),
        ("end_metric\n9", "end_metric\n2000000000", ":7: the number of variables (2000000000) is more than"),
        ("end_metric\n9", "end_metric\n99999999999", ":7: the number of variables is out of range"),
        ("begin_state\n", "begin_state\n-1\n", ":125: value -1 of var0 is not in 0..4"),
        ("begin_variable\n", "\x00\x01\n", ":8: expected 'begin_variable', got '??'"),
    ],
)
def test_hostile_sas(refused: Refused, blocks: Path, old: str, new: str, message: str) -> None:
    path = blocks / "output.sas"
    path.write_text(path.read_text().replace(old, new, 1))
    assert message in refused(33, "solve", path)


def test_bugs_are_one_line_too(hstar: Run, blocks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*words: object, **options: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("hstar.cli.solve.instances_of", broken)
    done = hstar("solve", blocks / "output.sas")
    assert (done.code, done.out) == (35, "")
    assert re.fullmatch(r"hstar: error: a bug in hstar: ZeroDivisionError: oh .*\n", done.err)


# --- plan file and cache --------------------------------------------------------------------------


def test_plan_file(hstar: Run, blocks: Path) -> None:
    plan = blocks / "plan"
    link = blocks / "link"
    link.symlink_to(plan)
    for target in (plan, link):
        done = hstar("solve", blocks / "output.sas", "--plan-file", target)
        assert (done.code, done.out, plan.read_text()) == (0, "", PLAN)
    assert link.is_symlink()
    mask = os.umask(0)
    os.umask(mask)
    assert plan.stat().st_mode & 0o777 == 0o666 & ~mask


@pytest.mark.parametrize("name", ["absent/plan", "output.sas/plan", ".", "/proc/plan"])
def test_unwritable_plan_file_is_refused_before_the_search(refused: Refused, blocks: Path, name: str) -> None:
    target = blocks / name
    assert f"{target}: cannot write the plan: " in refused(
        33, "solve", blocks / "output.sas", "--plan-file", target
    )


def test_full_disk_keeps_the_plan_and_leaves_no_file(
    hstar: Run, blocks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = hstar("solve", blocks / "output.sas", "--plan-file", "/dev/full", "-q")
    message = "hstar: error: /dev/full: cannot write the plan: No space left on device\n"
    assert (done.code, done.out, done.err) == (33, PLAN, message)

    # Found out only when the plan is moved to its place.
    plan = blocks / "plan"
    plan.write_text("the old one")
    before = sorted(path.name for path in blocks.iterdir())
    real = Path.replace

    def full(self: Path, target: str | Path) -> Path:
        if str(target).endswith("/plan"):
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", full)
    done = hstar("solve", blocks / "output.sas", "--plan-file", plan, "--json")
    assert (done.code, json.loads(done.out)["plan_length"]) == (33, 6)
    assert "No space left" in done.err
    assert plan.read_text() == "the old one"
    assert sorted(path.name for path in blocks.iterdir()) == before


# --- processes: start, signals, pipes, terminals --------------------------------------------------


def wait_until_busy(process: subprocess.Popen[str], seconds: float) -> None:
    """Until the process has had this much processor time: start-up is behind it, however busy the machine."""
    ticks = seconds * os.sysconf("SC_CLK_TCK")
    while process.poll() is None:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        if int(fields[11]) >= ticks:
            return
        time.sleep(0.05)


# Answers come within a second on an idle machine; the tests leave room for a busy one.
SOON = 5.0


@pytest.mark.slow
def test_help_in_half_a_second(with_bytecode: dict[str, str]) -> None:
    assert fastest(["--help"], with_bytecode) < 0.5
    assert fastest(["solve", "--help"], with_bytecode) < 0.5


@pytest.mark.parametrize("file", ["problem.pddl", "output.sas"])
def test_a_small_task_is_solved_at_once(blocks: Path, with_bytecode: dict[str, str], file: str) -> None:
    """Or, on a busy machine, in three times what the modules take that no command does without."""
    needed = [sys.executable, "-c", "import argparse, dataclasses, logging, pathlib"]
    seconds = fastest_process(needed, with_bytecode)
    assert fastest(["solve", blocks / file, "-q"], with_bytecode) < max(0.15, 3 * seconds)


HEAVY = "numpy torch rich msgspec tempfile hashlib shutil difflib html concurrent.futures hstar.spaces.lifted"


@pytest.mark.parametrize("file", ["problem.pddl", "output.sas"])
def test_nothing_heavy_is_imported(blocks: Path, file: str) -> None:
    script = (
        "import sys\nfrom hstar.cli import main\n"
        "try:\n    main(['solve', sys.argv[1], '-q'])\n"
        "finally:\n    print(sorted(set(sys.argv[2].split()) & set(sys.modules)))"
    )
    command = [sys.executable, "-c", script, blocks / file, HEAVY]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == PLAN + "[]\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.slow
def test_signals_during_search(endless: Path, number: int, as_json: bool) -> None:
    process = start("solve", endless, "-s", "astar", "-e", "blind", "-m", "2G", *["--json"] * as_json)
    wait_until_busy(process, 1)
    sent = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert time.monotonic() - sent < SOON
    assert process.returncode == 128 + number
    if as_json:
        record = json.loads(out)
        assert (record["status"], err) == ("interrupted", "")
        assert record["expansions"] > 0
    else:
        assert out == ""
        assert re.fullmatch(
            SUMMARY.format(r"interrupted: no plan costs less than [0-9]+;", "astar with blind"), err
        )


def test_ctrl_c_that_python_wraps(monkeypatch: pytest.MonkeyPatch, hstar: Run) -> None:
    """Python 3.11 raises a RuntimeError for an interrupt while a class is made, at an import for instance."""

    def interrupted(arguments: list[str]) -> int:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("hstar.cli.app.dispatch", interrupted)
    done = hstar("list", "searches")
    assert (done.code, done.out, done.err) == (130, "", "hstar: error: interrupted\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_during_translation(slow_to_translate: Path, number: int) -> None:
    process = start("solve", slow_to_translate, "--json")
    wait_until_busy(process, 1.5)
    sent = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert time.monotonic() - sent < SOON
    assert (process.returncode, json.loads(out)["status"], err) == (128 + number, "interrupted", "")


def test_broken_pipe_is_quiet(blocks: Path) -> None:
    for words in (["solve", blocks / "output.sas", "-q"], ["info", blocks / "output.sas"]):
        reader, writer = os.pipe()
        process = start(*words, stdout=writer)
        os.close(reader)
        os.close(writer)
        assert process.communicate(timeout=30)[1] == ""
        assert process.returncode == 128 + signal.SIGPIPE


def test_full_standard_output_is_an_error(blocks: Path) -> None:
    with Path("/dev/full").open("w") as full:
        process = start("solve", blocks / "output.sas", "-q", "--json", stdout=full)
        assert (
            process.communicate(timeout=30)[1] == "hstar: error: standard output: No space left on device\n"
        )
    assert process.returncode == 33


def test_closed_standard_error_does_not_end_up_in_the_output(blocks: Path) -> None:
    command = (
        f'exec "{sys.executable}" -c "from hstar.cli import main; main()" solve "{blocks}/output.sas" 2>&-'
    )
    assert subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, text=True).stdout == PLAN


def screen(*words: str | Path, wait: Callable[[subprocess.Popen[str]], None]) -> str:
    """What a run shows on a terminal of 100 columns until it is interrupted, when `wait` returns."""
    controller, terminal = pty.openpty()
    environment = {**os.environ, "COLUMNS": "100"}
    process = start(*words, stdout=subprocess.DEVNULL, stderr=terminal, env=environment)
    os.close(terminal)
    shown = b""

    def interrupt() -> None:
        wait(process)
        process.send_signal(signal.SIGINT)

    threading.Thread(target=interrupt).start()
    try:
        while chunk := os.read(controller, 4096):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    os.close(controller)
    process.wait()
    return shown.decode()


@pytest.mark.slow
def test_progress_on_a_terminal(endless: Path) -> None:
    shown = screen(
        "solve", endless, "-s", "astar", "-e", "hmax", "--json", wait=lambda p: wait_until_busy(p, 2)
    )
    *lines, last = shown.split("\r")
    shape = (
        r" +[0-9.]+ s  [0-9.]+k? expanded  [0-9.]+k? evaluated \([0-9.]+k?/s\)  best h [0-9]+  [0-9.]+ MiB *"
    )
    drawn = [line for line in lines if line.strip()]
    assert len(drawn) >= 2
    for line in drawn:
        assert re.fullmatch(shape, line) or len(line) == 79, line
    # The line is wiped when the search is over.
    assert last == ""
    assert "\n" not in shown
    assert "2147483647" not in shown


@pytest.mark.slow
def test_translation_is_announced_on_a_terminal(slow_to_translate: Path) -> None:
    def translating(process: subprocess.Popen[str]) -> None:
        wait_until_busy(process, 1.5)

    assert screen("solve", slow_to_translate, "-q", wait=translating) == ""
    shown = screen("solve", slow_to_translate, wait=translating)
    assert "grounding: 50 facts, 0 operators" in shown
    assert "interrupted: 50 facts and 0 operators so far" in shown


def test_progress_line_by_line() -> None:
    from types import SimpleNamespace

    from hstar.cli.progress import ProgressLine

    class Record(SimpleNamespace):
        expanded, evaluated, best_h, memory = 10, 20, None, 1 << 20

    class Screen:
        text = ""

        def isatty(self) -> bool:
            return False

        def write(self, text: str) -> None:
            self.text += text

        def flush(self) -> None: ...

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", there := Screen())
        with ProgressLine() as line:
            for second in range(130):
                line(Record(time=float(second)))
    shown = there.text.splitlines()
    # A line a minute, and no number where there is none yet.
    assert [text.split()[0] for text in shown] == ["60.0", "120.0"]
    assert all("best h -  1.0 MiB" in text for text in shown)


# --- limits that take their time ------------------------------------------------------------------


def test_time_limit_is_kept(hstar: Run, endless: Path) -> None:
    started = time.monotonic()
    assert hstar("solve", endless, "-s", "astar", "-e", "hmax", "-t", "1").code == 23
    assert 0.9 < time.monotonic() - started < 1 + SOON


def test_cpu_time_limit_is_kept(hstar: Run, endless: Path) -> None:
    done = hstar("solve", endless, "-s", "astar", "-e", "blind", "--cpu-time-limit", "0.3", "--json")
    record = json.loads(done.out)
    assert (done.code, record["status"]) == (23, "time_limit")
    assert 0.29 < record["cpu_time"] < 0.6 <= record["search_time"] + 0.6  # the clock may say more


@pytest.mark.slow
@pytest.mark.parametrize("search", ["astar", "gbfs", "lazy"])
def test_memory_limit_is_kept(endless: Path, search: str) -> None:
    process = start("solve", endless, "-s", search, "-e", "blind", "-m", "200M", "--json")
    out, err = process.communicate(timeout=120)
    record = json.loads(out)
    assert (process.returncode, record["status"], err) == (22, "memory_limit", "")
    assert record["evaluations"] > 1_000_000
    # The limit is looked at a hundred times a second.
    assert record["memory"] < 230 << 20


IN_A_FINALIZER = """
import os, signal, sys, time
from hstar import cli

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000): pass  # Python looks at signals here

def run(arguments):
    Finalized()
    end = time.monotonic() + 20
    while time.monotonic() < end: pass
    return 0

cli._run = run
cli.main([])
"""


def test_a_signal_in_a_finalizer_is_not_lost() -> None:
    """Python prints and forgets what is raised there."""
    done = subprocess.run([sys.executable, "-c", IN_A_FINALIZER], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (143, "hstar: error: interrupted\n")
