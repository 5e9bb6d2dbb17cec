"""Commands under limits: whatever they do, there is an answer."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hstar.experiments import process
from hstar.experiments.job import HEADROOM, RESIDENT_LIMIT, Job, execute, starved
from hstar.experiments.process import Finished, ProcessLimits, kill_all, run_limited
from hstar.experiments.process_tree import ProcessTree

PYTHON = sys.executable
MIB = 1 << 20


def test_output_errors_and_code() -> None:
    found = run_limited(
        [PYTHON, "-c", "import sys; print('out'); print('a\\nlast', file=sys.stderr); sys.exit(3)"],
        ProcessLimits(60),
    )
    assert (found.exit_code, found.output, found.timed_out) == (3, "out\n", False)
    assert found.last_line() == "last"


def test_standard_input_is_the_file(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("hello")
    code = "import sys; print(sys.stdin.read())"
    assert run_limited([PYTHON, "-c", code], ProcessLimits(60), stdin=tmp_path / "in").output == "hello\n"
    assert run_limited([PYTHON, "-c", code], ProcessLimits(60)).output == "\n"


@pytest.mark.slow
def test_the_limit_ends_children_too(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pid_file)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    found = run_limited([PYTHON, "-c", code], ProcessLimits(3))
    assert found.timed_out and found.exit_code < 0
    assert gone(int(pid_file.read_text()))


def test_memory_beyond_the_limit_is_refused() -> None:
    found = run_limited(
        [PYTHON, "-c", "import time; time.sleep(0.5); bytearray(4 << 30)"],
        ProcessLimits(60, address_space=1 << 30),
    )
    assert found.exit_code != 0
    assert "MemoryError" in found.errors


# What touches N MiB and then ends, or waits to be killed.
EATER = "import sys, time; data = bytearray(b'x') * (int(sys.argv[1]) << 20); time.sleep(float(sys.argv[2]))"


def of_child(megabytes: int, seconds: float, **options: bool) -> list[str]:
    """A command whose child eats memory."""
    child = [PYTHON, "-c", EATER, str(megabytes), str(seconds)]
    settings = "".join(f", {name}={value}" for name, value in options.items())
    return [PYTHON, "-c", f"import subprocess; subprocess.run({child!r}{settings})"]


@pytest.mark.parametrize("leaves", [False, True], ids=["same session", "own session"])
def test_children_count_and_are_ended_at_the_memory_limit(leaves: bool) -> None:
    command = of_child(400, 600.0, start_new_session=leaves)
    clock = time.monotonic()
    found = run_limited(command, ProcessLimits(300, resident_memory=200 * MIB))
    assert found.out_of_memory and not found.timed_out and found.exit_code < 0
    assert time.monotonic() - clock < 60
    assert 200 * MIB < found.peak_memory < 600 * MIB
    assert not running("600.0")


def running(word: str) -> list[str]:
    """Command lines of our eaters with this word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if words[1:3] == ["-c", EATER] and word in words and not gone(int(path.parent.name), tries=20):
            found.append(" ".join(words))
    return found


def test_what_stays_below_the_memory_limit_is_left_alone() -> None:
    found = run_limited(of_child(150, 0.5), ProcessLimits(300, resident_memory=400 * MIB))
    assert (found.exit_code, found.out_of_memory) == (0, False)
    assert 150 * MIB < found.peak_memory < 300 * MIB


@pytest.mark.slow
def test_memory_that_forked_children_share_counts_once() -> None:
    code = (
        "import os, sys, time\n"
        "data = bytearray(b'x') * (150 << 20)\n"
        "children = [os.fork() for _ in range(1)]\n"
        "children += [os.fork() for _ in range(1)]\n"  # four processes
        "time.sleep(1)\n"
        "os._exit(0) if 0 in children else [os.waitpid(child, 0) for child in children]\n"
    )
    found = run_limited([PYTHON, "-c", code], ProcessLimits(300, resident_memory=400 * MIB))
    assert (found.exit_code, found.out_of_memory) == (0, False), found
    assert 150 * MIB < found.peak_memory < 300 * MIB


