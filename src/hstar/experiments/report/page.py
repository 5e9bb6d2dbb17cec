"""The page: one HTML file with its data, style and script in it, which asks nothing of the network.

Python gathers and packs the data (columns, with names and digests once each); the script counts and draws,
because what it shows follows the filters of the reader.
"""

from __future__ import annotations

import re
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from typing import Any, TypeVar

import msgspec

from hstar.experiments.grid_picture import panel_title, script
from hstar.experiments.job import CPU_LIMIT, STEPS, TIME_LIMIT
from hstar.experiments.protocol import TRAINED
from hstar.experiments.report.exports import to_json
from hstar.experiments.report.outcome import outcome
from hstar.experiments.report.runs import Run, rows_of
from hstar.experiments.statistics import (
    METRICS,
    Paired,
    Record,
    changes,
    compare_all,
    grouped,
    mean,
    of_step,
    optimality_of,
    searches_of,
    solved_share,
)
from hstar.experiments.tables import labelling_table, optimality_table
from hstar.units import parse_time

T = TypeVar("T", bound=Hashable)

NUMBERS = (*METRICS, "plan_length", "memory", "seconds")
AGILE_LIMIT = "300s"  # of the agile track of the International Planning Competition
BUDGET = 2_000_000  # cells of steps in a page: of maps, values, expansions and paths
_ASSETS = ("page.html", "page.css", "page.js")
_SAMPLE = ("distinct", "atoms", "sampling_time", "label_error", "exact_labels", "error_by_h")
_TRAINING = ("states", "atoms", "epochs", "best_loss", "seconds", "curve")
_ERRORS = ("mse", "mse_of_batches", "mean_error", "mse_ff", "mse_lmcut")
_COMPARISON = ("states", *_ERRORS, "sigma", "nll", "calibration_error", "calibration", "seconds")


def page(runs: Sequence[Run], title: str | None = None) -> str:
    rows = rows_of(runs)
    searches = searches_of(rows)
    commands = _commands(runs, searches)
    best = outcome(searches, {name for name, words in commands.items() if f"{{{TRAINED}}}" in words})
    name, rest = _titled(runs, title)
    data = {
        "title": name,
        "description": rest,
        "outcome": best.sentence,
        "best": best.names,
        "time_limit": max(map(_time_limit, commands.values()), default=None),
        "eps": _over_eps(rows, commands),
        "taught": _taught(runs, rows),
        "made": time.strftime("%Y-%m-%d %H:%M"),
        "runs": [_about(run) for run in runs],
        **_pack(rows, runs),
        "pairs": _pairs(searches),
        "labelled": labelling_table(rows),
        "costs": optimality_table(rows),
        "steps": steps_of(runs, rows),
        "changes": [_changes(runs[0], run) for run in runs[1:]],
    }
    # A tag in a log must not end the element that holds the data.
    text = to_json(data).decode().replace("<", "\\u003c")
    parts = {name: resources.files(__package__).joinpath(name).read_text() for name in _ASSETS}
    html = parts["page.html"].replace("/*style*/", parts["page.css"])
    html = html.replace("/*steps*/", script()).replace("/*script*/", parts["page.js"])
    return html.replace("/*data*/", text)


def _titled(runs: Sequence[Run], title: str | None) -> tuple[str, str]:
    """The title, and what else the suite says: the first sentence of its description, and the others."""
    about = runs[0].description if len(runs) == 1 and title is None else ""
    first, end, rest = re.match(r"(.*?)([.:?!]|$)(?:\s+|$)(.*)", about).groups()  # type: ignore[union-attr]
    return (
        (f"{first}{end if end in '?!' else ''}", rest)
        if first
        else (title or " and ".join(run.name for run in runs), "")
    )


def _commands(runs: Sequence[Run], searches: Sequence[Record]) -> dict[str, list[str]]:
    """By contestant the words of one of its searches."""
    one = {row["contestant"]: row for row in searches}
    return {
        name: msgspec.json.decode(runs[row["run"]].origins[row["key"]].command) for name, row in one.items()
    }


