"""`hstar report`: runs as a page, tables and figures."""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path

from hstar.cli.options import Parser
from hstar.errors import InputError

DESCRIPTION = """\
Writes one HTML file with everything in it: errors, coverage, scatter and cactus plots, training curves, and
each run with its log and the command to repeat it. Of several runs the later ones are compared with the
first. Other formats go to standard output. A run may still be going on."""
EXAMPLES = (
    "hstar report runs/first",
    "hstar report runs/first --format markdown --significance",
    "hstar report runs/first --format latex --table coverage --contestant 'f*'",
    "hstar report runs/first runs/second -o comparison.html",
)
_FORMATS = ("html", "csv", "json", "markdown", "latex", "lab")


def configure(parser: Parser) -> None:
    add = parser.option
    parser.usage = f"{parser.prog} [OPTION ...] RUN ..."
    add("runs", "RUN", "Folders that hstar evaluate or hstar bench has filled.", nargs="+")
    text = f"Format: {', '.join(_FORMATS)} (properties of Downward Lab)."
    add("--format -f", "NAME", text, "html", choices=_FORMATS)
    add("--output -o", "FILE", "Write to this file (default: report.html in the first RUN).")
    add("--significance", None, "markdown and LaTeX: add a sign test for every pair of contestants.")
    add(
        "--table",
        "NAME",
        "markdown and LaTeX: only this table, one of coverage, effort, evaluations, optimality, accuracy, "
        "calibration, states and problems; may be repeated.",
        action="append",
    )
    text = "Only contestants whose name matches, such as 'nlm *'; may be repeated."
    add("--contestant", "PATTERN", text, action="append")
    add("--figures", "FOLDER", "Also write each figure as SVG and PNG to this folder.")
    text = "Only figures whose name matches, such as 'calibration_*'; may be repeated."
    add("--figure", "PATTERN", text, action="append")
    add("--title", "TEXT", "Title of the page.")


def run(arguments: argparse.Namespace) -> int:
    from hstar.experiments.report import page, read_runs, rows_of, write_rows
    from hstar.experiments.tables import TABLES
    from hstar.files import replace_file, writing
    from hstar.registry import unknown

    gc.disable()  # nothing of this is garbage, however many rows there are
    runs = read_runs([folder.absolute() for folder in arguments.runs])
    if not any(run.rows for run in runs):
        raise InputError("nothing has been run yet", file=arguments.runs[0])
    if wrong := next((name for name in arguments.table or () if name not in TABLES), None):
        raise unknown("table", wrong, list(TABLES))
    if arguments.table and arguments.format not in ("markdown", "latex"):
        raise InputError(f"--table is for markdown and LaTeX, not for {arguments.format}")
    if arguments.contestant:
        runs = [run.of_contestants(arguments.contestant) for run in runs]
        if not any(run.rows for run in runs):
            raise InputError(f"no contestant fits {' or '.join(arguments.contestant)}")
    if arguments.figure and arguments.figures is None:
        raise InputError("--figure chooses among --figures")
    output: Path | None = arguments.output
    if arguments.format == "html":
        text = page(runs, arguments.title)
        output = output or arguments.runs[0] / "report.html"
        output = output if output.suffix else output.with_suffix(".html")
    else:
        tables = arguments.table or TABLES
        text = write_rows(runs, arguments.format, tables=tables, significance=arguments.significance)
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode(errors="surrogateescape"))  # whatever the terminal's encoding is
    else:
        with writing(output, "report"):
            replace_file(output, text.encode(errors="surrogateescape"))
        print(output, file=sys.stderr)
    if arguments.figures is not None:
        from hstar.experiments.report.figures import write_figures

        written = write_figures(rows_of(runs), arguments.figures, arguments.figure or ("*",))
        if not written:
            raise InputError(f"no figure fits {' or '.join(arguments.figure or ['*'])}")
        print(f"{len(written)} files in {arguments.figures}", file=sys.stderr)
    return 0
