"""Tables of a run: coverage by instance and domain, effort, costs against optima, accuracy, what changed.

A table is rows of text under a header; it is written as markdown or LaTeX.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from hstar.experiments.job import FAIR_SHARE, starved
from hstar.experiments.statistics import (
    Change,
    Coverage,
    Record,
    Share,
    by_contestant,
    compare_all,
    comparisons_of,
    contestants_of,
    geometric,
    instances_by_domain,
    labellings_of,
    mean,
    optimality_of,
    paths_of,
    rate,
    samples_of,
    searches_of,
    share_of,
    solved_by_all,
    trainings_of,
)

Table = list[list[str]]

UNKNOWN = "–"
_LISTED = 20  # starts named of those gained or lost
_INSTANCES = 12  # of a domain that have a line of their own
_COLUMNS = 10  # beyond, contestants have lines instead
TABLES = (
    *("coverage", "effort", "evaluations", "optimality", "paths", "accuracy", "calibration", "states"),
    "problems",
)
_SYMBOLIC = ("ff", "lmcut")
_TITLES = {"search_time": "search time", "cost": "plan cost"}


class Titled(NamedTuple):
    """A table with its name, its title, and how many of its columns from the left are names."""

    name: str
    title: str
    table: Table
    left: int = 1


def summarise(rows: Sequence[Record], chosen: Collection[str] = TABLES) -> str:
    """All tables, or those chosen, and the errors, as markdown."""
    parts = []
    for _, title, table, left in tables_of(rows, chosen):
        parts += [f"## {title}\n", markdown(table, left)]
    if busy := sum(starved(row, row.get("seconds", 0.0)) for row in rows):
        share = f"{FAIR_SHARE:.0%}".replace("%", " %")
        parts += [f"{busy} of {len(rows)} runs reached their time limit on less than {share} of a core.\n"]
    if errors := [row for row in rows if row["status"] == "error"]:
        lines = [f"- {where(row)}: {row.get('error', 'no message')}" for row in errors]
        parts += ["## Errors\n", *lines, ""]
    return "\n".join(parts) if parts else "Nothing has been searched.\n"


def tables_of(rows: Sequence[Record], chosen: Collection[str] = TABLES) -> Iterator[Titled]:
    """Of the tables with these names those that there are rows for."""
    for found in _tables(rows, chosen):
        wide = found.left == 1 and len(found.table[0]) > max(_COLUMNS, len(found.table))
        yield found._replace(table=_turned(found.table)) if wide else found


def _turned(table: Table) -> Table:
    return [list(line) for line in zip(*table, strict=True)]


def _tables(rows: Sequence[Record], chosen: Collection[str]) -> Iterator[Titled]:
    searches, compared = searches_of(rows), _compared(rows)
    if searches and "coverage" in chosen:
        yield Titled("coverage", "Coverage (%)", coverage_table(rows))
    if searches and "effort" in chosen:
        yield Titled("effort", "Effort", effort_table(rows))
    if "evaluations" in chosen and any(row["status"] == "evaluation_limit" for row in searches):
        title = "Evaluations (mean over all problems, unsolved ones at their limit)"
        yield Titled("evaluations", title, evaluations_table(rows))
    if "optimality" in chosen and any(row.get("optimal_cost") is not None for row in searches):
        yield Titled("optimality", "Optimality", optimality_table(rows), 2)
    if "paths" in chosen and any(row.get("scenarios") for row in searches):
        yield Titled("paths", "Paths on maps", path_table(rows), 2)
    if compared and "accuracy" in chosen:
        yield Titled("accuracy", "Accuracy (mean squared error)", accuracy_table(rows))
    if "calibration" in chosen and any(row.get("sigma") is not None for row in compared):
        yield Titled("calibration", "Calibration", calibration_table(rows), 2)
    if "states" in chosen and samples_of(rows):
        yield Titled("states", "Labelled states", label_table(rows), 2)
    if "problems" in chosen and labellings_of(rows):
        yield Titled("problems", "Labelled problems", labelling_table(rows), 2)


def coverage_table(rows: Sequence[Record]) -> Table:
    """Percent of starts solved, by instance, domain and overall."""
    searches = searches_of(rows)
    runs, domains = by_contestant(searches), instances_by_domain(searches)
    # A model that was only trained, for an accuracy or under the name of a plan, has no column.
    names = [name for name in contestants_of([*trainings_of(rows), *searches]) if name in runs]
    of = {name: Coverage(runs.get(name, [])).of for name in names}
    table = [["", *names]]
    for domain, instances in domains.items():
        listed = len(instances) <= _INSTANCES
        for instance in instances if listed else ():
            table.append([instance, *(share(of[name]({domain: [instance]})) for name in names)])
        if len(instances) > 1:
            title = f"{domain}, mean" if listed else f"{domain}, mean of {len(instances)}"
            table.append([title, *(share(of[name]({domain: instances})) for name in names)])
    if len(domains) > 1:
        table.append(["**mean over domains**", *(share(of[name](domains)) for name in names)])
    return table


def effort_table(rows: Sequence[Record]) -> Table:
    """What searches and trainings took."""
    searches, trainings = searches_of(rows), trainings_of(rows)
    names = contestants_of([*trainings, *searches])
    runs = by_contestant(searches)
    common = solved_by_all(searches, list(runs))
    shared = {
        name: [row for row in runs.get(name, []) if (row["instance"], row["start"]) in common]
        for name in names
    }
    title = f"expansions, geometric mean ({len(common)} starts solved by all)"
    table = [
        ["", *names],
        [title, *(number(geometric(row["expansions"] for row in shared[name])) for name in names)],
        ["plan length, mean (same starts)"]
        + [number(mean(row["plan_length"] for row in shared[name])) for name in names],
        ["evaluations per second, geometric mean", *(number(rate(runs.get(name, []))) for name in names)],
    ]
    if trainings:
        times = (mean(run["seconds"] for run in trainings if run["contestant"] == name) for name in names)
        table.append(["training, mean seconds", *map(number, times)])
    return table


def _counted(row: Record) -> bool:
    """Whether a search has a number of evaluations that says something: not one cut short by the clock."""
    return row["status"] in ("solved", "evaluation_limit") and row.get("evaluations") is not None


def evaluations_table(rows: Sequence[Record]) -> Table:
    """Mean evaluations by domain; a search that used up its evaluations counts with all of them."""
    searches = [row for row in searches_of(rows) if _counted(row)]
    names = contestants_of(searches)
    table = [["", *names]]
    for domain in instances_by_domain(searches):
        cells = []
        for name in names:
            seeds: dict[int, list[float]] = {}
            for row in searches:
                if (row["domain"], row["contestant"]) == (domain, name):
                    seeds.setdefault(row["seed"], []).append(row["evaluations"])
            cells.append(share(share_of([sum(counts) / len(counts) for counts in seeds.values()])))
        table.append([domain, *cells])
    return table


def optimality_table(rows: Sequence[Record]) -> Table:
    """How far plans are from known optimal costs, and what they took: means over solved ones."""
    header = ["solved (%)", "generated, mean", "seconds, mean", "suboptimality (%)", "optimal (%)"]
    table = [["", "", *header]]
    for place, seeds in optimality_of(rows).items():
        columns = [[value for value in column if value is not None] for column in zip(*seeds, strict=True)]
        table.append([*place, *(share(share_of(values)) for values in columns)])
    return table


def path_table(rows: Sequence[Record]) -> Table:
    """By set of maps and contestant: expansions, and how far costs are from optima and from what is promised.

    Means over scenarios, then over seeds; the greatest cost is that of all seeds, and so are violations.
    """
    header = ["expansions, mean", "re-opened, mean", "cost over optimum (%)", "greatest cost / promised"]
    table = [["", "", *header, "searches", "violations"]]
    for place, seeds in paths_of(rows).items():
        above = [one.above for one in seeds if one.above is not None]
        greatest = max((one.greatest for one in seeds if one.greatest is not None), default=None)
        table.append(
            [
                *place,
                share(share_of([one.expansions for one in seeds])),
                share(share_of([one.reopened for one in seeds])),
                share(share_of(above), 2),
                number(greatest, 3),
                number(sum(one.scenarios for one in seeds)),
                number(sum(one.violations for one in seeds)),
            ]
        )
    return table


def accuracy_table(rows: Sequence[Record]) -> Table:
    """Mean squared errors by domain and data, the mean over seeds; first those of symbolic heuristics."""
    found = _compared(rows)
    names = contestants_of(found)
    table = [["", "states", *_SYMBOLIC, *names]]
    for place in dict.fromkeys(row["instance"] for row in found):
        here = [row for row in found if row["instance"] == place]
        symbolic = [number(here[0].get(f"mse_{name}"), 2) for name in _SYMBOLIC]
        learned = (share_of([row["mse"] for row in here if row["contestant"] == name]) for name in names)
        table.append([place, number(here[0]["states"]), *symbolic, *(share(cell, 2) for cell in learned)])
    return table


def calibration_table(rows: Sequence[Record]) -> Table:
    """Of estimates with a spread: how wide they are, how likely h* is, and how far shares are from levels."""
    table = [["", "", "mean spread", "negative log-likelihood", "greatest error of calibration"]]
    groups: dict[tuple[str, str], list[Record]] = {}
    for row in _compared(rows):
        if row.get("sigma") is not None:
            groups.setdefault((row["instance"], row["contestant"]), []).append(row)
    for place, runs in groups.items():
        figures = ([row[name] for row in runs] for name in ("sigma", "nll", "calibration_error"))
        table.append([*place, *(share(share_of(values), 2) for values in figures)])
    return table


def _compared(rows: Sequence[Record]) -> list[Record]:
    """Comparisons with true distances that did not fail."""
    return [row for row in comparisons_of(rows) if row["status"] == "compared"]


def label_table(rows: Sequence[Record]) -> Table:
    """Samples of states by instance: how many, how quickly, and how far their labels are from h* if known."""
    table = [["", "", "states", "seconds", "mean error", "exact labels (%)"]]
    by_place: dict[tuple[str, str], list[Record]] = {}
    for row in samples_of(rows):
        if row["status"] == "sampled":
            by_place.setdefault((row["instance"], row["contestant"]), []).append(row)
    for (instance, name), runs in by_place.items():
        known = [row for row in runs if row.get("label_error") is not None]
        table.append(
            [
                *(instance, name, number(mean(row["distinct"] for row in runs))),
                share(share_of([row["sampling_time"] for row in runs]), digits=2),
                share(share_of([row["label_error"] for row in known]), digits=2),
                share(share_of([100 * row["exact_labels"] for row in known])),
            ]
        )
    return table


def labelling_table(rows: Sequence[Record]) -> Table:
    """Problems solved optimally, by domain: how many there are, how many have a label, and their states."""
    table = [["domain", "data", "problems", "labelled", "states", "mean seconds"]]
    groups: dict[tuple[str, str], list[Record]] = {}
    for row in labellings_of(rows):
        groups.setdefault((row["domain"], row["contestant"]), []).append(row)
    for (domain, name), runs in groups.items():
        states = [row.get("states") or 0 for row in runs]
        counts = (len(runs), sum(count > 0 for count in states), sum(states))
        table.append([domain, name, *map(number, counts), number(mean(row["seconds"] for row in runs))])
    return table


def pair_table(rows: Sequence[Record]) -> Table:
    """Every two contestants: starts won and lost in coverage and expansions, with the sign test."""
    table = [["", "", "coverage: better/worse", "p", "expansions: fewer/more", "p"]]
    for (one, two), (solved, expansions, *_) in compare_all(by_contestant(searches_of(rows))).items():
        cells = [
            cell
            for paired in (solved, expansions)
            for cell in (f"{paired.better} / {paired.worse}", probability(paired.chance))
        ]
        table.append([one, two, *cells])
    return table


def change_text(changes: Iterable[Change], before: str, after: str) -> str:
    """What got better, worse and lost from one run to another, as markdown."""
    lines = [f"## {after} against {before}\n"]
    found = list(changes)
    if not found:
        return lines[0] + "\nThe runs have no contestant in common.\n"
    table = [["contestant", "measure", "better", "worse", "equal", "p (sign test)"]]
    for change in found:
        for paired in change.paired:
            counts = [str(paired.better), str(paired.worse), str(paired.equal)]
            title = _TITLES.get(paired.metric, paired.metric)
            table.append([change.contestant, title, *counts, probability(paired.chance)])
    lines.append(markdown(table, left=2))
    for change in found:
        for word, starts in (("gained", change.gained), ("lost", change.lost), ("missing", change.missing)):
            if starts:
                more = f" and {len(starts) - _LISTED} more" if len(starts) > _LISTED else ""
                named = ", ".join(starts[:_LISTED])
                lines.append(f"- {change.contestant}, {word} {len(starts)}: {named}{more}")
    return "\n".join(lines) + "\n"


# --- cells ----------------------------------------------------------------------------------------------


def number(value: float | None, digits: int = 1) -> str:
    """A figure to read: with decimals, thousands with commas and without."""
    if value is None:
        return UNKNOWN
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}f}".removesuffix("." + digits * "0")


def share(value: Share | None, digits: int = 1) -> str:
    """A mean, with its spread if it has one."""
    if value is None or value.spread is None:
        return number(None if value is None else value.mean, digits)
    return f"{number(value.mean, digits)} ± {number(value.spread, digits)}"


def probability(value: float) -> str:
    """A p-value."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def where(row: Record) -> str:
    """Which run a row is of."""
    return f"{row['instance']} {row.get('start', row['step'])}, {row['contestant']}"


# --- formats --------------------------------------------------------------------------------------------


def markdown(table: Table, left: int = 1) -> str:
    """A markdown table; columns after the first `left` are aligned to the right."""
    header, *rows = table
    rule = ["---"] * left + ["---:"] * (len(header) - left)
    lines = [[cell.replace("|", "\\|") for cell in line] for line in (header, rule, *rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def latex(table: Table, left: int = 1) -> str:
    """A tabular in the manner of the booktabs package; columns after the first `left` are to the right."""
    header, *rows = table
    lines = [
        rf"\begin{{tabular}}{{{'l' * left}{'r' * (len(header) - left)}}}",
        r"\toprule",
        _latex_line(header),
        r"\midrule",
        *map(_latex_line, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


_LATEX = str.maketrans(
    {char: rf"\{char}" for char in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"}
    | {"–": "--", "<": "$<$", ">": "$>$"}
)


def _latex_line(cells: Sequence[str]) -> str:
    return " & ".join(_latex_cell(cell) for cell in cells) + r" \\"


def _latex_cell(cell: str) -> str:
    if cell.startswith("**") and cell.endswith("**"):
        return rf"\textbf{{{cell[2:-2].translate(_LATEX)}}}"
    return cell.translate(_LATEX)
