"""Searches on the command line: their options, the heuristics, and what comes of them: a batch or several."""

from __future__ import annotations

import argparse
import hashlib
import math
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.app import Parser, checked
from hstar.cli.options import flag, parse_bound
from hstar.errors import InputError, ModelError
from hstar.files import names_model
from hstar.registry import unknown
from hstar.search.aliases import find_alias
from hstar.search.heuristics import Max, Sum, heuristics
from hstar.search.solve import SearchConfig, default_heuristic, searches, with_defaults
from hstar.units import parse_count, parse_memory, parse_time

if TYPE_CHECKING:
    from hstar.experiments.batch import Batch

_DEFAULTS = SearchConfig()
_COMBINE = ("alternate", "max", "sum", "each")
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
    "eps": ("astar", "wastar"),
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
_OF_MODELS = ("precision", "rule", "alpha", "floor", "truncated", "eps")


def add_search(parser: Parser) -> None:
    """Search, heuristic and their options."""
    described = {entry.name: entry.metadata["help"] for entry in fields(SearchConfig)}
    add, count, memory = parser.add_argument, checked(parse_count), checked(parse_memory)

    def option(name: str, *flags: str, more: str = "", **settings: Any) -> None:
        shown = f"{described[name]}{more}"
        add(flag(name), *flags, dest=name, help=shown, default=getattr(_DEFAULTS, name), **settings)

    add(
        "--search",
        "-s",
        metavar="NAME",
        help=f"one of {_names(searches())} (default: tasks: lazy with ff and preferred operators, beside a "
        "model of a domain; gbfs with another heuristic; puzzles: idastar; else astar, or what a model "
        "recommends; focal with --bound or --anytime, wastar with --weight)",
    )
    add(
        "--heuristic",
        "-e",
        metavar="NAME",
        action="append",
        help=f"tasks: one of {_names(heuristics())}; others: hstar list heuristics; or a model file of "
        "hstar train; give it several times to use several (default: ff, or the strongest one of the space)",
    )
    add(
        "--alias",
        metavar="NAME",
        help="a named configuration instead of --search and --heuristic, such as lama-first, or lama, which "
        "is anytime: hstar list aliases",
    )
    add("--alias-file", metavar="FILE", type=Path, help="a TOML file with aliases of your own")
    add(
        "--combine",
        metavar="HOW",
        default="alternate",
        help="several heuristics: alternate between them (gbfs, lazy), take their max or sum, or search with "
        "each of them and compare",
    )
    add(
        "--precision",
        metavar="NAME",
        help="how a model file computes: float32 (default), or int16, which is faster and differs little",
    )
    option("time_limit", "-t", metavar="T", type=checked(parse_time), more=" 30s, 5m, 1h. With translation.")
    option("cpu_time_limit", metavar="T", type=checked(parse_time))
    option("memory_limit", "-m", metavar="M", type=memory, more=" 512M, 4G; MiB if bare.")
    option("max_evaluations", "--nodes", metavar="N", type=count)
    for name in ("max_expansions", "max_cost", "seed", "boost", "batch", "anchor_every", "threads"):
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
    option("table_bytes", "--table", metavar="M", type=memory)
    add(
        "--rule",
        metavar="RULE",
        help="the number of a model that the search uses, if not its own rule: mean, clip, quantile:LEVEL, "
        "likely:ALPHA, bounded:EPS",
    )
    add(
        "--alpha",
        type=float,
        metavar="A",
        help="use the value that the model believes to be admissible with probability A: --rule likely:A",
    )
    add("--no-cache", action="store_true", help="puzzles: build pattern databases anew and store nothing")
    add("--floor", action="store_true", help="models of puzzles: no value below an admissible feature")
    add("--truncated", action="store_true", help="models of puzzles: nothing is believed below that, either")


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


def batches_of(arguments: argparse.Namespace, kind: str, **more: Any) -> list[Batch]:
    """The searches that the options ask for: one, or one for each heuristic. `more` are fields of `Batch`.

    All is checked here, before a translation, which may be long.
    """
    if arguments.alias is not None:
        return [_alias_batch(arguments, kind, more)]
    if arguments.alias_file is not None:
        raise InputError("--alias-file is for --alias")
    config = _config(arguments)
    names: list[str] = arguments.heuristic or []
    if arguments.combine not in _COMBINE:
        raise unknown("way to --combine", arguments.combine, list(_COMBINE))
    parts: list[Any] = [_heuristic(arguments, name, kind) for name in names]
    for option in _OF_MODELS:
        if getattr(arguments, option) not in (None, False) and all(isinstance(part, str) for part in parts):
            told = ", ".join(names) or "the default heuristic"
            raise InputError(f"{flag(option)} is for model files, not for {told}")
    known = {info.name: info for info in heuristics()}
    if (
        arguments.preferred
        and names
        and not any(name in known and known[name].preferred_operators for name in names)
    ):
        able = ", ".join(name for name, info in known.items() if info.preferred_operators)
        raise InputError(f"--preferred: {', '.join(names)} has no preferred operators; use {able}")
    together = list(zip(names, parts, strict=True))
    groups = [[one] for one in together] if arguments.combine == "each" and together else [together]
    return [_batch(arguments, kind, group, config, more) for group in groups]


