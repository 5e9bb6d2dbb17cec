"""The checkpoint of a training: enough to go on as if it had never been stopped.

Weights, the best weights, the state of the optimizer and the history, after a whole epoch, in one safetensors
file. There is no random state in it: split, first weights and the order of each epoch are functions of the
seed and the number of the epoch. `identity` is what has to be equal for going on: options, data, model,
estimate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hstar import container
from hstar.errors import InputError

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Checkpoint:
    """The state after an epoch. `history` is plain data, one entry an epoch."""

    identity: Mapping[str, Any]
    history: list[dict[str, Any]]
    weights: dict[str, Tensor]
    best: dict[str, Tensor]
    optimizer: dict[int, dict[str, Tensor]]  # by number of the parameter
    initialisations: int


def save(path: Path, state: Checkpoint) -> None:
    """Replaces the file as a whole."""
    groups = {"weights": state.weights, "best": state.best}
    tensors = {f"{group}/{name}": _array(t) for group, found in groups.items() for name, t in found.items()}
    for number, entries in state.optimizer.items():
        tensors.update({f"optimizer/{number}/{name}": _array(tensor) for name, tensor in entries.items()})
    write(path, state.identity, {"history": state.history, "initialisations": state.initialisations}, tensors)


def load(path: Path, identity: Mapping[str, Any]) -> Checkpoint:
    """The state in the file; an `InputError` if it is damaged or of another training."""
    header, tensors = read(path, identity)
    groups: dict[str, dict[str, Tensor]] = {"weights": {}, "best": {}}
    optimizer: dict[int, dict[str, Tensor]] = {}
    for key, array in tensors.items():
        group, _, name = key.partition("/")
        tensor = torch.from_numpy(array.copy())
        if group == "optimizer":
            number, _, name = name.partition("/")
            optimizer.setdefault(int(number), {})[name] = tensor
        else:
            groups[group][name] = tensor
    return Checkpoint(
        identity, header["history"], groups["weights"], groups["best"], optimizer, header["initialisations"]
    )


# What checkpoints of other trainings share with it.


def write(
    path: Path, identity: Mapping[str, Any], header: Mapping[str, Any], tensors: container.Tensors
) -> None:
    """Replaces the file as a whole by plain data and arrays of a training that is this one."""
    entries = {"identity": dict(identity), **header}
    container.write(path, "checkpoint", FORMAT_VERSION, entries, tensors, durable=False)


def read(path: Path, identity: Mapping[str, Any]) -> tuple[dict[str, Any], container.Tensors]:
    """What `write` wrote; an `InputError` if it is damaged or of another training."""
    header, tensors = container.read(path, "checkpoint", FORMAT_VERSION)
    found = header["identity"]
    for name in sorted({*identity, *found}):
        if identity.get(name) != found.get(name):
            raise InputError(
                f"a checkpoint of another training ({name}: {_brief(found.get(name))}, "
                f"now {_brief(identity.get(name))}); delete it to start anew",
                file=path,
            )
    return header, tensors


def _array(tensor: Tensor) -> np.ndarray[Any, Any]:
    return tensor.detach().cpu().numpy()


def _brief(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 20 else text[:17] + "..."
