"""Learning from the goal alone: it becomes stronger, survives kills, and its options mean what they say."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from hstar.errors import InputError, UnsupportedError
from hstar.models.puzzle_identity import FEATURES
from hstar.models.trained_model import TrainedModel
from hstar.recipes import RECIPES, train
from hstar.recipes.learn_heuristic import LearnHeuristicPrac
from hstar.recipes.likely_admissible import LikelyAdmissibleOptions
from hstar.recipes.likely_admissible_spaces import Attempt, PuzzleSpace
from hstar.search import databases
from hstar.search.solve import solve
from hstar.spaces.puzzle import Puzzle
from hstar.spaces.puzzles import parse_puzzle
from hstar.spaces.tiles import mirrored
from hstar.training.loop import torch_threads
from oracles import puzzles as oracle
from puzzle_models import network as network_of

SIZE = parse_puzzle("tiles:2x3")
SMALL: dict[str, Any] = {
    "iterations": 3,
    "tasks": 4,
    "least_solved": 3,
    "nodes": 20_000,
    "max_steps": 30,
    "hidden": 8,
    "planner_steps": 30,
    "known_steps": 50,
    "samples": 0,
    "loss_samples": 0,
}


def options_of(puzzle: Puzzle, profile: str | None) -> LikelyAdmissibleOptions:
    """The options of a profile for a puzzle."""
    found: LikelyAdmissibleOptions = RECIPES.get("likely-admissible").check("puzzle", profile, {}, puzzle)[
        "recipe"
    ]
    return found


def learned(progress: Any = None, checkpoint: Path | None = None, **options: Any) -> TrainedModel[Any]:
    return train("likely-admissible", SIZE, progress=progress, checkpoint=checkpoint, **{**SMALL, **options})


def told(model: TrainedModel[Any]) -> list[dict[str, Any]]:
    """What happened, without times."""
    return [{name: v for name, v in row.items() if name != "time_s"} for row in model.summary["curve"]]


def same(one: TrainedModel[Any], two: TrainedModel[Any]) -> bool:
    weights = all(np.array_equal(one.tensors[name], two.tensors[name]) for name in one.tensors)
    return weights and told(one) == told(two)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"samples": 20, "loss_samples": 2},
        {"uncertainty": "mc-dropout"},
        {"uncertainty": "ensemble"},
        {"tasks_by": "length-inc", "length_inc": 2, "outputs": 1, "dropout": 0.0},
    ],
    ids=lambda options: ",".join(map(str, options.values())) or "default",
)
def test_a_run(options: dict[str, Any]) -> None:
    model = learned(iterations=2, **options)
    rows = told(model)
    assert [row["iteration"] for row in rows] == [1, 2]
    assert rows[0]["solved"] == 4 and (model.estimate.outputs == 2) == (options.get("outputs", 2) == 2)
    if "tasks_by" not in options:
        assert rows[0]["longest"] == 1, "one random move"
    assert ("known_steps" in rows[1]) == ("tasks_by" not in options)
    alpha = 0.9 if model.estimate.outputs == 2 else None
    assert solve(SIZE.walk(3, 1), network_of(model, alpha), "idastar", max_evaluations=10**6).solved


@pytest.mark.parametrize("name", ["pancake:5", "blocks:4"])
def test_other_puzzles(name: str) -> None:
    size = parse_puzzle(name)
    model = train("likely-admissible", size, **{**SMALL, "iterations": 2})
    assert model.summary["solved"] >= 4 and model.space.puzzle == size
    network = network_of(model, 0.9)
    assert all(
        solve(size.walk(2, seed), network, "idastar", max_evaluations=10**6).solved for seed in range(3)
    )


def test_a_floor() -> None:
    """Off unless asked for with one-hot inputs; the model keeps it."""
    assert learned(iterations=1).lower is None
    model = learned(iterations=2, floor=True)
    assert model.lower == FEATURES and model.recipe_config["floor"] is True
    states = [SIZE.random(seed).start for seed in range(20)]
    manhattan = [SIZE.core.value("manhattan", state) for state in states]
    assert (network_of(model, 0.99).values(states) >= manhattan).all()


@pytest.mark.parametrize(("floor", "kept"), [(None, True), (True, True), (False, False)])
def test_a_floor_of_databases(floor: bool | None, kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """On unless it is turned off."""
    few: list[Any] = [[[1, 2, 3]], [[4, 5]]]
    monkeypatch.setitem(databases.KNOWN, "tiles-2x3", few)
    options = LikelyAdmissibleOptions(**SMALL, inputs="databases", floor=floor)
    assert (PuzzleSpace(SIZE, options).lower == FEATURES) is kept


def test_mirror_images_are_learned_too() -> None:
    size = parse_puzzle("tiles:3x3")
    model = train("likely-admissible", size, **{**SMALL, "iterations": 1, "mirror": True})
    assert model.summary["states"] == 3, "the goal, and the two moves from it, of which one is enough"
    options = LikelyAdmissibleOptions(**SMALL, mirror=True)
    learner = LearnHeuristicPrac(PuzzleSpace(size, options), options)
    for _ in range(3):
        learner.iterate()
    known = dict.fromkeys(zip(learner.buffer.states, learner.buffer.costs.tolist(), strict=True))
    assert len(known) > 10
    assert all((mirrored(state), cost) in known for state, cost in known)


def test_one_seed_fixes_a_run() -> None:
    one, two, other = learned(), learned(jobs=3), learned(seed=1)
    assert same(one, two) and not same(one, other)


@pytest.mark.parametrize("quantile", [0.95, 1.0])
def test_a_killed_run_goes_on_as_if_nothing_had_been(tmp_path: Path, quantile: float) -> None:
    whole, path = learned(quantile=quantile), tmp_path / "run.part"

    class KilledError(Exception):
        pass

    for stop in (2, 3):  # during the second and the third iteration

        def kill(record: Any, stop: int = stop) -> None:
            if record.iteration == stop and "learns" in record.doing:
                raise KilledError

        with pytest.raises(KilledError):
            learned(kill, path, quantile=quantile)
    seen: list[int] = []
    found = learned(lambda record: seen.append(record.iteration), path, quantile=quantile)
    assert same(whole, found) and min(seen) == 3
    assert same(whole, learned(lambda record: seen.append(-1), path, quantile=quantile)), (
        "all is in the checkpoint"
    )
    assert -1 not in seen
    with pytest.raises(InputError, match=r"run.part: a checkpoint of another training \(seed: 0, now 5\)"):
        learned(None, path, quantile=quantile, seed=5)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="damaged"):
        learned(None, path, quantile=quantile)


def test_ctrl_c_says_how_far_it_came() -> None:
    def stop(record: Any) -> None:
        if record.iteration == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="1 iterations done"):
        learned(stop)


def test_alpha_falls_while_too_few_are_solved_and_beta_stays() -> None:
    """With one evaluated state for a task nothing is solved but what starts in the goal."""
    rows = told(learned(nodes=1))
    assert [row["solved"] for row in rows] == [0, 0, 0]
    assert [row["alpha"] for row in rows] == pytest.approx([0.99, 0.94, 0.89])
    assert {row["beta"] for row in rows} == {0.05}
    lowest = told(learned(nodes=1, alpha=0.53))
    assert [row["alpha"] for row in lowest] == pytest.approx([0.53, 0.5, 0.5])


def test_alpha_comes_back_while_all_are_solved() -> None:
    """Four tasks, of which two are enough: it stays while some are not solved, and ends where it began."""

    class Half(PuzzleSpace):
        solved: ClassVar[Any] = iter([0, 0, 3, 4, 4, 4])

        def solve(self, tasks: Any, *given: Any) -> Any:
            attempts, solved = list(super().solve(tasks, *given)), next(self.solved)
            return iter([*attempts[:solved], *[Attempt(None, 1)] * (len(tasks) - solved)])

    options = LikelyAdmissibleOptions(**{**SMALL, "iterations": 6, "least_solved": 2}, regain=True)
    with torch_threads(1):
        learner = LearnHeuristicPrac(Half(SIZE, options), options)
        alphas = []
        for _ in range(6):
            learner.iterate()
            alphas.append(learner.alpha)
    assert alphas == pytest.approx([0.94, 0.89, 0.89, 0.94, 0.99, 0.99])


def test_beta_falls_while_the_unknown_stays() -> None:
    """By gamma, unless all was learned or it is the first iteration."""
    gamma = (1e-5 / 0.05) ** (1 / 3)
    never = told(learned(kappa=1e-9, epsilon=1e-3))
    assert [row["beta"] for row in never] == pytest.approx([0.05, 0.05, 0.05 * gamma])
    always = told(learned(epsilon=1e9))
    assert {row["beta"] for row in always} == {0.05}
    assert [row["known_steps"] for row in always] == [50, 0, 0]


def test_a_spread_as_learned_everywhere() -> None:
    """From the first learning on; before it, it is 1 move."""
    options = LikelyAdmissibleOptions(**SMALL, quantile=1.0)
    learner = LearnHeuristicPrac(PuzzleSpace(SIZE, options), options)
    assert learner.switch == -math.inf
    with torch_threads(1):
        learner.iterate()
    assert learner.switch == math.inf and learner.history[0]["switch"] is None
    assert not same(learned(), learned(quantile=1.0))
    for wrong in (0, 1.01):
        with pytest.raises(InputError, match="quantile must be a number above 0, at most 1"):
            LikelyAdmissibleOptions(quantile=wrong)


@pytest.mark.slow
def test_tasks_become_harder_and_the_switch_follows() -> None:
    rows = told(learned(iterations=6, known_steps=200, planner_steps=100))
    assert max(row["mean_cost"] or 0 for row in rows[3:]) > 3 * rows[0]["mean_cost"]
    assert rows[-1]["switch"] > rows[0]["switch"]
    with torch_threads(1):
        options = LikelyAdmissibleOptions(**SMALL)
        learner = LearnHeuristicPrac(PuzzleSpace(SIZE, options), options)
        assert learner.switch == -math.inf
        for _ in range(2):
            learner.iterate()
        assert learner.switch == np.quantile(learner.buffer.costs, 0.95)
        # Every remembered cost is that of a plan: not below the true distance, with the goal among them.
        exact = oracle.distances(SIZE)
        for state, cost in zip(learner.buffer.states, learner.buffer.costs, strict=True):
            assert cost >= exact[state]
        assert SIZE.goal in learner.buffer.states


def test_profiles() -> None:

    def options(name: str, profile: str | None = None) -> Any:
        return options_of(parse_puzzle(name), profile)

    paper = options("tiles:4x4")
    assert (paper.iterations, paper.nodes, paper.hidden, paper.inputs) == (50, 64_000_000, 20, "one-hot")
    large = options("tiles:5x5")
    assert (large.iterations, large.nodes, large.hidden, large.inputs) == (75, 140_000_000, 8, "databases")
    assert options("pancake:24").nodes == 86_000_000 and options("blocks:15").nodes == 620_000_000
    assert (paper.dropout, paper.floor, large.dropout, large.floor) == (0.025, None, 0.0, None)
    study = options("tiles:4x4", "efficiency")
    assert (study.iterations, study.nodes, study.outputs, study.dropout) == (20, 1_100_000, 1, 0.0)
    with pytest.raises(InputError, match="unknown profile of likely-admissible 'papers'"):
        options("tiles:4x4", "papers")


def test_one_output_has_no_dropout_unless_it_is_asked_for() -> None:
    assert LikelyAdmissibleOptions().dropout == 0.025
    assert LikelyAdmissibleOptions(outputs=1).dropout == 0.0
    assert LikelyAdmissibleOptions(outputs=1, dropout=0.1).dropout == 0.1
    assert LikelyAdmissibleOptions(dropout=0.0).dropout == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"iteration": 3}, "unknown option of likely-admissible 'iteration'.*did you mean 'iterations'"),
        ({"iterations": 0}, "iterations must be a whole number from 1 on, got 0"),
        ({"alpha": 1.0}, "alpha must be a number above 0, below 1, got 1.0"),
        ({"alpha": 0.4}, "least_alpha .* is above alpha"),
        ({"dropout": 1.0}, "dropout must be a number from 0 on, below 1"),
        ({"outputs": 3}, "outputs must be 1 or 2"),
        ({"epsilon": math.inf}, "epsilon must be a number above 0"),
        ({"tasks_by": "chance"}, "unknown tasks_by 'chance'"),
        ({"nodes": None}, "give nodes or task_time"),
        ({"inputs": "pixels"}, "unknown inputs 'pixels'"),
        ({"inputs": "databases"}, "no patterns are known for tiles-2x3"),
        ({"floor": 3}, "floor must be true or false, got 3"),
        ({"mirror": 1}, "mirror must be true or false, got 1"),
        ({"mirror": True}, "tiles-2x3 has no mirror images; only square tiles have"),
    ],
)
def test_mistakes(options: dict[str, Any], message: str) -> None:
    with pytest.raises((InputError, UnsupportedError), match=message):
        learned(**options)


@pytest.mark.slow
def test_the_8_puzzle_from_its_goal_alone() -> None:
    """Near-optimal plans, and fewer states than with the Manhattan distance."""
    size = parse_puzzle("tiles:3x3")
    model = train(
        "likely-admissible",
        size,
        profile="quick",
        iterations=16,
        nodes=500_000,
        known_steps=400,
        planner_steps=600,
        max_steps=100,
    )
    puzzles = [size.random(seed) for seed in range(40)]
    found = {}
    for alpha in (0.5, 0.95):
        network = network_of(model, alpha)
        found[alpha] = [solve(puzzle, network, "idastar", max_evaluations=10**7) for puzzle in puzzles]
        assert all(result.solved for result in found[alpha])
    manhattan = [solve(puzzle, "manhattan", "idastar") for puzzle in puzzles]

    def suboptimality(results: Any) -> float:
        pairs = zip(results, manhattan, strict=True)
        return float(np.mean([one.plan_cost / optimal.plan_cost - 1 for one, optimal in pairs]))

    def generated(results: Any) -> int:
        return sum(one.generated for one in results)

    assert suboptimality(found[0.5]) < 0.1 and suboptimality(found[0.95]) <= suboptimality(found[0.5]) + 0.01
    assert generated(found[0.5]) < generated(manhattan)
    assert generated(found[0.5]) < generated(found[0.95])


def test_the_profile_of_the_paper_has_what_it_prints() -> None:
    """Section 1 of the fact sheet; the program differs in the steps of Adam and in the softmax."""
    for name, hidden, nodes in (("tiles:4x4", 20, 64_000_000), ("pancake:24", 8, 86_000_000)):
        size = parse_puzzle(name)
        paper, program = (options_of(size, profile) for profile in ("paper", "program"))
        assert (paper.learning_rate, paper.known_learning_rate, paper.softmax) == (1e-3, 1e-2, "variance")
        assert (program.learning_rate, program.known_learning_rate) == (3.16e-4, 3.16e-3)
        assert program.softmax == "sd"
        assert (paper.epsilon, paper.kappa, paper.quantile) == (1.0, 0.64, 0.95)
        assert (paper.samples, paper.loss_samples, paper.regain, paper.mirror) == (100, 5, False, False)
        assert (paper.alpha, paper.alpha_step, paper.least_alpha) == (0.99, 0.05, 0.5)
        assert (paper.planner_steps, paper.known_steps, paper.known_batch) == (1000, 5000, 100)
        assert (paper.beta, paper.last_beta, paper.buffer) == (0.05, 1e-5, 25_000)
        assert (paper.hidden, paper.nodes, paper.tasks, paper.least_solved) == (hidden, nodes, 10, 6)
        same = ("learning_rate", "known_learning_rate", "softmax")
        assert replace(program, **{option: getattr(paper, option) for option in same}) == paper
    assert options_of(parse_puzzle("tiles:4x4"), None) == options_of(parse_puzzle("tiles:4x4"), "program")
