"""`hstar evaluate MODEL DATA`: how far a model of a domain is from the true distances of labelled states."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from hstar.cli.app import Parser
from hstar.cli.tasks import check_file
from hstar.files import MODEL


def asked(words: Sequence[str]) -> bool:
    """Whether a command line of `hstar evaluate` compares a model with labelled states: it keeps no run."""
    return any(word.endswith(MODEL) for word in words) and not any(
        word.startswith(("-o", "--output")) for word in words
    )


def configure(parser: Parser) -> None:
    """The arguments."""
    parser.usage = f"{parser.prog} [OPTION ...] MODEL DATA ..."
    parser.add_argument("model", type=Path, metavar="MODEL", help="of hstar train wl or truncated")
    parser.add_argument(
        "data",
        nargs="+",
        type=Path,
        metavar="DATA",
        help="files of hstar sample optimal, or data that come with hstar",
    )
    parser.add_argument(
        "--rule",
        metavar="RULE",
        help="instead of the model's own: mean, clip, quantile:LEVEL, likely:ALPHA, ...",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Prints the record."""
    from hstar.estimates.rules import parse
    from hstar.models.trained_model import load_model
    from hstar.recipes.accuracy import accuracy
    from hstar.sampling import relational

    check_file(arguments.model)
    rule = None if arguments.rule is None else parse(arguments.rule)
    model = load_model(arguments.model)
    data = relational.merge(relational.load(path) for path in arguments.data)
    record = accuracy(model, data, rule)
    if arguments.json:
        print(json.dumps(record))
        return 0
    for name, value in record.items():
        if name not in ("calibration", "by_size"):
            print(
                f"{name.replace('_', ' '):18}  {value:.4g}"
                if isinstance(value, float)
                else f"{name:18}  {value}"
            )
    for size in record["by_size"]:
        errors = f"mse {size['mse']:.4g}, ff {size['mse_ff']:.4g}, lmcut {size['mse_lmcut']:.4g}"
        print(f"{size['objects']:4d} objects        {errors}, {size['states']} states")
    for level, share in record.get("calibration", ()):
        print(f"quantile {level:4.2f}       {share:.3f} of the distances are up to it")
    return 0
