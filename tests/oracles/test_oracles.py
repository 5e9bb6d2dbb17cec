"""The oracles themselves: hand-made tasks with known values, and agreement with Fast Downward."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from . import fast_downward, sas

needs_binary = pytest.mark.skipif(
    fast_downward.binary() is None,
    reason="needs the Fast Downward binary: pip install 'hstar[bench]'",
)
needs_benchmarks = pytest.mark.skipif(
    fast_downward.benchmarks() is None,
    reason="needs ../shared/benchmarks/ipc beside the repository",
)


def variable(layer: int = -1, size: int = 2) -> str:
    facts = "".join(f"Atom a{value}\n" for value in range(size))
    return f"begin_variable\nv\n{layer}\n{size}\n{facts}end_variable\n"


def task_text(
    variables: list[str],
    state: list[int],
    goal: str,
    operators: list[str],
    axioms: list[str] | None = None,
    metric: int = 1,
) -> str:
    axioms = axioms or []
    return (
        f"begin_version\n3\nend_version\nbegin_metric\n{metric}\nend_metric\n"
        f"{len(variables)}\n{''.join(variables)}0\n"
        f"begin_state\n{''.join(f'{value}{chr(10)}' for value in state)}end_state\n"
        f"begin_goal\n{goal}\nend_goal\n"
        f"{len(operators)}\n{''.join(operators)}{len(axioms)}\n{''.join(axioms)}"
    )


def operator(name: str, prevail: list[str], effects: list[str], cost: int) -> str:
    lines = [name, str(len(prevail)), *prevail, str(len(effects)), *effects, str(cost)]
    return "begin_operator\n" + "\n".join(lines) + "\nend_operator\n"


def rule(conditions: list[str], effect: str) -> str:
    return "begin_rule\n" + "\n".join([str(len(conditions)), *conditions, effect]) + "\nend_rule\n"


# A chain 0 → 1 → 2 (costs 2 and 3), a shortcut 0 → 2 of cost 7, and a trap 1 → 3.
CHAIN = task_text(
    [variable(size=4)],
    [0],
    "1\n0 2",
    [
        operator("a", [], ["0 0 0 1"], 2),
        operator("b", [], ["0 0 1 2"], 3),
        operator("c", [], ["0 0 0 2"], 7),
        operator("d", [], ["0 0 1 3"], 1),
    ],
)

# The goal is x=1 and y=1; `swap` sets both, but y only where x was 1 before.
CONDITIONAL = task_text(
    [variable(), variable()],
    [0, 0],
    "2\n0 1\n1 1",
    [operator("set", [], ["0 0 0 1"], 1), operator("swap", [], ["0 0 -1 1", "1 0 1 1 -1 1"], 4)],
)

# d1 ← x=1, d2 ← d1 and y=1 (one layer), d3 ← d2 still at its default (the layer above); goal d2.
AXIOMS = task_text(
    [variable(), variable(), variable(0), variable(0), variable(1)],
    [0, 0, 1, 1, 1],
    "1\n3 0",
    [operator("x", [], ["0 0 0 1"], 1), operator("y", ["4 0"], ["0 1 0 1"], 1)],
    [
        rule(["2 0", "1 1"], "3 1 0"),
        rule(["0 1"], "2 1 0"),
        rule(["3 1"], "4 1 0"),
    ],
)

# The goal is the default value of a derived variable that holds while a switch costing 5 is on.
NEGATED = task_text(
    [variable(), variable(0)],
    [0, 1],
    "1\n1 1",
    [operator("off", [], ["0 0 0 1"], 5)],
    [rule(["0 0"], "1 1 0")],
)


def test_exact_values_of_a_chain() -> None:
    task = sas.parse(CHAIN)
    assert sas.exact(task) == {(0,): 5, (1,): 3, (2,): 0, (3,): math.inf}
    assert sas.successors(task, (1,)) == [(1, (2,)), (3, (3,))]
    assert [sas.hmax(task, (value,)) for value in range(4)] == [5, 3, 0, math.inf]


def test_costs_are_one_without_a_metric() -> None:
    task = sas.parse(CHAIN.replace("begin_metric\n1\n", "begin_metric\n0\n"))
    assert sas.exact(task)[0,] == 1


def test_effect_conditions_see_the_old_state() -> None:
    task = sas.parse(CONDITIONAL)
    assert sas.successors(task, (0, 0)) == [(0, (1, 0)), (1, (1, 0))]
    assert sas.successors(task, (1, 0)) == [(1, (1, 1))]
    assert sas.exact(task) == {(0, 0): 5, (1, 0): 4, (1, 1): 0}
    assert sas.hmax(task, (0, 0)) == 5
    assert sas.hadd(task, (0, 0)) == 6


def test_axioms_are_closed_layer_by_layer() -> None:
    task = sas.parse(AXIOMS)
    assert task.initial == (0, 0, 1, 1, 0)
    assert sas.close(task, (1, 0, 0, 0, 0)) == (1, 0, 0, 1, 0)
    assert sas.close(task, (1, 1, 0, 0, 0)) == (1, 1, 0, 0, 1)
    assert sas.exact(task)[task.initial] == 2
    assert sas.hmax(task, task.initial) == 1
    assert sas.hadd(task, task.initial) == 2


def test_the_default_value_is_free_or_follows_from_the_axioms() -> None:
    task = sas.parse(NEGATED)
    assert sas.exact(task)[task.initial] == 5
    assert (sas.hmax(task, task.initial), sas.hadd(task, task.initial)) == (0, 0)
    assert sas.hmax(task, task.initial, "acyclic") == 5
    assert sas.hadd(task, task.initial, "acyclic") == 5


def test_exploration_stops_at_its_limit() -> None:
    with pytest.raises(sas.TooManyStates, match="more than 2"):
        sas.explore(sas.parse(CHAIN), limit=2)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (CHAIN[:40], "ends too early"),
        (CHAIN.replace("begin_goal", "begin_gaol"), "expected 'begin_goal'"),
        (CHAIN.replace("begin_state\n0", "begin_state\nx"), "expected integers, got 'x'"),
    ],
)
def test_damaged_files_are_refused(damage: str, message: str) -> None:
    with pytest.raises(sas.FormatError, match=message):
        sas.parse(damage)


@needs_binary
@pytest.mark.parametrize("text", [CHAIN, CONDITIONAL, AXIOMS, NEGATED])
@pytest.mark.parametrize("negation", ["free", "acyclic"])
def test_hand_made_tasks_agree_with_fast_downward(text: str, negation: sas.Negation) -> None:
    task = sas.parse(text)
    agree(text, task, sas.explore(task).states, negation)


@needs_binary
def test_lmcut_refuses_axioms_and_conditional_effects() -> None:
    for text in (AXIOMS, CONDITIONAL):
        with pytest.raises(fast_downward.Unsupported):
            fast_downward.initial_value(text, "lmcut()")


@needs_binary
@needs_benchmarks
@pytest.mark.parametrize(
    "problem",
    [
        "blocks/probBLOCKS-4-0.pddl",
        "gripper/prob01.pddl",
        "miconic-simpleadl/s1-0.pddl",
        "miconic-simpleadl/s7-0.pddl",
        "psr-large/p01-s29-n2-l5-f30.pddl",
        "assembly/prob01.pddl",
    ],
)
def test_competition_tasks_agree_with_fast_downward(problem: str, tmp_path: Path) -> None:
    folder = fast_downward.benchmarks()
    assert folder is not None
    path = folder / problem
    text = fast_downward.translate(path.parent / "domain.pddl", path, tmp_path / "output.sas")
    task = sas.parse(text)
    states = sas.walk_states(task, 6, length=10)
    agree(text, task, states, "acyclic")
    if task.axioms:
        agree(text, task, states, "free")


@needs_binary
@needs_benchmarks
def test_free_default_values_are_much_weaker_where_goals_are_negated(tmp_path: Path) -> None:
    """Why the treatment of axioms matters: h^add of the first assembly task is 41 or 1."""
    folder = fast_downward.benchmarks()
    assert folder is not None
    path = folder / "assembly" / "prob01.pddl"
    text = fast_downward.translate(path.parent / "domain.pddl", path, tmp_path / "output.sas")
    assert fast_downward.initial_value(text, "add()") == 41
    assert fast_downward.initial_value(text, "add(axioms=approximate_negative)") == 1


def agree(text: str, task: sas.Task, states: list[sas.State], negation: sas.Negation) -> None:
    """Both heuristics equal Fast Downward's under the matching option, state by state."""
    option = {
        "free": "axioms=approximate_negative",
        "acyclic": "axioms=approximate_negative_cycles",
    }[negation]
    expected = fast_downward.heuristic_values(text, f"hmax({option})", states)
    assert [sas.hmax(task, state, negation) for state in states] == expected
    expected = fast_downward.heuristic_values(text, f"add({option})", states)
    assert [sas.hadd(task, state, negation) for state in states] == expected
