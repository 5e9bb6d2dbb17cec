"""What is installed comes by its hash, and the bill of materials names it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import distributions, version
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENTRY = re.compile(r"([a-z0-9-]+)==(\S+)((?: +--hash=sha256:[0-9a-f]{64})+) *")
HINT = "run python tools/lock.py after a change of constraints.txt"


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, str]:
    """Versions by name; every line has a hash."""
    found = {}
    for name in ("requirements.lock", "torch.lock", "docs.lock"):
        comment, *entries = (ROOT / name).read_text().replace("\\\n", " ").splitlines()
        assert comment.startswith("#")
        for entry in entries:
            match = ENTRY.fullmatch(entry)
            assert match is not None, entry
            found[match[1]] = match[2]
    return found


def test_the_locks_have_the_versions_of_the_constraints() -> None:
    pins = re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert locked() == {normalized(name): pinned for name, pinned in pins}, HINT


def test_the_environment_is_that_of_the_locks() -> None:
    """Except for what builds of torch for graphics cards bring along."""
    known = {**locked(), "hstar": version("hstar"), "pip": version("pip")}
    for one in distributions():
        name = normalized(one.name)
        if not name.startswith(("nvidia-", "cuda-", "triton")):
            assert known.get(name) == one.version.partition("+")[0], f"{name}: {HINT}"


def test_the_bill_of_materials(tmp_path: Path) -> None:
    path = tmp_path / "sbom.json"
    subprocess.run([sys.executable, ROOT / "tools" / "sbom.py", path], check=True)
    bill = json.loads(path.read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    assert bill["metadata"]["component"]["name"] == "hstar"
    parts = {one["name"]: one for one in bill["components"]}
    assert parts["numpy"]["version"] == version("numpy") and parts["numpy"]["hashes"]
    edges = {one["ref"]: one["dependsOn"] for one in bill["dependencies"]}
    assert {"numpy", "msgspec", "rich"} <= set(edges["hstar"]) and set(edges) == {"hstar", *parts}
