"""`hstar compare`: models and planners on the problems of a folder, and whether the training is repaid."""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.folders import read_folder
from hstar.cli.options import Parser
from hstar.cli.runs import JOBS_FAILED, run_jobs
from hstar.errors import InputError
from hstar.files import MODEL, check_files, read_bytes

if TYPE_CHECKING:
    from hstar.experiments import Job, ProblemSet, Store
    from hstar.experiments.job import Record

DESCRIPTION = """\
Solves every problem of FOLDER (with domain.pddl) with each CONTESTANT and prints coverage, time and plan
cost. A CONTESTANT is a model file, which runs as in `hstar solve` (lazy search, alternating with ff), a
heuristic such as ff (lazy search with preferred operators), or an alias such as lama-first. For each model,
hstar says after how many problems its training is repaid, compared with the best contestant that did not
learn."""
EXAMPLES = ("hstar compare folder model.hstar ff lama-first --time-limit 5s",)


def configure(parser: Parser) -> None:
    add = parser.option
    parser.usage = f"{parser.prog} [OPTION ...] FOLDER CONTESTANT ..."
    add("folder", "FOLDER", "Folder with domain.pddl and problems.", type=Path)
    add("contestants", "CONTESTANT", "Model files, heuristics and aliases.", nargs="+")
    add("--time-limit -t", "T", "Wall-clock time limit of each search.", 60.0)
    add("--memory-limit -m", "M", "Memory limit of each search.", 4 << 30)
    add("--jobs -j", "N", "Number of searches at a time.", 1)
    add("--json", None, "Print one JSON object instead of tables.")
    add("--quiet -q", None, "Show no progress.")


@dataclass(frozen=True)
class _Contestant:
    """What a contestant adds to `hstar solve`; of a model, how long its training took, if that is known."""

    name: str
    words: tuple[str, ...]
    model: Path | None = None
    training_s: float | None = None


def run(arguments: argparse.Namespace) -> int:
    from hstar.experiments import Store

    if not arguments.folder.is_dir():
        raise InputError("is not a folder of problems", file=arguments.folder)
    contestants = [_contestant(word) for word in dict.fromkeys(arguments.contestants)]
    names = [one.name for one in contestants]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two contestants are called {twice}")
    with tempfile.TemporaryDirectory(prefix="hstar-compare-") as place, Store(Path(place)) as store:
        problems = read_folder(arguments.folder, store)
        for one in contestants:
            _check_fit(one, next(iter(problems)))
        jobs = [_job(one, problem, store, arguments) for problem in problems.values() for one in contestants]
        shown = argparse.Namespace(
            jobs=arguments.jobs, cluster=None, retry=False, json=False, quiet=arguments.quiet
        )
        rows = run_jobs(store, jobs, shown, kept=False)
    if rows is None:
        raise KeyboardInterrupt
    record = comparison(rows, contestants, arguments.time_limit)
    print(json.dumps(record) if arguments.json else _in_words(record), end="\n" if arguments.json else "")
    return JOBS_FAILED if any(one["errors"] for one in record["contestants"]) else 0


def _contestant(word: str) -> _Contestant:
    from hstar.models.trained_model import load_model
    from hstar.registry import unknown
    from hstar.search.aliases import aliases
    from hstar.search.heuristics import heuristics

    if word.endswith(MODEL):
        check_files(Path(word))
        model = load_model(word)
        if model.space.kind != "domain":
            raise InputError(f"is for {model.space}, not for a domain", file=word)
        seconds = model.summary.get("with_labelling_s", model.summary.get("time_s"))
        return _Contestant(Path(word).stem, ("--heuristic", "{model}"), Path(word), seconds)
    symbolic = {info.name: info for info in heuristics()}
    if word in symbolic:
        preferred = ("--preferred",) if symbolic[word].preferred_operators else ()
        return _Contestant(word, ("--heuristic", word, "--search", "lazy", *preferred))
    if word in aliases():
        return _Contestant(word, ("--alias", word))
    raise unknown("contestant", word, [*symbolic, *aliases(), f"a {MODEL} file"])


def _check_fit(one: _Contestant, problem: Path) -> None:
    """An `InputError` if a model is for another domain."""
    if one.model is None:
        return
    from hstar.models.trained_model import load_model
    from hstar.spaces.task import load_task

    load_model(one.model).space.check(load_task(problem.parent / "domain.pddl", problem, unit_cost=True))


