"""Options of `hgn` and how it reads states, without torch.

The network itself is in `hgn.py`, which is imported when one is built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from hstar.errors import UnsupportedError
from hstar.models.hypergraph import Hypergraph, Hypergraphs, hypergraph, hypergraphs
from hstar.models.model import MODELS
from hstar.models.relational_model import StateRows, TorchModel
from hstar.options import Checked, option
from hstar.spaces.relations import Relations, Vocabulary

if TYPE_CHECKING:
    from hstar.models.hgn import HGN

MOST_SLOTS = 1000  # of senders or receivers; each slot has its weights


@MODELS.register("hgn")
@dataclass(frozen=True)
class HGNConfig(Checked, TorchModel):
    """Options of the hypergraph network.

    `normalise` is ours: sums over hyperedges and nodes, and plain counts of them, leave the range that
    training has seen as soon as tasks are larger, and the outputs explode.
    """

    name: ClassVar[str] = "hgn"
    operators: ClassVar[bool] = True

    hidden: int = option(32, "Units of a layer and of a latent vector.", least=1)
    steps: int = option(4, "Rounds of message passing.", least=1)
    senders: int = option(7, "Most preconditions of an operator.", least=1, most=MOST_SLOTS)
    receivers: int = option(3, "Most atoms that an operator adds.", least=1, most=MOST_SLOTS)
    global_features: bool = option(True, "Tell the network how many atoms and operators there are.")
    normalise: bool = option(False, "Means instead of sums, and logarithms of the counts.")

    def encode(self, words: Vocabulary, relations: Relations) -> Hypergraph:
        """The hypergraph of an instance; an `UnsupportedError` if an operator does not fit in the slots."""
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
        """The hypergraphs of some states."""
        return hypergraphs(states, self.receivers + self.senders)

    def build(self, words: Vocabulary, outputs: int) -> HGN:
        """A network with fresh weights."""
        from hstar.models.hgn import HGN

        return HGN(outputs, self)
