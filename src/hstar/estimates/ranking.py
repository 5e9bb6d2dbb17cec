"""`ranking`: a state on the plan should look better than the states it was chosen before.

    loss = mean over pairs of log(1 + exp(h(better) - h(worse)))

The logistic loss of Chrestien, Edelkamp, Komenda and Pevný, "Optimize Planning Heuristics to Rank, not to
Estimate Cost-to-Goal" (NeurIPS 2023), for greedy best-first search: pairs are the successor on the plan with
its siblings, and with its parent. Only differences of values count: alone it leaves their level open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def ranking_loss(h: Tensor, pairs: Tensor) -> Tensor:
    """The mean over the pairs (better, worse) of states with the values h; 0 without pairs."""
    from torch.nn.functional import softplus

    if not len(pairs):
        return h.sum() * 0
    return softplus(h[pairs[:, 0]] - h[pairs[:, 1]]).mean()
