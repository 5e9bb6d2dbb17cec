"""hstar against Fast Downward: evaluations per second, bytes per state, coverage and plan costs.

Both planners read the same `.sas` file, run one after the other on the same core under the same
limits, and count their own work. Helmert, "The Fast Downward Planning System" (JAIR 2006).

What is compared with what:
1. Costs: both use the task's own. All searches and heuristics of Fast Downward's 2026 release have
   `cost_type=normal` as their default, so nothing has to be set.
2. Rate: evaluations per second of processor time spent in the search (expansions for blind search, whose
   evaluation is free). A task counts if Fast Downward searches for two seconds or up to the limit, and
   hstar long enough for a clock to be trusted.
3. Bytes per state: growth of the peak memory from the start of the search to its end, divided by
   the registered states; for tasks of at least half a million states in both planners. Fast
   Downward logs its peak memory on every line, hstar reports `memory` and `memory_before_search`.
4. Coverage: solved, and the whole run from reading the `.sas` file took no longer than the limit.

Results are JSON lines, one per run, written as they come (records.py). A run is known by planner, build,
task, configuration and limits; one that is already in the file is not repeated, so an interrupted
measurement goes on where it stopped and a rebuilt hstar is measured anew against stored peers.

python benchmarks/fast_downward.py [--coverage] --out FILE; tables of what it keeps: --print FILE
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import math
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from records import (
    Records,
    add_file_options,
    core_digest,
    finish,
    latest,
    note,
    read,
    shown,
    table,
)

from hstar.errors import InputError
from hstar.experiments.fast_downward import GRACE_S, FastDownward
from hstar.experiments.process import ProcessLimits, run_limited

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "benchmarks"
IPC = ROOT.parent / "shared" / "benchmarks" / "ipc"

RATE_MIN_PEER_S = 2.0  # a shorter search of Fast Downward says little about its rate
RATE_MIN_OWN_S = 0.3  # ... nor does a search of hstar that is over at once
BYTES_MIN_STATES = 500_000

Run = dict[str, Any]  # one line of the result file


@dataclass(frozen=True)
class Config:
    """One search, spelled for both planners."""

    name: str
    title: str
    fast_downward: str  # `{time}` is the limit in seconds
    hstar: tuple[str, ...]
    unit: str = "evaluations"  # what a rate counts
    optimal: bool = False
    same_initial_h: bool = False  # whether both must give the initial state the same value


RATES = (
    Config(
        "blind",
        "blind (A*)",
        "astar(blind(),max_time={time})",
        ("astar", "blind"),
        unit="expansions",
        optimal=True,
        same_initial_h=True,
    ),
    Config(
        "hmax",
        "hmax (A*)",
        "astar(hmax(),max_time={time})",
        ("astar", "hmax"),
        optimal=True,
        same_initial_h=True,
    ),
    Config(
        "add", "add (GBFS)", "eager_greedy([add()],max_time={time})", ("gbfs", "add"), same_initial_h=True
    ),
    Config("ff", "ff (GBFS)", "eager_greedy([ff()],max_time={time})", ("gbfs", "ff")),
    Config("lmcut", "lmcut (A*)", "astar(lmcut(),max_time={time})", ("astar", "lmcut"), optimal=True),
)
COVERAGE = (
    Config("astar-lmcut", "A* + lmcut", "astar(lmcut(),max_time={time})", ("astar", "lmcut"), optimal=True),
    Config(
        "lazy-ff-preferred",
        "lazy + ff, preferred operators",
        "let(h,ff(),lazy_greedy([h],preferred=[h],max_time={time}))",
        ("lazy", "ff", "--preferred"),
    ),
    Config(
        "gbfs-ff-preferred",
        "gbfs + ff, preferred operators",
        "let(h,ff(),eager_greedy([h],preferred=[h],max_time={time}))",
        ("gbfs", "ff", "--preferred"),
    ),
    Config("gbfs-ff", "gbfs + ff", "eager_greedy([ff()],max_time={time})", ("gbfs", "ff")),
)
KEY = ("planner", "build", "task", "config", "time_limit", "memory_limit")
TABLES = ("errors", "summary", "agreement", "tasks")

# Project-generated tasks: generator, parameters. Big enough for seconds of search.
GENERATED: tuple[tuple[str, dict[str, int]], ...] = (
    ("blocksworld", {"blocks": 12, "seed": 1}),
    ("blocksworld", {"blocks": 25, "seed": 2}),
    ("npuzzle", {"rows": 4, "columns": 4, "seed": 1}),
    ("npuzzle", {"rows": 6, "columns": 6, "seed": 2}),
    ("ferry", {"locations": 6, "cars": 10, "seed": 1}),
    ("ferry", {"locations": 20, "cars": 30, "seed": 2}),
)
QUICK = (
    "blocks/probBLOCKS-11-0",
    "elevators-opt11-strips/p05",
    "gripper/prob09",
    "pipesworld-notankage/*",
    "scanalyzer-opt11-strips/p09",
)


# --- tasks ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """A translated task."""

    name: str
    sas: Path

    @property
    def axioms(self) -> bool:
        """Whether the task has derived variables."""
        return "begin_rule" in self.sas.read_text()


def translate(domain: Path, problem: Path, target: Path, limit_s: float) -> bool:
    """Writes the task to `target` unless it is there; False if that fails, now or earlier."""
    if target.exists():
        return True
    failed = target.with_suffix(".failed")
    if not failed.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(".part")
        command = [sys.executable, "-m", "fast_downward.translate", "--sas-file", str(part)]
        found = run_limited([*command, str(domain), str(problem)], ProcessLimits(limit_s))
        if found.exit_code == 0:
            part.rename(target)
            return True
        reason = "too slow" if found.timed_out else found.last_line()
        failed.write_text(reason)
    note(f"{target.parent.name}/{target.stem}: left out, not translated: {failed.read_text()}")
    return False


def domain_of(problem: Path) -> Path | None:
    """`domain.pddl`, or the domain file that carries the first part of the problem's name."""
    first_part = problem.stem.split("-")[0]
    for name in ("domain.pddl", f"{first_part}-domain.pddl"):
        if (path := problem.with_name(name)).is_file():
            return path
    return None


