"""Task files on the command line: `[DOMAIN] PROBLEM`, or a `.sas` file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hstar.errors import InputError
from hstar.files import real_path

if TYPE_CHECKING:
    from hstar.cli.app import Parser
    from hstar.spaces.task import Task

FILES = "[DOMAIN] PROBLEM"


def add_task_files(parser: Parser, number: str = "+") -> None:
    """The files, and the options of their translation."""
    parser.usage = f"{parser.prog} [OPTION ...] {FILES}"
    parser.add_argument(
        "files",
        nargs=number,
        type=Path,
        metavar=FILES,
        help="PDDL files, or one .sas file; DOMAIN may be left out if domain.pddl lies beside PROBLEM",
    )
    add_translation(parser)


def add_translation(parser: Parser) -> None:
    """The options that concern the translation of PDDL."""
    parser.add_argument(
        "--translator",
        metavar="NAME",
        default="native",
        help="translator of PDDL: native or fast-downward [native]",
    )


def load_files(
    files: list[Path],
    *,
    translator: str = "native",
    unit_cost: bool = False,
    time_limit: float | None = None,
    memory_limit: int | None = None,
) -> Task:
    """The task that the arguments name."""
    from hstar.spaces.task import load_task

    if len(files) > 2:
        raise InputError(f"expected {FILES}, got {len(files)} files")
    if len(files) == 2 and any(path.suffix == ".sas" for path in files):
        raise InputError("a .sas file is a whole task: give it alone")
    for path in files:
        check_file(path)
    return load_task(
        files[0],
        files[1] if len(files) == 2 else None,
        unit_cost=unit_cost,
        translator=translator,
        time_limit=time_limit,
        memory_limit=memory_limit,
    )


def problem_files(given: list[Path], domain: Path | None) -> Iterator[tuple[Path, Path]]:
    """Domain and problem files."""
    from hstar.spaces.translate import find_domain

    if domain is not None:
        check_file(domain)
    for path in given:
        files = sorted(path.glob("*.pddl"), key=lambda file: file.name) if path.is_dir() else [path]
        files = [file for file in files if file != domain and not file.stem.endswith("domain")]
        if not files:
            raise InputError("no problems in this folder", file=path)
        for file in files:
            check_file(file)
            yield domain or find_domain(file), file


def check_file(path: Path) -> None:
    """An error if there is no such file."""
    if path.is_dir():
        raise InputError("is a directory, not a file", file=path)
    if not path.exists():
        raise InputError("no such file", file=path)


def check_writable(path: Path, what: str, *, streams: bool = False) -> None:
    """An error if no file can be put there; asked before the work. `streams` such as /dev/stdout will do."""
    try:
        if path.exists() and not path.is_file():
            if streams and not path.is_dir():
                return
            raise InputError(f"cannot write the {what}: not a regular file", file=path)
        folder = real_path(path).parent
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{path.name[:40]}.", suffix=".part"):
            pass
    except OSError as error:
        raise InputError(f"cannot write the {what}: {error.strerror}", file=path) from None