def _job(one: _Contestant, problem: ProblemSet, store: Store, arguments: argparse.Namespace) -> Job:
    from hstar.experiments import Job
    from hstar.experiments.job import HSTAR, OWN_LIMIT, TIME_LIMIT
    from hstar.experiments.protocol import about

    source = problem.lesson.source
    limits = (TIME_LIMIT, f"{arguments.time_limit:g}s", OWN_LIMIT, f"{arguments.memory_limit >> 20}M")
    command = (
        *HSTAR,
        "solve",
        *source.words,
        *one.words,
        *limits,
        "--plan-file",
        "{plan}",
        "--quiet",
        "--json",
    )
    return Job(
        kind="search",
        command=command,
        inputs={**source.files, **({} if one.model is None else {"model": store.put(read_bytes(one.model))})},
        outputs=("plan",),
        time_limit=arguments.time_limit,
        labels=about(problem.domain, problem.name, one.name, 0, "search") | {"start": "own"},
    )


def comparison(rows: Sequence[Record], contestants: Sequence[_Contestant], limit: float) -> dict[str, Any]:
    """Plain data: figures of each contestant, and of each model after how many problems it is repaid.

    A time is from the start of the process to the plan. An unsolved problem counts with the whole limit, so
    that gains over a contestant that solves less are at least what is said.
    """
    own = {one.name: [row for row in rows if row["contestant"] == one.name] for one in contestants}
    solved = {
        name: {row["instance"] for row in found if row["status"] == "solved"} for name, found in own.items()
    }
    common = set.intersection(*solved.values())
    figures = []
    for one in contestants:
        shared = [row for row in own[one.name] if row["instance"] in common]
        figures.append(
            {
                "name": one.name,
                "problems": len(own[one.name]),
                "solved": len(solved[one.name]),
                "errors": sum(row["status"] == "error" for row in own[one.name]),
                "mean_time": _mean(_seconds(row, limit) for row in own[one.name]),
                "mean_cost_common": _mean(row["cost"] for row in shared),
                "training_time": one.training_s,
            }
        )
    symbolic = [one for one, given in zip(figures, contestants, strict=True) if given.model is None]
    best = min(symbolic, key=lambda one: (-one["solved"], one["mean_time"]), default=None)
    models = [one for one, given in zip(figures, contestants, strict=True) if given.model is not None]
    verdicts = [] if best is None else [_verdict(one, best) for one in models]
    return {
        "problems": len({row["instance"] for row in rows}),
        "common": len(common),
        "contestants": figures,
        "verdicts": verdicts,
    }


def _seconds(row: Record, limit: float) -> float:
    return float(row["seconds"]) if row["status"] == "solved" else limit


def _mean(values: Iterable[float]) -> float | None:
    given = list(values)
    return sum(given) / len(given) if given else None


def _verdict(model: Mapping[str, Any], best: Mapping[str, Any]) -> dict[str, Any]:
    """A model beside the best contestant that did not learn."""
    gain = best["mean_time"] - model["mean_time"]
    worse = (model["solved"], gain) < (best["solved"], 0.0)
    seconds = model["training_time"]
    repaid = math.ceil(seconds / gain) if gain > 0 and not worse and seconds is not None else None
    return {
        "model": model["name"],
        "best": best["name"],
        "worse": worse,
        "gain": gain,
        "repaid_after": repaid,
    }


def _in_words(record: Mapping[str, Any]) -> str:
    from hstar.experiments.tables import markdown, number

    table = [["", "solved", "errors", "mean time, s", f"mean cost ({record['common']} solved by all)"]]
    for one in record["contestants"]:
        figures = (number(one["mean_time"], 2), number(one["mean_cost_common"]))
        table.append([one["name"], f"{one['solved']} of {one['problems']}", str(one["errors"]), *figures])
    lines = [markdown(table).rstrip("\n"), ""]
    training = {one["name"]: one["training_time"] for one in record["contestants"]}
    for said in record["verdicts"]:
        beside = f"{said['model']} is worse than {said['best']}, which needs no training."
        if not said["worse"]:
            beside = f"{said['model']} saves {said['gain']:.2f} s a problem compared with {said['best']}"
            seconds = training[said["model"]]
            if said["repaid_after"] is not None:
                beside += (
                    f"; its training of {seconds:.1f} s is repaid after {said['repaid_after']} problems."
                )
            else:
                beside += "; how long its training took is not known." if seconds is None else "."
        lines.append(beside)
    return "\n".join(lines).rstrip("\n") + "\n"
