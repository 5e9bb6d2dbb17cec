"""Your own heuristic: a function of a batch of states, for a puzzle, a map, a task or your own space.

hstar check tiles:3x3 --heuristic examples/own_heuristic.py:columns
python examples/own_heuristic.py
"""

import numpy as np

import hstar

CELLS = np.arange(9)


def columns(states):
    """Tiles in a wrong column and tiles in a wrong row: never more than the moves that are left."""
    wrong = states % 3 != CELLS % 3, states // 3 != CELLS // 3
    return ((wrong[0].astype(int) + wrong[1]) * (states != 0)).sum(axis=1)


def twice(states):
    """Not admissible: the check shows a counterexample."""
    return 2 * columns(states)


if __name__ == "__main__":
    tiles = hstar.load("tiles:3x3")
    for heuristic in (columns, twice):
        print(hstar.check_heuristic(tiles, heuristic))
        print(hstar.solve(tiles.random(1), heuristic, search="astar"))
