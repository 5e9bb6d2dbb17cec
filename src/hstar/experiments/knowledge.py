"""Knowledge of a domain: which steps to run on its tasks one after the other, and the models that they need.

`hstar learn` writes it, `hstar plan` runs it. A step is a candidate that was selected, with a CPU budget. A
candidate is anything with a name that makes a `Result` of a task: a search with symbolic heuristics, a search
with a trained model, a policy. Kinds of candidates are entered in `CANDIDATES` and imported when a file has
one, so that a symbolic step needs neither NumPy nor torch.

Invariants: the file is one safetensors file (`container.py`), replaced as a whole or not at all; reading it
runs no code from it. The last step has no budget of its own. A task is translated at most once, and only if a
step needs that. A plan of a step that did not translate the task is validated against its PDDL.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from hstar import __version__, container
from hstar.errors import InputError, ModelError, PlanError, TranslatorLimitError, UnsupportedError
from hstar.options import configured
from hstar.search.aliases import find_alias
from hstar.search.config import SearchConfig
from hstar.search.result import Result
from hstar.search.solve import solve
from hstar.spaces.lazy_task import LazyTask
from hstar.spaces.relations import Vocabulary, check_domain, vocabulary
from hstar.spaces.translate import OUT_OF_TIME

if TYPE_CHECKING:
    from hstar.models.trained_model import TrainedModel

KIND = "knowledge"
FORMAT_VERSION = 1
TIME_S = 60.0  # the time limit that budgets of steps are meant for; others scale them
BUDGETS = (25.0, 12.0, 8.0)  # of it, for the steps before the safety net, the best one first
TRIAL_S = 5.0  # of it, for a policy that solves less than searches without learning
MODEL = "model"  # stands for the trained model among the heuristics of a search
SAFETY_NET = "lama-first"
SYMBOLIC = "symbolic"

# By kind: where the class of such candidates is.
CANDIDATES = {
    "search": ("hstar.experiments.knowledge", "SearchCandidate"),
    "goal-rules": ("hstar.recipes.goal_rules", "GoalRules"),
}


class Candidate(Protocol):
    """A way to solve tasks of a domain."""

    kind: ClassVar[str]  # in CANDIDATES
    translated: ClassVar[bool]  # whether it needs the translated task, else `lifted` alone

    @property
    def name(self) -> str:
        """For people and tables; no two candidates of a selection share it."""

    @property
    def family(self) -> str:
        """Candidates of one family mostly fail together; it is `SYMBOLIC` without learning."""

    def to_parts(self) -> tuple[dict[str, Any], container.Tensors]:
        """What a file holds of it: plain JSON data, and tensors by name."""

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], tensors: container.Tensors) -> Candidate:
        """What `to_parts` gave; a `ModelError` or an `InputError` for anything else."""

    def run(self, problem: LazyTask, limits: SearchConfig) -> Result:
        """Looks for a plan within `cpu_time_limit`, `time_limit` and `memory_limit`, each perhaps None.

        A limit that runs out is a status, and so is Ctrl-C; `incomplete`, if it can do no more.
        """


@dataclass(frozen=True)
class SearchCandidate:
    """A search with symbolic heuristics, and perhaps a trained model, which `MODEL` stands for."""

    kind: ClassVar[str] = "search"
    translated: ClassVar[bool] = True

    name: str
    search: str
    heuristics: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)  # fields of SearchConfig
    model: TrainedModel[Any] | None = None

    @property
    def family(self) -> str:
        return SYMBOLIC if self.model is None else self.search

    def to_parts(self) -> tuple[dict[str, Any], container.Tensors]:
        names = ("name", "search", "options")
        header = {name: getattr(self, name) for name in names} | {"heuristics": list(self.heuristics)}
        if self.model is None:
            return header, {}
        model, tensors = self.model.to_parts()
        return {**header, MODEL: model}, dict(tensors)

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], tensors: container.Tensors) -> SearchCandidate:
        model = None
        if MODEL in header:
            from hstar.models.trained_model import from_parts

            model = from_parts(header[MODEL], tensors)
        heuristics, options = tuple(header["heuristics"]), dict(header["options"])
        configured(SearchConfig, options)
        if (MODEL in heuristics) != (model is not None):
            raise ModelError("damaged knowledge: a search without its model")
        return cls(str(header["name"]), str(header["search"]), heuristics, options, model)

    def run(self, problem: LazyTask, limits: SearchConfig) -> Result:
        given = [self.model if name == MODEL else name for name in self.heuristics]
        return solve(problem.translated(), given, self.search, config=replace(limits, **self.options))


def symbolic() -> list[SearchCandidate]:
    """The searches that know nothing of a domain; the safety net is the last one."""
    found = [SearchCandidate("lazy-ff", "lazy", ("ff",), {"preferred": True})]
    (step,) = find_alias(SAFETY_NET).steps
    return [*found, SearchCandidate(SAFETY_NET, step.search, step.heuristics, step.options)]


def with_model(name: str, model: TrainedModel[Any]) -> list[SearchCandidate]:
    """The searches that a model of a domain is tried in."""
    preferred = {"preferred": True, "costs": "one"}
    return [
        SearchCandidate(f"{name}-gbfs", "gbfs", (MODEL,), {}, model),
        SearchCandidate(f"{name}-ff", "lazy", (MODEL, "ff"), preferred, model),
        SearchCandidate(f"{name}-ff-landmarks", "lazy", (MODEL, "ff", "landmarks"), preferred, model),
    ]


@dataclass(frozen=True)
class Step:
    """A candidate, and how many seconds of CPU it may use if all steps have `TIME_S`; None: what is left."""

    candidate: Candidate
    seconds: float | None = None


@dataclass(frozen=True)
class Knowledge:
    """What `hstar plan` does with a task of the domain; `summary` says where that comes from."""

    words: Vocabulary
    steps: tuple[Step, ...]
    summary: Mapping[str, Any] = field(default_factory=dict)
    interrupted: bool = False
    version: str = __version__

    @property
    def learned(self) -> bool:
        return any(step.candidate.family != SYMBOLIC for step in self.steps)

    def save(self, path: Path) -> None:
        """Writes the file, as a whole or not at all."""
        steps: list[dict[str, Any]] = []
        tensors: container.Tensors = {}
        for number, step in enumerate(self.steps):
            header, own = step.candidate.to_parts()
            steps.append({"kind": step.candidate.kind, "seconds": step.seconds, "candidate": header})
            tensors |= {f"{number}/{name}": tensor for name, tensor in own.items()}
        header = {"domain": self.words.to_json(), "steps": steps, "summary": dict(self.summary)}
        header |= {"interrupted": self.interrupted, "version": self.version}
        container.write(path, KIND, FORMAT_VERSION, header, tensors)

    def check(self, problem: LazyTask) -> None:
        """An `InputError` if a problem is of another domain."""
        check_domain(problem.problem.name, vocabulary(problem.lifted), self.words)

    def run(
        self, problem: LazyTask, limits: SearchConfig, progress: Callable[[str], None] = lambda doing: None
    ) -> tuple[Result, list[dict[str, Any]]]:
        """The steps in their order, until one has a plan or proves that there is none; and what each came to.

        `limits` are for all of it, from PDDL to plan; limits of time scale the budgets of the steps.
        """
        self.check(problem)
        clock = _Clock(limits)
        result, rows, planned_s, stopped = Result("incomplete"), list[dict[str, Any]](), TIME_S, False
        for step in self.steps:
            if step.candidate.translated and not problem.is_translated:
                if stopped:
                    continue
                progress("translating")
                translation, row = _translated(problem, clock.left())
                rows.append(row)
                if stopped := translation is not None:
                    result = translation
                    continue
            left = clock.left()
            budgets = [left.cpu_time_limit]
            if step.seconds is not None:
                times = [one for one in (left.time_limit, left.cpu_time_limit) if one is not None]
                budgets.append(step.seconds * min(times, default=planned_s) / planned_s)
                planned_s = max(planned_s - step.seconds, 1.0)
            budget = min((one for one in budgets if one is not None), default=None)
            progress(step.candidate.name)
            started = _Clock(limits)
            result = _outcome(step.candidate, problem, replace(left, cpu_time_limit=budget))
            rows.append({"step": step.candidate.name, "status": result.status, **started.used()})
            if result.plan is not None or result.status in ("unsolvable", "interrupted"):
                break
        return result, rows


class _Clock:
    """What is left of limits from now on."""

    def __init__(self, limits: SearchConfig) -> None:
        self._limits, self._wall, self._cpu = limits, time.monotonic(), time.process_time()

    def used(self) -> dict[str, float]:
        return {"time": time.monotonic() - self._wall, "cpu_time": time.process_time() - self._cpu}

    def left(self) -> SearchConfig:
        def rest(limit: float | None, used: float) -> float | None:
            return None if limit is None else max(0.0, limit - used)

        limits, used = self._limits, self.used()
        wall, cpu = rest(limits.time_limit, used["time"]), rest(limits.cpu_time_limit, used["cpu_time"])
        return replace(limits, time_limit=wall, cpu_time_limit=cpu)


def _translated(problem: LazyTask, limits: SearchConfig) -> tuple[Result | None, dict[str, Any]]:
    """Translates the task. What is there to say if that was stopped, and a row about it."""
    started, result = _Clock(limits), None
    try:
        problem.translated(time_limit=limits.time_limit, memory_limit=limits.memory_limit)
    except KeyboardInterrupt:
        result = Result("interrupted")
    except MemoryError:
        result = Result("memory_limit")
    except TranslatorLimitError as error:
        result = Result("time_limit" if error.exit_code == OUT_OF_TIME else "memory_limit")
    status = "translated" if result is None else result.status
    return result, {"step": "translation", "status": status, **started.used()}


def _outcome(candidate: Candidate, problem: LazyTask, limits: SearchConfig) -> Result:
    """What a step comes to; what it cannot do is for the next one."""
    try:
        result = candidate.run(problem, limits)
    except KeyboardInterrupt:
        return Result("interrupted")
    except MemoryError:
        return Result("memory_limit")
    except UnsupportedError:
        return Result("incomplete")
    if result.plan is not None and result.actions is None:  # no search of the core has replayed it
        from hstar.spaces.lifted_state import validate_pddl

        verdict = validate_pddl(problem.lifted, result.plan)
        if not verdict.valid:
            raise PlanError(f"{candidate.name} returned an invalid plan: {verdict.reason}")
        result = replace(result, plan_cost=verdict.cost)
    return result


def load(path: Path) -> Knowledge:
    """Reads the file; a `ModelError` for anything else."""
    try:
        header, tensors = container.read(path, KIND, FORMAT_VERSION)
    except InputError as error:
        raise ModelError(str(error)) from None
    try:
        steps = [_step(one, _below(f"{number}/", tensors)) for number, one in enumerate(header["steps"])]
        if not steps:
            raise ValueError("no steps")
        words, about = Vocabulary.from_json(header["domain"]), (header["summary"], header["interrupted"])
        return Knowledge(words, tuple(steps), dict(about[0]), bool(about[1]), str(header["version"]))
    except (KeyError, TypeError, ValueError, AttributeError, InputError, ModelError) as error:
        raise ModelError(f"{path}: damaged knowledge: {error}") from None


def _step(header: Mapping[str, Any], tensors: container.Tensors) -> Step:
    module, name = CANDIDATES[header["kind"]]
    kind: type[Candidate] = getattr(importlib.import_module(module), name)
    seconds = header["seconds"]
    return Step(kind.from_parts(header["candidate"], tensors), None if seconds is None else float(seconds))


def _below(prefix: str, tensors: container.Tensors) -> container.Tensors:
    return {name.removeprefix(prefix): one for name, one in tensors.items() if name.startswith(prefix)}


def steps_of(best: Sequence[Candidate], trial: Candidate | None = None) -> tuple[Step, ...]:
    """A short trial, the selected candidates, the best one first, and the safety net with the time left."""
    net = symbolic()[-1]
    chosen = [one for one in best if one.name != net.name][: len(BUDGETS)]
    first = () if trial is None else (Step(trial, TRIAL_S),)
    return (*first, *map(Step, chosen, BUDGETS), Step(net))
