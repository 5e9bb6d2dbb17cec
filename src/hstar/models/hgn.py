"""`hgn`: STRIPS-HGN, message passing over the hypergraph of a delete-relaxed task.

Shen, Trevizan and Thiébaux, "Learning Domain-Independent Planning Heuristics with Hypergraph Networks" (ICAPS
2020), as Núñez-Molina et al. run it ("On Using Admissible Bounds for Learning Forward Search Heuristics").
With latents of hyperedges e, nodes v and states u, those that the encoders give being e0, v0 and u0:

    e <- MLP(e0, e, v0 and v of its receivers by slots, v0 and v of its senders by slots)
    v <- MLP(sum of e of which it is a receiver, v0, v)
    u <- MLP(sum of all e, sum of all v, u0, u)

for `steps` rounds, then linear(MLP(u)). MLP is linear, leaky ReLU, linear, leaky ReLU. Features: a node has
[in state, in goal], a hyperedge [1, senders, receivers], a state [nodes, hyperedges], as they are. Options
and lists are in `hgn_config.py`, which needs no torch.

Invariant: the same function as with all latents of a hyperedge written behind one another, but for rounding.
That matrix (hyperedges, 704) is never made. The first layer of a hyperedge is a sum over slots, so latents of
nodes are multiplied by the weights of their slots first, and hyperedges add up the results; the part of v0
and e0 is made once. Nodes are far fewer than slots, and hyperedges have few kinds.

Differences: 1. no ReLU at the output, which can be born dead, as in the second paper. 2. `normalise` takes
means for sums and log(1 + n) for counts n: else both leave the range that training has seen as soon as tasks
are larger, and the outputs explode. 3. Without `global_features` the counts are zeros.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from hstar import _core
from hstar.models.hgn_config import NODE_TYPES, HGNConfig, Hypergraphs

__all__ = ["HGN", "HGNConfig"]


def _add_up(table: Tensor, entries: Tensor, starts: Tensor) -> Tensor:
    """For each list the sum of the rows of the table that it names."""
    _core.keep_limits()
    if not len(entries):  # torch refuses a table without rows
        return table.new_zeros(len(starts) - 1, table.shape[1])
    return functional.embedding_bag(entries, table, starts, mode="sum", include_last_offset=True)


class _Sums(torch.autograd.Function):
    """`_add_up` whose gradient is `_add_up` by the lists in the other direction.

    Adding to rows from a list of them, as torch would, takes several times as long.
    """

    @staticmethod
    def forward(
        ctx: Any, table: Tensor, entries: Tensor, starts: Tensor, back: Tensor, back_starts: Tensor
    ) -> Tensor:
        ctx.save_for_backward(back, back_starts)
        return _add_up(table, entries, starts)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return _add_up(gradient.contiguous(), *ctx.saved_tensors), None, None, None, None


def _sums(table: Tensor, entries: Tensor, starts: Tensor, back: Tensor, back_starts: Tensor) -> Tensor:
    found: Tensor = _Sums.apply(table, entries, starts, back, back_starts)  # type: ignore[no-untyped-call]
    return found


def _table(base: Tensor, nodes: Tensor, weights: Tensor, graphs: Hypergraphs, sizes: list[int]) -> Tensor:
    """Rows of nodes, each times the weights of its slot, added to the first rows of `base`.

    `sizes` says how many rows each slot has; they are behind one another.
    """
    every = torch.arange(len(graphs.row_nodes) + 1, dtype=torch.int32, device=nodes.device)
    rows = _sums(nodes, graphs.row_nodes, every, graphs.node_rows, graphs.node_rows_starts)
    *slots, kinds = torch.split(base, [*sizes, len(base) - len(rows)])
    return torch.cat([*map(torch.addmm, slots, torch.split(rows, sizes), weights), kinds])


class MLP(nn.Module):
    """Linear, leaky ReLU, linear, leaky ReLU."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, hidden)

    def forward(self, x: Tensor) -> Tensor:
        """(rows, inputs) to (rows, hidden)."""
        return self.rest(self.first(x))

    def rest(self, x: Tensor) -> Tensor:
        """What comes after the first layer, whose outputs are overwritten."""
        _core.keep_limits()
        x = functional.leaky_relu(x, inplace=True)
        return functional.leaky_relu(self.second(x), inplace=True)

    def blocks(self, *number: int) -> Tensor:
        """The first layer's weights for so many latents behind one another: (*number, hidden, hidden)."""
        hidden = len(self.first.weight)
        return self.first.weight.t().reshape(*number, hidden, hidden)


