"""fsm: labels against h*, shares, improvement, determinism, errors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from conftest import DATA, Case, Cases
from hstar import _core
from hstar.errors import InputError, UnsupportedError
from hstar.sampling import SAMPLERS, make_sampler
from hstar.sampling.dataset import Dataset
from hstar.sampling.fsm import FSM
from oracles import preimages as oracle

# With atoms of different names, as a data set needs them.
TASKS = ["blocks", "blocksworld-4", "ferry-3-2", "npuzzle-2x3", "ipc-gripper", "ipc-miconic", "costs"]


def truth(case: Case) -> dict[bytes, float]:
    """Steps to the goal of every reachable state, by its bits."""
    values, h = _core.exact_distances(case.task.core, unit_cost=True, max_states=100_000)
    bits = _core.encode(case.task.core, values)
    return {row.tobytes(): float(steps) for row, steps in zip(bits, h, strict=True)}


def error(case: Case, data: Dataset) -> float:
    """Mean |label - h*| over reachable states whose label is a bound."""
    exact = truth(case)
    assert data.upper is not None
    known = [
        abs(label - exact[row.tobytes()])
        for row, label, upper in zip(data.states, data.label, data.upper, strict=True)
        if not np.isnan(upper) and row.tobytes() in exact
    ]
    return float(np.mean(known))


@pytest.fixture(params=TASKS)
def plain(request: pytest.FixtureRequest, cases: Cases) -> Case:
    return cases[request.param]


@pytest.mark.parametrize("name", ["rsl", "nrsl", "fsm"])
@pytest.mark.parametrize("seed", [0, 1])
def test_bounds_hold(plain: Case, name: str, seed: int) -> None:
    """For every sampler: a label that is said to be a bound is no less than h*."""
    data = make_sampler(name, states=2000, length=30, seed=seed).sample(plain.task)
    exact, seen = truth(plain), 0
    assert data.upper is not None
    for row, label, upper in zip(data.states, data.label, data.upper, strict=True):
        assert np.isnan(upper) or upper == label
        steps = exact.get(row.tobytes())
        if steps is not None and not np.isnan(upper):
            assert label >= steps
            seen += 1
        if steps == 0:
            assert label == 0, "satisfies the goal"
    assert seen > 50


@pytest.mark.parametrize("task", oracle.TINY)
def test_bounds_hold_for_unreachable_states(cases: Cases, task: str) -> None:
    case = cases[task]
    options = _core.FsmConfig(states=500, bfs_share=0.1, random_share=0.2, length=20)
    states, label, bound = _core.fsm(case.task.core, options, seed=1)
    everywhere = oracle.steps_everywhere(case.oracle)
    bits = _core.encode(case.task.core, np.array(list(everywhere), dtype=np.int32))
    exact = {row.tobytes(): h for row, h in zip(bits, everywhere.values(), strict=True)}
    assert len(exact) == len(everywhere)
    for row, steps, known in zip(states, label, bound, strict=True):
        assert not known or steps >= exact[row.tobytes()]


def test_shares_and_columns(plain: Case) -> None:
    data = FSM(states=2000, random_share=0.25, seed=3).sample(plain.task)
    assert len(data) == 2000
    assert len(data.atoms) == len(plain.task.core.atom_facts)
    assert data.provenance["sampler"] == "fsm" and '"random_share": 0.25' in data.provenance["options"]
    plain_data = FSM(states=2000, random_share=0.25, sai=False, sui=False, seed=3).sample(plain.task)
    assert plain_data.upper is not None
    guessed = np.isnan(plain_data.upper)
    assert not guessed[:1500].any()
    goals = plain_data.label[1500:] == 0
    assert guessed[1500:][~goals].all()
    assert (plain_data.label[1500:][~goals] == plain_data.label[:1500].max() + 1).all()
    assert not np.isnan(FSM(states=300, random_share=0.0).sample(plain.task).upper).any()


def test_improvement_lowers_the_error(cases: Cases) -> None:
    """Summed over tasks: each improvement helps, both help most."""

    def total(**switches: bool) -> float:
        return sum(
            error(cases[name], FSM(states=1000, length=40, seed=5, **switches).sample(cases[name].task))
            for name in ("blocksworld-4", "npuzzle-2x3", "ipc-gripper", "ferry-3-2")
        )

    neither, sai = total(sai=False, sui=False), total(sai=True, sui=False)
    sui, both = total(sai=False, sui=True), total(sai=True, sui=True)
    assert both <= min(sai, sui) and max(sai, sui) < neither
    assert both < 0.5 * neither


def test_one_seed_one_data_set(plain: Case) -> None:
    one, same, other = (FSM(states=500, seed=seed).sample(plain.task) for seed in (1, 1, 2))
    assert one.digest() == same.digest() != other.digest()


def test_equal_states_have_equal_labels(plain: Case) -> None:
    data = FSM(states=3000).sample(plain.task)
    labels: dict[bytes, set[float]] = {}
    for row, label in zip(data.states, data.label, strict=True):
        labels.setdefault(row.tobytes(), set()).add(float(label))
    assert all(len(found) == 1 for found in labels.values())


def test_adaptive_length(cases: Cases) -> None:
    core = cases["blocks"].task.core
    effects = [len(core.operator(i).effects) for i in range(core.num_operators)]
    wanted = -(-len(core.atom_facts) * len(effects) // sum(effects))
    assert _core.adaptive_length(core) == wanted
    data = FSM(states=3000, sai=False, sui=False, random_share=0).sample(cases["blocks"].task)
    assert data.label.max() <= max(wanted, data.label[:300].max())


@pytest.mark.parametrize("name", ["rsl", "nrsl", "fsm"])
@pytest.mark.parametrize(
    ("task", "why"), [("axioms", "axioms"), ("reach", "axioms"), ("conditional", "conditional effects")]
)
def test_what_samplers_cannot_do(cases: Cases, name: str, task: str, why: str) -> None:
    with pytest.raises(
        UnsupportedError, match=f"^{name} samples by regression.*{why}; use the sampler 'forward'"
    ):
        make_sampler(name).sample(cases[task].task)


@pytest.mark.parametrize(
    "wrong", [{"states": 0}, {"states": 2.5}, {"seed": -1}, {"random_share": 1.5}, {"length": -3}]
)
@pytest.mark.parametrize("name", ["rsl", "nrsl", "fsm"])
def test_wrong_options(name: str, wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
        make_sampler(name, **wrong)


def test_names_options_and_profiles() -> None:
    assert {"rsl", "nrsl", "fsm", "exact"} <= set(SAMPLERS)
    with pytest.raises(InputError, match=r"unknown sampler 'fsn'.*did you mean 'fsm'"):
        make_sampler("fsn")
    with pytest.raises(InputError, match=r"unknown option of fsm 'state'.*did you mean 'states'"):
        make_sampler("fsm", state=3)
    with pytest.raises(InputError, match=r"unknown profile of nrsl 'papers'.*did you mean 'paper'"):
        make_sampler("nrsl", "papers")
    assert make_sampler("fsm", "paper", states=7) == FSM(states=7)


@pytest.mark.parametrize("name", ["fsm", "nrsl"])
def test_ctrl_c_ends_sampling(name: str) -> None:
    script = (
        "import hstar\nfrom hstar.sampling import make_sampler\n"
        f"task = hstar.load({str(DATA / 'blocks' / 'problem.pddl')!r})\n"
        "print('ready', flush=True)\n"
        f"try:\n    make_sampler({name!r}, states=30_000_000).sample(task)\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env=os.environ, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - sent < 2
    assert process.wait(20) == 0
