"""The protocol of per-instance heuristics: train on a base task, plan from other starts, count the solved.

Ferber et al. (ICAPS 2022) and O'Toole et al. (ICAPS 2022): greedy best-first search, unit cost, a time and a
memory limit for each search; coverage of an instance is the share of its starts that are solved, of a domain
the mean over its instances.

Every contestant gets the same files: the base task is translated once and only the initial state changes, so
nobody's atoms vanish (a translator drops what is constant from a given start). Each training and each search
is a job: a process of its own, through the command line like any user's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hstar.errors import InputError
from hstar.experiments.contestants import Contestant
from hstar.experiments.fast_downward import FastDownward
from hstar.experiments.job import HSTAR, OWN_LIMIT, RESIDENT_LIMIT, Job, Made
from hstar.experiments.store import Store
from hstar.sampling.walks import Walks
from hstar.spaces.pddl import parse_problem, read_text
from hstar.spaces.sas import with_state_of
from hstar.spaces.task import Task, load_task
from hstar.spaces.translate import find_domain

DATA = "states.data"
"""The file of a data set."""


@dataclass(frozen=True)
class Limits:
    """Seconds and bytes of one search, and of one training."""

    time_limit: float = 60.0
    memory_limit: int = 4 << 30
    train_time: float = 3600.0
    train_memory: int = RESIDENT_LIMIT


@dataclass(frozen=True)
class Instance:
    """A base task and starts for it, as digests of `.sas` texts in the store."""

    domain: str
    name: str  # domain/instance
    base: str
    starts: tuple[tuple[str, str], ...]  # name, digest


Data = Callable[[Instance, int], Made]
"""The data that a training on an instance with a seed learns from."""


# --- instances ------------------------------------------------------------------------------------------


def read_instance(path: Path, store: Store, *, walks: int = 10, most: int | None = None) -> Instance:
    """A folder with `domain.pddl`, `base.pddl` and other problems as starts; or one problem and walks."""
    problem = path / "base.pddl" if path.is_dir() else path
    if not problem.is_file():
        raise InputError("no base.pddl in this folder" if path.is_dir() else "no such file", file=path)
    domain_file = find_domain(problem)
    task = load_task(domain_file, problem)
    text = task.core.to_sas()
    task = task.with_unit_cost()
    domain = task.lifted.domain.name
    label = path.name if path.is_dir() else path.stem
    if path.is_dir() and (files := _start_files(path, domain_file)):
        starts = [(file.stem, _from_problem(task, file)) for file in files[:most]]
    else:
        number = walks if most is None else min(walks, most)
        starts = [(f"walk{i}", start) for i, start in enumerate(Walks(walks=number).tasks(task), 1)]
    digests = tuple((name, store.put(with_state_of(text, start.core))) for name, start in starts)
    return Instance(domain, f"{domain}/{label}", store.put(text), digests)


def _start_files(folder: Path, domain_file: Path) -> list[Path]:
    """Problems beside base.pddl, p2 before p10."""
    files = [file for file in folder.glob("*.pddl") if file.name not in ("base.pddl", domain_file.name)]
    return sorted(files, key=lambda file: (len(file.name), file.name))


def _from_problem(task: Task, file: Path) -> Task:
    """The task from the initial state of another problem, which must have the same goal."""
    problem = parse_problem(read_text(file), task.lifted.domain, str(file))
    if problem.goal != task.lifted.problem.goal:
        raise InputError(f"its goal is not that of {task.name}", file=file)
    try:
        return task.with_initial_state(problem.init)
    except InputError as error:
        raise InputError(error.message, file=file) from None


# --- jobs -----------------------------------------------------------------------------------------------


def evaluation_jobs(
    instances: Sequence[Instance],
    contestants: Sequence[Contestant],
    store: Store,
    *,
    limits: Limits | None = None,
    search: str = "gbfs",
    seeds: Sequence[int] = (0,),
    data: Data | None = None,
) -> list[Job]:
    """Every contestant on every start of every instance, and the trainings they need before.

    `search` is for contestants that do not say; `seeds` are of the trainings, which learn from `data` if
    there are any.
    """
    limits = Limits() if limits is None else limits
    names = [instance.name for instance in instances]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two instances are called {twice}; put them into different runs")
    jobs = []
    for instance in instances:
        for contestant in contestants:
            for seed in seeds if contestant.recipe else (0,):
                labels: dict[str, Any] = {"domain": instance.domain, "instance": instance.name}
                labels |= {"contestant": contestant.name, "seed": seed}
                model: str | Made | None = None
                if contestant.recipe is not None:
                    source = None if data is None else data(instance, seed)
                    jobs.append(training_job(instance, contestant, seed, limits, labels, source))
                    model = Made(jobs[-1].key, "model.hstar")
                elif contestant.model is not None:
                    model = store.put(contestant.model.read_bytes())
                for start, sas in instance.starts:
                    about = {**labels, "step": "search", "start": start}
                    jobs.append(search_job(contestant, model, {"task.sas": sas}, limits, search, about))
    return jobs


def sampling_job(
    instance: Instance, sampler: str, options: Sequence[str], limits: Limits, labels: dict[str, Any]
) -> Job:
    """`hstar sample` on the base task."""
    command = (*HSTAR, "sample", sampler, "{task.sas}", "--output", "{" + DATA + "}")
    return Job(
        kind="sample",
        command=(*command, *options, "--quiet", "--json"),
        inputs={"task.sas": instance.base},
        outputs=(DATA,),
        time_limit=limits.train_time,
        resident_limit=limits.train_memory,
        labels=labels,
    )


def training_job(
    instance: Instance,
    contestant: Contestant,
    seed: int,
    limits: Limits,
    labels: dict[str, Any],
    data: Made | None = None,
) -> Job:
    """`hstar train` on the base task."""
    command = (*HSTAR, "train", str(contestant.recipe), "{task.sas}", "--output", "{model.hstar}")
    source = () if data is None else ("--data", "{" + DATA + "}")
    return Job(
        kind="train",
        command=(*command, *source, "--seed", str(seed), *contestant.options, "--quiet", "--json"),
        inputs={"task.sas": instance.base, **({} if data is None else {DATA: data})},
        outputs=("model.hstar",),
        time_limit=limits.train_time,
        resident_limit=limits.train_memory,
        labels={**labels, "step": "train"},
        resumable=True,
    )


def search_job(
    contestant: Contestant,
    model: str | Made | None,
    files: Mapping[str, str],
    limits: Limits,
    search: str,
    labels: dict[str, Any],
) -> Job:
    """`hstar solve`, or Fast Downward, on a task: `files` are digests by name, in the order of arguments."""
    task = [f"{{{name}}}" for name in files]
    if contestant.alias is not None:
        peer = FastDownward.find()
        if peer is None or peer.driver is None:
            raise InputError(f"{contestant.name} needs Fast Downward: pip install 'hstar[bench]'")
        # The driver removes the plan file before it starts: it has to be one of ours.
        program = ("{python}", "{fast-downward}", "--alias", contestant.alias, "--plan-file", "{plan}")
        seconds = f"{max(1, round(limits.time_limit))}s"
        return Job(
            kind="fast_downward",
            command=(*program, "--search-time-limit", seconds, *task),
            inputs=dict(files),
            outputs=("plan",),
            time_limit=limits.time_limit,
            memory_limit=limits.memory_limit,
            versions={"fast_downward": peer.revision},
            labels=labels,
        )
    heuristic = str(contestant.heuristic) if model is None else "{model.hstar}"
    command = [*HSTAR, "solve", *task, "--search", contestant.search or search]
    command += ["--heuristic", heuristic, "--unit-cost", "--json", "--plan-file", "{plan}"]
    command += ["--time-limit", f"{limits.time_limit:g}s", OWN_LIMIT, f"{limits.memory_limit >> 20}M"]
    command += ["--preferred"] if contestant.preferred else []
    command += ["--precision", contestant.precision] if contestant.precision else []
    command += contestant.search_options
    return Job(
        kind="search",
        command=tuple(command),
        inputs={**files, **({} if model is None else {"model.hstar": model})},
        outputs=("plan",),
        time_limit=limits.time_limit,
        labels=labels,
    )