def _alias_batch(arguments: argparse.Namespace, kind: str, more: dict[str, Any]) -> Batch:
    """Options of the command line hold where the alias says nothing."""
    from hstar.experiments.batch import Batch

    if arguments.search or arguments.heuristic:
        raise InputError("--alias stands for --search and --heuristic; leave these out")
    if kind != "task":
        raise InputError(f"aliases are for planning tasks, and {arguments.files[0]} is {_WORDS[kind]}")
    alias = find_alias(arguments.alias, arguments.alias_file)
    steps = [{"search": step.search, **step.options} for step in alias.steps]
    about = {"heuristic": [*alias.steps[0].heuristics], "combine": arguments.combine, "steps": steps}
    return Batch(alias, alias.name, _config(arguments), about, **more)


def _config(arguments: argparse.Namespace) -> SearchConfig:
    names = [entry.name for entry in fields(SearchConfig) if hasattr(arguments, entry.name)]
    return SearchConfig(**{name: getattr(arguments, name) for name in names})


def _batch(
    arguments: argparse.Namespace,
    kind: str,
    named: list[tuple[str, Any]],
    config: SearchConfig,
    more: dict[str, Any],
) -> Batch:
    from hstar.experiments.batch import Batch

    names, parts = [name for name, _ in named], [part for _, part in named]
    if all(isinstance(part, str) for part in parts):
        config = replace(config, eps=None)  # of heuristics that are compared some may be models
    combined = {"max": Max, "sum": Sum}.get(arguments.combine) if len(parts) > 1 else None
    heuristic: list[Any] = list(parts) if combined is None else [combined(*parts)]
    asked = config
    heuristic, search, config = with_defaults(kind, heuristic or [None], arguments.search, config)
    _check_options(arguments, asked, search, kind)
    if kind == "task" and heuristic == [None]:
        heuristic = ["ff"]
    used: list[str] = list(names) or [one for one in heuristic if one is not None]
    used += ["ff"] * (len(heuristic) - len(used)) if parts and combined is None else []
    about: dict[str, Any] = {"heuristic": [Path(name).name for name in used], "combine": arguments.combine}
    for option in ("precision", "alpha", "floor", "truncated", "anchor"):
        if getattr(arguments, option) not in (None, False):
            about[option] = getattr(arguments, option)
    models = {name: part for name, part in named if not isinstance(part, str)}
    if models:
        from hstar.estimates.rules import format_rule

        about["model"] = [hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in models]
        about["rule"] = [format_rule(model.rule) for model in models.values()]
    return Batch(heuristic, search, config, about, cache=not arguments.no_cache, **more)


def _heuristic(arguments: argparse.Namespace, name: str, kind: str) -> Any:
    """What a name stands for: itself, or the model of a file with the rule that was asked for."""
    known = [info.name for info in heuristics()]
    if not names_model(name):
        if kind == "task" and name not in (*known, "zero"):
            raise unknown("heuristic", name, known)
        return name
    from hstar.estimates.rules import chosen
    from hstar.models.trained_model import load_model

    model, rule = load_model(name), chosen(arguments.rule, arguments.alpha)
    if kind != {"domain": "task", "map goal": "map"}.get(model.space.kind, model.space.kind):
        raise ModelError(f"the model was trained for {model.space}, asked for {_WORDS[kind]}")
    if arguments.floor or arguments.truncated:
        if kind != "puzzle":
            raise InputError("--floor and --truncated are for models of a puzzle")
        from hstar.models.puzzle_identity import FEATURES, truncated

        model = truncated(model) if arguments.truncated else model
        model = replace(model, lower=FEATURES) if arguments.floor else model
    model = model if rule is None else model.with_rule(rule)
    return model if arguments.precision is None else model.with_precision(arguments.precision)


def _check_options(arguments: argparse.Namespace, config: SearchConfig, search: str, kind: str) -> None:
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
    several = len(arguments.heuristic or ()) > 1 and arguments.combine == "alternate"
    if several and search not in _SEVERAL_HEURISTICS:
        raise InputError(
            f"{search} takes one heuristic; put several together by --combine max or sum, or compare each"
        )


def with_default(batch: Batch, problem: Any) -> Batch:
    """The batch with the strongest heuristic of the space, where none is named."""
    if batch.about["heuristic"]:
        return batch
    name = default_heuristic(problem, str(batch.search))
    return replace(batch, heuristic=[name], about={**batch.about, "heuristic": [name]})
