"""Long checks of what the tests check briefly: random tasks, kills, signals. Figures: docs/security.md.

python tests/nightly.py differential [NUMBER [SEED]]  random tasks against the solver of tests/oracles (10000)
python tests/nightly.py kills [NUMBER [SEED]]         SIGKILLs of `hstar bench`, half of them for jobs (100)
python tests/nightly.py signals [NUMBER [SEED]]       SIGINT and SIGTERM to commands at random moments (500)
python tests/nightly.py serve [NUMBER [CLIENTS]]      requests to `hstar serve`, and its memory (3000, 50)

Each prints what it counted, and ends with exit code 1 at the first thing that is wrong.
"""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hstar
from cli.conftest import generated, start
from conftest import Case, handmade, random_text
from experiments.test_survival import MARK, SEARCHES, kill_often, processes_of, suite, wait_until
from hstar.experiments import knowledge
from hstar.experiments.store import Store
from hstar.models.trained_model import load_model
from hstar.sampling import dataset
from hstar.spaces.pddl import read_task
from hstar.spaces.validate import read_plan
from oracles import sas

# --- random tasks -----------------------------------------------------------------------------------------

ADMISSIBLE = [info.name for info in hstar.heuristics() if info.admissible]
BOUNDS = (1.0, 1.05, 1.25, 1.5, 2.0)
IDASTAR_EXPANSIONS = 20_000  # it has no memory: what a small task with costs of 0 takes is beyond any limit


def differences(seed: int) -> Iterator[tuple[str, str]]:
    """Searches of one random task: what was searched with, and what was wrong ('' if nothing)."""
    rng = random.Random(seed)
    case = handmade(str(seed), random_text(seed, conditional=bool(seed & 1), axioms=bool(seed & 2)))
    known = [name for name in case.supported if name in ADMISSIBLE]
    for name in known:
        yield f"astar {name}", wrong(case, hstar.solve(case.task, name, "astar"), 1.0)
    for bound in BOUNDS:
        options: dict[str, Any] = {
            "bound": bound,
            "anchor": rng.choice(known),
            "optimistic": rng.random() < 0.5,
            "anchor_every": rng.choice([0, 1, 5]),
        }
        guide = rng.choice(case.supported)
        yield f"focal {bound}", wrong(case, hstar.solve(case.task, guide, "focal", **options), bound)
    yield "anytime", anytime(case, rng.choice(case.supported))
    weighted = hstar.solve(case.task, rng.choice(known), "wastar", weight=2)
    yield "wastar 2", wrong(case, weighted, 2.0)
    for search in ("gbfs", "lazy"):
        guide = rng.choice(case.supported)
        preferred = guide in ("ff", "landmarks") and rng.random() < 0.5
        yield search, wrong(case, hstar.solve(case.task, guide, search, preferred=preferred), math.inf)
    deepened = hstar.solve(case.task, rng.choice(known), "idastar", max_expansions=IDASTAR_EXPANSIONS)
    if deepened.status == "expansion_limit":
        yield "idastar stopped", "" if deepened.plan is None else "a plan"
    else:
        yield "idastar", wrong(case, deepened, 1.0)


def wrong(case: Case, result: hstar.Result, bound: float) -> str:
    """What contradicts the oracle in the result of a search whose plans cost at most `bound` times h*."""
    if result.lower_bound is not None and result.lower_bound > case.optimum:
        return f"lower bound {result.lower_bound} of {case.optimum}"
    if not case.solvable or result.status != "solved":
        unsafe = math.isinf(bound) and result.status == "incomplete"
        right = (not case.solvable and result.status == "unsolvable") or unsafe
        return "" if right and result.plan is None else f"{result.status} although h* is {case.optimum}"
    cost = cost_of(case, result.plan or ())
    if cost is None or cost != result.plan_cost:
        return f"plan of cost {cost}, said to be {result.plan_cost}"
    if math.isinf(bound):
        return ""
    proven = result.ratio is None or result.ratio <= bound + 1e-9
    return "" if proven and cost <= bound * case.optimum + 1e-9 else f"cost {cost}, h* is {case.optimum}"


def cost_of(case: Case, plan: tuple[str, ...]) -> int | None:
    """The cost of a plan by the oracle; None if it does not lead to the goal."""
    numbers = {operator.name: operator for operator in case.oracle.operators}
    state, cost = case.oracle.initial, 0
    for step in plan:
        operator = numbers[step.strip("()")]
        if not sas.holds(operator.preconditions, state):
            return None
        state, cost = sas.apply(case.oracle, operator, state), cost + operator.cost
    return cost if case.oracle.is_goal(state) else None


def anytime(case: Case, guide: str) -> str:
    """What is wrong with an anytime search: each plan is better than the one before, the last is optimal."""
    plans: list[Any] = []
    result = hstar.solve(case.task, guide, "focal", anytime=True, on_plan=plans.append)
    costs = [found.plan_cost for found in plans]
    if costs != sorted(set(costs), reverse=True):
        return f"costs {costs}"
    for found in plans:
        if cost_of(case, found.plan) != found.plan_cost or found.lower_bound > case.optimum:
            return f"cost {found.plan_cost}, lower bound {found.lower_bound}, h* is {case.optimum}"
    return wrong(case, result, 1.0)


