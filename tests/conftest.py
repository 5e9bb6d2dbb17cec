"""What the tests share: small tasks with their exact values, the benchmark folders, a cache of their own.

A `Case` is one task seen from both sides: `case.task` is what hstar loaded, `case.oracle` is what the naive
reader of `tests/oracles` makes of the same text. Small cases have few enough states to know h* of all.
"""

from __future__ import annotations

import math
import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

import hstar
from hstar import _core
from hstar.generators import GENERATORS
from oracles import fast_downward, sas
from oracles.test_oracles import AXIOMS, CHAIN, CONDITIONAL, NEGATED, operator, rule, task_text, variable

# Signals that are ignored, as under nohup or in the background, would be so in all processes of the tests.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

DATA = Path(__file__).parent / "data"
BENCHMARKS = Path(__file__).parents[2] / "shared" / "benchmarks"


@dataclass(frozen=True)
class Case:
    """A task and what the oracle knows about it."""

    name: str
    text: str
    task: hstar.Task

    @cached_property
    def oracle(self) -> sas.Task:
        return sas.parse(self.text)

    @cached_property
    def exact(self) -> dict[sas.State, float]:
        """h* of every reachable state."""
        return sas.exact(self.oracle)

    @property
    def states(self) -> list[sas.State]:
        return list(self.exact)

    @property
    def optimum(self) -> float:
        return self.exact[self.oracle.initial]

    @property
    def solvable(self) -> bool:
        return self.optimum < math.inf

    @property
    def supported(self) -> list[str]:
        """The heuristics that can do this task."""
        return able(bool(self.oracle.axioms), self.task.core.has_conditional_effects)


def able(axioms: bool, conditional: bool) -> list[str]:
    """The heuristics that can do tasks with these."""
    return [
        info.name
        for info in hstar.heuristics()
        if (info.supports_axioms or not axioms) and (info.supports_conditional_effects or not conditional)
    ]


def handmade(name: str, text: str) -> Case:
    """A case from the text of a .sas file."""
    return Case(name, text, hstar.Task(_core.Task.parse(text.encode()), name))


# --- tasks made by hand -------------------------------------------------------------------------

# Two fires and one match: solvable without deletes, not with them. The match can be moved to and fro.
ONE_MATCH = task_text(
    [variable(size=3), variable(), variable()],
    [0, 0, 0],
    "2\n1 1\n2 1",
    [
        operator("there", [], ["0 0 0 1"], 1),
        operator("back", [], ["0 0 1 0"], 0),
        operator("light oven", [], ["0 0 0 2", "0 1 0 1"], 2),
        operator("light stove", [], ["0 0 1 2", "0 2 0 1"], 1),
    ],
)

# Cycles of cost 0, a cheap long way and a dear short one, and a trap that the relaxation does not see.
ZERO_COSTS = task_text(
    [variable(size=5), variable(), variable()],
    [0, 0, 0],
    "2\n0 4\n1 1",
    [
        operator("step01", [], ["0 0 0 1"], 0),
        operator("step10", [], ["0 0 1 0"], 0),
        operator("step12", [], ["0 0 1 2"], 1),
        operator("step21", [], ["0 0 2 1"], 0),
        operator("step23", [], ["0 0 2 3"], 1),
        operator("step34", [], ["0 0 3 4"], 0),
        operator("jump04", [], ["0 0 0 4"], 7),
        operator("take", ["0 2"], ["0 1 0 1"], 3),
        operator("burn", ["0 1"], ["0 2 0 1", "0 1 -1 0"], 0),
        operator("late", ["0 4", "2 0"], ["0 1 0 1", "0 2 0 1", "0 0 4 3"], 9),
    ],
)

# The way over A is cheaper, but a heuristic that is low at C only leads there by the dear edge first.
REOPENING = task_text(
    [variable(size=4)],
    [0],
    "1\n0 3",
    [
        operator("s-a", [], ["0 0 0 1"], 1),
        operator("s-c", [], ["0 0 0 2"], 3),
        operator("a-c", [], ["0 0 1 2"], 1),
        operator("c-g", [], ["0 0 2 3"], 5),
    ],
)