def natural(text: str) -> list[tuple[int, str]]:
    """Sort key that puts p9 before p10."""
    return [(int(word), "") if word.isdigit() else (0, word) for word in re.split(r"(\d+)", text)]


def competition_tasks(folder: Path, work: Path, wanted: Callable[[str], bool]) -> Iterator[Task]:
    if not folder.is_dir():
        note(f"no competition tasks: the folder {folder} does not exist (choose one with --ipc)")
        return
    for problem in sorted(folder.glob("*/*.pddl"), key=lambda path: natural(str(path))):
        name = f"{problem.parent.name}/{problem.stem}"
        if problem.stem.endswith("domain") or not wanted(name):
            continue
        domain = domain_of(problem)
        target = work / f"{name}.sas"
        if domain is None:
            note(f"{name}: left out, no domain file")
        elif translate(domain, problem, target, limit_s=60):
            yield Task(name, target)


def generated_tasks(work: Path, wanted: Callable[[str], bool]) -> Iterator[Task]:
    try:
        from hstar.generators import GENERATORS
    except ImportError as error:
        note(f"no generated tasks: {error}")
        return
    for generator, parameters in GENERATED:
        label = "-".join(f"{key}{value}" for key, value in parameters.items())
        name = f"generated/{generator}-{label}"
        if not wanted(name):
            continue
        texts = GENERATORS.get(generator)(**parameters)
        # The text is part of the file name: a generator that changes makes a new task.
        digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:8]
        folder = work / f"{name}-{digest}"
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in zip(("domain.pddl", "problem.pddl"), texts, strict=True):
            (folder / file).write_text(text)
        target = folder / "output.sas"
        if translate(folder / "domain.pddl", folder / "problem.pddl", target, limit_s=60):
            yield Task(f"{name}-{digest}", target)


# --- running --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Peer:
    """Fast Downward."""

    planner: FastDownward
    name = "fast_downward"

    @property
    def build(self) -> str:
        """Which one."""
        return self.planner.revision

    def run(self, task: Task, config: Config, time_s: float, memory_mb: int) -> Run:
        """One run under the limits."""
        search = config.fast_downward.format(time=time_s)
        return self.planner.search(task.sas, search, time_limit=time_s, memory_limit=memory_mb << 20)


