"""`hstar solve`: a plan for a problem of any kind."""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar import __version__
from hstar.cli.app import Parser, checked
from hstar.cli.options import flag, parse_bound
from hstar.cli.problems import add_problem, check_problem_options, kind_of_files, load_problems
from hstar.cli.progress import ProgressLine
from hstar.cli.promise import promise, proven
from hstar.cli.tasks import check_writable
from hstar.errors import InputError, ModelError, TranslatorLimitError
from hstar.files import names_model, replace_file
from hstar.registry import unknown
from hstar.search.aliases import Alias, find_alias
from hstar.search.heuristics import Heuristic, Max, Sum, heuristics
from hstar.search.solve import DEFAULT_SEARCH, Found, Result, SearchConfig, searches
from hstar.search.solve import solve as search_for_plan
from hstar.spaces.translate import OUT_OF_TIME
from hstar.units import format_bytes, format_count, parse_count, parse_memory, parse_time

if TYPE_CHECKING:
    pass

DESCRIPTION = """\
PROBLEM is a planning task, a puzzle, a map, or a user's own state space. The plan goes to standard output,
one step a line, everything for people to standard error."""
EXAMPLES = (
    "hstar solve domain.pddl problem.pddl",
    "hstar solve problem.pddl --search astar --heuristic lmcut --time-limit 5m --memory-limit 4G",
    "hstar solve problem.pddl --search lazy --heuristic ff --preferred --plan-file plan.txt",
    "hstar solve output.sas --search astar --heuristic lmcut --heuristic hmax --combine max --json",
    "hstar solve problem.pddl --alias lama --time-limit 5m --plan-file plan.txt",
    "hstar solve problem.pddl --bound 1.5 --heuristic ff",
    "hstar solve problem.pddl --anytime --time-limit 5s --plan-file plan.txt",
    "hstar solve tiles:3x3 --random 5 --seed 1 --heuristic manhattan --json",
    "hstar solve map.png --start 0,0 --goal 19,29",
)

_DEFAULTS = SearchConfig()
_COMBINE = ("alternate", "max", "sum")
_MAX_WEIGHT = 1e6
_BEST_FIRST = ("gbfs", "astar", "wastar")
# What only some searches heed; asked of another one it is refused rather than ignored.
_ONLY_FOR = {
    "weight": ("wastar",),
    "ties": ("gbfs", "lazy", "astar", "wastar", "focal"),
    "preferred": ("gbfs", "lazy"),
    "boost": ("gbfs", "lazy"),
    "goal_at_generation": ("gbfs",),
    "evaluate_duplicates": ("gbfs",),
    "batch": _BEST_FIRST,
    "bound": ("focal",),
    "anytime": ("focal",),
    "anchor": ("focal",),
    "anchor_every": ("focal",),
    "proof": ("focal",),
    "guide_weight": ("focal", "lazy"),
    "max_cost": ("lazy",),
    "optimistic": ("focal",),
    "pruning": ("idastar",),
    "table_bytes": ("idastar",),
    "threads": ("idastar",),
    "eps": ("astar",),
}
# What only some kinds of space have.
_ONLY_ON = {
    "preferred": "task",
    "costs": "task",
    "proof": "puzzle",
    "pruning": "puzzle",
    "table_bytes": "puzzle",
    "threads": "puzzle",
    "eps": "map",
}
_WORDS = {"task": "a planning task", "puzzle": "a puzzle", "map": "a map", "own": "an own space"}
_SEVERAL_HEURISTICS = ("gbfs", "lazy")


