"""`hstar show`: searches on a map, drawn."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from hstar.cli.options import Parser
from hstar.cli.problems import add_problem, check_problem_options, instances_of
from hstar.cli.searches import add_search, batches_of, with_default
from hstar.cli.solve import panels
from hstar.errors import InputError
from hstar.experiments.batch import Batch, run_batch
from hstar.files import check_writable
from hstar.search.solve import Result

DESCRIPTION = """\
Searches on a map, as `hstar solve` does, with each heuristic, and draws the map, the cells that each explored
in the order of their expansion, the paths, and the values of a network: a .png or .svg picture, all
heuristics side by side, or a .html page that shows the searches step by step."""
EXAMPLES = (
    "hstar show map.png --start 0,0 --goal 19,29 -o search.svg",
    "hstar show map.png --heuristic manhattan --heuristic model.hstar --eps 2 -o search.png",
    "hstar show --kind maze --seed 3 -o maze.svg -o maze.html",
)


def configure(parser: Parser) -> None:
    add_problem(parser)
    add_search(parser)
    parser.set_defaults(combine="each", explored=True)
    text = "Write a .png or .svg picture, or a .html page; may be repeated."
    parser.option("--output -o", "FILE", text, action="append", required=True)
    parser.option("--quiet -q", None, "Do not print the names of the files.")


def run(arguments: argparse.Namespace) -> int:
    from hstar.experiments.grid_picture import FORMATS, animate, check_picture, draw

    if check_problem_options(arguments) != "map" or arguments.headings:
        raise InputError("hstar show draws maps without headings")
    if arguments.random not in (None, 1):
        raise InputError("--random is for hstar solve: one problem is drawn")
    writers: dict[Path, Any] = {}
    for path in arguments.output:
        if path.suffix in FORMATS:
            check_picture(path)
        elif path.suffix != ".html":
            raise InputError("a drawing is a .png, .svg or .html file", file=path)
        check_writable(path, "drawing")
        writers[path] = draw if path.suffix in FORMATS else animate
    batches = batches_of(arguments, "map")
    if any(batch.search not in ("astar", "wastar") for batch in batches):
        raise InputError("what astar and wastar explore can be drawn")
    first = next(iter(instances_of(arguments, "map")[0]))  # of a .scen file, too, which may have thousands
    found: list[tuple[Batch, Result]] = []
    for batch in (with_default(batch, first.problem) for batch in batches):
        for _, result in run_batch(batch, [first]):
            assert result is not None
            found.append((batch, result))
            if result.status == "interrupted":
                raise KeyboardInterrupt
    for path, write in writers.items():
        write(path, first.problem, panels(found))
        if not arguments.quiet:
            print(path, file=sys.stderr)
    return next((result.exit_code for _, result in found if not result.solved), 0)
