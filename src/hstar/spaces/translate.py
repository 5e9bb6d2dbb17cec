"""Fast Downward's translator in the place of the native front end: `--translator fast-downward`.

From PDDL to the finite-domain `.sas` text that the core reads (Helmert, AIJ 173, 2009), by the package
`fast-downward.translate`. The translator is GPL and hstar is not: it runs as a separate process, only files
pass between the two, and nothing of it is imported or copied here.

Invariant: the same input, options and translator version give the same bytes.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from hstar.errors import HstarError, InputError, PDDLError, TranslatorLimitError
from hstar.files import check_files

logger = logging.getLogger(__name__)

_MODULE = "fast_downward.translate"
OUT_OF_MEMORY, OUT_OF_TIME, INPUT_ERROR = 20, 21, 31
"""The translator's exit codes that mean something to the user."""
# How Python says it, also while it starts.
_OUT_OF_MEMORY_WORDS = ("MemoryError", "memory allocation", "Cannot allocate memory")

_NOT_INSTALLED = (
    "the package 'fast-downward.translate' is not installed; use --translator native, or "
    "pip install 'hstar[fast-downward]'"
)


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
    keep_unimportant: bool = False,
) -> bytes:
    """The `.sas` text of a task.

    The limits, in seconds of wall clock and bytes of address space, are for the translator alone;
    a `TranslatorLimitError` says which one ran out. `keep_unimportant` keeps variables that do not
    matter for the goal, so that other goals of the same task can be asked for. What the translator rejects
    is told with file and line, if hstar's own reader finds something wrong, too.
    """
    import tempfile

    check_files(domain, problem)
    options = ["--keep-unimportant-variables"] if keep_unimportant else []
    with tempfile.TemporaryDirectory(prefix="hstar-") as folder:
        try:
            return _run(domain, problem, options, Path(folder), time_limit, memory_limit)
        except _TranslatorError as error:
            from hstar.spaces import pddl

            pddl.read_task(domain, problem)
            if error.code == INPUT_ERROR:
                raise PDDLError(str(error), file=problem) from None
            raise HstarError(f"{problem}: the translator failed: {error}") from None


# Running the translator.


class _TranslatorError(Exception):
    """The translator gave up on its input; `code` is its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def _run(
    domain: Path,
    problem: Path,
    options: list[str],
    scratch: Path,
    time_limit: float | None,
    memory_limit: int | None,
) -> bytes:
    import subprocess

    output, limit = scratch / "output.sas", ""
    if memory_limit is not None:
        limit = f"resource.setrlimit(resource.RLIMIT_AS, ({memory_limit}, {memory_limit})); "
    start = f"import resource, runpy; {limit}runpy.run_module('{_MODULE}', run_name='__main__')"
    command = [sys.executable, "-c", start, str(domain.resolve()), str(problem.resolve())]
    try:
        process = subprocess.run(
            [*command, "--sas-file", str(output), *options],
            # The working directory is searched for modules: not the user's, then.
            cwd=scratch,
            # Iteration over sets of strings must not depend on the run.
            env={**os.environ, "PYTHONHASHSEED": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C comes to this process, which kills the other
            timeout=time_limit,
        )
    except subprocess.TimeoutExpired:
        raise _limit_error(problem, "time", OUT_OF_TIME) from None
    text = process.stdout.decode("utf-8", "replace")
    logger.debug("translator log of %s:\n%s", problem, text)
    if process.returncode == 0:
        return output.read_bytes()
    if process.returncode == OUT_OF_TIME:
        raise _limit_error(problem, "time", OUT_OF_TIME)
    # Memory can end before the translator has installed its handler, or even Python has started.
    if process.returncode not in (1, INPUT_ERROR) or any(words in text for words in _OUT_OF_MEMORY_WORDS):
        raise _limit_error(problem, "memory", OUT_OF_MEMORY)
    if "No module named 'fast_downward" in text:
        raise HstarError(_NOT_INSTALLED)
    raise _TranslatorError(_last_words(text, process.returncode), process.returncode)


def _limit_error(problem: Path, what: str, code: int) -> TranslatorLimitError:
    return TranslatorLimitError(f"{problem}: the translator ran out of {what}", exit_code=code)


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
