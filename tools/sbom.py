"""Writes the software bill of materials of the environment that it runs in: CycloneDX 1.5, JSON.

python tools/sbom.py FILE lists hstar, the packages that are installed beside it, and what they depend on.
Hashes are those of the locks: several where a version has wheels for several interpreters.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def normalized(name: str) -> str:
    """The name of a package as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, list[str]]:
    """The hashes of the locks by name."""
    found: dict[str, list[str]] = {}
    for path in ROOT.glob("*.lock"):
        for entry in path.read_text().replace("\\\n", " ").splitlines():
            if not entry.startswith("#"):
                found[entry.partition("==")[0]] = re.findall(r"sha256:([0-9a-f]{64})", entry)
    return found


def component(one: Distribution, hashes: list[str]) -> dict[str, Any]:
    """A package as CycloneDX describes it."""
    about, name = one.metadata, normalized(one.name)
    licence = about.get("License-Expression") or about.get("License")
    # Old packages have the whole text there, which is no name of a licence.
    named = {"licenses": [{"license": {"name": licence}}]} if licence and "\n" not in licence else {}
    return {
        "type": "library",
        "bom-ref": name,
        "name": name,
        "version": one.version,
        "purl": f"pkg:pypi/{name}@{one.version}",
        **named,
        **({"hashes": [{"alg": "SHA-256", "content": digest} for digest in hashes]} if hashes else {}),
    }


def bill(installed: list[Distribution], hashes: dict[str, list[str]]) -> dict[str, Any]:
    """The whole record; edges are those between packages that are there."""
    by_name = {normalized(one.name): one for one in installed}
    edges = {
        name: sorted(
            {normalized(re.split(r"[^\w.-]", need)[0]) for need in one.requires or ()} & set(by_name)
        )
        for name, one in by_name.items()
    }
    described = {name: component(one, hashes.get(name, [])) for name, one in sorted(by_name.items())}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**described.pop("hstar"), "type": "application"}},
        "components": list(described.values()),
        "dependencies": [{"ref": name, "dependsOn": needs} for name, needs in sorted(edges.items())],
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(bill(list(distributions()), locked()), indent=1) + "\n")
