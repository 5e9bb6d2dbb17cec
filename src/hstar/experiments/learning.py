"""`hstar learn`: from problems of a domain to knowledge that solves others, within a wall-clock budget.

1. Label: states along plans of the smaller problems, given ones or found by A*, else by lama-first. 2. Train
the models of `LEARNERS` on them. 3. Select by search: every candidate, those without learning among them,
runs on the largest problems, which were not trained on if there are enough others. Successive halving
(Jamieson and Talwalkar, AISTATS 2016) on CPU time: the better half goes on with twice the limit. A candidate
is better that solves more, or as many in less CPU time from PDDL to plan; an unsolved problem counts twice
the limit (PAR-2). If no candidate solves any, the next smaller problems are taken. Of candidates for which
the problems are easy, the one is better that expands fewer states for a step of its plans: what needs no
search on small problems needs little on large ones, whereas times of milliseconds say nothing about these.

Invariant: `Learning.knowledge` is valid at any moment, also when `run` was interrupted: what is not known yet
is left out, down to the safety net alone.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hstar.errors import InputError
from hstar.experiments.driver import LocalExecutor, Standing, run
from hstar.experiments.job import DONE, HSTAR, OWN_LIMIT, Job, Record
from hstar.experiments.knowledge import (
    SYMBOLIC,
    TRIAL_S,
    Candidate,
    Knowledge,
    Step,
    load,
    steps_of,
    symbolic,
    with_model,
)
from hstar.experiments.problems import ProblemSet
from hstar.experiments.protocol import LABELS, about
from hstar.experiments.store import Store
from hstar.files import read_bytes
from hstar.spaces.pddl import read_task
from hstar.spaces.relations import Vocabulary, vocabulary

LABELLED, TRAINED, SELECTED = 0.35, 0.6, 0.95  # shares of the budget by which each part ends
MOST_JUDGES = 12  # problems of the selection
JUDGES_SHARE = 8  # of so many problems one is kept for the selection, ...
LEAST_TRAINING = 8  # ... if so many are left to learn from
MANY = 3 * LEAST_TRAINING  # problems of which a share is learned from first
USED = 3.0  # limits in one round would take so many times its share, if no run ended before
LEAST_LIMIT = 0.2  # seconds of CPU of a run in the first round
TRANSLATION_S = 30.0  # for the translation of a problem of the selection, beyond the limit of the step
EASY_S = 1.0  # mean CPU time of a problem up to which differences say nothing about larger ones
MEMORY = 4 << 30  # bytes of each process
MODEL_FILE, CANDIDATE_FILE, PLAN_FILE = "model.hstar", "candidate.hstar", "found.plan"

Progress = Callable[[str], None]


# Trained on labelled states, by name: what `hstar train` is given before the labels.
LEARNERS = {
    "wl-ranking": ("wl", "--objective", "ranking"),
    "wl-regression": ("wl", "--objective", "regression"),
}

# Learned from plans, by name: a function in a module, of the domain file and of pairs of a problem and its
# plan, which returns candidates.
PLAN_LEARNERS = {"goal-rules": ("hstar.recipes.learn_goal_rules", "learn_from_files")}
_FROM_PLANS = "import sys; from hstar.experiments.learning import learn_from_plans as run; run(*sys.argv[1:])"


@dataclass(frozen=True)
class Score:
    """What a candidate did on the problems of a round."""

    name: str
    solved: int
    problems: int
    seconds: float  # of CPU; an unsolved problem counts twice the limit
    effort: float = 1.0  # expansions for a step of a plan

    @property
    def easy(self) -> bool:
        return self.seconds <= EASY_S * self.problems

    @property
    def rank(self) -> tuple[float, ...]:
        """Less is better. Equal ones and close efforts stay in their order, which is that of `LEARNERS`."""
        effort = round(2 * math.log2(max(self.effort, 1.0)))
        return (-self.solved, not self.easy, effort if self.easy else self.seconds)

    def __str__(self) -> str:
        return f"{self.name} ({self.solved} of {self.problems} problems, {self.seconds:.2f} s)"


@dataclass
class Learning:
    """One run. Problems are in the order of their size, the smallest first."""

    words: Vocabulary
    store: Store
    problems: Sequence[ProblemSet]
    label_jobs: Callable[[Sequence[ProblemSet], float], list[Job]]  # by the time limit of a problem
    budget: float  # seconds
    jobs: int
    progress: Progress = lambda text: None
    started: float = field(default_factory=time.monotonic)
    candidates: list[Candidate] = field(default_factory=lambda: [*symbolic()])  # the best one first
    rounds: list[list[Score]] = field(default_factory=list)  # of the selection, the best one first in each
    notes: list[str] = field(default_factory=list)  # what did not work
    states: int = 0
    labelled: int = 0

    @property
    def judges(self) -> Sequence[ProblemSet]:
        """The problems of the selection: the largest ones."""
        return self.problems[-min(MOST_JUDGES, max(len(self.problems) // JUDGES_SHARE, 1)) :]

    @property
    def lessons(self) -> Sequence[ProblemSet]:
        """The problems to learn from."""
        smaller = self.problems[: len(self.problems) - len(self.judges)]
        return smaller if len(smaller) >= LEAST_TRAINING else self.problems

    def run(self) -> None:
        """All parts; what is known is in the fields whenever it is interrupted."""
        labels = self._label()
        if labels:
            self._train(labels)
        self._select()

    def knowledge(self, *, interrupted: bool = False) -> Knowledge:
        """The best candidates of families, as far as learning helps, and the safety net.

        Searches of one family mostly fail together, others where it succeeds: so there is one of each. What
        needs no translation comes first, since on huge problems that may take all the time; if it solves at
        least half, but less than what needs no learning, for a short trial.
        """
        learned = [one for one in self.candidates if one.family != SYMBOLIC]
        able, trial = [one for one in learned if self._helps(one)], None
        if self.rounds:
            halves = [one for one in learned if self._solves_half(one)]
            trial = next((one for one in halves if not one.translated and one not in able), None)
            if able:  # then other families are worth a step, too
                able += [one for one in halves if one is not trial]
        families: dict[str, Candidate] = {}
        for one in able:
            families.setdefault(one.family, one)
        best = list(families.values())
        best.sort(key=lambda one: one.translated)
        if not best and self.rounds:
            best = [one for one in self.candidates if one.family == SYMBOLIC or self._solves(one)][:1]
        summary: dict[str, Any] = {
            "problems": len(self.problems),
            "labelled": self.labelled,
            "states": self.states,
            "selection": [[vars(score) for score in scores] for scores in self.rounds],
            "notes": self.notes,
            "budget_s": self.budget,
            "time_s": round(time.monotonic() - self.started, 3),
        }
        return Knowledge(self.words, steps_of(best, trial), summary, interrupted)

    def _helps(self, candidate: Candidate) -> bool:
        """Whether it is no worse than what needs no learning, or all problems are too easy to tell.

        Where nothing was tried, greedy search is left out, which a bad model misleads most.
        """
        if not self.rounds:
            return candidate.family != "gbfs"
        scores, own = self._last_scores(candidate)
        if not own.solved:
            return False
        others = [one for one in scores if one.name in {each.name for each in symbolic()}]
        return all(own.solved >= one.solved and (own.easy or own.seconds <= one.seconds) for one in others)

    def _solves(self, candidate: Candidate) -> bool:
        return self._last_scores(candidate)[1].solved > 0

    def _solves_half(self, candidate: Candidate) -> bool:
        _, own = self._last_scores(candidate)
        return 2 * own.solved >= own.problems

    def _last_scores(self, candidate: Candidate) -> tuple[Sequence[Score], Score]:
        """Those of the last round that it took part in, and its own."""
        scores = next(s for s in reversed(self.rounds) if candidate.name in {one.name for one in s})
        return scores, next(one for one in scores if one.name == candidate.name)

    def _left(self, share: float) -> float:
        return self.started + share * self.budget - time.monotonic()

    def _jobs(self, jobs: Sequence[Job], share: float, what: str) -> list[Record]:
        """Rows of the jobs that end before this share of the budget does."""
        if (left := self._left(share)) <= 0 or not jobs:
            return []

        def shown(standing: Standing) -> None:
            self.progress(f"{what}: {standing.finished} of {standing.total} done")

        # What learns from plans runs beside the trainings.
        slots = self.jobs + sum(job.kind == "make" for job in jobs)
        with contextlib.closing(LocalExecutor(slots, self.store.folder / "scratch")) as executor:
            return run(self.store, jobs, executor, progress=shown, deadline=time.monotonic() + left)

    def _label(self) -> list[Job]:
        """The jobs that left labelled states."""
        lessons = self.lessons
        limit = min(max(self._left(LABELLED) * self.jobs / len(lessons) / 1.5, 0.5), 10.0)
        jobs = [_with_plan(job) for job in self.label_jobs(lessons, limit)]
        rows = {row["instance"]: row for row in self._jobs(jobs, LABELLED, "labelling")}
        found = [job for job in jobs if rows.get(job.labels["instance"], {}).get("states")]
        self.labelled = len(found)
        self.states = sum(rows[job.labels["instance"]]["states"] for job in found)
        if not found:
            why = "no plan of a problem was found in time" if rows else "the budget is too small to label"
            self.notes.append(f"nothing learned: {why}")
        return found

    def _train(self, labels: Sequence[Job]) -> None:
        """Adds the candidates of each model, and those that are learned from plans.

        Of many problems the smallest third comes first; its model is used if all take too long.
        """
        parts = [labels[: len(labels) // 3], labels] if len(labels) >= MANY else [labels]
        ways = {name: [self._from_plans(name, labels)] for name in PLAN_LEARNERS}
        ways |= {name: [self._training(name, part) for part in parts] for name in LEARNERS}
        try:
            jobs = [job for some in itertools.zip_longest(*ways.values()) for job in some if job is not None]
            self._jobs(jobs, TRAINED, "training")
        finally:  # also if it was interrupted
            done = self.store.latest()
            for name, jobs in ways.items():
                ended = [done[job.key] for job in jobs if job.key in done]
                if made := [one for one in ended if one.status in DONE]:
                    (digest,) = made[-1].outputs.values()
                    self.candidates += _candidates(name, self.store.path(digest))
                else:
                    why = ended[-1].record.get("error") or ended[-1].status if ended else "out of time"
                    why = re.sub(r"^hstar\.errors\.\w+: ", "", why)  # of a process of its own
                    self.notes.append(f"no {name}: {why.replace('_', ' ')}")

    def _training(self, name: str, labels: Sequence[Job]) -> Job:
        made = self.store.latest()
        files = {f"{i}.data": made[job.key].outputs[LABELS] for i, job in enumerate(labels)}
        words = (*(f"{{{file}}}" for file in files), "-o", f"{{{MODEL_FILE}}}", "-q", "--json")
        return Job(
            kind="train",
            command=(*HSTAR, "train", *LEARNERS[name], *words),
            inputs=files,
            outputs=(MODEL_FILE,),
            time_limit=max(self._left(TRAINED), 1.0),
            labels=about(self.words.domain, f"{len(labels)} problems", name, 0, "train"),
        )

    def _from_plans(self, name: str, labels: Sequence[Job]) -> Job:
        """One of `PLAN_LEARNERS`, in a process of its own."""
        made, instances = self.store.latest(), [job.labels["instance"] for job in labels]
        files = {one.name: one.lesson.source.files for one in self.problems}
        inputs = {"domain.pddl": files[instances[0]]["domain.pddl"]}
        for i, (job, instance) in enumerate(zip(labels, instances, strict=True)):
            inputs[f"{i}.pddl"] = files[instance]["problem.pddl"]
            inputs[f"{i}.plan"] = made[job.key].outputs[PLAN_FILE]
        words = (*PLAN_LEARNERS[name], *(f"{{{file}}}" for file in (CANDIDATE_FILE, *inputs)))
        return Job(
            kind="make",
            command=("{python}", "-c", _FROM_PLANS, *words),
            inputs=inputs,
            outputs=(CANDIDATE_FILE,),
            time_limit=max(self._left(TRAINED), 1.0),
            labels=about(self.words.domain, f"{len(labels)} problems", name, 0, "train"),
        )

    def _select(self) -> None:
        """Puts the best candidate first."""
        problems, judges, number = self.problems, list(reversed(self.judges)), 0
        rounds = max(math.ceil(math.log2(len(self.candidates))), 1)
        # In every round the runs take at most as long as in the first one; most end long before the limit.
        share = USED * self._left(SELECTED) * self.jobs / rounds
        limit = max(share / (len(self.candidates) * len(judges)), LEAST_LIMIT)
        alive, rows = list(self.candidates), dict[tuple[str, str], Record]()
        while number < rounds:
            what = f"selection, round {number + 1} of {rounds}"
            jobs = self._runs(alive, judges, limit)
            todo = [job for job in jobs if rows.get(_key(job.labels), {}).get("status") != "solved"]
            new = {_key(row): row for row in self._jobs(todo, SELECTED, what)}
            if todo and not new:
                break
            rows |= new  # where the time was too short for a run, that of the round before counts
            tried = [one.name for one in judges if all((one.name, each.name) in rows for each in alive)]
            if not tried:
                break
            scores = [_score(one.name, [rows[name, one.name] for name in tried], limit) for one in alive]
            self.rounds.append(sorted(scores, key=lambda score: score.rank))
            smaller = problems[: -len(judges)]
            if smaller and not any(score.solved for score in scores):  # too hard to tell
                problems, judges = smaller, list(reversed(smaller[-len(judges) :]))
                continue
            order = [score.name for score in self.rounds[-1]]
            beaten = [one for one in self.candidates if one.name not in order]
            alive.sort(key=lambda one: order.index(one.name))
            self.candidates = [*alive, *beaten]
            alive = alive[: math.ceil(len(alive) / 2)]
            limit, number = 2 * limit, number + 1
        if not self.rounds:
            self.notes.append("nothing selected: the budget is too small")

    def _runs(self, alive: Sequence[Candidate], judges: Sequence[ProblemSet], limit: float) -> list[Job]:
        """All candidates on a problem before the next one, so that a part of the runs can be compared."""
        files = {one.name: self._file(one, limit) for one in alive}
        return [
            Job(
                kind="search",
                command=(
                    *(*HSTAR, "plan", f"{{{CANDIDATE_FILE}}}", "{domain.pddl}", "{problem.pddl}", "{plan}"),
                    *(OWN_LIMIT, f"{MEMORY >> 20}M", "-q", "--json"),
                ),
                inputs={**problem.lesson.source.files, CANDIDATE_FILE: file},
                outputs=("plan",),
                time_limit=limit + TRANSLATION_S,
                cpu=True,
                labels=about(problem.domain, problem.name, name, 0, "search"),
            )
            for problem in judges
            for name, file in files.items()
        ]

    def _file(self, candidate: Candidate, limit: float) -> str:
        """A file in the store with this candidate alone."""
        path = self.store.folder / CANDIDATE_FILE
        Knowledge(self.words, (Step(candidate, limit),)).save(path)
        return self.store.put(read_bytes(path))


def _candidates(name: str, file: Path) -> Sequence[Candidate]:
    """What a learner has left: candidates, or a model for several of them."""
    from hstar.models.trained_model import load_model

    if name in PLAN_LEARNERS:
        return [step.candidate for step in load(file).steps]
    return with_model(name, load_model(file))


def learn_from_plans(module: str, function: str, output: str, *files: str) -> None:
    """The job of a `PLAN_LEARNERS`: writes its candidates as knowledge, or says why there are none."""
    domain, *others = map(Path, files)
    pairs = list(zip(others[::2], others[1::2], strict=True))
    found = getattr(importlib.import_module(module), function)(domain, pairs)
    if not found:
        raise InputError("nothing was learned")
    words = vocabulary(read_task(domain, others[0]))
    Knowledge(words, tuple(map(Step, found))).save(Path(output))


def _with_plan(job: Job) -> Job:
    """The labelling that leaves its plan, too, and without a plan nothing."""
    words = (word for word in job.command if word != "--keep-empty")
    command = (*words, "--plan-file", f"{{{PLAN_FILE}}}")
    return replace(job, command=command, outputs=(*job.outputs, PLAN_FILE))


def _score(name: str, rows: Sequence[Mapping[str, Any]], limit: float) -> Score:
    solved = [row for row in rows if row["status"] == "solved"]
    # Without the start of Python and its imports, which is the same on huge problems.
    used = sum(step["cpu_time"] for row in solved for step in row["steps"])
    seconds = used + 2 * limit * (len(rows) - len(solved))
    steps = sum(row["plan_length"] or 0 for row in solved)
    return Score(
        name, len(solved), len(rows), seconds, sum(row["expansions"] for row in solved) / max(steps, 1)
    )


def _key(labels: Mapping[str, Any]) -> tuple[str, str]:
    return labels["instance"], labels["contestant"]


def in_words(learning: Learning) -> str:
    """What was selected, and what it is compared with."""
    knowledge = learning.knowledge()
    chosen = ", ".join(step.candidate.name for step in knowledge.steps)
    if not learning.rounds:
        return f"{chosen}; not compared with others"
    learned = {one.name for one in learning.candidates if one.family != SYMBOLIC}
    if not learned:
        return f"{chosen}; symbolic, since no model was trained"
    scores = next(s for s in reversed(learning.rounds) if len({one.name in learned for one in s}) == 2)
    best, other = (next(one for one in scores if (one.name in learned) == known) for known in (True, False))
    of_learning = [step for step in knowledge.steps if step.candidate.family != SYMBOLIC]
    rest = "the other steps are symbolic" if of_learning else "symbolic"
    only_tried = all(step.seconds == TRIAL_S for step in of_learning)
    why = f"{rest}, since learning does not help: " if only_tried else ""
    return f"{chosen}; {why}best with learning {best}, without {other}"
