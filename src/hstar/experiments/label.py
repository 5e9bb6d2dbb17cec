"""Labelling as jobs: one process for each problem, and the data of all of them put together."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hstar.experiments.fast_downward import GRACE_S
from hstar.experiments.job import HSTAR, OWN_LIMIT, Job
from hstar.experiments.store import Store
from hstar.sampling import relational
from hstar.sampling.optimal import Optimal
from hstar.sampling.relational import RelationalData, merge

LABELS = "labels.data"


def label_job(
    name: str,
    domain: str,
    problem: str,
    labelling: Optimal,
    labels: Mapping[str, Any],
    others: Mapping[str, str] | None = None,
) -> Job:
    """`hstar label` for one problem, given by digests; without a plan it leaves data without states.

    Its name is that of the instance in the data. `others`, by their names: the first of them that gets labels
    takes its place if it gets none.
    """
    problems = {name: problem, **(others or {})}
    given = [f"{{{one}.pddl}}" for one in problems]
    command = (*HSTAR, "label", *given, "--domain", "{domain.pddl}", "--output", f"{{{LABELS}}}")
    limits = ("--time-limit", f"{labelling.time_limit:g}s", OWN_LIMIT, f"{labelling.memory_limit >> 20}M")
    further = [f"--{option}" for option in ("siblings", "upper") if getattr(labelling, option)]
    further += ["--first"] if others else []
    # The greedy searches may take as long again, and so may each problem, with its translation.
    time_limit = labelling.time_limit * (2 if labelling.upper else 1)
    time_limit += (len(problems) - 1) * (time_limit + GRACE_S)
    return Job(
        kind="label",
        command=(*command, *limits, *further, "--keep-empty", "--quiet", "--json"),
        inputs={**{f"{one}.pddl": text for one, text in problems.items()}, "domain.pddl": domain},
        outputs=(LABELS,),
        time_limit=time_limit,
        labels={"step": "label", **labels},
    )


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
