"""Your own state space: Lights Out on a 5 x 5 board.

A press toggles a lamp and its neighbours; all lamps must go out.

hstar check examples/own_space.py:Lights
hstar solve examples/own_space.py:Lights --search gbfs --heuristic zero
python examples/own_space.py
"""

import numpy as np

import hstar

SIDE = 5
MOVES = [
    sum(
        1 << (r * SIDE + c)
        for r, c in ((row, col), (row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1))
        if 0 <= r < SIDE and 0 <= c < SIDE
    )
    for row in range(SIDE)
    for col in range(SIDE)
]


class Lights:
    """Plain functions: a state is anything hashable, here the lamps that are on as bits of a number."""

    start = MOVES[0] ^ MOVES[7] ^ MOVES[12] ^ MOVES[18]
    goals = (0,)

    def is_goal(self, state):
        return state == 0

    def successors(self, state):
        return [(f"press {i}", state ^ move, 1) for i, move in enumerate(MOVES)]

    predecessors = successors  # a press undoes itself

    def lower_bound(self, state):
        return -(-state.bit_count() // 5)  # a press changes at most five lamps

    def encode(self, states):
        """The inputs of a network that learns a heuristic: a row of 25 bits for each state."""
        return np.asarray(states, dtype=np.uint32)[:, None] >> np.arange(SIDE * SIDE, dtype=np.uint32) & 1


class LightsBatch(Lights):
    """The same with vectorised functions, which get an array of states; several times as fast."""

    start = np.uint32(Lights.start)
    moves = np.array(MOVES, dtype=np.uint32)
    action_names = tuple(f"press {i}" for i in range(len(MOVES)))

    def is_goal_batch(self, states):
        return states == 0

    def successors_batch(self, states):
        after = states[:, None] ^ self.moves
        parents = np.repeat(np.arange(len(states)), len(self.moves))
        return after.reshape(-1), parents, 1

    def lower_bound_batch(self, states):
        lamps = np.unpackbits(states.view(np.uint8).reshape(len(states), -1), axis=1).sum(axis=1)
        return (lamps + 4) // 5


if __name__ == "__main__":
    for space in (Lights(), LightsBatch()):
        print(hstar.solve(space, "lower_bound", search="astar"))
