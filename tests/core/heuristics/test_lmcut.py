"""lmcut where costs reach the largest value that a heuristic can have."""

from __future__ import annotations

from pathlib import Path

import pytest

import hstar
from hstar.errors import UnsupportedError

TASK = """\
begin_version
3
end_version
begin_metric
1
end_metric
2
begin_variable
var0
-1
4
Atom n(0)
Atom n(1)
Atom n(2)
Atom n(3)
end_variable
begin_variable
var1
-1
3
Atom m(0)
Atom m(1)
Atom m(2)
end_variable
0
begin_state
0
0
end_state
begin_goal
2
0 3
1 2
end_goal
6
begin_operator
n 0 1
0
1
0 0 0 1
536870911
end_operator
begin_operator
n 1 2
0
1
0 0 1 2
536870912
end_operator
begin_operator
n 2 3
1
1 1
1
0 0 2 3
268435456
end_operator
begin_operator
m 0 1
0
1
0 1 0 1
1000000
end_operator
begin_operator
m 1 2
0
2
0 1 1 2
0 0 -1 0
7
end_operator
begin_operator
m back
0
1
0 1 -1 0
0
end_operator
0
"""


def test_values_above_the_largest_cost_end(tmp_path: Path) -> None:
    path = tmp_path / "task.sas"
    path.write_text(TASK)
    with pytest.raises(UnsupportedError, match="path costs above"):
        hstar.solve(hstar.load(path), "lmcut", "gbfs", time_limit=10)
