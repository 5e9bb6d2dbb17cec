"""Rows that are missing: what a table says of a contestant whose searches are not all there."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hstar.experiments.statistics import (
    Share,
    coverage_of,
    log_ratios,
    missing_optimality,
    optimality_of,
    share_of,
    solved_by_all,
    starts_of,
    whole_seeds,
)
from hstar.experiments.tables import (
    accuracy_table,
    calibration_table,
    coverage_table,
    effort_table,
    evaluations_table,
    optimality_table,
    share,
)

Row = dict[str, Any]


def searches(name: str, number: int, seeds: int = 1, **figures: Any) -> list[Row]:
    """The first so many of the starts of an instance, all solved, the later ones harder."""
    found = []
    for seed in range(seeds):
        for i in range(number):
            about: Row = {"step": "search", "domain": "d", "instance": "d/i", "contestant": name}
            about |= {"seed": seed, "start": str(i), "status": "solved", "optimal_cost": 10, "cost": 10}
            about |= {"generated": 10**i, "search_time": 1.0, "evaluations": 10**i, "expansions": 10**i}
            found.append({**about, "plan_length": 10, **figures})
    return found


# --- which seeds are whole ------------------------------------------------------------------------------


def test_a_seed_that_lacks_a_start_does_not_count() -> None:
    rows = searches("c", 4, seeds=3)
    wanted = starts_of(rows)
    assert len(wanted) == 4 and whole_seeds(rows, wanted).note is None
    found = whole_seeds(rows[:-1], wanted)
    assert [*found.rows] == [0, 1] and found.note == "2 of 3 seeds"
    assert all(len(own) == 4 for own in found.rows.values())
    begun = whole_seeds(searches("c", 3), wanted)
    assert not begun.rows and begun.note == "3 of 4"
    assert whole_seeds([], wanted).note is None  # not begun at all: a dash says so
    # The same search twice is one row.
    assert whole_seeds([*rows, rows[0]], wanted).rows.keys() == {0, 1, 2}


# --- tables that would flatter --------------------------------------------------------------------------


def test_optimality_of_a_run_that_was_given_up() -> None:
    """Three quick instances of four: they would have a mean of 37 states instead of 278."""
    rows = [*searches("whole", 4), *searches("given up", 3)]
    assert [len(seeds) for seeds in optimality_of(rows).values()] == [1, 0]
    assert missing_optimality(rows) == {("d", "given up"): "3 of 4"}
    table = optimality_table(rows)
    assert table[0][2:] == [
        *("solved (%)", "expanded, mean", "generated, mean", "seconds, mean", "suboptimality of solved (%)"),
        *("optimal (%)", "searches"),
    ]
    assert table[1] == ["d", "whole", "100", "277.8", "277.8", "1", "0", "100", "4"]
    assert table[2] == ["d", "given up", "3 of 4", *["–"] * 5, "0"]
    more = [*rows, *({**row, "seed": 1} for row in searches("given up", 4))]
    assert optimality_table(more)[2][:4] == ["d", "given up", "100 (1 of 2 seeds)", "277.8"]


def test_what_is_not_solved_is_not_optimal_and_not_quick() -> None:
    rows = searches("c", 4)
    rows[3] |= {"status": "evaluation_limit", "cost": None, "generated": 5000}
    (one,) = optimality_of(rows)["d", "c"]
    assert (one.solved, one.optimal, one.suboptimality) == (75, 75, 0)
    assert one.generated == (1 + 10 + 100 + 5000) / 4


def test_sets_of_one_puzzle_are_told_apart() -> None:
    rows = [*searches("c", 4), *({**row, "instance": "d/other"} for row in searches("c", 2))]
    assert [place for place, _ in optimality_of(rows)] == ["d/i", "d/other"]
    assert missing_optimality(rows) == {}
    # Single problems of a domain are not sets.
    rows = [{**row, "instance": f"d/{row['start']}", "start": "p"} for row in searches("c", 4)]
    assert [place for place, _ in optimality_of(rows)] == ["d"]


def test_coverage_of_what_is_there_is_not_coverage() -> None:
    hard = [{**row, "status": "time_limit"} for row in searches("whole", 4) if row["start"] == "3"]
    rows = [*searches("whole", 3), *hard, *searches("begun", 3)]
    assert coverage_table(rows) == [["", "whole", "begun"], ["d/i", "75", "3 of 4"]]
    wanted = starts_of(rows)
    places = {"d": ["d/i"]}
    assert coverage_of(searches("begun", 3), places, wanted) == (None, "3 of 4")
    assert coverage_of(searches("c", 4, seeds=2), places, wanted) == (Share(100, 0), None)
    assert coverage_of(searches("c", 4, seeds=2)[:-1], places, wanted) == (Share(100), "1 of 2 seeds")
    assert coverage_of([], places, wanted) == (None, None)


def test_evaluations_that_the_clock_hid() -> None:
    rows = [*searches("whole", 4), *searches("slow", 4)]
    rows[-1] |= {"status": "time_limit", "evaluations": 200}
    assert evaluations_table(rows) == [["", "whole", "slow"], ["d", "277.8", "3 of 4"]]


def of_many(rows: list[Row], instances: int, **more: Any) -> list[Row]:
    """Rows that stand for a search of so many problems, one after the other, all solved within 1.5."""
    about = {"instances": instances, "solved": instances, "with_known_optimum": instances, "optimal": 1.0}
    about |= {"suboptimality": 0.0, "greatest_suboptimality": 0.0, "bound": 1.5, "reopened": 0.0}
    return [
        {**row, **about, "instance": f"d/{row['start']}", "start": f"{instances} scenarios", **more}
        for row in rows
    ]


def test_sets_that_are_not_all_there() -> None:
    rows = of_many(searches("whole", 2), 100, expansions=50.0)
    easy = {**rows[0], "contestant": "begun", "expansions": 9.0}
    assert [len(seeds) for seeds in optimality_of([*rows, easy]).values()] == [1, 0]
    assert missing_optimality([*rows, easy]) == {("d", "begun"): "1 of 2"}
    assert optimality_table([*rows, easy])[2][:3] == ["d", "begun", "1 of 2"]
    table = dict(zip(*optimality_table(rows), strict=True))
    assert (table["searches"], table["expanded, mean"], table["greatest cost / bound"]) == (
        "200",
        "50",
        "0.667",
    )


def test_searches_of_several_problems_count_with_their_number() -> None:
    rows = of_many(searches("c", 1), 10, expansions=100.0, suboptimality=0.5, greatest_suboptimality=0.8)
    rows += of_many(
        searches("c", 2)[1:], 30, expansions=20.0, solved=20, status="time_limit", suboptimality=0.2
    )
    (one,) = optimality_of(rows)["d", "c"]
    assert (one.expanded, one.searches, one.solved) == (40, 40, 75)
    assert one.suboptimality == pytest.approx(100 * (10 * 0.5 + 20 * 0.2) / 30)
    assert one.greatest == pytest.approx(1.8 / 1.5)
    assert coverage_table(rows)[1:] == [["d/0", "100"], ["d/1", "66.7"], ["d, mean", "83.3"]]
    # Beside single searches of another domain, in one table.
    rows += [{**row, "domain": "e", "instance": "e/i"} for row in searches("c", 4)]
    assert [line[0] for line in optimality_table(rows)[1:]] == ["d", "e"]


def test_errors_of_some_seeds() -> None:
    about = {"step": "accuracy", "domain": "d", "instance": "d/large", "contestant": "m", "states": 9}
    about |= {"mse_ff": 4.0, "mse_lmcut": 9.0, "sigma": 1.0, "nll": 1.0, "calibration_error": 0.1}
    rows: list[Row] = [{**about, "seed": seed, "status": "compared", "mse": 2.0} for seed in range(2)]
    rows.append({**about, "seed": 2, "status": "error"})
    assert accuracy_table(rows)[1] == ["d/large", "9", "4", "9", "2 ± 0 (2 of 3 seeds)"]
    assert calibration_table(rows)[1][2] == "1 ± 0 (2 of 3 seeds)"
    other: Row = {**rows[0], "contestant": "n", "states": 12}
    assert accuracy_table([*rows[:2], other])[1][-1] == "2 (12 states)"


# --- effort ---------------------------------------------------------------------------------------------


def test_one_that_solves_nothing_does_not_take_the_figures_of_the_others() -> None:
    rows = [*searches("a", 4), *searches("b", 4, expansions=5), *searches("none", 4, status="time_limit")]
    table = effort_table(rows)
    assert table[1][0] == "expansions, geometric mean (4 starts solved by all that solve any)"
    assert table[1][1:] == ["31.6", "5", "–"]
    assert not any(set(line[1:]) == {"–"} for line in table)


def test_pairs_where_nothing_is_solved_by_all() -> None:
    """a solves all, b the first two and c the last two starts, with twice and half the expansions."""
    twice = [{**row, "expansions": 2 * row["expansions"]} for row in searches("b", 2)]
    half = [{**row, "expansions": row["expansions"] / 2} for row in searches("c", 4)[2:]]
    table = effort_table([*searches("a", 4), *twice, *half])
    assert table[1] == [
        "expansions / that of a, geometric mean (starts that both solved)",
        *("1 (4)", "2 (2)", "0.50 (2)"),
    ]
    assert table[2][1:] == ["1 (4)", "1 (2)", "1 (2)"]
    assert len(table) == 4  # and no line of dashes
    assert log_ratios(twice, half, "expansions") == []


def test_pairs_of_plans_without_a_step() -> None:
    """Starts that are goals already: counts below 1 count as 1."""
    at_goal = {"expansions": 0, "plan_length": 0}
    table = effort_table([*searches("a", 4, **at_goal), *searches("b", 1, **at_goal), *searches("c", 4)[1:2]])
    assert [line[1:] for line in table[1:3]] == [["1 (4)", "1 (1)", "10 (1)"], ["1 (4)", "1 (1)", "10 (1)"]]


def test_a_start_is_solved_with_every_seed_of_a_contestant() -> None:
    rows = [*searches("a", 3), *searches("b", 3, seeds=2)[:-1]]
    assert solved_by_all(rows, ["a", "b"]) == {("d/i", "0"), ("d/i", "1")}


# --- intervals ------------------------------------------------------------------------------------------


def test_intervals_of_means_over_seeds() -> None:
    found = share_of([1.0, 2.0, 3.0])
    assert found is not None and found.interval is not None
    assert found.interval == pytest.approx((2 - 4.303 / math.sqrt(3), 2 + 4.303 / math.sqrt(3)))
    two = share_of([1.0, 3.0])
    assert two is not None and two.interval is None
    many = share_of([0.0, 1.0] * 50)
    assert many is not None and many.interval == pytest.approx((0.4015, 0.5985), abs=1e-3)


def test_cells_with_intervals() -> None:
    percents = share_of([90.0, 95.0, 100.0])
    assert share(percents) == "95 ± 5 [82.6, 107.4]"
    assert share(percents, within=(0, 100)) == "95 ± 5 [82.6, 100]"
    assert share(percents, note="3 of 5 seeds", within=(0, 100)) == "95 ± 5 [82.6, 100] (3 of 5 seeds)"
    assert share(None, note="35 of 50") == "35 of 50" and share(None) == "–"
    assert share(share_of([-4000.0, -4000.0, -4000.0])) == "-4,000 ± 0 [-4,000, -4,000]"
