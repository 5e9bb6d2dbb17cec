"""The training loop: one for all models and estimates.

Minimises the mean loss of an estimate by Adam (Kingma and Ba, ICLR 2015) or AdamW (Loshchilov and Hutter,
ICLR 2019) over shuffled batches, stops when the loss on held-out states has not improved for `patience`
epochs, and keeps the weights of the best epoch, or the last ones. With `updates` it takes exactly so many
steps, and the last epoch ends with the last of them.

Invariants: no state is both trained on and held out. On a CPU, seed and options fix the weights to the bit,
also when the run was killed and went on from its checkpoint: everything random is a function of the seed and
the number of the epoch. The random state of the caller is left alone. An epoch that a limit, the last of
the updates or Ctrl-C cuts short never reaches the checkpoint.
"""

from __future__ import annotations

import contextlib
import logging
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from hstar.errors import InputError
from hstar.estimates.estimate import Batch, Estimate
from hstar.estimates.ranking import ranking_loss
from hstar.limits import disarm, time_left
from hstar.models.resnet import dead
from hstar.training import checkpoint as checkpoints
from hstar.training.config import TrainConfig
from hstar.training.examples import Examples

logger = logging.getLogger(__name__)

INTERVAL_S = 0.1  # between calls of `progress` inside an epoch
INITIALISATIONS = 50  # before a model that is always born dead is given up
SAMPLE = 256  # states for the test of a dead model
EVALUATION_BATCHES = 4  # in one, of held-out states: no gradients need memory


@dataclass(frozen=True)
class EpochRecord:
    """What one epoch came to. `validation_loss` is the training loss if nothing is held out."""

    epoch: int
    train_loss: float
    validation_loss: float
    time_s: float  # since the start of the training, over resumed runs
    complete: bool = True  # False: cut short by the time limit or the last update
    updates: int = 0  # steps of the optimizer in it


@dataclass(frozen=True)
class Progress:
    """Handed to `progress` a few times a second and after each epoch (then `batch == batches`)."""

    epoch: int
    epochs: int
    batch: int
    batches: int
    train_loss: float
    validation_loss: float | None  # after the epoch
    best_epoch: int
    best_loss: float
    time_s: float
    network: int = 1  # of so many that one is chosen from
    networks: int = 1


@dataclass(frozen=True)
class Trained:
    """The best network and how it came about."""

    model: nn.Module
    history: tuple[EpochRecord, ...]
    best_epoch: int
    best_loss: float
    stopped: str  # by: epochs, updates, patience, time_limit, interrupted
    initialisations: int  # more than 1 if a network was born dead
    train_states: int
    validation_states: int

    def summary(self) -> dict[str, Any]:
        """Plain data for the model file."""
        return {
            "epochs": len(self.history),
            "updates": sum(record.updates for record in self.history),
            "best_epoch": self.best_epoch,
            "best_loss": self.best_loss,
            "stopped": self.stopped,
            "initialisations": self.initialisations,
            "train_states": self.train_states,
            "validation_states": self.validation_states,
            "time_s": round(self.history[-1].time_s, 3) if self.history else 0.0,
            "curve": [
                [round(record.time_s, 3), record.train_loss, record.validation_loss]
                for record in self.history
            ],
        }


class TrainingInterrupted(KeyboardInterrupt):
    """Ctrl-C: the best network so far (None before the end of an epoch), and a line on how to go on."""

    def __init__(self, message: str, trained: Trained | None) -> None:
        super().__init__(message)
        self.trained = trained


def fit(
    build: Callable[[int], nn.Module],
    examples: Examples | tuple[Examples, Examples],
    estimate: Estimate,
    config: TrainConfig | None = None,
    *,
    redraw: bool = False,
    progress: Callable[[Progress], None] | None = None,
    checkpoint: Path | None = None,
) -> Trained:
    """Fits a module that `build` makes for a number of outputs.

    A share of the examples is held out, unless they are a pair: those to learn from and those held out.

    `redraw`: other first weights where all outputs are zero, since behind a ReLU nothing could be learned.
    With a `checkpoint` file a killed run goes on where it was, by the same call. Ctrl-C raises
    `TrainingInterrupted`. A finished run with its checkpoint gives its result again at once.
    """
    config = TrainConfig() if config is None else config
    disarm()
    with torch_threads(config.threads), torch.random.fork_rng():
        run = _Run(build, examples, estimate, config, redraw, progress, checkpoint)
        try:
            stopped = run.fit()
        except KeyboardInterrupt:
            raise TrainingInterrupted(run.how_to_go_on(), run.trained("interrupted")) from None
        found = run.trained(stopped)
        assert found is not None
        return found


