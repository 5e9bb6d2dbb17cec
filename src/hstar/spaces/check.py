"""Tries a user's own space on random walks and small neighbourhoods, and shows what is wrong with it.

What is tried: functions return what they should; costs are finite and not negative; the same state has the
same successors again; states are hashable and equal states are one; vectorised functions agree with plain
ones; `predecessors` inverts `successors`; `encode` gives every state as many finite inputs, whatever others
are encoded with it; `lower_bound` is 0 at goals and never above the true cost. True costs come from
Dijkstra's algorithm on the states that a search from the last goal or the start can enumerate, so a bound is
refuted by a counterexample and never proven.
"""

from __future__ import annotations

import heapq
import itertools
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from hstar.errors import HstarError, InputError
from hstar.options import Checked, option
from hstar.spaces.own import OwnProblem

Steps: TypeAlias = list[tuple[str, Any, float]]
Edges: TypeAlias = list[tuple[int, float]]


@dataclass(frozen=True)
class CheckConfig(Checked):
    """How many states `hstar check` tries, and how long."""

    walks: int = option(20, "Number of random walks from the start.")
    steps: int = option(50, "Number of steps of each walk.")
    states: int = option(10_000, "States to enumerate for the test of the lower bound.")
    time_limit: float = option(10.0, "Stop trying after this many seconds.", least=0)
    seed: int = option(0, "Seed of the random walks.")


@dataclass(frozen=True)
class Finding:
    """One thing that was tried."""

    what: str
    fine: bool
    detail: str  # a counterexample, or how much was tried


def check_space(problem: OwnProblem, config: CheckConfig | None = None) -> list[Finding]:
    """What was tried, in order. Whatever a function does wrong ends the list with a finding."""
    config = config or CheckConfig()
    findings: list[Finding] = []
    try:
        now = time.monotonic()
        for finding in _tries(problem, config, now + config.time_limit / 2, now + config.time_limit):
            findings.append(finding)
    except HstarError as error:
        findings.append(
            Finding("functions", False, error.message if isinstance(error, InputError) else str(error))
        )
    return findings


def _tries(problem: OwnProblem, config: CheckConfig, middle: float, deadline: float) -> Iterator[Finding]:
    """Up to the middle states of walks are tried, then the lower bound."""
    states = _walked(problem, config, middle)
    steps = [problem.successors(state) for state in states]
    for state, found in zip(states, steps, strict=True):
        for _, _, cost in found:
            problem.functions.whole_cost(cost, state)
    count = sum(map(len, steps))
    yield Finding("walks", True, f"{len(states)} states with {count} successors; all costs are fine")
    yield _repeatable(problem, states, steps)
    yield Finding("goals", True, f"{sum(map(problem.is_goal, states))} of {len(states)} states are goals")
    if hasattr(problem.space, "successors") and hasattr(problem.space, "successors_batch"):
        yield _batch(problem, states)
    if hasattr(problem.space, "predecessors"):
        yield _inverse(problem, states, steps, middle)
    if callable(getattr(problem.space, "encode", None)):
        yield _encoding(problem, states)
    if len(problem.claims) > 1:
        yield _bound(problem, config, deadline)


def _walked(problem: OwnProblem, config: CheckConfig, deadline: float) -> list[Any]:
    """Different states along random walks, the start first."""
    generator = random.Random(config.seed)
    seen: dict[bytes, Any] = {}
    for _ in range(max(config.walks, 1)):
        state = problem.start
        for step in range(config.steps + 1):
            seen.setdefault(problem.packed(state), state)
            if time.monotonic() > deadline:
                return list(seen.values())
            found = problem.successors(state) if step < config.steps else []
            if not found:
                break
            state = generator.choice(found)[1]
    return list(seen.values())


def _agree(problem: OwnProblem, one: Steps, two: Steps) -> bool:
    return len(one) == len(two) and all(
        problem.same(x[1], y[1]) and float(x[2]) == float(y[2]) for x, y in zip(one, two, strict=True)
    )


def _repeatable(problem: OwnProblem, states: list[Any], steps: list[Steps]) -> Finding:
    for state, before in zip(states, steps, strict=True):
        again = problem.successors(state)
        if [step[0] for step in before] != [step[0] for step in again] or not _agree(problem, before, again):
            detail = f"successors({state!r:.60}) are not the same when asked again"
            return Finding("repeatable", False, detail)
    return Finding("repeatable", True, f"{len(states)} states have the same successors again")


