"""hstar as an engine of unified-planning.

    import hstar.up

    hstar.up.register()
    with OneshotPlanner(name="hstar", params={"heuristic": "m.hstar"}) as planner:
        result = planner.solve(problem)

`hstar` finds plans quickly, one or better and better ones. `hstar-opt` finds optimal ones: A* with `lmcut`
unless an admissible heuristic is named. Problems are written as PDDL by unified-planning's own writer, whose
names plans are read back with. A status says `SOLVED_OPTIMALLY` only where the search has proven it.

The other way round, `heuristic_function(problem, "m.hstar")` is a heuristic of hstar, learned or not, as the
function of a state that engines of unified-planning take as `heuristic=`.
"""

from __future__ import annotations

import contextlib
import math
import queue
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from warnings import warn

import numpy as np

from hstar.errors import HstarError, PDDLError, UnsupportedError
from hstar.files import names_model
from hstar.search.heuristics import build
from hstar.search.solve import solve
from hstar.spaces.lifted_state import validate_pddl
from hstar.spaces.load import load
from hstar.spaces.task import Task

try:
    import unified_planning as up
except ImportError:
    raise UnsupportedError("hstar.up needs unified-planning: pip install 'hstar[up]'") from None
from unified_planning.engines import AnytimeGuarantee, Credits, Engine, OptimalityGuarantee
from unified_planning.engines import PlanGenerationResultStatus as Status
from unified_planning.engines.mixins import AnytimePlannerMixin, OneshotPlannerMixin
from unified_planning.engines.results import LogLevel, LogMessage, PlanGenerationResult
from unified_planning.io import PDDLReader, PDDLWriter
from unified_planning.model import ProblemKind

_STATUS = {
    "unsolvable": Status.UNSOLVABLE_PROVEN,
    "incomplete": Status.UNSOLVABLE_INCOMPLETELY,
    "time_limit": Status.TIMEOUT,
    "memory_limit": Status.MEMOUT,
}
_COUNTS = ("expanded", "evaluated", "generated", "search_time")
_SUPPORTED = {
    "ACTION_BASED",
    *("FLAT_TYPING", "HIERARCHICAL_TYPING"),
    *("NEGATIVE_CONDITIONS", "DISJUNCTIVE_CONDITIONS", "EQUALITIES"),
    *("EXISTENTIAL_CONDITIONS", "UNIVERSAL_CONDITIONS", "CONDITIONAL_EFFECTS", "FORALL_EFFECTS"),
    *("STATIC_FLUENTS_IN_BOOLEAN_ASSIGNMENTS", "FLUENTS_IN_BOOLEAN_ASSIGNMENTS"),
    *("ACTIONS_COST", "PLAN_LENGTH", "STATIC_FLUENTS_IN_ACTIONS_COST", "INT_NUMBERS_IN_ACTIONS_COST"),
}


def register(environment: Any = None) -> None:
    """Makes `hstar` and `hstar-opt` known to the factory of an environment (default: the global one)."""
    factory = (environment or up.environment.get_environment()).factory
    for name, engine in (("hstar", "HstarEngine"), ("hstar-opt", "HstarOptimalEngine")):
        if name not in factory.engines:
            factory.add_engine(name, __name__, engine)


class _Stopped(Exception):  # noqa: N818  (not an error: nobody takes plans any more)
    """The user of an anytime search has left it."""


