"""Your own model: a torch module from the inputs of states to outputs, trained for your own space.

python examples/own_model.py [STATES]
"""

import sys

from own_space import Lights
from torch import nn

import hstar


class Board(nn.Module):
    """Sees the 25 lamps as a picture."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.board = nn.Conv2d(1, 8, kernel_size=3, padding=1)
        self.values = nn.Linear(8 * inputs, outputs)

    def forward(self, lamps):
        return self.values(self.board(lamps.view(-1, 1, 5, 5)).relu().flatten(1))


if __name__ == "__main__":
    states = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    model = hstar.train("prolonged", Lights(), model=Board, states=states, epochs=5, seed=0)
    print(model)
    print(hstar.solve(Lights(), model, search="astar"))