HAND_MADE = {
    "chain": CHAIN,
    "conditional": CONDITIONAL,
    "axioms": AXIOMS,
    "negated": NEGATED,
    "one-match": ONE_MATCH,
    "zero-costs": ZERO_COSTS,
    "reopening": REOPENING,
}


def random_text(seed: int, conditional: bool, axioms: bool) -> str:
    """A random task of three to five small variables; costs from 0 to 4, effects that overwrite others."""
    rng = random.Random(seed)
    sizes = [rng.randint(2, 4) for _ in range(rng.randint(3, 5))]
    plain = len(sizes)
    layers = [rng.randint(0, 2) for _ in range(rng.randint(1, 4))] if axioms else []
    derived = range(plain, plain + len(layers))

    def facts(pool: list[int], most: int) -> list[str]:
        chosen = rng.sample(pool, min(len(pool), rng.randint(0, most)))
        return [f"{v} {rng.randrange(sizes[v] if v < plain else 2)}" for v in chosen]

    def effect(target: int) -> str:
        conditions = facts(list(range(plain + len(layers))), 2) if conditional and rng.random() < 0.5 else []
        return " ".join([str(len(conditions)), *conditions, f"{target} -1 {rng.randrange(sizes[target])}"])

    operators = []
    for number in range(rng.randint(8, 16)):
        targets = rng.choices(range(plain), k=rng.randint(1, 3))
        prevail = facts(list(range(plain + len(layers))), 2)
        operators.append(
            operator(f"op{number}", prevail, [effect(v) for v in targets], rng.choice([0, 1, 1, 2, 4]))
        )
    rules = []
    for head, layer in zip(derived, layers, strict=True):
        for _ in range(rng.randint(1, 3)):
            conditions = facts(list(range(plain)), 2)
            # Of its own layer an axiom may ask for derived values, of lower ones for defaults too.
            same = [f"{v} 0" for v in derived if layers[v - plain] == layer and rng.random() < 0.4]
            lower = [
                f"{v} {rng.randrange(2)}" for v in derived if layers[v - plain] < layer and rng.random() < 0.6
            ]
            rules.append(rule(conditions + same + lower, f"{head} 1 0"))
    goal = [f"{v} {rng.randrange(sizes[v])}" for v in rng.sample(range(plain), 2)]
    goal += [f"{v} {rng.randrange(2)}" for v in derived if rng.random() < 0.4]
    return task_text(
        [variable(size=size) for size in sizes] + [variable(layer) for layer in layers],
        [rng.randrange(size) for size in sizes] + [1] * len(layers),
        "\n".join([str(len(goal)), *goal]),
        operators,
        rules,
    )


# --- all small tasks ----------------------------------------------------------------------------

GENERATED = {
    "blocksworld-3": ("blocksworld", {"blocks": 3, "seed": 1}),
    "blocksworld-4": ("blocksworld", {"blocks": 4, "seed": 2}),
    "ferry-3-2": ("ferry", {"locations": 3, "cars": 2, "seed": 3}),
    "npuzzle-2x3": ("npuzzle", {"rows": 2, "columns": 3, "seed": 4}),
    # Not small: for limits. A hundred thousand states and more.
    "npuzzle-3x3": ("npuzzle", {"rows": 3, "columns": 3, "seed": 5}),
}
IPC = {
    "ipc-blocks": "blocks/probBLOCKS-4-0.pddl",
    "ipc-gripper": "gripper/prob01.pddl",
    "ipc-miconic": "miconic/s1-0.pddl",
    "ipc-miconic-adl": "miconic-simpleadl/s1-0.pddl",
    "ipc-visitall": "visitall-opt11-strips/problem02-full.pddl",
}
PDDL = ["blocks", "costs", "briefcase", "reach", "unsolvable"]
RANDOM = {
    f"random-{kind}{seed}": (seed, "c" in kind, "a" in kind)
    for kind, seeds in (
        ("", (33, 37, 44, 63)),
        ("c", (13, 27, 33, 37)),
        ("a", (16, 57, 60, 63)),
        ("ca", (3, 5, 9, 11)),
    )
    for seed in seeds
}
# What some cases have, known before they are loaded: tests are made for what supports them alone.
AXIOMATIC = {"briefcase", "reach", "axioms", "negated", *(name for name, (_, _, a) in RANDOM.items() if a)}
CONDITIONED = {
    "briefcase",
    "conditional",
    "ipc-miconic-adl",
    *(name for name, (_, c, _) in RANDOM.items() if c),
}


