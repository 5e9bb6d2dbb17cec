"""Labelling as jobs: one process for each problem, and the data of all of them put together."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from hstar.errors import InputError
from hstar.experiments.job import HSTAR, OWN_LIMIT, Job
from hstar.experiments.store import Store
from hstar.sampling import relational
from hstar.sampling.relational import RelationalData, merge

LABELS = "labels.data"


def label_jobs(
    problems: Sequence[tuple[Path, Path]], store: Store, time_limit: float, memory_limit: int
) -> list[Job]:
    """`hstar label` for each problem, given with its domain."""
    jobs, names = [], set()
    for domain, problem in problems:
        name = problem.stem
        if name in names:
            raise InputError(f"two problems are called {name}", file=problem)
        names.add(name)
        # The name is that of the instance in the data.
        command = (
            *HSTAR,
            "label",
            f"{{{name}.pddl}}",
            "--domain",
            "{domain.pddl}",
            "--output",
            f"{{{LABELS}}}",
        )
        limits = ("--time-limit", f"{time_limit:g}s", OWN_LIMIT, f"{memory_limit >> 20}M")
        jobs.append(
            Job(
                kind="label",
                command=(*command, *limits, "--quiet", "--json"),
                inputs={f"{name}.pddl": _content(problem, store), "domain.pddl": _content(domain, store)},
                outputs=(LABELS,),
                time_limit=time_limit,
                labels={"step": "label", "instance": name},
            )
        )
    return jobs


def merged(store: Store, jobs: Sequence[Job]) -> RelationalData | None:
    """What the jobs have left, in their order; None if that is nothing."""
    latest = store.latest()
    found = [latest[job.key].outputs.get(LABELS) for job in jobs if job.key in latest]
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        for digest in filter(None, found):
            path = Path(folder, LABELS)
            path.write_bytes(store.get(digest))
            parts.append(relational.load(path))
    return merge(parts) if parts else None


def _content(path: Path, store: Store) -> str:
    try:
        return store.put(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", file=path) from None
