"""Pattern databases of puzzles, built natively and kept on disk.

Of tiles and pancakes they are additive: a set of patterns without common pieces gives a sum, several sets
give the greatest of their sums. Of blocks every move counts for every pattern, and the greatest cost counts.
A built database is one file of the cache: a page with `magic space pattern sha256 newline`, then a byte for
each way that the pieces lie, which the core maps into memory. Like every cache it is only a shortcut:
whatever is wrong with a file costs time, and is a warning at most.

Invariant: costs are taken from a file only if it says that it is of this space and pattern, and is whole.
"""

from __future__ import annotations

import hashlib
import logging
import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.files import cache_folder, remove_parts, replace_file
from hstar.limits import active_limits, cores
from hstar.search.side_by_side import side_by_side
from hstar.spaces.blocks import Blocks
from hstar.spaces.pancake import Pancake
from hstar.spaces.puzzle import Puzzle
from hstar.spaces.tiles import Tiles

logger = logging.getLogger(__name__)

_AT_ONCE = 4  # databases that are built at a time: one of five of 24 tiles takes a quarter of a GB meanwhile
Patterns: TypeAlias = Sequence[Sequence[int]]
Databases: TypeAlias = "_core.TilesDatabases | _core.PancakeDatabases | _core.BlocksDatabases"

# Of the 15-puzzle a set and its mirror image; a fifth of the nodes of three times five tiles.
PUZZLE_15: tuple[Patterns, ...] = (
    ((1, 4, 5, 8, 9, 12), (6, 7, 10, 11, 14, 15), (2, 3, 13)),
    ((4, 1, 5, 2, 6, 3), (9, 13, 10, 14, 11, 15), (8, 12, 7)),
)
# Those of Marom and Rosman (ICAPS 2020): two sets of tiles, two of pancakes, and twelve patterns of blocks.
PUZZLE_24: tuple[Patterns, ...] = (
    ((1, 2, 5, 6, 7), (3, 4, 8, 9, 14), (10, 15, 16, 20, 21), (13, 18, 19, 23, 24), (11, 12, 17, 22)),
    ((1, 2, 3, 7, 8), (5, 6, 10, 11, 12), (15, 16, 17, 20, 21), (18, 19, 22, 23, 24), (4, 9, 13, 14)),
)
PANCAKE_24: tuple[Patterns, ...] = (
    ((0, 1, 2, 3, 4), (5, 6, 7, 8, 9), (10, 11, 12, 13, 14), (15, 16, 17, 18, 19), (20, 21, 22, 23)),
    ((0, 1, 2, 18), (3, 4, 5, 6, 7), (8, 9, 10, 11, 12), (13, 14, 15, 16, 17), (19, 20, 21, 22, 23)),
)
BLOCKS_15: Patterns = (
    *((1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12), (12, 13, 14, 15)),
    *((3, 4, 5, 6), (7, 8, 9, 10), (11, 12, 13, 14), (1, 2, 14, 15)),
    *((2, 3, 4, 5), (6, 7, 8, 9), (10, 11, 12, 13), (1, 13, 14, 15)),
)

# By space: the sets that are known. Blocks have no sums, so that their patterns are one set.
KNOWN: dict[str, Sequence[Patterns]] = {
    "tiles-4x4": PUZZLE_15,
    "tiles-5x5": PUZZLE_24,
    "pancake-24": PANCAKE_24,
    "blocks-15": (BLOCKS_15,),
}
DATABASES_NAME = "databases"  # of them, as a heuristic

# The version goes up when costs, or the order of entries, change.
_MAGIC = b"hstar-database-"
_VERSION = b"2"
_PAGE = 4096
_warned: set[str] = set()
_warning = threading.Lock()


def pattern_databases(puzzle: Puzzle, sets: Sequence[Patterns], *, cache: bool = True) -> Databases:
    """Databases for puzzles of this size and goal, from the cache where they are there; for `idastar`.

    Of blocks all sets count as one. A pattern of blocks has up to four; one of 15 takes seconds to build.
    """
    core: Any = puzzle.core
    if not hasattr(core, "build_database"):
        raise UnsupportedError(f"there are no pattern databases of {puzzle.name}")
    patterns = [pattern for patterns in sets for pattern in patterns]
    known = _databases(core, patterns, cache)
    chosen = [patterns] if isinstance(puzzle, Blocks) else sets
    found: Databases = _core.databases(
        core, [[known[_ordered(pattern)] for pattern in patterns] for patterns in chosen]
    )
    return found


