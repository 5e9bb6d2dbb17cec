"""Files that are read, or replaced as a whole or not at all, and where those go that can be made again."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from hstar.errors import InputError

MODEL = ".hstar"  # how names of model files end
MOST_STREAM = 2**28  # bytes that are read of a pipe or a device, which may have no end
_OPEN_FILES = ("/dev", "/dev/fd", "/proc/self/fd")  # /dev/stdout may be a file that others write to, too

_PART = re.compile(r"\..*\.([0-9]{1,9})(-[0-9a-f]{8})?\.part")  # by which process
_ABANDONED_S = 86_400.0  # age at which a part is nobody's, whoever has the number of its process now
_QUIET_S = 600.0  # and if nobody has it: a process of another machine may be writing


def is_stream(path: Path) -> bool:
    """Whether it is there, and what is written to it goes on somewhere: a device, a pipe, an open file."""
    return path.exists() and (not path.is_file() or str(path.absolute().parent) in _OPEN_FILES)


def names_model(word: str | Path) -> bool:
    """Whether a word names a model file rather than a heuristic: by its ending, or as a file there is."""
    return Path(word).suffix == MODEL or Path(word).is_file()


def check_files(*paths: Path) -> None:
    """An `InputError` unless these are files."""
    for path in paths:
        if path.is_dir():
            raise InputError("is a directory, not a file", file=path)
        if not path.exists():
            raise InputError("no such file", file=path)


def check_writable(path: Path, what: str, *, streams: bool = False) -> None:
    """An error if no file can be put there; asked before the work. `streams` such as /dev/stdout will do."""
    import tempfile

    with writing(path, what):
        if path.exists() and not path.is_file():
            if streams and not path.is_dir():
                return
            raise InputError(f"cannot write the {what}: not a regular file", file=path)
        folder = real_path(path).parent
        tempfile.NamedTemporaryFile(dir=folder, prefix=f".{path.name[:40]}.", suffix=".part").close()


@contextlib.contextmanager
def writing(path: Path, what: str) -> Iterator[None]:
    """An `OSError` within this context becomes an `InputError` about this file."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write the {what}: {error.strerror}", file=path) from None


@contextlib.contextmanager
def opened(path: Path, *, streams: bool = False) -> Iterator[BinaryIO]:
    """A file to read; an `InputError` if that fails, or if it is no regular file unless `streams` will do."""
    try:
        # A pipe that nobody writes to would never be opened.
        with open(path, "rb", opener=_read_at_once if not streams else None) as file:
            if not streams and not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError("cannot read: not a regular file", file=path)
            yield file
    except (OSError, ValueError) as error:  # ValueError: of a name that has a zero in it
        raise InputError(f"cannot read: {getattr(error, 'strerror', error)}", file=path) from None


def _read_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def read_bytes(path: Path, *, streams: bool = True) -> bytes:
    """The whole content: of a file as much as there is, of a stream, which may be endless, `MOST_STREAM`."""
    with opened(path, streams=streams) as file:
        status = os.fstat(file.fileno())
        most = status.st_size if stat.S_ISREG(status.st_mode) else 0
        content = file.read(most + 1) if most else b"".join(_parts_of(file))
    if len(content) > (most or MOST_STREAM):
        raise InputError(f"is longer than {most or MOST_STREAM} bytes, at which a reader stops", file=path)
    return content


def _parts_of(file: BinaryIO) -> Iterator[bytes]:
    left = MOST_STREAM + 1
    while left > 0 and (part := file.read(min(left, 2**20))):
        left -= len(part)
        yield part


def read_text(path: Path, encoding: str = "utf-8") -> str:
    try:
        return read_bytes(path).decode(encoding)
    except UnicodeDecodeError:
        raise InputError("is not text", file=path) from None


@contextlib.contextmanager
def blamed_on(file: Path, line: int | None = None) -> Iterator[None]:
    """An `InputError` within this context names this file and line."""
    try:
        yield
    except InputError as error:
        raise InputError(error.message, file=file, line=error.line or line) from None


def real_path(path: Path) -> Path:
    """The path with links followed, also to what is not there, and none of a circle of them."""
    return Path(os.path.realpath(path))


def replace_file(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Writes a file beside `path` and renames it. Unless `durable`, it may not survive a power cut.

    A stream is written to; a link stays one. Threads and processes may write at a time, to one file, too:
    then one of the contents is there as a whole.
    """
    if is_stream(path):
        with path.open("ab") as stream:
            stream.write(content)
        return
    path = real_path(path)
    # Names may differ in their ends alone, and processes of other machines have the same numbers.
    temporary = path.with_name(f".{path.name[:40]}.{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def remove_parts(folder: Path) -> None:
    """Removes what killed processes have left of the files that they were replacing."""
    parts: list[Path] = []
    with contextlib.suppress(OSError):
        parts.extend(folder.glob(".*.part"))
    for path in parts:
        writer = _PART.fullmatch(path.name)
        with contextlib.suppress(OSError):  # somebody else has removed it
            age = time.time() - path.stat().st_mtime
            if writer and (age > _ABANDONED_S or (age > _QUIET_S and not _is_alive(int(writer[1])))):
                path.unlink()


def _is_alive(process: int) -> bool:
    with contextlib.suppress(PermissionError):  # somebody else's
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
    return True


def append_line(path: Path, text: str) -> None:
    """Adds a line; if a killed process left half a line at the end, that one stays apart."""
    with path.open("a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                text = "\n" + text
        file.write(text.encode() + b"\n")


def shipped(folder: str) -> Path:
    """A folder of files that come with hstar: in the package where it is installed, else in the clone."""
    package = Path(__file__).parent
    inside = package / folder
    return inside if inside.is_dir() else package.parents[1] / folder


def cache_folder() -> Path:
    """Where caches of hstar are: `HSTAR_CACHE_DIR`, or the user's folder for such files."""
    chosen = os.environ.get("HSTAR_CACHE_DIR")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("hstar"))
