"""Reports of runs: a page, tables, figures, and files for other tools."""

from hstar.experiments.report.exports import FORMATS, write_rows
from hstar.experiments.report.page import page
from hstar.experiments.report.runs import Run, read_runs, rows_of

__all__ = ["FORMATS", "Run", "page", "read_runs", "rows_of", "write_rows"]
