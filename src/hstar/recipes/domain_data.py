"""What recipes for a whole domain learn from: labelled states of small tasks (`sampling/optimal.py`)."""

from __future__ import annotations

from collections.abc import Sequence

from hstar.errors import InputError
from hstar.recipes.recipe import Run
from hstar.sampling.relational import RelationalData
from hstar.spaces.task import Task


def check_data(data: RelationalData, run: Run) -> tuple[RelationalData, RelationalData | None]:
    """The states to learn from and those to choose the best weights by; an `InputError` if they are none."""
    held_out: RelationalData | None = run.held_out
    if not data.labelled.any():
        raise InputError("no states to learn from")
    if held_out is not None and not held_out.labelled.any():
        raise InputError("no states in the held-out data")
    if held_out is not None and held_out.words != data.words:
        raise InputError(f"data of {data.words.domain}, held-out data of {held_out.words.domain}")
    return data, held_out


def origin(*data: RelationalData | None) -> tuple[str, ...]:
    """The digests of the instances that a model has seen, for its `trained_on`."""
    seen = {one.digest() for part in data if part is not None for one in part.instances if len(one)}
    return tuple(sorted(seen))


def labelled(tasks: Sequence[Task]) -> RelationalData:
    """The states of optimal plans of tasks of one domain, with siblings."""
    from hstar.sampling.optimal import NoLabelError, Optimal
    from hstar.spaces.relations import vocabulary

    words, sampler, instances = vocabulary(tasks[0]), Optimal(siblings=True), []
    reason = ""
    for number, task in enumerate(tasks, 1):
        try:
            instances.append(sampler.label(task.with_unit_cost(), words, f"{number}-{task.name}"))
        except NoLabelError as error:
            reason = error.message
    if not instances:
        raise InputError(f"none of {len(tasks)} tasks could be labelled; the last: {reason}")
    return RelationalData(words, tuple(instances))
