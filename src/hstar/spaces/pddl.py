"""PDDL by the front end of the core (`core/pddl`): to finite-domain variables, or as it was written.

Hands the texts of two files over and logs the warnings. Limits, Ctrl-C and errors with file, line and column
come from the core.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hstar import _core
from hstar.errors import InputError, PDDLError
from hstar.files import check_files, read_bytes

if TYPE_CHECKING:
    from hstar.spaces.lifted import LiftedTask

logger = logging.getLogger(__name__)


def translate_natively(
    domain: Path,
    problem: Path,
    *,
    unit_cost: bool = False,
    keep_unimportant: bool = False,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Callable[[_core.Progress], object] | None = None,
) -> _core.Task:
    """The task of two PDDL files.

    `time_limit` is in seconds of wall clock, `memory_limit` in resident bytes of this process; a
    `TranslatorLimitError` says which one ran out and how many facts and operators there were by then.
    """
    texts = _read(domain), _read(problem)
    try:
        task, report = _core.translate(
            texts,
            (str(domain), str(problem)),
            unit_cost=unit_cost,
            keep_unimportant=keep_unimportant,
            time_limit=time_limit,
            memory_limit=memory_limit,
            progress=progress,
        )
    except InputError as error:
        _check_order(*texts, str(domain))
        if error.file is not None:
            raise
        raise InputError(error.message, file=problem) from None  # of both: a cost without a value
    for warning in report.warnings:
        logger.warning("%s", warning)
    return task


def read_task(domain: Path, problem: Path) -> LiftedTask:
    """The lifted task of two PDDL files; its warnings are not logged, since a translation has done so."""
    return parse_task(_read(domain), _read(problem), str(domain), str(problem))


def parse_task(
    domain: str | bytes, problem: str | bytes, domain_file: str = "domain", problem_file: str = "problem"
) -> LiftedTask:
    """The lifted task of two PDDL texts; the file names are for error messages."""
    import msgspec

    from hstar.spaces.lifted import LiftedTask

    texts = [text.encode() if isinstance(text, str) else text for text in (domain, problem)]
    try:
        parsed = _core.parse_pddl((texts[0], texts[1]), (domain_file, problem_file))
    except PDDLError:
        _check_order(texts[0], texts[1], domain_file)
        raise
    return msgspec.convert(parsed, LiftedTask)


def _check_order(domain: bytes, problem: bytes, file: str) -> None:
    """A `PDDLError` if the problem was given as the domain, and the domain as the problem."""
    start = rb"\(\s*define\s*\(\s*"
    kinds = (
        re.search(start + kind, text, re.I) for kind, text in ((b"problem", domain), (b"domain", problem))
    )
    if all(kinds):
        raise PDDLError("this is a problem, and the other file a domain; give the domain first", file=file)


def read_text(path: Path) -> str:
    """The text of a PDDL file. As for Fast Downward, a comment may hold any character."""
    text = _read(path).decode("latin-1").removeprefix("\xef\xbb\xbf")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read(path: Path) -> bytes:
    check_files(path)
    return read_bytes(path)
