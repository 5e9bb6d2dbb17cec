"""Learns values of maps by prolonged backward search, plans with them, and draws what was explored.

python examples/prolonged.py map.svg [UPDATES]

The cells can be run one after the other in an editor that knows notebooks.
"""

# %% Scenarios: 30 x 30 cells, a third of them blocked, a start and a goal on each.
import sys
from pathlib import Path

from hstar.experiments.grid_picture import Panel, draw
from hstar.recipes import train
from hstar.sampling.prolonged import OptimalPath, Prolonged
from hstar.search.solve import solve
from hstar.spaces.grid_maps import random_problems

picture = Path(sys.argv[1] if len(sys.argv) > 1 else "map.svg")
updates = int(sys.argv[2]) if len(sys.argv) > 2 else 200
scenarios = random_problems(60, seed=0)

# %% One backward search labels many states; prolonging it labels more of them, around the path.
first = scenarios[0]
print("states of the optimal path:", len(OptimalPath().sample(first)))
for k_pr in (1.0, 2.0, 5.0):
    print(f"labels for k_pr = {k_pr:g}:", len(Prolonged(k_pr=k_pr, open=False).sample(first)))

# %% A network learns the labels of all scenarios.
model = train("prolonged", scenarios, k_pr=2.0, a=0.0, updates=updates)
print(f"loss on held-out scenarios: {model.summary['best_loss']:.1f}")

# %% A* on fresh maps: the value map is bounded, so that paths cost at most eps times the optimum.
eps = 2.0
expanded = {"manhattan": 0, "learned": 0}
for problem in random_problems(20, seed=1):
    plain = solve(problem, None, "astar")
    guided = solve(problem, model.build(problem).values, "astar", eps=eps)
    assert guided.plan_cost <= eps * plain.plan_cost
    expanded["manhattan"] += plain.expanded
    expanded["learned"] += guided.expanded
print("expanded states on 20 fresh maps:", expanded)

# %% Both searches on one of them, side by side, with the value map below.
values = model.build(problem).values
plain = solve(problem, None, "astar", explored=True)
guided = solve(problem, values, "astar", eps=eps, explored=True)
draw(
    picture,
    problem,
    [
        Panel(f"manhattan: {plain.expanded} expanded", plain),
        Panel(f"learned, eps {eps:g}: {guided.expanded} expanded", guided, values),
    ],
)
print(picture)