class HGN(nn.Module):
    """The network; see the top of the file."""

    def __init__(self, outputs: int, config: HGNConfig) -> None:
        super().__init__()
        self.config = config
        hidden = config.hidden
        self.slots = config.receivers + config.senders
        self.encode_edge = MLP(3, hidden)
        self.encode_node = MLP(2, hidden)
        self.encode_state = MLP(2, hidden)
        self.edge = MLP(2 * (1 + self.slots) * hidden, hidden)
        self.node = MLP(3 * hidden, hidden)
        self.state = MLP(4 * hidden, hidden)
        self.decode = MLP(hidden, hidden)
        self.head = nn.Linear(hidden, outputs)
        self.register_buffer("types", torch.tensor(NODE_TYPES), persistent=False)

    def forward(self, graphs: Hypergraphs) -> Tensor:
        """A batch to (states, outputs)."""
        sizes: list[int] = graphs.slot_sizes.tolist()
        shares = self._shares(graphs)
        # Blocks of first layers. For hyperedges: their own, then by slots; of each the initial latent first.
        initial, current = self.edge.blocks(1 + self.slots, 2).unbind(1)
        from_edges, from_initial, from_current = self.node.blocks(3)

        # 1. Encoders, and what first layers make of initial latents. These are the current ones, too, when
        # the first round begins.
        kinds, types = self.encode_edge(graphs.kinds), self.encode_node(self.types)
        initial_states = states = self.encode_state(self._counts(graphs.counts))
        to_edges = _sums(self._of_initial(kinds, types, initial + current, graphs, sizes), *graphs.of_edges())
        to_nodes = self._to_nodes(types, from_initial + from_current, graphs)
        table = self._of_initial(kinds, types, initial, graphs, sizes)
        same_to_nodes = self._to_nodes(types, from_initial, graphs)

        for step in range(self.config.steps):
            # 2. Hyperedges.
            edges = self.edge.rest(to_edges)

            # 3. Nodes.
            sums = _sums(edges, *graphs.of_receivers())
            sums = sums if shares is None else sums * shares
            arriving, all_edges = torch.split(sums, [len(graphs.types), len(graphs.counts)])
            nodes = self.node.rest(to_nodes.addmm_(arriving, from_edges))

            # 4. States.
            all_nodes = self._of_states(nodes, graphs)
            states = self.state(torch.cat([all_edges, all_nodes, initial_states, states], dim=1))

            # 5. First layers of the next round.
            if step + 1 < self.config.steps:
                rows = _table(table, nodes, current[1:], graphs, sizes)
                to_edges = _sums(rows, *graphs.of_edges()).addmm_(edges, current[0])
                to_nodes = torch.addmm(same_to_nodes, nodes, from_current)
        out: Tensor = self.head(self.decode(states))
        return out

    def _of_initial(
        self, kinds: Tensor, types: Tensor, weights: Tensor, graphs: Hypergraphs, sizes: list[int]
    ) -> Tensor:
        """The rows of a table from initial latents of kinds and types, and the bias."""
        own = torch.addmm(self.edge.first.bias, kinds, weights[0])
        own = functional.pad(own, (0, 0, sum(sizes), 0))  # rows of kinds come after those of slots
        return _table(own, graphs.types, types @ weights[1:], graphs, sizes)

    def _to_nodes(self, types: Tensor, weights: Tensor, graphs: Hypergraphs) -> Tensor:
        """The first layer of nodes as far as initial latents make it, with the bias."""
        return graphs.types @ torch.addmm(self.node.first.bias, types, weights)

    def _counts(self, counts: Tensor) -> Tensor:
        if not self.config.global_features:
            counts = torch.zeros_like(counts)
        return torch.log1p(counts) if self.config.normalise else counts

    def _shares(self, graphs: Hypergraphs) -> Tensor | None:
        """What a hyperedge counts for nodes and states, or None for 1."""
        if not self.config.normalise:
            return None
        return 1 / graphs.node_edges_starts.diff().clamp(min=1).to(graphs.types.dtype)[:, None]

    def _of_states(self, nodes: Tensor, graphs: Hypergraphs) -> Tensor:
        every = torch.arange(len(nodes) + 1, dtype=torch.int32, device=nodes.device)
        sums = _sums(nodes, every[:-1], graphs.state_starts, graphs.node_states, every)
        return sums / graphs.counts[:, :1].clamp(min=1) if self.config.normalise else sums
