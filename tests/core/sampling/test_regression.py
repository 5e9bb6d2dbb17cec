"""Regression rollouts of the core against brute force and a naive oracle."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from conftest import Case, Cases, handmade, random_text
from hstar import _core
from hstar.errors import InputError, UnsupportedError
from oracles import preimages as oracle
from oracles import sas


@pytest.fixture(params=oracle.PLAIN)
def plain(request: pytest.FixtureRequest, cases: Cases) -> Case:
    return cases[request.param]


def rollouts(case: Case, name: str, **options: int) -> Iterator[list[oracle.Partial]]:
    """The pre-images of each rollout, the goal first."""
    options = {"rollouts": 8, "length": 30, "seed": 3, **options}
    values, depth = _core.preimages(case.task.core, name, **options)
    assert values.dtype == depth.dtype == np.int32
    assert depth[0] == 0 and tuple(values[0]) == oracle.goal(case.oracle)
    ends = [i for i in range(1, len(depth)) if depth[i] == 1] + [len(depth)]
    for begin, end in pairwise(ends):
        assert depth[begin:end].tolist() == list(range(1, end - begin + 1))
        yield [oracle.goal(case.oracle), *(tuple(row) for row in values[begin:end].tolist())]


@pytest.mark.parametrize("name", ["rsl", "nrsl"])
def test_states_of_a_pre_image_reach_the_goal_in_its_depth(plain: Case, name: str) -> None:
    states, h = _core.exact_distances(plain.task.core, unit_cost=True, max_states=100_000)
    values, depth = _core.preimages(plain.task.core, name, rollouts=20, length=40, seed=1)
    for partial, steps in zip(values, depth, strict=True):
        inside = ((partial == -1) | (states == partial)).all(axis=1)
        assert np.all(h[inside] <= steps)


@pytest.mark.parametrize("task", oracle.TINY)
def test_unreachable_states_of_a_pre_image_reach_the_goal_too(cases: Cases, task: str) -> None:
    case = cases[task]
    everywhere = oracle.steps_everywhere(case.oracle)
    values, depth = _core.preimages(case.task.core, "rsl", rollouts=30, length=20, seed=2)
    for partial, steps in {tuple(p): d for p, d in zip(values.tolist(), depth, strict=True)}.items():
        assert all(h <= steps for state, h in everywhere.items() if oracle.contains(partial, state))


@pytest.mark.parametrize("name", ["rsl", "nrsl"])
def test_each_step_is_one_that_the_oracle_allows(plain: Case, name: str) -> None:
    for chain in rollouts(plain, name, rollouts=4):
        for target, before in pairwise(chain):
            assert before in [found for _, found in oracle.predecessors(plain.oracle, target)]
        if len(chain) < 31:
            assert oracle.predecessors(plain.oracle, chain[-1]) == [], "the rollout ended too early"


def test_novelty_takes_most_new_preconditions(plain: Case) -> None:
    for chain in rollouts(plain, "nrsl", rollouts=4):
        seen: set[tuple[int, int]] = set()
        for target, before in pairwise(chain):
            options = oracle.predecessors(plain.oracle, target)
            scores = [oracle.novelty(plain.oracle, operator, seen) for operator, _ in options]
            best = [found for (_, found), score in zip(options, scores, strict=True) if score == max(scores)]
            assert before in best
            seen |= set(oracle.facts(before).items())


@pytest.mark.parametrize(
    ("task", "name"), [("blocks", "rsl"), ("ipc-gripper", "rsl"), ("npuzzle-2x3", "rsl")]
)
def test_choices_are_uniform(cases: Cases, task: str, name: str) -> None:
    """Of 4000 single steps each option gets its share, to five standard deviations."""
    case, draws = cases[task], 4000
    wanted = Counter(found for _, found in oracle.predecessors(case.oracle, oracle.goal(case.oracle)))
    values, _ = _core.preimages(case.task.core, name, rollouts=draws, length=1, seed=5)
    found = Counter(tuple(row) for row in values[1:].tolist())
    assert set(found) == set(wanted)
    for partial, count in wanted.items():
        share = count / wanted.total()
        assert abs(found[partial] - draws * share) < 5 * (draws * share * (1 - share)) ** 0.5 + 1


def test_one_seed_one_set(plain: Case) -> None:
    for name in ("rsl", "nrsl"):
        one, same = (_core.preimages(plain.task.core, name, rollouts=5, length=30, seed=7) for _ in range(2))
        assert np.array_equal(one[0], same[0]) and np.array_equal(one[1], same[1])
    many = [
        _core.preimages(plain.task.core, "rsl", rollouts=5, length=30, seed=s)[0].tolist() for s in range(9)
    ]
    if len(oracle.predecessors(plain.oracle, oracle.goal(plain.oracle))) > 1:
        assert any(other != many[0] for other in many)


@pytest.mark.parametrize("name", ["rsl", "nrsl"])
def test_random_tasks_with_random_mutex_groups(name: str) -> None:
    """Groups that no translator would write: preconditions that exclude each other, overlapping groups."""
    compared = blocked = 0
    for seed in range(60):
        text, rng = random_text(seed, conditional=False, axioms=False), random.Random(seed)
        facts = [(v, x) for v, d in enumerate(sas.parse(text).variables) for x in range(len(d.facts))]
        groups = [rng.sample(facts, rng.randint(2, 4)) for _ in range(rng.randint(1, 4))]
        written = ""
        for group in groups:
            body = "".join(f"{v} {x}\n" for v, x in group)
            written += f"begin_mutex_group\n{len(group)}\n{body}end_mutex_group\n"
        case = handmade("random", text.replace("0\nbegin_state", f"{len(groups)}\n{written}begin_state", 1))
        if not oracle.mutex_free(case.oracle, case.oracle.goal):
            continue
        bare = sas.parse(text)
        for chain in rollouts(case, name, rollouts=3, length=12):
            for target, before in pairwise(chain):
                allowed = [found for _, found in oracle.predecessors(case.oracle, target)]
                assert before in allowed
                compared += 1
                blocked += len(oracle.predecessors(bare, target)) - len(allowed)
            if len(chain) < 13:
                assert oracle.predecessors(case.oracle, chain[-1]) == []
    assert compared > 200 and blocked > 100, "the test would see nothing"


def test_mutex_groups_matter(cases: Cases) -> None:
    """Without them, regression in blocks goes where no state is."""
    case = cases["blocks"]
    text = case.text
    begin, end = text.index("begin_mutex_group"), text.rindex("end_mutex_group\n") + len("end_mutex_group\n")
    count = text[:begin].rstrip("\n").rpartition("\n")[0]
    bare = _core.Task.parse((count + "\n0\n" + text[end:]).encode())
    assert bare.mutex_groups == [] and bare.num_operators == case.task.core.num_operators

    def broken(core: _core.Task) -> int:
        values, _ = _core.preimages(core, "rsl", rollouts=20, length=40, seed=0)
        rows = [oracle.facts(row).items() for row in values.tolist()]
        return sum(not oracle.mutex_free(case.oracle, row) for row in rows)

    assert broken(case.task.core) == 0
    assert broken(bare) > 0


@pytest.mark.parametrize(("task", "why"), [("axioms", "axioms"), ("conditional", "conditional effects")])
@pytest.mark.parametrize("name", ["rsl", "nrsl"])
def test_what_regression_cannot_do(cases: Cases, task: str, why: str, name: str) -> None:
    with pytest.raises(UnsupportedError, match=f"{name} samples by regression.* does not support {why}"):
        _core.preimages(cases[task].task.core, name, rollouts=1, length=1, seed=0)


def test_wrong_options(cases: Cases) -> None:
    core = cases["chain"].task.core
    with pytest.raises(InputError, match=r"unknown rollout sampler 'srl' \(known: rsl, nrsl\)"):
        _core.preimages(core, "srl", rollouts=1, length=1, seed=0)
    for wrong in ({"rollouts": 0}, {"length": -1}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            _core.preimages(core, "rsl", **{"rollouts": 1, "length": 1, "seed": 0, **wrong})