def has_databases(puzzle: Any) -> bool:
    return puzzle.core.database_space in KNOWN


def known_databases(puzzle: Any, *, cache: bool = True) -> Databases:
    """The databases of the known patterns: the greatest sum of additive sets, of blocks the greatest cost."""
    space = puzzle.core.database_space
    if space not in KNOWN:
        *sizes, size = (name.replace("-", ":", 1) for name in (*KNOWN, space))
        raise InputError(f"there are databases for {', '.join(sizes)}, not for {size}")
    return pattern_databases(puzzle, KNOWN[space], cache=cache)


# Types of databases, each with its kind of puzzle; the core looks at the size.
DATABASES = {_core.TilesDatabases: Tiles, _core.PancakeDatabases: Pancake, _core.BlocksDatabases: Blocks}


def _databases(core: Any, patterns: Patterns, cache: bool) -> dict[tuple[int, ...], _core.PatternDatabase]:
    """Each pattern once, in order; those that are not in the cache are built side by side."""
    folder = cache_folder() / "databases" if cache else None
    if folder is not None:
        remove_parts(folder)
    chosen = list(dict.fromkeys(map(_ordered, patterns)))
    limits = active_limits()
    jobs = min(len(chosen), cores(), _AT_ONCE) or 1
    if limits is not None and limits.memory < math.inf:
        jobs = 1  # of several at a time nobody would know what the others are about to take

    def made(pattern: tuple[int, ...], heed: Any) -> _core.PatternDatabase:
        def check(more_bytes: int = 0) -> None:
            if heed is not None:
                heed()
            if limits is not None:
                limits.keep(more_bytes)

        return _database(core, pattern, folder, check)

    return dict(side_by_side(chosen, made, jobs))


def _ordered(pattern: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(pattern))


def _database(core: Any, pattern: tuple[int, ...], folder: Path | None, check: Any) -> _core.PatternDatabase:
    name = "-".join(map(str, pattern))
    about = f"{core.database_space} {name}".encode()
    path = None if folder is None else folder / f"{core.database_space}_{name}.db"
    if path is not None and _holds(path, about):
        mapped: _core.PatternDatabase = core.map_database(pattern, str(path), _PAGE)
        return mapped
    bytes_of_entry = 9 if core.database_space.startswith("tiles") else 1  # a cost; where the blank has been
    check(bytes_of_entry * core.size ** len(pattern))
    built: _core.PatternDatabase = core.build_database(pattern, check)
    if path is not None:
        costs = built.costs
        header = _header(about, hashlib.sha256(costs).hexdigest())
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, header.ljust(_PAGE, b"\0") + costs)
        except OSError as error:
            _warn(f"cannot write the cache in {folder}: {error.strerror}")
    return built


def _warn(message: str) -> None:
    """Once, not for each pattern; patterns are built in threads."""
    with _warning:
        if message not in _warned:
            _warned.add(message)
            logger.warning(message)


def _header(about: bytes, digest: str) -> bytes:
    return b" ".join((_MAGIC + _VERSION, about, digest.encode())) + b"\n"


def _holds(path: Path, about: bytes) -> bool:
    """Whether the costs of this space and pattern are there."""
    try:
        with path.open("rb") as file:
            header = file.read(_PAGE).partition(b"\n")[0] + b"\n"
            version, _, rest = header.partition(b" ")
            if version.startswith(_MAGIC) and version != _MAGIC + _VERSION:
                logger.info("cache entry %s of another hstar is made again", path)
                return False
            costs = hashlib.sha256()
            while block := file.read(1 << 20):
                costs.update(block)
    except FileNotFoundError:
        return False
    except OSError as error:
        _warn(f"cannot read the cache in {path.parent}: {error.strerror}")
        return False
    digest = costs.hexdigest()
    if header == _header(about, digest):
        return True
    held = rest.rpartition(b" ")[0]
    if header == _header(held, digest):
        logger.warning(
            "cache entry %s has the costs of %s, and is made again", path, held.decode(errors="replace")
        )
    else:
        logger.warning("damaged cache entry %s is made again", path)
    return False
