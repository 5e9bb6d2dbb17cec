"""What goes with what, from what the parts declare: the lines of `hstar list` and the table of the docs."""

from __future__ import annotations

from collections.abc import Callable

from hstar import _core
from hstar.estimates import ESTIMATES
from hstar.estimates.rules import RULES
from hstar.models.model import MODELS
from hstar.recipes.learn import recipes
from hstar.sampling.sampler import SAMPLERS
from hstar.search.aliases import aliases
from hstar.spaces.load import SPACES, in_words

Lines = list[tuple[str, str]]
KINDS = ("task", "domain", "puzzle", "map", "own")


def _first(part: object) -> str:
    """The first paragraph of a docstring in one line."""
    text = (part.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
    return " ".join(text.split())


def _heuristics() -> Lines:
    tasks = [(info.name, f"task: {info.description} ({info.reference})") for info in _core.heuristics()]
    puzzles = {
        "manhattan": "tiles: summed distances of tiles; maps with 4 neighbours: distance without obstacles",
        "misplaced": "tiles, blocks: pieces that are not in their place",
        "gap": "pancakes, topspin: neighbours that are not adjacent (Helmert, SoCS 2010)",
        "databases": "puzzles with known patterns: pattern databases (Korf and Felner, AIJ 2002)",
        "octile": "maps with 8 neighbours: distance without obstacles",
        "dijkstra": "maps: distance with obstacles, by one search from the goal; turns of a lattice are free",
        "lower_bound": "own spaces: the function lower_bound of the space",
        "zero": "all spaces: 0 for every state",
    }
    return [*tasks, *puzzles.items()]


PARTS: dict[str, Callable[[], Lines]] = {
    "spaces": lambda: [
        (name, f"{SPACES.get(name).description}; e.g. {SPACES.get(name).example}") for name in SPACES
    ],
    "samplers": lambda: [(name, _first(SAMPLERS.get(name))) for name in SAMPLERS],
    "models": lambda: [(name, f"for {in_words(MODELS.get(name).spaces)}") for name in MODELS],
    "estimates": lambda: [(name, _first(ESTIMATES.get(name))) for name in ESTIMATES],
    "rules": lambda: [(name, _first(RULES.get(name))) for name in RULES],
    "heuristics": _heuristics,
    "searches": lambda: [(info.name, f"{info.description} ({info.reference})") for info in _core.searches()],
    "aliases": lambda: [(alias.name, alias.description) for alias in aliases().values()],
    "recipes": lambda: [(info.name, f"for {in_words(info.spaces)}; {info.paper}") for info in recipes()],
}


def matrix() -> str:
    """Two tables in Markdown: searches, recipes and models by the kind of space."""
    rows: list[tuple[str, str, tuple[str, ...]]] = []
    searchable = tuple(kind for kind in KINDS if kind != "domain")  # its tasks are searched
    rows += [("search", info.name, searchable) for info in _core.searches()]
    rows += [("recipe", info.name, info.spaces) for info in recipes()]
    rows += [("model", name, MODELS.get(name).spaces) for name in MODELS]
    lines = [f"| part | name | {' | '.join(KINDS)} |", f"|---|---|{'---|' * len(KINDS)}"]
    for part, name, kinds in rows:
        cells = " | ".join("yes" if kind in kinds else "" for kind in KINDS)
        lines.append(f"| {part} | `{name}` | {cells} |")
    return "\n".join(lines)