class HstarEngine(Engine, OneshotPlannerMixin, AnytimePlannerMixin):  # type: ignore[misc]
    """Searches for any plan, or for better and better ones.

    `heuristic` is a name or a model file of `hstar train`, or a list of these, and `search` a name, both as
    `hstar.solve` takes them. `options` are fields of `hstar.SearchConfig`.
    """

    def __init__(self, heuristic: Any = None, search: str | None = None, **options: Any) -> None:
        Engine.__init__(self)
        OneshotPlannerMixin.__init__(self)
        AnytimePlannerMixin.__init__(self)
        self._heuristic, self._search, self._options = heuristic, search, options

    def _search_for(self, task: Any, options: dict[str, Any]) -> Any:
        return solve(task, _loaded(self._heuristic), self._search, **options)

    def _searches_lazily(self, more: dict[str, Any]) -> bool:
        """Whether the search can be told to find cheaper plans only: it is `lazy`, as by default."""
        default = self._search is None and self._heuristic is None
        return not more and (default or self._search == "lazy")

    @property
    def name(self) -> str:
        return "hstar"

    @staticmethod
    def supported_kind() -> Any:
        return ProblemKind(_SUPPORTED)

    @staticmethod
    def supports(problem_kind: Any) -> bool:
        return bool(problem_kind <= HstarEngine.supported_kind())

    @staticmethod
    def satisfies(optimality_guarantee: Any) -> bool:
        return bool(optimality_guarantee == OptimalityGuarantee.SATISFICING)

    @staticmethod
    def ensures(anytime_guarantee: Any) -> bool:
        return bool(anytime_guarantee == AnytimeGuarantee.INCREASING_QUALITY)

    @staticmethod
    def get_credits(**kwargs: Any) -> Any:
        text = "A heuristic-search planner that can learn its heuristic."
        return Credits("hstar", "The authors of hstar", "", "", "MIT", text, text)

    def _solve(
        self, problem: Any, heuristic: Any = None, timeout: Any = None, output_stream: Any = None
    ) -> Any:
        return self._solve_with_params(problem, heuristic, timeout, output_stream)

    def _solve_with_params(
        self,
        problem: Any,
        heuristic: Any = None,
        timeout: Any = None,
        output_stream: Any = None,
        warm_start_plan: Any = None,
        **more: Any,
    ) -> Any:
        if heuristic is not None:
            warn("hstar takes no function of states as heuristic; name one in params", stacklevel=2)
        return _Asked(self, problem, timeout, output_stream, warm_start_plan).solve({})

    def _get_solutions(self, problem: Any, timeout: Any = None, output_stream: Any = None) -> Iterator[Any]:
        return self._get_solutions_with_params(problem, timeout, output_stream)

    def _get_solutions_with_params(
        self,
        problem: Any,
        timeout: Any = None,
        output_stream: Any = None,
        warm_start_plan: Any = None,
        **more: Any,
    ) -> Iterator[Any]:
        asked = _Asked(self, problem, timeout, output_stream, warm_start_plan)
        found: queue.Queue[Any] = queue.Queue()
        left = threading.Event()

        def progress(record: Any) -> None:
            if left.is_set():
                raise _Stopped

        def search() -> None:
            told = {"anytime": True, "progress": progress, "on_plan": found.put}
            try:
                found.put(asked.solve(told))
            except BaseException as error:
                found.put(error)

        thread = threading.Thread(target=search, daemon=True)
        thread.start()
        try:
            while not isinstance(answer := found.get(), PlanGenerationResult):
                if isinstance(answer, BaseException):
                    raise answer
                if asked.bound is None or answer.plan_cost < asked.bound:
                    metrics = {"cost": str(answer.plan_cost)}
                    yield asked.result(Status.INTERMEDIATE, answer.plan_text(), metrics)
            yield answer
        finally:
            left.set()
            thread.join()


class HstarOptimalEngine(HstarEngine):
    """A* with an admissible heuristic: plans are optimal.

    Unless one is named, it is `lmcut`, or `hmax` for tasks with axioms or conditional effects, which `lmcut`
    does not take.
    """

    def __init__(self, heuristic: Any = None, **options: Any) -> None:
        super().__init__(heuristic, "astar", **options)

    def _search_for(self, task: Any, options: dict[str, Any]) -> Any:
        if self._heuristic is not None:
            return super()._search_for(task, options)
        try:
            return solve(task, "lmcut", "astar", **options)
        except UnsupportedError:
            return solve(task, "hmax", "astar", **options)

    @property
    def name(self) -> str:
        return "hstar-opt"

    @staticmethod
    def satisfies(optimality_guarantee: Any) -> bool:
        return True

    @staticmethod
    def is_anytime_planner() -> bool:
        return False


def _loaded(heuristic: Any) -> Any:
    """Model files as their models; names as they are."""
    if isinstance(heuristic, list | tuple):
        return [_loaded(one) for one in heuristic]
    if not isinstance(heuristic, str | Path) or not names_model(heuristic):
        return heuristic
    from hstar.models.trained_model import load_model

    return load_model(heuristic)


