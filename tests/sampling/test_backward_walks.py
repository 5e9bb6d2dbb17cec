"""Walks from the goal of a planning task: from their ends it is reached; what cannot be walked is told."""

from __future__ import annotations

import numpy as np
import pytest

import hstar
from conftest import Cases, handmade
from hstar.errors import InputError, UnsupportedError
from hstar.sampling.backward_walks import TaskWalks
from hstar.sampling.uncertain_tasks import uncertain_task
from hstar.spaces.puzzle import State
from oracles.test_oracles import operator, task_text, variable

REVERSIBLE = ("npuzzle-2x3", "blocksworld-4", "ferry-3-2", "ipc-gripper")
NAMES = (*REVERSIBLE, "ipc-visitall", "ipc-miconic")


def distance(task: hstar.Task, state: State) -> int:
    """The least number of actions to the goal."""
    start = hstar.Task(task.core.with_initial_state(state).with_unit_cost(), task.name)
    result = hstar.solve(start, "blind", "astar", max_evaluations=1_000_000)
    assert result.plan_cost is not None
    return result.plan_cost


@pytest.mark.parametrize("name", NAMES)
def test_the_goal_can_be_reached_from_where_a_walk_ends(cases: Cases, name: str) -> None:
    task = cases[name].task
    walks = TaskWalks(task)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        assert distance(task, walks.goal(rng)) == 0
        steps = 1 + 2 * seed
        end = walks.walk(steps, rng)
        assert distance(task, end) <= steps
    # As far as it goes: not all walks end near the goal.
    assert max(distance(task, walks.walk(12, np.random.default_rng(seed))) for seed in range(8)) >= 3


def test_goals_are_states_that_can_be_reached(cases: Cases) -> None:
    """Mutexes alone would let a tower stand on its own top; and what a goal leaves open differs."""
    for name in ("blocksworld-4", "ipc-gripper", "ferry-3-2"):
        case = cases[name]
        walks = TaskWalks(case.task)
        goals = {walks.goal(np.random.default_rng(seed)) for seed in range(30)}
        assert goals <= set(case.exact) and all(case.exact[goal] == 0 for goal in goals)
    assert len(goals) > 1, "the ferry may be anywhere"


def test_steps_are_not_taken_back_at_once(cases: Cases) -> None:
    """Two steps in a puzzle lead back only by the same move."""
    walks = TaskWalks(cases["npuzzle-2x3"].task)
    goal = walks.goal(np.random.default_rng(0))
    assert goal not in {walks.walk(2, np.random.default_rng(seed)) for seed in range(30)}
    ends = {walks.walk(1, np.random.default_rng(seed)) for seed in range(30)}
    assert ends == set(walks.neighbours(goal, np.random.default_rng(0)))


def test_it_ends_where_the_unknown_begins(cases: Cases) -> None:
    """The same maker of tasks as for puzzles."""
    case = cases["npuzzle-2x3"]
    walks = TaskWalks(case.task)
    for seed in range(10):
        task = uncertain_task(
            walks,
            lambda states: np.array([1.0 if case.exact[state] >= 6 else 0.5 for state in states]),
            np.random.default_rng(seed),
            max_steps=500,
        )
        assert case.exact[task] == 6


def test_a_goal_that_no_action_leads_to(cases: Cases) -> None:
    text = task_text([variable(size=2)], [0], "1\n0 1", [operator("back", [], ["0 0 1 0"], 1)])
    walks = TaskWalks(handmade("none", text).task)
    rng = np.random.default_rng(0)
    assert walks.goal(rng) == (1,) and walks.walk(5, rng) == (1,)


def test_what_is_refused(cases: Cases) -> None:
    for name, what in (("axioms", "axioms"), ("conditional", "conditional effects")):
        with pytest.raises(UnsupportedError, match=f"{name} has {what}: walks from its goal need regression"):
            TaskWalks(cases[name].task)
    group = "1\nbegin_mutex_group\n2\n0 1\n1 1\nend_mutex_group"
    text = task_text([variable(), variable()], [0, 0], "2\n0 1\n1 1", [operator("a", [], ["0 0 0 1"], 1)])
    excluded = handmade(
        "excluded", text.replace("end_variable\n0\nbegin_state", f"end_variable\n{group}\nbegin_state")
    )
    with pytest.raises(InputError, match="the goal of excluded holds in no state"):
        TaskWalks(excluded.task).goal(np.random.default_rng(0))
