"""A torch model in the search: a function of a batch of states, called by the core for each expansion."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import ModelError
from hstar.models.relational_model import StateRows
from hstar.search.heuristics import States
from hstar.spaces.relations import Vocabulary, relations
from hstar.spaces.task import Task

if TYPE_CHECKING:
    from torch import nn

    from hstar.models.model import Tensors
    from hstar.models.relational_model import RelationalModel


def torch_model(
    model: RelationalModel,
    task: Task,
    words: Vocabulary,
    tensors: Tensors,
    outputs: int,
    inputs: Callable[[Vocabulary, StateRows], Any] | None = None,
) -> _core.RawModel:
    """The model with these weights for the states of a task; `inputs` instead of those for training."""
    read = inputs or model.inputs
    found = relations(task, words, operators=model.operators)
    module = load_module(model, words, tensors, outputs)
    encoded = (model.encode(words, found.relations),)
    constant = np.array(found.constant, dtype=np.int64)
    atom_of_fact = np.array(found.atom_of_fact, dtype=np.int64)
    offset = np.cumsum([0, *(len(values) for values in task.atoms)])[:-1]

    def run(states: States) -> npt.NDArray[np.float64]:
        told = atom_of_fact[states + offset]
        atoms = np.concatenate([np.broadcast_to(constant, (len(told), len(constant))), told], axis=1)
        state, place = np.nonzero(atoms >= 0)
        rows = StateRows(encoded, np.zeros(len(states), dtype=np.int64), state, atoms[state, place], {})
        return outputs_of(module, read(words, rows))

    return _core.callback_model(run, outputs, model.name)


def load_module(model: RelationalModel, words: Vocabulary, tensors: Tensors, outputs: int) -> nn.Module:
    """A module with the weights that `TorchModel.export` gave; a `ModelError` if they are others."""
    return with_weights(model.build(words, outputs), tensors, model.name)


def with_weights(module: nn.Module, tensors: Tensors, name: str) -> nn.Module:
    """The module ready to run; a `ModelError` if these are not its weights."""
    import torch

    try:
        module.load_state_dict({key: torch.from_numpy(array.copy()) for key, array in tensors.items()})
    except RuntimeError as error:
        raise ModelError(f"weights of {name}: {' '.join(str(error).split())}") from None
    return module.eval()


def outputs_of(module: nn.Module, inputs: Any) -> npt.NDArray[np.float64]:
    """Raw outputs (states, outputs), without gradients."""
    import torch

    with torch.inference_mode():
        raw: npt.NDArray[np.float64] = module(inputs).double().numpy()
        return raw
