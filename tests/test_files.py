"""Files are replaced as a whole; what is no file is written to."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from hstar.files import append_line, replace_file


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in (b"one", b"two"):
        replace_file(path, content)
        assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


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
