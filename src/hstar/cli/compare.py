"""`hstar compare`: models and planners on the problems of a folder, and whether the training is repaid."""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.folders import read_folder
from hstar.cli.options import Parser
from hstar.cli.runs import JOBS_FAILED, run_jobs
from hstar.errors import InputError
from hstar.files import MODEL, check_files

if TYPE_CHECKING:
    from hstar.experiments.contestants import Contestant
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


def run(arguments: argparse.Namespace) -> int:
    from hstar.experiments.contestants import check_names
    from hstar.experiments.problems import OWN_START
    from hstar.experiments.protocol import Limits, contestant_jobs
    from hstar.experiments.store import Store
    from hstar.models.trained_model import load_model
    from hstar.spaces.task import load_task

    if not arguments.folder.is_dir():
        raise InputError("is not a folder of problems", file=arguments.folder)
    contestants = [_contestant(word) for word in dict.fromkeys(arguments.contestants)]
    names = [one.name for one in contestants]
    check_names("contestants", names)
    models = {one.name: load_model(one.model) for one in contestants if one.model is not None}
    limits = Limits(arguments.time_limit, arguments.memory_limit)
    with tempfile.TemporaryDirectory(prefix="hstar-compare-") as place, Store(Path(place)) as store:
        problems = read_folder(arguments.folder, store)
        first = next(iter(problems))
        for model in models.values():
            model.space.check(load_task(first.parent / "domain.pddl", first, unit_cost=True))
        jobs = [
            job
            for problem in problems.values()
            for one in contestants
            # With the costs of actions, as `hstar solve` has it.
            for job in contestant_jobs(
                one, [replace(problem, starts={OWN_START: problem.lesson.source})], store, limits=limits
            )
        ]
        rows = run_jobs(store, jobs, slots=arguments.jobs, quiet=arguments.quiet)
    if rows is None:
        raise KeyboardInterrupt
    about = {name: model.summary for name, model in models.items()}
    training = {name: one.get("with_labelling_s", one.get("time_s")) for name, one in about.items()}
    record = comparison(rows, names, training, arguments.time_limit)
    print(json.dumps(record) if arguments.json else _in_words(record), end="\n" if arguments.json else "")
    return JOBS_FAILED if any(one["errors"] for one in record["contestants"]) else 0


def _contestant(word: str) -> Contestant:
    from hstar.experiments.contestants import Contestant
    from hstar.models.trained_model import load_model
    from hstar.registry import unknown
    from hstar.search.aliases import aliases
    from hstar.search.heuristics import heuristics

    if word.endswith(MODEL):
        check_files(Path(word))
        if (space := load_model(word).space).kind != "domain":
            raise InputError(f"is for {space}, not for a domain", file=word)
        name, ff = Path(word).stem, ("--heuristic", "ff")
        return Contestant(name, model=Path(word), search="lazy", preferred=True, search_options=ff)
    symbolic = {info.name: info for info in heuristics()}
    if word in symbolic:
        preferred = symbolic[word].preferred_operators
        return Contestant(word, heuristic=word, search="lazy", preferred=preferred)
    if word in aliases():
        return Contestant(word, search_options=("--alias", word))
    raise unknown("contestant", word, [*symbolic, *aliases(), f"a {MODEL} file"])


def comparison(
    rows: Sequence[Record], names: Sequence[str], training: Mapping[str, float | None], limit: float
) -> dict[str, Any]:
    """Plain data: figures of each contestant, and of each model after how many problems it is repaid.

    `training` is how long that took, by name of a model. A time is from the start of the process to the plan.
    An unsolved problem counts with the whole limit, so that gains over a contestant that solves less are at
    least what is said.
    """
    from hstar.experiments.statistics import grouped, mean, solved_share

    runs, problems = grouped(rows, "contestant"), grouped(rows, "instance")
    common = {place for place, here in problems.items() if all(map(solved_share, here))}
    figures = [
        {
            "name": name,
            "problems": len(runs[name]),
            "solved": sum(row["status"] == "solved" for row in runs[name]),
            "errors": sum(row["status"] == "error" for row in runs[name]),
            "mean_time": mean(row["seconds"] if solved_share(row) else limit for row in runs[name]),
            "mean_cost_common": mean(row["cost"] for row in runs[name] if row["instance"] in common),
            "training_time": training.get(name),
        }
        for name in names
    ]
    symbolic = [one for one in figures if one["name"] not in training]
    best = min(symbolic, key=lambda one: (-one["solved"], one["mean_time"]), default=None)
    models = [one for one in figures if one["name"] in training]
    return {
        "problems": len(problems),
        "common": len(common),
        "contestants": figures,
        "verdicts": [] if best is None else [_verdict(one, best) for one in models],
    }


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
