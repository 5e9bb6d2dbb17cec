"""`hstar info`: what a task or a model is."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar import container
from hstar.cli.app import Parser
from hstar.cli.tasks import add_task_files, load_files

if TYPE_CHECKING:
    from hstar.estimates.rules import Calibrated
    from hstar.models.puzzle_model import PuzzleModel
    from hstar.spaces.task import Task

DESCRIPTION = ""
EXAMPLES = ("hstar info domain.pddl problem.pddl", "hstar info output.sas --json")


def configure(parser: Parser) -> None:
    """The arguments."""
    add_task_files(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Prints the record."""
    if len(arguments.files) == 1 and arguments.files[0].suffix == ".hstar":
        record = describe_model(arguments.files[0])
    else:
        record = describe(
            load_files(arguments.files, cache=not arguments.no_cache, translator=arguments.translator)
        )
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
    from hstar.models import grid_model
    from hstar.models.domain_model import DomainModel, load_heuristic
    from hstar.models.puzzle_model import is_puzzle_model, load_puzzle_model

    if is_puzzle_model(path):
        return _describe_puzzle_model(path.name, load_puzzle_model(path))
    if container.kind(path) == grid_model.KIND:
        return _describe_grid_model(path)
    model = load_heuristic(path)
    if isinstance(model, DomainModel):
        return {
            "model": path.name,
            "recipe": model.recipe,
            "configuration": json.dumps(model.recipe_config),
            "trained_for": f"domain {model.words.domain}",
            "predicates": [f"{name}/{arity}" for name, arity in model.words.predicates],
            "network": f"{model.model} {json.dumps(model.model_config)}",
            "weights": sum(tensor.size for tensor in model.tensors.values() if tensor.dtype.kind == "f"),
            "estimate": json.dumps(estimates.to_json(model.estimate)),
            "rule": json.dumps(rules.to_json(model.rule)),
            **_promise(model.calibration),
            "base": model.base or "none",
            "lower_bound": model.lower or "none",
            "upper_bound": model.upper or "none",
            "seed": model.seed,
            "training": json.dumps({key: value for key, value in model.summary.items() if key != "curve"}),
            "versions": json.dumps(model.versions),
        }
    summary = {key: value for key, value in model.summary.items() if key != "curve"}  # too long for a line
    options = json.dumps(model.estimate_config) if model.estimate_config else ""
    return {
        "model": path.name,
        "recipe": model.recipe,
        "configuration": json.dumps(model.recipe_config),
        "network": f"{model.model} {json.dumps(model.model_config)}",
        "estimate": f"{model.estimate} {options}".strip(),
        "rule": json.dumps(model.rule),
        **_promise(model.calibration),
        "atoms": len(model.atoms),
        "trained_for": str(model.task),
        "seed": model.seed,
        "training": json.dumps(summary),
        "versions": json.dumps(model.versions),
    }


def _describe_grid_model(path: Path) -> dict[str, Any]:
    from dataclasses import asdict

    from hstar.estimates import estimate as estimates
    from hstar.models.grid_model import load_grid_model

    model = load_grid_model(path)
    options: dict[str, Any] = asdict(model.network)  # type: ignore[call-overload]
    sizes = ", ".join(f"{rows} x {columns}" for rows, columns in model.sizes)
    return {
        "model": path.name,
        "recipe": model.recipe,
        "configuration": json.dumps(model.recipe_config),
        "trained_for": f"maps of {sizes} cells, {model.headings or model.neighbours} "
        f"{'headings' if model.headings else 'neighbours'}",
        "other_sizes": model.network.any_size,
        "network": f"{model.network.name} {json.dumps(options)}",
        "weights": sum(tensor.size for tensor in model.tensors.values()),
        "estimate": json.dumps(estimates.to_json(model.estimate)),
        "scale": model.scale,
        "seed": model.seed,
        "training": json.dumps({key: value for key, value in model.summary.items() if key != "curve"}),
        "versions": json.dumps(model.versions),
    }


def _promise(calibrated: Calibrated | None, search: str = "astar") -> dict[str, str]:
    """What is promised of plans, if anything is."""
    return {} if calibrated is None else {f"plans_of_{search}": calibrated.promise}


def _describe_puzzle_model(name: str, model: PuzzleModel) -> dict[str, Any]:
    from hstar.estimates import rules

    inputs, width = model.weights["hidden_weights"].shape
    outputs = len(model.weights["output_biases"])
    return {
        "model": name,
        "recipe": model.recipe,
        "configuration": json.dumps(model.recipe_config),
        "trained_for": str(model.puzzle),
        "goal": " ".join(map(str, model.goal)),
        "inputs": f"{model.inputs}, {inputs}",
        "network": f"{inputs}-{width}-{outputs}" + ("" if model.has_spread else ", a mean without spread"),
        "outputs": json.dumps(asdict(model.outputs)),
        "rule": json.dumps(rules.to_json(model.rule)),
        **_promise(model.calibration, "idastar"),
        "seed": model.seed,
        "training": json.dumps({key: value for key, value in model.summary.items() if key != "curve"}),
        "versions": json.dumps(model.versions),
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
