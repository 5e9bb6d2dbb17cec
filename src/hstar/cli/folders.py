"""Problems of a domain, as `hstar train FOLDER`, `hstar compare FOLDER` and `hstar learn` take them.

Each problem is labelled by a process of its own: by A* within the limit, otherwise along a plan of
`lama-first`, or along a plan that the user has. A file that cannot be used is named in one line and left out;
only a folder of which nothing is left is an error.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hstar.cli.problems import problem_files
from hstar.cli.runs import run_jobs
from hstar.cli.sample_optimal import valid_plan
from hstar.errors import HstarError, InputError
from hstar.files import read_bytes

if TYPE_CHECKING:
    from hstar.experiments import Job, ProblemSet, Store
    from hstar.sampling.optimal import Optimal
    from hstar.sampling.relational import RelationalData

LABEL_LIMIT = 10.0  # seconds of each problem
_MEMORY = 4 << 30  # bytes of each search for a plan
_PLAN_NAMES = ("{}.plan", "{}.soln", "{}.sol", "{}.plan.1", "{}.sas_plan", "sas_plan.{}", "sas_plan_{}", "{}")


@dataclass(frozen=True)
class Labelled:
    """Data of a folder: how many problems it has, and of how many the labels are upper bounds."""

    data: RelationalData
    problems: int
    upper_bounds: int

    def __str__(self) -> str:
        used = f"{len(self.data.instances)} of {self.problems} problems used"
        bounds = f"; labels of {self.upper_bounds} are upper bounds, from plans not known to be optimal"
        return used + (bounds if self.upper_bounds else "")


def tell(text: str) -> None:
    """One line for people about something that is left out."""
    print(f"hstar: left out: {' '.join(text.split())}", file=sys.stderr)


def read_folder(folder: Path, store: Store) -> dict[Path, ProblemSet]:
    """The problems of a folder by their files; broken ones are named and left out."""
    domain = folder / "domain.pddl"
    if not domain.is_file() and any(folder.glob("*.pddl")):
        raise InputError("no domain.pddl in this folder", file=folder)
    files = [file for _, file in problem_files([folder], domain if domain.is_file() else None)]
    return read_files(domain, files, store)


def read_files(domain: Path, files: Sequence[Path], store: Store) -> dict[Path, ProblemSet]:
    """The problems of a domain by their files; broken ones are named and left out.

    Of files with one name, those after the first have that of their folder before theirs.
    """
    from hstar.experiments.problems import make_problem
    from hstar.spaces.pddl import read_text

    found, errors, names = dict[Path, "ProblemSet"](), list[HstarError](), set[str]()
    for file in files:
        name = file.stem if file.stem not in names else f"{file.resolve().parent.name}-{file.stem}"
        try:
            texts = read_text(domain), read_text(file)
            found[file] = make_problem(name, *texts, store, (str(domain), str(file)))
        except HstarError as error:
            errors.append(error)
        names.add(name)
    if not found:
        raise errors[0]
    for broken in errors:
        tell(str(broken))
    return found


def label_folder(folder: Path, limit: float, plans: Path | None, quiet: bool, rescued: Path) -> Labelled:
    """Labelled states of all problems that get some.

    If it is interrupted, the labels so far go to the file `rescued`, and a `KeyboardInterrupt` says so.
    """
    from hstar.experiments import Store
    from hstar.experiments.protocol import merged
    from hstar.sampling.optimal import EXACT, Optimal

    how = Optimal(time_limit=limit, memory_limit=_MEMORY, siblings=True, satisficing=True)
    with tempfile.TemporaryDirectory(prefix="hstar-train-") as place, Store(Path(place)) as store:
        problems = read_folder(folder, store)
        known = {} if plans is None else plans_of(folder / "domain.pddl", plans, list(problems))
        jobs = label_jobs(problems, how, store, known)
        how_run = argparse.Namespace(jobs=None, cluster=None, retry=False, json=False, quiet=quiet)
        rows = run_jobs(store, jobs, how_run, kept=False)
        if rows is None:
            raise KeyboardInterrupt(_rescue(store, jobs, rescued))
        for file, row in zip(problems, rows, strict=True):
            if not row.get("states"):
                tell(f"{file}: {row.get('error') or row.get('reason') or row['status'].replace('_', ' ')}")
        data = merged(store, jobs) if any(row["status"] == "labelled" for row in rows) else None
    if data is None or not data.instances:
        why = f"no problem got labels within {limit:g} s each (--label-limit); the reasons are above"
        raise InputError(why, file=folder)
    bounds = sum(not instance.columns[EXACT][0] for instance in data.instances)
    return Labelled(data, len(list(folder.glob("*.pddl"))) - 1, bounds)


def _rescue(store: Store, jobs: Sequence[Job], file: Path) -> str:
    """Saves the labels that there are, and says how to use them."""
    from hstar.experiments.protocol import merged
    from hstar.sampling import relational

    if not any(attempt.status == "labelled" for attempt in store.latest().values()):
        return "no problem was labelled yet"
    data = merged(store, jobs)
    relational.save(file, data)
    number = f"{len(data.instances)} of {len(jobs)} problems"
    return f"the labels of {number} are in {file}, which hstar train wl takes instead of the folder"


def label_jobs(
    problems: Mapping[Path, ProblemSet], how: Optimal, store: Store, plans: Mapping[Path, Path]
) -> list[Job]:
    """A job for each problem, along a plan of the user if there is one."""
    from hstar.experiments.protocol import labelling_jobs

    (jobs,) = labelling_jobs("labels", [[one] for one in problems.values()], how).values()
    return [along(job, store, plans.get(file)) for file, job in zip(problems, jobs, strict=True)]


def along(job: Job, store: Store, plan: Path | None) -> Job:
    """The job that labels a problem along a plan of the user, if there is one."""
    if plan is None:
        return job
    inputs = {**job.inputs, "plan": store.put(read_bytes(plan))}
    return replace(job, command=(*job.command, "--plan", "{plan}"), inputs=inputs)


def plans_of(domain: Path, plans: Path, problems: Sequence[Path]) -> Mapping[Path, Path]:
    """The valid plans by problem; others are named and left out, and so are those of no problem."""
    if not plans.is_dir():
        raise InputError("is not a folder of plans", file=plans)
    names = {plans / name.format(file.stem): file for file in problems for name in reversed(_PLAN_NAMES)}
    there = [file for file in sorted(plans.iterdir()) if file.is_file() and not file.name.startswith(".")]
    there = [file for file in there if file.suffix != ".pddl"]
    found: dict[Path, Path] = {}
    for file in there:
        if (problem := names.get(file)) is None:
            tell(f"{file}: no problem has this name")
            continue
        try:
            valid_plan(domain, problem, file)
        except HstarError as error:
            tell(str(error))
            continue
        found[problem] = file
    if not found:
        raise InputError("no plan of any of the problems in this folder", file=plans)
    return found
