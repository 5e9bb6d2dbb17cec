"""Coverage, spread and paired comparisons, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from hstar.experiments.statistics import (
    Share,
    calibration_of,
    changes,
    compare,
    coverage_of,
    curve,
    geometric,
    grouped,
    instances_by_domain,
    mean,
    of_step,
    rate,
    searches_of,
    sign_test,
    solved_by_all,
)
from hstar.experiments.store import Store
from hstar.experiments.tables import (
    accuracy_table,
    coverage_table,
    effort_table,
    evaluations_table,
    latex,
    markdown,
    probability,
    summarise,
)

from .runs import compared_run, made_up_run, training

Rows = list[dict[str, object]]


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    with Store(made_up_run(tmp_path / "run"), read_only=True) as store:
        return list(store.rows())


def test_coverage_is_a_mean_of_means_with_spread(rows: Rows) -> None:
    searches = searches_of(rows)
    runs, domains = grouped(searches, "contestant"), instances_by_domain(searches)
    assert domains == {"blocks": ["blocks/1", "blocks/2"], "ferry": ["ferry/1"]}
    spread = (100 - 200 / 3) / 2**0.5
    learned = Share(pytest.approx(100 * 5 / 6), pytest.approx(spread))
    assert coverage_of(runs["learned"], domains) == (learned, None)
    assert coverage_of(runs["ff"], {"blocks": ["blocks/1"]}) == (Share(pytest.approx(200 / 3)), None)
    together = (200 / 3 + 100 / 3) / 2  # domains weigh the same
    assert coverage_of(runs["ff"], domains) == (Share(pytest.approx(together)), None)
    assert coverage_of(runs["ff"], {"grid": ["grid/1"]}) == (None, None)
    assert coverage_of([], domains) == (None, None)


def test_pairs_are_starts_with_seeds_together(rows: Rows) -> None:
    runs = grouped(searches_of(rows), "contestant")
    coverage, expansions, *_ = compare(runs["learned"], runs["ff"])
    # ff: two, two and one of three starts; learned: all, and half of the third ones.
    assert (coverage.better, coverage.worse, coverage.equal) == (4, 0, 5)
    assert coverage.chance == 0.125
    assert (expansions.better, expansions.worse, expansions.equal) == (5, 0, 0)
    back, *_ = compare(runs["ff"], runs["learned"])
    assert (back.better, back.worse) == (coverage.worse, coverage.better)
    same = compare(runs["ff"], runs["ff"])
    assert all((paired.better, paired.worse, paired.chance) == (0, 0, 1.0) for paired in same)


def test_sign_test() -> None:
    assert sign_test(0, 0) == 1.0
    assert sign_test(0, 5) == sign_test(5, 0) == 2 / 32
    assert sign_test(1, 7) == 2 * (1 + 8) / 256
    assert sign_test(3, 3) == 1.0
    # The approximation takes over without a jump.
    assert sign_test(950, 1051) == pytest.approx(sign_test(950, 1050), rel=0.1)
    assert sign_test(940, 1061) == pytest.approx(0.0073, rel=0.02)
    assert sign_test(50_000, 50_001) == 1.0


def test_changes_between_runs(tmp_path: Path, rows: Rows) -> None:
    with Store(made_up_run(tmp_path / "second", better=True), read_only=True) as store:
        second = [row for row in store.rows() if (row["instance"], row["contestant"]) != ("ferry/1", "ff")]
    found = {change.contestant: change for change in changes(rows, second)}
    assert found["learned"].gained == ["blocks/1 p3", "blocks/2 p3", "ferry/1 p3"]
    assert found["learned"].lost == []
    assert found["learned"].paired[0].chance == 0.25
    assert found["ff"].missing == ["ferry/1 p1", "ferry/1 p2", "ferry/1 p3"]
    back = {change.contestant: change for change in changes(second, rows)}
    assert back["learned"].lost == found["learned"].gained
    assert changes(rows, []) == []


def test_means_and_curves(rows: Rows) -> None:
    assert mean([]) is None
    assert geometric([]) is None
    assert geometric([1, 100]) == pytest.approx(10)
    assert geometric([0, 100]) == pytest.approx(10)  # at least one expansion
    ff = grouped(searches_of(rows), "contestant")["ff"]
    assert curve(ff, "expansions") == [100, 100, 100, 200, 200]
    assert rate(ff) == pytest.approx(2000)
    assert solved_by_all(searches_of(rows), ["ff", "learned"]) == {
        ("blocks/1", "p1"),
        ("blocks/1", "p2"),
        ("blocks/2", "p1"),
        ("blocks/2", "p2"),
        ("ferry/1", "p1"),
    }


def test_tables(rows: Rows) -> None:
    table = coverage_table(rows)
    assert table[0] == ["", "learned", "ff"]
    assert table[1] == ["blocks/1", "83.3 ± 23.6", "66.7"]
    titles = ["blocks, mean", "ferry/1", "**mean over domains**", "jobs that ended in an error"]
    assert [line[0] for line in table[3:]] == titles
    assert table[-1][1:] == ["0", "1"]
    text = summarise(rows)
    assert "| expansions, geometric mean (5 starts solved by all) | 13.2 | 132 |" in text
    assert "- ferry/1 p2, ff: </script>" in text
    assert "| blocks/1 | states | 90 | 0.25 | 0.50 | 50 |" in text


def test_accuracy_by_domain_and_data(tmp_path: Path) -> None:
    with Store(compared_run(tmp_path / "run"), read_only=True) as store:
        rows = list(store.rows())
    assert accuracy_table(rows) == [
        ["", "states", "ff", "lmcut", "wl", "belief"],
        ["blocks/test", "120", "9", "16", "4", "2 ± 1.41"],
        ["ferry/test", "120", "9", "16", "0.50", "1.50 ± 0.71"],
    ]
    # Another set of data of the same domain is another line, not another seed.
    larger = {**of_step(rows, "accuracy")[0], "instance": "blocks/large", "mse": 8.0}
    assert accuracy_table([*rows, larger])[-1] == ["blocks/large", "120", "9", "16", "8", "–"]


def test_calibration_is_a_mean_over_seeds(tmp_path: Path) -> None:
    with Store(compared_run(tmp_path / "run"), read_only=True) as store:
        found = grouped(of_step(store.rows(), "accuracy"), "contestant")
    assert calibration_of(found["belief"]) == [(0.25, 0.375), (0.5, 0.5), (0.75, 0.75)]
    assert calibration_of(found["wl"]) == []
    assert calibration_of(found["broken"]) == []


def test_a_model_that_is_only_trained_takes_nothing_from_the_others(tmp_path: Path) -> None:
    place = {"domain": "blocks", "instance": "blocks/1", "contestant": "for its accuracy", "seed": 0}
    with Store(made_up_run(tmp_path / "run")) as store:
        training(store, {**place, "seed": 7}, [1.0])
        rows = list(store.rows())
    assert coverage_table(rows)[0] == ["", "learned", "ff"]
    effort = effort_table(rows)
    assert effort[0] == ["", "learned", "for its accuracy", "ff"]
    title = "expansions, geometric mean (5 starts solved by all)"
    assert effort[1] == [title, "13.2", "–", "132"]
    assert effort[-1] == ["training, mean seconds", "12", "12", "–"]


def test_evaluations_of_unsolved_searches_count_unless_the_clock_ended_them(rows: Rows) -> None:
    ff = [row for row in searches_of(rows) if row["contestant"] == "ff" and row["domain"] == "blocks"]
    limited = [
        {**row, "status": "evaluation_limit", "evaluations": 900}
        for row in ff
        if row["status"] == "time_limit"
    ]
    assert len(limited) == 2
    assert evaluations_table(ff) == [["", "ff"], ["blocks", "4 of 6"]]
    counted = [row for row in ff if row["status"] == "solved"]
    assert evaluations_table([*counted, *limited]) == [["", "ff"], ["blocks", "500"]]


def test_cells_that_formats_would_misread() -> None:
    table = [["", "a_b & c"], ["x|y", "1 ± 2"], ["**all**", "50%"]]
    assert markdown(table).splitlines()[2] == r"| x\|y | 1 ± 2 |"
    assert latex(table).splitlines()[2:7] == [
        r" & a\_b \& c \\",
        r"\midrule",
        r"x|y & 1 $\pm$ 2 \\",
        r"\textbf{all} & 50\% \\",
        r"\bottomrule",
    ]
    assert [probability(value) for value in (0.0001, 0.0452)] == ["< 0.001", "0.045"]