def configure(parser: Parser) -> None:
    """The arguments."""
    described = {entry.name: entry.metadata["help"] for entry in fields(SearchConfig)}

    def option(name: str, *flags: str, more: str = "", **settings: Any) -> None:
        shown = f"{described[name]}{more}"
        parser.add_argument(flag(name), *flags, help=shown, default=getattr(_DEFAULTS, name), **settings)

    count, memory = checked(parse_count), checked(parse_memory)
    add_problem(parser)
    parser.add_argument(
        "--search",
        "-s",
        metavar="NAME",
        help=f"one of {_names(searches())} (default: gbfs for tasks, idastar for puzzles, else astar, "
        "or what a model recommends; focal with --bound or --anytime)",
    )
    parser.add_argument(
        "--heuristic",
        "-e",
        metavar="NAME",
        action="append",
        help=f"tasks: one of {_names(heuristics())}; others: hstar list heuristics; or a model file of "
        "hstar train; give it several times to use several (default: ff, or the strongest one of the space)",
    )
    parser.add_argument(
        "--alias",
        metavar="NAME",
        help="a named configuration instead of --search and --heuristic, such as lama-first, or lama, which "
        "is anytime: hstar list aliases",
    )
    parser.add_argument(
        "--alias-file", metavar="FILE", type=Path, help="a TOML file with aliases of your own"
    )
    parser.add_argument(
        "--combine",
        metavar="HOW",
        default="alternate",
        help="several heuristics: alternate between them (gbfs, lazy), or take their max or sum",
    )
    parser.add_argument(
        "--precision",
        metavar="NAME",
        help="how a model file computes: float32 (default), or int16, which is faster and differs little",
    )
    parser.add_argument(
        "--plan-file", metavar="FILE", type=Path, help="write the plan here instead of to standard output"
    )
    option("time_limit", "-t", metavar="T", type=checked(parse_time), more=" 30s, 5m, 1h. With translation.")
    option("memory_limit", "-m", metavar="M", type=memory, more=" 512M, 4G; MiB if bare.")
    for name in (
        "max_evaluations",
        "max_expansions",
        "max_cost",
        "seed",
        "boost",
        "batch",
        "anchor_every",
        "threads",
    ):
        option(name, metavar="N", type=count)
    option("weight", metavar="W", type=checked(_parse_weight))
    option("bound", metavar="W", type=checked(parse_bound))
    option("preferred", "-p", action="store_true")
    for name in ("goal_at_generation", "evaluate_duplicates", "anytime", "optimistic"):
        option(name, action="store_true")
    for name in ("ties", "anchor", "proof", "pruning", "costs"):
        option(name, metavar="NAME")
    for name in ("guide_weight", "eps"):
        option(name, metavar="X", type=float)
    option("table_bytes", metavar="M", type=memory)
    parser.add_argument(
        "--rule",
        metavar="RULE",
        help="the number of a model that the search uses, if not its own rule: mean, clip, quantile:LEVEL, "
        "likely:ALPHA, bounded:EPS",
    )
    parser.add_argument(
        "--alpha",
        type=float,
        metavar="A",
        help="use the value that the model believes to be admissible with probability A: --rule likely:A",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print a JSON object for each problem on standard output, nothing else",
    )
    parser.add_argument("--quiet", "-q", action="store_true", help="no progress, no summary")


def run(arguments: argparse.Namespace) -> int:
    """Searches, and puts what was found where it was asked for."""
    started = time.monotonic()
    kind = kind_of_files(arguments.files)
    check_problem_options(arguments, kind)
    alias = _chosen_alias(arguments)
    parts = _heuristics(arguments, kind)
    if arguments.search is None:
        arguments.search = _default_search(arguments, kind, parts)
    names = [entry.name for entry in fields(SearchConfig) if hasattr(arguments, entry.name)]
    config = SearchConfig(**{name: getattr(arguments, name) for name in names})
    _check_options(arguments, config, kind)
    if arguments.plan_file is not None:
        check_writable(arguments.plan_file, "plan", streams=True)
    results: list[Result] = []
    with ProgressLine(arguments.quiet) as progress:
        progress.announce(f"{'translating' if kind == 'task' else 'loading'} {arguments.files[-1]} ...")
        for name, result in _searched(arguments, kind, alias or parts, config, progress):
            results.append(result)
            told = None
            if result.plan is not None and parts:
                told = promise(parts, arguments.combine, arguments.search, config.weight, result.unit_cost)
            _put(arguments, name, result, told, time.monotonic() - started)
    return next((result.exit_code for result in results if not result.solved), 0)


def _put(
    arguments: argparse.Namespace, name: str, result: Result, told: dict[str, Any] | None, total_time: float
) -> None:
    """One result where it was asked for.

    A plan that cannot be written where it should go is shown all the same, and the error comes last.
    """
    unwritten: InputError | None = None
    if result.plan is not None and arguments.plan_file is not None:
        try:
            _write_plan(arguments.plan_file, result.plan_text())
        except InputError as error:
            unwritten = error
    if arguments.json:
        record = {**_about(arguments), **result.to_json(), "total_time": total_time, "promise": told}
        if result.states is not None:
            record |= {"id": name, "path": _plain(result.states)}
        print(json.dumps(record))
    elif result.plan is not None and (arguments.plan_file is None or unwritten):
        print(result.plan_text(), end="")
    sys.stdout.flush()
    if not arguments.quiet and not arguments.json:
        print(_summary(result), file=sys.stderr)
        if told is not None:
            print(f"the plan {told['text']}", file=sys.stderr)
    if unwritten is not None:
        raise unwritten


