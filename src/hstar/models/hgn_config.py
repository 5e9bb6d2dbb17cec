"""Options of `hgn` and how it reads states, without torch: hypergraphs as lists of numbers.

The nodes are the atoms that occur in operators or the goal; every operator is a hyperedge from its
preconditions (senders) to what it adds (receivers). Neighbours of a hyperedge are in the order of the names
of their atoms and take slots: first those for receivers, then those for senders.

`hgn` multiplies the latents of nodes by the weights of a slot before hyperedges add them up. The results are
rows of a table: one for every slot and node that meet, and one for every kind of hyperedge (how many senders
and receivers it has). Lists say which rows a hyperedge adds up, and which hyperedges a node does. Gradients
flow the other way, so each of them is there in both directions.

Invariants: a node or hyperedge has in a batch its number in the instance plus where its state begins; rows
are ordered by slots over all states, so that each slot is one product of matrices. Nothing in a batch is done
by a loop in Python over atoms or operators. The network itself is in `hgn.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from hstar.errors import UnsupportedError
from hstar.models.model import MODELS
from hstar.models.relational_model import RelationalModel, StateRows
from hstar.options import Checked, option
from hstar.spaces.relations import Relations, Vocabulary

if TYPE_CHECKING:
    from torch import Tensor

    from hstar.models.hgn import HGN

Numbers: TypeAlias = npt.NDArray[np.int32]  # half the memory of int64
Slots: TypeAlias = npt.NDArray[np.uint16]  # NumPy sorts these in linear time
Floats: TypeAlias = npt.NDArray[np.float32]

NODE_TYPES = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]  # features of a node: in state, in goal
_MOST_ROWS = 1 << 16  # that hyperedges of the states of a forward pass add up in a search
MOST_SLOTS = 1000  # of senders or receivers; each slot has its weights


@MODELS.register("hgn")
@dataclass(frozen=True)
class HGNConfig(Checked, RelationalModel):
    """Options of the hypergraph network.

    `normalise` is ours: sums over hyperedges and nodes, and plain counts of them, leave the range that
    training has seen as soon as tasks are larger, and the outputs explode.
    """

    name: ClassVar[str] = "hgn"
    operators: ClassVar[bool] = True

    hidden: int = option(32, "Units of a layer and of a latent vector.", least=1, most=4096)
    steps: int = option(4, "Number of rounds of message passing.", least=1, most=1024)
    senders: int = option(7, "Greatest number of preconditions of an operator.", least=1, most=MOST_SLOTS)
    receivers: int = option(3, "Most atoms that an operator adds.", least=1, most=MOST_SLOTS)
    global_features: bool = option(True, "Tell the network how many atoms and operators there are.")
    normalise: bool = option(False, "Means instead of sums, and logarithms of the counts.")

    def encode(self, words: Vocabulary, relations: Relations) -> Hypergraph:
        """The hypergraph of an instance; an `UnsupportedError` if an operator does not fit in the slots."""
        relations.check_positive_goal(self.name)
        operators = relations.operators
        if not operators:
            raise UnsupportedError(
                f"{self.name} reads ground operators, and this problem of {words.domain} has none"
            )
        self._check("senders", "preconditions", max(len(operator.preconditions) for operator in operators))
        self._check("receivers", "added atoms", max(len(operator.adds) for operator in operators))
        return hypergraph(relations, self.receivers, self.senders)

    def _check(self, option: str, parts: str, most: int) -> None:
        slots = getattr(self, option)
        if most > slots:
            raise UnsupportedError(
                f"an operator has {most} {parts}, but {self.name} has slots for {slots}: "
                f"raise {option} to {most}"
            )

    def inputs(self, words: Vocabulary, states: StateRows) -> Hypergraphs:
        return hypergraphs(states, self.receivers + self.senders)

    def search_inputs(self, words: Vocabulary, states: StateRows) -> Iterator[Hypergraphs]:
        rows = np.array([len(graph.edge_rows.entries) for graph in states.instances])
        most = max(1, _MOST_ROWS // int(rows.max()))
        for begin in range(0, len(states), most):
            yield self.inputs(words, states.part(begin, begin + most))

    def build(self, words: Vocabulary, outputs: int) -> HGN:
        from hstar.models.hgn import HGN

        return HGN(outputs, self)


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of numbers, behind one another, and how long each is."""

    entries: Numbers
    lengths: Numbers


@dataclass(frozen=True, eq=False)
class Hypergraph:
    """The hypergraph of an instance. Nodes, hyperedges and rows have numbers from 0 on."""

    node: Numbers  # of every atom of the `Relations`; -1 for none
    goal: npt.NDArray[np.bool_]  # per node
    kinds: Floats  # of hyperedges: cost (1), senders, receivers
    row_slot: Slots  # of every row; those of kinds come last, as if there were one slot more
    row_node: Numbers  # of every row of a slot
    edge_rows: Lists
    row_edges: Lists
    node_rows: Lists
    node_edges: Lists  # of which it is a receiver
    edge_nodes: Lists  # its receivers, and behind them a place for its state

    @property
    def edges(self) -> int:
        return len(self.edge_rows.lengths)


