"""`hstar validate`: is this plan right?"""

from __future__ import annotations

import argparse
import json
import logging
from pathlib import Path

from hstar.cli.options import Parser
from hstar.errors import InputError
from hstar.files import check_files

logger = logging.getLogger(__name__)

FILES = "[DOMAIN] PROBLEM PLAN"

DESCRIPTION = """\
The plan is replayed on the lifted task by code of its own: neither the grounding nor the search has a part in
it, only the parser is shared. Exit code 0 if the plan is valid, 1 if it is not."""
EXAMPLES = (
    "hstar validate domain.pddl problem.pddl plan.txt",
    "hstar validate problem.pddl plan.txt --json",
)


def configure(parser: Parser) -> None:
    parser.usage = f"{parser.prog} [OPTION ...] {FILES}"
    text = "PDDL files and a plan in IPC format. DOMAIN may be left out if it is in the directory of PROBLEM."
    parser.option("files", FILES, text, nargs="+", type=Path)
    parser.option("--json", None, "Print one JSON object.")


def run(arguments: argparse.Namespace) -> int:
    from hstar.spaces.lifted_state import validate_pddl
    from hstar.spaces.pddl import read_task
    from hstar.spaces.translate import find_domain
    from hstar.spaces.validate import read_plan

    files: list[Path] = arguments.files
    if len(files) not in (2, 3):
        raise InputError(f"expected {FILES}, got {len(files)} file{'s' * (len(files) > 1)}")
    check_files(*files)
    problem, plan_file = files[-2:]
    if problem.suffix == ".sas":
        raise InputError("a plan is validated against PDDL, not against a .sas file", file=problem)
    domain = files[0] if len(files) == 3 else find_domain(problem)
    plan = read_plan(plan_file)
    task = read_task(domain, problem)
    for warning in task.warnings:
        logger.warning("%s", warning)
    verdict = validate_pddl(task, plan)
    if arguments.json:
        record = {"valid": verdict.valid, "cost": verdict.cost, "length": len(plan)}
        print(json.dumps({**record, "reason": verdict.reason, "step": verdict.step}))
    elif verdict.valid:
        print(f"valid: {len(plan)} steps, cost {verdict.cost}")
    else:
        print(f"invalid: {verdict.reason}")
    return 0 if verdict.valid else 1