@contextlib.contextmanager
def _as_task(writer: PDDLWriter) -> Iterator[Task]:
    """The problem of a writer as a task; models read its files again."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, "domain.pddl"), Path(folder, "problem.pddl")]
        writer.write_domain(str(files[0]))
        writer.write_problem(str(files[1]))
        yield load(*files)


def heuristic_function(problem: Any, heuristic: Any) -> Callable[[Any], float | None]:
    """A heuristic as a function of states of `problem`: the cost-to-go, or None for a dead end.

    `heuristic` is a name or a model file, as in `params`. Engines of unified-planning that take a Python
    function as `heuristic=` can search with it.
    """
    writer = PDDLWriter(problem, rewrite_bool_assignments=True)
    with _as_task(writer) as task:
        values_of = build(task, _loaded(heuristic))
    layers = task.core.axiom_layers
    facts = [(v, value, a) for v, atoms in enumerate(task.atoms) for value, a in enumerate(atoms)]
    fluents = [
        (variable, value, writer.get_item_named(atom[0])(*map(writer.get_item_named, atom[1:])))
        for variable, value, atom in facts
        if atom is not None and layers[variable] < 0
    ]

    def evaluate(state: Any) -> float | None:
        values = list(task.core.default_values)
        for variable, value, fluent in fluents:
            if state.get_value(fluent).is_true():
                values[variable] = value
            elif values[variable] == value:  # what no atom stands for
                values[variable] = task.atoms[variable].index(None) if None in task.atoms[variable] else value
        completed = task.core.with_initial_state(values).initial_state  # derived variables, too
        found = float(values_of.evaluate(np.array([completed], dtype=np.int32))[0])
        return None if math.isinf(found) else found

    return evaluate


class _Asked:
    """A problem of unified-planning as PDDL, and the way back of its plans."""

    def __init__(
        self, engine: HstarEngine, problem: Any, timeout: float | None, stream: Any, warm: Any = None
    ) -> None:
        self._engine, self._problem, self._timeout, self._stream = engine, problem, timeout, stream
        self._writer = PDDLWriter(problem, rewrite_bool_assignments=True)
        self._warm = None if warm is None else self._writer.get_plan(warm)
        self.bound: float | None = None  # the cost of the warm start, once it is known

    def solve(self, more: dict[str, Any]) -> Any:
        engine = self._engine
        options = {**engine._options, **more}
        if self._timeout is not None:
            options["time_limit"] = float(self._timeout)
        try:
            with _as_task(self._writer) as task:
                if self._warm is not None:
                    steps = [line.strip(" ()") for line in self._warm.lower().splitlines()]
                    verdict = validate_pddl(task.lifted, [step for step in steps if step])
                    self.bound = verdict.cost if verdict.valid else None
                    if self.bound is None:
                        warn("hstar ignores warm_start_plan: it is no plan of the problem", stacklevel=2)
                    elif engine._searches_lazily(more):
                        options["max_cost"] = int(self.bound)
                result = engine._search_for(task, options)
        except (PDDLError, UnsupportedError) as error:
            return self.result(Status.UNSUPPORTED_PROBLEM, None, {}, (LogLevel.ERROR, str(error)))
        except HstarError as error:  # a wrong parameter, or a model of another domain
            raise up.exceptions.UPUsageError(str(error)) from None
        metrics = {name: str(getattr(result, name)) for name in _COUNTS}
        metrics |= {
            name: str(value) for name in ("plan_cost", "lower_bound") if (value := getattr(result, name))
        }
        status = _STATUS.get(result.status, Status.INTERNAL_ERROR)
        if self.bound is not None and (result.plan is None or result.plan_cost >= self.bound):
            proven = result.lower_bound is not None and result.lower_bound >= self.bound
            proven = proven and bool(self._problem.quality_metrics)
            status = Status.SOLVED_OPTIMALLY if proven else Status.SOLVED_SATISFICING
            said = LogLevel.INFO, f"no plan that is cheaper than warm_start_plan: {result!r}"
            return self.result(status, self._warm, {**metrics, "plan_cost": str(self.bound)}, said)
        if result.plan is not None:
            proven = result.ratio == 1 and bool(self._problem.quality_metrics)
            status = Status.SOLVED_OPTIMALLY if proven else Status.SOLVED_SATISFICING
        text = None if result.plan is None else result.plan_text()
        return self.result(status, text, metrics, (LogLevel.INFO, repr(result)))

    def result(self, status: Any, plan: str | None, metrics: dict[str, str], said: Any = None) -> Any:
        """What unified-planning takes; the plan in the names of its problem."""
        logs = []
        if said is not None:
            logs.append(LogMessage(*said))
            if self._stream is not None:
                self._stream.write(f"{said[1]}\n")
        read = None
        if plan is not None:
            reader = PDDLReader(self._problem.environment)
            read = reader.parse_plan_string(self._problem, plan, self._writer.get_item_named)
        return PlanGenerationResult(status, read, self._engine.name, metrics or None, logs or None)
