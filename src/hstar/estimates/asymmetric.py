"""`asymmetric`: a point estimate that fears to say too much, to stay close to admissible.

    loss = mean of e^2 (sign(e) + a)^2 with e = label - raw;  mean = raw

"Value Function Learning via Prolonged Backward Heuristic Search". With a = -2.5, its value there, a squared
error counts 12.25 times if the estimate is above the label and 2.25 times if it is below; a = 0 is the plain
squared error. Differences: the paper's text has it the other way round; its formula is what is meant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from hstar.estimates.estimate import ESTIMATES, Batch
from hstar.estimates.point import Point
from hstar.options import Checked

if TYPE_CHECKING:
    from torch import Tensor


@ESTIMATES.register("asymmetric")
@dataclass(frozen=True)
class Asymmetric(Checked, Point):
    """A number without spread, rather too low than too high."""

    name: ClassVar[str] = "asymmetric"

    a: float = -2.5

    def loss(self, raw: Tensor, batch: Batch) -> Tensor:
        error = batch.label - self.mean(raw, batch.known)
        return (error.square() * (error.sign() + self.a).square()).mean()
