"""Commands under limits: whatever they do, there is an answer."""

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hstar.experiments.process import kill_all, run_limited

PYTHON = sys.executable


def test_output_errors_and_code() -> None:
    found = run_limited(
        [PYTHON, "-c", "import sys; print('out'); print('a\\nlast', file=sys.stderr); sys.exit(3)"],
        time_limit=60,
    )
    assert (found.exit_code, found.output, found.timed_out) == (3, "out\n", False)
    assert found.last_line() == "last"


def test_standard_input_is_the_file(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("hello")
    code = "import sys; print(sys.stdin.read())"
    assert run_limited([PYTHON, "-c", code], time_limit=60, stdin=tmp_path / "in").output == "hello\n"
    assert run_limited([PYTHON, "-c", code], time_limit=60).output == "\n"


def test_the_limit_ends_children_too(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pid_file)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    found = run_limited([PYTHON, "-c", code], time_limit=3)
    assert found.timed_out and found.exit_code < 0
    assert gone(int(pid_file.read_text()))


def test_memory_beyond_the_limit_is_refused() -> None:
    found = run_limited(
        [PYTHON, "-c", "import time; time.sleep(0.5); bytearray(4 << 30)"],
        time_limit=60,
        address_space=1 << 30,
    )
    assert found.exit_code != 0
    assert "MemoryError" in found.errors


def test_a_crash_is_an_answer() -> None:
    found = run_limited([PYTHON, "-c", "import os; os.abort()"], time_limit=60)
    assert found.exit_code == -6
    assert found.last_line() == "no message"


def test_kill_all_ends_what_other_threads_wait_for() -> None:
    codes: list[int] = []
    thread = threading.Thread(
        target=lambda: codes.append(
            run_limited([PYTHON, "-c", "import time; time.sleep(600)"], time_limit=600).exit_code
        )
    )
    thread.start()
    deadline = time.monotonic() + 60
    while thread.is_alive() and time.monotonic() < deadline:
        kill_all()
        thread.join(0.1)
    assert codes == [-9]


def gone(pid: int) -> bool:
    """Whether a process ends soon, or is a zombie that waits for its parent."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv of util-linux")
def test_a_command_does_not_outlive_a_killed_caller(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    child = f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    code = (
        "import sys\n"
        "from hstar.experiments.process import run_limited\n"
        f"run_limited([sys.executable, '-c', {child!r}], time_limit=600)\n"
    )
    caller = subprocess.Popen([PYTHON, "-c", code])
    deadline = time.monotonic() + 60
    while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    caller.kill()
    caller.wait()
    assert gone(int(pid_file.read_text()))