@dataclass(frozen=True)
class Hstar:
    """Ourselves, through the command line like any user."""

    command: tuple[str, ...]
    build: str
    name = "hstar"

    @staticmethod
    def find(command: str | None) -> Hstar | None:
        """The given command or the one of this environment; None where there is neither."""
        if command is None:
            beside = Path(sys.executable).with_name("hstar")
            command = shlex.quote(str(beside)) if beside.is_file() else shutil.which("hstar")
        if command is None:
            return None
        words = tuple(shlex.split(command))
        asked = subprocess.run([*words, "--version"], capture_output=True, text=True)
        version = asked.stdout.strip().partition("\n")[0]
        return Hstar(words, f"{version} {core_digest()}".strip())

    def run(self, task: Task, config: Config, time_s: float, memory_mb: int) -> Run:
        """One run under the limits."""
        search, heuristic, *options = config.hstar
        limits = ["--time-limit", f"{time_s:g}", "--memory-limit", str(memory_mb)]
        command = [*self.command, "solve", str(task.sas), "--search", search]
        command += ["--heuristic", heuristic, *options, *limits, "--json"]
        found = run_limited(command, ProcessLimits(time_s + GRACE_S))
        try:
            run: Run = json.loads(found.output)
        except ValueError:
            # Without a record only what the exit code says for sure is known.
            known = {22: "memory_limit", 23: "time_limit", 34: "unsupported"}
            status = "time_limit" if found.timed_out else known.get(found.exit_code, "error")
            run = {"status": status}
        if run["status"] == "error":
            run["error"] = f"exit {found.exit_code}: {found.last_line()}"
        run.pop("plan", None)
        return {**run, "exit_code": found.exit_code}


Planner = Peer | Hstar


def run_planner(
    records: Records, planner: Planner, task: Task, config: Config, time_s: float, memory_mb: int
) -> Run:
    """The stored run, or a new one."""

    def measure() -> Run:
        run = {"axioms": task.axioms, **planner.run(task, config, time_s, memory_mb)}
        time = run.get("search_time")
        time_text = f"{time:.2f} s" if time is not None else "-"
        note(f"{config.name:18} {task.name:45} {planner.name:14} {run['status']:12} {time_text}")
        return run

    what = (planner.name, planner.build, task.name, config.name, time_s, memory_mb)
    return records.get(dict(zip(KEY, what, strict=True)), measure)


# --- measures -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """The runs of both planners on one task under one configuration."""

    task: str
    config: Config
    peer: Run
    own: Run | None


def pairs_of(runs: Sequence[Run], configs: Sequence[Config]) -> list[Pair]:
    """Those that the peer has run; where hstar's costs alone are compared, that is not all of hstar's."""
    last = latest(runs, ("planner", "task", "config"))
    found = {(run["planner"], run["config"], run["task"]): run for run in last}
    tasks = list(dict.fromkeys(run["task"] for run in last))
    return [
        Pair(task, config, peer, found.get(("hstar", config.name, task)))
        for config in configs
        for task in tasks
        if (peer := found.get(("fast_downward", config.name, task)))
    ]


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def seconds(run: Run) -> float:
    """Processor time of the search, which is what Fast Downward's clock shows."""
    return float(run.get("cpu_time") or run.get("search_time") or 0)


def rate(run: Run | None, unit: str) -> float | None:
    """Work per second of search."""
    if not run or not run.get(unit) or not seconds(run):
        return None
    return float(run[unit]) / seconds(run)


def long_enough(peer: Run, time_s: float) -> bool:
    """Whether Fast Downward searched long enough for its rate to count."""
    return (peer.get("search_time") or 0) >= min(RATE_MIN_PEER_S, 0.95 * time_s)


def bytes_per_state(run: Run | None) -> float | None:
    """Growth of the peak memory during the search per registered state."""
    if not run or (run.get("registered_states") or 0) < BYTES_MIN_STATES:
        return None
    if run.get("memory") is None or run.get("memory_before_search") is None:
        return None
    return float(run["memory"] - run["memory_before_search"]) / float(run["registered_states"])


