"""The checkpoint of a training: enough to go on as if it had never been stopped.

Weights, the state of the optimizer and plain data such as the history, after a whole epoch or iteration, in
one safetensors file. There is no random state in it: split, first weights and the order of each epoch are
functions of the seed and the number of the epoch. `identity` is what has to be equal for going on: options,
data, model, estimate.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from hstar import container
from hstar.errors import InputError

FORMAT_VERSION = 1
_DAMAGED = "a damaged checkpoint; delete it to start anew"


def write(
    path: Path, identity: Mapping[str, Any], header: Mapping[str, Any], tensors: container.Tensors
) -> None:
    """Replaces the file as a whole by plain data and arrays of a training that is this one."""
    entries = {"identity": dict(identity), **header}
    container.write(path, "checkpoint", FORMAT_VERSION, entries, tensors, durable=False)


def read(path: Path, identity: Mapping[str, Any]) -> tuple[dict[str, Any], container.Tensors]:
    """What `write` wrote; an `InputError` if it is damaged or of another training."""
    header, tensors = container.read(path, "checkpoint", FORMAT_VERSION)
    found = header.get("identity")
    if not isinstance(found, dict):
        raise InputError(_DAMAGED, file=path)
    for name in sorted({*identity, *found}):
        if identity.get(name) != found.get(name):
            raise InputError(
                f"a checkpoint of another training ({name}: {_brief(found.get(name))}, "
                f"now {_brief(identity.get(name))}); delete it to start anew",
                file=path,
            )
    return header, tensors


@contextlib.contextmanager
def restoring(path: Path) -> Iterator[None]:
    """Around what goes back to a checkpoint: whatever is wrong in the file is one line."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(_DAMAGED, file=path) from error


def to_arrays(model: nn.Module, optimizer: torch.optim.Optimizer) -> container.Tensors:
    """Weights and moments by name."""
    found = {f"weights/{name}": tensor for name, tensor in model.state_dict().items()}
    for number, entries in optimizer.state_dict()["state"].items():
        found |= {f"optimizer/{number}/{name}": value for name, value in entries.items()}
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in found.items()}


def from_arrays(model: nn.Module, optimizer: torch.optim.Optimizer, arrays: container.Tensors) -> None:
    """Puts back what `to_arrays` gave, beside which there may be other arrays."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in group(arrays, "optimizer").items():
        number, _, name = key.partition("/")
        # Files know no arrays without dimensions, optimizers count steps in one.
        state.setdefault(int(number), {})[name] = tensor.reshape(()) if name == "step" else tensor
    model.load_state_dict(checked(model, group(arrays, "weights")))
    parameters = [one for entry in optimizer.param_groups for one in entry["params"]]
    moments = {
        number: {name: one.shape for name, one in entries.items()} for number, entries in state.items()
    }
    wanted = {
        number: {"step": torch.Size(()), "exp_avg": one.shape, "exp_avg_sq": one.shape}
        for number, one in enumerate(parameters)
    }
    if moments and moments != wanted:
        raise ValueError("moments that are not those of the weights")
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def checked(model: nn.Module, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights; a `ValueError` unless names, shapes and types are those of the model."""
    # Files know no arrays without dimensions; counts of batches are such.
    wanted = {name: (one.shape or (1,), one.dtype) for name, one in model.state_dict().items()}
    if {name: (tensor.shape, tensor.dtype) for name, tensor in weights.items()} != wanted:
        raise ValueError("weights of another form")
    return weights


def group(arrays: container.Tensors, name: str) -> dict[str, Tensor]:
    """The arrays `name/...` as tensors, without that prefix."""
    prefix = f"{name}/"
    chosen = {key: array for key, array in arrays.items() if key.startswith(prefix)}
    return {key.removeprefix(prefix): torch.from_numpy(array.copy()) for key, array in chosen.items()}


def _brief(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 20 else text[:17] + "..."
