"""Labelling as jobs: one process for each problem, and the data of all of them put together."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from hstar.errors import InputError
from hstar.experiments.fast_downward import GRACE_S
from hstar.experiments.job import HSTAR, OWN_LIMIT, TIME_LIMIT, Job, Made
from hstar.experiments.problems import ProblemSet, Source
from hstar.experiments.store import Store
from hstar.sampling import relational
from hstar.sampling.optimal import Optimal
from hstar.sampling.relational import RelationalData, merge

LABELS = "labels.data"


def labelling_jobs(
    name: str,
    problems: Sequence[ProblemSet],
    labelling: Optimal,
    others: Mapping[str, Sequence[ProblemSet]] | None = None,
) -> dict[str, list[Job]]:
    """By domain: one job for each problem; a problem without a plan within the limits leaves empty data.

    `others`: by the name of a problem those that may take its place then, of the same domain file.
    """
    others = others or {}
    names = [one.name for problem in problems for one in (problem, *others.get(problem.name, ()))]
    if twice := next((one for one, number in Counter(names).items() if number > 1), None):
        raise InputError(f"two problems are called {twice}")
    jobs: dict[str, list[Job]] = {}
    for problem in problems:
        attempts = (problem, *others.get(problem.name, ()))
        jobs.setdefault(problem.domain, []).append(_label_job(name, attempts, labelling))
    return jobs


def _label_job(name: str, attempts: Sequence[ProblemSet], labelling: Optimal) -> Job:
    """`hstar label` for a problem; without a plan it leaves data without states.

    Its name is that of the instance in the data. The first of several that gets labels takes the place of
    those before it.
    """
    problem = attempts[0]
    texts = {
        f"{one.name.partition('/')[2]}.pddl": one.lesson.source.files["problem.pddl"] for one in attempts
    }
    given = [f"{{{text}}}" for text in texts]
    command = (*HSTAR, "sample", "optimal", *given, "--domain", "{domain.pddl}", "--output", f"{{{LABELS}}}")
    limits = (TIME_LIMIT, f"{labelling.time_limit:g}s", OWN_LIMIT, f"{labelling.memory_limit >> 20}M")
    further = [f"--{option}" for option in ("siblings", "upper") if getattr(labelling, option)]
    further += ["--first"] if len(attempts) > 1 else []
    # The greedy searches may take as long again, and so may each problem, with its translation.
    time_limit = labelling.time_limit * (2 if labelling.upper else 1)
    time_limit += (len(attempts) - 1) * (time_limit + GRACE_S)
    return Job(
        kind="label",
        command=(*command, *limits, *further, "--keep-empty", "--quiet", "--json"),
        inputs={**texts, "domain.pddl": problem.lesson.source.files["domain.pddl"]},
        outputs=(LABELS,),
        time_limit=time_limit,
        labels={
            "step": "label",
            "domain": problem.domain,
            "instance": problem.name,
            "contestant": name,
            "seed": 0,
        },
    )


def labels_of(jobs: Sequence[Job], name: str = "labels", flag: str | None = None) -> Source:
    """What labelling leaves, by names of files, each after a flag if there is one."""
    files = {f"{name}{i}.data": Made(job.key, LABELS) for i, job in enumerate(jobs)}
    return Source(tuple(word for file in files for word in ([flag] if flag else []) + [f"{{{file}}}"]), files)


def merged(store: Store, jobs: Sequence[Job]) -> RelationalData:
    """What the jobs have left, in their order."""
    latest = store.latest()
    found = [latest[job.key].outputs.get(LABELS) for job in jobs if job.key in latest]
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        for digest in filter(None, found):
            path = Path(folder, LABELS)
            path.write_bytes(store.get(digest))
            parts.append(relational.load(path))
    return merge(parts)
