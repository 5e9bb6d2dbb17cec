"""`hstar validate`: is this plan right?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from hstar.errors import InputError


def validate(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="[DOMAIN] PROBLEM PLAN",
            help="PDDL files and a plan in IPC format. DOMAIN may be left out if it lies beside PROBLEM.",
            show_default=False,
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Check a plan against the PDDL itself.

    The plan is replayed on the lifted task by code of its own: neither the translator nor the search core has
    a part in it. Exit code 0 if the plan is valid, 1 if it is not.

    Examples:

    \b
    hstar validate domain.pddl problem.pddl plan.txt
    hstar validate problem.pddl plan.txt --json
    """
    from hstar.search.validate import read_plan, validate_pddl
    from hstar.spaces.pddl import read_task
    from hstar.spaces.translate import find_domain

    if len(files) not in (2, 3):
        raise InputError(f"expected [DOMAIN] PROBLEM PLAN, got {len(files)} files")
    problem, plan_file = files[-2:]
    domain = files[0] if len(files) == 3 else find_domain(problem)
    plan = read_plan(plan_file)
    verdict = validate_pddl(read_task(domain, problem), plan)
    if as_json:
        record = {"valid": verdict.valid, "cost": verdict.cost, "length": len(plan)}
        print(json.dumps({**record, "reason": verdict.reason, "step": verdict.step}))
    elif verdict.valid:
        print(f"valid: {len(plan)} steps, cost {verdict.cost}")
    else:
        print(f"invalid: {verdict.reason}")
    return 0 if verdict.valid else 1
