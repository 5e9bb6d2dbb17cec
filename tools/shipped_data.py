"""Writes the labelled data that hstar ships: src/hstar/data/NAME.data, by `make data`.

For each domain that has splits: the first problems of the training split that are solved within the limit,
with siblings, so that every recipe for a domain can learn from them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from hstar.generators.splits import GRIDS, split_instances
from hstar.sampling import relational
from hstar.sampling.optimal import NoLabelError, Optimal
from hstar.sampling.relational import RelationalData
from hstar.spaces.relations import vocabulary
from hstar.spaces.task import load_task

PROBLEMS = 40
LIMIT_S = 5.0
FOLDER = Path(__file__).parents[1] / "src" / "hstar" / "data"


def main() -> None:
    """All domains."""
    for name in GRIDS:
        found = []
        for number, instance in enumerate(split_instances(name, "train")):
            with tempfile.TemporaryDirectory() as folder:
                domain, problem = Path(folder, "domain.pddl"), Path(folder, "problem.pddl")
                domain.write_text(instance.domain)
                problem.write_text(instance.problem)
                task = load_task(domain, problem, unit_cost=True, cache=False)
                words = vocabulary(task)
                try:
                    found.append(Optimal(LIMIT_S, siblings=True).label(task, words, f"{name}{number}"))
                except NoLabelError as error:
                    print(error, file=sys.stderr)
            if len(found) == PROBLEMS:
                break
        path = FOLDER / f"{name}.data"
        relational.save(path, RelationalData(words, tuple(found)))
        print(f"{path.name}: {len(found)} problems, {path.stat().st_size / 1e6:.2f} MB", file=sys.stderr)


if __name__ == "__main__":
    main()
