"""The scripts of benchmarks/ for their tests."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def load_script(name: str) -> dict[str, Any]:
    """What a script defines. Its folder is last on the path meanwhile: tests have modules of equal names."""
    sys.path.append(str(BENCHMARKS))
    try:
        return runpy.run_path(str(BENCHMARKS / f"{name}.py"))
    finally:
        sys.path.remove(str(BENCHMARKS))
