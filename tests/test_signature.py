"""The search behaves as the signature file says; a commit that changes it changes the file, and says why."""

import runpy
from pathlib import Path


def test_signature_is_the_recorded_one() -> None:
    script = Path(__file__).parents[1] / "benchmarks" / "signature.py"
    module = runpy.run_path(str(script))
    signature = sum(expansions for _, expansions in module["parts"]())
    assert str(signature) == module["EXPECTED"].read_text().strip()
