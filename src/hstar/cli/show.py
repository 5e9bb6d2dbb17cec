"""`hstar show`: searches on a map, drawn."""

from __future__ import annotations

import argparse
from pathlib import Path

from hstar.cli.app import Parser
from hstar.cli.grid import add_searches, check_drawing, draw_first, searched
from hstar.errors import InputError

DESCRIPTION = """\
Searches on a map, as `hstar grid` does, and draws the map, the cells that each heuristic explored in the
order of their expansion, the paths, and the values of a network: a .png or .svg picture, all heuristics side
by side, or a .html page that shows the searches step by step. Without --start and --goal they are random."""
EXAMPLES = (
    "hstar show map.png --start 0,0 --goal 19,29 -o search.svg",
    "hstar show map.png --heuristic manhattan --heuristic model.hstar --eps 2 -o search.png",
    "hstar show --kind maze --seed 3 -o maze.svg -o maze.html",
)


def configure(parser: Parser) -> None:
    """The arguments."""
    add_searches(parser)
    parser.add_argument(
        "--output",
        "-o",
        type=Path,
        action="append",
        required=True,
        metavar="FILE",
        help="a .png or .svg picture, or a .html page; may be repeated",
    )
    parser.add_argument("--quiet", "-q", action="store_true", help="do not tell the files")


def run(arguments: argparse.Namespace) -> int:
    """Searches and draws; a problem without a path is drawn, too."""
    from hstar.experiments.grid_animation import check_animation
    from hstar.experiments.grid_picture import FORMATS, check_picture
    from hstar.search.solve import EXIT_CODES

    if arguments.scenarios is not None:
        raise InputError("--scenarios is for hstar grid: one problem is drawn")
    for path in arguments.output:
        if path.suffix in FORMATS:
            check_picture(path)
        elif path.suffix == ".html":
            check_animation(path)
        else:
            raise InputError("a drawing is a .png, .svg or .html file", file=path)
        check_drawing(path, arguments)
    if arguments.start is None and arguments.goal is None:
        arguments.scenarios = 1  # also of a .scen file, which may have thousands
    runs = searched(arguments, optima=False, explored=True)
    if runs[-1].result.status != "interrupted":
        draw_first(runs, arguments.output, arguments)
    return next((EXIT_CODES[one.result.status] for one in runs if not one.result.solved), 0)
