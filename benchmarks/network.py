"""Evaluations per second of the 250-wide residual network inside greedy best-first search, five ways.

(a) PyTorch, one state a call; (b) PyTorch, all successors of a node in one call; (c) native, first layer
summed up afresh; (d) native, first layer updated from the parent; (e) as (d), further layers in int16. Same
random network, same task, same search; ff beside them for a comparison over the number of atoms (O'Toole et
al., ICAPS 2022, Fig. 4). Also the native batch kernel as a share of what PyTorch's product of large matrices
reaches on one thread.

python benchmarks/network.py TASK.sas ... [--seconds 5]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch

import hstar
from hstar import _core

WIDTH = 250


class PaperNet(torch.nn.Module):
    """|F|-250-250-[250-250]-1 with ReLU."""

    def __init__(self, atoms: int) -> None:
        super().__init__()
        self.first = torch.nn.Linear(atoms, WIDTH)
        self.second = torch.nn.Linear(WIDTH, WIDTH)
        self.inner = torch.nn.Linear(WIDTH, WIDTH)
        self.outer = torch.nn.Linear(WIDTH, WIDTH)
        self.head = torch.nn.Linear(WIDTH, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Raw outputs (states, 1)."""
        x = torch.relu(self.second(torch.relu(self.first(x))))
        x = torch.relu(x + self.outer(torch.relu(self.inner(x))))
        out: torch.Tensor = self.head(x)
        return out


def native(net: PaperNet, precision: str = "float32") -> _core.Network:
    """The same network for the core."""

    def pair(layer: torch.nn.Linear) -> list[np.ndarray]:
        return [layer.weight.detach().numpy(), layer.bias.detach().numpy()]

    rows = np.ascontiguousarray(net.first.weight.detach().numpy().T)
    blocks = [pair(net.second), [*pair(net.inner), *pair(net.outer)]]
    head, head_bias = pair(net.head)
    bias = net.first.bias.detach().numpy()
    return _core.Network.make(rows, bias, blocks, head, head_bias, False, precision)


def encoder(task: hstar.Task) -> tuple[list[int], np.ndarray]:
    """Per fact its input or -1, and the first fact of each variable."""
    inputs: list[int] = []
    offsets = []
    for atoms in task.atoms:
        offsets.append(len(inputs))
        for atom in atoms:
            inputs.append(-1 if atom is None else sum(i >= 0 for i in inputs))
    return inputs, np.array(offsets)


def rate(task: hstar.Task, heuristic: hstar.search.heuristics.Heuristic, seconds: float) -> float:
    """Evaluations per second of search."""
    result = hstar.solve(task, heuristic, "gbfs", time_limit=seconds)
    return result.evaluated / result.search_time


class Native:
    """The core's heuristic as `solve` takes it."""

    def __init__(
        self, net: PaperNet, inputs: list[int], incremental: bool, precision: str = "float32"
    ) -> None:
        self.net, self.inputs, self.incremental, self.precision = net, inputs, incremental, precision

    def build(self, task: hstar.Task) -> _core.Heuristic:
        """For `solve`."""
        network = native(self.net, self.precision)
        return _core.learned_heuristic(task.core, network, self.inputs, "network", 1024, self.incremental)


def measure(path: Path, seconds: float) -> list[str]:
    """One row of the table."""
    task = hstar.load(path)
    inputs, offsets = encoder(task)
    atoms = max(inputs) + 1
    torch.manual_seed(0)
    net = PaperNet(atoms).eval()
    table = np.array(inputs)

    def dense(states: np.ndarray) -> torch.Tensor:
        columns = table[states + offsets]
        out = np.zeros((len(states), atoms + 1), dtype=np.float32)
        np.put_along_axis(out, np.where(columns < 0, atoms, columns), 1, axis=1)
        return torch.from_numpy(out[:, :atoms])

    @torch.inference_mode()
    def batched(states: np.ndarray) -> np.ndarray:
        values: np.ndarray = net(dense(states))[:, 0].numpy()
        return values

    @torch.inference_mode()
    def single(states: np.ndarray) -> np.ndarray:
        inputs = dense(states)
        return np.array([float(net(inputs[i : i + 1])[0, 0]) for i in range(len(states))])

    rates = [
        rate(task, single, seconds),
        rate(task, batched, seconds),
        rate(task, Native(net, inputs, incremental=False), seconds),
        rate(task, Native(net, inputs, incremental=True), seconds),
        rate(task, Native(net, inputs, incremental=True, precision="int16"), seconds),
        rate(task, "ff", seconds),
    ]
    return [path.stem, str(atoms), *(f"{r:,.0f}" for r in rates), f"{rates[3] / rates[0]:.1f}"]


def kernel_share() -> str:
    """GFLOP/s of the native batch kernel and of a large matrix product of PyTorch on one thread."""
    torch.manual_seed(0)
    net = native(PaperNet(200))
    states = np.random.default_rng(0).integers(0, 2, (256 * 64, 200)).astype(np.uint8)
    states[:, 20:] = 0  # about ten atoms hold
    net.run(states)
    start = time.perf_counter()
    net.run(states)
    own = len(states) * 2 * 3 * WIDTH * WIDTH / (time.perf_counter() - start) / 1e9
    a = torch.randn(1024, 1024)
    a @ a
    start = time.perf_counter()
    for _ in range(10):
        a @ a
    peak = 10 * 2 * 1024**3 / (time.perf_counter() - start) / 1e9
    return f"native {own:.0f} GFLOP/s, PyTorch's matrix product {peak:.0f} GFLOP/s, share {own / peak:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Network evaluations per second inside GBFS.")
    parser.add_argument("tasks", nargs="+", type=Path, help=".sas files")
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    ways = ["(a) torch", "(b) batched", "(c) refresh", "(d) incremental", "(e) int16"]
    columns = ["task", "atoms", *ways, "ff", "(d)/(a)"]
    print(f"| {' | '.join(columns)} |\n|---|{'---:|' * 8}")
    for path in options.tasks:
        print("| " + " | ".join(measure(path, options.seconds)) + " |", flush=True)
    print(kernel_share(), file=sys.stderr)


if __name__ == "__main__":
    main()
