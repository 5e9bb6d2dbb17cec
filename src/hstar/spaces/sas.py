"""The `.sas` text of a task with another initial state: what other planners are given."""

from __future__ import annotations

import re

from hstar import _core
from hstar.errors import InputError

_STATE = re.compile(rb"^begin_state\n.*?^end_state$", re.MULTILINE | re.DOTALL)


def with_state_of(text: bytes, task: _core.Task) -> bytes:
    """The translator's text from the initial state of `task`, which has the same variables.

    Derived variables get the default values that the format asks for; planners compute the others.
    """
    values = [
        default if layer >= 0 else value
        for value, default, layer in zip(
            task.initial_state, task.default_values, task.axiom_layers, strict=True
        )
    ]
    lines = b"\n".join(b"%d" % value for value in values)
    changed, count = _STATE.subn(b"begin_state\n" + lines + b"\nend_state", text)
    if count != 1:
        raise InputError(f"not a .sas text: {count} initial states")
    return changed
