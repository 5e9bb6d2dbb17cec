"""The protocol of all experiments: train, search from starts that were not trained on, count the solved.

Ferber et al. (ICAPS 2022) and O'Toole et al. (ICAPS 2022) for one task; Núñez-Molina et al. (arXiv
2308.11905) and Chen et al. (ICAPS 2024) for a domain, learned from labels of small problems; Marom and Rosman
(ICAPS 2020) for puzzles; "Value Function Learning via Prolonged Backward Heuristic Search" for maps. Each
training and each search is a job: a process of its own, through the command line like any user's.

    hstar train RECIPE SOURCE... --output MODEL --seed N OPTIONS
    hstar solve SOURCE... --search S --heuristic H LIMITS OPTIONS
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from hstar.errors import HstarError, InputError
from hstar.estimates.rules import chosen as chosen_rule
from hstar.experiments.contestants import Contestant
from hstar.experiments.fast_downward import FastDownward
from hstar.experiments.job import CPU_LIMIT, HSTAR, OWN_LIMIT, RESIDENT_LIMIT, STEPS, TIME_LIMIT, Job, Made
from hstar.experiments.label import labels_of
from hstar.experiments.problems import UNIT_COST, Lesson, Options, ProblemSet, Source, spelled
from hstar.experiments.store import Store
from hstar.models.trained_model import load_model
from hstar.recipes import RECIPES, Recipe
from hstar.registry import unknown
from hstar.search.solve import DEFAULT_SEARCH, SearchConfig, solve
from hstar.spaces.grid import GridProblem
from hstar.spaces.load import in_words

TRAINED = "model.hstar"
DATA = "states.data"  # of `hstar sample`
ROWS = "rows.jsonl"  # of a search of several problems
MOST_CELLS = 40_000  # of a map whose steps are kept

LessonOf = Callable[[ProblemSet, int], Lesson]
"""What a training for a set with a seed learns from."""


@dataclass(frozen=True)
class Limits:
    """Seconds and bytes of one search, and of one training."""

    time_limit: float = 60.0
    memory_limit: int = 4 << 30
    train_time: float = 3600.0
    train_memory: int = RESIDENT_LIMIT
    cpu: bool = False  # times are processor time, so that a busy machine changes nothing


def contestant_jobs(
    contestant: Contestant,
    sets: Sequence[ProblemSet],
    store: Store,
    *,
    limits: Limits | None = None,
    search: str | None = None,
    seeds: Sequence[int] = (0,),
    lesson_of: LessonOf | None = None,
) -> list[Job]:
    """A contestant on every start of every set, and the trainings that it needs before.

    `search` is for contestants that do not say. `lesson_of`: what is learned from, if not the space itself.
    """
    limits = Limits() if limits is None else limits
    jobs: list[Job] = []
    trainings: dict[tuple[str, str, int], Job] = {}
    model: str | Made | None = None
    if contestant.model is not None:
        model = store.put(contestant.model.read_bytes())
    for one in sets:
        check_fit(contestant, one)
        for seed in seeds if contestant.recipe else (0,):
            if contestant.recipe is not None:
                recipe = RECIPES.get(contestant.recipe)
                lesson = lesson_for(recipe, one) if lesson_of is None else lesson_of(one, seed)
                place = lesson.kind, lesson.instance, seed
                if place not in trainings:
                    trainings[place] = training_job(contestant, lesson, seed, limits)
                    jobs.append(trainings[place])
                model = Made(trainings[place].key, TRAINED)
            for start in one.starts:
                jobs.append(
                    search_job(contestant, model, one, start, seed=seed, limits=limits, search=search)
                )
    return jobs


# --- what fits ------------------------------------------------------------------------------------------


def check_fit(contestant: Contestant, one: ProblemSet) -> None:
    """An `InputError` if a contestant cannot be tried on a set."""
    if contestant.heuristic is not None and contestant.heuristic not in one.heuristics:
        raise unknown(f"heuristic of {one.domain}", contestant.heuristic, one.heuristics)
    if contestant.heuristic is not None and one.kind == "map":
        solve(one.examples[0], contestant.heuristic, max_expansions=0)  # refuses what is not admissible
    of_tasks = {
        "planner": contestant.alias,
        "preferred": contestant.preferred,
        "precision": contestant.precision,
    }
    for name, value in of_tasks.items():
        if value and one.kind != "task":
            raise InputError(f"{name} is for a task, and {one.domain} is {in_words([one.kind])}; {_ONLY}")
    if contestant.model is not None:
        model = _model(contestant.model)
        fits = model.space.kind in one.kinds
        try:
            for problem in one.examples if fits else ():
                model.space.check(problem)
        except HstarError as error:
            raise InputError(f"{contestant.name} does not fit {one.domain}: {error}; {_ONLY}") from None
        if not fits:
            raise InputError(
                f"{contestant.name} is for {model.space}, and does not fit {one.domain}; {_ONLY}"
            )


_ONLY = "name others by only"
_model = functools.lru_cache(maxsize=16)(load_model)  # it is asked for once for each set


def lesson_for(recipe: Recipe, one: ProblemSet) -> Lesson:
    """What a recipe learns from for a set, if nothing else is said; that of a domain has no data yet."""
    kinds = recipe.spaces
    if one.kind in kinds:
        return one.lesson
    if "domain" in one.kinds and "domain" in kinds:
        return Lesson("domain", one.domain, one.domain)
    if "domain" in kinds and one.kind == "task":
        raise InputError(f"recipe {recipe.name} is for a domain: its tasks are problems, not instances")
    what = f"{one.domain} is {in_words([one.kind])}"
    raise InputError(f"recipe {recipe.name} learns for {in_words(kinds)}, and {what}; {_ONLY}")


_WORDS = ("rule", "alpha", "combine", "floor", "truncated", "nodes", "table")  # of `hstar solve` alone
_UNITS = ("table_bytes", "memory_limit", "time_limit", "cpu_time_limit")  # which may be "64M" or "5m"


def check_search_options(options: Options) -> None:
    """An `InputError` for options of a search that there are not, and for wrong values."""
    given = spelled(options)
    known = [entry.name for entry in fields(SearchConfig)]
    if foreign := next((name for name in given if name not in (*known, *_WORDS)), None):
        raise unknown("option of plans", foreign, [*known, *_WORDS])
    SearchConfig(**{name: value for name, value in given.items() if name in known and name not in _UNITS})
    chosen_rule(given.get("rule"), given.get("alpha"))


# --- jobs -----------------------------------------------------------------------------------------------


def training_job(contestant: Contestant, lesson: Lesson, seed: int, limits: Limits) -> Job:
    """`hstar train`."""
    source, words = lesson.source, lesson.source.words
    words += UNIT_COST if lesson.kind == "task" else ()
    command = (*HSTAR, "train", str(contestant.recipe), *words, "--output", f"{{{TRAINED}}}")
    return Job(
        kind="train",
        command=(*command, "--seed", str(seed), *contestant.options, "--quiet", "--json"),
        inputs=dict(source.files),
        outputs=(TRAINED,),
        time_limit=limits.train_time,
        cpu=limits.cpu,
        resident_limit=limits.train_memory,
        labels=about(lesson.domain, lesson.instance, contestant.training or contestant.name, seed, "train"),
        resumable="checkpoint" in RECIPES.get(str(contestant.recipe)).method(lesson.kind).takes,
    )


def search_job(
    contestant: Contestant,
    model: str | Made | None,
    one: ProblemSet,
    start: str,
    *,
    seed: int,
    limits: Limits,
    search: str | None = None,
) -> Job:
    """`hstar solve`, or Fast Downward, from one start of a set."""
    source = one.starts[start]
    labels = about(one.domain, one.name, contestant.name, seed, "search") | {"start": start}
    if contestant.alias is not None:
        return _fast_downward_job(contestant, source, limits, labels)
    command = [*HSTAR, "solve", *source.words]
    command += ["--heuristic", str(contestant.heuristic) if model is None else f"{{{TRAINED}}}"]
    chosen = contestant.search or search or (DEFAULT_SEARCH["task"] if one.kind == "task" else None)
    command += [] if chosen is None else ["--search", chosen]
    command += [OWN_LIMIT, f"{limits.memory_limit >> 20}M"]
    command += [CPU_LIMIT if limits.cpu else TIME_LIMIT, f"{limits.time_limit:g}s"]
    command += ["--preferred"] if contestant.preferred else []
    command += ["--precision", contestant.precision] if contestant.precision else []
    command += contestant.search_options
    outputs: tuple[str, ...] = ("plan",)
    if one.kind != "map":
        command += ["--plan-file", "{plan}"]
    else:
        command += ["--optimum", "--summary", "--output", f"{{{ROWS}}}"]
        outputs = (ROWS, STEPS) if all(map(_can_be_shown, one.examples)) else (ROWS,)
        command += ["--steps", f"{{{STEPS}}}"] if STEPS in outputs else []
    return Job(
        kind="search",
        command=(*command, "--quiet", "--json"),
        inputs={**source.files, **({} if model is None else {TRAINED: model})},
        outputs=outputs,
        time_limit=limits.time_limit,
        cpu=limits.cpu,
        labels=labels,
    )


def _can_be_shown(problem: Any) -> bool:
    return isinstance(problem, GridProblem) and problem.grid.blocked.size <= MOST_CELLS


def _fast_downward_job(
    contestant: Contestant, source: Source, limits: Limits, labels: Mapping[str, Any]
) -> Job:
    peer = FastDownward.find()
    if peer is None or peer.driver is None:
        raise InputError(f"{contestant.name} needs Fast Downward: pip install 'hstar[bench]'")
    # The driver removes the plan file before it starts: it has to be one of ours.
    program = ("{python}", "{fast-downward}", "--alias", str(contestant.alias), "--plan-file", "{plan}")
    seconds = f"{max(1, round(limits.time_limit))}s"  # of processor time
    return Job(
        kind="fast_downward",
        command=(*program, "--search-time-limit", seconds, *(f"{{{name}}}" for name in source.files)),
        inputs=dict(source.files),
        outputs=("plan",),
        time_limit=limits.time_limit,
        cpu=limits.cpu,
        memory_limit=limits.memory_limit,
        versions={"fast_downward": peer.revision},
        labels=labels,
    )


def sampling_job(
    name: str, sampler: str, lesson: Lesson, seed: int, options: Sequence[str], limits: Limits
) -> Job:
    """`hstar sample` on the task of a lesson."""
    source = lesson.source
    command = (*HSTAR, "sample", sampler, *source.words, "--output", f"{{{DATA}}}")
    chosen = () if sampler == "exact" else ("--seed", str(seed))  # which has no choices
    return Job(
        kind="sample",
        command=(*command, *chosen, *options, "--quiet", "--json"),
        inputs=dict(source.files),
        outputs=(DATA,),
        time_limit=limits.train_time,
        cpu=limits.cpu,
        resident_limit=limits.train_memory,
        labels=about(lesson.domain, lesson.instance, name, seed, "sample"),
    )


def accuracy_job(
    contestant: Contestant, training: Job, labelled: Sequence[Job], rule: str | None, limits: Limits
) -> Job:
    """`hstar evaluate` of what a training leaves, on labelled problems."""
    source = labels_of(labelled)
    command = (*HSTAR, "evaluate", f"{{{TRAINED}}}", *source.words)
    labels = {**training.labels, "contestant": contestant.name, "step": "accuracy"}
    return Job(
        kind="accuracy",
        command=(*command, *(() if rule is None else ("--rule", rule)), "--json"),
        inputs={TRAINED: Made(training.key, TRAINED), **source.files},
        time_limit=limits.train_time,
        cpu=limits.cpu,
        resident_limit=limits.train_memory,
        labels=labels,
    )


def about(domain: str, instance: str, contestant: str, seed: int, step: str) -> dict[str, Any]:
    """Labels of a job."""
    return {"domain": domain, "instance": instance, "contestant": contestant, "seed": seed, "step": step}
