"""Task files on the command line: `[DOMAIN] PROBLEM`, or a `.sas` file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.options import Parser
from hstar.errors import InputError
from hstar.files import check_file

if TYPE_CHECKING:
    from hstar.spaces.task import Task

FILES = "[DOMAIN] PROBLEM"


def add_task_files(parser: Parser) -> None:
    """The files, and the options of their translation."""
    parser.option(
        "files",
        FILES,
        "PDDL files, or one .sas file. DOMAIN may be left out if domain.pddl is in the directory of PROBLEM.",
        nargs="+",
        type=Path,
    )
    add_translation(parser)


def add_translation(parser: Parser) -> None:
    """The options of the translation of PDDL."""
    parser.option("--translator", "NAME", "Translator of PDDL: native or fast-downward.", "native")


def load_files(files: list[Path], **options: Any) -> Task:
    """The task that the arguments name; `options` are those of `load_task`."""
    from hstar.spaces.task import load_task

    if len(files) > 2:
        raise InputError(f"expected {FILES}, got {len(files)} files")
    if len(files) == 2 and any(path.suffix == ".sas" for path in files):
        raise InputError("a .sas file is a whole task: give it alone")
    for path in files:
        check_file(path)
    return load_task(*files, **options)


def problem_files(given: list[Path], domain: Path | None) -> Iterator[tuple[Path, Path]]:
    """The domain and problem files that files and folders name."""
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
