"""Prints the dependencies of hstar and of the named extras, to be installed before the core is built."""

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib


def main() -> None:
    """Reads pyproject.toml beside this folder."""
    project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())
    names = list(project["project"]["dependencies"])
    for extra in sys.argv[1:]:
        names += project["project"]["optional-dependencies"][extra]
    print(*(name.replace(" ", "") for name in names), sep="\n")


main()