def supported(case: str) -> list[str]:
    """The heuristics that can do a case."""
    return able(case in AXIOMATIC, case in CONDITIONED)


SMALL = [*PDDL, *HAND_MADE, *(name for name in GENERATED if name != "npuzzle-3x3"), *IPC, *RANDOM]


class Cases(dict[str, Case]):
    """All cases by name, made when first asked for; skips the test if one needs an absent folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, name: str) -> Case:
        self[name] = case = self._make(name)
        return case

    def _make(self, name: str) -> Case:
        if name in HAND_MADE:
            return handmade(name, HAND_MADE[name])
        if name in RANDOM:
            return handmade(name, random_text(*RANDOM[name]))
        if name in PDDL:
            return load_case(name, DATA / name / "problem.pddl")
        if name in GENERATED:
            generator, sizes = GENERATED[name]
            folder = self.folder / name
            folder.mkdir()
            for file, text in zip(("domain", "problem"), GENERATORS.get(generator)(**sizes), strict=True):
                (folder / f"{file}.pddl").write_text(text)
            return load_case(name, folder / "problem.pddl")
        return load_case(name, benchmark_folder("ipc") / IPC.get(name, name))


def load_case(name: str, problem: Path) -> Case:
    """A case from PDDL with its domain beside it."""
    task = hstar.load(problem)
    return Case(name, task.core.to_sas().decode(), task)


def benchmark_folder(name: str) -> Path:
    """A folder of the shared benchmarks; skips the test where it is absent."""
    folder = BENCHMARKS / name
    if not folder.is_dir():
        pytest.skip(f"needs ../shared/benchmarks/{name} beside the repository")
    return folder


# --- fixtures -----------------------------------------------------------------------------------


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The cache of this session: never the user's own."""
    folder = tmp_path_factory.mktemp("hstar-cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HSTAR_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Cases:
    """Every case by name."""
    return Cases(tmp_path_factory.mktemp("generated"))


@pytest.fixture(params=SMALL)
def case(request: pytest.FixtureRequest, cases: Cases) -> Case:
    """Each small case in turn."""
    return cases[request.param]


@pytest.fixture(scope="session")
def ipc() -> Path:
    """The folder of competition tasks."""
    return benchmark_folder("ipc")


@pytest.fixture(scope="session")
def ferber21() -> Path:
    """The folder of instance sets with many initial states."""
    return benchmark_folder("ferber21")


@pytest.fixture(scope="session")
def downward() -> Path:
    """Fast Downward's binary."""
    path = fast_downward.binary()
    if path is None:
        pytest.skip("needs the Fast Downward binary: pip install 'hstar[bench]'")
    return path


@pytest.fixture(scope="session")
def small_blocks(tmp_path_factory: pytest.TempPathFactory) -> hstar.Task:
    """Five blocks: a task from PDDL that networks learn in a second."""
    folder = tmp_path_factory.mktemp("blocks")
    paths = folder / "domain.pddl", folder / "problem.pddl"
    for path, text in zip(paths, GENERATORS.get("blocksworld")(blocks=5, seed=2), strict=True):
        path.write_text(text)
    return hstar.load(*paths)
