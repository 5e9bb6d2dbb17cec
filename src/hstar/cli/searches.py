"""Searches on the command line: their options, the heuristics, and what comes of them: a batch or several."""

from __future__ import annotations

import argparse
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from hstar.cli.options import Parser, flag
from hstar.errors import InputError, ModelError
from hstar.experiments.batch import Batch
from hstar.files import names_model
from hstar.registry import unknown
from hstar.search.aliases import find_alias
from hstar.search.heuristics import Max, Sum, heuristics
from hstar.search.solve import SearchConfig, default_heuristic, searches, with_defaults
from hstar.spaces.load import in_words

_DEFAULTS = SearchConfig()
_COMBINE = ("alternate", "max", "sum", "each")
_HELP = {  # where the command does more with an option than the search does
    "time_limit": "Stop each problem after this wall-clock time, which includes its translation and pattern "
    "databases that it needs first; loading models and drawing problems count for the first one. It does "
    "not cover the start of Python and the check of the plan; --optimum has the same time once more.",
    "memory_limit": "Stop when the process has this much resident memory.",
    "seed": "Seed of random ties, starts and maps.",
}
# What only some searches heed, and what only some kinds of space have; else it is refused, not ignored.
_ONLY_FOR = {
    ("wastar",): ("weight",),
    ("astar", "wastar"): ("eps", "no_reopen"),
    ("gbfs", "astar", "wastar"): ("batch",),
    ("gbfs", "lazy"): ("preferred", "boost"),
    ("gbfs",): ("goal_at_generation", "evaluate_duplicates"),
    ("gbfs", "lazy", "astar", "wastar", "focal"): ("ties",),
    ("lazy",): ("max_cost",),
    ("focal", "lazy"): ("guide_weight",),
    ("focal",): ("bound", "anytime", "anchor", "anchor_every", "proof", "optimistic"),
    ("idastar",): ("pruning", "table_bytes", "threads"),
}
_ONLY_ON = {
    "task": ("preferred", "costs"),
    "puzzle": ("proof", "pruning", "table_bytes", "threads"),
    "map": ("eps",),
}
_SEVERAL_HEURISTICS = ("gbfs", "lazy")
_OF_MODELS = ("precision", "rule", "alpha", "floor", "truncated", "eps")


def add_search(parser: Parser) -> None:
    """Search, heuristic and their options."""
    add = parser.option
    add(
        "--search -s",
        "NAME",
        f"Search algorithm, one of {_names(searches())} (default: tasks: lama-first, that is lazy "
        "with ff and landmarks; lazy with model and ff for a model of a domain; gbfs with another heuristic; "
        "puzzles: idastar; else astar, or what a model recommends; focal with --bound or --anytime, wastar "
        "with --weight).",
    )
    add(
        "--heuristic -e",
        "NAME",
        f"Heuristic. tasks: one of {_names(heuristics())}; others: hstar list heuristics; or a model file of "
        "hstar train. Repeat it to use several (default: ff and landmarks, or the strongest of the space).",
        action="append",
    )
    add("--alias", "NAME", "Named configuration instead of --search and --heuristic (hstar list aliases).")
    add("--alias-file", "FILE", "Read aliases of your own from this TOML file.")
    text = "Several heuristics: alternate between them (gbfs, lazy), use their max or sum, or compare each."
    add("--combine", "HOW", text, "alternate")
    add("--precision", "NAME", "Arithmetic of a model: float32 (default), or int16, which is faster.")
    shown = [entry.name for entry in fields(SearchConfig) if entry.name != "explored"]
    parser.fields(SearchConfig, shown, **_HELP)
    text = "Rule instead of the model's own: mean, clip, quantile:LEVEL, likely:ALPHA, bounded:EPS."
    add("--rule", "RULE", text)
    text = "Use the value that the model believes to be admissible with probability A: --rule likely:A."
    add("--alpha", "A", text)
    add("--no-cache", None, "puzzles: build pattern databases anew and store nothing.")
    add("--floor", None, "models of puzzles: use no value below the best admissible feature.")
    add("--truncated", None, "models of puzzles: truncate the estimate below the best admissible feature.")


def _names(infos: Any) -> str:
    return ", ".join(info.name for info in infos)