def _plain(states: Any) -> list[Any]:
    """States as JSON: lists of numbers, and words for states that are neither numbers nor sequences."""

    def plain(state: Any) -> Any:
        if hasattr(state, "tolist"):
            return state.tolist()
        if isinstance(state, tuple | list):
            return [plain(part) for part in state]
        return state if isinstance(state, int | float | str | None) else repr(state)

    return [plain(state) for state in states]


def _default_search(arguments: argparse.Namespace, kind: str, parts: Sequence[Any]) -> str:
    if arguments.anytime or arguments.bound is not None:
        return "focal"
    recommended = getattr(parts[0], "search", {}) if len(parts) == 1 else {}
    return str(recommended.get("search", DEFAULT_SEARCH[kind]))


def _searched(
    arguments: argparse.Namespace,
    kind: str,
    parts: Alias | Sequence[Any],
    config: SearchConfig,
    progress: ProgressLine,
) -> Iterator[tuple[str, Result]]:
    """Loads and searches; what ends it early is a result, in translation as in search."""
    started = time.monotonic()
    try:
        problems = load_problems(
            arguments, kind, time_limit=config.time_limit, memory_limit=config.memory_limit
        )
    except KeyboardInterrupt:
        yield arguments.files[-1].name, _stopped("interrupted")
        return
    except MemoryError:
        yield arguments.files[-1].name, _stopped("memory_limit")
        return
    except TranslatorLimitError as error:
        yield (
            arguments.files[-1].name,
            _stopped("time_limit" if error.exit_code == OUT_OF_TIME else "memory_limit"),
        )
        return
    if config.time_limit is not None and kind == "task":  # the translation counts, too
        config = replace(config, time_limit=max(0.0, config.time_limit - (time.monotonic() - started)))
    better = functools.partial(_better, arguments, progress)
    if not isinstance(parts, Alias):
        heuristic = _combined(list(parts), arguments.combine) if parts else None
    for name, problem in problems:
        try:
            if isinstance(parts, Alias):
                result = parts.run(problem, config, progress, better)
            else:
                result = search_for_plan(
                    problem, heuristic, arguments.search, config=config, progress=progress, on_plan=better
                )
        except KeyboardInterrupt:
            result = _stopped("interrupted")
        except MemoryError:
            result = _stopped("memory_limit")
        yield name, result
        if result.status == "interrupted":
            return


def _better(arguments: argparse.Namespace, progress: ProgressLine, found: Found) -> None:
    """A better plan is shown, and written at once: whatever happens to this process, it is there."""
    if not arguments.anytime and arguments.alias is None:
        return
    if arguments.plan_file is not None:
        with contextlib.suppress(InputError):  # said at the end, where the last plan is written
            _write_plan(arguments.plan_file, found.plan_text())
    progress.message(
        f"{found.time:.2f} s: plan of cost {found.plan_cost}{proven(found.lower_bound, found.ratio)}"
    )


def _stopped(status: str) -> Result:
    """The result of a run that ended before the search did anything."""
    from hstar._core import peak_memory

    counts: dict[str, Any] = dict.fromkeys(
        ("expanded", "evaluated", "generated", "reopened", "dead_ends", "anchored"), 0
    )
    return Result(
        status=status,
        plan=None,
        plan_cost=None,
        plan_length=None,
        lower_bound=None,
        **counts,
        initial_h=None,
        search_time=0.0,
        cpu_time=0.0,
        peak_memory=peak_memory(),
        registered_states=0,
        state_bytes=0,
        memory_before_search=0,
        unit_cost=False,
    )


# Options.


def _names(infos: Any) -> str:
    return ", ".join(info.name for info in infos)


def _parse_weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 <= weight <= _MAX_WEIGHT:
        raise InputError(f"expected a number from 0 to {_MAX_WEIGHT:.0f}, got '{text}'")
    return weight


def _chosen_alias(arguments: argparse.Namespace) -> Alias | None:
    """The alias, whose first step stands for it where options are checked."""
    if arguments.alias is None:
        if arguments.alias_file is not None:
            raise InputError("--alias-file is for --alias")
        return None
    if arguments.search or arguments.heuristic:
        raise InputError("--alias stands for --search and --heuristic; leave these out")
    alias = find_alias(arguments.alias, arguments.alias_file)
    arguments.search, arguments.heuristic = alias.steps[0].search, list(alias.steps[0].heuristics)
    return alias


