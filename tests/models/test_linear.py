"""The linear model: its features, and weights that are known."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

from hstar.models import MODELS
from hstar.models.linear import LinearConfig
from hstar.models.relational_model import StateRows
from hstar.spaces.relations import Vocabulary

WORDS = Vocabulary("ferry", (), ("object",), ())


def rows(goalcount: Any, operators: Any, deletes: Any) -> StateRows:
    """States that are all of one instance and have no atoms."""
    none = np.zeros(0, dtype=np.int64)
    columns = {"goalcount": goalcount, "operators": operators, "deletes": deletes}
    return StateRows(
        (None,),
        np.zeros(len(goalcount), dtype=np.int64),
        none,
        none,
        {name: np.asarray(column, dtype=np.float32) for name, column in columns.items()},
    )


def test_it_is_registered() -> None:
    assert MODELS.get("linear") is LinearConfig
    assert LinearConfig.columns == ("goalcount", "operators", "deletes") and not LinearConfig.operators


def test_features() -> None:
    x = LinearConfig().inputs(WORDS, rows([2, 0, 1], [4, 0, 3], [6, 0, 1]))
    assert x.dtype == torch.float32
    np.testing.assert_allclose(x.numpy(), [[2, 4, 6, 1.5], [0, 0, 0, 0], [1, 3, 1, 1 / 3]], rtol=1e-6)
    assert LinearConfig().inputs(WORDS, rows([], [], [])).shape == (0, 4)


@pytest.mark.slow
def test_known_weights_are_found() -> None:
    rng = np.random.default_rng(0)
    states = rows(*rng.integers(0, 9, (3, 200)))
    x = LinearConfig().inputs(WORDS, states)
    known = torch.tensor([[0.5, 1.25, -0.75, 2.0], [0.0, 0.1, 0.3, -0.2]])
    target = x @ known.t() + torch.tensor([3.0, -1.0])
    torch.manual_seed(0)
    model = LinearConfig().build(WORDS, 2)
    steps = [torch.zeros_like(parameter) for parameter in model.parameters()]
    for _ in range(1000):  # gradient descent with momentum; torch's optimisers take seconds to import
        error = (model(x) - target).square().mean()
        gradients = torch.autograd.grad(error, list(model.parameters()))
        with torch.no_grad():
            for parameter, step, gradient in zip(model.parameters(), steps, gradients, strict=True):
                parameter += step.mul_(0.95).sub_(gradient, alpha=0.005)
    np.testing.assert_allclose(model.weight.detach().numpy(), known.numpy(), atol=1e-3)
    np.testing.assert_allclose(model.bias.detach().numpy(), [3, -1], atol=1e-2)


def test_torch_s_seed_fixes_the_weights() -> None:
    weights = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        weights.append(LinearConfig().build(WORDS, 1).weight)
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])


def test_it_needs_no_torch_before_it_is_built() -> None:
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from hstar.models import MODELS\n"
        "assert MODELS.get('linear')() == MODELS.get('linear')()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
