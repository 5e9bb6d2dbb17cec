"""`hstar sample`: labelled states of a task, or of many tasks of a domain."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any

from hstar.cli import sample_optimal as optimal
from hstar.cli.options import Parser, Use, add_option, flag, given_options
from hstar.cli.problems import TASK, add_task_files, load_files
from hstar.cli.progress import ProgressLine, show_outcome
from hstar.errors import InputError
from hstar.files import check_writable
from hstar.registry import unknown
from hstar.sampling import SAMPLERS, Sampler, dataset, make_sampler
from hstar.sampling.exact import exact_values, label_errors

DESCRIPTION = """\
Writes states with their labels, one safetensors file; `hstar train --data` learns from it. Samplers: rsl and
nrsl (pre-images), fsm (breadth-first regression, then random walks), prolonged (h* of states around the way
from the start to a goal of few states), forward (states around plans, for any task), and exact (h* of every
reachable state of a small task). Two more label problems of a domain, for `hstar train wl` and `hstar train
truncated`: optimal (states along optimal plans that hstar finds; see `hstar sample optimal --help`) and plans
(states along plans that you have; see `hstar sample plans --help`)."""
EXAMPLES = (
    "hstar sample fsm domain.pddl problem.pddl -o states.data --states 500",
    "hstar sample nrsl problem.pddl -o states.data --states 500 --errors --json",
    "hstar sample prolonged problem.pddl -o states.data --k-pr 2",
    "hstar sample optimal folder -o states.data --time-limit 5m --jobs 2",
    "hstar sample plans folder --plan-dir plans -o states.data",
)

OPTIMAL, PLANS = "optimal", optimal.PLANS


def configure(parser: Parser) -> None:
    """Options of the samplers are read from their dataclasses."""
    add = parser.option
    names = (*SAMPLERS, OPTIMAL, PLANS)
    add("sampler", "SAMPLER", f"Sampler, one of {', '.join(names)}.")
    chosen = next((word for word in parser.words if word in names), None)
    if chosen in (OPTIMAL, PLANS):
        optimal.configure(parser, chosen)
        return
    add_task_files(parser)
    parser.usage = f"{parser.prog} [OPTION ...] SAMPLER {TASK} -o DATA"
    add("--output -o", "DATA", "Write the labelled states to this file.", required=True)
    text = (
        "Named set of options: default, whose values are shown below and are those of hstar train, or paper."
    )
    add("--profile", "NAME", text)
    add("--errors", None, "Compare the labels with h*; for small tasks.")
    add("--json", None, "Print the summary as JSON.")
    add("--quiet -q", None, "Show neither progress nor a summary.")
    group = parser.add_argument_group("sampling")
    for uses in _options().values():
        add_option(group, uses, list(SAMPLERS))


def _options() -> dict[str, list[Use]]:
    found: dict[str, list[Use]] = {}
    for name in SAMPLERS:
        profile = _profile(name, None)
        for entry in _fields(name).values():
            use = Use(name, "sampler", entry, profile.get(entry.name, entry.default))
            found.setdefault(entry.name, []).append(use)
    return found


def _fields(sampler: str) -> dict[str, Field[Any]]:
    found = fields(SAMPLERS.get(sampler))  # type: ignore[arg-type]  # a dataclass by contract
    return {entry.name: entry for entry in found if entry.default is not MISSING}


def _profile(sampler: str, name: str | None) -> dict[str, Any]:
    """The options of a sampler in a profile of the recipe of its name, so that both sample alike."""
    from hstar.recipes import RECIPES

    profiles: Mapping[str, Mapping[str, Any]] = {"default": {}}
    if sampler in RECIPES and "task" in RECIPES.get(sampler).spaces:
        profiles = RECIPES.get(sampler).method("task").profiles({}, None)
    chosen = next(iter(profiles)) if name is None else name
    if chosen not in profiles:
        raise unknown(f"profile of {sampler}", chosen, list(profiles))
    return {key: value for key, value in profiles[chosen].items() if key in _fields(sampler)}


def run(arguments: argparse.Namespace) -> int:
    if arguments.sampler in (OPTIMAL, PLANS):
        return optimal.run(arguments)

    sampler = _sampler(arguments)
    check_writable(arguments.output, "data")
    with ProgressLine(arguments.quiet) as line:
        line.announce(f"translating {arguments.files[-1]} ...")
        task = load_files(arguments.files, translator=arguments.translator)
        line.announce(f"sampling by {sampler.name} ...")
        started = time.monotonic()
        data = sampler.sample(task)
        seconds = time.monotonic() - started
        record = {
            "sampler": sampler.name,
            "states": len(data),
            "distinct": len(data.deduplicate()),
            "atoms": len(data.atoms),
            "greatest_label": float(data.label.max()) if len(data) else None,
            "sampling_time": seconds,
        }
        if arguments.errors:
            line.announce("searching the whole state space ...")
            record |= label_errors(data, exact_values(task)).record()
        dataset.save(arguments.output, data)
    states = f"{record['states']} states ({record['distinct']} distinct) of {record['atoms']} atoms"
    error = record.get("label_error")
    compared = "" if error is None else f", mean error {error:.2f}"
    show_outcome(arguments, record, f"{sampler.name}, {states} in {seconds:.2f} s{compared}")
    return 0


def _sampler(arguments: argparse.Namespace) -> Sampler:
    given = given_options(arguments, _options())
    if foreign := next((name for name in given if name not in _fields(arguments.sampler)), None):
        raise InputError(f"{flag(foreign)} is not an option of {arguments.sampler}")
    return make_sampler(arguments.sampler, **{**_profile(arguments.sampler, arguments.profile), **given})
