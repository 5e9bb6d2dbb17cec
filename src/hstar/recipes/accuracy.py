"""How well a model of a domain knows h*: its errors on labelled states, beside those of symbolic heuristics.

    mse = mean over all states of (value - h*)^2, the value being what the search sees by the rule

Núñez-Molina et al. (arXiv 2308.11905) report a mean of means over batches of 256 states in the order of the
data, in which the states of the last batch count more: `mse_of_batches`. Where the estimate is a
distribution, there are also its mean spread, the mean negative log-likelihood of h*, and the calibration.

`by_size` has the same errors for the problems of each number of objects: a mean over all states is one over
the sizes that an optimal planner could label, and so of mostly small ones.

A model that was trained with upper bounds is judged with them; the search has none, and may see more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError, ModelError
from hstar.estimates.rules import Order, Rule
from hstar.models.domain_identity import DomainIdentity
from hstar.models.identity import space_of
from hstar.models.trained_model import TrainedModel
from hstar.sampling.relational import RelationalData

if TYPE_CHECKING:
    from hstar.training.examples import RelationalExamples

BASELINES = ("ff", "lmcut", "goalcount")
PUBLISHED_BATCH = 256
CHUNK = 1024  # states read at a time


def accuracy(model: TrainedModel[Any], data: RelationalData, rule: Rule | None = None) -> dict[str, Any]:
    """Plain data; `rule`: another one than the model's own."""
    import torch

    from hstar.estimates.calibration import calibration
    from hstar.estimates.estimate import Batch
    from hstar.training.examples import KnownColumns, RelationalExamples

    words = space_of(model, DomainIdentity).words
    if data.words != words:
        raise ModelError(f"the model was trained for {words.domain}, the data are of {data.words.domain}")
    if isinstance(rule or model.rule, Order):
        raise InputError("a model that was trained to rank tells no distances; only their order can be used")
    if not data.instances or not data.labelled.any():
        raise InputError("no labelled states to compare with")
    reader = model.network
    known = KnownColumns(model.lower, model.upper, model.base)
    known.check(data, *BASELINES)
    examples = RelationalExamples(data, reader, known, inputs=False)
    found = []
    for start in range(0, len(examples), CHUNK):
        indices = np.arange(start, min(start + CHUNK, len(examples)))
        found.append(reader.raw(words, examples.states(indices), model.tensors, model.estimate.outputs))
    raw = torch.from_numpy(np.concatenate(found))
    batch = examples.known_batch(np.arange(len(examples)), torch.device("cpu"))
    value = (rule or model.rule).value(model.estimate, raw, batch.known).numpy()
    label = examples.label.astype(np.float64)
    errors = {"mse": value - label} | {f"mse_{name}": examples.column(name) - label for name in BASELINES}
    squares = {name: np.square(error) for name, error in errors.items()}
    record: dict[str, Any] = {
        "instances": len(data.instances),
        "states": len(examples),
        **{name: float(square.mean()) for name, square in squares.items()},
        "mse_of_batches": _of_batches(squares["mse"]),
        "mean_error": float(errors["mse"].mean()),
        "mean_label": float(label.mean()),
        "by_size": _by_size(data, examples, squares),
    }
    if hasattr(model.estimate, "spread"):
        record["sigma"] = float(model.estimate.spread(raw).mean())
        record["nll"] = float(model.estimate.loss(raw, Batch(batch.label.double(), batch.known)))
        curve = calibration(model.estimate, raw, batch).record()
        record |= {name: curve[name] for name in ("calibration_error", "calibration")}
    return record


def _by_size(
    data: RelationalData, examples: RelationalExamples, squares: dict[str, npt.NDArray[np.floating[Any]]]
) -> list[dict[str, Any]]:
    """Errors of the states of all problems with so many objects, the smallest first."""
    instance = examples.table.instance[examples.rows]
    objects = np.array([len(one.relations.objects) for one in data.instances])[instance]
    return [
        {
            "objects": int(size),
            "instances": len(np.unique(instance[objects == size])),
            "states": int((objects == size).sum()),
            **{name: float(square[objects == size].mean()) for name, square in squares.items()},
        }
        for size in np.unique(objects)
    ]


def _of_batches(error: npt.NDArray[np.floating[Any]]) -> float:
    parts = np.split(error, range(PUBLISHED_BATCH, len(error), PUBLISHED_BATCH))
    return float(np.mean([part.mean() for part in parts]))