@pytest.mark.slow
def test_processor_time_of_children_counts() -> None:
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])"
    found = run_limited([PYTHON, "-c", code], ProcessLimits(300))
    assert 0.5 <= found.cpu_seconds < 5
    # Also of one that nobody has waited for.
    endless = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    assert run_limited([PYTHON, "-c", endless], ProcessLimits(3)).cpu_seconds > 0.1


def test_what_a_command_leaves_behind_is_ended() -> None:
    child = [PYTHON, "-c", EATER, "1", "601.0"]
    code = f"import subprocess; subprocess.Popen({child!r}); print('started')"
    clock = time.monotonic()
    found = run_limited([PYTHON, "-c", code], ProcessLimits(300))
    assert (found.exit_code, found.output, found.timed_out) == (0, "started\n", False)
    assert time.monotonic() - clock < 60
    assert not running("601.0")


def test_a_look_is_cheap() -> None:
    eater = subprocess.Popen([PYTHON, "-c", EATER, "50", "600"], start_new_session=True)
    try:
        tree = ProcessTree(eater.pid)
        times = []
        for _ in range(100):
            clock = time.thread_time()
            assert not tree.exceeds(1 << 40)
            times.append(time.thread_time() - clock)
    finally:
        eater.kill()
        eater.wait()
    assert sorted(times)[50] < 0.001


@pytest.mark.slow
def test_jobs_beyond_their_memory_are_recorded_so() -> None:
    command = tuple(word.replace(PYTHON, "{python}") for word in of_child(400, 600.0))
    for kind in ("train", "search", "fast_downward", "make"):
        found = execute(Job(kind, command, resident_limit=200 * MIB), {}).record
        assert (found["status"], found["exit_code"]) == ("memory_limit", -9)
        assert found["peak_memory"] > 200 * MIB
        assert found["cpu_seconds"] > 0


def test_hard_limits_are_above_those_that_programs_watch() -> None:
    assert Job("train", ("x",)).hard_limit == RESIDENT_LIMIT
    assert Job("search", ("x", "--memory-limit", "300M")).hard_limit == 300 * MIB + HEADROOM
    assert Job("fast_downward", ("x",), memory_limit=5 * MIB).hard_limit == 5 * MIB + HEADROOM
    assert Job("train", ("x",)).key == Job("train", ("x",), resident_limit=RESIDENT_LIMIT).key
    assert Job("train", ("x",)).key != Job("train", ("x",), resident_limit=RESIDENT_LIMIT + 1).key


def test_endless_output_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hstar.experiments.process.OUTPUT_BYTES", 1000_000)
    code = "print('first'); [print('y' * 99) for _ in range(50_000)]; print('last')"
    found = run_limited([PYTHON, "-c", code], ProcessLimits(300))
    assert found.output.startswith("first\n") and found.output.endswith("\nlast\n")
    assert "bytes left out" in found.output
    assert len(found.output) < 1_700_000


def test_a_command_that_is_not_there() -> None:
    found = run_limited(["no-such-program"], ProcessLimits(60))
    assert isinstance(found, Finished)
    assert found.exit_code == 127
    assert "no-such-program" in found.last_line()


def test_a_crash_is_an_answer() -> None:
    found = run_limited([PYTHON, "-c", "import os; os.abort()"], ProcessLimits(60))
    assert found.exit_code == -6
    assert found.last_line() == "no message"


def test_kill_all_ends_what_other_threads_wait_for() -> None:
    codes: list[int] = []
    thread = threading.Thread(
        target=lambda: codes.append(
            run_limited([PYTHON, "-c", "import time; time.sleep(600)"], ProcessLimits(600)).exit_code
        )
    )
    thread.start()
    deadline = time.monotonic() + 60
    while thread.is_alive() and time.monotonic() < deadline:
        kill_all()
        thread.join(0.1)
    assert codes == [-9]


def gone(pid: int, tries: int = 100) -> bool:
    """Whether a process ends soon, or is a zombie that waits for its parent."""
    for _ in range(tries):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.1)
    return False


