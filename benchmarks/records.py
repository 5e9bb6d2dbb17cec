"""What the measurements share: a file that keeps each of them, and the tables that are made of it.

The file has JSON lines, one record a measurement, with the machine and the commit it was taken at. A script
asks `Records.get` for a measurement: one that is in the file is not repeated, so after a kill the same
command goes on where it stopped. Tables are made of records alone, whether these were measured just now or
read by `--print`; RESULTS.md is filled in the second way (tools/results.py).

Invariant: a measurement is known by what was measured and by the build of hstar; one of an older build is
repeated. Of several records of the same thing the last one is shown.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib.util
import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from hstar import __version__
from hstar.errors import HstarError, InputError
from hstar.experiments.machine import PACKAGES, machine
from hstar.files import append_line

Record = dict[str, Any]

UNKNOWN = "–"
VERSIONS = "versions"  # the section that every script has
_INTERRUPTED = 130


def note(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


# --- the file -------------------------------------------------------------------------------------


def read(path: Path) -> list[Record]:
    """All records of a file, in its order."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read: {getattr(error, 'strerror', 'no text')}", file=path) from None
    found = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if isinstance(record, dict):
            found.append(record)
        elif line.strip():
            note(f"{path}:{number}: skipped, not a record")  # a killed process leaves half a line
    return found


def latest(records: Iterable[Record], names: Sequence[str]) -> list[Record]:
    """The last record for each value of the named fields, in the order in which the values came first."""
    found = {tuple(record.get(name) for name in names): record for record in records}
    return list(found.values())


def stored(path: Path, parts: Collection[str], names: Sequence[str]) -> list[Record]:
    """Of a file that a script keeps: the last record of each measurement, of whichever build."""
    known = [record for record in read(path) if record.get("part") in parts]
    return latest(known, [name for name in names if name != "build"])


def those(records: Iterable[Record], **what: Any) -> list[Record]:
    """The records with these values."""
    return [record for record in records if all(record.get(key) == value for key, value in what.items())]


def values_of(records: Iterable[Record], *names: str) -> list[tuple[Any, ...]]:
    """What stands in these fields, each once, in the order of the file."""
    return list(dict.fromkeys(tuple(record.get(name) for name in names) for record in records))


class Records:
    """The measurements of one command: those that are known already, and those that it makes.

    `names` are the fields that say what is measured; `build` is one of them. Without a file nothing is kept.
    """

    def __init__(self, path: Path | None, names: Sequence[str]) -> None:
        self.path, self.names = path, tuple(names)
        self.used: list[Record] = []  # what this command asked for
        known = read(path) if path is not None and path.exists() else []
        self._known = {self._key(record): record for record in known}

    def _key(self, record: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(record.get(name) for name in self.names)

    def get(self, what: Record, measure: Callable[[], Record]) -> Record:
        """The known record, or what `measure` finds, which is kept at once."""
        if set(what) - set(self.names):
            raise ValueError(f"{sorted(what)}: a measurement is known by {', '.join(self.names)}")
        key = self._key(what)
        if key not in self._known:
            # What identifies the measurement goes last: a planner may report fields of the same name.
            line = json.dumps({**what, **measure(), **what, "machine": machine()})
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                append_line(self.path, line)
            self._known[key] = json.loads(line)  # as it will be read
        self.used.append(self._known[key])
        return self._known[key]


@functools.cache
def core_digest() -> str:
    """Identity of the compiled core, so that a rebuilt one is measured anew."""
    package = importlib.util.find_spec("hstar")
    for folder in (package.submodule_search_locations or []) if package else []:
        for library in sorted(Path(folder).glob("_core*.so")):
            return hashlib.sha256(library.read_bytes()).hexdigest()[:8]
    return ""


def build() -> str:
    """Which hstar this is."""
    return f"hstar {__version__} {core_digest()}".strip()


# --- tables ---------------------------------------------------------------------------------------


def table(header: Sequence[str], rows: Iterable[Sequence[str]], words: Collection[int] = (0,)) -> str:
    """A markdown table; columns in `words` hold words, the others numbers. Empty without rows."""
    rows = list(rows)
    if not rows:
        return ""
    rule = "".join("---|" if i in words else "---:|" for i in range(len(header)))
    first, *others = ("".join(f" {cell} |" if cell else " |" for cell in line) for line in (header, *rows))
    return "\n".join(f"|{line}" for line in (first, rule, *others))


def versions(records: Iterable[Record]) -> str:
    """A line for each build and machine that took part, with the number of its measurements."""
    counts: dict[str, int] = {}
    for record in records:
        line = ", ".join(_versions_of(record))
        counts[line] = counts.get(line, 0) + 1
    return "\n".join(
        f"- {line}: {count:,} measurement{'s' if count > 1 else ''}" for line, count in sorted(counts.items())
    )


def _versions_of(record: Record) -> Iterator[str]:
    where, peer = record.get("machine") or {}, record.get("planner") == "fast_downward"
    yield f"Fast Downward {record['build']}" if peer else str(record.get("build"))
    if "commit" in where and not peer:
        yield f"commit {where['commit']}"
    yield f"{where['processor']} ({where['cores']} cores)" if "processor" in where else "machine not recorded"
    if not peer:
        for name in ("python", *PACKAGES[:2]):  # the libraries; translators and planners have builds
            if name in where:
                yield f"{name} {where[name]}"


# --- command line ---------------------------------------------------------------------------------


def add_file_options(parser: argparse.ArgumentParser, tables: Iterable[str]) -> None:
    """`--out`, `--print` and `--table`, which all scripts understand alike."""
    add = parser.add_argument
    add("--out", type=Path, metavar="FILE", help="keep each measurement here, and go on from what is there")
    add("--print", type=Path, metavar="FILE", dest="file", help="measure nothing, show what this file keeps")
    names = [*tables, VERSIONS]
    add("--table", choices=names, action="append", help="only this one, without its title; may be repeated")


def shown(
    sections: Mapping[str, tuple[str, str]],
    records: Sequence[Record],
    chosen: Sequence[str] | None,
    file: Path | None = None,
) -> str:
    """The sections (a title and a text each) that have a text, or those chosen, which must have one."""
    if not records:
        raise InputError("no measurements of this script", file=file)
    known = {**sections, VERSIONS: ("Measured by:", versions(records))}
    if missing := [name for name in chosen or () if not known[name][1]]:
        raise InputError(f"no measurements for the table {missing[0]}", file=file)
    if chosen:
        return "\n\n".join(known[name][1] for name in chosen)
    return "\n\n".join(f"{title}\n\n{text}" for title, text in known.values() if text)


def finish(main: Callable[[], int]) -> NoReturn:
    """Ends the process with the exit code of `main`; a mistake of the caller becomes one line."""
    try:
        code = main()
    except HstarError as error:
        note(f"{Path(sys.argv[0]).name}: {error}")
        code = error.exit_code
    except KeyboardInterrupt:
        note("stopped; what is finished is in the file of --out, and the same command goes on from there")
        code = _INTERRUPTED
    sys.exit(code)