def differential(number: int, seed: int) -> Counter[str]:
    """Searches by what they searched with, over so many random tasks."""
    counts = Counter[str]()
    for one in range(seed, seed + number):
        for what, mistake in differences(one):
            assert not mistake, f"task {one}, {what}: {mistake}"
            counts[what] += 1
    return counts


# --- signals ----------------------------------------------------------------------------------------------

LATE_S, END_S = 1.0, 3.0  # processor time from a signal to the answer, and to the end: torch takes its time
HANGS_S = 60.0
# Of twenty signals so many: a process with torch takes seconds to start.
SHARES = {"solve": 3, "anytime": 3, "plan": 3, "generate": 3, "sample": 2, "train wl": 2, "bench": 2}
STRANGE = ("Traceback", "a bug in hstar", "Exception ignored", "Error:")


@dataclass
class Command:
    """Words of a command line, `{out}` for what it writes, and what reads that."""

    words: list[str | Path]
    read: Callable[[Path], object]
    lifetime_s: float = 0.0  # of a run that nobody disturbs
    code: int = 0


@dataclass
class Answer:
    """How a command answered a signal."""

    code: int
    cpu_s: float  # to its line, or to its end
    end_s: float
    errors: str
    left: list[int] = field(default_factory=list)  # processes


def commands(folder: Path) -> dict[str, Command]:
    """Commands of a second or a few, and their files."""
    problems = folder / "problems"
    for number, size in enumerate((3, 3, 4, 4, 5)):
        problem = generated("blocksworld", folder / f"b{number}", blocks=size, seed=number)
        problems.mkdir(exist_ok=True)
        (problems / f"p{number}.pddl").write_bytes(problem.read_bytes())
        (problems / "domain.pddl").write_bytes(problem.with_name("domain.pddl").read_bytes())
    small, large = (
        folder / "b4" / "problem.pddl",
        generated("blocksworld", folder / "large", blocks=7, seed=1),
    )
    domain, bench_suite = large.with_name("domain.pddl"), suite(folder / "suite", SEARCHES) / "suite.toml"
    known = folder / "known.hstar"
    learn: list[str | Path] = ["learn", domain, problems, "-j", "1"]
    done = start(*learn, "--budget", "10s", "-o", known, cwd=folder)
    assert done.wait() == 0, done.communicate()

    def plan(path: Path) -> None:
        verdict = hstar.validate_pddl(read_task(domain, large), read_plan(path))
        assert verdict.valid, verdict.reason

    def problems_of(path: Path) -> None:
        for one in path.glob("*.pddl"):
            text = one.read_text()
            assert text.count("(") == text.count(")") > 0, f"{one} is broken"

    def rows(path: Path) -> None:
        if (path / "results.sqlite").exists():
            with Store(path) as store:
                assert {attempt.status for attempt in store.attempts()} <= {"solved"}

    lmcut = ["--search", "astar", "--heuristic", "lmcut"]
    short = ["--states", "500", "--epochs", "10", "--patience", "10"]
    return {
        "solve": Command(["solve", large, *lmcut, "--plan-file", "{out}"], plan),
        "anytime": Command(["solve", large, "--anytime", "-t", "3s", "--plan-file", "{out}"], plan),
        "train": Command(["train", "nrsl", small, *short, "-o", "{out}"], load_model),
        "train wl": Command(["train", "wl", problems, "-o", "{out}"], load_model),
        "sample": Command(["sample", "fsm", small, "--states", "30000", "-o", "{out}"], dataset.load),
        "learn": Command([*learn, "--budget", "5s", "-o", "{out}"], knowledge.load),
        "plan": Command(["plan", known, domain, large, "{out}"], plan),
        "bench": Command(["bench", bench_suite, "-j", "1", "-o", "{out}"], rows),
        "generate": Command(
            ["generate", "blocksworld", "--blocks", "10", "30", "--seeds", "200", "-o", "{out}"], problems_of
        ),
    }


