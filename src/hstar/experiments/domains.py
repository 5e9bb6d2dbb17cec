"""The protocol of heuristics for a domain: label small problems, train a model on them, plan in large ones.

Núñez-Molina et al. (arXiv 2308.11905) and Chen et al. (ICAPS 2024). A problem is planned from its own initial
state, from its PDDL: models of a domain need its objects. Labelling, training and each search are jobs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hstar.errors import InputError
from hstar.experiments.contestants import Contestant
from hstar.experiments.evaluate import Limits, search_job
from hstar.experiments.job import HSTAR, Job, Made
from hstar.experiments.label import LABELS, label_job
from hstar.experiments.store import Store
from hstar.recipes import RECIPES
from hstar.sampling.optimal import Optimal
from hstar.spaces.pddl import parse_domain, read_text
from hstar.spaces.translate import find_domain

OWN = "own"
"""The start of a problem that is planned from its own initial state."""


@dataclass(frozen=True)
class Problem:
    """A problem file with its domain file, as digests of their texts in the store."""

    domain: str
    name: str  # domain/problem
    domain_file: str
    problem_file: str

    @property
    def files(self) -> dict[str, str]:
        """What a planner is given."""
        return {"domain.pddl": self.domain_file, "problem.pddl": self.problem_file}


@dataclass(frozen=True)
class DomainData:
    """By domain the jobs that label problems to learn from, and those that choose the best weights."""

    train: Mapping[str, Sequence[Job]]
    held_out: Mapping[str, Sequence[Job]] = field(default_factory=dict)


def read_problem(path: Path, store: Store, domain: Path | None = None) -> Problem:
    """A problem with its domain file, or with `domain.pddl` beside it."""
    if not path.is_file():
        raise InputError("no such file", file=path)
    domain_file = domain or find_domain(path)
    return make_problem(path.stem, read_text(domain_file), read_text(path), store, str(domain_file))


def make_problem(name: str, domain: str, problem: str, store: Store, file: str = "domain") -> Problem:
    """A problem from the texts of its files."""
    domain_name = parse_domain(domain, file).name
    texts = (store.put(text.encode()) for text in (domain, problem))
    return Problem(domain_name, f"{domain_name}/{name}", *texts)


def labelling_jobs(
    name: str,
    problems: Sequence[Problem],
    labelling: Optimal,
    others: Mapping[str, Sequence[Problem]] | None = None,
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
        labels = {"domain": problem.domain, "instance": problem.name, "contestant": name, "seed": 0}
        jobs.setdefault(problem.domain, []).append(
            label_job(
                problem.name.partition("/")[2],
                problem.domain_file,
                problem.problem_file,
                labelling,
                labels,
                {one.name.partition("/")[2]: one.problem_file for one in others.get(problem.name, ())},
            )
        )
    return jobs


def domain_training_job(
    contestant: Contestant, domain: str, data: DomainData, seed: int, limits: Limits
) -> Job:
    """`hstar train` on all labelled problems of a domain."""
    if data.held_out and domain not in data.held_out:
        raise InputError(f"{contestant.name}: there are no held-out problems of {domain}")
    files = _files("labels", data.train.get(domain, ()))
    held_out = _files("held-out", data.held_out.get(domain, ()))
    words = tuple(f"{{{name}}}" for name in files)
    judges = tuple(word for name in held_out for word in ("--held-out", f"{{{name}}}"))
    command = (*HSTAR, "train", str(contestant.recipe), *words, *judges, "--output", "{model.hstar}")
    return Job(
        kind="train",
        command=(*command, "--seed", str(seed), *contestant.options, "--quiet", "--json"),
        inputs={**files, **held_out},
        outputs=("model.hstar",),
        time_limit=limits.train_time,
        resident_limit=limits.train_memory,
        labels=_about(domain, domain, contestant, seed) | {"step": "train"},
        resumable="checkpoint" in RECIPES.get(str(contestant.recipe)).method("domain").takes,
    )


def accuracy_jobs(
    contestant: Contestant,
    model: DomainData,
    test: Mapping[str, Sequence[Job]],
    rule: str | None,
    seeds: Sequence[int],
    limits: Limits,
) -> list[Job]:
    """A training for each domain and seed, and `hstar accuracy` of it on the labelled problems of `test`."""
    jobs: list[Job] = []
    if not any(domain in model.train for domain in test):
        raise InputError(f"{contestant.name}: there are no labelled problems of {' or '.join(test)}")
    for domain, labelled in test.items():
        if domain not in model.train:
            continue
        for seed in seeds:
            training = domain_training_job(contestant, domain, model, seed, limits)
            files = _files("labels", labelled)
            command = (*HSTAR, "accuracy", "{model.hstar}", *(f"{{{name}}}" for name in files))
            options = () if rule is None else ("--rule", rule)
            comparison = Job(
                kind="accuracy",
                command=(*command, *options, "--json"),
                inputs={"model.hstar": Made(training.key, "model.hstar"), **files},
                time_limit=limits.train_time,
                resident_limit=limits.train_memory,
                labels=_about(domain, domain, contestant, seed) | {"step": "accuracy"},
            )
            jobs += [training, comparison]
    return jobs


def _files(name: str, jobs: Sequence[Job]) -> dict[str, Made]:
    """What labelling leaves, by names of files."""
    return {f"{name}{i}.data": Made(job.key, LABELS) for i, job in enumerate(jobs)}


def problem_jobs(
    problems: Sequence[Problem],
    contestant: Contestant,
    store: Store,
    *,
    limits: Limits,
    search: str,
    seeds: Sequence[int] = (0,),
    data: DomainData | None = None,
) -> list[Job]:
    """A contestant on every problem, and the trainings it needs before, from the `data` of each domain."""
    jobs: list[Job] = []
    models: dict[tuple[str, int], str | Made] = {}
    for problem in problems:
        for seed in seeds if contestant.recipe else (0,):
            model: str | Made | None = None
            if contestant.recipe is not None:
                if (problem.domain, seed) not in models:
                    if data is None or problem.domain not in data.train:
                        raise InputError(
                            f"{contestant.name}: there are no labelled problems of {problem.domain}"
                        )
                    training = domain_training_job(contestant, problem.domain, data, seed, limits)
                    jobs.append(training)
                    models[problem.domain, seed] = Made(training.key, "model.hstar")
                model = models[problem.domain, seed]
            elif contestant.model is not None:
                model = store.put(contestant.model.read_bytes())
            about = _about(problem.domain, problem.name, contestant, seed) | {"step": "search", "start": OWN}
            jobs.append(search_job(contestant, model, problem.files, limits, search, about))
    return jobs


def _about(domain: str, instance: str, contestant: Contestant, seed: int) -> dict[str, Any]:
    return {"domain": domain, "instance": instance, "contestant": contestant.name, "seed": seed}