def problems(pairs: Sequence[Pair]) -> list[str]:
    """What nobody has explained yet: errors, and results that contradict each other."""
    found = []
    for pair in pairs:
        where = f"{pair.config.name}, {pair.task}"
        runs = [("Fast Downward", pair.peer)] + ([("hstar", pair.own)] if pair.own else [])
        for planner, run in runs:
            if run["status"] == "error" or run.get("error"):
                found.append(f"{where}: {planner}: {run.get('error', 'error')}")
        if pair.own is None:
            continue
        peer, own = pair.peer, pair.own
        statuses = {peer["status"], own["status"]}
        if statuses == {"solved", "unsolvable"} or (
            "unsupported" in statuses and own["status"] != peer["status"]
        ):
            found.append(f"{where}: Fast Downward says {peer['status']}, hstar {own['status']}")
        if pair.config.optimal and statuses == {"solved"} and peer["cost"] != own["cost"]:
            found.append(f"{where}: optimal cost {peer['cost']}, hstar {own['cost']}")
        values = (peer.get("initial_h"), own.get("initial_h"))
        if pair.config.same_initial_h and None not in values and values[0] != values[1]:
            axioms = " (the task has axioms)" if own.get("axioms") else ""
            found.append(f"{where}: initial h {values[0]}, hstar {values[1]}{axioms}")
    return found


# --- report ---------------------------------------------------------------------------------------


def short(task: str) -> str:
    """A task as people call it: blocks/probBLOCKS-14-0 is blocks 14-0."""
    domain, _, problem = task.partition("/")
    return f"{re.sub(r'-(opt|sat)[0-9]+-strips$', '', domain)} {re.sub('^prob[A-Z]+-', '', problem)}"


