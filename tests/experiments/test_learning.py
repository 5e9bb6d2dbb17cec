"""The selection of `hstar learn`: which candidates become steps, and what learns from plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hstar.experiments import learning
from hstar.experiments.job import Job
from hstar.experiments.knowledge import BUDGETS, SYMBOLIC, TRIAL_S, Candidate, SearchCandidate, symbolic
from hstar.experiments.learning import Learning, Score, in_words
from hstar.experiments.problems import ProblemSet, make_problem
from hstar.experiments.protocol import labelling_jobs
from hstar.experiments.store import Store
from hstar.generators import GENERATORS
from hstar.sampling.optimal import Optimal
from hstar.spaces.pddl import parse_task, read_task
from hstar.spaces.relations import Vocabulary, vocabulary
from hstar.spaces.validate import read_plan


@dataclass(frozen=True)
class Named(SearchCandidate):
    """A candidate of a family that a test names."""

    family: str = "gbfs"  # type: ignore[assignment]


class Policy(Named):
    """The same without a translation."""

    translated = False


def named(name: str, family: str) -> Candidate:
    kind = Policy if family == "policy" else Named
    return kind(name, "lazy", ("ff",), {}, None, family)


def started(store: Store, problems: Sequence[ProblemSet] = (), words: Vocabulary | None = None) -> Learning:
    def jobs(chosen: Sequence[ProblemSet], limit: float) -> Any:
        (found,) = labelling_jobs("labels", [[one] for one in chosen], Optimal(limit, 1 << 30)).values()
        return found

    return Learning(words or Vocabulary("d", (), (), ()), store, problems, jobs, budget=60.0, jobs=2)


@pytest.mark.parametrize(
    ("scores", "steps"),
    [
        # All is easy: a candidate with learning must solve as much, and there is one of each family.
        (
            [("lazy-ff", 5, 0.1), ("greedy", 5, 0.2), ("greedy2", 5, 0.3), ("beside", 5, 0.4)],
            ["greedy", "beside"],
        ),
        ([("lazy-ff", 5, 0.1), ("greedy2", 5, 0.3), ("greedy", 4, 9.0), ("beside", 2, 9.0)], ["greedy2"]),
        # All is hard: it must be faster, too; then another family that solves half of it has a step.
        (
            [("greedy", 5, 10.0), ("lazy-ff", 5, 11.0), ("beside", 3, 12.0), ("greedy2", 5, 13.0)],
            ["greedy", "beside"],
        ),
        ([("lazy-ff", 5, 11.0), ("beside", 5, 12.0), ("greedy", 5, 13.0), ("greedy2", 4, 14.0)], ["lazy-ff"]),
        ([("beside", 5, 14.0), ("lazy-ff", 4, 11.0), ("greedy", 4, 13.0), ("greedy2", 3, 14.0)], ["beside"]),
    ],
)
def test_steps_are_the_best_of_each_family_where_learning_helps(
    tmp_path: Path, scores: list[tuple[str, int, float]], steps: list[str]
) -> None:
    with Store(tmp_path) as store:
        one = started(store)
        families = {"greedy": "gbfs", "greedy2": "gbfs", "beside": "lazy", "lazy-ff": SYMBOLIC}
        one.candidates = [named(name, families[name]) for name, _, _ in scores]
        one.rounds = [[Score(name, solved, 5, seconds) for name, solved, seconds in scores]]
        assert [step.candidate.name for step in one.knowledge().steps] == [*steps, "lama-first"]
        assert ("symbolic, since learning does not help" in in_words(one)) == (steps == ["lazy-ff"])


def test_what_solves_nothing_does_not_help(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        one = started(store)
        one.candidates = [named("greedy", "gbfs"), named("rules", "policy"), named("lazy-ff", SYMBOLIC)]
        one.rounds = [[Score(each.name, 0, 5, 3.0) for each in one.candidates]]
        assert not one.knowledge().learned


def test_where_nobody_solves_anything_smaller_problems_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path) as store:
        texts = [GENERATORS.get("blocksworld")(blocks=3, seed=seed) for seed in range(4)]
        problems = [make_problem(f"p{i}", *pair, store) for i, pair in enumerate(texts)]
        one = started(store, problems)
        one.candidates = [named("greedy", "gbfs"), *one.candidates]

        def rows(jobs: Sequence[Job], share: float, what: str) -> list[dict[str, Any]]:
            """Only greedy search solves something, and only the second problem."""
            result = {"steps": [], "plan_length": 4, "expansions": 5}
            able = (problems[1].name, "greedy")
            return [
                {
                    **job.labels,
                    **result,
                    "status": "solved" if learning._key(job.labels) == able else "time_limit",
                }
                for job in jobs
            ]

        monkeypatch.setattr(one, "_jobs", rows)
        one._select()
        assert [[score.solved for score in scores] for scores in one.rounds] == [
            [0, 0, 0],
            [0, 0, 0],
            [1, 0, 0],
            [1, 0],
        ]
        assert [step.candidate.name for step in one.knowledge().steps] == ["greedy", "lama-first"]


@pytest.mark.parametrize("solved", [2, 3])
def test_a_policy_comes_first_if_it_solves_half(tmp_path: Path, solved: int) -> None:
    with Store(tmp_path) as store:
        one = started(store)
        scores = [Score("greedy", 5, 5, 1.0), Score("lazy-ff", 5, 5, 2.0), Score("rules", solved, 5, 30.0)]
        families = ("gbfs", SYMBOLIC, "policy")
        one.candidates = [named(score.name, family) for score, family in zip(scores, families, strict=True)]
        one.rounds = [scores]
        steps = one.knowledge().steps
        names = [step.candidate.name for step in steps]
        assert names == ["rules"] * (solved == 3) + ["greedy", "lama-first"]
        assert (steps[0].seconds == TRIAL_S) == (solved == 3)  # less than symbolic search


def test_a_policy_alone_does_not_make_worse_searches_worth_a_step(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        one = started(store)
        scores = [Score("lazy-ff", 5, 5, 2.0), Score("greedy", 4, 5, 1.0), Score("rules", 3, 5, 30.0)]
        families = (SYMBOLIC, "gbfs", "policy")
        one.candidates = [named(score.name, family) for score, family in zip(scores, families, strict=True)]
        one.rounds = [scores]
        steps = [(step.candidate.name, step.seconds) for step in one.knowledge().steps]
        assert steps == [("rules", TRIAL_S), ("lazy-ff", BUDGETS[0]), ("lama-first", None)]
        assert "the other steps are symbolic, since learning does not help" in in_words(one)


def test_a_run_that_the_time_was_too_short_for_counts_as_in_the_round_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path) as store:
        texts = [GENERATORS.get("blocksworld")(blocks=3, seed=seed) for seed in range(16)]
        problems = [make_problem(f"p{i}", *pair, store) for i, pair in enumerate(texts)]
        one = started(store, problems)
        one.candidates = [named("greedy", "gbfs"), *one.candidates]
        calls = list[int]()

        def rows(jobs: Sequence[Job], share: float, what: str) -> list[dict[str, Any]]:
            """Greedy search solves the smaller problem in twice the time, and then all time is up."""
            calls.append(len(jobs))
            result = {"steps": [], "plan_length": 4, "expansions": 5}
            if len(calls) == 1:
                able = [job.labels["contestant"] == "lazy-ff" for job in jobs]
            else:
                jobs = [job for job in jobs if job.labels["instance"] == problems[-2].name]
                able = [True for _ in jobs]
            status = ["solved" if solved else "time_limit" for solved in able]
            return [{**job.labels, **result, "status": each} for job, each in zip(jobs, status, strict=True)]

        monkeypatch.setattr(one, "_jobs", rows)
        one._select()
        assert calls == [6, 2]  # three candidates on two problems, then one
        assert [(score.name, score.solved) for score in one.rounds[-1]] == [("lazy-ff", 2), ("greedy", 1)]
        assert not one.knowledge().learned


def test_without_a_selection_a_model_is_used_beside_ff(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        one = started(store)
        assert [step.candidate.name for step in one.knowledge(interrupted=True).steps] == ["lama-first"]
        one.candidates += [named("greedy", "gbfs"), named("beside", "lazy")]
        assert [step.candidate.name for step in one.knowledge().steps] == ["beside", "lama-first"]
        assert in_words(one).endswith("not compared with others")


def from_plans(domain: Path, pairs: Sequence[tuple[Path, Path]]) -> list[Candidate]:
    """Runs in a process of its own: a candidate that tells how many actions the plans have."""
    actions = 0
    for problem, plan in pairs:
        assert read_task(domain, problem).domain.name == "blocksworld-4ops"
        actions += len(read_plan(plan))
    return [SearchCandidate(f"rules-of-{actions}", "lazy", ("ff",), {"preferred": True})]


def fails(domain: Path, pairs: Sequence[tuple[Path, Path]]) -> list[Candidate]:
    return [][1]


def hangs(domain: Path, pairs: Sequence[tuple[Path, Path]]) -> list[Candidate]:
    while True:
        pass


def test_what_learns_from_plans_is_a_candidate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "LEARNERS", {})
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))  # of the processes
    monkeypatch.setattr(learning, "TRAINED", 0.5)
    known = {"rules": (__name__, "from_plans"), "lost": (__name__, "hangs"), "bug": (__name__, "fails")}
    monkeypatch.setattr(learning, "PLAN_LEARNERS", known)
    with Store(tmp_path) as store:
        texts = [GENERATORS.get("blocksworld")(blocks=3, seed=seed) for seed in range(2)]
        problems = [make_problem(f"p{i}", *pair, store) for i, pair in enumerate(texts)]
        one = started(store, problems, vocabulary(parse_task(*texts[0])))
        one.budget = 40.0
        one.run()
        rules = [each.name for each in one.candidates if each.name.startswith("rules")]
        assert len(rules) == 1 and rules[0] != "rules-of-0"
        assert one.notes == ["no lost: out of time", "no bug: IndexError: list index out of range"]
        assert {score.name for score in one.rounds[0]} == {*rules, *(each.name for each in symbolic())}
        assert all(score.solved == 1 for score in one.rounds[0])  # the largest problem


def test_easy_problems_are_judged_by_the_search_that_they_need() -> None:
    scores = [
        Score("fails", 4, 5, 0.1, 1.0),
        Score("slow", 5, 5, 30.0, 1.0),
        Score("faster", 5, 5, 20.0, 9.0),
        Score("searches", 5, 5, 0.1, 3.0),
        Score("guided", 5, 5, 0.4, 1.07),
        Score("as-good", 5, 5, 0.3, 1.02),
    ]
    ranked = [score.name for score in sorted(scores, key=lambda score: score.rank)]
    assert ranked == ["guided", "as-good", "searches", "faster", "slow", "fails"]