def _batch(problem: OwnProblem, states: list[Any]) -> Finding:
    called = problem.functions.called
    for state in states:
        if not _agree(problem, called("successors", state), problem.successors(state)):
            return Finding("batch", False, f"successors_batch([{state!r:.60}]) differs from successors")
        if hasattr(problem.space, "is_goal") and bool(called("is_goal", state)) != problem.is_goal(state):
            return Finding("batch", False, f"is_goal_batch([{state!r:.60}]) differs from is_goal")
    return Finding("batch", True, f"batch functions agree with plain ones on {len(states)} states")


def _inverse(problem: OwnProblem, states: list[Any], steps: list[Steps], deadline: float) -> Finding:
    def leads(back: Steps, state: Any, cost: float) -> bool:
        return any(problem.same(there, state) and price == cost for _, there, price in back)

    tried = 0
    for state, found in zip(states, steps, strict=True):
        if tried and time.monotonic() > deadline:
            break
        tried += 1
        for name, after, cost in found[:8]:
            if not leads(problem.predecessors(after), state, cost):
                detail = (
                    f"{name} leads from {state!r:.40} to {after!r:.40}, but predecessors do not lead back"
                )
                return Finding("predecessors", False, detail)
        for name, before, cost in problem.predecessors(state)[:8]:
            if not leads(problem.successors(before), state, cost):
                detail = (
                    f"predecessors of {state!r:.40} has {before!r:.40} by {name}, whose successors lack it"
                )
                return Finding("predecessors", False, detail)
    return Finding("predecessors", True, f"predecessors invert successors at {tried} states")


def _encoding(problem: OwnProblem, states: list[Any]) -> Finding:
    """Every state has as many finite inputs, and the same ones alone as among others."""
    together = problem.encoded(states)
    for state, inputs in zip(states, together, strict=True):
        alone = problem.encoded([state])[0]
        if alone.shape != inputs.shape or not (alone == inputs).all():
            return Finding("encode", False, f"{state!r:.60} has other inputs alone than among other states")
    return Finding("encode", True, f"{len(states)} states have {together.shape[1]} inputs each")


def _bound(problem: OwnProblem, config: CheckConfig, deadline: float) -> Finding:
    """Exact costs-to-go of what can be enumerated from the start, and the bound beside them."""
    states, back = _enumerated(problem, config.states, deadline)
    costs = _costs_to_go(problem, states, back)
    known = [(state, cost) for state, cost in zip(states, costs, strict=True) if cost is not None]
    if not known:
        return Finding("lower_bound", True, f"not tried: no goal among the first {len(states)} states")
    values = problem.bounds([state for state, _ in known])
    for (state, cost), value in zip(known, values, strict=True):
        if not value <= cost + 1e-9:
            return Finding(
                "lower_bound", False, f"lower_bound({state!r:.60}) is {value:g}, the true cost {cost:g}"
            )
    return Finding("lower_bound", True, f"at most the true cost at {len(known)} states")


def _enumerated(problem: OwnProblem, most: int, deadline: float) -> tuple[list[Any], list[Edges]]:
    """States in the order of a breadth-first search, and for each the steps to it from others of them."""
    numbers, states = {problem.packed(problem.start): 0}, [problem.start]
    back: list[Edges] = [[]]
    for number in itertools.count():
        if number >= len(states) or time.monotonic() > deadline:
            break
        for _, after, cost in problem.successors(states[number]):
            key = problem.packed(after)
            if key not in numbers:
                if len(states) >= most:
                    continue
                numbers[key] = len(states)
                states.append(after)
                back.append([])
            back[numbers[key]].append((number, float(cost)))
    return states, back


def _costs_to_go(problem: OwnProblem, states: list[Any], back: list[Edges]) -> list[float | None]:
    """The cost of a cheapest way to a goal within the enumerated states: at least the true cost."""
    costs: list[float | None] = [None] * len(states)
    queue = [(0.0, number) for number, state in enumerate(states) if problem.is_goal(state)]
    heapq.heapify(queue)
    while queue:
        cost, number = heapq.heappop(queue)
        if costs[number] is not None:
            continue
        costs[number] = cost
        for before, step in back[number]:
            if costs[before] is None:
                heapq.heappush(queue, (cost + step, before))
    return costs
