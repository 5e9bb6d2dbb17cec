"""Two builds of hstar side by side: the cases of fast_downward.py, idastar.py, grids.py and network.py.

Each build is a Python interpreter with hstar installed from a checkout; it runs the benchmarks of its own
checkout, so that the two may have different interfaces. Both processes stay alive and take turns case by
case, several times, in changing order: whatever else the machine does meets both. A case has the best rate of
its runs, counted work per second of processor time. Planning tasks are read from the same `.sas` files, which
the second interpreter writes once.

A table has the geometric mean of the ratios after / before, more being faster, and its worst case. The script
exits with 1 if a mean is below --least.

python benchmarks/before_after.py BEFORE/bin/python AFTER/bin/python [PROBLEM.pddl ...]
    [--tables idastar,grids] [--rounds 5] [--seconds 2] [--nodes 5e6] [--size 400] [--least 0.98]
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import io
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

TABLES = ("fast_downward", "idastar", "grids", "network")
MEMORY_MB = 4096
Rates = dict[str, list[float]]  # by case: counted work and seconds
Measure = Callable[[], Rates]


# --- one build: the process that measures -----------------------------------------------------------


class Cases:
    """The measurements of this interpreter's checkout by table and name."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.nodes, self.size, self.seconds = options["nodes"], options["size"], options["seconds"]
        self.tasks = [Path(task) for task in options["tasks"]]

    def of(self, table: str) -> dict[str, Measure]:
        """What can be asked for."""
        found: dict[str, Measure] = dict(getattr(self, table)(importlib.import_module(table)))
        return found

    def idastar(self, script: Any) -> Iterator[tuple[str, Measure]]:
        """Generated states."""
        for name, puzzles, heuristic, pruning in script.CASES:
            case = f"{name}, {heuristic}, {pruning}"

            def measure(case: str = case, what: tuple[Any, ...] = (puzzles, heuristic, pruning)) -> Rates:
                found = script.measure_rate(*what, int(self.nodes))
                return {case: [found["generated"], found["cpu_s"]]}

            yield case, measure

    def grids(self, script: Any) -> Iterator[tuple[str, Measure]]:
        """Expansions and labels; the script prints them, so that rates are read from its tables."""

        def measure(part: str) -> Rates:
            script.rate = lambda count, seconds: f"{count} {max(seconds, 1e-9)!r}"
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                getattr(script, part)(self.size)
            rows = [line.strip("| ").split(" | ") for line in printed.getvalue().splitlines()[2:]]
            return {f"{part}: {row[0]}, {row[1]}": [float(word) for word in row[-1].split()] for row in rows}

        for part in ("searches", "labels"):
            yield part, functools.partial(measure, part)

    def network(self, script: Any) -> Iterator[tuple[str, Measure]]:
        """Evaluations of a network in GBFS, natively."""
        script.torch.set_num_threads(1)
        for task in self.tasks:
            for way in script.WAYS:
                if "PyTorch" in way:
                    continue
                case = f"{task.stem}, {way}"

                def measure(case: str = case, what: tuple[Path, str] = (task, way)) -> Rates:
                    found = script.measure(*what, self.seconds)
                    return {case: [found["evaluations"], found["cpu_time"]]}

                yield case, measure

    def fast_downward(self, script: Any) -> Iterator[tuple[str, Measure]]:
        """Evaluations or expansions with symbolic heuristics, by the command line."""
        planner = script.Hstar((sys.executable, "-m", "hstar"), "")
        for task in self.tasks:
            for config in script.RATES:
                case = f"{task.stem}, {config.name}"

                def measure(case: str = case, task: Path = task, config: Any = config) -> Rates:
                    run = planner.run(script.Task(task.stem, task), config, self.seconds, MEMORY_MB)
                    return {case: [run.get(config.unit) or 0, script.seconds(run)]}

                yield case, measure


def write_tasks(problems: Sequence[str], folder: Path) -> list[str]:
    """Tasks as `.sas` files: those of problem files, or generated ones."""
    import hstar

    texts: list[tuple[str, bytes]] = []
    for problem in problems:
        path = Path(problem)
        texts.append((f"{path.parent.name}-{path.stem}", hstar.load(path).core.to_sas()))
    if not problems:
        from fast_downward import GENERATED

        from hstar.generators import GENERATORS

        for name, options in GENERATED:
            words = "-".join(f"{key}{value}" for key, value in options.items())
            for file, text in zip(("domain", "problem"), GENERATORS.get(name)(**options), strict=True):
                (folder / f"{file}.pddl").write_text(text)
            texts.append((f"{name}-{words}", hstar.load(folder / "problem.pddl").core.to_sas()))
    for name, sas in texts:
        (folder / f"{name}.sas").write_bytes(sas)
    return [str(folder / f"{name}.sas") for name, _ in texts]