class _Run:
    """One training: data, network, optimizer and what has happened so far."""

    def __init__(
        self,
        build: Callable[[int], nn.Module],
        examples: Examples | tuple[Examples, Examples],
        estimate: Estimate,
        config: TrainConfig,
        redraw: bool,
        progress: Callable[[Progress], None] | None,
        checkpoint: Path | None,
    ) -> None:
        self.config, self.estimate, self.progress, self.checkpoint = config, estimate, progress, checkpoint
        parts = examples if isinstance(examples, tuple) else (examples,)
        if not np.isfinite(parts[0].label).all():
            raise InputError("labels to train on must be finite")
        self.device = _device(config.device)
        split = parts[0].split(config.validation, config.seed) if len(parts) == 1 else parts
        self.data, self.held_out = split
        if not len(self.data):
            raise InputError("no states to train on")
        self.model, self.initialisations = self._initial_model(build, redraw)
        self.optimizer = adam(
            self.model.parameters(),
            config.learning_rate,
            config.weight_decay,
            decoupled=config.optimizer == "adamw",
        )
        self.history: list[EpochRecord] = []
        self.best: dict[str, Tensor] = {}
        self.best_record: EpochRecord | None = None
        self.identity: dict[str, Any] = {}
        if checkpoint is not None:
            self.identity = self._identity(parts)
            if checkpoint.exists():
                self._restore(checkpoint)
        self.started = time.monotonic() - (self.history[-1].time_s if self.history else 0.0)
        left = time_left()  # of a limit on all the work, part of which is done
        own = math.inf if config.time_limit is None else config.time_limit
        self.time_limit = own if left is None else min(own, self._time() + left)

    # The steps of the algorithm.

    def fit(self) -> str:
        """Epochs until something stops them; says what."""
        config = self.config
        while True:
            # 1. Enough?
            if self._updates_left() == 0:
                return "updates"
            if config.updates is None and len(self.history) >= config.epochs:
                return "epochs"
            if self.best_record and len(self.history) - self.best_record.epoch >= config.patience:
                return "patience"
            if self.history and self._time_is_up():
                return "time_limit"
            # 2. One pass over the data in a new order, then the held-out states.
            epoch = len(self.history) + 1
            wanted = min(self._batches(), self._updates_left())
            train_loss, updates = self._epoch(epoch, wanted)
            complete = updates == self._batches()
            loss = self._evaluate(self.held_out) if len(self.held_out) else train_loss
            if not math.isfinite(train_loss + loss):
                advice = f"lower learning_rate ({config.learning_rate:g})"
                advice += " or set clip_norm" if config.clip_norm is None else ""
                raise InputError(f"the loss became {train_loss + loss} in epoch {epoch}; {advice}")
            # 3. Remember it, and the weights if they are the best so far.
            record = EpochRecord(epoch, train_loss, loss, self._time(), complete, updates)
            better = self.best_record is None or loss < self.best_record.validation_loss
            if better or config.keep == "last":
                self.best, self.best_record = _copy(self.model.state_dict()), record
            self.history.append(record)
            if self.checkpoint is not None and complete:
                self._save(self.checkpoint)
            self._report(epoch, self._batches(), train_loss, loss)
            if updates < wanted:
                return "time_limit"

    def _epoch(self, epoch: int, batches: int) -> tuple[float, int]:
        """The mean training loss, and for how many batches the time sufficed."""
        config, n = self.config, self._examples()
        order = np.random.default_rng([config.seed, epoch]).permutation(len(self.data))[:n]
        torch.manual_seed(_torch_seed(config.seed, 1, epoch))  # for models with random layers
        self.model.train()
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        seen, reported = 0, time.monotonic()
        for batch in range(batches):
            self._set_learning_rate(self._done(epoch, batch))
            indices = order[batch * config.batch_size : (batch + 1) * config.batch_size]
            loss = self._loss(self.data, indices)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            if config.clip_norm is not None:
                nn.utils.clip_grad_norm_(self.model.parameters(), config.clip_norm)
            self.optimizer.step()
            total += loss.detach() * len(indices)
            seen += len(indices)
            now = time.monotonic()
            if now - reported >= INTERVAL_S:
                mean, reported = float(total) / seen, now
                if not math.isfinite(mean):
                    return mean, batch + 1
                self._report(epoch, batch + 1, mean, None)
            if self._time_is_up() and batch + 1 < batches:
                return float(total) / seen, batch + 1
        return float(total) / seen, batches

    def _updates_left(self) -> int:
        """Until the wanted number; more than any epoch has if none is wanted."""
        done = sum(record.updates for record in self.history)
        return sys.maxsize if self.config.updates is None else self.config.updates - done

    def _done(self, epoch: int, batch: int) -> float:
        before = (epoch - 1) * self._batches() + batch
        return before / (self.config.updates or self.config.epochs * self._batches())

    def _set_learning_rate(self, done: float) -> None:
        """By the share of the training that is done, so that a resumed run needs no memory of it.

        With a time limit, by the share of the time if that is greater.
        """
        if self.config.schedule == "cosine":  # Loshchilov and Hutter (ICLR 2017), without restarts
            done = min(1.0, max(done, self._time() / max(self.time_limit, 1e-9)))
            for group in self.optimizer.param_groups:
                group["lr"] = self.config.learning_rate * (1 + math.cos(math.pi * done)) / 2

    def _evaluate(self, data: Examples) -> float:
        self.model.eval()
        size, total = EVALUATION_BATCHES * self.config.batch_size, 0.0
        with torch.no_grad():
            for start in range(0, len(data), size):
                indices = np.arange(start, min(start + size, len(data)))
                total += float(self._loss(data, indices, self.config.criterion == "mse")) * len(indices)
        return total / len(data)

    def _loss(self, data: Examples, indices: npt.NDArray[np.integer[Any]], squared: bool = False) -> Tensor:
        """The objective; `squared`: instead of it the squared error of the mean."""
        inputs, batch = data.batch(indices, self.device)
        raw, n, share = self.model(inputs), len(batch.label), self.config.ranking
        if squared:
            error: Tensor = self.estimate.mean(raw[:n], batch.known.first(n)) - batch.label
            return error.square().mean()
        loss: Tensor = raw.new_zeros(())
        if share < 1:
            loss = (1 - share) * self.estimate.loss(raw[:n], Batch(batch.label, batch.known.first(n)))
        if share > 0:
            if batch.pairs is None:
                raise InputError("ranking needs siblings of states: hstar sample optimal --siblings")
            seen = replace(batch.known, upper=None)  # states are compared as in the search, which has none
            loss = loss + share * ranking_loss(self.estimate.mean(raw, seen), batch.pairs)
        return loss

    def _initial_model(self, build: Callable[[int], nn.Module], redraw: bool) -> tuple[nn.Module, int]:
        """A network that is not born dead, and how many had to be drawn."""
        indices = np.arange(min(SAMPLE, len(self.data)))
        for attempt in range(INITIALISATIONS):
            torch.manual_seed(_torch_seed(self.config.seed, 0, attempt))
            model = build(self.estimate.outputs).to(self.device)
            if not redraw or not dead(model, self.data.batch(indices, self.device)[0]):
                return model, attempt + 1
            logger.info("initialisation %d gives only zeros, drawing again", attempt + 1)
        raise InputError(
            f"all {INITIALISATIONS} initialisations of the network give only zeros; use output_relu=False"
        )

    # Records and limits.

    def trained(self, stopped: str) -> Trained | None:
        """The best so far; None before the end of the first epoch."""
        if self.best_record is None:
            return None
        self.model.load_state_dict(self.best)
        self.model.eval()
        return Trained(
            model=self.model,
            history=tuple(self.history),
            best_epoch=self.best_record.epoch,
            best_loss=self.best_record.validation_loss,
            stopped=stopped,
            initialisations=self.initialisations,
            train_states=len(self.data),
            validation_states=len(self.held_out),
        )

    def how_to_go_on(self) -> str:
        done = f"training stopped after {len(self.history)} epochs"
        if self.checkpoint is None or not self.history:
            return done
        return f"{done}; to go on, run it again with the checkpoint {self.checkpoint}"

    def _examples(self) -> int:
        return min(len(self.data), self.config.epoch_size or len(self.data))

    def _batches(self) -> int:
        return -(-self._examples() // self.config.batch_size)

    def _time(self) -> float:
        return time.monotonic() - self.started

    def _time_is_up(self) -> bool:
        return self._time() >= self.time_limit

    def _report(self, epoch: int, batch: int, train_loss: float, validation_loss: float | None) -> None:
        if self.progress is None:
            return
        best = self.best_record
        best_so_far = (best.epoch, best.validation_loss) if best else (0, math.inf)
        batches, epochs = self._batches(), self.config.epochs
        if self.config.updates is not None:
            epochs = -(-self.config.updates // batches)
        losses = train_loss, validation_loss
        self.progress(Progress(epoch, epochs, batch, batches, *losses, *best_so_far, self._time()))

    # Checkpoints.

    def _identity(self, parts: tuple[Examples, ...]) -> dict[str, Any]:
        weights = {name: list(tensor.shape) for name, tensor in self.model.state_dict().items()}
        return {
            **self.config.fixed(),
            "data": "".join(part.digest() for part in parts),
            "estimate": repr(self.estimate),
            "model": f"{type(self.model).__name__} {weights}",
            "torch": str(torch.__version__),
        }

    def _save(self, path: Path) -> None:
        history = [asdict(record) for record in self.history]
        tensors = checkpoints.to_arrays(self.model, self.optimizer)
        tensors |= {f"best/{name}": tensor.cpu().numpy() for name, tensor in self.best.items()}
        header = {"history": history, "initialisations": self.initialisations}
        checkpoints.write(path, self.identity, header, tensors)

    def _restore(self, path: Path) -> None:
        header, tensors = checkpoints.read(path, self.identity)
        with checkpoints.restoring(path):
            checkpoints.from_arrays(self.model, self.optimizer, tensors)
            best = checkpoints.checked(self.model, checkpoints.group(tensors, "best"))
            self.best = {name: tensor.to(self.device) for name, tensor in best.items()}
            self.history = msgspec.convert(header["history"], list[EpochRecord])
            self.best_record = min(self.history, key=lambda record: record.validation_loss)
            if self.config.keep == "last":
                self.best, self.best_record = _copy(self.model.state_dict()), self.history[-1]
            self.initialisations = msgspec.convert(header["initialisations"], int)
        logger.info("going on after epoch %d", len(self.history))


@contextlib.contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """So many for a training, and no denormal numbers; put back afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    # The moments of rare atoms decay to denormal numbers, which processors handle slowly.
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(before)


def adam(
    parameters: Iterable[nn.Parameter],
    learning_rate: float,
    weight_decay: float = 0.0,
    *,
    decoupled: bool = False,
) -> torch.optim.Optimizer:
    """Adam, or AdamW with a decoupled weight decay."""
    kind, found = torch.optim.AdamW if decoupled else torch.optim.Adam, list(parameters)
    try:
        # Two to four times as fast.
        return kind(found, fused=True, lr=learning_rate, weight_decay=weight_decay)
    except RuntimeError:  # an older torch, or a device without it
        return kind(found, lr=learning_rate, weight_decay=weight_decay)


def seeded(*parts: int) -> torch.Generator:
    """A generator for one purpose of one iteration of a run with a seed."""
    return torch.Generator().manual_seed(_torch_seed(*parts))


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"device '{name}' cannot be used: {str(error).splitlines()[0]}") from None
    return device


def _torch_seed(*parts: int) -> int:
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _copy(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in weights.items()}