def batches_of(arguments: argparse.Namespace, kind: str) -> list[Batch]:
    """The searches that the options ask for: one, or one for each heuristic.

    All is checked here, before a translation, which may be long.
    """
    config = SearchConfig(**{entry.name: getattr(arguments, entry.name) for entry in fields(SearchConfig)})
    if arguments.alias is not None:
        return [_alias_batch(arguments, kind, config)]
    if arguments.alias_file is not None:
        raise InputError("--alias-file is for --alias")
    names: list[str] = arguments.heuristic or []
    if arguments.combine not in _COMBINE:
        raise unknown("way to --combine", arguments.combine, list(_COMBINE))
    named = [(name, _heuristic(arguments, name, kind)) for name in names]
    for option in _OF_MODELS:
        asked = getattr(arguments, option) not in (None, False)
        if asked and not any(_takes(option, part) for _, part in named):
            used = ", ".join(names) or "the default heuristic"
            takers = "model files and dijkstra" if option == "eps" else "model files"
            raise InputError(f"{flag(option)} is for {takers}, not for {used}")
    able = [info.name for info in heuristics() if info.preferred_operators]
    if arguments.preferred and names and not set(able) & set(names):
        raise InputError(f"--preferred: {', '.join(names)} has no preferred operators; use {', '.join(able)}")
    groups = [[one] for one in named] if arguments.combine == "each" and named else [named]
    return [_batch(arguments, kind, group, config) for group in groups]


def _takes(option: str, heuristic: Any) -> bool:
    """Whether an option of models applies to a heuristic, which is a name or a model."""
    return not isinstance(heuristic, str) or (option == "eps" and heuristic == "dijkstra")


def _alias_batch(arguments: argparse.Namespace, kind: str, config: SearchConfig) -> Batch:
    """Options of the command line hold where the alias says nothing."""
    if arguments.search or arguments.heuristic:
        raise InputError("--alias stands for --search and --heuristic; leave these out")
    if kind != "task":
        raise InputError(f"aliases are for planning tasks, and {arguments.files[0]} is {in_words([kind])}")
    alias = find_alias(arguments.alias, arguments.alias_file)
    steps = [{"search": step.search, **step.options} for step in alias.steps]
    about = {"heuristic": [*alias.steps[0].heuristics], "combine": arguments.combine, "steps": steps}
    return Batch(alias, alias.name, config, about)


def _batch(
    arguments: argparse.Namespace, kind: str, named: list[tuple[str, Any]], config: SearchConfig
) -> Batch:
    names, parts = [name for name, _ in named], [part for _, part in named]
    if not any(_takes("eps", part) for part in parts):
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
        import hashlib

        from hstar.estimates.rules import format_rule

        about["model"] = [hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in models]
        about["rule"] = [format_rule(model.rule) for model in models.values()]
    return Batch(heuristic, search, config, about, cache=not arguments.no_cache)


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
        raise ModelError(f"the model was trained for {model.space}, asked for {in_words([kind])}")
    if arguments.floor or arguments.truncated:
        if kind != "puzzle":
            raise InputError("--floor and --truncated are for models of a puzzle")
        from hstar.models.puzzle_identity import FEATURES, truncated

        model = truncated(model) if arguments.truncated else model
        model = replace(model, lower=FEATURES) if arguments.floor else model
    model = model if rule is None else model.with_rule(rule)
    return model if arguments.precision is None else model.with_precision(arguments.precision)


def _check_options(arguments: argparse.Namespace, config: SearchConfig, search: str, kind: str) -> None:
    known = [info.name for info in searches()]
    if search not in known:
        raise unknown("search", search, known)
    admissible = [info.name for info in heuristics() if info.admissible]
    if kind == "task" and config.anchor is not None and config.anchor not in admissible:
        raise unknown("admissible heuristic for --anchor", config.anchor, admissible)
    options = [entry.name for entry in fields(config)]
    changed = {name for name in options if getattr(config, name) != getattr(_DEFAULTS, name)}
    for able, names in _ONLY_FOR.items():
        if search not in able and (wrong := changed.intersection(names)):
            raise InputError(f"{flag(min(wrong))} is for {', '.join(able)}, not for {search}")
    for where, names in _ONLY_ON.items():
        if kind != where and (wrong := changed.intersection(names)):
            raise InputError(f"{flag(min(wrong))} is for {in_words([where])}, not for {in_words([kind])}")
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