def test_nothing_outlives_a_killed_caller(tmp_path: Path) -> None:
    """Neither the command nor its children, nor what is in another group of the session."""
    pid_file = tmp_path / "pids"
    sleep = "import time; time.sleep(600)"
    code = (
        "import os, subprocess, sys, time\n"
        f"start = lambda **how: subprocess.Popen([sys.executable, '-c', {sleep!r}], **how)\n"
        "children = [start(), start(preexec_fn=os.setpgrp)]\n"
        f"with open({str(pid_file)!r}, 'w') as file:\n"
        "    print(os.getpid(), *(child.pid for child in children), 'all', file=file)\n"
        "time.sleep(600)\n"
    )
    caller_code = (
        "import sys\n"
        "from hstar.experiments.process import ProcessLimits, run_limited\n"
        f"run_limited([sys.executable, '-c', {code!r}], ProcessLimits(600))\n"
    )
    caller = subprocess.Popen([PYTHON, "-c", caller_code])
    deadline = time.monotonic() + 60
    while not (pid_file.exists() and "all" in pid_file.read_text()) and time.monotonic() < deadline:
        assert caller.poll() is None
        time.sleep(0.05)
    caller.kill()
    caller.wait()
    pids = [int(word) for word in pid_file.read_text().split()[:-1]]
    assert len(pids) == 3
    assert all(gone(pid) for pid in pids)


def test_a_killed_guardian_is_replaced() -> None:
    process._running.end_guardian()
    run_limited([PYTHON, "-c", ""], ProcessLimits(60))
    first = process._running._guardian
    assert first is not None
    first.kill()
    first.wait()
    run_limited([PYTHON, "-c", ""], ProcessLimits(60))
    second = process._running._guardian
    assert second is not None and second.pid != first.pid and second.poll() is None


# --- processor time -------------------------------------------------------------------------------------

SPIN = "import time\nwhile time.process_time() < {}: pass"


@pytest.fixture
def busy_core() -> Iterator[None]:
    """One core for this process and all that it starts, and three others that never rest on it."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    others = [subprocess.Popen([PYTHON, "-c", "while True: pass"]) for _ in range(3)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()
        os.sched_setaffinity(0, before)


def test_a_busy_machine_does_not_change_who_ends_in_time(busy_core: None) -> None:
    """A second of work takes two to four on this core: too long by the clock, in time by the processor."""
    command = [PYTHON, "-c", SPIN.format(1.0)]
    by_clock = run_limited(command, ProcessLimits(1.4))
    assert by_clock.timed_out
    found = run_limited(command, ProcessLimits(1.4, cpu=True))
    assert (found.exit_code, found.timed_out) == (0, False)
    assert 1.0 <= found.cpu_seconds < 1.4


def test_a_limit_of_processor_time_is_one_of_all_processes() -> None:
    """Two children that each stay below it; a command that waits is ended by the clock, much later."""
    child = f"subprocess.Popen([sys.executable, '-c', {SPIN.format(60)!r}])"
    code = f"import subprocess, sys, time\nfor _ in range(2): {child}\ntime.sleep(60)"
    found = run_limited([PYTHON, "-c", code], ProcessLimits(0.6, cpu=True))
    assert found.timed_out and 0.6 <= found.cpu_seconds < 3
    # Children that are over before anybody looks count, too.
    child = f"subprocess.run([sys.executable, '-S', '-c', {SPIN.format(0.03)!r}])"
    code = f"import subprocess, sys\nwhile True: {child}"
    found = run_limited([PYTHON, "-c", code], ProcessLimits(1, cpu=True))
    assert found.timed_out and 1 <= found.cpu_seconds < 3
    assert ProcessLimits(6, cpu=True).wall == 10 * 6 + 600 and ProcessLimits(6).wall == 6


def test_a_job_with_processor_time(monkeypatch: pytest.MonkeyPatch, busy_core: None) -> None:
    monkeypatch.setattr("hstar.experiments.job.GRACE_S", 0.0)
    command = ("{python}", "-c", SPIN.format(0.8))
    by_clock, found = (
        execute(Job("make", command, time_limit=1.1, cpu=cpu), {}).record for cpu in (False, True)
    )
    assert (by_clock["status"], found["status"]) == ("time_limit", "made")
    assert found["cpu_limit"] == 1.1 and "cpu_limit" not in by_clock
    assert starved(by_clock, 1.1) and not starved({**found, "status": "time_limit"}, 4.0)
    plain = Job("make", command, time_limit=1.5)
    assert plain.key != Job("make", command, time_limit=1.5, cpu=True).key
