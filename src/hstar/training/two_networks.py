"""How the two networks of likely-admissible heuristics learn: one for planning, one that tells the unknown.

Both keep their weights and the moments of their optimizers from one iteration of a recipe to the next. All
random numbers come from generators that are handed in, so that an iteration depends on its number and the
seed alone. As in Marom and Rosman (ICAPS 2020).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import torch
from torch import Generator, Tensor

from hstar import _core
from hstar.errors import InputError
from hstar.models.ffnn import FFNN
from hstar.models.wunn import WUNN

if TYPE_CHECKING:
    from hstar.models.epistemic import EpistemicModel

LARGEST_ERROR = 0.5  # moves: rounded, every learned state has its own label
SWEEP_EVERY = 50  # steps between two looks at the variances of all states
ALREADY_KNOWN = math.exp(-1)  # weight of such a state in the draw of mini-batches
_LARGEST_WEIGHT = 1e30  # up to which float32 has room for what torch makes of weights


@dataclass(frozen=True)
class PlannerFit:
    """How far the planning network came."""

    steps: int
    loss: float
    largest_error: float  # in moves


@dataclass(frozen=True)
class KnownSettings:
    """How the other network learns: weight of the prior, wanted variance, steps at most, states in a step."""

    beta: float
    threshold: float
    steps: int
    batch: int
    stop_early: bool = True  # when the variance of each state is below the threshold


@dataclass(frozen=True)
class KnownFit:
    """How far the other network came."""

    steps: int
    largest_variance: float  # before the last steps
    reached: bool  # whether the variances of all states came below the threshold


def fit_planner(
    network: FFNN, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor, steps: int, generator: Generator
) -> PlannerFit:
    """Steps with all states, until each is learned to less than half a move or there are enough."""
    largest = loss = math.inf
    for step in range(steps):
        value, largest = network.loss(x, y, generator)
        loss = float(value.detach())
        if largest < LARGEST_ERROR:
            return PlannerFit(step, loss, largest)
        _step(optimizer, value)
    return PlannerFit(steps, loss, largest)


def fit_until_known(
    model: EpistemicModel,
    optimizer: torch.optim.Optimizer,
    x: Tensor,
    y: Tensor,
    generator: Generator,
    settings: KnownSettings,
) -> KnownFit:
    """Mini-batches, unknown states before known ones, until the variance of each is below the threshold."""
    if isinstance(model, WUNN) and model.in_closed_form:
        return _fit_natively(model, optimizer, x, y, generator, settings)
    steps, threshold, batch = settings.steps, settings.threshold, settings.batch
    largest = math.inf
    for done in range(0, steps, SWEEP_EVERY):
        variance = model.uncertainty(x, generator)
        largest = float(variance.max())
        check_variance(largest)
        if settings.stop_early and largest < threshold:
            return KnownFit(done, largest, True)
        spread, unknown = variance.sqrt(), variance >= threshold
        weights = torch.where(unknown, spread.exp(), ALREADY_KNOWN)
        logarithms = torch.where(unknown, spread, math.log(ALREADY_KNOWN))
        for _ in range(min(SWEEP_EVERY, steps - done)):
            rows = _drawn(weights, logarithms, batch, generator) if len(y) > batch else ...
            _step(optimizer, model.loss(x[rows], y[rows], settings.beta, generator))
    return KnownFit(steps, largest, False)


def check_variance(largest: float) -> None:
    """An `InputError` if the network of the unknown has lost itself: its steps were too large."""
    if not math.isfinite(largest):
        raise InputError("variances are not finite: known_learning_rate is too large")


def _drawn(weights: Tensor, logarithms: Tensor, batch: int, generator: Generator) -> Tensor:
    """Rows by weight, none of them twice."""
    if float(weights.max()) < _LARGEST_WEIGHT:
        return torch.multinomial(weights, batch, generator=generator)
    # The same by logarithms, which do not overflow: those that are largest together with Gumbel noise.
    noise = torch.empty_like(logarithms, dtype=torch.float64).exponential_(generator=generator).log()
    return (logarithms - noise).topk(batch).indices


def _fit_natively(
    model: WUNN,
    optimizer: torch.optim.Optimizer,
    x: Tensor,
    y: Tensor,
    generator: Generator,
    settings: KnownSettings,
) -> KnownFit:
    """The same in the core, some ten times as quick where batches are small; only its draws differ."""
    (group,) = optimizer.param_groups
    arrays = []
    for parameter in model.parameters():
        state = optimizer.state[parameter]
        if not state:  # as torch begins
            state["step"] = torch.zeros(())
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        arrays.append((parameter.detach().numpy(), state["exp_avg"].numpy(), state["exp_avg_sq"].numpy()))
    steps, largest, reached = _core.fit_wunn(
        x=x.numpy(),
        y=y.numpy(),
        width=model.config.width,
        arrays=arrays,
        steps_before=int(state["step"]),
        seed=int(torch.randint(2**62, (), generator=generator)),
        config=_core.WunnConfig(
            prior_variance=model.config.prior_variance,
            learning_rate=group["lr"],
            already_known=ALREADY_KNOWN,
            sweep_every=SWEEP_EVERY,
            **asdict(settings),
        ),
    )
    for parameter in model.parameters():
        optimizer.state[parameter]["step"] += steps
    return KnownFit(steps, largest, reached)


def _step(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
