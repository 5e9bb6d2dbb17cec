"""The jobs of a suite: which trainings, searches, labels and comparisons its tables ask for.

Needs follow from the names: a search of a trained model needs its training, and that the data it names.
"""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from hstar.errors import InputError
from hstar.estimates.rules import parse as parse_rule
from hstar.experiments.contestants import Contestant, parse_contestant
from hstar.experiments.job import Job, Made
from hstar.experiments.problems import Lesson, ProblemSet, Source, map_source, option_words, spelled
from hstar.experiments.protocol import (
    DATA,
    Limits,
    accuracy_job,
    check_maps,
    check_search_options,
    contestant_jobs,
    labelling_jobs,
    labels_of,
    lesson_for,
    sampling_job,
    training_job,
)
from hstar.experiments.store import Store
from hstar.experiments.suite import (
    AccuracyTable,
    LimitTable,
    PlanTable,
    SampleTable,
    Suite,
    TrainTable,
    choices,
)
from hstar.experiments.suite_tasks import attempts_of, matches, sets_of
from hstar.files import MODEL
from hstar.recipes import RECIPES
from hstar.recipes.recipe import Parts
from hstar.registry import unknown
from hstar.sampling import make_sampler
from hstar.sampling.optimal import Optimal
from hstar.spaces.load import in_words
from hstar.units import parse_memory, parse_time

T = TypeVar("T", PlanTable, AccuracyTable)
E = TypeVar("E", PlanTable, TrainTable)


def suite_jobs(suite: Suite, home: Path, store: Store) -> list[Job]:
    """All jobs of a suite; its paths are relative to `home`.

    They are in the order in which they are best run: all of one training together, in the order of the file,
    and what labels and samples data just before it is needed.
    """
    return _Builder(suite, home, store).jobs()


class _Training(NamedTuple):
    """A `[[train]]`, or one choice of its `each`, and where it stands."""

    table: TrainTable
    place: int  # of the table
    number: int  # of the training


