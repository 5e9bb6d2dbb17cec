"""hstar is a heuristic-search planner that can learn its heuristic.

    import hstar

    task = hstar.load("domain.pddl", "problem.pddl")
    result = hstar.solve(task, search="astar", heuristic="lmcut", time_limit=60)
    print(result.status, result.plan_cost, result.plan)

Everything public is listed in `__all__`; sub-packages are imported when first used, so that `import hstar`
and `hstar --help` stay fast.
"""

from __future__ import annotations

import importlib
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hstar.errors import HstarError, InputError, ModelError, PDDLError, UnsupportedError
    from hstar.models.trained_model import TrainedModel, load_model
    from hstar.recipes import Recipe, recipes, train
    from hstar.search.admissibility import check_heuristic
    from hstar.search.heuristics import BatchHeuristic, Max, Sum, heuristics
    from hstar.search.solve import Result, SearchConfig, searches, solve
    from hstar.spaces.lifted_state import validate_pddl
    from hstar.spaces.load import load
    from hstar.spaces.task import Task
    from hstar.spaces.validate import Verdict

__version__ = "0.1.0"

_HOMES = {
    "hstar.errors": "HstarError InputError ModelError PDDLError UnsupportedError",
    "hstar.models": "TrainedModel load_model",
    "hstar.recipes": "Recipe recipes train",
    "hstar.search.admissibility": "check_heuristic",
    "hstar.search.heuristics": "BatchHeuristic Max Sum heuristics",
    "hstar.search.solve": "Result SearchConfig searches",
    "hstar.spaces.lifted_state": "validate_pddl",
    "hstar.spaces.load": "load",
    "hstar.spaces.task": "Task",
    "hstar.spaces.validate": "Verdict",
}

__all__ = [
    "BatchHeuristic",
    "HstarError",
    "InputError",
    "Max",
    "ModelError",
    "PDDLError",
    "Recipe",
    "Result",
    "SearchConfig",
    "Sum",
    "Task",
    "TrainedModel",
    "UnsupportedError",
    "Verdict",
    "__version__",
    "check_heuristic",
    "heuristics",
    "load",
    "load_model",
    "recipes",
    "searches",
    "solve",
    "train",
    "validate_pddl",
]


def _solve(problem: Any, heuristic: Any = None, search: str | None = None, **options: Any) -> Result:
    """Searches for a plan and validates it.

    `problem` is what `load` returns, or an object of your own with `start`, `is_goal` and `successors`.

    `heuristic` is a name, a trained model or the path of its file, `Max(...)`, `Sum(...)`, a function of a
    batch of states, or a list of these, between which gbfs and lazy alternate. Without one it is `ff` for
    tasks and the strongest named one elsewhere. `search` is one of `searches()`.

    Options are given by name, or all at once as `config`, a `SearchConfig`. `progress` is called about ten
    times a second, and `on_plan` for every better plan of an anytime search. Ctrl-C ends the search with
    status `interrupted`.
    """
    from hstar.errors import torch_explained
    from hstar.search.solve import solve as run

    with torch_explained("this model"):
        if isinstance(heuristic, list | tuple):
            return run(problem, [_model_of(one) for one in heuristic], search, **options)
        return run(problem, _model_of(heuristic), search, **options)


def _model_of(heuristic: Any) -> Any:
    """The trained model of a model file; any other heuristic as it is."""
    from hstar.files import names_model

    if not isinstance(heuristic, str | PurePath) or not names_model(str(heuristic)):
        return heuristic
    return __getattr__("load_model")(heuristic)


def __getattr__(name: str) -> Any:
    if name == "solve":  # its options are named when it is first used, so that importing hstar stays fast
        from hstar.options import name_options
        from hstar.search.solve import CALLBACKS, OPTIONS

        _solve.__name__ = _solve.__qualname__ = name
        name_options(_solve, CALLBACKS | OPTIONS)
        globals()[name] = _solve
        return _solve
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'hstar' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
