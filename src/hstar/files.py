"""Files that are replaced as a whole or not at all, and where those go that can be made again."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def replace_file(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Writes a file beside `path` and renames it. Unless `durable`, it may not survive a power cut.

    What is there and is no file (/dev/null, a pipe) is written to; a link stays one.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def append_line(path: Path, text: str) -> None:
    """Adds a line; if a killed process left half a line at the end, that one stays apart."""
    with path.open("a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                text = "\n" + text
        file.write(text.encode() + b"\n")


def cache_folder() -> Path:
    """Where caches of hstar are: `HSTAR_CACHE_DIR`, or the user's folder for such files."""
    chosen = os.environ.get("HSTAR_CACHE_DIR")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("hstar"))
