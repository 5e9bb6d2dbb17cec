"""Which seeds of a contestant have all their rows: only those enter a mean.

A run that is looked at before its end, or that was given up, has rows of some starts alone, and these are the
quick ones, since the others are still running. A mean over them flatters. So what is wanted of a seed is
every start that anybody has searched there; a seed that lacks one does not count, and a note says so:
"2 of 3 seeds", or "35 of 50" starts of the fullest seed if no seed is whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Record = Mapping[str, Any]
Start = tuple[str, str]
"""Instance and start."""


def start_of(row: Record) -> Start:
    """Where a search began; sets of scenarios have one row for all their starts."""
    return row["instance"], str(row.get("start", ""))


def starts_of(rows: Iterable[Record]) -> set[Start]:
    """Every start that anybody has searched."""
    return {start_of(row) for row in rows}


@dataclass(frozen=True)
class WholeSeeds:
    """Rows by seed, of the seeds that have all of them, and what is missing elsewhere."""

    rows: Mapping[int, list[Record]]
    begun: int  # seeds
    most: int  # starts that the fullest of the other seeds has
    wanted: int  # starts of a seed

    @property
    def note(self) -> str | None:
        """What a table says beside a figure, or instead of it; None if nothing is missing."""
        if len(self.rows) == self.begun:
            return None
        return f"{len(self.rows)} of {self.begun} seeds" if self.rows else f"{self.most} of {self.wanted}"


def whole_seeds(rows: Iterable[Record], wanted: Collection[Start]) -> WholeSeeds:
    """The rows of one contestant by seed; starts that are not wanted are left out."""
    seeds: dict[int, dict[Start, Record]] = defaultdict(dict)
    for row in rows:
        own = seeds[row["seed"]]
        if (start := start_of(row)) in wanted:
            own[start] = row
    whole = {seed: list(found.values()) for seed, found in seeds.items() if len(found) == len(wanted)}
    most = max((len(found) for seed, found in seeds.items() if seed not in whole), default=0)
    return WholeSeeds(whole, len(seeds), most, len(wanted))
