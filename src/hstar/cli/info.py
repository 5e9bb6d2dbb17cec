"""`hstar info`: what a problem or a model is."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.options import Parser
from hstar.cli.problems import add_task_files, load_files
from hstar.errors import InputError
from hstar.files import MODEL
from hstar.spaces.load import kind_of

if TYPE_CHECKING:
    from hstar.spaces.task import Task

DESCRIPTION = (
    "PROBLEM is a task, a puzzle, a map or an own space, as for `hstar solve`, a model or a knowledge file."
)
EXAMPLES = (
    "hstar info domain.pddl problem.pddl",
    "hstar info output.sas --json",
    "hstar info tiles:4x4",
    "hstar info model.hstar",
    "hstar info knowledge.hstar",
)


def configure(parser: Parser) -> None:
    add_task_files(parser)
    parser.usage = f"{parser.prog} [OPTION ...] PROBLEM | MODEL"
    parser.option("--json", None, "Print one JSON object.")


def run(arguments: argparse.Namespace) -> int:
    first, *more = arguments.files
    kind = kind_of(str(first))
    if more and (first.suffix == MODEL or kind.name != "task"):
        raise InputError(f"{first} is described alone, without {more[0]}")
    if first.suffix == MODEL:
        from hstar import container

        known = container.kind(first) == "knowledge"
        record = describe_knowledge(first) if known else describe_model(first)
    elif kind.name != "task":
        record = describe_problem(kind.load(str(first)), str(first))
    else:
        record = describe(load_files(arguments.files, translator=arguments.translator))
    if arguments.json:
        print(json.dumps(record))
        return 0
    width = max(len(name) for name in record)
    for name, value in record.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        print(f"{name.replace('_', ' '):{width}}  {shown}")
    return 0


def describe_model(path: Path) -> dict[str, Any]:
    """What is in a model file, as plain data."""
    from hstar.estimates import estimate as estimates
    from hstar.estimates import rules
    from hstar.models.trained_model import load_model

    model = load_model(path)
    return {
        "model": path.name,
        "recipe": model.recipe,
        "configuration": json.dumps(model.recipe_config),
        "kind": model.space.kind,
        "trained_for": str(model.space),
        **model.space.describe(model),
        "network": f"{model.model} {json.dumps(model.model_config)}",
        "weights": sum(tensor.size for tensor in model.tensors.values() if tensor.dtype.kind == "f"),
        "estimate": json.dumps(estimates.to_json(model.estimate)),
        "rule": json.dumps(rules.to_json(model.rule)),
        **({} if model.calibration is None else {"promise": model.calibration.promise}),
        "base": model.base or "none",
        "lower_bound": model.lower or "none",
        "upper_bound": model.upper or "none",
        "search": json.dumps(model.search),
        "seed": model.seed,
        "training": json.dumps({key: value for key, value in model.summary.items() if key != "curve"}),
        "versions": json.dumps(model.versions),
    }


def describe_knowledge(path: Path) -> dict[str, Any]:
    """What is in a knowledge file, as plain data."""
    from hstar.experiments.knowledge import load

    knowledge = load(path)
    steps = [(step.candidate.name, step.seconds) for step in knowledge.steps]
    return {
        "knowledge": path.name,
        "domain": knowledge.words.domain,
        "predicates": [f"{name}/{arity}" for name, arity in knowledge.words.predicates],
        "steps": [name if s is None else f"{name} for {s:g} s of CPU" for name, s in steps],
        "learned": knowledge.learned,
        "interrupted": knowledge.interrupted,
        "learning": json.dumps(knowledge.summary),
        "version": knowledge.version,
    }


def describe_problem(problem: Any, source: str) -> dict[str, Any]:
    """Facts about a puzzle, a map or an own space as plain data."""
    from hstar.experiments.batch import plain

    record: dict[str, Any] = {"problem": source, "kind": problem.kind}
    if problem.kind == "map":
        rows, columns = problem.grid.shape
        free = int((~problem.grid.blocked).sum())
        record |= {"rows": rows, "columns": columns, "free_cells": free}
        record["neighbours"] = problem.grid.neighbours
    record |= {
        name: plain(getattr(problem, name))
        for name in ("start", "goal")
        if hasattr(problem, name) and (name, problem.kind) != ("start", "puzzle")
    }
    return record | {
        "heuristics": [claim.name for claim in problem.claims],
        "admissible": [claim.name for claim in problem.claims if claim.admissible],
        "action_costs": not problem.unit_cost,
    }


def describe(task: Task) -> dict[str, Any]:
    """Facts about a task as plain data."""
    core = task.core
    record: dict[str, Any] = {"task": task.name}
    if task.domain_file is not None:
        lifted = task.lifted
        record |= {
            "domain": lifted.domain.name,
            "requirements": sorted(lifted.domain.requirements),
            "objects": len(lifted.objects),
            "predicates": len(lifted.domain.predicates),
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