def work() -> None:
    """Answers requests, one line of JSON each, with the benchmarks of the checkout that hstar is from."""
    import hstar

    sys.path[0] = str(Path(hstar.__file__).resolve().parents[2] / "benchmarks")
    answers, sys.stdout = sys.stdout, sys.stderr
    known: dict[str, dict[str, Measure]] = {}
    cases: Cases | None = None
    for line in sys.stdin:
        verb, *words = json.loads(line)
        answer: Any
        if verb == "tasks":
            answer = write_tasks(words[0], Path(words[1]))
        elif verb == "options":
            answer, cases = None, Cases(words[0])
        else:
            assert cases is not None
            table = words[0]
            known.setdefault(table, cases.of(table))
            answer = list(known[table]) if verb == "cases" else known[table][words[1]]()
        print(json.dumps(answer), file=answers, flush=True)


# --- both builds ------------------------------------------------------------------------------------


class Build:
    """A process of one of the two."""

    def __init__(self, interpreter: str) -> None:
        command = [interpreter, __file__, "--work"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.interpreter = interpreter

    def ask(self, *request: Any) -> Any:
        """The answer to a request; a `RuntimeError` if the process has ended."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.interpreter} ended at {request!r:.200}")
        return json.loads(line)

    def end(self) -> None:
        """Ends the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def measure(before: Build, after: Build, table: str, rounds: int) -> dict[str, tuple[float, float]]:
    """By case the best rate of each build."""
    asked = set(before.ask("cases", table))
    best: dict[str, list[float]] = {}
    for case in after.ask("cases", table):
        if case not in asked:
            print(f"{table}: {case}: only of the second build", file=sys.stderr, flush=True)
            continue
        for turn in range(rounds):
            sides = (0, 1) if turn % 2 == 0 else (1, 0)
            for side in sides:
                for name, (count, seconds) in (before, after)[side].ask("run", table, case).items():
                    rates = best.setdefault(name, [0.0, 0.0])
                    rates[side] = max(rates[side], count / seconds if seconds > 0 else 0.0)
        print(f"{table}: {case}: {rounds} rounds", file=sys.stderr, flush=True)
    return {name: (rates[0], rates[1]) for name, rates in best.items() if min(rates) > 0}


def summary(found: Mapping[str, tuple[float, float]]) -> tuple[float, str]:
    """The geometric mean of the ratios, and the case with the least one."""
    ratios = {name: after / before for name, (before, after) in found.items()}
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    return mean, min(ratios, key=lambda name: ratios[name])


def report(found: Mapping[str, Mapping[str, tuple[float, float]]]) -> str:
    """A line for each table, then one for each case."""
    lines = ["| table | cases | after / before, geometric mean | least | which |", "|---|---:|---:|---:|---|"]
    for table, cases in found.items():
        if cases:
            mean, worst = summary(cases)
            least = cases[worst][1] / cases[worst][0]
            lines.append(f"| {table} | {len(cases)} | {mean:.3f} | {least:.3f} | {worst} |")
    lines += ["", "| table | case | before, 1/s | after, 1/s | after / before |", "|---|---|---:|---:|---:|"]
    for table, cases in found.items():
        for name, (before, after) in cases.items():
            lines.append(f"| {table} | {name} | {before:,.0f} | {after:,.0f} | {after / before:.3f} |")
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Rates of two builds of hstar, measured in turns.")
    parser.add_argument("before", help="a Python interpreter with the first build")
    parser.add_argument("after", help="one with the second")
    parser.add_argument("problems", nargs="*", help="problem.pddl files (default: generated ones)")
    parser.add_argument("--tables", default=",".join(TABLES), help="some of them (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each case by each build")
    parser.add_argument("--seconds", type=float, default=2.0, help="limit of a search of a planning task")
    parser.add_argument("--nodes", type=float, default=5e6, help="limit of a search of a puzzle")
    parser.add_argument("--size", type=int, default=400, help="rows and columns of maps")
    parser.add_argument(
        "--least", type=float, default=0.98, help="mean of a table that is slow enough to fail"
    )
    options = parser.parse_args(words)
    tables = options.tables.split(",")
    if unknown := set(tables) - set(TABLES):
        parser.error(f"unknown tables: {', '.join(sorted(unknown))} (known: {', '.join(TABLES)})")
    before, after = Build(options.before), Build(options.after)
    with tempfile.TemporaryDirectory() as folder:
        tasks = after.ask("tasks", options.problems, folder)
        limits = {"nodes": options.nodes, "size": options.size, "seconds": options.seconds, "tasks": tasks}
        for build in (before, after):
            build.ask("options", limits)
        found = {table: measure(before, after, table, options.rounds) for table in tables}
        for build in (before, after):
            build.end()
    print(report(found))
    return 0 if all(summary(cases)[0] >= options.least for cases in found.values() if cases) else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--work"]:
        work()
    else:
        sys.exit(main())
