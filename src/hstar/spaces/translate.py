"""Fast Downward's translator in the place of the native front end: `--translator fast-downward`.

From PDDL to the finite-domain `.sas` text that the core reads (Helmert, AIJ 173, 2009), by the package
`fast-downward.translate`. The translator is GPL and hstar is not: it runs as a separate process, only files
pass between the two, and nothing of it is imported or copied here.

Invariant: the same input, options and translator version give the same bytes, from the cache or
not. The cache is only ever a shortcut; whatever is wrong with it costs time, never correctness and
never an error. What a cache hit does not need is imported only where it is needed.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import signal
import sys
import time
from pathlib import Path

from hstar.errors import HstarError, InputError, PDDLError, TranslatorLimitError
from hstar.files import cache_folder

logger = logging.getLogger(__name__)

OUT_OF_MEMORY, OUT_OF_TIME, INPUT_ERROR = 20, 21, 31
"""The translator's exit codes that mean something to the user."""
# How Python says it, also while it starts.
_OUT_OF_MEMORY_WORDS = ("MemoryError", "memory allocation", "Cannot allocate memory")

_NOT_INSTALLED = (
    "the package 'fast-downward.translate' is not installed; use --translator native, or "
    "pip install 'hstar[fast-downward]'"
)

DEFAULT_CACHE_LIMIT = 1 << 30
_MAGIC = b"hstar-sas-1 "
_STALE_S = 3600.0


def find_domain(problem: Path) -> Path:
    """The domain file of a problem by the naming rules of Fast Downward's driver."""
    names = (
        "domain.pddl",
        f"{problem.stem}-domain{problem.suffix}",
        f"{problem.name[:3]}-domain.pddl",
        f"domain_{problem.name}",
        f"domain-{problem.name}",
    )
    for name in names:
        candidate = problem.with_name(name)
        if candidate.is_file():
            return candidate
    tried = ", ".join(dict.fromkeys(names))
    folder = problem.parent
    raise InputError(f"no domain file given, and none of {tried} in '{folder}'", file=problem)


def translate(
    domain: Path,
    problem: Path,
    *,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    cache: bool = True,
    cache_dir: Path | None = None,
    keep_unimportant: bool = False,
) -> bytes:
    """The `.sas` text of a task.

    The limits, in seconds of wall clock and bytes of address space, are for the translator alone;
    a `TranslatorLimitError` says which one ran out. `keep_unimportant` keeps variables that do not
    matter for the goal, so that other goals of the same task can be asked for.
    """
    options = ["--keep-unimportant-variables"] if keep_unimportant else []
    store = _Cache(cache_dir) if cache else None
    name = _cache_name(domain, problem, options)
    sas = store.load(name) if store else None
    if sas is None:
        sas = _translate(domain, problem, options, time_limit, memory_limit)
        _warn_undeclared(domain, problem)
        if store:
            store.save(name, sas)
    return sas


def _warn_undeclared(domain: Path, problem: Path) -> None:
    """Warns about requirements that are used and not declared; said once, since it parses the PDDL."""
    from hstar.spaces import pddl

    try:
        undeclared = pddl.undeclared_requirements(pddl.read_task(domain, problem))
    except HstarError as error:  # the translator was more lenient than our parser
        logger.warning("%s", error)
        return
    if undeclared:
        logger.warning("%s: used but not declared: %s", domain, ", ".join(undeclared))


# Running the translator.


