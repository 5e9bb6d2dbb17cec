"""What every generator promises, over its sizes: valid PDDL, fixed by the seed, not solved, solvable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import hstar
from hstar.errors import InputError
from hstar.generators import GENERATORS, sizes_of
from hstar.spaces.lifted import And, Atom, LiftedTask
from hstar.spaces.lifted_state import validate_pddl
from hstar.spaces.pddl import parse_task

Sizes = tuple[int, ...]


def few(*most: int, least: int = 1) -> st.SearchStrategy[Sizes]:
    return st.tuples(*(st.integers(least, one) for one in most))


def further(sizes: st.SearchStrategy[Sizes], bounds: Any) -> st.SearchStrategy[Sizes]:
    """With one more size, between bounds that depend on those before it."""
    return sizes.flatmap(lambda known: st.integers(*bounds(known)).map(lambda one: (*known, one)))


SIZES: dict[str, st.SearchStrategy[Sizes]] = {
    "blocksworld": few(7, least=2),
    "npuzzle": few(3, 3, least=2),
    "ferry": st.tuples(st.integers(2, 5), st.integers(1, 4)),
    "gripper": few(6),
    "visitall": st.tuples(st.integers(1, 4), st.integers(2, 4), st.integers(1, 100)),
    "logistics": few(3, 3, 4, 2).filter(lambda sizes: sizes[0] * sizes[1] > 1),
    "satellite": further(few(3, 3, 3, 4), lambda sizes: (1, sizes[2] * sizes[3])),
    "transport": st.tuples(st.integers(2, 8), st.integers(1, 3), st.integers(1, 4)),
    "miconic": st.tuples(st.integers(2, 6), st.integers(1, 5)),
    "spanner": st.tuples(st.integers(3, 5), st.integers(1, 3), st.integers(1, 4)),
    "childsnack": further(
        st.tuples(st.integers(1, 4), st.integers(0, 1), st.integers(1, 2)), lambda sizes: (sizes[0], 5)
    ),
    "rovers": further(
        st.tuples(st.integers(1, 3), st.integers(2, 5), st.integers(1, 2), st.integers(1, 3)),
        lambda sizes: (1, 2 * sizes[1] + 3 * sizes[2]),
    ),
    "sokoban": further(st.tuples(st.integers(3, 6), st.integers(3, 6), st.integers(1, 2)), lambda _: (0, 3)),
}
SEEDS = st.integers(0, 2**46)


def test_every_generator_is_tested() -> None:
    assert set(SIZES) == set(GENERATORS)


def wrong_types(task: LiftedTask) -> Iterator[str]:
    """Atoms whose objects are not of the types that their predicate or function declares."""
    goal = task.problem.goal
    goals = goal.parts if isinstance(goal, And) else (goal,)
    atoms = [*task.problem.init, *task.problem.costs, *task.goal_atoms]
    assert all(isinstance(part, Atom) for part in goals)
    for name, *arguments in atoms:
        symbols = task.domain.predicates if name in task.domain.predicates else task.domain.functions
        for argument, types in zip(arguments, symbols[name], strict=True):
            if argument not in task.objects_of(*types):
                yield f"({name} {' '.join(arguments)})"


@pytest.mark.parametrize("name", SIZES)
def test_problems_are_valid_deterministic_and_not_solved(name: str) -> None:
    generate = GENERATORS.get(name)

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(SIZES[name], SEEDS)
    def check(sizes: Sizes, seed: int) -> None:
        domain, problem = generate(*sizes, seed=seed)
        assert (domain, problem) == generate(**dict(zip(sizes_of(name), sizes, strict=True)), seed=seed)
        task = parse_task(domain, problem)
        assert task.warnings == ()
        assert list(wrong_types(task)) == []
        assert task.goal_atoms
        assert not validate_pddl(task, []).valid

    check()


@pytest.mark.parametrize("name", SIZES)
def test_problems_can_be_solved(name: str, tmp_path: Path) -> None:
    """Through the translator, by a complete search; the plan is validated on the PDDL itself."""
    paths = tmp_path / "domain.pddl", tmp_path / "problem.pddl"

    # Derandomised: a few translations should say the same to everybody. To shrink a failure needs many.
    @settings(
        max_examples=3,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(SIZES[name], SEEDS)
    def check(sizes: Sizes, seed: int) -> None:
        for path, text in zip(paths, GENERATORS.get(name)(*sizes, seed=seed), strict=True):
            path.write_text(text)
        task = hstar.load(*paths)
        result = hstar.solve(task, "ff", "lazy", preferred=True, max_evaluations=300_000)
        assert result.status == "solved", (sizes, seed)
        assert result.plan is not None
        verdict = validate_pddl(task.lifted, result.plan)
        assert verdict.valid, verdict.reason

    check()


@pytest.mark.parametrize(
    ("name", "sizes", "message"),
    [
        ("gripper", (0,), "gripper needs at least 1 of balls, got 0"),
        ("visitall", (1, 1, 50), "visitall needs at least 2 cells, got 1 x 1"),
        ("visitall", (-2, -3, 50), "visitall needs at least 1 of rows, got -2"),
        ("visitall", (3, 3, 0), "visitall needs at least 1 of goal_percent, got 0"),
        ("visitall", (3, 3, 101), "visitall needs a goal_percent from 1 to 100, got 101"),
        ("logistics", (1, 1, 2, 1), "logistics needs at least 2 locations in all, got 1"),
        ("logistics", (2, 1, 2, 0), "logistics needs at least 1 of airplanes, got 0"),
        ("satellite", (1, 1, 0, 2, 1), "satellite needs at least 1 of modes, got 0"),
        ("satellite", (1, 1, 2, 2, 5), "satellite has 4 images of 2 directions in 2 modes, got 5"),
        ("transport", (1, 1, 1), "transport needs at least 2 of locations, got 1"),
        ("miconic", (1, 1), "miconic needs at least 2 of floors, got 1"),
        ("spanner", (2, 3, 1), "spanner needs at least as many spanners as nuts, got 2 for 3"),
        ("childsnack", (2, 3, 1, 2), "childsnack has at most 2 allergic of 2 children, got 3"),
        ("childsnack", (2, -1, 1, 2), "childsnack needs at least 0 of allergic, got -1"),
        ("childsnack", (3, 1, 1, 2), "childsnack needs at least a sandwich for each child, got 2 for 3"),
        ("rovers", (1, 1, 1, 1, 1), "rovers needs at least 2 of waypoints, got 1"),
        ("rovers", (1, 2, 1, 1, 8), "rovers has at most 7 goals for 2 waypoints and 1 objectives, got 8"),
        ("sokoban", (2, 2, 1, 0), "sokoban needs at least 3 cells in a row and 2 more than stones"),
        ("sokoban", (3, 3, 2, 6), "sokoban needs at least 3 cells in a row and 2 more than stones"),
    ],
)
def test_sizes_without_problems_are_refused(name: str, sizes: Sizes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        GENERATORS.get(name)(*sizes, seed=0)
    assert str(caught.value).startswith(message)
