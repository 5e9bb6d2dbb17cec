"""What a client may ask the service for, and the command that answers it.

Clients are not trusted. Names are looked up before a search starts, a heuristic never names a file of the
server, and every value is one word of the command with its option in front of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hstar.errors import InputError
from hstar.limits import cores
from hstar.options import Checked, option
from hstar.registry import unknown
from hstar.search.aliases import aliases
from hstar.search.heuristics import heuristics
from hstar.search.solve import searches
from hstar.units import format_bytes, format_time, parse_memory, parse_time

_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON can write it, UTF-8 cannot
_NUMBERS = ("bound", "weight")
_SWITCHES = ("anytime", "preferred")
_TEXTS = ("domain", "problem")
OPTIONS = ("search", "heuristic", "alias", *_NUMBERS, *_SWITCHES, "time_limit", "memory_limit")


@dataclass(frozen=True)
class ServiceLimits(Checked):
    """What one client, and all of them together, may use. Times in seconds, sizes in bytes."""

    time_limit: float = option(60.0, "Greatest wall-clock time of a search, and the default.", above=0)
    memory_limit: int = option(2 << 30, "Greatest resident memory of a search, and the default.", least=1)
    jobs: int = option(min(cores(), 8), "Number of searches that run at a time.", least=1)
    queue: int = option(200, "Number of searches that may wait; further ones are refused with code 429.")
    body_limit: int = option(
        4 << 20, "Greatest size of a request; larger ones are refused with code 413.", least=1
    )
    keep: int = option(1000, "Number of answers that are kept; the oldest are given up.")
    keep_time: float = option(600.0, "Time for which an answer is kept.", least=0)
    keep_bytes: int = 64 << 20  # of all answers together


@dataclass(frozen=True)
class SolveRequest:
    """A checked request: the PDDL, the words of `hstar solve` after its files, and its limits."""

    domain: str
    problem: str
    words: tuple[str, ...]
    models: tuple[str, ...]  # by name
    time: float
    memory: int


def read_request(asked: Any, limits: ServiceLimits, models: Mapping[str, Path]) -> SolveRequest:
    """The request of a JSON object; an `InputError` that names the field if it cannot be answered."""
    if not isinstance(asked, dict):
        raise InputError('the body must be a JSON object: {"domain": TEXT, "problem": TEXT}')
    for name in asked:
        if name not in (*_TEXTS, *OPTIONS):
            raise unknown("field", str(name), [*_TEXTS, *OPTIONS])
    for name in _TEXTS:
        check_text(name, asked.get(name))
    time, memory = budget(asked, limits)
    words = [f"--time-limit={time}", f"--memory-limit={memory >> 20}"]
    if (search := asked.get("search")) is not None:
        words.append(f"--search={_name('search', search, [info.name for info in searches()])}")
    if (alias := asked.get("alias")) is not None:
        words.append(f"--alias={_name('alias', alias, list(aliases()))}")
    used = _heuristics(asked.get("heuristic"), models)
    words += [f"--heuristic={models.get(name, name)}" for name in used]
    for name in _NUMBERS:
        if (number := asked.get(name)) is not None:
            words.append(f"--{name}={_number(name, number)}")
    words += [f"--{name}" for name in _SWITCHES if _switch(name, asked.get(name))]
    chosen = tuple(name for name in used if name in models)
    return SolveRequest(asked["domain"], asked["problem"], tuple(words), chosen, time, memory)


def check_text(name: str, text: Any) -> None:
    """An `InputError` unless the value of a field is text that can be written to a file."""
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"'{name}' must be the text of a {'plan' if name == 'plan' else f'PDDL {name}'}")
    if _SURROGATE.search(text):
        raise InputError(f"'{name}' has half of a character (a surrogate) in it")


def budget(asked: Mapping[str, Any], limits: ServiceLimits) -> tuple[float, int]:
    """Seconds and bytes that a request may use: what it asks for, up to the limits."""
    time = _limit(asked, "time_limit", parse_time, limits.time_limit, format_time)
    return time, int(_limit(asked, "memory_limit", parse_memory, limits.memory_limit, format_bytes))


def _limit(asked: Mapping[str, Any], name: str, parse: Any, most: Any, show: Any) -> Any:
    value = asked.get(name)
    if value is None:
        return most
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InputError(f"'{name}' must be a number or a text such as '30s' or '512M'")
    try:
        limit = parse(str(value))
    except InputError as error:
        raise InputError(f"'{name}': {error.message}") from None
    if not 0 < limit <= most:
        raise InputError(f"'{name}' must be above 0 and at most {show(most)} on this server")
    return limit


def _name(kind: str, value: Any, known: list[str]) -> str:
    if not isinstance(value, str):
        raise InputError(f"'{kind}' must be a name: {', '.join(known)}")
    if value not in known:
        raise unknown(kind, value, known)
    return value


def _heuristics(value: Any, models: Mapping[str, Path]) -> list[str]:
    """One name or several; those of models are the ones that the server was started with."""
    if value is None:
        return []
    known = [*(info.name for info in heuristics()), *models]
    names = value if isinstance(value, list) else [value]
    return [_name("heuristic", name, known) for name in names]


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"'{name}' must be a number") from None


def _switch(name: str, value: Any) -> bool:
    if value in (None, False, "", "false", "0"):
        return False
    if value in (True, "true", "1"):
        return True
    raise InputError(f"'{name}' must be true or false")


def manifest(models: Mapping[str, Path]) -> dict[str, Any]:
    """The package as planutils has it. Optional fields are `options`, since its client sends all `args`."""
    text = "PDDL text of the {}."
    args = [{"name": name, "type": "file", "description": text.format(name)} for name in _TEXTS]
    choices = {
        "search": [info.name for info in searches()],
        "heuristic": [*(info.name for info in heuristics()), *models],
        "alias": list(aliases()),
    }
    options: list[dict[str, Any]] = []
    for name in OPTIONS:
        option: dict[str, Any] = {"name": name, "type": "string", "optional": True}
        if name in choices:
            shown = [{"display_value": one, "value": one} for one in choices[name]]
            option |= {"type": "categorical", "choices": shown}
        options.append(option)
    solve = {
        "args": args,
        "options": options,
        "call": "hstar solve {domain} {problem}",
        "return": {"type": "generic", "files": "plan"},
    }
    return {
        "package_name": "hstar",
        "name": "hstar",
        "description": "A heuristic-search planner that can learn its heuristic.",
        "runnable": True,
        "install-size": "",
        "dependencies": [],
        "endpoint": {"services": {"solve": solve}},
    }
