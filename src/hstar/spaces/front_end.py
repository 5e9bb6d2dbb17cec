"""From PDDL to a task of the core, by the native front end (`core/pddl`): no process, no cache.

Reads the two files, hands their texts over and logs the warnings. Limits, Ctrl-C and errors with file, line
and column come from the core.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from hstar import _core
from hstar.errors import InputError
from hstar.files import read_bytes

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
    try:
        task, report = _core.translate(
            (_read(domain), _read(problem)),
            (str(domain), str(problem)),
            unit_cost=unit_cost,
            keep_unimportant=keep_unimportant,
            time_limit=time_limit,
            memory_limit=memory_limit,
            progress=progress,
        )
    except InputError as error:
        if error.file is not None:
            raise
        raise InputError(error.message, file=problem) from None  # of both: a cost without a value
    for warning in report.warnings:
        logger.warning("%s", warning)
    return task


def _read(path: Path) -> bytes:
    if path.is_dir():
        raise InputError("is a folder", file=path)
    if not path.exists():
        raise InputError("no such file", file=path)
    return read_bytes(path)