def _taught(runs: Sequence[Run], rows: Sequence[Record]) -> dict[str, str]:
    """By contestant the name of the training that its model is from."""
    trainings = {row["key"]: row["contestant"] for row in of_step(rows, "train")}
    found = {}
    for row in {row["contestant"]: row for row in searches_of(rows)}.values():
        model = msgspec.json.decode(runs[row["run"]].origins[row["key"]].inputs).get(TRAINED)
        if isinstance(model, dict) and model["job"] in trainings:
            found[row["contestant"]] = trainings[model["job"]]
    return found


def _after(words: Sequence[str], *flags: str) -> str | None:
    """What follows one of these options in a command."""
    return next((words[words.index(flag) + 1] for flag in flags if flag in words[:-1]), None)


def _time_limit(words: Sequence[str]) -> float:
    """Seconds of a search, by its command; those of the agile track where it does not tell."""
    return parse_time(_after(words, TIME_LIMIT, CPU_LIMIT) or AGILE_LIMIT)


def _over_eps(rows: Sequence[Record], commands: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """Of searches on maps: effort and suboptimality by the factor that values are kept within."""
    on_maps = {row["contestant"] for row in searches_of(rows) if row.get("instances")}
    points = []
    for (place, name), seeds in optimality_of(rows).items():
        factor = _after(commands[name], "--eps", "--weight") if name in on_maps else None
        expanded = mean(one.expanded for one in seeds if one.expanded is not None)
        above = mean(one.suboptimality for one in seeds if one.suboptimality is not None)
        if factor is not None and expanded is not None and above is not None:
            series = re.sub(rf"[, ]*(eps|weight)?[ =]*{re.escape(factor)}$", "", name)
            told = {"place": place, "name": series, "contestant": name, "eps": float(factor)}
            points.append({**told, "expanded": expanded, "suboptimality": above})
    return points


def _about(run: Run) -> Record:
    return {
        "name": run.name,
        "folder": str(run.folder),
        "finished": run.finished,
        "missing": run.missing,
        "machines": run.machines,
        "seconds": sum(row["seconds"] for row in run.rows),
    }


def _pack(rows: Sequence[Record], runs: Sequence[Run]) -> Record:
    """Columns of the searches, records of the other jobs, and what it takes to repeat them."""
    searches, trainings, comparisons = (of_step(rows, step) for step in ("search", "train", "accuracy"))
    # Of problems that were to be labelled, what went wrong; a table has the others.
    samples = of_step(rows, "sample") + [row for row in of_step(rows, "label") if row["status"] == "error"]
    learned = [*trainings, *comparisons]
    everything = [*searches, *learned, *samples]
    origins = [runs[row["run"]].origins[row["key"]] for row in everything]
    # What is chosen and coloured are contestants; a sample has a name.
    contestant, contestants = _numbered(row["contestant"] for row in (*searches, *learned))
    instance, instances = _numbered(row["instance"] for row in everything)
    status, statuses = _numbered(row["status"] for row in everything)
    command, commands = _numbered(origin.command for origin in origins)
    files, inputs = _numbered(
        (row["run"], origin.inputs) for row, origin in zip(everything, origins, strict=True)
    )
    domain, domains = _numbered(row["domain"] for row in everything)
    of_instance = dict(zip(instance, domain, strict=True))
    digests: dict[str, int] = {}
    where: dict[str, Sequence[Any]] = {
        "contestant": [*contestant, *[None] * len(samples)],
        "instance": instance,
        "seed": [row["seed"] for row in everything],
        "status": status,
        "run": [row["run"] for row in everything],
        "command": command,
        "files": files,
        "log": [digests.setdefault(row["log"], len(digests)) for row in everything],
        "text": [runs[row["run"]].logs.get(row["key"]) for row in everything],
        "error": [row.get("error") for row in everything],
    }
    columns = {name: values[: len(searches)] for name, values in where.items()}
    columns |= {name: [row.get(name) for row in searches] for name in ("start", *NUMBERS)}
    columns["solved"] = [solved_share(row) for row in searches]

    def records(first: int, part: Sequence[Record], names: Sequence[str]) -> list[dict[str, Any]]:
        return [
            {name: values[i] for name, values in where.items()} | {name: row.get(name) for name in names}
            for i, row in enumerate(part, first)
        ]

    return {
        "contestants": contestants,
        "domains": domains,
        "instances": [[name, of_instance[i]] for i, name in enumerate(instances)],
        "statuses": statuses,
        "commands": [_shell(msgspec.json.decode(one)) for one in commands],
        "inputs": [
            [[name, digests.setdefault(digest, len(digests))] for name, digest in found.items()]
            for found in _files(inputs, runs)
        ],
        "digests": list(digests),
        "numbers": NUMBERS,
        "searches": columns,
        "trainings": records(len(searches), trainings, _TRAINING),
        "comparisons": records(len(searches) + len(trainings), comparisons, _COMPARISON),
        "samples": [
            {**record, "name": row["contestant"]}
            for record, row in zip(
                records(len(searches) + len(learned), samples, _SAMPLE), samples, strict=True
            )
        ],
    }


def _numbered(values: Iterable[T]) -> tuple[list[int], list[T]]:
    """Each value as a number, and the values by number, in the order of their coming."""
    given = list(values)
    numbers = {value: number for number, value in enumerate(dict.fromkeys(given))}
    return [numbers[value] for value in given], list(numbers)


def _files(inputs: Sequence[tuple[int, bytes]], runs: Sequence[Run]) -> Iterator[dict[str, str]]:
    """Of inputs, each with the number of its run, the digests by name."""
    found = [run.files([one for of, one in inputs if of == number]) for number, run in enumerate(runs)]
    return (next(found[number]) for number, _ in inputs)


def _shell(command: Sequence[str]) -> str:
    """As it is typed; files stand in it by their names."""
    known = {"{python}": "python", "{fast-downward}": "fast-downward.py"}
    text = " ".join(known.get(word, word) for word in command)
    return text.replace("python -m hstar", "hstar").replace("{", "").replace("}", "")


def _pairs(searches: Sequence[Record]) -> list[Record]:
    return [
        {"one": one, "two": two, "paired": _plain(pairs)}
        for (one, two), pairs in compare_all(grouped(searches, "contestant")).items()
    ]


def _plain(pairs: Sequence[Paired]) -> list[Record]:
    return [{**asdict(paired), "chance": paired.chance} for paired in pairs]


def _changes(first: Run, second: Run) -> Record:
    found = changes(first.rows, second.rows)
    contestants = [{**asdict(change), "paired": _plain(change.paired)} for change in found]
    return {"before": first.name, "after": second.name, "contestants": contestants}


# --- searches on maps step by step, as the jobs of a suite keep them ------------------------------------


def steps_of(runs: Sequence[Run], rows: Sequence[Record], budget: int = BUDGET) -> list[dict[str, Any]]:
    """Of each set of scenarios the first map, with a panel for each contestant.

    Of several seeds of a training the first is shown. Searches with the same network share their values.
    """
    shown: dict[str, dict[str, Any]] = {}
    for row, found in _kept(runs, _first_seeds(rows)):
        (panel,) = found.pop("panels")
        about = {"instance": row["instance"], "domain": row["domain"], "values": [], "panels": []}
        one = shown.get(row["instance"], found | about)
        if any(one[name] != value for name, value in found.items()):
            continue  # another run has other scenarios under this name
        values, cells = panel.pop("values"), len(panel["explored"]) + len(panel["path"] or ())
        new = values is not None and values not in one["values"]
        budget -= cells + (len(values) if new else 0) + (0 if one["panels"] else len(one["blocked"]))
        if budget < 0:
            break
        if new:
            one["values"].append(values)
        title = panel_title(row["contestant"], len(panel["explored"]), panel["cost"])
        number = None if values is None else one["values"].index(values)
        one["panels"].append({**panel, "contestant": row["contestant"], "title": title, "values": number})
        shown[row["instance"]] = one
    return list(shown.values())


def _first_seeds(rows: Sequence[Record]) -> list[Record]:
    searches = [row for row in searches_of(rows) if row.get("instances")]
    places = grouped(searches, "instance", "contestant").values()
    return [min(runs, key=lambda row: int(row["seed"])) for runs in places]


def _kept(runs: Sequence[Run], rows: Sequence[Record]) -> Iterator[tuple[Record, dict[str, Any]]]:
    contents = [
        run.left(STEPS, [row["key"] for row in rows if row["run"] == number])
        for number, run in enumerate(runs)
    ]
    for row in rows:
        if (content := contents[row["run"]].get(row["key"])) is not None:
            yield row, msgspec.json.decode(content)
