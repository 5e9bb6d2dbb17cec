"""lama-first of hstar beside lama-first of Fast Downward: evaluations per second and coverage by domain.

Both planners read the same `.sas` files, which hstar's front end writes, and have the same limit on CPU time,
reading and preparations included, so that other work on the machine matters little. Richter and Westphal,
"The LAMA Planner" (JAIR 2010). A rate is evaluated states per second of CPU time of the search, and counts
where both planners search for at least `--least` seconds. Each run is kept (records.py), and the same command
goes on where it stopped.

Further configurations of hstar can run on the same tasks (`--others`), without Fast Downward if `--alone` is
given. The table `contestants` has solved tasks and quality (best known cost / cost, summed) of all of them,
`times` the CPU time of each beside the first. If one does not support a task, those after it do not run.

python benchmarks/lama.py --cpu 60 --out build/lama.jsonl; what it keeps: --print build/lama.jsonl
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from records import Records, add_file_options, build, finish, note, shown, stored, table

import hstar
from hstar.errors import HstarError, UnsupportedError
from hstar.experiments.fast_downward import FastDownward
from hstar.experiments.process import ProcessLimits, run_limited
from hstar.search.aliases import find_alias

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "benchmarks"
BENCHMARKS = ROOT.parent / "shared" / "benchmarks"
# Of each set the folders that are not for training; a domain is the first folder.
SETS = {"ipc": "*/*.pddl", "ipc23lt": "*/dev/*/*.pddl", "ferber21": "*/hard/*/*.pddl"}
# As Fast Downward's driver spells its alias, with a limit.
PEER = (
    "let(hlm,eval_modify_costs(landmark_sum(lm_factory=lm_reasonable_orders_hps(lm_rhw()),pref=false),"
    "cost_type=one),let(hff,eval_modify_costs(ff(),cost_type=one),lazy_greedy([hff,hlm],"
    "preferred=[hff,hlm],cost_type=one,reopen_closed=false,max_time={time})))"
)
KEY = ("part", "planner", "build", "task", "config", "cpu", "memory")
PART = "lama"
WALL = 20  # wall-clock seconds for each second of CPU time, on a machine that others use
SPARE_S = 5  # for what comes after a search that was stopped
TRANSLATE_S = 120.0
TABLES = ("rates", "coverage", "contestants", "times", "tasks")
TIMED_S = 0.1  # of search in one of two runs; below that, starting the process is what takes time
# `--others`: what hstar.solve is asked for.
OTHERS: dict[str, dict[str, Any]] = {
    "lazy-ff": {"heuristic": "ff", "search": "lazy", "preferred": True},
    "gbfs-ff": {"heuristic": "ff", "search": "gbfs"},
    "astar-lmcut": {"heuristic": "lmcut", "search": "astar"},
    "astar-lmcp": {"heuristic": "lmcp", "search": "astar"},
}
Run = dict[str, Any]


# --- tasks ----------------------------------------------------------------------------------------


def tasks(root: Path, sets: Sequence[str], only: str, every: int) -> Iterator[tuple[str, Path]]:
    """Names and problem files: of each domain every n-th one, beginning in the middle of the first n."""
    for name in sets:
        folder = root / name
        domains: dict[str, list[Path]] = {}
        for path in sorted(folder.glob(SETS[name])):
            wanted = fnmatch.fnmatch(str(path.relative_to(root).with_suffix("")), only)
            if wanted and "domain" not in path.stem and path.stem != "base":
                domains.setdefault(path.relative_to(folder).parts[0], []).append(path)
        for paths in domains.values():
            for path in paths[min(every, len(paths)) // 2 :: every]:
                yield str(path.relative_to(root).with_suffix("")), path


def domain_of(problem: Path) -> Path | None:
    """The domain file in the folder of the problem or in one above it."""
    first = problem.stem.split("-")[0]
    for folder in problem.parents[:4]:
        for name in ("domain.pddl", f"{first}-domain.pddl"):
            if (folder / name).is_file():
                return folder / name
    return None


def translated(name: str, problem: Path, work: Path) -> Path | None:
    """The task as a `.sas` file; None, and a note, if it cannot be translated."""
    target = work / f"{name}.sas"
    if target.exists():
        return target
    domain = domain_of(problem)
    try:
        if domain is None:
            raise HstarError("no domain file")
        text = hstar.load(domain, problem, time_limit=TRANSLATE_S).core.to_sas()
    except HstarError as error:
        note(f"{name}: left out: {error}")
        return None
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    part.write_bytes(text)
    part.rename(target)
    return target


# --- running --------------------------------------------------------------------------------------


def run_peer(planner: FastDownward, sas: Path, cpu: int, memory_mb: int) -> Run:
    """Fast Downward; its clock is CPU time."""
    limit = memory_mb << 20
    run = planner.search(sas, PEER.format(time=cpu), time_limit=WALL * cpu, memory_limit=limit)
    solved = run["status"] == "solved" and (run["total_time"] or math.inf) <= cpu
    return {**run, "solved": solved, "evaluations": run["evaluated"]}


def run_own(sas: Path, config: str, cpu: int, memory_mb: int) -> Run:
    """hstar in a process of its own."""
    command = [sys.executable, __file__, "--child", str(sas), "--config", config, "--cpu", str(cpu)]
    found = run_limited(command, ProcessLimits(cpu + SPARE_S, cpu=True, resident_memory=memory_mb << 20))
    try:
        run: Run = json.loads(found.output)
    except ValueError:
        status = "memory_limit" if found.out_of_memory else "time_limit" if found.exit_code < 0 else "error"
        run = {"status": status, "error": found.last_line() if status == "error" else None}
    return {**run, "solved": run["status"] == "solved"}


def run_config(task: hstar.Task, config: str) -> hstar.Result:
    if config in OTHERS:
        return hstar.solve(task, **OTHERS[config])
    if config in ("ff", "landmarks"):  # what lazy search does with one heuristic
        return hstar.solve(task, config, "lazy", preferred=True, costs="one")
    return find_alias(config).run(task)


def child(sas: Path, config: str, cpu: int) -> int:
    """One search under a limit on CPU time: its end is an interrupt, which a search answers with counts."""
    signal.signal(signal.SIGXCPU, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + SPARE_S))
    try:
        result = run_config(hstar.load(sas), config)
    except UnsupportedError:
        print(json.dumps({"status": "unsupported"}))
        return 0
    usage = resource.getrusage(resource.RUSAGE_SELF)
    record = {
        "status": "time_limit" if result.status == "interrupted" else result.status,
        "evaluations": result.evaluated,
        "search_time": result.cpu_time,
        "total_time": usage.ru_utime + usage.ru_stime,
        "cost": result.plan_cost,
        "plan_length": result.plan_length,
        "initial_h": result.initial_h,
        "memory": result.peak_memory,
    }
    print(json.dumps(record))
    return 0


# --- report ---------------------------------------------------------------------------------------


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def pairs(runs: Sequence[Run], config: str) -> dict[str, tuple[Run, Run]]:
    """By task: Fast Downward's run and hstar's."""
    peers = {run["task"]: run for run in runs if run["planner"] == "fast_downward"}
    own = {run["task"]: run for run in runs if run["planner"] == "hstar" and run["config"] == config}
    return {task: (peers[task], own[task]) for task in own if task in peers}


def rate(run: Run, least: float) -> float | None:
    time = run.get("search_time") or 0
    return run["evaluations"] / time if time >= least and run.get("evaluations") else None


def by_domain(found: dict[str, tuple[Run, Run]], row: Callable[..., list[str]], header: list[str]) -> str:
    """A row for each domain of each set, and one for all."""
    domains: dict[str, list[tuple[Run, Run]]] = {}
    for task, both in found.items():
        domains.setdefault("/".join(task.split("/")[:2]), []).append(both)
    rows = [[name, *row(list(group))] for name, group in domains.items()]
    return table(["domain", *header], [*rows, ["all", *row(list(found.values()))]])


def rate_row(group: Sequence[tuple[Run, Run]], least: float) -> list[str]:
    rates = [(rate(peer, least), rate(own, least)) for peer, own in group]
    ratios = [own / peer for peer, own in rates if own and peer]
    return [str(len(ratios)), f"{geometric_mean(ratios):.2f}" if ratios else ""]


def coverage_row(group: Sequence[tuple[Run, Run]]) -> list[str]:
    peer, own = (sum(bool(both[i]["solved"]) for both in group) for i in (0, 1))
    only_peer = sum(bool(a["solved"]) and not b["solved"] for a, b in group)
    only_own = sum(bool(b["solved"]) and not a["solved"] for a, b in group)
    return [str(len(group)), str(peer), str(own), str(only_peer), str(only_own)]


def by_contestant(runs: Sequence[Run]) -> dict[str, dict[str, Run]]:
    """The runs of each contestant by task, of the tasks that all of them have."""
    found: dict[str, dict[str, Run]] = {}
    for run in runs:
        name = "Fast Downward" if run["planner"] == "fast_downward" else run["config"]
        found.setdefault(name, {})[run["task"]] = run
    shared = set.intersection(*(set(tasks) for tasks in found.values())) if found else set()
    return {
        name: {task: run for task, run in by_task.items() if task in shared}
        for name, by_task in found.items()
    }


def contestants(runs: Sequence[Run]) -> str:
    """By domain: tasks that each contestant solves, and its quality: best known cost / cost, summed."""
    found = by_contestant(runs)
    domains: dict[str, list[str]] = {}
    for task in next(iter(found.values()), {}):
        domains.setdefault("/".join(task.split("/")[:2]), []).append(task)

    def quality(name: str, task: str) -> float:
        costs = [by_task[task]["cost"] for by_task in found.values() if by_task[task]["solved"]]
        run = found[name][task]
        return (min(costs) / run["cost"] if run["cost"] else 1.0) if run["solved"] else 0.0

    def row(name: str, group: Sequence[str]) -> list[str]:
        solved = [str(sum(bool(found[one][task]["solved"]) for task in group)) for one in found]
        score = [f"{sum(quality(one, task) for task in group):.1f}" for one in found]
        return [name, str(len(group)), *solved, *score]

    rows = [row(name, group) for name, group in domains.items()]
    every = [task for group in domains.values() for task in group]
    header = ["domain", "tasks", *(f"{name}, {what}" for what in ("solved", "quality") for name in found)]
    return table(header, [*rows, row("all", every)])


def times(runs: Sequence[Run]) -> str:
    """Each contestant beside the first: CPU time of the whole run on tasks that both solve."""
    found = by_contestant(runs)
    first, *others = found or [""]
    rows = []
    for name in others:
        pairs = [(found[first][task], found[name][task]) for task in found[first]]
        alone = [sum(bool(one["solved"]) and not other["solved"] for one, other in pairs)]
        alone += [sum(bool(other["solved"]) and not one["solved"] for one, other in pairs)]
        both = [pair for pair in pairs if pair[0]["solved"] and pair[1]["solved"]]
        timed = [
            (one["total_time"], other["total_time"])
            for one, other in both
            if max(one["search_time"], other["search_time"]) >= TIMED_S
        ]
        faster = [sum(a < b for a, b in timed), sum(b < a for a, b in timed)]
        equal = sum(one["cost"] == other["cost"] for one, other in both)
        counts = [len(pairs), *alone, len(both), equal, len(timed), *faster]
        ratio = f"{geometric_mean([b / a for a, b in timed]):.2f}" if timed else ""
        rows.append([f"{first}, {name}", *map(str, counts), ratio])
    header = ["first, second", "tasks", "solved by first alone", "by second alone", "by both", "equal costs"]
    header += ["timed", "first faster", "second faster", "time second / first, geometric mean"]
    return table(header, rows)


def task_rows(found: dict[str, tuple[Run, Run]], least: float) -> Iterator[list[str]]:
    for task, (peer, own) in found.items():
        rates = [rate(run, least) for run in (peer, own)]
        counts = [str(run.get("evaluations") or "") for run in (peer, own)]
        times = [f"{run['total_time']:.1f}" if run["solved"] else run["status"] for run in (peer, own)]
        yield [task, *times, *counts, *(f"{r:,.0f}" if r else "" for r in rates)]


def report(runs: Sequence[Run], config: str, least: float) -> dict[str, tuple[str, str]]:
    found = pairs(runs, config)
    both = ["Fast Downward", "hstar"]
    rates = by_domain(found, lambda group: rate_row(group, least), ["tasks", "hstar / Fast Downward"])
    coverage = by_domain(found, coverage_row, ["tasks", *both, "only Fast Downward", "only hstar"])
    header = ["task", *(f"{p}, {what}" for what in ("s of CPU", "evaluated", "per s") for p in both)]
    return {
        "rates": (f"## Evaluations per second, {config}", rates),
        "coverage": (f"## Solved, {config}", coverage),
        "contestants": ("## Solved and quality, all contestants", contestants(runs)),
        "times": ("## CPU time, contestants side by side", times(runs)),
        "tasks": ("## Task by task", table(header, task_rows(found, least))),
    }


# --- command line ---------------------------------------------------------------------------------


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures lama-first beside Fast Downward's.")
    add = parser.add_argument
    add("--sets", default=",".join(SETS), help="comma-separated (default: %(default)s)")
    add("--every", type=int, default=1, metavar="N", help="only every N-th task of a domain")
    add("--only", default="*", metavar="GLOB", help="only tasks set/domain/... that match")
    add(
        "--cpu",
        type=int,
        default=60,
        metavar="S",
        help="seconds of CPU time for a run (default: %(default)s)",
    )
    add("--memory", type=int, default=4096, metavar="MIB", help="of a run (default: %(default)s)")
    add("--least", type=float, default=0.5, metavar="S", help="of search, for a rate (default: %(default)s)")
    add("--config", default="lama-first", help="hstar's: an alias, or ff or landmarks alone, in lazy search")
    add("--others", default="", metavar="NAMES", help=f"further ones: {', '.join(OTHERS)}")
    add("--alone", action="store_true", help="without Fast Downward")
    add("--tasks", type=Path, default=BENCHMARKS, help="the folder of the sets")
    add("--work", type=Path, default=WORK, help="where translated tasks are kept")
    add("--child", type=Path, help=argparse.SUPPRESS)
    add_file_options(parser, TABLES)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    if options.child is not None:
        return child(options.child, options.config, options.cpu)
    if options.file is not None:
        runs = stored(options.file, (PART,), KEY)
        print(shown(report(runs, options.config, options.least), runs, options.table, options.file))
        return 0
    planner = FastDownward.find()
    if planner is None and not options.alone:
        note("Fast Downward is not installed: pip install 'hstar[bench]'")
        return 1
    records = Records(options.out, KEY)
    for name, problem in tasks(options.tasks, options.sets.split(","), options.only, options.every):
        sas = translated(name, problem, options.work)
        if sas is None:
            continue
        limits = options.cpu, options.memory
        own = [options.config, *filter(None, options.others.split(","))]
        contests = [("hstar", build(), config, partial(run_own, sas, config, *limits)) for config in own]
        if planner is not None and not options.alone:
            contests.append(("fast_downward", planner.revision, "", partial(run_peer, planner, sas, *limits)))
        for who, version, config, measure in contests:
            what = (PART, who, version, name, config, *limits)
            run = records.get(dict(zip(KEY, what, strict=True)), measure)
            note(f"{name:50} {who:14} {run['status']:12} {run.get('total_time') or 0:6.2f} s")
            if run["status"] == "unsupported":
                break
    print(shown(report(records.used, options.config, options.least), records.used, options.table))
    return 0


if __name__ == "__main__":
    finish(main)
