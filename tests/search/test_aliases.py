"""Aliases: what comes with hstar, a user's own, and the anytime search of several steps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import hstar
from conftest import DATA, Case, Cases
from hstar.cli import main
from hstar.errors import InputError, UnsupportedError
from hstar.search.aliases import aliases, find_alias
from hstar.search.heuristics import build
from hstar.search.result import Found


def test_lama_first_is_lazy_search_with_both_heuristics(case: Case) -> None:
    result = hstar.solve(case.task, alias="lama-first")
    plain = hstar.solve(case.task, ["ff", "landmarks"], "lazy", preferred=True, boost=1000, costs="one")
    assert (result.status, result.plan, result.evaluated) == (plain.status, plain.plan, plain.evaluated)
    assert result.solved == case.solvable


def test_lama_ends_with_an_optimal_plan(case: Case) -> None:
    plans: list[Found] = []
    result = find_alias("lama").run(case.task, on_plan=plans.append)
    if not case.solvable:
        assert (result.status, result.plan, plans) == ("unsolvable", None, [])
        return
    assert (result.status, result.plan_cost, result.lower_bound) == ("solved", case.optimum, case.optimum)
    costs = [found.plan_cost for found in plans]
    assert costs == sorted(set(costs), reverse=True), "each plan is cheaper than the last one"
    assert plans[-1].plan == result.plan


def test_limits_hold_for_all_steps_together(cases: Cases) -> None:
    case = cases["npuzzle-3x3"]
    result = find_alias("lama").run(case.task, hstar.SearchConfig(max_evaluations=3000))
    assert result.status == "evaluation_limit"
    assert result.evaluated <= 3000
    assert result.plan is not None, "the first step is over by then"
    assert result.lower_bound is None
    assert find_alias("lama").run(case.task, hstar.SearchConfig(max_evaluations=2)).plan is None


def test_paths_that_cost_too_much_are_given_up(cases: Cases) -> None:
    case = cases["zero-costs"]
    search = {"search": "lazy", "guide_weight": 1.0}
    assert hstar.solve(case.task, "ff", **search, max_cost=int(case.optimum) + 1).plan_cost == case.optimum
    assert hstar.solve(case.task, "ff", **search, max_cost=int(case.optimum)).status == "unsolvable"
    # Greedy search does not reopen, and so proves nothing.
    assert hstar.solve(case.task, "ff", "lazy", max_cost=int(case.optimum)).status == "incomplete"


def test_lazy_weighted_search_reopens(case: Case) -> None:
    """Without a weight on h it goes on by g, and what it finds last is optimal."""
    best, result = None, hstar.solve(case.task, "blind", "lazy", guide_weight=0.0)
    while result.solved:
        best = result.plan_cost
        result = hstar.solve(case.task, "blind", "lazy", guide_weight=0.0, max_cost=best)
    assert result.status == "unsolvable"
    assert best == (case.optimum if case.solvable else None)


def test_heuristics_see_the_costs_that_are_asked_for(cases: Cases) -> None:
    """The chain has two steps that cost 5 together, or one that costs more."""
    case = cases["chain"]
    start = np.array([case.oracle.initial], dtype=np.int32)
    h = {
        (name, costs): build(case.task, name, costs).evaluate(start)[0]
        for name in ("ff", "add", "landmarks")
        for costs in ("normal", "one", "plusone")
    }
    for name in ("ff", "add"):
        assert (h[name, "normal"], h[name, "one"], h[name, "plusone"]) == (5, 1, 7)
    assert h["landmarks", "one"] == 1
    assert h["landmarks", "plusone"] == h["landmarks", "normal"] + 1
    with pytest.raises(UnsupportedError, match="'lmcut' takes the costs of the task alone; use ff"):
        hstar.solve(case.task, "lmcut", "astar", costs="one")
    with pytest.raises(InputError, match="unknown costs 'two'"):
        hstar.solve(case.task, "ff", costs="two")


# --- files --------------------------------------------------------------------------------------


def test_users_add_their_own(cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HSTAR_CONFIG_DIR", str(tmp_path))
    assert "mine" not in aliases()
    text = '[mine]\ndescription = "A* with hmax"\nsearch = "astar"\nheuristic = "hmax"\n'
    (tmp_path / "aliases.toml").write_text(text)
    assert find_alias("mine").description == "A* with hmax (own)"
    case = cases["costs"]
    assert find_alias("mine").run(case.task).plan_cost == case.optimum
    other = tmp_path / "other.toml"
    other.write_text('[mine]\nsearch = "gbfs"\n')
    assert find_alias("mine", other).steps[0].search == "gbfs", "a file that is named comes last"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a\n", "cannot read aliases"),
        ("a = 3\n", "alias 'a': expected a table, got 3"),
        ("[a]\nsteps = []\n", "alias 'a': steps must be a list of tables"),
        ("[a]\nheuristic = 3\n", "alias 'a': search must be a name"),
        ("[a]\nprefered = true\n", "alias 'a': unknown option 'prefered'.*did you mean 'preferred'"),
        ("[a]\nguide_weight = -1\n", "alias 'a': guide_weight must be a number"),
    ],
)
def test_mistakes_name_file_and_alias(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "aliases.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        aliases(path)
    assert "aliases.toml" in str(caught.value)
    with pytest.raises(InputError, match=r"unknown alias 'lama-frist'.*did you mean 'lama-first'"):
        find_alias("lama-frist")


# --- on the command line ------------------------------------------------------------------------


def test_the_command_line_takes_aliases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem = str(DATA / "costs" / "problem.pddl")
    assert run(["solve", problem, "--alias", "lama", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["alias"], record["search"], record["heuristic"]) == ("lama", "lama", ["ff", "landmarks"])
    assert record["cost"] == record["lower_bound"] == 20
    own = tmp_path / "mine.toml"
    own.write_text('[mine]\nsearch = "astar"\nheuristic = "blind"\n')
    assert run(["solve", problem, "--alias", "mine", "--alias-file", str(own)]) == 0
    assert "cost = 20" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--alias", "lama", "--heuristic", "ff"], "--alias stands for --search and --heuristic"),
        (["--alias-file", "mine.toml"], "--alias-file is for --alias"),
        (["--alias", "lana"], "did you mean 'lama'"),
        (["--search", "gbfs", "--max-cost", "3"], "--max-cost is for lazy, not for gbfs"),
    ],
)
def test_mistakes_on_the_command_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["solve", str(DATA / "costs" / "problem.pddl"), *words]) == 33
    assert message in capsys.readouterr().err


def run(words: list[str]) -> int:
    """The exit code of `hstar` with these words."""
    with pytest.raises(SystemExit) as caught:
        main(words)
    return int(caught.value.code or 0)