def _heuristics(arguments: argparse.Namespace, kind: str) -> list[Any]:
    """What the names say; empty for the default. It is checked before a translation, which may be long."""
    known = {info.name: info for info in heuristics()}
    names: list[str] = arguments.heuristic or (["ff"] if kind == "task" else [])
    rule = _rule(arguments)
    parts: list[Any] = []
    for name in names:
        if names_model(name):
            parts.append(_model(arguments, name, rule, kind))
        elif kind != "task" or name in (*known, "zero"):
            parts.append(name)
        else:
            raise unknown("heuristic", name, list(known))
    if arguments.combine not in _COMBINE:
        raise unknown("way to --combine", arguments.combine, list(_COMBINE))
    for option in ("precision", "rule", "alpha"):
        if getattr(arguments, option) is not None and all(isinstance(part, str) for part in parts):
            raise InputError(
                f"--{option} is for model files, not for {', '.join(names) or 'the default heuristic'}"
            )
    if arguments.preferred and not any(name in known and known[name].preferred_operators for name in names):
        able = ", ".join(name for name, info in known.items() if info.preferred_operators)
        raise InputError(f"--preferred: {', '.join(names)} has no preferred operators; use {able}")
    arguments.heuristic = names
    return parts


def _rule(arguments: argparse.Namespace) -> Any:
    if arguments.rule is None and arguments.alpha is None:
        return None
    from hstar.estimates.rules import chosen

    return chosen(arguments.rule, arguments.alpha)


def _model(arguments: argparse.Namespace, name: str, rule: Any, kind: str) -> Any:
    from hstar.models.trained_model import load_model

    model = load_model(name)
    if model.space.kind != kind and (model.space.kind, kind) != ("domain", "task"):
        raise ModelError(f"the model was trained for {model.space}, asked for {_WORDS[kind]}")
    if rule is not None:
        model = model.with_rule(rule)
    return model if arguments.precision is None else model.with_precision(arguments.precision)


def _combined(parts: list[Heuristic], how: str) -> Heuristic | list[Heuristic]:
    if how == "alternate":
        return parts
    return Max(*parts) if how == "max" else Sum(*parts)


def _check_options(arguments: argparse.Namespace, config: SearchConfig, kind: str) -> None:
    search = arguments.search
    names = [info.name for info in searches()]
    if search not in names:
        raise unknown("search", search, names)
    admissible = [info.name for info in heuristics() if info.admissible]
    if kind == "task" and config.anchor is not None and config.anchor not in admissible:
        raise unknown("admissible heuristic for --anchor", config.anchor, admissible)
    for name, able in _ONLY_FOR.items():
        if getattr(config, name) != getattr(_DEFAULTS, name) and search not in able:
            raise InputError(f"{flag(name)} is for {', '.join(able)}, not for {search}")
    for name, where in _ONLY_ON.items():
        if getattr(config, name) != getattr(_DEFAULTS, name) and kind != where:
            raise InputError(f"{flag(name)} is for a {where}, and {arguments.files[0]} is a {kind}")
    several = len(arguments.heuristic) > 1 and arguments.combine == "alternate"
    if several and search not in _SEVERAL_HEURISTICS:
        raise InputError(f"{search} takes one heuristic; put several together by --combine max or sum")


# Output.


def _write_plan(path: Path, text: str) -> None:
    try:
        replace_file(path, text.encode(), durable=False)
    except OSError as error:
        raise InputError(f"cannot write the plan: {error.strerror}", file=path) from None


def _about(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "hstar_version": __version__,
        "task": arguments.files[-1].name,
        "alias": arguments.alias,
        "search": arguments.search,
        "heuristic": arguments.heuristic,
        "combine": arguments.combine,
        "precision": arguments.precision,
        "rule": arguments.rule,
        "alpha": arguments.alpha,
        "seed": arguments.seed,
        "bound": arguments.bound,
        "anytime": arguments.anytime,
    }


def _summary(result: Result) -> str:
    rate = result.evaluated / max(result.search_time, 1e-9)
    found = (
        f"plan of length {result.plan_length}, cost {result.plan_cost}"
        f"{proven(result.lower_bound, result.ratio)}; "
        if result.plan is not None
        else ""
    )
    if result.plan is None and result.lower_bound:
        found = f"no plan costs less than {result.lower_bound}; "
    return (
        f"{result.status.replace('_', ' ')}: {found}{format_count(result.expanded)} expanded, "
        f"{format_count(result.evaluated)} evaluated ({format_count(rate)}/s) in {result.search_time:.3f} s, "
        f"{format_bytes(result.peak_memory)}"
    )
