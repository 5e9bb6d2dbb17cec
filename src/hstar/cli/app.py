"""The commands and what they have in common. Each command is a file; heavy imports happen inside it."""

from __future__ import annotations

from typing import Annotated

import typer

from hstar import __version__
from hstar.cli.demo import demo
from hstar.cli.info import info
from hstar.cli.solve import solve
from hstar.cli.validate import validate

app = typer.Typer(
    name="hstar",
    help="Learns the heuristic that a search is missing, and searches with it natively.",
    epilog="Exit codes: 0 solved, 11 unsolvable, 12 not solved within the bounds, 22 memory, 23 time, "
    "31 bad PDDL, 33 bad input, 34 unsupported, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"hstar {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


app.command()(solve)
app.command()(validate)
app.command()(info)
app.command()(demo)
