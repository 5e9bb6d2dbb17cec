"""`prolonged` ("Value Function Learning via Prolonged Backward Heuristic Search"): exact labels, safe values.

1. One backward search, prolonged beyond the start, labels states with their exact cost-to-go.
2. A network learns the labels under a loss that fears values that are too high.
3. The search bounds its values between an admissible heuristic and eps times that.

The paper has maps (`prolonged_map.py`). The same for other spaces is ours: one planning task
(`sampling/prolonged_task.py` and a network over atoms), puzzles and own spaces (`prolonged_states.py`).
"""

from __future__ import annotations

from hstar.recipes.prolonged_map import ProlongedMap
from hstar.recipes.prolonged_states import ProlongedOwn, ProlongedPuzzle
from hstar.recipes.recipe import Recipe, enter
from hstar.recipes.sampled_task import SampledTask

NAME = "prolonged"
OF_A_TASK = {"batch_size": 512, "epochs": 40, "schedule": "cosine", "patience": 40}

enter(
    Recipe(
        NAME,
        "Value Function Learning via Prolonged Backward Heuristic Search",
        {
            "map": ProlongedMap(),
            "task": SampledTask(NAME, "prolonged", {"default": OF_A_TASK}, estimate="asymmetric"),
            "puzzle": ProlongedPuzzle(),
            "own": ProlongedOwn(),
        },
    )
)
