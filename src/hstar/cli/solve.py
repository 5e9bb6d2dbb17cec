"""`hstar solve`: a plan for a task."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar import __version__
from hstar.cli.app import Parser, checked
from hstar.cli.options import parse_bound
from hstar.cli.progress import ProgressLine
from hstar.cli.promise import promise, proven
from hstar.cli.tasks import add_task_files, check_writable, load_files
from hstar.errors import InputError, TranslatorLimitError
from hstar.files import replace_file
from hstar.registry import unknown
from hstar.search.heuristics import Heuristic, Max, Sum, heuristics
from hstar.search.solve import Found, Result, SearchConfig, searches
from hstar.search.solve import solve as search_for_plan
from hstar.spaces.translate import OUT_OF_TIME
from hstar.units import format_bytes, format_count, parse_count, parse_memory, parse_time

if TYPE_CHECKING:
    from hstar.estimates.rules import Rule

DESCRIPTION = """\
The plan goes to standard output in IPC format, everything for people to standard error."""
EXAMPLES = (
    "hstar solve domain.pddl problem.pddl",
    "hstar solve problem.pddl --search astar --heuristic lmcut --time-limit 5m --memory-limit 4G",
    "hstar solve problem.pddl --search lazy --heuristic ff --preferred --plan-file plan.txt",
    "hstar solve output.sas --search astar --heuristic lmcut --heuristic hmax --combine max --json",
    "hstar solve problem.pddl --bound 1.5 --heuristic ff",
    "hstar solve problem.pddl --anytime --time-limit 5s --plan-file plan.txt",
)

_DEFAULTS = SearchConfig()
_COMBINE = ("alternate", "max", "sum")
_TIES = ("fifo", "lifo", "random")
_MAX_WEIGHT = 1e6
# What only some searches heed; asked of another one it is refused rather than ignored.
_ONLY_FOR = {
    "weight": ("wastar",),
    "ties": ("gbfs", "lazy", "astar", "wastar", "focal"),
    "preferred": ("gbfs", "lazy"),
    "boost": ("gbfs", "lazy"),
    "goal_at_generation": ("gbfs",),
    "evaluate_duplicates": ("gbfs",),
    "bound": ("focal",),
    "anytime": ("focal",),
    "anchor": ("focal",),
    "anchor_every": ("focal",),
}
_SEVERAL_HEURISTICS = ("gbfs", "lazy")


def configure(parser: Parser) -> None:
    """The arguments."""
    described = {entry.name: entry.metadata["help"] for entry in fields(SearchConfig)}

    def option(name: str, *flags: str, more: str = "", **settings: Any) -> None:
        shown = f"{described[name]}{more}"
        flag = "--" + name.replace("_", "-")
        parser.add_argument(flag, *flags, help=shown, default=getattr(_DEFAULTS, name), **settings)

    count = checked(parse_count)
    add_task_files(parser)
    parser.add_argument(
        "--search",
        "-s",
        metavar="NAME",
        help=f"one of {_names(searches())} (default: gbfs; focal with --bound or --anytime)",
    )
    parser.add_argument(
        "--heuristic",
        "-e",
        metavar="NAME",
        action="append",
        help=f"one of {_names(heuristics())}, or a model file of hstar train; give it several times to use "
        "several (default: ff)",
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
    option("memory_limit", "-m", metavar="M", type=checked(parse_memory), more=" 512M, 4G; MiB if bare.")
    option("max_evaluations", metavar="N", type=count)
    option("max_expansions", metavar="N", type=count)
    option("weight", metavar="W", type=checked(_parse_weight))
    option("ties", metavar="ORDER")
    option("seed", metavar="N", type=count)
    option("preferred", "-p", action="store_true")
    option("boost", metavar="N", type=count)
    option("goal_at_generation", action="store_true")
    option("evaluate_duplicates", action="store_true")
    option("bound", metavar="W", type=checked(parse_bound))
    option("anytime", action="store_true")
    option("anchor", metavar="NAME")
    option("anchor_every", metavar="N", type=count)
    parser.add_argument(
        "--rule",
        metavar="RULE",
        help="what the search sees of a model, if not its own rule: mean, clip, quantile:ALPHA, bounded:EPS",
    )
    parser.add_argument(
        "--alpha",
        type=float,
        metavar="A",
        help="of a model with spread, the value that is admissible with probability A: --rule quantile:1-A",
    )
    parser.add_argument("--unit-cost", action="store_true", help="count every action as cost 1")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object on standard output, nothing else"
    )
    parser.add_argument("--quiet", "-q", action="store_true", help="no progress, no summary")


def run(arguments: argparse.Namespace) -> int:
    """Searches, and puts what was found where it was asked for."""
    started = time.monotonic()
    if arguments.search is None:
        arguments.search = "focal" if arguments.anytime or arguments.bound is not None else "gbfs"
    parts = _heuristics(arguments)
    config = SearchConfig(**{entry.name: getattr(arguments, entry.name) for entry in fields(SearchConfig)})
    _check_options(arguments, config)
    if arguments.plan_file is not None:
        check_writable(arguments.plan_file, "plan", streams=True)

    with ProgressLine(arguments.quiet) as progress:
        progress.announce(f"translating {arguments.files[-1]} ...")
        result = _search(arguments, _combined(parts, arguments.combine), config, progress)
    total_time = time.monotonic() - started
    told = None
    if result.plan is not None:
        told = promise(parts, arguments.combine, arguments.search, config.weight, result.unit_cost)

    # A plan that cannot be written where it should go is shown all the same, and the error comes last.
    unwritten: InputError | None = None
    if result.plan is not None and arguments.plan_file is not None:
        try:
            _write_plan(arguments.plan_file, result.plan_text())
        except InputError as error:
            unwritten = error
    if arguments.json:
        record = {**_about(arguments), **result.to_json(), "total_time": total_time, "promise": told}
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
    return result.exit_code


def _search(
    arguments: argparse.Namespace,
    heuristic: Heuristic | list[Heuristic],
    config: SearchConfig,
    progress: ProgressLine,
) -> Result:
    """Loads and searches; what ends it early is a result, in translation as in search."""
    started = time.monotonic()
    try:
        task = load_files(
            arguments.files,
            unit_cost=arguments.unit_cost,
            cache=not arguments.no_cache,
            translator=arguments.translator,
            time_limit=config.time_limit,
            memory_limit=config.memory_limit,
        )
        if config.time_limit is not None:
            left = config.time_limit - (time.monotonic() - started)
            config = replace(config, time_limit=max(0.0, left))
        return search_for_plan(
            task,
            heuristic,
            arguments.search,
            config=config,
            progress=progress,
            on_plan=lambda found: _better(arguments, found, progress),
        )
    except KeyboardInterrupt:
        return _stopped("interrupted")
    except MemoryError:
        return _stopped("memory_limit")
    except TranslatorLimitError as error:
        return _stopped("time_limit" if error.exit_code == OUT_OF_TIME else "memory_limit")


def _better(arguments: argparse.Namespace, found: Found, progress: ProgressLine) -> None:
    """A better plan is shown, and written at once: whatever happens to this process, it is there."""
    if not arguments.anytime:
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

    counts = dict.fromkeys(("expanded", "evaluated", "generated", "reopened", "dead_ends", "anchored"), 0)
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


def _heuristics(arguments: argparse.Namespace) -> list[Heuristic]:
    """What the names say. Everything is checked before the translation, which may take long."""
    names: list[str] = arguments.heuristic or ["ff"]
    known = {info.name: info for info in heuristics()}
    parts: list[Heuristic] = []
    for name in names:
        if name in known:
            parts.append(name)
        elif name.endswith(".hstar") or Path(name).is_file():
            from hstar.models.domain_model import DomainModel, load_heuristic

            model = load_heuristic(name)
            if (rule := _rule(arguments)) is not None:
                model = model.with_rule(rule)
            if arguments.precision is not None:
                if isinstance(model, DomainModel):
                    raise InputError(f"--precision is for networks of a task, and {name} is of a domain")
                model = model.with_precision(arguments.precision)
            parts.append(model)
        else:
            raise unknown("heuristic", name, list(known))
    if arguments.combine not in _COMBINE:
        raise unknown("way to --combine", arguments.combine, list(_COMBINE))
    for option in ("precision", "rule", "alpha"):
        if getattr(arguments, option) is not None and all(name in known for name in names):
            raise InputError(f"--{option} is for model files, not for {', '.join(names)}")
    if arguments.preferred and not any(name in known and known[name].preferred_operators for name in names):
        able = ", ".join(name for name, info in known.items() if info.preferred_operators)
        raise InputError(f"--preferred: {', '.join(names)} has no preferred operators; use {able}")
    arguments.heuristic = names
    return parts


def _rule(arguments: argparse.Namespace) -> Rule | None:
    """What the search is to see of models, if not what they say themselves."""
    from hstar.estimates.rules import Quantile, parse

    if arguments.alpha is None:
        return None if arguments.rule is None else parse(arguments.rule)
    if arguments.rule is not None:
        raise InputError("give either --rule or --alpha, not both")
    if not 0 < arguments.alpha < 1:
        raise InputError(f"alpha must be between 0 and 1, got {arguments.alpha:g}")
    return Quantile(1 - arguments.alpha)


def _combined(parts: list[Heuristic], how: str) -> Heuristic | list[Heuristic]:
    if how == "alternate":
        return parts
    return Max(*parts) if how == "max" else Sum(*parts)


def _check_options(arguments: argparse.Namespace, config: SearchConfig) -> None:
    search = arguments.search
    names = [info.name for info in searches()]
    if search not in names:
        raise unknown("search", search, names)
    if config.ties not in _TIES:
        raise unknown("order of --ties", config.ties, list(_TIES))
    admissible = [info.name for info in heuristics() if info.admissible]
    if config.anchor is not None and config.anchor not in admissible:
        raise unknown("admissible heuristic for --anchor", config.anchor, admissible)
    for name, able in _ONLY_FOR.items():
        if getattr(config, name) != getattr(_DEFAULTS, name) and search not in able:
            raise InputError(f"--{name.replace('_', '-')} is for {', '.join(able)}, not for {search}")
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
