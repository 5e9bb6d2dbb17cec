"""The training loop: it learns, repeats itself to the bit, stops in time and goes on after a kill."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from hstar.errors import InputError
from hstar.estimates import Batch, Estimate, Known
from hstar.estimates.gaussian import Gaussian
from hstar.estimates.point import Point
from hstar.estimates.truncated import TruncatedGaussian
from hstar.models.resnet import ResNetConfig
from hstar.sampling.dataset import Dataset, pack
from hstar.training.config import TrainConfig
from hstar.training.examples import StateExamples
from hstar.training.loop import Progress, Trained, TrainingInterrupted, fit

BUILD = ResNetConfig(width=16).build
SHORT = TrainConfig(epochs=6, batch_size=16, learning_rate=3e-3, validation=0.2, patience=100)


def data(n: int = 200, atoms: int = 20, seed: int = 0) -> Dataset:
    """The label is the number of atoms that hold in the first half: easy to learn."""
    rng = np.random.default_rng(seed)
    matrix = rng.random((n, atoms)) < 0.4
    label = matrix[:, : atoms // 2].sum(axis=1).astype(np.float32)
    return Dataset(tuple(f"p({i})" for i in range(atoms)), pack(matrix), label, np.zeros(n, np.int32))


def train(
    factory: Callable[[int, int], nn.Module],
    dataset: Dataset,
    estimate: Estimate,
    config: TrainConfig,
    **options: Any,
) -> Trained:
    """A network that is fitted to the states of one task."""
    build = functools.partial(factory, len(dataset.atoms))
    return fit(build, StateExamples(dataset), estimate, config, redraw=True, **options)


def config(**change: Any) -> TrainConfig:
    return TrainConfig(**{**{f: getattr(SHORT, f) for f in SHORT.__dataclass_fields__}, **change})


def weights(trained: Trained) -> dict[str, bytes]:
    return {name: t.numpy().tobytes() for name, t in trained.model.state_dict().items()}


def losses(trained: Trained) -> list[tuple[float, float]]:
    return [(record.train_loss, record.validation_loss) for record in trained.history]


class Dropout(nn.Module):
    """A model with chance in it, and with state that is not trained."""

    def __init__(self, atoms: int, outputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(atoms, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, outputs)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.layers(x.float())
        return out


# --- learning -----------------------------------------------------------------------------------


def test_it_learns() -> None:
    trained = train(BUILD, data(500), Point(), config(epochs=15))
    assert trained.best_loss < 0.1 < trained.history[0].validation_loss
    assert (trained.train_states, trained.validation_states) == (400, 100)
    assert trained.best_loss == min(record.validation_loss for record in trained.history)
    assert not trained.model.training
    assert trained.summary()["stopped"] == "epochs"


def test_the_best_epoch_is_kept() -> None:
    dataset, settings = data(60), config(epochs=60, learning_rate=0.05)
    trained = train(BUILD, dataset, Point(), settings)
    assert trained.best_epoch < 60
    _, held_out = dataset.split(settings.validation, settings.seed)
    with torch.no_grad():
        raw = trained.model(torch.from_numpy(held_out.unpack()))
    loss = float(Point().loss(raw, Batch(torch.from_numpy(held_out.label))))
    assert loss == pytest.approx(trained.best_loss, rel=1e-5)


@pytest.mark.parametrize("estimate", [Gaussian(), Gaussian(0.7), TruncatedGaussian(), TruncatedGaussian(0.7)])
@pytest.mark.slow
def test_it_learns_distributions(estimate: Gaussian) -> None:
    plain = data(500)
    dataset = replace(plain, lower=np.maximum(plain.label - 2, 0), upper=plain.label + 3)
    trained = train(BUILD, dataset, estimate, config(epochs=15))
    assert trained.best_loss < trained.history[0].validation_loss - 0.2
    assert dataset.lower is not None and dataset.upper is not None
    known = Known(torch.from_numpy(dataset.lower), torch.from_numpy(dataset.upper))
    with torch.no_grad():
        raw = trained.model(torch.from_numpy(dataset.unpack()))
    assert raw.shape == (500, estimate.outputs)
    error = estimate.mean(raw, known) - torch.from_numpy(dataset.label)
    assert float(error.square().mean()) < 0.5


@pytest.mark.parametrize(("side", "shift"), [("lower", 1), ("upper", -1)])
def test_bounds_reach_the_estimate(side: str, shift: int) -> None:
    dataset = data()
    wrong: dict[str, Any] = {side: dataset.label + np.float32(shift)}
    with pytest.raises(InputError, match="truncated: 16 of 16 labels are beyond the bounds"):
        train(BUILD, replace(dataset, **wrong), TruncatedGaussian(), SHORT)


@pytest.mark.parametrize("factory", [BUILD, Dropout])
@pytest.mark.parametrize("change", [{}, {"optimizer": "adamw", "weight_decay": 0.1, "clip_norm": 0.5}])
def test_the_same_seed_gives_the_same_bits(factory: Any, change: dict[str, Any]) -> None:
    runs = []
    for noise in (1, 2):
        torch.manual_seed(noise)
        before = torch.get_rng_state()
        runs.append(train(factory, data(), Point(), config(**change)))
        assert torch.equal(torch.get_rng_state(), before), "the caller's random state is left alone"
    assert weights(runs[0]) == weights(runs[1])
    assert losses(runs[0]) == losses(runs[1])
    assert weights(train(factory, data(), Point(), config(seed=1, **change))) != weights(runs[0])


def test_options_have_effect() -> None:
    plain = weights(train(BUILD, data(), Point(), SHORT))
    for change in ({"optimizer": "adamw", "weight_decay": 0.1}, {"weight_decay": 0.1}, {"clip_norm": 0.01}):
        assert weights(train(BUILD, data(), Point(), config(**change))) != plain, change


def test_a_cosine_schedule_ends_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[float] = []
    step = torch.optim.Adam.step

    def spy(self: torch.optim.Adam, *arguments: Any, **options: Any) -> Any:
        rates.append(self.param_groups[0]["lr"])
        return step(self, *arguments, **options)

    monkeypatch.setattr(torch.optim.Adam, "step", spy)
    train(BUILD, data(), Point(), config(schedule="cosine", epochs=10))
    assert rates[0] == SHORT.learning_rate
    assert rates == sorted(rates, reverse=True)
    assert rates[len(rates) // 2] == pytest.approx(SHORT.learning_rate / 2, rel=0.05)
    assert 0 < rates[-1] < 1e-3 * SHORT.learning_rate


def test_threads_are_put_back() -> None:
    before = torch.get_num_threads()
    train(BUILD, data(), Point(), config(epochs=1, threads=2))
    assert torch.get_num_threads() == before


# --- stopping -----------------------------------------------------------------------------------


def test_early_stopping() -> None:
    # What is learned by heart says nothing about the held-out states: labels are noise.
    noise = data(80)
    noise = Dataset(
        noise.atoms,
        noise.states,
        np.random.default_rng(0).normal(size=80).astype(np.float32),
        noise.instance,
    )
    trained = train(BUILD, noise, Point(), config(epochs=500, learning_rate=0.01, patience=4))
    assert trained.stopped == "patience"
    assert len(trained.history) == trained.best_epoch + 4


def test_without_validation_the_training_loss_decides() -> None:
    trained = train(BUILD, data(), Point(), config(validation=0))
    assert trained.validation_states == 0
    assert all(record.train_loss == record.validation_loss for record in trained.history)


def test_updates_are_exact(tmp_path: Path) -> None:
    """160 states are 10 batches an epoch: 23 updates end within the third epoch, also after a kill."""
    exact = config(updates=23, epochs=1)
    trained = train(BUILD, data(), Point(), exact)
    assert trained.stopped == "updates" and trained.summary()["updates"] == 23
    assert [(record.updates, record.complete) for record in trained.history] == [
        (10, True),
        (10, True),
        (3, False),
    ]
    path = tmp_path / "checkpoint"
    train(BUILD, data(), Point(), config(updates=14), checkpoint=path)  # whose last 4 are not kept
    assert weights(train(BUILD, data(), Point(), exact, checkpoint=path)) == weights(trained)
    whole = train(BUILD, data(), Point(), config(updates=20))
    assert weights(whole) == weights(train(BUILD, data(), Point(), config(epochs=2)))


def test_a_schedule_ends_with_the_last_update() -> None:
    rates: list[float] = []

    def see(run: Any, done: float) -> None:
        rates.append(done)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hstar.training.loop._Run._set_learning_rate", see)
        train(BUILD, data(), Point(), config(updates=25, schedule="cosine"))
    assert rates == pytest.approx(np.arange(25) / 25)


def test_the_last_weights(tmp_path: Path) -> None:
    """Noise gets worse on held-out states; `last` keeps the end all the same, also after a kill."""
    noise = data(80)
    label = np.random.default_rng(0).normal(size=80).astype(np.float32)
    noise = Dataset(noise.atoms, noise.states, label, noise.instance)
    best, last = (
        train(BUILD, noise, Point(), config(epochs=30, learning_rate=0.01, keep=keep))
        for keep in ("best", "last")
    )
    assert best.best_epoch < 30 == last.best_epoch and weights(best) != weights(last)
    assert last.best_loss == last.history[-1].validation_loss > best.best_loss
    path = tmp_path / "checkpoint"
    for epochs in (12, 30):
        again = train(
            *(BUILD, noise, Point(), config(epochs=epochs, learning_rate=0.01, keep="last")), checkpoint=path
        )
    assert weights(again) == weights(last)
    with pytest.raises(InputError, match="unknown keep 'first'"):
        config(keep="first")


def test_time_limit() -> None:
    trained = train(BUILD, data(2000), Point(), config(epochs=10**6, batch_size=4, time_limit=0.3))
    assert trained.stopped == "time_limit"
    assert trained.history[-1].time_s < 3
    none = train(BUILD, data(), Point(), config(time_limit=0))
    assert (len(none.history), none.stopped, none.history[0].complete) == (1, "time_limit", False)


def test_a_loss_that_is_not_finite() -> None:
    with pytest.raises(
        InputError, match=r"the loss became (nan|inf) in epoch \d; lower learning_rate \(1e\+30\)"
    ):
        train(BUILD, data(), Point(), config(learning_rate=1e30))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_labels_have_to_be_finite(value: float) -> None:
    dataset = data()
    dataset.label[3] = value
    with pytest.raises(InputError, match="labels to train on must be finite"):
        train(BUILD, dataset, Point(), SHORT)


def test_no_states() -> None:
    with pytest.raises(InputError, match="no states"):
        train(BUILD, data(0), Point(), SHORT)
    assert train(BUILD, data(1), Point(), SHORT).validation_states == 0


def test_networks_born_dead_are_drawn_again() -> None:
    drawn = 0

    def sometimes_dead(atoms: int, outputs: int) -> nn.Module:
        nonlocal drawn
        drawn += 1
        model = ResNetConfig(width=16, output_relu=True).build(atoms, outputs)
        with torch.no_grad():
            model.head.bias.fill_(-100 if drawn < 3 else 1)
        return model

    assert train(sometimes_dead, data(), Point(), SHORT).initialisations == 3

    def dead(atoms: int, outputs: int) -> nn.Module:
        model = nn.Linear(atoms, outputs)
        nn.init.zeros_(model.weight)
        nn.init.zeros_(model.bias)
        return nn.Sequential(_Float(), model)

    with pytest.raises(InputError, match=r"all 50 initialisations .* only zeros"):
        train(dead, data(), Point(), SHORT)


class _Float(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.float()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": 0}, "epochs must be a whole number from 1 on, got 0"),
        ({"batch_size": 1.5}, "batch_size"),
        ({"epoch_size": 0}, "epoch_size must be a whole number from 1 on, got 0"),
        ({"learning_rate": 0}, "learning_rate must be a number above 0"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"clip_norm": 0}, "clip_norm"),
        ({"time_limit": -1}, "time_limit must be a number from 0"),
        ({"validation": 1}, r"validation must be a number from 0 on, below 1"),
        ({"optimizer": "sgd"}, "unknown optimizer 'sgd'"),
        ({"device": "abacus"}, "device 'abacus' cannot be used"),
    ],
)
def test_wrong_options(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train(BUILD, data(), Point(), config(**change))


def test_epochs_of_a_given_size() -> None:
    """Each has so many examples, others than the last one."""

    class Seen(StateExamples):
        def batch(self, indices: Any, device: torch.device) -> Any:
            seen.append(indices.tolist())
            return super().batch(indices, device)

        def split(self, share: float, seed: int) -> Any:
            return self, StateExamples(data(10))

    seen: list[list[int]] = []
    trained = fit(lambda outputs: BUILD(20, outputs), Seen(data()), Point(), config(epoch_size=40, epochs=3))
    assert len(trained.history) == 3 and [len(one) for one in seen] == 3 * [16, 16, 8]
    epochs = [sorted(seen[i] + seen[i + 1] + seen[i + 2]) for i in (0, 3, 6)]
    assert all(len(set(one)) == 40 for one in epochs) and epochs[0] != epochs[1] != epochs[2]
    larger = train(BUILD, data(), Point(), config(epoch_size=10**6))
    assert weights(larger) == weights(train(BUILD, data(), Point(), SHORT))


# --- progress and going on ----------------------------------------------------------------------


def test_progress() -> None:
    seen: list[Progress] = []
    trained = train(BUILD, data(), Point(), SHORT, progress=seen.append)
    ends = [record for record in seen if record.validation_loss is not None]
    assert [record.epoch for record in ends] == [1, 2, 3, 4, 5, 6]
    assert all(record.batch == record.batches == 10 for record in ends)
    assert (ends[-1].best_epoch, ends[-1].best_loss) == (trained.best_epoch, trained.best_loss)


class Stop:
    """Raises an error at the end of an epoch; on a slow machine there are records inside it as well."""

    def __init__(self, epoch: int, error: BaseException) -> None:
        self.epoch, self.error = epoch, error

    def __call__(self, record: Progress) -> None:
        if record.epoch == self.epoch and record.validation_loss is not None:
            raise self.error


@pytest.mark.parametrize("factory", [BUILD, Dropout])
@pytest.mark.parametrize("change", [{}, {"optimizer": "adamw", "weight_decay": 0.1}])
def test_a_resumed_run_equals_an_uninterrupted_one(
    factory: Any, change: dict[str, Any], tmp_path: Path
) -> None:
    settings = config(**change)
    expected = train(factory, data(), Point(), settings)
    path = tmp_path / "checkpoint"
    for epoch in (2, 3, 5):
        with pytest.raises(RuntimeError, match="killed"):
            stop = Stop(epoch, RuntimeError("killed"))
            train(factory, data(), Point(), settings, checkpoint=path, progress=stop)
    seen: list[int] = []
    trained = train(
        factory, data(), Point(), settings, checkpoint=path, progress=lambda r: seen.append(r.epoch)
    )
    assert min(seen) == 6, "the others were done before"
    assert weights(trained) == weights(expected)
    assert losses(trained) == losses(expected)
    # A finished run gives its result again; with more epochs it goes on.
    again = train(factory, data(), Point(), settings, checkpoint=path)
    assert weights(again) == weights(expected)
    longer = config(epochs=8, **change)
    assert weights(train(factory, data(), Point(), longer, checkpoint=path)) == weights(
        train(factory, data(), Point(), longer)
    )


@pytest.mark.slow
def test_killed_in_the_middle_of_an_epoch(tmp_path: Path) -> None:
    """A real kill -9 of a real process."""
    path = tmp_path / "checkpoint"
    script = (
        "import sys, pathlib; sys.path[:0] = sys.argv[2:]\n"
        "from training_data import run\n"
        "run(pathlib.Path(sys.argv[1]))\n"
    )
    here = Path(__file__).parent
    (tmp_path / "training_data.py").write_text(
        "import os, signal\n"
        "from test_loop import BUILD, Point, config, data, train\n"
        "def stop(record):\n"
        "    if record.epoch == 4 and record.validation_loss is None:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "def run(path):\n"
        "    import hstar.training.loop as loop\n"
        "    loop.INTERVAL_S = 0\n"
        "    train(BUILD, data(), Point(), config(), checkpoint=path, progress=stop)\n"
    )
    command = [sys.executable, "-c", script, str(path), str(tmp_path), str(here)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ})
    assert done.returncode == -signal.SIGKILL, done.stderr
    trained = train(BUILD, data(), Point(), SHORT, checkpoint=path)
    assert weights(trained) == weights(train(BUILD, data(), Point(), SHORT))


def test_a_time_limit_does_not_spoil_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    train(BUILD, data(), Point(), config(epochs=2), checkpoint=path)
    cut = train(BUILD, data(), Point(), config(time_limit=0), checkpoint=path)
    assert (cut.stopped, len(cut.history)) == ("time_limit", 2)
    trained = train(BUILD, data(), Point(), SHORT, checkpoint=path)
    assert weights(trained) == weights(train(BUILD, data(), Point(), SHORT))


def test_ctrl_c(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    stop = Stop(3, KeyboardInterrupt())
    with pytest.raises(
        TrainingInterrupted, match=r"after 3 epochs; to go on, run it again .*checkpoint"
    ) as caught:
        train(BUILD, data(), Point(), SHORT, checkpoint=path, progress=stop)
    best = caught.value.trained
    assert isinstance(caught.value, KeyboardInterrupt)
    assert best is not None and best.stopped == "interrupted"
    assert weights(best) == weights(train(BUILD, data(), Point(), config(epochs=3)))
    trained = train(BUILD, data(), Point(), SHORT, checkpoint=path)
    assert weights(trained) == weights(train(BUILD, data(), Point(), SHORT))
    with pytest.raises(TrainingInterrupted, match=r"stopped after 3 epochs$"):
        train(BUILD, data(), Point(), SHORT, progress=stop)


def test_checkpoints_of_other_trainings(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    train(BUILD, data(), Point(), config(epochs=1), checkpoint=path)
    with pytest.raises(InputError, match=r"another training \(learning_rate: 0\.003, now 0\.1\); delete it"):
        train(BUILD, data(), Point(), config(learning_rate=0.1), checkpoint=path)
    with pytest.raises(InputError, match=r"another training \(data: "):
        train(BUILD, data(seed=5), Point(), SHORT, checkpoint=path)
    with pytest.raises(InputError, match=r"another training \(model: "):
        train(ResNetConfig(width=8).build, data(), Point(), SHORT, checkpoint=path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match="damaged"):
        train(BUILD, data(), Point(), SHORT, checkpoint=path)
