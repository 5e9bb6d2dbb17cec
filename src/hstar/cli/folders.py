"""Problems of a domain, as `hstar train FOLDER`, `hstar compare FOLDER` and `hstar learn` take them.

Each problem is labelled by a process of its own: by A* within the limit, otherwise along a plan of
`lama-first`, or along a plan that the user has. A file that cannot be used is named in one line and left out;
only a folder of which nothing is left is an error.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hstar.cli.problems import problem_files
from hstar.cli.runs import run_jobs
from hstar.errors import HstarError, InputError
from hstar.files import check_files, read_bytes

if TYPE_CHECKING:
    from hstar.experiments.job import Job
    from hstar.experiments.problems import ProblemSet
    from hstar.experiments.store import Store
    from hstar.sampling.optimal import Optimal
    from hstar.sampling.relational import RelationalData

LABEL_LIMIT = 10.0  # seconds of each problem
_MEMORY = 4 << 30  # bytes of each search for a plan
_PLAN_NAMES = ("{}.plan", "{}.soln", "{}.sol", "{}.plan.1", "{}.sas_plan", "sas_plan.{}", "sas_plan_{}", "{}")


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


def label_folder(
    folder: Path, limit: float, plans: Path | None, quiet: bool, rescued: Path
) -> tuple[RelationalData, str]:
    """Labelled states of all problems that get some, and how many those are, in words.

    If it is interrupted, the labels so far go to the file `rescued`, and a `KeyboardInterrupt` says so.
    """
    from hstar.experiments.protocol import merged
    from hstar.experiments.store import Store
    from hstar.sampling import relational
    from hstar.sampling.optimal import Optimal

    how = Optimal(time_limit=limit, memory_limit=_MEMORY, siblings=True, satisficing=True)
    with tempfile.TemporaryDirectory(prefix="hstar-train-") as place, Store(Path(place)) as store:
        problems = read_folder(folder, store)
        known = {} if plans is None else plans_of(folder / "domain.pddl", plans, list(problems))
        jobs = label_jobs(problems, how, store, known)
        rows = run_jobs(store, jobs, quiet=quiet)
        data = merged(store, jobs)
    if rows is None:
        if data is None:
            raise KeyboardInterrupt("no problem was labelled yet")
        relational.save(rescued, data)
        number = f"{len(data.instances)} of {len(jobs)} problems"
        used = "which hstar train wl takes instead of the folder"
        raise KeyboardInterrupt(f"the labels of {number} are in {rescued}, {used}")
    for file, row in zip(problems, rows, strict=True):
        if not row.get("states"):
            tell(f"{file}: {row.get('error') or row.get('reason') or row['status'].replace('_', ' ')}")
    if data is None:
        why = f"no problem got labels within {limit:g} s each (--label-limit); the reasons are above"
        raise InputError(why, file=folder)
    number = f"{len(data.instances)} of {len(list(folder.glob('*.pddl'))) - 1} problems used"
    return data, number + upper_bounds(data)


def upper_bounds(data: RelationalData) -> str:
    """Of how many problems the labels are upper bounds, to follow a text about the data."""
    from hstar.sampling.optimal import EXACT

    number = sum(not one.columns[EXACT][0] for one in data.instances if EXACT in one.columns)
    return f"; labels of {number} are upper bounds, from plans not known to be optimal" if number else ""


def label_jobs(
    problems: Mapping[Path, ProblemSet], how: Optimal, store: Store, plans: Mapping[Path, Path]
) -> list[Job]:
    """A job for each problem of a domain, along a plan of the user if there is one."""
    from hstar.experiments.protocol import labelling_jobs

    by_domain = labelling_jobs("labels", [[one] for one in problems.values()], how)
    if len(by_domain) > 1:
        raise InputError(f"problems of several domains: {', '.join(by_domain)}")
    (jobs,) = by_domain.values()
    for number, (file, job) in enumerate(zip(problems, jobs, strict=True)):
        if file in plans:
            inputs = {**job.inputs, "plan": store.put(read_bytes(plans[file]))}
            jobs[number] = replace(job, command=(*job.command, "--plan", "{plan}"), inputs=inputs)
    return jobs


def valid_plan(domain: Path, problem: Path, file: Path) -> list[str]:
    """The steps of a plan file; an `InputError` that names the file if it is no plan of the problem."""
    from hstar.spaces.lifted_state import validate_pddl
    from hstar.spaces.pddl import read_task
    from hstar.spaces.validate import read_plan

    check_files(file)
    steps = read_plan(file)
    verdict = validate_pddl(read_task(domain, problem), steps)
    if not verdict.valid:
        raise InputError(f"no plan of {problem.name}: {verdict.reason}", file=file)
    return steps


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
