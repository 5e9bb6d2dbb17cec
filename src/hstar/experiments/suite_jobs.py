"""The jobs of a suite: which trainings, searches, labels and comparisons its tables ask for.

Needs follow from the names: a search of a trained model needs its training, and that the data it names.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from hstar import _core
from hstar.errors import InputError
from hstar.estimates.rules import parse as parse_rule
from hstar.experiments.contestants import Contestant, option_words, parse_contestant
from hstar.experiments.domains import (
    DomainData,
    Problem,
    accuracy_jobs,
    labelling_jobs,
    problem_jobs,
)
from hstar.experiments.evaluate import (
    DATA,
    Data,
    Instance,
    Limits,
    evaluation_jobs,
    sampling_job,
)
from hstar.experiments.grid_jobs import (
    MapSet,
    grid_jobs,
    search_words,
    training_plan,
)
from hstar.experiments.job import Job, Made
from hstar.experiments.puzzle_jobs import PuzzleSet, puzzle_jobs
from hstar.experiments.store import Store
from hstar.experiments.suite import (
    AccuracyTable,
    PlanTable,
    SampleTable,
    Suite,
    TrainTable,
    choices,
)
from hstar.experiments.suite_tasks import (
    attempts_of,
    instances_of,
    map_files,
    maps_of,
    problems_of,
    puzzles_of,
)
from hstar.files import MODEL
from hstar.recipes import RECIPES
from hstar.recipes.recipe import Parts
from hstar.registry import unknown
from hstar.sampling import make_sampler
from hstar.sampling.optimal import Optimal
from hstar.spaces.puzzles import parse_puzzle
from hstar.units import parse_memory, parse_time

T = TypeVar("T", PlanTable, AccuracyTable)
E = TypeVar("E", PlanTable, TrainTable)
N = TypeVar("N", Instance, Problem, PuzzleSet, MapSet)


def suite_jobs(suite: Suite, home: Path, store: Store) -> list[Job]:
    """All jobs of a suite; its paths are relative to `home`.

    They are in the order in which they are best run: all of one training together, in the order of the file,
    and what labels and samples data just before it is needed.
    """
    limits = Limits(
        parse_time(suite.limits.time),
        parse_memory(suite.limits.memory),
        parse_time(suite.limits.training),
        parse_memory(suite.limits.training_memory),
    )
    instances, problems = list[Instance](), list[Problem]()
    puzzles, maps = list[PuzzleSet](), list[MapSet]()
    for table in suite.tasks:
        if table.is_map:
            maps += maps_of(table, home, store)
        elif table.puzzle is not None:
            puzzles += puzzles_of(table, home, store)
        elif table.problems is None and table.split is None:
            instances += instances_of(table, home, store)
        else:
            problems += problems_of(table, home, store)
    if sum(map(bool, (maps, puzzles, [*instances, *problems]))) > 1:
        raise InputError("tasks: maps, puzzles and planning tasks are for different suites")
    known: dict[str, Problem] = {}
    if other := next((one for one in problems if known.setdefault(one.name, one) != one), None):
        raise InputError(f"tasks: two problems are called {other.name}")
    names = [one.name for one in maps]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"tasks: two sets of scenarios are called {twice}; give one of them a name")
    trainings = {table.name: table for table in _each(suite.train)}
    samples = _samples(suite, instances, limits)
    labelled = _labelled(suite, home, store)
    made = [*samples.values(), *(job for data in labelled.values() for part in data.values() for job in part)]
    number = {name: i for i, name in enumerate(trainings)}
    jobs: list[tuple[int, Job]] = []  # with the number of the training they belong to
    for plan in _of_models(list(_each(suite.plan)), trainings):
        contestant, seeds = _contestant(plan, trainings, home, puzzles, on_maps=bool(maps))
        training = trainings.get(plan.model or "")
        needed: list[Job] = []
        if maps:
            learned, files = _training_on_maps(contestant, training, home)
            needed = grid_jobs(
                _only(plan, maps), contestant, store, limits=limits, seeds=seeds, plan=learned, maps=files
            )
        elif puzzles:
            needed = puzzle_jobs(_only(plan, puzzles), contestant, store, limits=limits, seeds=seeds)
        elif contestant.recipe is not None and _of_domains(contestant.recipe):
            if instances:
                raise InputError(f"{contestant.name} is for a domain: its tasks are problems, not instances")
            needed = problem_jobs(
                _only(plan, problems),
                contestant,
                store,
                limits=limits,
                search=suite.search,
                seeds=seeds,
                data=_data_of_domains(training, labelled),
            )
        else:
            if contestant.recipe is not None and problems:
                raise InputError(f"{contestant.name} is for one task: its tasks are instances, not problems")
            data = _data(training, suite, samples)
            needed = evaluation_jobs(
                _only(plan, instances),
                [contestant],
                store,
                limits=limits,
                search=suite.search,
                seeds=seeds,
                data=data,
            )
            needed += problem_jobs(
                _only(plan, problems), contestant, store, limits=limits, search=suite.search
            )
        for job in needed:
            # A training that several searches use is one job, under its own name.
            if job.kind == "train":
                job = replace(job, labels={**job.labels, "contestant": plan.model})
            jobs.append((number.get(plan.model or "", -1), job))
    comparisons = _of_models(suite.accuracy, trainings)
    _check_names(comparisons)
    for comparison in comparisons:
        for job in _comparisons(comparison, trainings, labelled, limits, home):
            jobs.append((number[comparison.model], job))
    if not jobs and not made:
        raise InputError("nothing to do: there is no [[plan]], [[sample]], [[label]] or [[accuracy]]")
    return _with_needs([job for _, job in sorted(jobs, key=lambda entry: entry[0])], made)


def _with_needs(jobs: Sequence[Job], made: Sequence[Job]) -> list[Job]:
    """Each job once, what it needs of `made` before it, and the rest of `made` at the end."""
    makers: dict[str, list[Job]] = {}
    for job in made:
        makers.setdefault(job.key, []).append(job)
    found: dict[tuple[str, str], Job] = {}
    for job in jobs:
        before = (
            maker
            for source in job.inputs.values()
            if isinstance(source, Made)
            for maker in makers.get(source.key, ())
        )
        for one in (*before, job):
            found.setdefault((one.key, str(one.labels)), one)
    for job in made:
        found.setdefault((job.key, str(job.labels)), job)
    return list(found.values())


def _each(tables: Sequence[E]) -> Iterator[E]:
    """Tables with `each` as many tables; `{model}` in the name of a plan is left for later."""
    for table in tables:
        if not table.each:
            yield table
            continue
        for options in choices(table.each):
            try:
                name = (table.name or "").format(**{"model": "{model}", **options})
            except (KeyError, IndexError, ValueError):
                raise InputError(f"the name '{table.name}' asks for what each has not") from None
            if name == table.name or not name:
                raise InputError(f"with each the name tells the choices apart: {{{next(iter(table.each))}}}")
            yield msgspec.structs.replace(table, name=name, each={}, options={**table.options, **options})


def _only(plan: PlanTable, tasks: Sequence[N]) -> list[N]:
    """The tasks of the domains that a plan is for."""

    def domain(task: N) -> str:
        return task.puzzle if isinstance(task, PuzzleSet) else task.domain

    known = dict.fromkeys(domain(task) for task in tasks)
    for pattern in plan.only:
        if known and not fnmatch.filter(known, pattern):
            raise unknown("domain", pattern, list(known))
    return [
        task
        for task in tasks
        if not plan.only or any(fnmatch.fnmatch(domain(task), pattern) for pattern in plan.only)
    ]


def _of_models(tables: Sequence[T], trainings: Mapping[str, TrainTable]) -> list[T]:
    """Tables whose model is a pattern as tables of the models that it fits; `{model}` in a name is it."""
    found: list[T] = []
    for table in tables:
        if table.model is None:
            found.append(table)
            continue
        names = [table.model]
        if any(sign in table.model for sign in "*?["):
            names = fnmatch.filter(trainings, table.model)
        if not names:
            raise InputError(f"model: nothing matches '{table.model}' (known: {', '.join(trainings)})")
        for model in names:
            name = table.name and table.name.replace("{model}", model)
            found.append(msgspec.structs.replace(table, model=model, name=name))
    return found


Samples = dict[tuple[str, str, int], Job]
"""By name of the table, name of the instance, and seed."""


def _samples(suite: Suite, instances: Sequence[Instance], limits: Limits) -> Samples:
    found: Samples = {}
    for table in suite.sample:
        _check_options(table)
        options = list(option_words(table.options))
        options += ["--errors"] if table.errors else []
        for instance in instances:
            for seed in table.seeds:
                labels = {"domain": instance.domain, "instance": instance.name, "contestant": table.name}
                about = {**labels, "seed": seed, "step": "sample"}
                chosen = [] if table.sampler == "exact" else ["--seed", str(seed)]  # which has no choices
                found[table.name, instance.name, seed] = sampling_job(
                    instance, table.sampler, [*chosen, *options], limits, about
                )
    return found


def _check_options(table: SampleTable) -> None:
    """A wrong option should not wait for its job."""
    options: dict[str, Any] = {key: value for key, value in table.options.items() if key != "profile"}
    make_sampler(table.sampler, **options)


def _data(training: TrainTable | None, suite: Suite, samples: Samples) -> Data | None:
    """For a training on the data of a `[[sample]]`: the job that makes them, of its seed or the only one."""
    if training is not None and training.held_out is not None:
        raise InputError(f"train: '{training.name}' is for one task: held_out is for recipes of a domain")
    if training is None or training.data is None:
        return None
    tables = {table.name: table for table in suite.sample}
    name = training.data
    if name not in tables:
        raise unknown("data", name, list(tables))
    seeds = tables[name].seeds
    if len(seeds) > 1 and (missing := next((seed for seed in training.seeds if seed not in seeds), None)):
        raise InputError(f"train: '{training.name}' has seed {missing}, but '{name}' has not")

    def data(instance: Instance, seed: int) -> Made:
        job = samples[name, instance.name, seed if len(seeds) > 1 else seeds[0]]
        return Made(job.key, DATA)

    return data


Labelled = dict[str, dict[str, list[Job]]]
"""By name of the tables and by domain."""


def _labelled(suite: Suite, home: Path, store: Store) -> Labelled:
    """Tables of one name, for instance of several domains, are one set of data."""
    found: Labelled = {}
    for table in suite.label:
        labelling = Optimal(parse_time(table.time), parse_memory(table.memory), table.siblings, table.upper)
        attempts = attempts_of(table, home, store)
        others = {first.name: rest for first, *rest in attempts}
        jobs = labelling_jobs(table.name, [first for first, *_ in attempts], labelling, others)
        data = found.setdefault(table.name, {})
        for domain, part in jobs.items():
            data.setdefault(domain, []).extend(part)
    return found


def _data_of_domains(training: TrainTable | None, labelled: Labelled) -> DomainData:
    """The labelled problems of each domain that a training names."""
    assert training is not None
    if training.data is None:
        raise InputError(f"train: '{training.name}' needs data, the name of a [[label]]")
    for name in filter(None, (training.data, training.held_out)):
        if name not in labelled:
            raise unknown("data", name, list(labelled))
    held_out = {} if training.held_out is None else labelled[training.held_out]
    return DomainData(labelled[training.data], held_out)


def _comparisons(
    table: AccuracyTable, trainings: Mapping[str, TrainTable], labelled: Labelled, limits: Limits, home: Path
) -> Iterator[Job]:
    """The jobs of an `[[accuracy]]`; the training is one job with that of the searches."""
    if table.model not in trainings:
        raise unknown("model", table.model, list(trainings))
    if table.data not in labelled:
        raise unknown("data", table.data, list(labelled))
    training = trainings[table.model]
    if not _of_domains(training.recipe):
        raise InputError(f"accuracy: '{table.model}' is for one task: see the errors of a [[sample]]")
    if table.rule is not None:
        parse_rule(table.rule)
    contestant, seeds = _contestant(PlanTable(name=_name(table), model=table.model), trainings, home)
    data = _data_of_domains(training, labelled)
    for job in accuracy_jobs(contestant, data, labelled[table.data], table.rule, seeds, limits):
        # One model may be compared with several sets of data.
        about = {"instance": f"{job.labels['domain']}/{table.data}"}
        if job.kind == "train":
            about = {"contestant": table.model}
        yield replace(job, labels={**job.labels, **about})


def _name(table: AccuracyTable) -> str:
    return table.name or (table.model if table.rule is None else f"{table.model}, {table.rule}")


def _check_names(tables: Sequence[AccuracyTable]) -> None:
    """Two of one name would be taken for seeds of one."""
    found = set[tuple[str, str]]()
    for table in tables:
        if (_name(table), table.data) in found:
            raise InputError(f"accuracy: two on '{table.data}' are called '{_name(table)}'; name one of them")
        found.add((_name(table), table.data))


def _training_on_maps(
    contestant: Contestant, training: TrainTable | None, home: Path
) -> tuple[Parts | None, list[Path]]:
    """What a contestant learns, and from which files, if it learns."""
    if training is None or contestant.recipe is None:
        return None, []
    if training.data is not None or training.held_out is not None:
        raise InputError(f"train: '{training.name}' learns from maps, without data and held_out")
    return training_plan(training.options, on_files=bool(training.maps)), map_files(training.maps, home)


def _contestant(
    table: PlanTable,
    trainings: Mapping[str, TrainTable],
    home: Path,
    puzzles: Sequence[PuzzleSet] = (),
    *,
    on_maps: bool = False,
) -> tuple[Contestant, Sequence[int]]:
    """Who plans, and the seeds of its training."""
    chosen = [word for word in (table.model, table.heuristic, table.planner) if word is not None]
    if len(chosen) != 1:
        raise InputError("plan: give one of model, heuristic and planner")
    name, seeds = table.name or chosen[0], [0]
    if table.model is not None and table.model in trainings:
        training = trainings[table.model]
        options = option_words(training.options)
        kinds = {"map"} if on_maps else {"puzzle"} if puzzles else {"task", "domain"}
        known = [name for name in RECIPES if kinds & set(RECIPES.get(name).spaces)]
        if training.recipe not in known:
            raise unknown("recipe", training.recipe, known)
        if puzzles:
            _check_puzzle_options(training, puzzles)
        elif _of_domains(training.recipe):
            _check_domain_options(training)
        contestant = Contestant(training.recipe, recipe=training.recipe, options=options)
        seeds = training.seeds
    elif table.model is not None:
        if not table.model.endswith(MODEL):
            raise unknown("model", table.model, [*trainings, f"a file *{MODEL}"])
        contestant = parse_contestant(str(home / table.model))
    elif (puzzles or on_maps) and table.heuristic is not None:
        contestant = Contestant(name, heuristic=table.heuristic)
    else:
        contestant = parse_contestant(chosen[0])
    if table.search is not None:
        parse_contestant(f"ff,search={table.search}")  # refuses unknown ones
        contestant = replace(contestant, search=table.search)
    if table.precision is not None:
        if table.model is None:
            raise InputError("plan: precision is for models")
        if table.precision not in (able := _core.precisions()):
            raise unknown("precision", table.precision, able)
    if on_maps:
        words = search_words(table.options, symbolic=table.heuristic is not None)
    else:  # switches of `hstar solve` have no word for off
        words = option_words({key: value for key, value in table.options.items() if value is not False})
    return (
        replace(
            contestant,
            name=name,
            preferred=table.preferred,
            precision=table.precision,
            search_options=words,
        ),
        seeds,
    )


def _check_domain_options(training: TrainTable) -> None:
    """A wrong option should not wait for its job, which waits for the labels."""
    options: dict[str, Any] = {key.replace("-", "_"): value for key, value in training.options.items()}
    profile = options.pop("profile", None)
    RECIPES.get(training.recipe).check("domain", profile, options)


def _of_domains(recipe: str) -> bool:
    return "domain" in RECIPES.get(recipe).spaces if recipe in RECIPES else False


def _check_puzzle_options(training: TrainTable, puzzles: Sequence[PuzzleSet]) -> None:
    options: dict[str, Any] = {key.replace("-", "_"): value for key, value in training.options.items()}
    profile = options.pop("profile", None)
    for puzzle in dict.fromkeys(one.puzzle for one in puzzles):
        RECIPES.get(training.recipe).check("puzzle", profile, options, parse_puzzle(puzzle))
