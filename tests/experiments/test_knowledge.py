"""Knowledge of a domain: what its file keeps, and how its steps share time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from hstar import container
from hstar.errors import ModelError, PlanError
from hstar.experiments import knowledge as module
from hstar.experiments.knowledge import SYMBOLIC, Knowledge, Step, load, steps_of, symbolic, with_model
from hstar.recipes import train
from hstar.search.config import SearchConfig
from hstar.search.result import Result
from hstar.spaces.lazy_task import LazyTask
from hstar.spaces.relations import vocabulary
from labelled import generated, labelled
from mutations import attack

PLAN = ("unstack b2 b1", "put-down b2")


@dataclass
class Policy:
    """A candidate that needs no translation and does what a test tells it."""

    kind: ClassVar[str] = "policy"
    translated: ClassVar[bool] = False

    result: Result = field(default_factory=lambda: Result("incomplete"))
    name: str = "policy"
    family: str = "policy"
    limits: SearchConfig | None = None

    def to_parts(self) -> tuple[dict[str, Any], container.Tensors]:
        return {"name": self.name}, {"numbers": np.arange(3)}

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], tensors: container.Tensors) -> Policy:
        assert tensors["numbers"].tolist() == [0, 1, 2]
        return cls(name=header["name"])

    def run(self, problem: LazyTask, limits: SearchConfig) -> Result:
        self.limits = limits
        return self.result


@pytest.fixture
def problem(tmp_path: Path) -> LazyTask:
    task = generated(tmp_path, "blocksworld", blocks=4, seed=1)
    assert task.domain_file is not None and task.problem_file is not None
    return LazyTask(task.domain_file, task.problem_file)


def known(problem: LazyTask, *steps: Step) -> Knowledge:
    return Knowledge(vocabulary(problem.lifted), steps)


def test_a_file_keeps_models_and_other_kinds(
    problem: LazyTask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(module.CANDIDATES, "policy", (__name__, "Policy"))
    model = train("wl", labelled([problem.translated().with_unit_cost()]), least_states=1)
    steps = (Step(Policy(), 5.0), *steps_of(with_model("wl", model)[:2]))
    path = tmp_path / "knowledge.hstar"
    Knowledge(vocabulary(problem.lifted), steps, {"problems": 1}, interrupted=True).save(path)
    read = load(path)
    assert [step.candidate.name for step in read.steps] == ["policy", "wl-gbfs", "wl-ff", "lama-first"]
    assert [step.seconds for step in read.steps] == [5.0, 25.0, 12.0, None]
    assert read.learned and read.interrupted and read.summary == {"problems": 1}
    assert [step.candidate.family for step in read.steps] == ["policy", "gbfs", "lazy", SYMBOLIC]
    again = tmp_path / "again.hstar"
    read.save(again)
    assert again.read_bytes() == path.read_bytes()
    for step in read.steps[1:]:
        assert step.candidate.run(problem, SearchConfig()).solved


def test_the_steps_share_a_time_limit(problem: LazyTask) -> None:
    first, second = Policy(), Policy(name="second")
    result, rows = known(problem, Step(first, 15.0), Step(second)).run(problem, SearchConfig(time_limit=600))
    assert (result.status, [row["step"] for row in rows]) == ("incomplete", ["policy", "second"])
    assert first.limits is not None and second.limits is not None
    assert first.limits.cpu_time_limit == pytest.approx(150, rel=0.05)  # 15 s of 60 s
    assert (second.limits.cpu_time_limit, second.limits.time_limit) == (None, pytest.approx(600, rel=0.05))
    known(problem, Step(first, 15.0)).run(problem, SearchConfig())
    assert (first.limits.cpu_time_limit, first.limits.time_limit) == (15.0, None)
    known(problem, Step(first, 15.0), Step(second)).run(problem, SearchConfig(cpu_time_limit=6))
    assert first.limits.cpu_time_limit == pytest.approx(1.5, rel=0.05)
    assert second.limits.cpu_time_limit == pytest.approx(6, rel=0.05)


def test_a_task_is_translated_for_steps_that_need_it(problem: LazyTask) -> None:
    (net,) = steps_of([])
    plan = symbolic()[-1].run(LazyTask(problem.domain, problem.problem), SearchConfig()).plan
    assert plan is not None
    policy = Policy(Result("solved", plan, len(plan), len(plan)))
    result, rows = known(problem, Step(policy, 9.0), net).run(problem, SearchConfig())
    assert result.plan == plan and not problem.is_translated and len(rows) == 1
    result, rows = known(problem, Step(Policy(), 9.0), net).run(problem, SearchConfig())
    assert result.solved and problem.is_translated
    assert [row["step"] for row in rows] == ["policy", "translation", "lama-first"]


def test_a_translation_that_is_stopped_leaves_the_other_steps(problem: LazyTask) -> None:
    (net,), policy = steps_of([]), Policy()
    result, rows = known(problem, net, Step(policy, 9.0)).run(problem, SearchConfig(time_limit=0.0))
    assert (rows[0]["step"], rows[0]["status"]) == ("translation", "time_limit")
    assert policy.limits is not None and result.status == "incomplete"


def test_a_wrong_plan_of_a_policy_is_seen(problem: LazyTask) -> None:
    policy = Policy(Result("solved", PLAN, 2, 2))
    with pytest.raises(PlanError, match="policy returned an invalid plan"):
        known(problem, Step(policy, 9.0)).run(problem, SearchConfig())


def test_damaged_knowledge_is_refused(problem: LazyTask, tmp_path: Path) -> None:
    path = tmp_path / "knowledge.hstar"
    known(problem, *steps_of([])).save(path)
    header, _ = container.read(path, module.KIND, module.FORMAT_VERSION)
    step = header["steps"][0]
    for steps in ([], [{}], [{**step, "kind": "oracle"}], [{**step, "candidate": {}}], 3):
        container.write(path, module.KIND, module.FORMAT_VERSION, {**header, "steps": steps}, {})
        with pytest.raises(ModelError, match=r"knowledge\.hstar: damaged knowledge"):
            load(path)


def test_mutated_knowledge_is_read_or_refused_in_one_line(problem: LazyTask, tmp_path: Path) -> None:
    model = train("wl", labelled([problem.translated().with_unit_cost()]), least_states=1)
    path = tmp_path / "knowledge.hstar"
    known(problem, *steps_of(with_model("wl", model)[:1])).save(path)
    found = attack(path, load, 300, seed=1)
    assert set(found) == {"read", "refused"}, found
