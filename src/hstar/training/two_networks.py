"""How the two networks of likely-admissible heuristics learn: one for planning, one that tells the unknown.

Both keep their weights and the moments of their optimizers from one iteration of a recipe to the next. All
random numbers come from generators that are handed in, so that an iteration depends on its number and the
seed alone. As in Marom and Rosman (ICAPS 2020).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Generator, Tensor, nn

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


# What a run needs around it.


def adam(parameters: Iterable[nn.Parameter], learning_rate: float) -> torch.optim.Adam:
    """The optimizer, in its quickest form where torch has it."""
    found = list(parameters)
    try:
        return torch.optim.Adam(found, lr=learning_rate, fused=True)
    except RuntimeError:  # an older torch
        return torch.optim.Adam(found, lr=learning_rate)


def seeded(*parts: int) -> Generator:
    """A generator for one purpose of one iteration of a run with a seed."""
    seed = np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> np.uint64(1)
    return torch.Generator().manual_seed(int(seed))


@contextlib.contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """So many for a run, and no denormal numbers, which processors handle slowly; put back afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(before)


# Networks and their optimizers as arrays.


def to_arrays(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, np.ndarray[Any, Any]]:
    """Weights and moments by name."""
    found = {f"weights/{name}": _array(tensor) for name, tensor in model.state_dict().items()}
    for number, entries in optimizer.state_dict()["state"].items():
        found.update({f"optimizer/{number}/{name}": _array(value) for name, value in entries.items()})
    return found


def from_arrays(
    model: nn.Module, optimizer: torch.optim.Optimizer, arrays: dict[str, np.ndarray[Any, Any]]
) -> None:
    """Puts back what `to_arrays` gave."""
    weights: dict[str, Tensor] = {}
    state: dict[int, dict[str, Tensor]] = {}
    for key, array in arrays.items():
        group, _, name = key.partition("/")
        tensor = torch.from_numpy(array.copy())
        if group == "weights":
            weights[name] = tensor
        else:
            number, _, name = name.partition("/")
            # Files know no arrays without dimensions, optimizers count steps in one.
            state.setdefault(int(number), {})[name] = tensor.reshape(()) if name == "step" else tensor
    model.load_state_dict(weights)
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def _array(tensor: Tensor) -> np.ndarray[Any, Any]:
    return np.array(tensor.detach().numpy())
