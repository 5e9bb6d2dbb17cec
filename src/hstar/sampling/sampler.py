"""The contract of a sampler: options in, a task in, labelled states out.

A registered sampler is a frozen dataclass with its options; the same options, seed and task give the same
data. Labels count steps: every operator costs 1, whatever the task says, unless a sampler says otherwise.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hstar.errors import InputError
from hstar.options import Checked, configured
from hstar.registry import Registry, unknown
from hstar.sampling.dataset import Dataset
from hstar.spaces.task import Task


class Sampler(Checked, ABC):
    """Options of a sampler, and the data they give. `profiles` are named sets of options."""

    name: ClassVar[str]
    profiles: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @abstractmethod
    def sample(self, task: Task) -> Dataset:
        """Labelled states of a task; an `UnsupportedError` if the task needs what the sampler cannot do."""


SAMPLERS: Registry[type[Sampler]] = Registry("sampler")


def make_sampler(name: str, profile: str | None = None, **options: Any) -> Sampler:
    """The sampler called `name`: its defaults, changed by a profile, changed by single options."""
    kind = SAMPLERS.get(name)
    if profile is not None and profile not in kind.profiles:
        raise unknown(f"profile of {name}", profile, list(kind.profiles))
    chosen = {} if profile is None else kind.profiles[profile]
    return configured(kind, {**chosen, **options}, f"option of {name}")


def atom_names(task: Task) -> tuple[str, ...]:
    """The atoms of encoded states, in the order of their bits: `on(a, b)`."""
    names = task.core.fact_names
    return tuple(names[variable][value].removeprefix("Atom ") for variable, value in task.core.atom_facts)


def labelled(
    task: Task,
    sampler: Sampler,
    states: npt.NDArray[np.uint64],
    label: npt.NDArray[Any],
    *,
    lower: npt.NDArray[np.float32] | None = None,
    upper: npt.NDArray[np.float32] | None = None,
) -> Dataset:
    """The states of one task with where they come from."""
    if not task.core.atom_facts:
        raise InputError(f"{task.name} has no atoms to learn from")
    return Dataset(
        atoms=atom_names(task),
        states=states,
        label=label.astype(np.float32),
        instance=np.zeros(len(label), dtype=np.int32),
        lower=lower,
        upper=upper,
        provenance={
            "sampler": sampler.name,
            "options": json.dumps(asdict(sampler)),  # type: ignore[call-overload]
            "task": task.name,
        },
    )


def upper_bounds(label: npt.NDArray[Any], bound: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """Labels that are known not to be below h*, NaN for the others."""
    return np.where(bound, label, np.nan).astype(np.float32)
