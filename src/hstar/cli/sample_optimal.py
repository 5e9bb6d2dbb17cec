"""`hstar sample optimal` and `hstar sample plans`: states along plans of tasks of a domain, with labels.

`optimal` solves each problem (A* with lmcut, every action counting 1) and writes the states of the plans with
their distance to the goal and the values of heuristics. `plans` does so along plans that the user has; labels
of plans that are not known to be optimal are marked as upper bounds. Several problems are labelled side by
side, each by a process of its own; what is finished is kept in RUN, and the same command goes on after a
kill. Problems without a plan are left out and counted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from hstar.cli.folders import label_jobs, plans_of, upper_bounds, valid_plan
from hstar.cli.options import Parser
from hstar.cli.problems import problem_files
from hstar.cli.progress import ProgressLine
from hstar.cli.runs import INTERRUPTED, add_running_options, run_jobs_of
from hstar.errors import InputError
from hstar.files import check_writable, replace_file, writing
from hstar.sampling import relational
from hstar.sampling.optimal import EXACT, NoLabelError, Optimal, plan_of
from hstar.sampling.relational import RelationalData, RelationalInstance
from hstar.spaces.relations import vocabulary
from hstar.spaces.task import load_task
from hstar.spaces.validate import format_plan

if TYPE_CHECKING:
    from hstar.experiments.job import Record

PLANS = "plans"
UNLABELLED = 12


def configure(parser: Parser, sampler: str) -> None:
    """The options of `optimal`, or of `plans`."""
    add, finds = parser.option, sampler != PLANS
    needed = "-o DATA" if finds else "--plan-dir FOLDER -o DATA"
    parser.usage = f"{parser.prog} [OPTION ...] {sampler} PROBLEM ... {needed}"
    text = "PDDL files, or folders of them."
    if finds:
        text += " Each is solved by A* with lmcut, every action counting 1; problems without a plan within "
        text += "the limits are left out and counted."
    add("problems", "PROBLEM", text, nargs="+", type=Path)
    states = "states" if finds else "states, siblings included,"
    add("--output -o", "DATA", f"Write the labelled {states} to this file.", required=True)
    add("--domain", "FILE", "Domain of the problems (default: domain.pddl in their directory).")
    if finds:
        parser.fields(Optimal, [entry.name for entry in fields(Optimal)])
        add("--plan", "FILE", "One problem: label the states of this plan, which must be valid.")
        add("--plan-file", "FILE", "One problem, or --first: write the plan to this file.")
        add("--first", None, "Label only the first of the problems, in this order, that gets labels.")
        add("--keep-empty", None, "One problem, or --first: write data without states if there is no plan.")
    else:
        parser.set_defaults(siblings=True, upper=False, satisficing=True)
        parser.fields(Optimal, ("time_limit", "memory_limit", "cpu"))
        text = "Folder of plans, p01.plan for p01.pddl. hstar validates each plan, and names and leaves out "
        text += "invalid ones and problems without a plan."
        add("--plan-dir", "FOLDER", text, required=True)
    add("--run", "RUN", "Folder for what is finished (default: DATA.run).")
    add_running_options(parser)


def run(arguments: argparse.Namespace) -> int:
    problems = list(problem_files(arguments.problems, arguments.domain))
    check_writable(arguments.output, "data")
    if arguments.sampler == PLANS:
        return _label_all(problems, arguments)
    if arguments.first and arguments.run is not None:
        raise InputError("--first writes what it finds at once: there is no --run of it")
    if arguments.plan_file is not None:
        if not arguments.first and (len(problems) > 1 or arguments.run is not None):
            raise InputError("--plan-file takes the plan of one problem, without --run")
        check_writable(arguments.plan_file, "plan")
    if arguments.plan is not None and (len(problems) > 1 or arguments.run is not None):
        raise InputError("--plan is the plan of one problem, without --run")
    if arguments.first or (len(problems) == 1 and arguments.run is None):
        return _label_first(problems, arguments)
    return _label_all(problems, arguments)


def _labelling(arguments: argparse.Namespace) -> Optimal:
    return Optimal(**{entry.name: getattr(arguments, entry.name) for entry in fields(Optimal)})


def _label_first(problems: list[tuple[Path, Path]], arguments: argparse.Namespace) -> int:
    """One problem after the other in this process, each with all the time, until one gets labels."""
    record: Record
    steps = None if arguments.plan is None else valid_plan(*problems[0], arguments.plan)
    found: tuple[RelationalInstance, ...] = ()
    with ProgressLine(arguments.quiet) as line:
        for attempt, (domain, problem) in enumerate(problems, 1):
            line.announce(f"translating {problem} ...")
            task = load_task(domain, problem, unit_cost=True)
            words = vocabulary(task)
            line.announce("looking for an optimal plan ...")
            try:
                how = _labelling(arguments)
                plan = how.plan(task) if steps is None else plan_of(task, steps)
                instance = how.label(task, words, problem.stem, plan)
            except NoLabelError as error:
                status = "labelled" if arguments.keep_empty else "unlabelled"
                record = {"status": status, "states": 0, "reason": error.message}
            else:
                found, states = (instance,), int(instance.labelled.sum())
                record = {"status": "labelled", "states": states, "cost": states - 1}
                if EXACT in instance.columns:
                    record["exact"] = plan.exact
                if arguments.plan_file is not None:
                    text = format_plan(plan.steps, len(plan.steps), unit=True)
                    with writing(arguments.plan_file, "plan"):
                        replace_file(arguments.plan_file, text.encode())
            if arguments.first:
                record |= {"problem": problem.stem, "attempt": attempt}
            if found:
                break
        if found or arguments.keep_empty:
            relational.save(arguments.output, RelationalData(words, found))
    if arguments.json:
        print(json.dumps(record))
    if not arguments.quiet:
        text = record.get("reason") or f"{arguments.output}: {record['states']} states"
        if arguments.first:
            text += f" ({record['problem']}, {attempt} of {len(problems)} problems)"
        print(text, file=sys.stderr)
    return 0 if found or arguments.keep_empty else UNLABELLED


def _label_all(problems: list[tuple[Path, Path]], arguments: argparse.Namespace) -> int:
    from hstar.experiments.problems import read_problem
    from hstar.experiments.protocol import merged
    from hstar.experiments.store import Store

    folder = arguments.run or arguments.output.with_name(f"{arguments.output.name}.run")
    plans: Mapping[Path, Path] = {}
    number = len(problems)
    if arguments.sampler == PLANS:
        plans = plans_of(problems[0][0], arguments.plan_dir, [problem for _, problem in problems])
        problems = [pair for pair in problems if pair[1] in plans]
    with Store(folder) as store:
        given = {problem: read_problem(problem, store, domain) for domain, problem in problems}
        jobs = label_jobs(given, _labelling(arguments), store, plans)
        rows = run_jobs_of(arguments, store, jobs)
        if rows is None:
            return INTERRUPTED
        data = merged(store, jobs)
    if failed := [row for row in rows if row["status"] == "error"]:
        first = failed[0]
        what = f"{len(failed)} of {len(rows)} problems failed, first {first['instance']}"
        raise InputError(f"{what}: {first.get('error', 'no message')}", file=folder)
    if data is None:
        raise InputError("no problem was solved within the limits", file=folder)
    relational.save(arguments.output, data)
    if not arguments.quiet:
        states, solved = int(data.labelled.sum()), len(data.instances)
        text = f"{states} states of {solved} problems, {number - solved} left out{upper_bounds(data)}"
        print(f"{arguments.output}: {text}", file=sys.stderr)
    return 0