def catches(pid: int, number: int) -> bool:
    """Whether a process has a handler for a signal: hstar is there, not only Python."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (caught,) = (line.split()[1] for line in lines if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (number - 1) & 1)


def cpu_s(pid: int) -> float:
    """Processor seconds of a process itself, also after its end, until somebody waits for it."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def disturb(command: Command, out: Path, number: int | None, after_s: float) -> Answer:
    """Runs a command and sends it a signal so long after hstar has begun; None: no signal."""
    errors = out.with_suffix(".errors")
    words = [str(out) if word == "{out}" else word for word in command.words]
    with errors.open("w") as stream:
        environment = {**os.environ, MARK: str(out), "OMP_NUM_THREADS": "1"}
        process = start(*words, stdout=subprocess.DEVNULL, stderr=stream, env=environment, cwd=out.parent)
    try:
        wait_until(lambda: ended(process.pid) or catches(process.pid, signal.SIGTERM))
        began = time.monotonic()
        wait_until(lambda: ended(process.pid) or time.monotonic() - began >= after_s)
        before, size = cpu_s(process.pid), errors.stat().st_size
        if number is not None:
            os.kill(process.pid, number)
        wait_until(lambda: ended(process.pid) or errors.stat().st_size > size, HANGS_S)
        answered_s = cpu_s(process.pid) - before
        wait_until(lambda: ended(process.pid), HANGS_S)
        end_s = cpu_s(process.pid) - before
    finally:
        process.kill()
        code = process.wait()
    deadline = time.monotonic() + 5
    while (left := processes_of(out)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return Answer(code, answered_s, end_s, errors.read_text(), left)


def check(command: Command, out: Path, number: int, answer: Answer) -> str:
    """How the command ends: 'interrupted', 'finished' (also after the signal), or 'at the end' of Python."""
    told = f"{command.words[0]}: {answer}"
    assert not answer.left, told
    assert not any(word in answer.errors for word in STRANGE), told
    assert answer.cpu_s < LATE_S and answer.end_s < END_S, told
    if out.exists():
        command.read(out)
    if answer.code == command.code:
        assert out.exists(), told
        return "finished"
    if answer.code == -number:  # while Python ends, when all is written
        return "at the end"
    assert answer.code == 128 + number, told
    return "interrupted"


def signals(number: int, seed: int, names: tuple[str, ...] = ()) -> tuple[Counter[str], dict[str, float]]:
    """How the commands ended, and how often; the longest answer of each in processor seconds."""
    rng, counts, longest = random.Random(seed), Counter[str](), dict[str, float]()
    with tempfile.TemporaryDirectory() as place:
        known = {name: made for name, made in commands(Path(place)).items() if not names or name in names}
        for name, command in known.items():
            clock = time.monotonic()
            answer = disturb(command, Path(place) / f"{name}-whole", None, 0.0)
            command.lifetime_s, command.code = time.monotonic() - clock, answer.code
            assert answer.code in (0, 3), answer
            print(f"{name}: {command.lifetime_s:.1f} s undisturbed", flush=True)
        turns = [name for name in known for _ in range(SHARES.get(name, 1))]
        for one in range(number):
            name = turns[one % len(turns)]
            sent = rng.choice([signal.SIGINT, signal.SIGTERM])
            out = Path(place) / f"{name}-{one}"
            answer = disturb(known[name], out, sent, rng.random() * known[name].lifetime_s)
            counts[f"{name} {check(known[name], out, sent, answer)}"] += 1
            longest[name] = max(longest.get(name, 0.0), answer.cpu_s)
    return counts, longest


# --- requests ---------------------------------------------------------------------------------------------

KEPT = 100  # answers that the server keeps in this check; its memory grows until it has as many


def serve(number: int, clients: int) -> list[float]:
    """Every request is answered with its own plan; the resident MB of the server after each tenth of them."""
    from service.conftest import serving, texts

    sizes: list[float] = []
    bodies = [texts("blocks") | {"heuristic": name} for name in ("ff", "hmax", "goalcount")]
    with serving("--jobs", "2", "--queue", str(clients), "--keep", str(KEPT)) as server:

        def ask(client: Any, one: int) -> None:
            answer = client.post("/solve", json=bodies[one % 3]).json()
            assert answer["status"] == "ok" and answer["result"]["status"] == "solved", answer
            assert answer["result"]["heuristic"] == [bodies[one % 3]["heuristic"]], answer

        def run(numbers: range) -> None:
            with server.client() as client:
                for one in numbers:
                    ask(client, one)

        for tenth in range(10):
            first, after = number * tenth // 10, number * (tenth + 1) // 10
            with ThreadPoolExecutor(clients) as pool:
                for done in [pool.submit(run, range(first + i, after, clients)) for i in range(clients)]:
                    done.result()
            pages = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
            sizes.append(pages * os.sysconf("SC_PAGE_SIZE") / 2**20)
    return sizes


def main(words: list[str]) -> None:
    what, numbers = words[0], [int(word) for word in words[1:]]
    number = (
        numbers[0] if numbers else {"differential": 10_000, "kills": 100, "signals": 500, "serve": 3000}[what]
    )
    seed, clock = numbers[1] if len(numbers) > 1 else 0, time.monotonic()
    if what == "differential":
        print(dict(differential(number, seed)))
    elif what == "signals":
        counts, longest = signals(number, seed)
        print(dict(sorted(counts.items())), {name: round(value, 2) for name, value in longest.items()})
    elif what == "serve":
        sizes = serve(number, numbers[1] if len(numbers) > 1 else 50)
        print("MB after each tenth of the requests:", [round(size, 1) for size in sizes])
        assert sizes[-1] <= 1.05 * sizes[4], "the memory of the server grows"
    else:
        with tempfile.TemporaryDirectory() as place:
            progress = kill_often(Path(place), number, seed)
        print("share of the jobs that were done at each kill:", [round(one, 1) for one in sorted(progress)])
    print(f"{what}: {number}, nothing wrong, {time.monotonic() - clock:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
