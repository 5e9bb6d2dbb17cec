"""`hstar solve`: plans for problems of any kind, one or many."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from hstar import __version__
from hstar.cli.options import Parser
from hstar.cli.problems import add_problem, check_problem_options, instances_of
from hstar.cli.progress import ProgressLine
from hstar.cli.promise import promise, proven
from hstar.cli.searches import add_search, batches_of, with_default
from hstar.errors import InputError
from hstar.experiments.batch import Batch, Instance, Row, run_batch, summary
from hstar.files import check_writable, replace_file, writing
from hstar.limits import limited
from hstar.search.result import exit_code
from hstar.search.solve import Found, Result, in_words
from hstar.spaces.validate import format_plan
from hstar.units import format_bytes, format_count

DESCRIPTION = """\
PROBLEM is a planning task, a puzzle, a map, or a user's own state space. The plan goes to standard output,
one step a line, everything for people to standard error. With several problems (files, --random N, a file of
instances) a line for each goes to standard output, and means to standard error; with --output their rows are
kept as they come, and the same command goes on after a kill."""
EXAMPLES = (
    "hstar solve domain.pddl problem.pddl",
    "hstar solve problem.pddl --search astar --heuristic lmcut --cpu-time-limit 5m --memory-limit 4G",
    "hstar solve problem.pddl --search lazy --heuristic ff --preferred --plan-file plan.txt",
    "hstar solve output.sas --search astar --heuristic lmcut --heuristic hmax --combine max --json",
    "hstar solve problem.pddl --alias lama --time-limit 5m --plan-file plan.txt",
    "hstar solve problem.pddl --bound 1.5 --heuristic ff",
    "hstar solve problem.pddl --anytime --time-limit 5s --plan-file plan.txt",
    "hstar solve tiles:3x3 --random 5 --seed 1 --heuristic manhattan --json",
    "hstar solve pancake:20 --random 3 --seed 1 --bound 1.5 --output rows.jsonl",
    "hstar solve map.png --start 0,0 --goal 19,29",
    "hstar solve map.yaml --metric --start 0.5,0.5 --goal 1.4,0.9 --inflate 0.1m --path-file path.csv",
    "hstar solve --kind maze --random 9 --heuristic manhattan --heuristic model.hstar --eps 2 --combine each",
    "hstar solve --kind rooms --random 9 --headings 8 --weight 1.5 --optimum --summary --json",
    "hstar solve own.py:Lights --search gbfs --heuristic zero",
)


def configure(parser: Parser) -> None:
    add = parser.option
    add_problem(parser)
    add_search(parser)
    add("--plan-file", "FILE", "Write the plan to this file instead of standard output.")
    add("--path-file", "FILE", "maps: write the cells of the path to this .csv, .json or .npy file.")
    add("--optimum", None, "Find optimal costs, too, and compare plans and proven bounds with them.")
    add("--output -o", "FILE", "Append a JSON line per problem to this file; those in it are not run again.")
    add("--jobs -j", "N", "Number of problems that are solved at a time.", 1)
    add("--steps", "FILE", "maps: write the expansions of the first problem to this .json file.")
    add("--summary", None, "Print means over all problems for each heuristic instead of a line per problem.")
    add("--json", None, "Print a JSON object for each problem, nothing else.")
    add("--quiet -q", None, "Show neither progress nor a summary.")


_UNSOLVED, _INTERRUPTED = 12, 130


def run(arguments: argparse.Namespace) -> int:
    kind = check_problem_options(arguments)
    _check_outputs(arguments, kind)
    arguments.explored = arguments.steps is not None
    how = {name: getattr(arguments, name) for name in ("optimum", "jobs", "output")}
    started = time.monotonic()
    with ProgressLine(arguments.quiet) as line:
        what = arguments.files[-1] if arguments.files else "random maps"
        line.announce(f"{'translating' if kind == 'task' else 'loading'} {what} ...")
        with limited(arguments.time_limit, arguments.memory_limit, alarm=True):
            batches = [replace(batch, **how) for batch in batches_of(arguments, kind)]
            instances, number = instances_of(arguments, kind, line)
            if len(batches) > 1 or kind != "task":
                instances = listed = list(instances)
                batches = [with_default(batch, listed[0].problem) for batch in batches]
        instances = _charged(instances, time.monotonic() - started, lazy=kind == "task" and len(batches) == 1)
        output = _Output(arguments, batches, number)
        try:
            for batch in batches:
                output.search(batch, instances, line)
        except KeyboardInterrupt:
            return output.interrupted()
    return output.finish()


def _charged(instances: Iterable[Instance], seconds: float, lazy: bool) -> Iterable[Instance]:
    """The instances; the time that models and all problems took to load counts for the first of them."""
    charged = (
        replace(one, load_time=one.load_time + seconds * (number == 0))
        for number, one in enumerate(instances)
    )
    return charged if lazy else list(charged)


def _check_outputs(arguments: argparse.Namespace, kind: str) -> None:
    """What cannot be written is told before the work."""
    if arguments.plan_file is not None:
        check_writable(arguments.plan_file, "plan", streams=True)
    if arguments.path_file is not None:
        from hstar.spaces.grid_files import PATHS

        if kind != "map":
            raise InputError("--path-file is for maps; --plan-file is for all problems")
        if arguments.path_file.suffix not in PATHS:
            raise InputError(f"a path is a {', '.join(PATHS)} file", file=arguments.path_file)
        check_writable(arguments.path_file, "path")
    if arguments.output is not None:
        if arguments.output.suffix == ".csv":
            raise InputError("rows are JSON lines, not CSV: a .jsonl file", file=arguments.output)
        check_writable(arguments.output, "rows")
    if arguments.steps is not None:
        if kind != "map" or arguments.headings:
            raise InputError("--steps shows maps without headings")
        if arguments.steps.suffix != ".json":
            raise InputError("steps are a .json file", file=arguments.steps)
        check_writable(arguments.steps, "steps")


class _Output:
    """Rows as they come, and what is told at the end."""

    def __init__(self, arguments: argparse.Namespace, batches: Sequence[Batch], number: int) -> None:
        self.arguments, self.batches, self.number = arguments, batches, number  # of problems
        self.several = number > 1 or len(batches) > 1 or arguments.summary
        self.rows: list[list[Row]] = []  # by batch
        self.first: list[tuple[Batch, Result]] = []  # searches of the first problem
        self.problem: Any = None
        self.reached = ""  # by a translation that a limit ended
        self.started = time.monotonic()
        self.promise: dict[str, Any] | None = None
        self.told = False  # of one problem how it ended
        if self.several and arguments.path_file is not None:
            raise InputError("--path-file is for one problem and one heuristic")

    def search(self, batch: Batch, instances: Iterable[Instance], line: ProgressLine) -> None:
        """One batch, its rows put out one by one; a `KeyboardInterrupt` if it was interrupted."""
        done: list[Row] = []
        self.rows.append(done)

        def progress(record: Any) -> None:
            if not self.several:
                line(record)
                return
            seconds, solved = time.monotonic() - self.started, sum(row["status"] == "solved" for row in done)
            now = f"  {format_count(record.evaluated)} evaluated in the next one"
            line.update(seconds, f"{seconds:7.1f} s  {len(done)} of {self.number} done, {solved} solved{now}")

        def better(instance: Instance, found: Found) -> None:
            if self.arguments.anytime or self.arguments.alias is not None:
                # It is written at once: whatever happens to this process, it is there.
                with contextlib.suppress(InputError):  # said at the end, where the last plan is written
                    self._write_plan(found.plan_text())
                name = f"{instance.id}: " if self.several else ""
                cost = f"{found.plan_cost}{proven(found.lower_bound, found.ratio)}"
                line.message(f"{name}{found.time:.2f} s: plan of cost {cost}")

        def seen() -> Iterator[Instance]:
            for instance in instances:
                self.problem = self.problem or instance.problem
                self.reached = instance.reached
                yield instance

        for row, result in run_batch(batch, seen(), progress=progress, on_plan=better):
            done.append(row)
            if result is not None and len(done) == 1:
                self.first.append((batch, result))
            self._put(batch, row)
            if row["status"] == "interrupted":
                raise KeyboardInterrupt

    def _write_plan(self, text: str) -> None:
        if (path := self.arguments.plan_file) is not None:
            with writing(path, "plan"):
                replace_file(path, text.encode(), durable=False)

    def _write_path(self, row: Row) -> None:
        """The path, in metres with --metric: centres of cells."""
        if (file := self.arguments.path_file) is None:
            return
        from hstar.spaces.grid_files import write_path

        path, names = row["path"], ("row", "column", "heading")
        if self.arguments.metric:
            from hstar.spaces.ros_map import read_ros_map

            described, rows = read_ros_map(self.arguments.files[0]), self.problem.shape[0]
            points = ((described.point(row, column, rows), rest) for row, column, *rest in path)
            path = [[*(round(metres, 9) for metres in point), *rest] for point, rest in points]
            names = ("x", "y", "heading")
        with writing(file, "path"):
            write_path(file, path, names[: len(path[0])])

    def _put(self, batch: Batch, row: Row) -> None:
        """One row where it was asked for.

        A plan that cannot be written where it should go is shown all the same, and the error comes last.
        """
        arguments, promised = self.arguments, None
        if row["plan"] is not None:
            promised = self.promise = promise(batch, arguments, self.problem)
        if arguments.summary or (self.several and row["status"] == "interrupted"):
            return
        unwritten: InputError | None = None
        plan = "" if row["plan"] is None else format_plan(row["plan"], row["cost"], row["unit_cost"])
        try:
            if row["plan"] is not None:
                self._write_plan(plan)
                self._write_path(row)
        except InputError as error:
            unwritten = error
        if arguments.json:
            more = {"total_time": time.monotonic() - self.started, "promise": promised}
            print(json.dumps({**_about(arguments, batch), **row, **more}))
        elif self.several:
            print(f"{_name(batch)}: {_line(row)}" if len(self.batches) > 1 else _line(row))
        elif arguments.plan_file is None or unwritten:
            print(plan, end="")
        sys.stdout.flush()
        if not self.several and not arguments.quiet and not arguments.json:
            print(self.reached or _summary(batch, row), file=sys.stderr)
            if promised is not None:
                print(f"the plan {promised['text']}", file=sys.stderr)
        self.told = True
        if unwritten is not None:
            raise unwritten

    def interrupted(self) -> int:
        if self.several:
            kept = self.arguments.output
            again = f"; run the same command again to go on from {kept}" if kept else ""
            done = sum(row["status"] != "interrupted" for rows in self.rows for row in rows)
            print(f"hstar: interrupted: {done} of {self.number} done{again}", file=sys.stderr)
        elif not self.told:  # before the search has a row, as by --optimum, or while it is put out
            print("hstar: interrupted", file=sys.stderr)
        return _INTERRUPTED

    def finish(self) -> int:
        """Means over the rows, and the exit code."""
        arguments = self.arguments
        if arguments.steps is not None:
            from hstar.experiments.grid_picture import write_steps

            write_steps(arguments.steps, self.problem, panels(self.first))
        if self.several:
            pairs = zip(self.batches, self.rows, strict=True)
            means = [{"heuristic": _name(batch), **summary(rows)} for batch, rows in pairs]
            if arguments.summary:
                print("\n".join(map(json.dumps, means) if arguments.json else _table(means)))
            elif not arguments.quiet:
                print("\n".join(_table(means) if len(means) > 1 else map(_means, means)), file=sys.stderr)
                if self.promise is not None:
                    print(f"each plan {self.promise['text']}", file=sys.stderr)
        first, *others = (row for rows in self.rows for row in rows)
        if not others:
            return exit_code(first["status"], first["plan"] is not None)
        return 0 if all(row["status"] == "solved" for row in (first, *others)) else _UNSOLVED


def panels(found: Sequence[tuple[Batch, Result]]) -> list[Any]:
    """The searches of one problem, to be drawn side by side."""
    from hstar.experiments.grid_picture import Panel, panel_title

    shown = []
    for batch, result in found:
        eps = batch.config.eps
        bounded = f", eps {eps:g}" if eps is not None and result.values is not None else ""
        title = panel_title(f"{_name(batch)}{bounded}", result.expanded, result.plan_cost)
        shown.append(Panel(title, result, result.values))
    return shown


def _name(batch: Batch) -> str:
    return " and ".join(batch.about["heuristic"])


def _about(arguments: argparse.Namespace, batch: Batch) -> dict[str, Any]:
    names = ("alias", "combine", "precision", "rule", "alpha", "seed", "bound", "eps", "weight", "anytime")
    return {
        "hstar_version": __version__,
        "task": arguments.files[-1].name if arguments.files else arguments.kind,
        "search": batch.search,
        "heuristic": batch.about["heuristic"],
        **{name: getattr(arguments, name) for name in names},
    }


def _summary(batch: Batch, row: Row) -> str:
    rate = row["evaluations"] / max(row["search_time"], 1e-9)
    found = ""
    if row["plan"] is not None:
        known = proven(row["lower_bound"], row["ratio"])
        found = f"plan of length {row['plan_length']}, cost {row['cost']:g}{known}; "
    elif row["lower_bound"]:
        found = f"no plan costs less than {row['lower_bound']:g}; "
    network = f" and {row['network_time']:.3f} s of the network" if row["network_time"] else ""
    return (
        f"{row['status'].replace('_', ' ')}: {found}{format_count(row['expansions'])} expanded, "
        f"{format_count(row['evaluations'])} evaluated ({format_count(rate)}/s) in "
        f"{row['search_time']:.3f} s{network}, {format_bytes(row['memory'])}; "
        f"{in_words(str(batch.search), batch.about['heuristic'], batch.config)}"
    )


def _line(row: Row) -> str:
    """One of several problems."""
    status = row["status"].replace("_", " ")
    if row["cost"] is None:
        least = f", no plan costs less than {row['lower_bound']:g}" if row["lower_bound"] else ""
        found = f"{status}{least}"
    else:
        found = f"cost {row['cost']:g}{proven(row['lower_bound'], row['ratio'])}"
        found = found if row["status"] == "solved" else f"{status}: {found}"
    known = row["optimal_cost"] is not None and row["ratio"] != 1
    optimal = f" (optimal {row['optimal_cost']:g})" if known else ""
    return f"{row['id']}: {found}{optimal}, {row['generated']} generated, {row['search_time']:.3f} s"


def _means(means: dict[str, Any]) -> str:
    parts = [f"{means['solved']} of {means['instances']} solved"]
    if means["cost"] is not None:
        parts.append(f"mean cost {means['cost']:.2f}")
    parts.append(f"mean {format_count(means['generated'])} generated in {means['search_time']:.3f} s")
    if means["with_known_optimum"]:
        parts.append(f"suboptimality {means['suboptimality']:.2%}, {means['optimal']:.1%} optimal")
    return ", ".join(parts)


def _table(found: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each heuristic."""
    columns = {"cost": 2, "suboptimality": 4, "expansions": 1, "reopened": 1, "search_time": 4}
    header = " ".join(f"{name.replace('_', ' '):>13}" for name in columns)
    lines = [f"{'heuristic':24} {'solved':>8} {header}"]
    for one in found:
        numbers = (
            "-" if one[name] is None else f"{one[name]:.{digits}f}" for name, digits in columns.items()
        )
        solved = f"{one['solved']}/{one['instances']}"
        lines.append(f"{one['heuristic']:24} {solved:>8} {' '.join(f'{text:>13}' for text in numbers)}")
    return lines
