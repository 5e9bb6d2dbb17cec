"""What a run of many jobs shows on a terminal, and what it leaves there."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from rich.console import Console

from hstar.cli.live import MOST_RUNNING, LiveView
from hstar.experiments.driver import Running, Standing
from hstar.experiments.job import Job
from hstar.experiments.store import Attempt

from .conftest import start

SUITE = """\
[[tasks]]
generator = "blocksworld"
parameters = { blocks = 4 }
starts = 1

[[plan]]
heuristic = "ff"

[[plan]]
model = "endless"

[[train]]
name = "endless"
recipe = "fsm"
options = { states = 100, epochs = 1_000_000, patience = 1_000_000, width = 8 }
"""


def on_terminal(*words: str, until: str) -> tuple[int, str]:
    """Exit code, and what a run shows on a terminal that gets Ctrl-C when it has shown something."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    environment = {**os.environ, "TERM": "xterm"}
    process = start(*words, stdout=subprocess.DEVNULL, stderr=terminal, env=environment)
    os.close(terminal)
    shown, sent = "", False
    try:
        while chunk := os.read(controller, 4096):
            shown += chunk.decode(errors="replace")
            if not sent and re.search(until, plain(shown)):
                process.send_signal(signal.SIGINT)
                sent = True
    except OSError:  # the other end is closed
        pass
    os.close(controller)
    return process.wait(), shown


def plain(text: str) -> str:
    """Without colours and movements of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


@pytest.mark.slow
def test_a_run_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    words = ("bench", str(tmp_path / "suite.toml"), "-o", str(tmp_path / "run"), "--jobs", "2")
    # Drawn again while nothing ends: the search is done, and the training has been running for 2 s and 3 s.
    code, shown = on_terminal(*words, until=r"1/3 done, 1 running[^$]*training endless.* 2 s[^$]* 3 s")
    assert code == 130
    text = plain(shown)
    assert re.search(r"contestant +solved +of run +of all +made", text)
    assert re.search(r"ff +1 +1 +1 ", text)
    assert re.search(r"endless +0 +0 +1 +0/1", text)
    assert "training endless, on blocksworld-4ops/blocks4-seed0" in text
    assert "rror" not in text
    # The cursor is there again, the picture is wiped, and one line remains.
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")
    after = shown[shown.rindex("\x1b[?25h") :]
    assert "\x1b[2K" in after
    assert plain(after).strip().startswith("hstar: interrupted; to go on with ")
    assert plain(after).strip().count("\n") == 0


@pytest.mark.parametrize("terminal", ["none", "dumb"])
@pytest.mark.slow
def test_rich_is_not_imported_without_a_terminal(tmp_path: Path, terminal: str) -> None:
    (tmp_path / "suite.toml").write_text(SUITE.partition('[[plan]]\nmodel = "endless"')[0])
    script = (
        "import sys\nfrom hstar.cli import main\n"
        "try:\n    main(['bench', 'suite.toml', '-o', 'run'])\n"
        "finally:\n    print('rich' in sys.modules)"
    )
    streams = {"stdout": subprocess.PIPE, "text": True}
    if terminal == "none":
        done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, stderr=subprocess.PIPE, **streams)
    else:
        controller, stderr = pty.openpty()
        environment = {**os.environ, "TERM": "dumb"}
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, stderr=stderr, env=environment, **streams
        )
        os.close(stderr)
        os.close(controller)
    assert done.returncode == 0
    assert done.stdout.endswith("False\n")


# --- the picture ----------------------------------------------------------------------------------


def job(contestant: str, start: str = "p1", kind: str = "search") -> Job:
    step = "train" if kind == "train" else "search"
    labels = {"domain": "x", "instance": "x/1", "contestant": contestant, "seed": 0, "step": step}
    return Job(kind, (contestant, start), labels={**labels, "start": start} if step == "search" else labels)


def attempt(of: Job, status: str, seconds: float) -> Attempt:
    return Attempt(of.key, of.kind, {"status": status}, {}, "", {"host": "here"}, 0.0, seconds)


def drawn(view: LiveView) -> str:
    out = io.StringIO()
    Console(file=out, width=100).print(view.drawn())
    return out.getvalue()


def test_counts_and_time_left() -> None:
    training, jobs = job("fsm", kind="train"), [job("fsm", f"p{i}") for i in range(4)]
    other = [job("ff", f"p{i}") for i in range(20)]
    everything = [training, *jobs, *other]
    done = {training.key: attempt(training, "trained", 60.0), jobs[0].key: attempt(jobs[0], "solved", 10.0)}
    view = LiveView(everything)
    now = time.monotonic()
    active = tuple(Running(one, now) for one in other[:8])
    with view:
        view(Standing(25, 2, 0, 0, 0, 0.0, None, (), dict(done)))
        view._live.stop()  # the picture is looked at here
        done[jobs[1].key] = last = attempt(jobs[1], "time_limit", 30.0)
        view(Standing(25, 3, 1, 2, 8, 1.0, last, active, done))
        view._live.stop()
        text = drawn(view)
    # 20 searches that are not blocked of 20 s each, 8 at a time.
    assert "3/25 done, 8 running, 1 failed, 2 blocked, 50 s left" in text
    assert re.search(r"fsm +1 +2 +4 +1/1", text)
    assert re.search(r"ff +0 +0 +20 ", text)
    assert text.count("search ff, on x/1 p") == MOST_RUNNING
    assert f"and {8 - MOST_RUNNING} more" in text


def test_the_time_left_is_unknown_while_a_kind_of_job_is() -> None:
    training, search = job("fsm", kind="train"), job("fsm")
    view = LiveView([training, search])
    with view:
        view(Standing(2, 0, 0, 0, 0, 0.0, None, (), {}))
        view._live.stop()
        last = attempt(training, "trained", 5.0)
        view(Standing(2, 1, 0, 0, 1, 5.0, last, (Running(search, time.monotonic()),), {training.key: last}))
        view._live.stop()
        assert " left" not in drawn(view)