class Hypergraphs(NamedTuple):
    """Those of a batch of states, as tensors. Where list i begins is in `..._starts`, with one start more.

    Rows of one slot are behind one another. Every state counts as a receiver of all its hyperedges; such
    receivers have the numbers after those of all nodes.
    """

    types: Tensor  # (nodes, 4): 1 at the place that its features have in `NODE_TYPES`, else 0
    kinds: Tensor  # (rows of kinds, 3)
    counts: Tensor  # (states, 2): nodes, hyperedges
    slot_sizes: Tensor  # (slots,): rows of each
    row_nodes: Tensor  # (rows of slots,)
    node_rows: Tensor
    node_rows_starts: Tensor
    edge_rows: Tensor
    edge_rows_starts: Tensor
    row_edges: Tensor
    row_edges_starts: Tensor
    node_edges: Tensor
    node_edges_starts: Tensor
    edge_nodes: Tensor
    edge_nodes_starts: Tensor
    node_states: Tensor  # (nodes,)
    state_starts: Tensor  # (states + 1,): where its nodes begin

    def of_edges(self) -> tuple[Tensor, ...]:
        """The rows that hyperedges add up, and the other direction."""
        return self.edge_rows, self.edge_rows_starts, self.row_edges, self.row_edges_starts

    def of_receivers(self) -> tuple[Tensor, ...]:
        """The hyperedges that nodes and states add up, and the other direction."""
        return self.node_edges, self.node_edges_starts, self.edge_nodes, self.edge_nodes_starts


# --- an instance ----------------------------------------------------------------------------------------


