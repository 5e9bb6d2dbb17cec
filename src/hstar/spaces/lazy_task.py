"""A planning task whose two sides are made when they are first asked for, and once.

A search needs the finite-domain variables, whose translation is what takes long on huge tasks; a policy over
objects and atoms needs the lifted side alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hstar.spaces.pddl import read_task
from hstar.spaces.task import Task, load_task

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from hstar.spaces.lifted import LiftedTask
    from hstar.spaces.task import Translation


@dataclass
class LazyTask:
    """A domain and a problem file; what was made of them is kept."""

    domain: Path
    problem: Path
    _task: Task | None = field(default=None, repr=False)

    @cached_property
    def lifted(self) -> LiftedTask:
        return read_task(self.domain, self.problem)

    @property
    def is_translated(self) -> bool:
        return self._task is not None

    def translated(self, **translation: Unpack[Translation]) -> Task:
        """The task for searches; a `TranslatorLimitError` at a limit."""
        if self._task is None:
            self._task = load_task(self.domain, self.problem, **translation)
            if "lifted" in self.__dict__:
                self._task.__dict__["lifted"] = self.lifted  # so that nobody reads the files again
        return self._task
