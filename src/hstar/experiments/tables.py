"""Tables of a run: coverage by instance and domain, effort, costs against optima, accuracy, what changed.

A table is rows of text under a header; it is written as markdown or LaTeX. A cell is the mean over seeds ±
their standard deviation and, from three seeds on, [the 95 % interval of the mean]. Seeds of which rows are
missing do not count, and the cell says how many do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hstar.experiments.job import FAIR_SHARE, starved
from hstar.experiments.statistics import (
    Change,
    Record,
    Share,
    compare_all,
    coverage_of,
    geometric,
    grouped,
    instances_by_domain,
    log_ratios,
    mean,
    missing_optimality,
    of_step,
    optimality_of,
    rate,
    searches_of,
    share_of,
    solved_by_all,
    starts_of,
    whole_seeds,
)

Table = list[list[str]]

UNKNOWN = "–"
Limits = tuple[float, float]
ANY: Limits = (-math.inf, math.inf)
POSITIVE: Limits = (0.0, math.inf)
PERCENT: Limits = (0.0, 100.0)
_LISTED = 20  # starts named of those gained or lost
_INSTANCES = 12  # of a domain that have a line of their own
_COLUMNS = 10  # beyond, contestants have lines instead
_SYMBOLIC = ("ff", "lmcut")
_TITLES = {"search_time": "search time", "cost": "plan cost"}


def coverage_table(rows: Sequence[Record]) -> Table:
    """Percent of starts solved, by instance, domain and overall, and how many jobs ended in errors."""
    searches = searches_of(rows)
    runs, domains, wanted = _runs(searches), instances_by_domain(searches), starts_of(searches)
    trained = of_step(rows, "train")
    errors = Counter(row["contestant"] for row in (*trained, *searches) if row["status"] == "error")
    # A model that was only trained, for an accuracy or under the name of a plan, has no column. One whose
    # training failed has: nothing could be searched with it.
    names = [name for name in _runs([*trained, *searches]) if name in runs or name in errors]
    table = [["", *names]]

    def add(title: str, places: Mapping[str, Sequence[str]]) -> None:
        found = (coverage_of(runs.get(name, []), places, wanted) for name in names)
        table.append([title, *(share(mean, note=note, within=PERCENT) for mean, note in found)])

    for domain, instances in domains.items():
        listed = len(instances) <= _INSTANCES
        for instance in instances if listed else ():
            add(instance, {domain: [instance]})
        if len(instances) > 1:
            add(f"{domain}, mean" if listed else f"{domain}, mean of {len(instances)}", {domain: instances})
    if len(domains) > 1:
        add("**mean over domains**", domains)
    if errors:
        table.append(["jobs that ended in an error", *(str(errors[name]) for name in names)])
    return table


def effort_table(rows: Sequence[Record]) -> Table:
    """What searches and trainings took: on starts that all solved, and where these are few on those of pairs.

    A contestant that solved nothing has no figure, and does not take the others' from them.
    """
    searches, trainings = searches_of(rows), of_step(rows, "train")
    runs, trained = _runs(searches), _runs(trainings)
    names = list({**trained, **runs})
    able = [name for name, own in runs.items() if any(row["status"] == "solved" for row in own)]
    common = solved_by_all(searches, able) if able else set()
    shared = {
        name: [row for row in own if name in able and (row["instance"], row["start"]) in common]
        for name, own in runs.items()
    }
    who = "all" if len(able) == len(runs) else "all that solve any"
    table = [["", *names]]

    def add(title: str, figure: Callable[[str], float | None]) -> None:
        table.append([title, *(number(figure(name)) for name in names)])

    if common:
        add(
            f"expansions, geometric mean ({len(common)} starts solved by {who})",
            lambda name: geometric(row["expansions"] for row in shared.get(name, ())),
        )
        add(
            "plan length, mean (same starts)",
            lambda name: mean(row["plan_length"] for row in shared.get(name, ())),
        )
    table += _pairwise(runs, names, able, len(common))
    add("evaluations per second, geometric mean", lambda name: rate(runs.get(name, [])))
    if trainings:
        add("training, mean seconds", lambda name: mean(run["seconds"] for run in trained.get(name, ())))
    return table


def _pairwise(
    runs: Mapping[str, Sequence[Record]], names: Sequence[str], able: Sequence[str], common: int
) -> Table:
    """Each contestant beside the one that solves most, if what all solve is less than half of that."""
    solved = {name: len(solved_by_all(runs[name], [name])) for name in able}
    best = max(able, key=lambda name: solved[name], default=None)
    if best is None or 2 * common >= solved[best]:
        return []
    table: Table = []
    for metric, word in (("expansions", "expansions"), ("plan_length", "plan length")):
        cells = []
        for name in names:
            logs = log_ratios(runs.get(name, []), runs[best], metric)
            ratio = number(math.exp(sum(logs) / len(logs)), 2) if logs else UNKNOWN
            cells.append(f"{ratio} ({len(logs):,})" if logs else ratio)
        table.append([f"{word} / that of {best}, geometric mean (starts that both solved)", *cells])
    return table


def _counted(row: Record) -> bool:
    """Whether a search has a number of evaluations that says something: not one cut short by the clock."""
    return row["status"] in ("solved", "evaluation_limit") and row.get("evaluations") is not None


def evaluations_table(rows: Sequence[Record]) -> Table:
    """Mean evaluations by domain; a search that used up its evaluations counts with all of them.

    Where the clock ended a search its evaluations are not known, and its seed has no mean.
    """
    searches = searches_of(rows)
    names = list(_runs(searches))
    table = [["", *names]]
    for domain, here in grouped(searches, "domain").items():
        wanted, runs, cells = starts_of(here), _runs(here), []
        for name in names:
            own = runs.get(name, [])
            found = whole_seeds([row for row in own if _counted(row)], wanted)
            begun = {row["seed"] for row in own}
            found = replace(found, begun=len(begun))
            means = [sum(row["evaluations"] for row in one) / len(one) for one in found.rows.values()]
            cells.append(share(share_of(means), note=found.note if begun else None, within=POSITIVE))
        table.append([domain, *cells])
    return table


_OPTIMALITY: dict[str, tuple[str, Limits, int]] = {
    "solved": ("solved (%)", PERCENT, 1),
    "expanded": ("expanded, mean", POSITIVE, 1),
    "generated": ("generated, mean", POSITIVE, 1),
    "reopened": ("re-opened, mean", POSITIVE, 1),
    "seconds": ("seconds, mean", POSITIVE, 3),
    "suboptimality": ("suboptimality of solved (%)", POSITIVE, 2),
    "optimal": ("optimal (%)", PERCENT, 1),
}


def optimality_table(rows: Sequence[Record]) -> Table:
    """How far plans are from known optimal costs, and what searches took: `Optimality` says of which.

    The greatest cost, as a share of the proven bound, is that of all seeds; 1 is just within it. Columns that
    nobody has figures for are left out.
    """
    header = [title for title, _, _ in _OPTIMALITY.values()]
    table = [["", "", *header, "greatest cost / bound", "searches"]]
    missing = missing_optimality(rows)
    for place, seeds in optimality_of(rows).items():
        cells = []
        for name, (_, within, digits) in _OPTIMALITY.items():
            known = [value for one in seeds if (value := getattr(one, name)) is not None]
            note = missing.get(place) if name == "solved" else None
            cells.append(share(share_of(known), digits, note=note, within=within))
        greatest = max((one.greatest for one in seeds if one.greatest is not None), default=None)
        table.append([*place, *cells, number(greatest, 3), number(sum(one.searches for one in seeds))])
    empty = {i for i in range(3, len(table[0])) if all(line[i] == UNKNOWN for line in table[1:])}
    return [[cell for i, cell in enumerate(line) if i not in empty] for line in table]


def accuracy_table(rows: Sequence[Record]) -> Table:
    """Mean squared errors by domain and data, the mean over seeds; first those of symbolic heuristics."""
    found, begun = _compared(rows), _runs(of_step(rows, "accuracy"))
    names = list(_runs(found))
    table = [["", "states", *_SYMBOLIC, *names]]
    for place, here in grouped(found, "instance").items():
        symbolic = [number(here[0].get(f"mse_{name}"), 2) for name in _SYMBOLIC]
        runs, cells = _runs(here), []
        for name in names:
            own = runs.get(name, [])
            note = _missing_seeds(own, begun[name]) or _other_states(own, here[0]["states"])
            cells.append(share(share_of([row["mse"] for row in own]), 2, note=note, within=POSITIVE))
        table.append([place, number(here[0]["states"]), *symbolic, *cells])
    return table


def _missing_seeds(own: Sequence[Record], begun: Sequence[Record]) -> str | None:
    """`begun` are the rows of a contestant that were compared, or were to be, with any data."""
    there, wanted = (len({row["seed"] for row in rows}) for rows in (own, begun))
    return f"{there} of {wanted} seeds" if 0 < there < wanted else None


def _other_states(own: Sequence[Record], states: int) -> str | None:
    others = {row["states"] for row in own} - {states}
    return f"{' and '.join(number(other) for other in sorted(others))} states" if others else None


def calibration_table(rows: Sequence[Record]) -> Table:
    """Of estimates with a spread: how wide they are, how likely h* is, and how far shares are from levels."""
    table = [["", "", "mean spread", "negative log-likelihood", "greatest error of calibration"]]
    spread = [row for row in _compared(rows) if row.get("sigma") is not None]
    begun = _runs(of_step(rows, "accuracy"))
    for place, runs in grouped(spread, "instance", "contestant").items():
        figures = [[row[name] for row in runs] for name in ("sigma", "nll", "calibration_error")]
        cells = [share(share_of(values), digits=2) for values in figures]
        if note := _missing_seeds(runs, begun[place[1]]):
            cells[0] += f" ({note})"
        table.append([*place, *cells])
    return table


def _compared(rows: Sequence[Record]) -> list[Record]:
    return [row for row in of_step(rows, "accuracy") if row["status"] == "compared"]


def label_table(rows: Sequence[Record]) -> Table:
    """Samples of states by instance: how many, how quickly, and how far their labels are from h* if known."""
    table = [["", "", "states", "seconds", "mean error", "exact labels (%)"]]
    sampled = [row for row in of_step(rows, "sample") if row["status"] == "sampled"]
    for place, runs in grouped(sampled, "instance", "contestant").items():
        known = [row for row in runs if row.get("label_error") is not None]
        times = share(share_of([row["sampling_time"] for row in runs]), digits=2)
        errors = share(share_of([row["label_error"] for row in known]), digits=2)
        exact = share(share_of([100 * row["exact_labels"] for row in known]))
        table.append([*place, number(mean(row["distinct"] for row in runs)), times, errors, exact])
    return table


def labelling_table(rows: Sequence[Record]) -> Table:
    """Problems solved optimally, by domain: how many there are, how many have a label, and their states."""
    table = [["domain", "data", "problems", "labelled", "states", "mean seconds"]]
    for place, runs in grouped(of_step(rows, "label"), "domain", "contestant").items():
        states = [row.get("states") or 0 for row in runs]
        counts = (len(runs), sum(count > 0 for count in states), sum(states))
        table.append([*place, *map(number, counts), number(mean(row["seconds"] for row in runs))])
    return table


def _runs(rows: Iterable[Record]) -> dict[str, list[Record]]:
    return grouped(rows, "contestant")


def pair_table(rows: Sequence[Record]) -> Table:
    """Every two contestants: starts won and lost in coverage and expansions, with the sign test."""
    table = [["", "", "coverage: better/worse", "p", "expansions: fewer/more", "p"]]
    for (one, two), (solved, expansions, *_) in compare_all(_runs(searches_of(rows))).items():
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


# --- all of them ----------------------------------------------------------------------------------------


class Titled(NamedTuple):
    """A table with its name, its title, and how many of its columns from the left are names."""

    name: str
    title: str
    table: Table
    left: int = 1


_LIMITED = "Evaluations (mean over all problems, unsolved ones at their limit)"
_TABLES: dict[str, tuple[str, Callable[[Sequence[Record]], Table], int]] = {
    "coverage": ("Coverage (%)", coverage_table, 1),
    "effort": ("Effort", effort_table, 1),
    "evaluations": (_LIMITED, evaluations_table, 1),
    "optimality": ("Optimality", optimality_table, 2),
    "accuracy": ("Accuracy (mean squared error)", accuracy_table, 1),
    "calibration": ("Calibration", calibration_table, 2),
    "states": ("Labelled states", label_table, 2),
    "problems": ("Labelled problems", labelling_table, 2),
}
TABLES = tuple(_TABLES)


def tables_of(rows: Sequence[Record], chosen: Collection[str] = TABLES) -> Iterator[Titled]:
    """Of the tables with these names those that there are rows for."""
    statuses = {row["status"] for row in searches_of(rows)}
    empty = {"effort": not statuses, "evaluations": "evaluation_limit" not in statuses}
    for name, (title, build, left) in _TABLES.items():
        table = build(rows) if name in chosen and not empty.get(name) else []
        if len(table) > 1:
            if left == 1 and len(table[0]) > max(_COLUMNS, len(table)):
                table = [list(line) for line in zip(*table, strict=True)]
            yield Titled(name, title, table, left)


def summarise(rows: Sequence[Record], chosen: Collection[str] = TABLES) -> str:
    """All tables, or those chosen, and the errors, as markdown."""
    parts = []
    for _, title, table, left in tables_of(rows, chosen):
        parts += [f"## {title}\n", markdown(table, left)]
    if busy := sum(starved(row, row.get("seconds", 0.0)) for row in rows):
        share = f"{FAIR_SHARE:.0%}".replace("%", " %")
        parts += [f"{busy} of {len(rows)} runs reached their time limit on less than {share} of a core.\n"]
    if errors := [row for row in rows if row["status"] == "error"]:
        parts.append("## Errors\n")
        for row in errors:
            where = f"{row['instance']} {row.get('start', row['step'])}, {row['contestant']}"
            parts.append(f"- {where}: {row.get('error', 'no message')}")
        parts.append("")
    return "\n".join(parts) if parts else "Nothing has been searched.\n"


# --- cells ----------------------------------------------------------------------------------------------


def number(value: float | None, digits: int = 1) -> str:
    """A figure to read: with decimals, thousands with commas and without."""
    if value is None:
        return UNKNOWN
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}f}".removesuffix("." + digits * "0")


def share(value: Share | None, digits: int = 1, *, note: str | None = None, within: Limits = ANY) -> str:
    """A mean with its standard deviation and 95 % interval, if it has them, and what is missing.

    `within`: what the figure can be, so that no interval goes beyond.
    """
    if value is None:
        return note or UNKNOWN
    text = number(value.mean, digits)
    if value.spread is not None:
        text += f" ± {number(value.spread, digits)}"
    if (interval := value.interval) is not None:
        low, high = max(interval[0], within[0]), min(interval[1], within[1])
        text += f" [{number(low, digits)}, {number(high, digits)}]"
    return text if note is None else f"{text} ({note})"


def probability(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


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

    def latex_line(cells: Sequence[str]) -> str:
        return " & ".join(map(_latex_cell, cells)) + r" \\"

    lines = [
        rf"\begin{{tabular}}{{{'l' * left}{'r' * (len(header) - left)}}}",
        r"\toprule",
        latex_line(header),
        r"\midrule",
        *map(latex_line, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


_LATEX = str.maketrans(
    {char: rf"\{char}" for char in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"}
    | {"–": "--", "<": "$<$", ">": "$>$"}
)


def _latex_cell(cell: str) -> str:
    if cell.startswith("**") and cell.endswith("**"):
        return rf"\textbf{{{cell[2:-2].translate(_LATEX)}}}"
    return cell.translate(_LATEX)
