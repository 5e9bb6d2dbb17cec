"""The command line. `main` is the only place that turns errors into exit codes and one-line messages."""

from __future__ import annotations

import logging
import sys


def main(arguments: list[str] | None = None) -> None:
    """Entry point of `hstar`; never returns."""
    from hstar.errors import HstarError

    logging.basicConfig(format="hstar: %(levelname)s: %(message)s", level=logging.WARNING)
    logging.addLevelName(logging.WARNING, "warning")
    try:
        from hstar.cli.app import app

        code = app(args=arguments, prog_name="hstar", standalone_mode=False)
    except HstarError as error:
        _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    except BrokenPipeError:
        # The reader of our output went away (`hstar ... | head`): nothing to say and nobody to say it to.
        sys.stderr.close()
        sys.exit(0)
    except MemoryError:
        _fail("out of memory", 22)
    except OSError as error:
        _fail(f"{error.filename or 'system'}: {error.strerror or error}", 33)
    except Exception as error:
        # Typer's errors about options, whatever its version calls them.
        if not hasattr(error, "format_message"):
            raise
        _fail(f"{error.format_message()} (see hstar --help)", 33)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> None:
    line = " ".join(message.split())
    print(f"hstar: error: {line}", file=sys.stderr)
    sys.exit(code)
