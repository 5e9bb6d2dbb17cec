"""Where a job ran: the machine, and the versions of what decides results."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

from hstar import __version__

PACKAGES = ("torch", "numpy", "fast-downward.translate", "up-fast-downward")


@functools.cache
def machine() -> dict[str, str]:
    """Host, processor, versions, and the commit if hstar runs from its repository."""
    found = {
        "host": platform.node(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": platform.platform(),
        "python": platform.python_version(),
        "hstar": __version__,
        "commit": _commit(),
    }
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {name: value for name, value in found.items() if value}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _commit() -> str:
    home = str(Path(__file__).parent)
    try:
        # An installed package may lie inside somebody else's repository.
        _git(home, "ls-files", "--error-unmatch", Path(__file__).name)
        return _git(home, "describe", "--always", "--dirty", "--abbrev=12")
    except (OSError, subprocess.CalledProcessError):
        return ""


def _git(home: str, *words: str) -> str:
    command = ["git", "-C", home, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
