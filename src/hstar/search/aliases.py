"""Named configurations: `hstar.solve(task, alias="lama-first")`, `hstar solve --alias lama-first`.

They are data: those that come with hstar are in `aliases.toml`, and a user's own in a file of the same form,
`aliases.toml` in the folder for settings (or `HSTAR_CONFIG_DIR`), or given by `--alias-file`.

An alias with several steps is an anytime search in the way of LAMA (Richter and Westphal, JAIR 2010): each
step starts anew and gives up paths that cost as much as the best plan; the last step is repeated.
Invariant: if the last step runs out of states, no plan is cheaper, and the result says so by `lower_bound`.
Difference from LAMA: the weighted steps order by the task's own costs so far plus the weighted heuristic,
where LAMA adds 1 to the cost of each step, too.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hstar import _core
from hstar.errors import InputError
from hstar.files import read_bytes
from hstar.options import configured
from hstar.registry import unknown
from hstar.search.config import SearchConfig, limits_left
from hstar.search.heuristics import build
from hstar.search.result import Found, Result, together
from hstar.search.solve import solve
from hstar.spaces.problem import Problem

_SHIPPED = Path(__file__).with_name("aliases.toml")


@dataclass(frozen=True)
class Step:
    """One search of an alias."""

    search: str
    heuristics: tuple[str, ...]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Alias:
    """A named configuration; with several steps an anytime search."""

    name: str
    description: str
    steps: tuple[Step, ...]

    def run(
        self,
        problem: Problem,
        config: SearchConfig | None = None,
        progress: Callable[[_core.Progress], None] | None = None,
        on_plan: Callable[[Found], None] | None = None,
    ) -> Result:
        """Searches; `config` has the limits, and whatever the alias does not say itself."""
        base, last = config or SearchConfig(), len(self.steps) - 1
        native = functools.cache(functools.partial(build, problem))
        results: list[Result] = []
        best: Result | None = None
        for number in itertools.count():  # the last step is repeated until it finds nothing
            step = self.steps[min(number, last)]
            chosen = replace(base, **{**limits_left(base, results), **step.options})
            if best is not None:
                chosen = replace(chosen, max_cost=best.plan_cost)
            heuristics = [native(name, chosen.costs) for name in step.heuristics]
            result = solve(problem, heuristics, step.search, config=chosen, progress=progress)
            results.append(result)
            if result.solved and result.plan is not None:
                best = result
                if last == 0:
                    break
                if on_plan is not None:
                    on_plan(result.found(0, sum(one.search_time for one in results)))
            elif result.status != "incomplete" or number >= last:
                break
        return result if len(results) == 1 else _together(results, best)


def _together(results: Sequence[Result], best: Result | None) -> Result:
    """The best plan with the counts of all steps; how the last one ended says whether it is proven."""
    last, found = results[-1], together(results, best)
    if best is not None:
        ended = last.status in ("solved", "unsolvable", "incomplete")
        found["status"] = "solved" if ended else last.status
        found["lower_bound"] = best.plan_cost if last.status == "unsolvable" else None
    return replace(last, initial_h=results[0].initial_h, **found)


def aliases(file: Path | None = None) -> dict[str, Alias]:
    """All aliases by name: those of hstar, the user's own, those of a file; later ones replace earlier."""
    found = _read(_SHIPPED)
    own = _config_folder() / "aliases.toml"
    for path in ([own] if own.is_file() else []) + ([file] if file is not None else []):
        found |= _read(path)
    return found


def find_alias(name: str, file: Path | None = None) -> Alias:
    known = aliases(file)
    if name not in known:
        raise unknown("alias", name, list(known))
    return known[name]


def _config_folder() -> Path:
    chosen = os.environ.get("HSTAR_CONFIG_DIR")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_config_dir("hstar"))


def _read(path: Path) -> dict[str, Alias]:
    import msgspec

    content = read_bytes(path)
    try:
        tables = msgspec.toml.decode(content)
    except ValueError as error:
        raise InputError(f"cannot read aliases: {error}", file=path) from None
    found = {}
    for name, table in tables.items():
        try:
            found[name] = _alias(name, table)
        except InputError as error:
            raise InputError(f"alias '{name}': {error}", file=path) from None
    return found


def _alias(name: str, table: Any) -> Alias:
    if not isinstance(table, dict):
        raise InputError(f"expected a table, got {table!r:.40}")
    table = dict(table)
    description = f"{table.pop('description', '')} ({table.pop('reference', 'own')})"
    parts = table.pop("steps", [{}])
    if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
        raise InputError("steps must be a list of tables")
    return Alias(name, description, tuple(_step({**table, **part}) for part in parts))


def _step(table: dict[str, Any]) -> Step:
    search, heuristic = table.pop("search", "lazy"), table.pop("heuristic", "ff")
    names = [heuristic] if isinstance(heuristic, str) else heuristic
    if (
        not isinstance(names, list)
        or not names
        or not all(isinstance(name, str) for name in [*names, search])
    ):
        raise InputError("search must be a name, heuristic a name or a list of names")
    configured(SearchConfig, table)
    return Step(search, tuple(names), table)
