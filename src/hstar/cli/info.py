"""`hstar info`: what a task looks like."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from hstar.cli.tasks import NoCache, TaskFiles, load_files
from hstar.spaces.task import Task, warn_undeclared_requirements


def info(
    files: TaskFiles,
    no_cache: NoCache = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Tell what is in a task: variables, facts, operators, mutexes, and its PDDL.

    Examples:

    \b
    hstar info domain.pddl problem.pddl
    hstar info output.sas --json
    """
    task = load_files(files, unit_cost=False, cache=not no_cache)
    record = describe(task)
    if as_json:
        print(json.dumps(record))
        return
    width = max(len(name) for name in record)
    for name, value in record.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        print(f"{name.replace('_', ' '):{width}}  {shown}")


def describe(task: Task) -> dict[str, Any]:
    """Facts about a task as plain data."""
    core = task.core
    record: dict[str, Any] = {"task": task.name}
    if task.domain_file is not None:
        warn_undeclared_requirements(task)
        lifted = task.lifted
        record |= {
            "domain": lifted.domain.name,
            "requirements": sorted(lifted.domain.requirements),
            "objects": len(lifted.objects),
            "predicates": len(lifted.predicates),
            "static_predicates": sorted(lifted.static_predicates),
            "actions": list(lifted.domain.actions),
        }
    return record | {
        "variables": core.num_variables,
        "facts": core.num_facts,
        "operators": core.num_operators,
        "axioms": core.num_axioms,
        "mutex_groups": len(core.mutex_groups),
        "goal_facts": len(core.goal),
        "conditional_effects": core.has_conditional_effects,
        "action_costs": not core.unit_cost,
        "bytes_per_packed_state": 4 * core.state_words,
    }