def hypergraph(relations: Relations, receivers: int, senders: int) -> Hypergraph:
    """That of the operators and the goal, with so many slots for receivers and senders of a hyperedge."""
    sent, of_sent = _flat([operator.preconditions for operator in relations.operators])
    received, of_received = _flat([operator.adds for operator in relations.operators])
    goal = np.array([relations.number[atom] for atom in relations.goal], dtype=np.int64)
    atoms = np.unique(np.concatenate([sent, received, goal]))
    sent, received = np.searchsorted(atoms, sent), np.searchsorted(atoms, received)
    node = np.full(len(relations.atoms), -1, dtype=np.int32)
    node[atoms] = np.arange(len(atoms))

    # 1. Kinds of hyperedges.
    edges = np.arange(len(relations.operators))
    counts = [np.bincount(edge, minlength=len(edges)) for edge in (of_sent, of_received)]
    kinds, kind = np.unique(np.stack(counts, axis=1), axis=0, return_inverse=True)

    # 2. Rows: by slots, and in a slot by nodes or kinds.
    wide = max(len(atoms), len(kinds))
    slot = np.concatenate([_places(of_received), receivers + _places(of_sent)])
    code = slot * wide + np.concatenate([received, sent])
    codes, row = np.unique(
        np.concatenate([code, (receivers + senders) * wide + kind.reshape(-1)]), return_inverse=True
    )
    row_node = codes[: np.searchsorted(codes, (receivers + senders) * wide)] % wide

    # 3. What is linked to what.
    edge = np.concatenate([of_received, of_sent, edges])
    return Hypergraph(
        node=node,
        goal=np.isin(atoms, goal),
        kinds=np.concatenate([np.ones((len(kinds), 1)), kinds], axis=1).astype(np.float32),
        row_slot=(codes // wide).astype(np.uint16),
        row_node=row_node.astype(np.int32),
        edge_rows=_lists(edge, row, len(edges)),
        row_edges=_lists(row, edge, len(codes)),
        node_rows=_lists(row_node, np.arange(len(row_node)), len(atoms)),
        node_edges=_lists(received, of_received, len(atoms)),
        edge_nodes=_lists(
            np.concatenate([of_received, edges]),
            np.concatenate([received, np.zeros_like(edges)]),
            len(edges),
        ),
    )


def _flat(given: Sequence[Sequence[int]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The entries of all, and of which each is."""
    lengths = [len(entries) for entries in given]
    entries = np.fromiter((entry for entries in given for entry in entries), np.int64, sum(lengths))
    return entries, np.repeat(np.arange(len(given)), lengths)


def _places(of: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The place of each entry in its list, from 0 on; `of` says which list that is, and never falls."""
    return np.arange(len(of)) - np.searchsorted(of, of)


def _lists(of: npt.NDArray[Any], entries: npt.NDArray[Any], number: int) -> Lists:
    """So many lists from entries and the list that each is in."""
    order = np.argsort(of, kind="stable")
    return Lists(entries[order].astype(np.int32), np.bincount(of, minlength=number).astype(np.int32))


# --- a batch --------------------------------------------------------------------------------------------


def hypergraphs(states: StateRows, slots: int) -> Hypergraphs:
    """Those of some states as one hypergraph whose parts are not connected."""
    import torch

    used, which = np.unique(states.instance, return_inverse=True)
    shared: list[Hypergraph] = [states.instances[i] for i in used.tolist()]
    graphs = [shared[i] for i in which.tolist()]
    numbers = [(len(g.goal), g.edges, len(g.row_slot)) for g in shared]
    nodes, edges, rows = np.array(numbers, dtype=np.int32).reshape(-1, 3)[which].T
    first_node, first_edge, first_row = (np.cumsum(count) - count for count in (nodes, edges, rows))

    # 1. Rows by slots: `order` has them, `place` is where each went.
    slot = _join([g.row_slot for g in graphs], np.uint16)
    order = np.argsort(slot, kind="stable")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    sizes = np.bincount(slot, minlength=slots + 1)

    # 2. Lists, with the numbers that things have in the batch.
    row_node = np.zeros(len(slot), dtype=np.int32)
    row_node[slot < slots] = _moved([g.row_node for g in graphs], first_node)
    node_rows = _all([g.node_rows for g in graphs], first_row)
    edge_rows = _all([g.edge_rows for g in graphs], first_row)
    row_edges = _reordered(_all([g.row_edges for g in graphs], first_edge), order)
    node_edges = _all([g.node_edges for g in graphs], first_edge)
    edge_nodes = _all([g.edge_nodes for g in graphs], first_node)
    state = np.arange(len(graphs), dtype=np.int32)
    # The last of each list is the place for the state.
    edge_nodes.entries[np.cumsum(edge_nodes.lengths) - 1] = np.repeat(nodes.sum() + state, edges)

    # 3. Types of nodes.
    type_ = 2 * _join([g.goal for g in graphs], np.int64)
    first_atom = np.cumsum([0, *(len(g.node) for g in shared)])
    held = _join([g.node for g in shared], np.int32)[first_atom[which[states.state]] + states.atom]
    type_[(first_node[states.state] + held)[held >= 0]] += 1
    types = np.zeros((len(type_), len(NODE_TYPES)), dtype=np.float32)
    types[np.arange(len(type_)), type_] = 1

    arrays = {
        "types": types,
        "kinds": _join([g.kinds for g in graphs], np.float32, (0, 3)),
        "counts": np.stack([nodes, edges], axis=1).astype(np.float32),
        "slot_sizes": sizes[:slots],
        "row_nodes": row_node[order[: sizes[:slots].sum()]],
        "node_rows": place[node_rows.entries],
        "node_rows_starts": _starts(node_rows.lengths),
        "edge_rows": place[edge_rows.entries],
        "edge_rows_starts": _starts(edge_rows.lengths),
        "row_edges": row_edges.entries,
        "row_edges_starts": _starts(row_edges.lengths),
        "node_edges": np.concatenate([node_edges.entries, np.arange(edges.sum(), dtype=np.int32)]),
        "node_edges_starts": _starts(np.concatenate([node_edges.lengths, edges])),
        "edge_nodes": edge_nodes.entries,
        "edge_nodes_starts": _starts(edge_nodes.lengths),
        "node_states": np.repeat(state, nodes),
        "state_starts": _starts(nodes),
    }
    return Hypergraphs(**{name: torch.from_numpy(array) for name, array in arrays.items()})


def _join(parts: Sequence[npt.NDArray[Any]], dtype: npt.DTypeLike, empty: Any = 0) -> npt.NDArray[Any]:
    return np.concatenate([np.zeros(empty, dtype=dtype), *parts])


def _moved(parts: Sequence[Numbers], first: npt.NDArray[Any]) -> Numbers:
    """All entries, those of part i higher by `first[i]`."""
    entries = _join(parts, np.int32)
    entries += np.repeat(first.astype(np.int32), [len(part) for part in parts])
    return entries


def _all(parts: Sequence[Lists], first: npt.NDArray[Any]) -> Lists:
    """All lists, entries of part i higher by `first[i]`."""
    return Lists(
        _moved([part.entries for part in parts], first), _join([part.lengths for part in parts], np.int32)
    )


def _reordered(lists: Lists, order: npt.NDArray[Any]) -> Lists:
    lengths = lists.lengths[order]
    shift = (np.cumsum(lists.lengths) - lists.lengths)[order] - (np.cumsum(lengths) - lengths)
    taken = np.repeat(shift, lengths) + np.arange(len(lists.entries))
    return Lists(lists.entries[taken], lengths)


def _starts(lengths: Numbers) -> Numbers:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
