"""Evaluations per second of the 250-wide residual network inside greedy best-first search, five ways.

(a) PyTorch, one state a call; (b) PyTorch, all successors of a node in one call; (c) native, first layer
summed up afresh; (d) native, first layer updated from the parent; (e) as (d), further layers in int16. Same
random network, same task, same search; ff beside them for a comparison over the number of atoms (O'Toole et
al., ICAPS 2022, Fig. 4). Also the native batch kernel as a share of what PyTorch's product of large matrices
reaches on one thread.

Each rate is a record of its own (records.py). Without tasks, the five of RESULTS.md are measured, from the
folder of benchmarks beside the repository.

python benchmarks/network.py [TASK ...] [--seconds 3] [--out FILE]; tables of what it keeps: --print FILE
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from records import (
    UNKNOWN,
    Record,
    Records,
    add_file_options,
    build,
    finish,
    note,
    shown,
    stored,
    table,
    those,
    values_of,
)

import hstar
from hstar import _core
from hstar.errors import InputError
from hstar.search.heuristics import Heuristic

WIDTH = 250

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "benchmarks"
TASKS = {
    "blocks 14-0": "ipc/blocks/probBLOCKS-14-0.pddl",
    "blocks 30-1": "ferber21/blocks/hard/probBLOCKS-30-1/base.pddl",
    "depot p12": "ferber21/depot/hard/p12/base.pddl",
    "npuzzle n6-1": "ferber21/npuzzle/moderate/prob-n6-1/base.pddl",
    "transport p32": "ferber21/transport-opt14-strips/hard/p32/base.pddl",
}
SINGLE, INCREMENTAL = "(a) PyTorch, single", "(d) native, incremental"
WAYS = (
    *(SINGLE, "(b) PyTorch, successors batched", "(c) native, refresh"),
    *(INCREMENTAL, "(e) int16", "ff"),
)
KEY = ("part", "build", "task", "file", "way", "seconds")
TABLES = ("rates", "kernel")


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


class Native:
    """The core's heuristic as `solve` takes it."""

    def __init__(
        self, net: PaperNet, inputs: list[int], incremental: bool, precision: str = "float32"
    ) -> None:
        self.net, self.inputs, self.incremental, self.precision = net, inputs, incremental, precision

    def build(self, task: hstar.Task) -> _core.Heuristic:
        """For `solve`."""
        network = native(self.net, self.precision)
        model = _core.atom_model(task.core, network, self.inputs, self.incremental)
        return _core.believed_heuristic(task.native, model, name="network", scale=1024)


@dataclass(frozen=True)
class Searches:
    """A task, the inputs of its network, and what guides the search by the names of WAYS."""

    task: hstar.Task
    atoms: int
    heuristics: dict[str, Heuristic]


@functools.cache
def searches(path: Path) -> Searches:
    """All ways with the same random network."""
    task = hstar.load(path)
    inputs, offsets = encoder(task)
    atoms = max(inputs) + 1
    torch.manual_seed(0)
    net = PaperNet(atoms).eval()
    columns_of = np.array(inputs)

    def dense(states: np.ndarray) -> torch.Tensor:
        columns = columns_of[states + offsets]
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

    heuristics: list[Heuristic] = [
        single,
        batched,
        Native(net, inputs, incremental=False),
        Native(net, inputs, incremental=True),
        Native(net, inputs, incremental=True, precision="int16"),
        "ff",
    ]
    return Searches(task, atoms, dict(zip(WAYS, heuristics, strict=True)))


def measure(path: Path, way: str, seconds: float) -> Record:
    """One search."""
    found = searches(path)
    result = hstar.solve(found.task, found.heuristics[way], "gbfs", time_limit=seconds)
    note(f"{path}: {way}: {result.evaluated / result.search_time:,.0f}")
    times = {"search_time": result.search_time, "cpu_time": result.cpu_time}
    return {"atoms": found.atoms, "evaluations": result.evaluated, **times}


def kernel() -> Record:
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
    return {"native_gflops": own, "torch_gflops": peak}


# --- report ---------------------------------------------------------------------------------------


def rate_table(records: Sequence[Record]) -> str:
    """Evaluations per second of search by the wall clock, a row a task."""
    measured, rows = those(records, part="rates"), []
    for task, file in values_of(measured, "task", "file"):
        mine = those(measured, task=task, file=file)
        rates = {r["way"]: r["evaluations"] / r["search_time"] for r in mine}
        gain = f"{rates[INCREMENTAL] / rates[SINGLE]:.1f}" if {SINGLE, INCREMENTAL} <= set(rates) else UNKNOWN
        cells = [f"{rates[way]:,.0f}" if way in rates else UNKNOWN for way in WAYS]
        rows.append([task, f"{mine[0]['atoms']:,}", *cells, gain])
    return table(["task", "atoms", *WAYS, "(d)/(a)"], rows)


def kernel_text(records: Sequence[Record]) -> str:
    """A sentence; empty if this has not been measured."""
    last = [(r["native_gflops"], r["torch_gflops"]) for r in those(records, part="kernel")][-1:]
    return "".join(
        f"The batch kernel reached {own:.0f} GFLOP/s, PyTorch's product of two 1024 x 1024 matrices "
        f"{peak:.0f} on the same core: a share of {own / peak:.2f}."
        for own, peak in last
    )


def report(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    """The sections by name, each with its title."""
    return {
        "rates": ("Evaluations per second in GBFS:", rate_table(records)),
        "kernel": ("Speed of the layers:", kernel_text(records)),
    }


# --- command line ---------------------------------------------------------------------------------


def chosen_tasks(paths: Sequence[Path]) -> list[tuple[str, Path]]:
    """Names and files; of RESULTS.md if none are given."""
    if paths:
        return [(path.stem, path) for path in paths]
    if not FOLDER.is_dir():
        raise InputError("no such folder: name the tasks to measure", file=FOLDER)
    return [(name, FOLDER / path) for name, path in TASKS.items()]


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Network evaluations per second inside GBFS.")
    parser.add_argument("tasks", nargs="*", type=Path, help=".sas, or .pddl beside its domain")
    parser.add_argument("--seconds", type=float, default=3.0, help="for a search (default: %(default)s)")
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    if options.file is not None:
        known = stored(options.file, TABLES, [name for name in KEY if name != "seconds"])
        print(shown(report(known), known, options.table, options.file))
        return 0
    torch.set_num_threads(1)
    records = Records(options.out, KEY)
    for name, path in chosen_tasks(options.tasks):
        file = str(path) if options.tasks else TASKS[name]
        what = {"part": "rates", "build": build(), "task": name, "file": file, "seconds": options.seconds}
        for way in WAYS:
            records.get({**what, "way": way}, functools.partial(measure, path, way, options.seconds))
    records.get({"part": "kernel", "build": build()}, kernel)
    print(shown(report(records.used), records.used, options.table))
    return 0


if __name__ == "__main__":
    finish(main)
