"""Models: one registry for all kinds of spaces.

A registered model is a frozen dataclass with its options, which needs no torch, and says by `spaces` which
kinds of spaces it knows. What else is asked of it depends on the kind: see `RelationalModel` for domains and
`GridNetwork` for maps. What outputs mean is the business of an `Estimate`. A model of tasks, puzzles or own
spaces (`FFNNConfig`, `ResNetConfig`) has

    build(inputs, outputs)  a fresh module, whose weights depend on torch's random state only: from a matrix
                            (states, inputs), uint8 for the zeros and ones of a task, to raw outputs
                            (states, outputs) in float32
    export(module)          its weights, for a model file
    network(tensors)        the same as a `NativeNetwork`; a `ModelError` if they are not of this model
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy.typing as npt

from hstar.errors import ModelError
from hstar.registry import Registry, unknown

if TYPE_CHECKING:
    from torch import nn

Tensors: TypeAlias = Mapping[str, npt.NDArray[Any]]


MODELS: Registry[type[Any]] = Registry("model")


def models_of(kind: str) -> list[str]:
    return [name for name in MODELS if kind in MODELS.get(name).spaces]


def model_of(kind: str, name: str) -> type[Any]:
    """The model called `name`; an `InputError` that lists those of this kind of space otherwise."""
    if name not in (known := models_of(kind)):
        raise unknown("model", name, known)
    return MODELS.get(name)


def weights_of(module: nn.Module) -> Tensors:
    """The weights of a module of torch by its names for them."""
    return {name: weights.detach().cpu().numpy() for name, weights in module.state_dict().items()}


def with_weights(build: Callable[[], nn.Module], tensors: Tensors, name: str) -> nn.Module:
    """The module ready to run; a `ModelError` if these are not its weights.

    Shapes are compared before anything is built: so a module is never larger than what is in the file.
    """
    import torch

    with torch.device("meta"):  # modules without memory
        wanted = {key: tuple(weights.shape) for key, weights in build().state_dict().items()}
    check_shapes(tensors, wanted, name)
    module = build()
    try:
        module.load_state_dict({key: torch.from_numpy(array.copy()) for key, array in tensors.items()})
    except RuntimeError as error:
        raise ModelError(f"weights of {name}: {' '.join(str(error).split())}") from None
    return module.eval()


def check_shapes(tensors: Tensors, wanted: Mapping[str, tuple[int, ...]], name: str) -> None:
    """Raises a `ModelError` unless these are the tensors of a model with such shapes."""
    for key in sorted({*wanted, *tensors}):
        shape = tensors[key].shape if key in tensors else None
        if shape != wanted.get(key):
            raise ModelError(
                f"weights of {name}: {key} is {shape}, and its options ask for {wanted.get(key)}"
            )


def start_torch() -> None:
    """Imports what torch puts off until the first optimizer: seconds that no later step should count."""
    import torch

    torch.optim.Adam([torch.zeros(1, requires_grad=True)])
