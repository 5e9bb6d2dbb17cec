"""The fuzz targets of `make fuzz` still go with the core: they are not part of the module that is built."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("source", ["task/fuzz_sas.cc", "pddl/fuzz_pddl.cc"])
def test_fuzz_targets_compile(source: str) -> None:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    words = ["-std=c++20", "-fsyntax-only", "-I", ROOT / "core", ROOT / "tests" / "core" / source]
    done = subprocess.run([compiler, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
