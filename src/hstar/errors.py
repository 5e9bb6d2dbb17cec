"""The mistakes hstar reports, each with the exit code that planner users know.

A limit that ends a search is not an error but a `Result.status`. Everything here is something the caller
has to change: the input, an option, or the configuration. The command line prints `str(error)` as one line.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


class HstarError(Exception):
    """Base of every error that hstar raises on purpose."""

    exit_code = 35


class InputError(HstarError):
    """Something handed in is wrong: a file, a line of it, or an option.

    `file`, `line` and `column` are put in front of the message where they are known.
    """

    exit_code = 33

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        places = [str(place) for place in (file, line, column) if place]
        super().__init__(f"{':'.join(places)}: {message}" if file is not None else message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column


class PDDLError(InputError):
    """The PDDL is broken, or the problem does not belong to the domain."""

    exit_code = 31


class ModelError(HstarError):
    """A learned model does not fit: trained for that, asked for this; or its file is damaged."""

    exit_code = 33


class UnsupportedError(HstarError):
    """A part cannot handle what the task needs; the message says what to use instead."""

    exit_code = 34


def has_torch() -> bool:
    """Whether PyTorch can be imported; this does not import it."""
    return importlib.util.find_spec("torch") is not None


def needs_torch(what: str) -> UnsupportedError:
    """The error for `what` where PyTorch, the extra `train`, is not installed."""
    return UnsupportedError(f"{what} needs PyTorch: pip install 'hstar[train]'")


@contextlib.contextmanager
def torch_explained(what: str) -> Iterator[None]:
    """Turns a failed import of PyTorch, wherever it happens inside, into `needs_torch(what)`."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "torch":
            raise
        raise needs_torch(what) from None


class LimitError(HstarError):
    """Work before a search reached a limit; `status` is that of the search's `Result`."""

    def __init__(self, status: str) -> None:
        super().__init__(f"the {status.replace('_', ' ')} is reached before a search or a training began")
        self.status = status
        self.exit_code = 23 if status == "time_limit" else 22


class TranslatorLimitError(LimitError):
    """The translator ran out of its time or memory limit."""

    def __init__(self, message: str, *, exit_code: int) -> None:
        super().__init__("time_limit" if exit_code == 21 else "memory_limit")
        self.args = (message,)
        self.exit_code = exit_code


def uninterrupted(result: T) -> T:
    """What a search found; a `KeyboardInterrupt` if Ctrl-C has ended it, so that further work ends, too."""
    if getattr(result, "status", None) == "interrupted":
        raise KeyboardInterrupt
    return result


class ClusterError(HstarError):
    """A cluster failed while jobs were running on it; what is finished is kept."""

    exit_code = 35


class PlanError(HstarError):
    """A plan that a search returned does not survive validation: a bug in hstar."""

    exit_code = 35
