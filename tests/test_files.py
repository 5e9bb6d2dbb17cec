"""Files are replaced as a whole; what is no file is written to."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hstar.errors import InputError
from hstar.files import append_line, check_writable, remove_parts, replace_file


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in (b"one", b"two"):
        replace_file(path, content)
        assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_threads_write_files_with_long_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have written before one of them renames; the names are equal but for their ends."""
    both, flush = threading.Barrier(2), os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (flush(handle), both.wait(10)))
    paths = [tmp_path / f"{'x' * 60}_{end}" for end in "ab"]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(replace_file, paths, [b"content of a", b"b"]))
    assert [path.read_bytes() for path in paths] == [b"content of a", b"b"]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(replace_file, [paths[0]] * 2, [b"1" * 99, b"2"]))
    assert paths[0].read_bytes() in (b"1" * 99, b"2")
    assert sorted(tmp_path.iterdir()) == paths


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    own, hour, days = os.getpid(), 3600, 100_000
    ages = {
        f".gone.{gone.pid}-00c0ffee.part": hour,
        f".gone.{gone.pid}.part": hour,
        f".abandoned.{own}-00c0ffee.part": days,
        f".young.{gone.pid}-00c0ffee.part": 0,  # perhaps of another machine
        f".ours.{own}-00c0ffee.part": hour,
        ".init.1.part": hour,
        ".not_ours.part": days,
        "file.db": days,
    }
    for name, age in ages.items():
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    remove_parts(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(list(ages)[3:])
    remove_parts(tmp_path / "missing")
    remove_parts(tmp_path / "file.db")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "elsewhere", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    replace_file(link, b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    replace_file(pipe, b"content")
    reader.join(10)
    assert read == [b"content"] and pipe.is_fifo()


def test_what_an_open_file_has_already_stays(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    call = "replace_file(pathlib.Path('/dev/stdout'), b'new\\n')"
    with log.open("a") as file:
        script = f"import pathlib; from hstar.files import replace_file; {call}"
        subprocess.run([sys.executable, "-c", script], check=True, stdout=file)
        print("after", file=file)
    assert log.read_text() == "before\nnew\nafter\n"


def test_links_to_what_is_not_there(tmp_path: Path) -> None:
    link, circle = tmp_path / "link", tmp_path / "circle"
    link.symlink_to(tmp_path / "missing" / "file")
    circle.symlink_to(circle)
    with pytest.raises(FileNotFoundError):
        replace_file(link, b"content")
    with pytest.raises(InputError, match="cannot write the model: "):
        check_writable(link, "model")
    replace_file(circle, b"content")
    assert circle.read_bytes() == b"content"


def test_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path, b"content")
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "missing" / "file", b"content")


def test_a_line_is_added_after_half_a_line(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append_line(path, "one")
    path.write_bytes(path.read_bytes() + b"half")
    append_line(path, "two")
    assert path.read_text().splitlines() == ["one", "half", "two"]