def number(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def measure_rows(
    pairs: Sequence[Pair], measure: Callable[[Run | None, Config], float | None]
) -> tuple[list[list[str]], list[float]]:
    """A row per pair that has the peer's value, and the ratios hstar / Fast Downward."""
    rows, ratios = [], []
    for pair in pairs:
        peer, own = measure(pair.peer, pair.config), measure(pair.own, pair.config)
        if peer is None or (own is None and pair.own is not None):
            continue
        ratio = own / peer if own is not None else None
        if ratio is not None:
            ratios.append(ratio)
        rows.append([pair.task, number(peer), number(own), number(ratio)])
    return rows, ratios


def counted(pairs: Sequence[Pair], config: Config) -> list[Pair]:
    """The pairs whose rates count."""
    return [p for p in pairs if p.config is config and long_enough(p.peer, p.peer["time_limit"])]


def work(run: Run | None, config: Config) -> float | None:
    """The rate, if the search was long enough for one."""
    short_run = run is not None and (run.get("search_time") or 0) < RATE_MIN_OWN_S
    return None if short_run else rate(run, config.unit)


def memory(run: Run | None, config: Config) -> float | None:
    return bytes_per_state(run)


def rate_table(pairs: Sequence[Pair], configs: Sequence[Config]) -> str:
    rows = []
    for config in configs:
        mine = counted(pairs, config)
        _, ratios = measure_rows(mine, work)
        _, bytes_ratios = measure_rows(mine, memory)
        figures = [f"{value:.2f}" for value in (geometric_mean(ratios), min(ratios))] if ratios else ["", ""]
        stored = f"{geometric_mean(bytes_ratios):.2f} ({len(bytes_ratios)})" if bytes_ratios else ""
        if mine:
            rows.append([config.title, f"{config.unit}/s", str(len(ratios)), *figures, stored])
    header = ["heuristic (search)", "unit", "tasks", "hstar / Fast Downward, geometric mean", "lowest"]
    return table([*header, "bytes a state, ratio (tasks)"], rows, words=(0, 1))


def task_tables(pairs: Sequence[Pair], configs: Sequence[Config]) -> str:
    """The rates and bytes of every task."""
    header = ["task", "Fast Downward", "hstar", "ratio"]
    parts = []
    for config in configs:
        for name, measure in ((f"{config.unit} per second", work), ("bytes per state", memory)):
            if rows := measure_rows(counted(pairs, config), measure)[0]:
                parts.append(f"### {config.name}: {name}\n\n{table(header, rows)}")
    return "\n\n".join(parts)


def solved(run: Run | None) -> bool:
    """Within the limit, from reading the task on."""
    return (
        run is not None
        and run["status"] == "solved"
        and bool((run.get("total_time") or 0) <= run["time_limit"])
    )


def coverage_table(runs: Sequence[Run], pairs: Sequence[Pair], configs: Sequence[Config]) -> str:
    rows = []
    for config in configs:
        mine = [pair for pair in pairs if pair.config is config]
        if not mine:
            continue
        both = [(pair.peer, pair.own) for pair in mine if solved(pair.peer) and solved(pair.own)]
        equal = sum(peer["cost"] == own["cost"] for peer, own in both if own)
        tried = {run["task"] for run in runs if (run["planner"], run["config"]) == ("hstar", config.name)}
        costs_only = len(tried) > len(mine) and all(solved(pair.own) for pair in mine)
        rows.append(
            [
                config.title,
                f"{len(mine)} that hstar solved" if costs_only else str(len(mine)),
                str(sum(solved(pair.own) for pair in mine)),
                str(sum(solved(pair.peer) for pair in mine)),
                ", ".join(short(p.task) for p in mine if solved(p.own) and not solved(p.peer)),
                ", ".join(short(p.task) for p in mine if solved(p.peer) and not solved(p.own)),
                f"{equal} of {len(both)}",
            ]
        )
    header = ["configuration", "tasks", "hstar", "Fast Downward", "only hstar", "only Fast Downward"]
    return table([*header, "equal costs"], rows, words=(0, 4, 5))


def agreement_table(pairs: Sequence[Pair], configs: Sequence[Config]) -> str:
    """What both planners must come to, and how fast they do."""
    rows = []
    for config in configs:
        mine = [(p.task, p.peer, p.own) for p in pairs if p.config is config and p.own]
        if not mine or not (config.optimal or config.same_initial_h):
            continue
        values = [(peer.get("initial_h"), own.get("initial_h")) for _, peer, own in mine]
        values = [both for both in values if None not in both]
        same = f"{sum(a == b for a, b in values)} of {len(values)}" if config.same_initial_h else ""
        done = [(task, peer, own) for task, peer, own in mine if solved(peer) and solved(own)]
        equal = f"{sum(peer['cost'] == own['cost'] for _, peer, own in done)} of {len(done)}"
        other = [short(task) for task, peer, own in done if peer["evaluations"] != own["evaluations"]]
        rows.append(
            [
                config.title,
                same,
                *([equal, f"{len(done) - len(other)} of {len(done)}"] if config.optimal else ["", ""]),
                ", ".join(other) if config.optimal else "",
                spread(measure_rows(counted(pairs, config), work)[1]),
            ]
        )
    header = ["heuristic (search)", "equal value of the initial state", "equal costs of solved tasks"]
    header += [
        "as many evaluations",
        "other numbers",
        "rate, hstar / Fast Downward, geometric mean (range), tasks",
    ]
    return table(header, rows, words=(0, 4))


def spread(ratios: Sequence[float]) -> str:
    """Geometric mean and range."""
    if not ratios:
        return ""
    return f"{geometric_mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), {len(ratios)}"


def report(runs: Sequence[Run], configs: Sequence[Config], coverage: bool) -> dict[str, tuple[str, str]]:
    """The sections by name, each with its title."""
    pairs = pairs_of(runs, configs)
    errors = "\n".join(f"- {line}" for line in problems(pairs)) or "None."
    sections = {"errors": ("## Unexplained errors", errors)}
    if coverage:
        sections["summary"] = ("## Coverage", coverage_table(runs, pairs, configs))
    else:
        title = "## Rates, hstar / Fast Downward (rate: more is better, bytes: less)"
        sections["summary"] = (title, rate_table(pairs, configs))
    sections["agreement"] = ("## Where both must agree", agreement_table(pairs, configs))
    rates = "" if coverage else task_tables(pairs, configs)
    return {**sections, "tasks": ("## Task by task", rates)}


# --- command line ---------------------------------------------------------------------------------


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures hstar beside Fast Downward.")
    add = parser.add_argument
    add("--quick", action="store_true", help="a handful of tasks and 2 s each")
    add("--coverage", action="store_true", help="coverage and costs instead of rates")
    names = ", ".join(config.name for config in RATES)
    add("--costs", action="store_true", help="with --coverage: only tasks that hstar solves, for their costs")
    add("--heuristics", help=f"comma-separated, of: {names}; with --coverage its configurations")
    add("--tasks", metavar="GLOB", help="only tasks domain/problem that match; several by comma")
    add("--time", type=float, help="limit in seconds (default: 10, quick 2, coverage 60; with --print: any)")
    add("--memory", type=int, default=4096, help="limit in MiB (default: %(default)s)")
    add_file_options(parser, TABLES)
    add("--work", type=Path, default=WORK, help="work folder (default: build/benchmarks)")
    add("--ipc", type=Path, default=IPC, help="competition tasks, one folder per domain")
    add("--hstar", metavar="COMMAND", help="the hstar command (default: this environment's)")
    add("--fast-downward", type=Path, metavar="BINARY", help="default: of up-fast-downward")
    add("--peer-only", action="store_true", help="run only Fast Downward")
    return parser.parse_args(words)


def chosen(configs: Sequence[Config], names: str | None) -> list[Config]:
    if names is None:
        return list(configs)
    known = {config.name: config for config in configs}
    if unknown := [name for name in names.split(",") if name not in known]:
        raise InputError(f"--heuristics: unknown: {', '.join(unknown)} (known: {', '.join(known)})")
    return [known[name] for name in names.split(",")]


def stored_runs(file: Path, configs: Sequence[Config], time_s: float | None) -> list[Run]:
    """The runs of these configurations in a file, all under one time limit."""
    names = {config.name for config in configs}
    runs = [run for run in read(file) if run.get("config") in names]
    limits = sorted({run["time_limit"] for run in runs})
    if time_s is None and len(limits) > 1:
        raise InputError(f"runs of {', '.join(f'{x:g}' for x in limits)} s: choose with --time", file=file)
    return latest([run for run in runs if time_s in (None, run["time_limit"])], ("planner", "task", "config"))


def wanted_tasks(options: argparse.Namespace) -> list[Task]:
    """Competition tasks and generated ones, translated."""
    default = ",".join(QUICK) if options.quick else "*"
    patterns = (options.tasks or default).split(",")

    def wanted(name: str) -> bool:
        return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)

    return [
        *competition_tasks(options.ipc, options.work, wanted),
        *generated_tasks(options.work, wanted),
    ]


