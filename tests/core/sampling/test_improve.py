"""SAI and SUI against a naive oracle; what fsm samples before it completes states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conftest import Case, Cases
from hstar import _core
from oracles import preimages as oracle


@pytest.fixture(params=oracle.PLAIN)
def plain(request: pytest.FixtureRequest, cases: Cases) -> Case:
    return cases[request.param]


def sample(case: Case, **options: Any) -> tuple[list[oracle.Partial], list[int]]:
    """Partial states and labels."""
    chosen = {"states": 300, "length": 20, "sai": False, "sui": False} | options
    values, label = _core.fsm_partial(case.task.core, _core.FsmConfig(**chosen), seed=4)
    return [tuple(row) for row in values.tolist()], label.tolist()


def least(states: list[oracle.Partial], labels: list[int]) -> dict[oracle.Partial, int]:
    found: dict[oracle.Partial, int] = {}
    for state, label in zip(states, labels, strict=True):
        found[state] = min(label, found.get(state, label))
    return found


def test_sai_takes_the_least_label_of_equal_states(plain: Case) -> None:
    states, labels = sample(plain)
    same, improved = sample(plain, sai=True)
    assert same == states
    best = least(states, labels)
    assert improved == [best[state] for state in states]


@pytest.mark.parametrize("sai", [False, True])
def test_sui_is_the_fixpoint_of_the_oracle(plain: Case, sai: bool) -> None:
    states, labels = sample(plain)
    same, improved = sample(plain, sai=sai, sui=True)
    assert same == states
    if sai:
        best = least(states, labels)
        labels = [best[state] for state in states]
    assert improved == oracle.improve(plain.oracle, states, labels)


def test_sui_of_given_labels(plain: Case) -> None:
    """Any labels that are no less than the truth, in any order."""
    best = least(*sample(plain, states=200))
    rng = np.random.default_rng(1)
    states = [list(best)[i] for i in rng.permutation(len(best))]
    labels = [best[state] + (int(rng.integers(0, 9)) if best[state] else 0) for state in states]
    found = _core.improve_by_successors(
        plain.task.core, np.array(states, dtype=np.int32), np.array(labels, dtype=np.int32)
    )
    assert found.tolist() == oracle.improve(plain.oracle, states, labels)


def test_labels_are_depths_of_regression(plain: Case) -> None:
    """No label is below the fewest backward steps, or 0 for what satisfies the goal."""
    states, labels = sample(plain, random_share=0.0, states=400)
    assert len(states) == 400
    wanted = oracle.goal(plain.oracle)
    assert states[0] == wanted and labels[0] == 0
    depth = {wanted: 0}
    for target in (frontier := [wanted]):
        for _, before in oracle.predecessors(plain.oracle, target):
            if before not in depth and len(depth) < 3000:
                depth[before] = depth[target] + 1
                frontier.append(before)
    for state, label in zip(states, labels, strict=True):
        if oracle.contains(wanted, state):
            assert label == 0, "satisfies the goal"
        elif state in depth:
            assert label >= depth[state], "no way is that short"


def test_the_breadth_first_part_is_complete_where_it_was_expanded(cases: Cases) -> None:
    """blocks: the states of step 1 come first, are all different, and each is a predecessor of another."""
    case = cases["blocks"]
    states, labels = sample(case, states=1000, random_share=0.0)
    breadth = next(i for i in range(1, len(labels)) if labels[i] < labels[i - 1] or i == 100)
    assert breadth <= 100 and len(set(states[:breadth])) == breadth
    assert labels[:breadth] == sorted(labels[:breadth])
    for state, label in zip(states[1:breadth], labels[1:breadth], strict=True):
        parents = [s for s, d in zip(states[:breadth], labels, strict=False) if d == label - 1]
        assert any(state in [b for _, b in oracle.predecessors(case.oracle, p)] for p in parents)


def test_samples_are_filled_up_where_the_backward_space_is_small(cases: Cases) -> None:
    states, labels = sample(cases["chain"], states=50, random_share=0.0)
    assert len(states) == len(labels) == 50
    assert set(states) == {(2,), (1,), (0,)}
    assert least(states, labels) == {(2,): 0, (1,): 1, (0,): 1}