class _TranslatorError(Exception):
    """The translator gave up on its input; `code` is its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def _translate(
    domain: Path,
    problem: Path,
    options: list[str],
    time_limit: float | None,
    memory_limit: int | None,
) -> bytes:
    """Translate; what the translator rejects gets a better message, or a second, tidier chance."""
    import tempfile

    deadline = None if time_limit is None else time.monotonic() + time_limit
    for path in (domain, problem):
        if not path.is_file():
            raise InputError("is a folder" if path.is_dir() else "no such file", file=path)
    with tempfile.TemporaryDirectory(prefix="hstar-") as folder:
        scratch = Path(folder)
        try:
            return _run(domain, problem, options, scratch, deadline, memory_limit)
        except _TranslatorError as error:
            from hstar.spaces import pddl

            # Raises with file and line where the PDDL is wrong.
            texts = pddl.standard_form(domain, problem)
            first = error
        copies = (scratch / "domain.pddl", scratch / "problem.pddl")
        for path, text in zip(copies, texts, strict=True):
            path.write_text(text, encoding="ascii")
        try:
            sas = _run(*copies, options, scratch, deadline, memory_limit)
        except _TranslatorError:
            if first.code == INPUT_ERROR:
                raise PDDLError(str(first), file=problem) from None
            raise HstarError(f"{problem}: the translator failed: {first}") from None
        logger.warning("%s: taken leniently; the translator says: %s", problem, first)
        return sas


def _run(
    domain: Path,
    problem: Path,
    options: list[str],
    scratch: Path,
    deadline: float | None,
    memory_limit: int | None,
) -> bytes:
    import subprocess

    output = scratch / "output.sas"
    command = [sys.executable, "-m", "fast_downward.translate"]
    command += [str(domain.resolve()), str(problem.resolve()), "--sas-file", str(output), *options]
    process = subprocess.Popen(
        command,
        # With -m the working directory is searched for modules: not the user's, then.
        cwd=scratch,
        # Iteration over sets of strings must not depend on the run.
        env={**os.environ, "PYTHONHASHSEED": "0"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        if memory_limit is not None:
            _limit_memory(process.pid, memory_limit)
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        log, _ = process.communicate(timeout=left)
    except subprocess.TimeoutExpired:
        message = f"{problem}: the translator ran out of time"
        raise TranslatorLimitError(message, exit_code=OUT_OF_TIME) from None
    finally:
        # Out of time, or Ctrl-C: nothing of the group may outlive this call. Once the leader is
        # reaped, its number may belong to somebody else.
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        assert process.stdout is not None
        process.stdout.close()
    text = log.decode("utf-8", "replace")
    logger.debug("translator log of %s:\n%s", problem, text)
    if process.returncode == 0:
        return output.read_bytes()
    if process.returncode == OUT_OF_TIME:
        message = f"{problem}: the translator ran out of time"
        raise TranslatorLimitError(message, exit_code=OUT_OF_TIME)
    # Memory can end before the translator has installed its handler, or even Python has started.
    if process.returncode not in (1, INPUT_ERROR) or any(words in text for words in _OUT_OF_MEMORY_WORDS):
        message = f"{problem}: the translator ran out of memory"
        raise TranslatorLimitError(message, exit_code=OUT_OF_MEMORY)
    if "No module named fast_downward" in text:
        raise HstarError(_NOT_INSTALLED)
    raise _TranslatorError(_last_words(text, process.returncode), process.returncode)


def _limit_memory(pid: int, limit: int) -> None:
    """Limit a process that has just started, before it has had the time to allocate anything.

    Done from outside because code between fork and exec is not safe in a program with threads.
    """
    import resource

    with contextlib.suppress(ProcessLookupError):
        resource.prlimit(pid, resource.RLIMIT_AS, (limit, limit))


def _last_words(log: str, code: int) -> str:
    """The translator's complaint as one line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    if any(line.startswith("Traceback") for line in lines):
        return lines[-1]
    for i, line in enumerate(lines):
        if line == "Parsing...":
            lines = lines[i + 1 :]
            break
    return " ".join(lines[-6:]) or f"exit code {code}"


# The cache: one file per task, `magic sha256 newline` and the text.


def _cache_name(domain: Path, problem: Path, options: list[str]) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        translator = version("fast-downward.translate")
    except PackageNotFoundError:
        raise HstarError(_NOT_INSTALLED) from None
    digest = hashlib.sha256()
    for part in (_read(domain), _read(problem), translator.encode(), " ".join(options).encode()):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest() + ".sas"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", file=path) from None


class _Cache:
    """Files in one folder, least recently used removed first; safe to share by processes."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = (folder or cache_folder()) / "translate"
        self.limit = _cache_limit()

    def load(self, name: str) -> bytes | None:
        """The entry, if it is there and undamaged."""
        path = self.folder / name
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            logger.warning("cannot read the cache in %s: %s", self.folder, error.strerror)
            return None
        header, _, body = data.partition(b"\n")
        if header != _header(body):
            logger.warning("damaged cache entry %s is made again", path)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return body

    def save(self, name: str, body: bytes) -> None:
        """Enter it, if it fits, and make room. Readers see the whole entry or none."""
        import tempfile

        if len(body) > self.limit:
            return
        temporary = ""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
            with os.fdopen(handle, "wb") as file:
                file.write(_header(body) + b"\n" + body)
            Path(temporary).replace(self.folder / name)
            self._shrink()
        except OSError as error:
            logger.warning("cannot write the cache in %s: %s", self.folder, error.strerror)
            if temporary:
                with contextlib.suppress(OSError):
                    Path(temporary).unlink()

    def _shrink(self) -> None:
        """Remove what a killed writer left, then the least recently used entries over the limit."""
        entries: list[tuple[float, int, str]] = []
        now = time.time()
        for item in os.scandir(self.folder):
            with contextlib.suppress(FileNotFoundError):
                status = item.stat()
                if item.name.endswith(".sas"):
                    entries.append((status.st_mtime, status.st_size, item.path))
                elif item.name.endswith(".tmp") and now - status.st_mtime > _STALE_S:
                    Path(item.path).unlink()
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.limit:
                break
            with contextlib.suppress(FileNotFoundError):
                Path(path).unlink()
            total -= size


def _header(body: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(body).hexdigest().encode()


def _cache_limit() -> int:
    text = os.environ.get("HSTAR_CACHE_LIMIT")
    if not text:
        return DEFAULT_CACHE_LIMIT
    if not text.isdigit():
        raise InputError(f"HSTAR_CACHE_LIMIT must be a number of bytes, got '{text}'")
    return int(text)