def main(words: Sequence[str] | None = None) -> int:
    options = arguments(words)
    configs = chosen(COVERAGE if options.coverage else RATES, options.heuristics)
    if options.file is not None:
        runs = stored_runs(options.file, configs, options.time)
        print(shown(report(runs, configs, options.coverage), runs, options.table, options.file))
        return 0
    planner = FastDownward.find(options.fast_downward)
    if planner is None:
        note("Fast Downward is not installed: pip install 'hstar[bench]', or --fast-downward")
        return 1
    peer = Peer(planner)
    own = None if options.peer_only else Hstar.find(options.hstar)
    if own is None and not options.peer_only:
        note("no hstar command here: install the project, or --hstar, or --peer-only")
        return 1
    time_s = options.time or (2.0 if options.quick else 60.0 if options.coverage else 10.0)
    tasks = wanted_tasks(options)
    if not tasks:
        note("no tasks to run")
        return 1
    records = Records(options.out or options.work / "fast_downward.jsonl", KEY)
    try:
        for config in configs:
            for task in tasks:
                mine = run_planner(records, own, task, config, time_s, options.memory) if own else None
                if options.costs and mine and mine["status"] != "solved":
                    continue  # no cost to compare
                run_planner(records, peer, task, config, time_s, options.memory)
    except KeyboardInterrupt:
        note(f"stopped; the finished runs are in {records.path}, the same command goes on from there")
    print(shown(report(records.used, configs, options.coverage), records.used, options.table))
    return 1 if problems(pairs_of(records.used, configs)) else 0


if __name__ == "__main__":
    finish(main)
