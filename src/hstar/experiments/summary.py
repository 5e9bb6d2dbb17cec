"""What an evaluation comes to: coverage by instance, domain and overall; effort on what all have solved.

Coverage of a domain is the mean over its instances, the overall figure the mean over the domains, so that
domains with many instances do not rule. Over several seeds of a training, coverage is the mean over them.
Expansions and plan lengths are compared on the starts that every contestant solved (geometric mean, and
mean); rates are over all searches of at least a tenth of a second.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]
Table = list[list[str]]

_LEAST_TIME_S = 0.1


def summarise(records: Sequence[Record]) -> str:
    """Markdown tables."""
    searches = [record for record in records if record["step"] == "search"]
    trainings = [record for record in records if record["step"] == "train"]
    if not searches:
        return "Nothing has been searched.\n"
    names = list(dict.fromkeys(record["contestant"] for record in records))
    parts = [
        "## Coverage (%)\n",
        _markdown(_coverage_table(searches, names)),
        "## Effort\n",
        _markdown(_effort_table(searches, trainings, names)),
    ]
    if errors := [record for record in records if record["status"] == "error"]:
        lines = [f"- {_where(record)}: {record.get('error', 'no message')}" for record in errors]
        parts += ["## Errors\n", *lines, ""]
    return "\n".join(parts)


def coverage(searches: Iterable[Record]) -> dict[str, dict[str, float]]:
    """Per contestant and instance: the share of starts that were solved, in percent."""
    solved: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for record in searches:
        solved[record["contestant"]][record["instance"]].append(record["status"] == "solved")
    return {
        name: {instance: 100 * sum(runs) / len(runs) for instance, runs in instances.items()}
        for name, instances in solved.items()
    }


def _coverage_table(searches: Sequence[Record], names: Sequence[str]) -> Table:
    shares = coverage(searches)
    domains: dict[str, list[str]] = defaultdict(list)
    for record in searches:
        if record["instance"] not in domains[record["domain"]]:
            domains[record["domain"]].append(record["instance"])

    def mean(name: str, instances: Sequence[str]) -> float | None:
        """The mean over instances; None if one of them was not run."""
        found = [shares.get(name, {}).get(instance) for instance in instances]
        known = [value for value in found if value is not None]
        return sum(known) / len(known) if len(known) == len(instances) else None

    table = [["", *names]]
    for domain, instances in domains.items():
        for instance in instances:
            table.append([instance, *(_number(mean(name, [instance])) for name in names)])
        if len(instances) > 1:
            table.append([f"{domain}, mean", *(_number(mean(name, instances)) for name in names)])
    if len(domains) > 1:
        overall = []
        for name in names:
            means = [mean(name, instances) for instances in domains.values()]
            known = [value for value in means if value is not None]
            overall.append(_number(sum(known) / len(known) if len(known) == len(means) else None))
        table.append(["**mean over domains**", *overall])
    return table


def _effort_table(searches: Sequence[Record], trainings: Sequence[Record], names: Sequence[str]) -> Table:
    solved_by: dict[tuple[str, str], set[str]] = defaultdict(set)
    for record in searches:
        if record["status"] == "solved":
            solved_by[record["instance"], record["start"]].add(record["contestant"])
    common = {start for start, contestants in solved_by.items() if contestants >= set(names)}
    table = [["", *names]]
    mine = {name: [record for record in searches if record["contestant"] == name] for name in names}
    shared = {
        name: [record for record in runs if (record["instance"], record["start"]) in common]
        for name, runs in mine.items()
    }
    table.append(
        [
            f"expansions, geometric mean ({len(common)} starts solved by all)",
            *(_number(_geometric(record["expansions"] for record in shared[name])) for name in names),
        ]
    )
    lengths = (_mean(record["plan_length"] for record in shared[name]) for name in names)
    table.append(["plan length, mean (same starts)", *map(_number, lengths)])
    table.append(["evaluations per second, geometric mean", *(_number(_rate(mine[name])) for name in names)])
    if trainings:
        times = (_mean(run["seconds"] for run in trainings if run["contestant"] == name) for name in names)
        table.append(["training, mean seconds", *map(_number, times)])
    return table


def _rate(runs: Iterable[Record]) -> float | None:
    """Per second of processor time where it is known."""
    rates = []
    for record in runs:
        seconds = record.get("cpu_time") or record.get("search_time") or 0.0
        if seconds >= _LEAST_TIME_S and record.get("evaluations"):
            rates.append(record["evaluations"] / seconds)
    return _geometric(rates)


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None


def _geometric(values: Iterable[float]) -> float | None:
    logs = [math.log(max(value, 1)) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else None


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}".removesuffix(".0")


def _where(record: Record) -> str:
    return f"{record['instance']} {record.get('start', 'training')}, {record['contestant']}"


def _markdown(table: Table) -> str:
    header, *rows = table
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
