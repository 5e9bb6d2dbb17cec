"""The engine through unified-planning's own interface, on its own example problems."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

shortcuts = pytest.importorskip("unified_planning.shortcuts")

from unified_planning.engines import PlanGenerationResultStatus as Status  # noqa: E402
from unified_planning.exceptions import UPUsageError  # noqa: E402
from unified_planning.io import PDDLReader  # noqa: E402
from unified_planning.test.examples import get_example_problems  # noqa: E402

import hstar.up  # noqa: E402

EXAMPLES = get_example_problems()
SOLVED = ("basic", "basic_conditional", "robot_no_negative_preconditions", "hierarchical_blocks_world")
SOLVED += ("robot_loader", "hierarchical_blocks_world_exists", "basic_exists", "complex_conditional")


@pytest.fixture(autouse=True)
def quiet() -> None:
    shortcuts.get_environment().credits_stream = None
    hstar.up.register()
    hstar.up.register()  # twice is once


def valid(problem: object, plan: object) -> bool:
    with shortcuts.PlanValidator(problem_kind=problem.kind, plan_kind=plan.kind) as validator:  # type: ignore[attr-defined]
        return bool(validator.validate(problem, plan))


@pytest.mark.parametrize("name", SOLVED)
def test_examples_are_solved(name: str) -> None:
    problem = EXAMPLES[name].problem
    with shortcuts.OneshotPlanner(name="hstar") as planner:
        result = planner.solve(problem)
    assert result.status == Status.SOLVED_SATISFICING and result.engine_name == "hstar"
    assert valid(problem, result.plan)


def test_optimal_plans_are_said_to_be() -> None:
    problem = EXAMPLES["basic_with_costs"].problem
    with shortcuts.OneshotPlanner(
        name="hstar-opt", optimality_guarantee=shortcuts.OptimalityGuarantee.SOLVED_OPTIMALLY
    ) as planner:
        assert planner.name == "hstar-opt"
        result = planner.solve(problem)
    assert result.status == Status.SOLVED_OPTIMALLY and valid(problem, result.plan)
    assert result.metrics["plan_cost"] == result.metrics["lower_bound"]


@pytest.mark.parametrize("name", ["hierarchical_blocks_world_exists", "basic_conditional"])
def test_what_lmcut_does_not_take_is_solved_by_hmax(name: str) -> None:
    problem = EXAMPLES[name].problem
    with shortcuts.OneshotPlanner(name="hstar-opt") as planner:
        result = planner.solve(problem)
    assert valid(problem, result.plan) and "astar with hmax" in result.log_messages[0].message


def test_a_model_is_a_heuristic(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    from labelled import generated, labelled

    task = generated(tmp_path, "blocksworld", blocks=4, seed=1)
    hstar.train("wl", labelled([task]), least_states=1).save(tmp_path / "m.hstar")
    problem = PDDLReader().parse_problem(str(task.domain_file), str(task.problem_file))
    with shortcuts.OneshotPlanner(name="hstar", params={"heuristic": str(tmp_path / "m.hstar")}) as planner:
        result = planner.solve(problem)
    assert valid(problem, result.plan) and "wl" in result.log_messages[0].message
    with (
        shortcuts.OneshotPlanner(name="hstar", params={"heuristic": str(tmp_path / "m.hstar")}) as planner,
        pytest.raises(UPUsageError),
    ):
        planner.solve(EXAMPLES["robot_loader"].problem)


def test_params_choose_search_and_heuristic() -> None:
    problem = EXAMPLES["basic_with_costs"].problem
    params = {"search": "astar", "heuristic": "hmax"}
    with shortcuts.OneshotPlanner(name="hstar", params=params) as planner:
        result = planner.solve(problem, timeout=10)
    assert result.status == Status.SOLVED_OPTIMALLY
    assert "astar with hmax" in result.log_messages[0].message
    with (
        shortcuts.OneshotPlanner(name="hstar", params={"heuristic": "hmx"}) as planner,
        pytest.raises(UPUsageError, match="hmx"),
    ):
        planner.solve(problem)


def test_an_unsolvable_problem_is_proven_to_be() -> None:
    x, y = shortcuts.Fluent("x"), shortcuts.Fluent("y")
    problem = shortcuts.Problem("never")
    act = shortcuts.InstantaneousAction("act")
    act.add_precondition(x)
    act.add_effect(y, True)
    for fluent in (x, y):
        problem.add_fluent(fluent, default_initial_value=False)
    problem.add_action(act)
    problem.add_goal(y)
    with shortcuts.OneshotPlanner(name="hstar") as planner:
        result = planner.solve(problem)
    assert result.status == Status.UNSOLVABLE_PROVEN and result.plan is None


def test_other_kinds_are_refused() -> None:
    problem = EXAMPLES["matchcellar"].problem  # it has durations
    assert not hstar.up.HstarEngine.supports(problem.kind)
    with (
        shortcuts.OneshotPlanner(name="hstar") as planner,
        pytest.warns(UserWarning, match="cannot establish"),
    ):
        result = planner.solve(problem)
    assert result.status == Status.UNSUPPORTED_PROBLEM and result.plan is None
    assert ":durative-action" in result.log_messages[0].message
    with shortcuts.OneshotPlanner(name="hstar") as planner:
        planner.error_on_failed_checks = True
        with pytest.raises(UPUsageError, match="cannot establish whether hstar can solve"):
            planner.solve(problem)


def test_names_that_pddl_does_not_have_come_back() -> None:
    fluent = shortcuts.Fluent("is done?")
    problem = shortcuts.Problem("odd names")
    act = shortcuts.InstantaneousAction("Do It!")
    act.add_effect(fluent, True)
    problem.add_fluent(fluent, default_initial_value=False)
    problem.add_action(act)
    problem.add_goal(fluent)
    with shortcuts.OneshotPlanner(name="hstar") as planner:
        result = planner.solve(problem)
    assert [step.action.name for step in result.plan.actions] == ["Do It!"]


def test_anytime_plans_get_better() -> None:
    problem = EXAMPLES["basic_with_costs"].problem
    with shortcuts.AnytimePlanner(name="hstar") as planner:
        *better, last = planner.get_solutions(problem, timeout=5)
    assert all(result.status == Status.INTERMEDIATE for result in better)
    assert last.status == Status.SOLVED_OPTIMALLY and valid(problem, last.plan)


def test_an_anytime_search_ends_when_its_user_leaves() -> None:
    problem = EXAMPLES["basic_with_costs"].problem
    with shortcuts.AnytimePlanner(name="hstar") as planner:
        solutions = planner.get_solutions(problem, timeout=60)
        assert next(solutions).plan is not None
        solutions.close()


def test_replanning_from_another_start() -> None:
    problem = EXAMPLES["robot_loader"].problem.clone()
    with shortcuts.Replanner(problem, name="replanner[hstar]") as planner:
        first = planner.resolve()
        assert valid(problem, first.plan)
        robot, l1, l2 = problem.fluent("robot_at"), problem.object("l1"), problem.object("l2")
        start = next(place for place in (l1, l2) if problem.initial_value(robot(place)).is_true())
        other = l2 if start is l1 else l1
        planner.update_initial_value(robot(start), False)
        planner.update_initial_value(robot(other), True)
        problem.set_initial_value(robot(start), False)
        problem.set_initial_value(robot(other), True)
        assert valid(problem, planner.resolve().plan)


def test_a_warm_start_is_an_upper_bound(tmp_path: Path) -> None:
    """A better plan, or the one that was given; never a worse one."""
    from labelled import generated

    task = generated(tmp_path, "blocksworld", blocks=5, seed=2)
    problem = PDDLReader().parse_problem(str(task.domain_file), str(task.problem_file))
    best = hstar.solve(task.with_unit_cost(), "lmcut", "astar")
    longer = hstar.solve(task.with_unit_cost(), "blind", "gbfs", ties="random", seed=1)
    given = [
        PDDLReader(problem.environment).parse_plan_string(problem, found.plan_text())
        for found in (best, longer)
    ]
    for engine in ("hstar", "hstar-opt"):
        with shortcuts.OneshotPlanner(name=engine) as planner:
            kept = planner.solve(problem, warm_start_plan=given[0])
            better = planner.solve(problem, warm_start_plan=given[1])
        assert len(kept.plan.actions) == best.plan_cost and valid(problem, kept.plan)
        assert len(better.plan.actions) <= len(given[1].actions) and valid(problem, better.plan)
    with shortcuts.AnytimePlanner(name="hstar") as planner:
        found = list(planner.get_solutions(problem, warm_start_plan=given[0]))
    assert [len(one.plan.actions) for one in found] == [best.plan_cost]
    with shortcuts.OneshotPlanner(name="hstar") as planner, pytest.warns(UserWarning, match="is no plan"):
        planner.solve(problem, warm_start_plan=type(given[0])(given[0].actions[:1], problem.environment))


@pytest.mark.parametrize("name", ["ff", "model"])
def test_a_heuristic_as_a_function_of_states(tmp_path: Path, name: str) -> None:
    """Along a plan the values are those of hstar; at the goal of ff 0."""
    from labelled import generated, labelled

    task = generated(tmp_path, "blocksworld", blocks=4, seed=1)
    heuristic: str | Path = "ff"
    if name == "model":
        heuristic = tmp_path / "m.hstar"
        hstar.train("wl", labelled([task]), least_states=1).save(heuristic)
    problem = PDDLReader().parse_problem(str(task.domain_file), str(task.problem_file))
    function = hstar.up.heuristic_function(problem, heuristic)
    found = hstar.solve(task, "ff", "gbfs")
    states = hstar.search.solve.plan_states(task, found.actions)
    loaded = heuristic if name == "ff" else hstar.load_model(heuristic)
    expected = hstar.search.heuristics.evaluate(task, loaded, states)
    plan = PDDLReader(problem.environment).parse_plan_string(problem, found.plan_text())
    with shortcuts.SequentialSimulator(problem) as simulator:
        state = simulator.get_initial_state()
        values = [function(state)]
        for action in plan.actions:
            state = simulator.apply(state, action)
            values.append(function(state))
    assert values == pytest.approx(expected.tolist())


def test_without_unified_planning_one_line_says_what_to_install() -> None:
    program = "import sys; sys.modules['unified_planning'] = None; import hstar.up"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("needs unified-planning: pip install 'hstar[up]'")
