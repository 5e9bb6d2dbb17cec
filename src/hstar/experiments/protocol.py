"""The protocol of all experiments: train, search from starts that were not trained on, count the solved.

Ferber et al. (ICAPS 2022) and O'Toole et al. (ICAPS 2022) for one task; Núñez-Molina et al. (arXiv
2308.11905) and Chen et al. (ICAPS 2024) for a domain, learned from labels of small problems; Marom and Rosman
(ICAPS 2020) for puzzles; "Value Function Learning via Prolonged Backward Heuristic Search" for maps. Each
training and each search is a job: a process of its own, through the command line like any user's.

    hstar train RECIPE SOURCE... --output MODEL --seed N OPTIONS
    hstar solve SOURCE... --search S --heuristic H LIMITS OPTIONS
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from hstar.errors import HstarError, InputError
from hstar.estimates.rules import chosen as chosen_rule
from hstar.experiments.contestants import Contestant, check_names
from hstar.experiments.fast_downward import GRACE_S, FastDownward
from hstar.experiments.job import CPU_LIMIT, HSTAR, OWN_LIMIT, RESIDENT_LIMIT, STEPS, TIME_LIMIT, Job, Made
from hstar.experiments.problems import (
    SCENARIOS,
    UNIT_COST,
    Files,
    Lesson,
    Options,
    ProblemSet,
    Source,
    spelled,
)
from hstar.experiments.store import Store
from hstar.files import read_bytes
from hstar.models.map_identity import MapIdentity
from hstar.models.trained_model import load_model
from hstar.recipes import RECIPES, Recipe
from hstar.recipes.recipe import Parts
from hstar.registry import unknown
from hstar.sampling import relational
from hstar.sampling.optimal import Optimal
from hstar.sampling.relational import RelationalData, merge
from hstar.search.solve import DEFAULT_SEARCH, SearchConfig, solve
from hstar.spaces.grid import Grid, GridProblem
from hstar.spaces.grid_files import load_map, load_scenarios
from hstar.spaces.load import in_words

TRAINED = "model.hstar"
DATA = "states.data"  # of `hstar sample`
LABELS = "labels.data"  # of `hstar sample optimal`
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
    model: str | Made | None = None if contestant.model is None else store.put(read_bytes(contestant.model))
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
    for name, field in (("planner", "alias"), ("preferred", "preferred"), ("precision", "precision")):
        if getattr(contestant, field) and one.kind != "task":
            raise InputError(f"{name} is for a task, and {one.domain} is {in_words([one.kind])}; {_ONLY}")
    if contestant.model is not None:
        space = _model(contestant.model).space
        if space.kind not in one.kinds:
            raise InputError(f"{contestant.name} is for {space}, and does not fit {one.domain}; {_ONLY}")
        with _fitting(contestant.name, one):
            for problem in one.examples:
                space.check(problem)


@contextlib.contextmanager
def _fitting(name: str, one: ProblemSet) -> Iterator[None]:
    try:
        yield
    except HstarError as error:
        raise InputError(f"{name} does not fit {one.domain}: {error}; {_ONLY}") from None


def check_maps(name: str, parts: Parts, files: Sequence[Path], seeds: Sequence[int], one: ProblemSet) -> None:
    """An `InputError` if the model of a training on maps will not fit a set, or the training sees the set.

    `parts` are those of the recipe. Random scenarios of the same options and seed are the same ones.
    """
    config, maps, network = parts["recipe"], parts["maps"], parts["model"]
    grids = [
        load_scenarios(path)[0].problem.grid if path.suffix == SCENARIOS else Grid(load_map(path))
        for path in files
    ]
    neighbours = config.headings or maps.neighbours
    space = MapIdentity(
        neighbours=neighbours,
        cut_corners=neighbours == 8 and maps.cut_corners,
        sizes=tuple({grid.shape for grid in grids}) or ((maps.rows, maps.columns),),
        any_size=network.any_size,
        headings=config.headings,
        turn_cost=config.turn_cost if config.headings else 0.0,
    )
    with _fitting(name, one):
        for problem in one.examples:
            space.check(problem)
            network.encode(problem)
    if not files and one.drawn is not None and one.drawn[0] == maps and one.drawn[1] in seeds:
        seed = one.drawn[1]
        raise InputError(f"{name} learns from scenarios of {one.domain}, seed {seed}; plan on other seeds")


_ONLY = "name others by only"
_model = functools.lru_cache(maxsize=16)(load_model)  # it is asked for once for each set


def lesson_for(recipe: Recipe, one: ProblemSet) -> Lesson:
    """What a recipe learns from for a set, if nothing else is said; that of a domain has no data yet."""
    kinds = recipe.spaces
    if one.kind in kinds:
        return one.lesson
    if "domain" in one.kinds and "domain" in kinds:
        return Lesson("domain", one.domain, one.domain)
    what = f"{one.domain} is {in_words([one.kind])}"
    raise InputError(f"recipe {recipe.name} learns for {in_words(kinds)}, and {what}; {_ONLY}")


# Of `hstar solve` alone.
_WORDS = ("heuristic", "rule", "alpha", "combine", "floor", "truncated", "nodes", "table")
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
    """The job that runs `hstar train` with these options and limits."""
    recipe, units = str(contestant.recipe), UNIT_COST if lesson.kind == "task" else ()
    words = ("train", recipe, *lesson.source.words, *units, "--output", f"{{{TRAINED}}}")
    options = ("--seed", str(seed), *contestant.options, "--quiet", "--json")
    labels = about(lesson.domain, lesson.instance, contestant.training or contestant.name, seed, "train")
    job = _learning_job("train", (*words, *options), lesson.source.files, limits, labels)
    resumable = "checkpoint" in RECIPES.get(recipe).method(lesson.kind).takes
    return replace(job, outputs=(TRAINED,), resumable=resumable)


def sampling_job(
    name: str, sampler: str, lesson: Lesson, seed: int, options: Sequence[str], limits: Limits
) -> Job:
    """`hstar sample` on the task of a lesson."""
    chosen = () if sampler == "exact" else ("--seed", str(seed))  # which has no choices
    words = ("sample", sampler, *lesson.source.words, "--output", f"{{{DATA}}}", *chosen, *options)
    labels = about(lesson.domain, lesson.instance, name, seed, "sample")
    job = _learning_job("sample", (*words, "--quiet", "--json"), lesson.source.files, limits, labels)
    return replace(job, outputs=(DATA,))


def accuracy_job(
    contestant: Contestant, training: Job, labelled: Sequence[Job], rule: str | None, limits: Limits
) -> Job:
    """`hstar evaluate` of what a training leaves, on labelled problems."""
    source = labels_of(labelled)
    words = (
        "evaluate",
        f"{{{TRAINED}}}",
        *source.words,
        *(() if rule is None else ("--rule", rule)),
        "--json",
    )
    labels = {**training.labels, "contestant": contestant.name, "step": "accuracy"}
    files = {TRAINED: Made(training.key, TRAINED), **source.files}
    return _learning_job("accuracy", words, files, limits, labels)


def _learning_job(
    kind: str, words: Sequence[str], files: Files, limits: Limits, labels: Mapping[str, Any]
) -> Job:
    return Job(
        kind=kind,
        command=(*HSTAR, *words),
        inputs=dict(files),
        time_limit=limits.train_time,
        cpu=limits.cpu,
        resident_limit=limits.train_memory,
        labels=labels,
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
    source = one.problems.get(start, one.starts[start]) if _for_domain(contestant) else one.starts[start]
    labels = about(one.domain, one.name, contestant.name, seed, "search") | {"start": start}
    if contestant.alias is not None:
        return _fast_downward_job(contestant, source, limits, labels)
    command = [*HSTAR, "solve", *source.words]
    heuristic = contestant.heuristic if model is None else f"{{{TRAINED}}}"
    if heuristic is not None:  # else an alias is among the options
        command += ["--heuristic", heuristic]
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


def _for_domain(contestant: Contestant) -> bool:
    """Whether its model reads objects and atoms, for which a `.sas` file is not enough."""
    if contestant.recipe is not None:
        return RECIPES.get(contestant.recipe).spaces == ("domain",)
    return contestant.model is not None and _model(contestant.model).space.kind == "domain"


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


def labelling_jobs(
    name: str, problems: Sequence[Sequence[ProblemSet]], labelling: Optimal
) -> dict[str, list[Job]]:
    """By domain: one job for each problem; a problem without a plan within the limits leaves empty data.

    Behind each problem are those that may take its place then, of the same domain file.
    """
    check_names("problems", (one.name for attempts in problems for one in attempts))
    jobs: dict[str, list[Job]] = {}
    for attempts in problems:
        jobs.setdefault(attempts[0].domain, []).append(_label_job(name, attempts, labelling))
    return jobs


def _label_job(name: str, attempts: Sequence[ProblemSet], labelling: Optimal) -> Job:
    """`hstar sample optimal` for a problem; without a plan it leaves data without states.

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
    further = [
        f"--{option}" for option in ("siblings", "upper", "cpu", "satisficing") if getattr(labelling, option)
    ]
    further += ["--first"] if len(attempts) > 1 else []
    # The greedy searches may take as long again, and so may each problem, with its translation.
    time_limit = labelling.time_limit * (1 + labelling.upper + labelling.satisficing)
    time_limit += (len(attempts) - 1) * (time_limit + GRACE_S)
    return Job(
        kind="label",
        command=(*command, *limits, *further, "--keep-empty", "--quiet", "--json"),
        inputs={**texts, "domain.pddl": problem.lesson.source.files["domain.pddl"]},
        outputs=(LABELS,),
        time_limit=time_limit,
        cpu=labelling.cpu,
        labels=about(problem.domain, problem.name, name, 0, "label"),
    )


def labels_of(jobs: Sequence[Job], name: str = "labels", flag: str | None = None) -> Source:
    """What labelling leaves, by names of files, each after a flag if there is one."""
    files = {f"{name}{i}.data": Made(job.key, LABELS) for i, job in enumerate(jobs)}
    return Source(tuple(word for file in files for word in ([flag] if flag else []) + [f"{{{file}}}"]), files)


def merged(store: Store, jobs: Sequence[Job]) -> RelationalData | None:
    """The labelled states that these jobs have left; None if there are none."""
    latest = store.latest()
    ended = [latest[job.key] for job in jobs if job.key in latest]
    digests = [one.outputs[LABELS] for one in ended if one.status == "labelled"]
    for digest in digests:
        store.get(digest)  # refuses what is damaged
    data = merge(relational.load(store.path(digest)) for digest in digests) if digests else None
    return data if data and data.instances else None


def about(domain: str, instance: str, contestant: str, seed: int, step: str) -> dict[str, Any]:
    return {"domain": domain, "instance": instance, "contestant": contestant, "seed": seed, "step": step}
