"""The command line. `main` is the only place that turns errors into exit codes and one-line messages.

Standard output carries results alone (a plan, a record, one JSON object); everything for people goes to
standard error. Where a command fails, standard output stays empty, except for a plan that was found.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

_INTERRUPTED = 130
_INTERNAL = 35
_DEBUG = "HSTAR_DEBUG"  # set: a traceback instead of the one line
_LATER_S = 0.01  # of processor time: when a signal at a bad moment is looked at again
_FRAGILE = (
    "/dataclasses.py",
    "/collections/__init__.py",
    "/numpy/__init__.py",
    "weakref.py",
    "/_weakrefset.py",
)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Entry point of `hstar`; never returns."""
    for name in ("stdout", "stderr"):
        # Closed by the caller. print(..., file=None) would write to the other one.
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115  (stays open to the end)
    received: int = signal.SIGINT

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal received
        if number != signal.SIGVTALRM:
            received = number
        if _fragile(frame):
            signal.setitimer(signal.ITIMER_VIRTUAL, _LATER_S)
            return
        raise KeyboardInterrupt

    # SIGTERM and SIGHUP stop as Ctrl-C does: limits, counts and children are taken care of.
    # nohup ignores SIGHUP, and so do we then.
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGVTALRM)
    usual = (signal.SIG_DFL, signal.default_int_handler)
    ours = {one: before for one in numbers if (before := signal.getsignal(one)) in usual}
    try:
        for number in ours:
            signal.signal(number, stop)
        code = _run(sys.argv[1:] if arguments is None else arguments)
        if code == _INTERRUPTED:
            code = 128 + received
    except KeyboardInterrupt as stopped:
        code = _fail(str(stopped) or "interrupted", 128 + received)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        for number, before in ours.items():
            signal.signal(number, before)
    sys.exit(code)


def _fragile(frame: FrameType | None) -> bool:
    """Whether an exception now would do harm; such moments are short.

    Data classes and named tuples are made by code from strings: if that is interrupted, Python ends by SIGINT
    whatever the exit code is. msgspec ends with a segmentation fault if the Python code that it calls to look
    at types is interrupted. NumPy cannot be imported again after half an import. Python prints and forgets
    what finalizers and callbacks of weak references raise, those of imports (`cb`) among them.
    """
    while frame is not None:
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        if file.endswith(_FRAGILE) or "/msgspec/" in file or name == "__del__":
            return True
        if name == "cb" and "importlib" in file:
            return True
        frame = frame.f_back
    return False


def _run(arguments: list[str]) -> int:
    from hstar.errors import HstarError, torch_explained

    try:
        _show_warnings()
        from hstar.cli.app import dispatch

        with torch_explained(" ".join(["hstar", *arguments[:1]]) + " with these arguments"):
            code = dispatch(arguments)
        sys.stdout.flush()
        return code
    except HstarError as error:
        return _fail(str(error), error.exit_code)
    except BrokenPipeError:
        # The reader of our output went away (`hstar ... | head`): nothing to say and nobody to say it to.
        _drop_output()
        return 128 + signal.SIGPIPE
    except MemoryError:
        return _fail("out of memory", 22)
    except OSError as error:
        _drop_output()
        return _fail(f"{error.filename or 'standard output'}: {error.strerror or error}", 33)
    except Exception as error:
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            # Python makes another error of what is raised while a class is made, at an import for instance.
            raise KeyboardInterrupt from None
        if os.environ.get(_DEBUG):
            raise
        what = f"{type(error).__name__}: {error}"
        return _fail(f"a bug in hstar: {what} (please report it; {_DEBUG}=1 shows more)", _INTERNAL)


def _fail(message: str, code: int) -> int:
    print(f"hstar: error: {' '.join(message.split())}", file=sys.stderr)
    return code


def _drop_output() -> None:
    """What could not be written must not be tried again at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _show_warnings() -> None:
    """Warnings of the library go to standard error, one line each."""
    import logging

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            level = record.levelname.lower()
            print(f"hstar: {level}: {' '.join(record.getMessage().split())}", file=sys.stderr)

    logger = logging.getLogger("hstar")
    logger.handlers[:] = [Handler(logging.WARNING)]
