"""Fast Downward as a peer: where its binary is, how it is called and what its log says.

Helmert, "The Fast Downward Planning System" (JAIR 26, 2006). It is GPL and comes with the package
`up-fast-downward` (extra `bench`); it runs as a separate process and nothing of it is imported here. The
times in its log are processor time.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hstar.experiments.process import Finished, ProcessLimits, run_limited

GRACE_S = 30  # a planner that has not stopped this long after its limit is killed

_STATUS = {
    0: "solved",
    11: "unsolvable",
    12: "unsolved",
    22: "memory_limit",
    23: "time_limit",
    34: "unsupported",
}
_FIGURES = {
    "cost": r"Plan cost: (\d+)",
    "plan_length": r"Plan length: (\d+) step",
    "expansions": r"Expanded (\d+) state",
    "evaluated": r"Evaluated (\d+) state",
    "evaluations": r"Evaluations: (\d+)",
    "generated": r"Generated (\d+) state",
    "reopened": r"Reopened (\d+) state",
    "dead_ends": r"Dead ends: (\d+) state",
    "registered_states": r"Number of registered states: (\d+)",
    "initial_h": r"Initial heuristic value for \S+: (\d+)",
    "search_time": r"Search time: ([\d.]+s)",
    "total_time": r"Total time: ([\d.]+s)",
    "memory": r"Peak memory: (\d+ KB)",
    "memory_before_search": r"(\d+ KB)\] (?:Conducting|Initial heuristic value)",
    "packed_state_bytes": r"Bytes per state: (\d+)",
}


@dataclass(frozen=True)
class FastDownward:
    """The search component, and the driver that knows its aliases where there is one."""

    binary: Path
    revision: str
    driver: Path | None = None

    @staticmethod
    def find(binary: Path | None = None) -> FastDownward | None:
        """The given binary or the installed one; None where there is neither."""
        driver = None
        if binary is None:
            package = importlib.util.find_spec("up_fast_downward")
            for folder in (package.submodule_search_locations or []) if package else []:
                home = Path(folder, "downward")
                binary, driver = home / "builds/release/bin/downward", home / "fast-downward.py"
        if binary is None or not binary.is_file():
            return None
        asked = [str(binary), "--internal-git-revision"]
        revision = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
        return FastDownward(binary, revision, driver if driver is not None and driver.is_file() else None)

    def search(self, sas: Path, search: str, *, time_limit: float, memory_limit: int) -> dict[str, Any]:
        """Runs a search, as in `astar(lmcut())`, on a translated task; the limits are the caller's."""
        command = [str(self.binary), "--search", search, "--internal-plan-file", os.devnull]
        limits = ProcessLimits(time_limit + GRACE_S, address_space=memory_limit)
        found = run_limited(command, limits, stdin=sas)
        record = parse_log(found.output, found)
        if record["status"] == "error":
            record["error"] = f"exit {found.exit_code}: {found.last_line()}"
        return {**record, "exit_code": found.exit_code}


def parse_log(log: str, found: Finished) -> dict[str, Any]:
    """What the log says, in hstar's words; memory in bytes."""
    record: dict[str, Any] = {"status": _STATUS.get(found.exit_code, "error")}
    if found.timed_out:
        record["status"] = "time_limit"
    if found.out_of_memory:
        record["status"] = "memory_limit"
    if found.exit_code == 12 and "Time limit" in log:  # stopped by `max_time`
        record["status"] = "time_limit"
    for key, pattern in _FIGURES.items():
        match = re.search(pattern, log)
        record[key] = _figure(match[1]) if match else None
    return record


def _figure(text: str) -> float:
    if text.endswith("s"):
        return float(text[:-1])
    return int(text.removesuffix(" KB")) * (1024 if text.endswith("KB") else 1)
