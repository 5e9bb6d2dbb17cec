"""Writes requirements.lock, torch.lock and docs.lock: constraints.txt with the SHA-256 of the files.

python tools/lock.py asks the package index of pip, and the folders of its find-links, for the files of each
version. It keeps the wheels for Linux and Python 3.10 to 3.13, or the source archive where there is no such
wheel. `make` installs them, and pip refuses a file with another hash. torch has a file of its own, since pip
takes its CPU build only where it does not see the other one. A comment that begins with the name of a lock
sends the versions below it there: docs.lock has what `make docs` needs beside the others.
"""

from __future__ import annotations

import hashlib
import re
import urllib.request
from html.parser import HTMLParser
from pathlib import Path

from pip._internal.configuration import Configuration
from pip._internal.models.index import PyPI
from pip._vendor.packaging.utils import (
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from pip._vendor.packaging.version import Version

ROOT = Path(__file__).parents[1]
INTERPRETERS = ("py3", "py2.py3", "cp310", "cp311", "cp312", "cp313")


class _Links(HTMLParser):
    """Names of files and their hashes on a page of an index."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Takes the address of a link."""
        address = dict(attrs).get("href") or ""
        if tag == "a" and "#sha256=" in address:
            path, _, digest = address.partition("#sha256=")
            self.files[urllib.request.unquote(path.rpartition("/")[2])] = digest


def index_files(name: str, index: str) -> dict[str, str]:
    """All files of a package."""
    with urllib.request.urlopen(f"{index.rstrip('/')}/{name}/", timeout=60) as answer:
        links = _Links()
        links.feed(answer.read().decode())
    return links.files


def local_files(name: str, folders: list[str]) -> dict[str, str]:
    """Wheels of a package in folders."""
    found = {}
    for folder in folders:
        for path in Path(folder).glob("*.whl"):
            if parse_wheel_filename(path.name)[0] == name:
                found[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def chosen(files: dict[str, str], version: Version) -> list[str]:
    """Hashes of the wheels of a version that Linux can install, or of its source."""
    wheels, sources = set(), set()
    for file, digest in files.items():
        if file.endswith(".whl"):
            try:
                _, found, _, tags = parse_wheel_filename(file)
            except ValueError:
                continue
            usable = any(
                (tag.platform == "any" or (tag.platform.startswith(("manylinux", "linux"))))
                and tag.platform.endswith(("any", "x86_64", "aarch64"))
                and (tag.interpreter in ("py2", "py3", *INTERPRETERS) or tag.abi == "abi3")
                and not tag.abi.endswith("t")
                for tag in tags
            )
            if usable and found.public == version.public:
                wheels.add(digest)
        elif file.endswith((".tar.gz", ".zip")):
            try:
                if parse_sdist_filename(file)[1] == version:
                    sources.add(digest)
            except ValueError:
                continue
    return sorted(wheels or sources)


def main() -> None:
    """Reads constraints.txt and writes the locks beside it."""
    settings = Configuration(isolated=False)
    settings.load()
    groups = [group for _, group in settings.items() if isinstance(group, dict)]
    options = {key.rpartition(".")[2]: value for group in groups for key, value in group.items()}
    index, folders = options.get("index-url", PyPI.simple_url), options.get("find-links", "").split()
    locks: dict[str, list[str]] = {"requirements.lock": [], "torch.lock": [], "docs.lock": []}
    lock = "requirements.lock"
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if match := re.match(r"# (\S+\.lock):", line):
            lock = match[1]
        if match := re.fullmatch(r"([\w.-]+)==(\S+)", line):
            name, version = canonicalize_name(match[1]), Version(match[2])
            files = {**index_files(name, index), **local_files(name, folders)}
            hashes = chosen(files, version)
            if not hashes:
                raise SystemExit(f"no files of {line}")
            entry = " \\\n".join([f"{name}=={version}", *(f"    --hash=sha256:{one}" for one in hashes)])
            locks["torch.lock" if name == "torch" else lock].append(entry)
    for file, entries in locks.items():
        text = "\n".join(["# Made by tools/lock.py from constraints.txt.", *entries])
        (ROOT / file).write_text(text + "\n")


if __name__ == "__main__":
    main()
