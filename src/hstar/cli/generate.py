"""`hstar generate`: problems of a domain as files."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from hstar.cli.options import Parser, count_up_to, flag, given_options
from hstar.cli.progress import show_outcome
from hstar.errors import InputError
from hstar.files import replace_file
from hstar.generators import GENERATORS, sizes_of
from hstar.generators.splits import GRIDS, SPLITS, Instance, content_digest, split_instances

_MOST = 9999  # of a size; a typing mistake should not fill the memory

DESCRIPTION = f"""\
Writes domain.pddl and a file for each problem: as many as --seeds says of every combination of the sizes, or
a whole split for learning, with --split ({", ".join(GRIDS)}). Every problem has a plan and
none is solved already. Files that are there already are kept, so that the same command goes on after a kill.

generators and their sizes:
""" + "\n".join(f"  {name:13}{' '.join(map(flag, sizes_of(name)))}" for name in GENERATORS)
EXAMPLES = (
    "hstar generate blocksworld -o problems --blocks 5 6 --seeds 3",
    "hstar generate ferry -o training --split train --number 20 --json",
)


def configure(parser: Parser) -> None:
    add = parser.option
    parser.usage = f"{parser.prog} GENERATOR -o FOLDER [OPTION ...]"
    add("generator", "GENERATOR", "Generator, one of those above.")
    add("--output -o", "FOLDER", "Write to this folder, which may exist.", required=True)
    add("--seeds", "K", "Number of problems of each combination of sizes: seeds 0 to K - 1 (default 1).")
    add("--first-seed", "N", "Begin with this seed (default 0).")
    add("--split", "NAME", f"Write a split, {', '.join(SPLITS)}: disjoint sets of different problems.")
    add("--number", "N", "Write only the first N problems of the split.")
    add("--json", None, "Print a list of the problems: file, sizes, seed, digest of content.")
    add("--quiet -q", None, "Show no summary.")
    group, size_type = parser.add_argument_group("sizes"), count_up_to(_MOST)
    for size, owners in _sizes().items():
        text = f"Numbers of {size.replace('_', ' ')} of {', '.join(owners)}."
        add(flag(size), "N", text, group=group, nargs="+", type=size_type)


def _sizes() -> dict[str, list[str]]:
    """All sizes, each with the generators that have it."""
    found: dict[str, list[str]] = {}
    for name in GENERATORS:
        for size in sizes_of(name):
            found.setdefault(size, []).append(name)
    return found


def run(arguments: argparse.Namespace) -> int:
    GENERATORS.get(arguments.generator)
    files = dict(_split(arguments) if arguments.split is not None else _combinations(arguments))
    chosen = dict(itertools.islice(files.items(), arguments.number))
    texts = {"domain.pddl": next(iter(chosen.values())).domain}
    new = write_new(arguments.output, texts | {name: one.problem for name, one in chosen.items()}, files)
    records = [
        {"file": str(arguments.output / name), "sizes": one.sizes, "seed": one.seed, "digest": one.digest}
        for name, one in chosen.items()
    ]
    show_outcome(arguments, records, f"{arguments.generator}, {len(chosen)} problems, {new} of them new")
    return 0


def _split(arguments: argparse.Namespace) -> Iterator[tuple[str, Instance]]:
    """Problems by the names of their files."""
    if foreign := given_options(arguments, [*_sizes(), "seeds", "first_seed"]):
        raise InputError(f"{flag(next(iter(foreign)))} is not for --split, which has its own")
    for number, one in enumerate(split_instances(arguments.generator, arguments.split)):
        yield f"p{number:04}-{_label(one.sizes, one.seed)}.pddl", one


def _combinations(arguments: argparse.Namespace) -> Iterator[tuple[str, Instance]]:
    generator = arguments.generator
    if arguments.number is not None:
        raise InputError("--number is for --split; --seeds says how many problems there are of each size")
    given = given_options(arguments, _sizes())
    own = sizes_of(generator)
    if foreign := next((size for size in given if size not in own), None):
        words = ", ".join(map(flag, own))
        raise InputError(f"{flag(foreign)} is not a size of {generator}, which has {words}")
    if missing := [flag(size) for size in own if size not in given]:
        or_split = ", or --split" if generator in GRIDS else ""
        raise InputError(f"{generator} needs {' and '.join(missing)}{or_split}")
    first = arguments.first_seed or 0
    seeds = range(first, first + (1 if arguments.seeds is None else arguments.seeds))
    values = [dict.fromkeys(given[size]) for size in own]
    for chosen in itertools.product(*values):
        sizes = dict(zip(own, chosen, strict=True))
        for seed in seeds:
            domain, problem = GENERATORS.get(generator)(**sizes, seed=seed)
            about = (generator, "", sizes, seed, 0, seed)
            yield f"{_label(sizes, seed)}.pddl", Instance(*about, domain, problem, content_digest(problem))


def _label(sizes: Mapping[str, int], seed: int) -> str:
    """Sizes and seed, in digits that sort as numbers do."""
    words = [f"{name.replace('_', '')}{value:03}" for name, value in sizes.items()]
    return "-".join([*words, f"seed{seed:04}"])


def write_new(folder: Path, texts: Mapping[str, str], more: Collection[str] = ()) -> int:
    """Writes the texts that are not there yet, by name of file, and tells how many of them are no domain.

    Nothing is written where a file has another content, or where there are files that are neither of `texts`
    nor among `more`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Hidden files are not problems: a killed run may have left half of one.
        there = {path.name: path for path in folder.iterdir() if not path.name.startswith(".")}
        for name, path in sorted(there.items()):
            if name not in texts and name not in more:
                raise InputError("is not of this call; give an empty folder", file=path)
            if name in texts and path.read_bytes() != texts[name].encode():
                raise InputError("is there with another content; give an empty folder", file=path)
        new = [name for name in texts if name not in there]
        for name in new:
            replace_file(folder / name, texts[name].encode(), durable=False)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=error.filename or folder) from None
    return len([name for name in new if name != "domain.pddl"])