class _Builder:
    """What the tables of a suite stand for, by name."""

    def __init__(self, suite: Suite, home: Path, store: Store) -> None:
        self._suite, self._home, self._store = suite, home, store
        with suite.at("limits"):
            self._limits = _limits(suite.limits)
        self._sets = self._problem_sets()
        expanded = [(table, i) for i, one in enumerate(suite.train) for table in self._each("train", i, one)]
        self._trainings: dict[str, _Training] = {}
        for number, (table, place) in enumerate(expanded):
            with suite.at("train", place):
                spaces = RECIPES.get(table.recipe).spaces
                if table.maps and "map" not in spaces:
                    raise InputError(f"maps is for a map, and {table.recipe} for {in_words(spaces)}")
                if table.name in self._trainings:
                    raise InputError(f"two trainings are called '{table.name}'")
            self._trainings[table.name] = _Training(table, place, number)
        self._samples = self._sampling()
        self._labelled = self._labelling()

    def jobs(self) -> list[Job]:
        """Every job once, after those that it needs."""
        suite = self._suite
        made = [*self._samples.values()]
        made += [job for data in self._labelled.values() for part in data.values() for job in part]
        jobs: list[tuple[int, Job]] = []  # with the number of the training they belong to
        called: dict[str, str] = {}
        for i, table in enumerate(suite.plan):
            with suite.at("plan", i):
                for plan in self._of_models(list(self._each("plan", i, table))):
                    for job in self._searches(plan):
                        if called.setdefault(str(job.labels), job.key) != job.key:  # tables take one of them
                            name, where = job.labels["contestant"], job.labels["instance"]
                            raise InputError(f"two on '{where}' are called '{name}'; name one of them")
                        jobs.append((self._number(plan.model), job))
        names: set[tuple[str, str]] = set()
        for i, comparison in enumerate(suite.accuracy):
            with suite.at("accuracy", i):
                for one in self._of_models([comparison]):
                    name = one.name or (str(one.model) if one.rule is None else f"{one.model}, {one.rule}")
                    if (name, one.data) in names:  # they would be taken for seeds of one
                        raise InputError(f"two on '{one.data}' are called '{name}'; name one of them")
                    names.add((name, one.data))
                    jobs += [(self._number(one.model), job) for job in self._comparisons(one, name)]
        if not jobs and not made:
            raise InputError("nothing to do: there is no [[plan]], [[sample]], [[label]] or [[accuracy]]")
        return _with_needs([job for _, job in sorted(jobs, key=lambda entry: entry[0])], made)

    def _number(self, model: str | None) -> int:
        return self._trainings[model].number if model in self._trainings else -1

    # Tables.

    def _problem_sets(self) -> list[ProblemSet]:
        found: dict[str, ProblemSet] = {}
        for i, table in enumerate(self._suite.tasks):
            with self._suite.at("tasks", i):
                for one in sets_of(table, self._home, self._store):
                    if found.setdefault(one.name, one) != one:
                        raise InputError(f"two problems are called {one.name}; give them other names")
        return list(found.values())

    def _each(self, key: str, place: int, table: E) -> Iterator[E]:
        """A table with `each` as many tables; `{model}` in the name of a plan is left for later."""
        with self._suite.at(key, place):
            for options in choices(table.each):
                if not table.each:
                    yield table
                    continue
                name = table.name or ""
                for key, value in options.items():  # not str.format, which looks into values
                    name = name.replace(f"{{{key}}}", str(value))
                if any(sign in name.replace("{model}", "") for sign in "{}"):
                    raise InputError(f"the name '{table.name}' asks for what each has not")
                if name == table.name or not name:
                    first = next(iter(table.each))
                    raise InputError(f"with each the name tells the choices apart: {{{first}}}")
                chosen = {**table.options, **options}
                yield msgspec.structs.replace(table, name=name, each={}, options=chosen)

    def _of_models(self, tables: Sequence[T]) -> list[T]:
        """Tables whose model is a pattern as tables of the models that it fits; `{model}` in a name is it."""
        found: list[T] = []
        for table in tables:
            if table.model is None:
                found.append(table)
                continue
            names = [table.model]
            if any(sign in table.model for sign in "*?["):
                names = fnmatch.filter(self._trainings, table.model)
            if not names:
                known = ", ".join(self._trainings)
                raise InputError(f"model: nothing matches '{table.model}' (known: {known})")
            for model in names:
                name = table.name and table.name.replace("{model}", model)
                found.append(msgspec.structs.replace(table, model=model, name=name))
        return found

    def _sampling(self) -> dict[tuple[str, str, int], Job]:
        """By name of the table, name of the set, and seed."""
        found: dict[tuple[str, str, int], Job] = {}
        for i, table in enumerate(self._suite.sample):
            with self._suite.at("sample", i):
                options, tasks = _sampler_words(table), [one for one in self._sets if one.kind == "task"]
                for one, seed in itertools.product(tasks, table.seeds):
                    about = (table.name, table.sampler, one.lesson, seed)
                    found[table.name, one.name, seed] = sampling_job(*about, options, self._limits)
        return found

    def _labelling(self) -> dict[str, dict[str, list[Job]]]:
        """By name and by domain; tables of one name, for instance of several domains, are one set of data."""
        found: dict[str, dict[str, list[Job]]] = {}
        for i, table in enumerate(self._suite.label):
            with self._suite.at("label", i):
                limits = parse_time(table.time), parse_memory(table.memory)
                labelling = Optimal(*limits, table.siblings, table.upper, self._limits.cpu)
                attempts = attempts_of(table, self._home, self._store)
                data = found.setdefault(table.name, {})
                for domain, part in labelling_jobs(table.name, attempts, labelling).items():
                    data.setdefault(domain, []).extend(part)
        return found

    # Jobs of a table.

    def _searches(self, plan: PlanTable) -> list[Job]:
        contestant, training = self._contestant(plan), self._trainings.get(plan.model or "")
        sets, more = self._only(plan), dict[str, Any]()
        if training is not None:
            lessons = {one.name: self._lesson(training, contestant.name, one) for one in sets}
            more["seeds"] = training.table.seeds
            more["lesson_of"] = lambda one, seed: self._with_data(training.table, lessons[one.name], seed)
        search = self._suite.search
        return contestant_jobs(contestant, sets, self._store, limits=self._limits, search=search, **more)

    def _only(self, plan: PlanTable) -> list[ProblemSet]:
        known = list(dict.fromkeys(one.domain for one in self._sets))
        for pattern in plan.only:
            if known and not fnmatch.filter(known, pattern):
                raise unknown("domain", pattern, known)
        chosen = {domain for pattern in plan.only or ["*"] for domain in fnmatch.filter(known, pattern)}
        return [one for one in self._sets if one.domain in chosen]

    def _contestant(self, table: PlanTable) -> Contestant:
        chosen = [word for word in (table.model, table.heuristic, table.planner) if word is not None]
        if len(chosen) != 1:
            raise InputError("give one of model, heuristic and planner")
        check_search_options(table.options)
        # Switches of `hstar solve` have no word for off.
        words = option_words({key: value for key, value in table.options.items() if value is not False})
        who: dict[str, Any] = {"heuristic": table.heuristic}
        if table.model in self._trainings:
            training = self._trainings[table.model].table
            who = {"recipe": training.recipe, "options": option_words(training.options)}
            who["training"] = training.name
        elif table.model is not None:
            if not table.model.endswith(MODEL):
                raise unknown("model", table.model, [*self._trainings, f"a file *{MODEL}"])
            who = {"model": self._home / table.model}
        elif table.planner is not None:
            who = {"alias": parse_contestant(table.planner).alias}
            if who["alias"] is None:
                raise InputError(f"planner is fd: and an alias of Fast Downward, got '{table.planner}'")
        how = {name: getattr(table, name) for name in ("search", "preferred", "precision")}
        return Contestant(table.name or chosen[0], **who, **how, search_options=words)

    def _lesson(self, training: _Training, name: str, one: ProblemSet) -> Lesson:
        """What a training learns from for a set; everything in its table is checked."""
        table = training.table
        with self._suite.at("train", training.place):
            lesson = lesson_for(RECIPES.get(table.recipe), one)
            parts, files = self._checked(table, lesson.kind, one)
            if lesson.kind == "domain":
                return self._of_domain(table, one.domain)
            if lesson.kind != "map":
                return lesson
            if "maps" not in parts:
                told = f"recipe {table.recipe} learns about one map with one goal"
                raise InputError(f"{told}, and {one.domain} has many")
            lesson = replace(lesson, source=map_source(files, self._store))
        check_maps(name, parts, files, table.seeds, one)
        return lesson

    def _checked(
        self, table: TrainTable, kind: str, one: ProblemSet | None = None
    ) -> tuple[Parts, list[Path]]:
        """The parts of the recipe, and files of maps; an `InputError` for wrong options and foreign keys.

        No job is made of a table before this: options that are no fields of parts could name files to write.
        """
        recipe, options = RECIPES.get(table.recipe), spelled(table.options)
        takes = {*recipe.method(kind).takes, {"domain": "data", "map": "maps"}.get(kind)}
        for key in ("data", "held_out", "maps"):
            if getattr(table, key) and key not in takes:
                raise InputError(f"{key} is not for {table.recipe} on {in_words([kind])}")
        if "seed" in options:
            raise InputError("seed: give seeds, a list, beside the options")
        profile = options.pop("profile", None)
        files = matches(table.maps, self._home)
        source = files or None if kind == "map" else one.examples[0] if one and one.examples else None
        return recipe.check(kind, profile, options, source), files

    def _with_data(self, table: TrainTable, lesson: Lesson, seed: int) -> Lesson:
        """A task with the data of a `[[sample]]`: those of the training's seed, or the only ones."""
        if table.data is None or lesson.kind == "domain":
            return lesson
        tables = {sample.name: sample for sample in self._suite.sample}
        if table.data in self._labelled:
            raise InputError(f"'{table.data}' is a [[label]], and {table.recipe} learns from a [[sample]]")
        if table.data not in tables:
            raise unknown("data", table.data, list(tables))
        seeds = tables[table.data].seeds
        if len(seeds) > 1 and seed not in seeds:
            raise InputError(f"'{table.name}' has seed {seed}, but '{table.data}' has not")
        job = self._samples[table.data, lesson.instance, seed if len(seeds) > 1 else seeds[0]]
        words = (*lesson.source.words, "--data", f"{{{DATA}}}")
        files = {**lesson.source.files, DATA: Made(job.key, DATA)}
        return replace(lesson, source=Source(words, files))

    def _of_domain(self, table: TrainTable, domain: str) -> Lesson:
        if table.data is None:
            raise InputError(f"'{table.name}' needs data, the name of a [[label]]")
        for name in filter(None, (table.data, table.held_out)):
            if name not in self._labelled:
                raise unknown("data", name, list(self._labelled))
        if domain not in self._labelled[table.data]:
            raise InputError(f"'{table.name}': there are no labelled problems of {domain}")
        source = labels_of(self._labelled[table.data][domain])
        if table.held_out is not None:
            if domain not in self._labelled[table.held_out]:
                raise InputError(f"'{table.name}': there are no held-out problems of {domain}")
            held_out = labels_of(self._labelled[table.held_out][domain], "held-out", "--held-out")
            source = Source((*source.words, *held_out.words), {**source.files, **held_out.files})
        return Lesson("domain", domain, domain, source)

    def _comparisons(self, table: AccuracyTable, name: str) -> Iterator[Job]:
        """The jobs of an `[[accuracy]]`; the training is one job with that of the searches."""
        if table.model not in self._trainings:
            raise unknown("model", table.model, list(self._trainings))
        if table.data not in self._labelled:
            raise unknown("data", table.data, list(self._labelled))
        training, place = self._trainings[table.model].table, self._trainings[table.model].place
        if "domain" not in RECIPES.get(training.recipe).spaces:
            raise InputError(f"'{table.model}' is for one task: see the errors of a [[sample]]")
        if table.rule is not None:
            parse_rule(table.rule)
        with self._suite.at("train", place):
            self._checked(training, "domain")
        contestant = replace(self._contestant(PlanTable(model=table.model)), name=name)
        domains = self._labelled[table.data]
        known = [domain for domain in domains if domain in self._labelled.get(training.data or "", {})]
        for domain in known or domains:
            lesson = self._of_domain(training, domain)
            for seed in training.seeds:
                trained = training_job(contestant, lesson, seed, self._limits)
                compared = accuracy_job(contestant, trained, domains[domain], table.rule, self._limits)
                # One model may be compared with several sets of data.
                where = {"instance": f"{domain}/{table.data}"}
                yield from (trained, replace(compared, labels={**compared.labels, **where}))


def _limits(table: LimitTable) -> Limits:
    time, training = map(parse_time, (table.time, table.training))
    memory, most = map(parse_memory, (table.memory, table.training_memory))
    return Limits(time, memory, training, most, table.cpu)


def _sampler_words(table: SampleTable) -> list[str]:
    """Words of `hstar sample`; a wrong option should not wait for its job."""
    options: dict[str, Any] = {key: value for key, value in table.options.items() if key != "profile"}
    make_sampler(table.sampler, **options)
    return [*option_words(table.options), *(["--errors"] if table.errors else [])]


def _with_needs(jobs: Sequence[Job], made: Sequence[Job]) -> list[Job]:
    """Each job once, what it needs of `made` before it, and the rest of `made` at the end."""
    makers: dict[str, list[Job]] = {}
    for job in made:
        makers.setdefault(job.key, []).append(job)
    ordered: list[Job] = []
    for job in jobs:
        needs = (source.key for source in job.inputs.values() if isinstance(source, Made))
        ordered += [maker for key in needs for maker in makers.get(key, ())]
        ordered.append(job)
    found: dict[tuple[str, str], Job] = {}
    for job in (*ordered, *made):
        found.setdefault((job.key, str(job.labels)), job)
    return list(found.values())
