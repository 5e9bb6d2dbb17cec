"""Which of several trained networks is kept: by short searches, or by the loss.

The loss of a network says little about how it searches: in a third to half of the cases of Bettker et al.
(JAIR 80, 2024) the network with the worse loss needed fewer expansions. So networks are compared at their
job: greedy best-first searches from random walks of the task's own initial state.

`halving`: successive halving (Jamieson and Talwalkar, AISTATS 2016). All networks search with a small budget
of evaluations; the better half goes on with twice the budget, until one is left.
`validate`: every network searches once with the whole budget, as O'Toole et al. (ICAPS 2022) choose one of
ten.
`loss`: the least loss on the held-out states, without any search.

More starts solved is better, then fewer evaluations (an unsolved start counts its budget), then less loss.
Budgets count evaluations, not seconds: the same networks give the same choice on any machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hstar.errors import uninterrupted
from hstar.models.trained_model import TrainedModel
from hstar.options import Checked, option
from hstar.sampling.walks import Walks
from hstar.search.solve import solve
from hstar.spaces.task import Task

VALIDATION_SEED = 1 << 40  # apart from the seeds that users give to walks of their own


@dataclass(frozen=True)
class Selection(Checked):
    """How many networks are trained, and how the best one is chosen."""

    networks: int = option(1, "Networks to train, of which the best one is kept.", least=1)
    select: str = option(
        "halving",
        "How the best network is chosen: halving, validate or loss.",
        words=("halving", "validate", "loss"),
    )
    validation_starts: int = option(10, "Random walks that it is chosen by.", least=1)
    validation_budget: int = option(20_000, "Evaluations of a search, doubled by halving.", least=1)


@dataclass
class Candidate:
    """A network, and its searches so far: evaluations per start, and whether they found a plan."""

    model: TrainedModel[Any]
    loss: float
    evaluations: dict[int, int] = field(default_factory=dict)
    solved: set[int] = field(default_factory=set)

    def search(self, starts: Sequence[Task], budget: int) -> None:
        """Searches from the starts that have not been solved; a smaller budget would end the same way."""
        for number, start in enumerate(starts):
            if number not in self.solved:
                result = uninterrupted(solve(start, self.model, "gbfs", max_evaluations=budget))
                self.evaluations[number] = result.evaluated
                if result.solved:
                    self.solved.add(number)

    def rank(self) -> tuple[int, int, float]:
        """Key to sort networks by: the least is the best."""
        return -len(self.solved), sum(self.evaluations.values()), self.loss

    def record(self) -> dict[str, int | float]:
        evaluations = sum(self.evaluations.values())
        searches = {"starts": len(self.evaluations), "solved": len(self.solved), "evaluations": evaluations}
        return {"seed": self.model.seed, "loss": self.loss, **searches}


def best(candidates: Sequence[Candidate], starts: Sequence[Task], select: str, budget: int) -> Candidate:
    alive = list(candidates)
    while len(alive) > 1 and select != "loss":
        for candidate in alive:
            candidate.search(starts, budget)
        kept = 1 if select == "validate" else (len(alive) + 1) // 2
        alive = sorted(alive, key=Candidate.rank)[:kept]
        budget *= 2
    return min(alive, key=lambda candidate: candidate.loss)


def choose(candidates: Sequence[Candidate], task: Task, options: Selection, seed: int) -> Candidate:
    """The candidate to keep, on walks that depend on the seed."""
    starts = Walks(walks=options.validation_starts, seed=VALIDATION_SEED + seed).tasks(task)
    return best(candidates, starts, options.select, options.validation_budget)
