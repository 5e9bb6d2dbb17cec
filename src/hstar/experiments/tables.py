"""Tables of a run: coverage by instance and domain, effort, costs against optima, accuracy, what changed.

A table is rows of text under a header; it is written as markdown or LaTeX. A cell is the mean over seeds ±
their standard deviation and, from three seeds on, [the 95 % interval of the mean]. Seeds of which rows are
missing do not count, and the cell says how many do.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hstar.experiments.job import FAIR_SHARE, starved
from hstar.experiments.statistics import (
    Change,
    Coverage,
    Share,
    by_contestant,
    compare_all,
    comparisons_of,
    contestants_of,
    geometric,
    instances_by_domain,
    labellings_of,
    mean,
    missing_optimality,
    optimality_of,
    rate,
    ratio_to,
    samples_of,
    searches_of,
    share_of,
    solved_by_all,
    trainings_of,
)
from hstar.experiments.whole_seeds import Record, starts_of, whole_seeds

Table = list[list[str]]

UNKNOWN = "–"
Limits = tuple[float, float]
ANY: Limits = (-math.inf, math.inf)
POSITIVE: Limits = (0.0, math.inf)
PERCENT: Limits = (0.0, 100.0)
_LISTED = 20  # starts named of those gained or lost
_INSTANCES = 12  # of a domain that have a line of their own
_COLUMNS = 10  # beyond, contestants have lines instead
TABLES = (
    *("coverage", "effort", "evaluations", "optimality", "accuracy", "calibration", "states", "problems"),
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
    if "optimality" in chosen and len(optimal := optimality_table(rows)) > 1:
        yield Titled("optimality", "Optimality", optimal, 2)
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
    wanted = starts_of(searches)
    of = {name: Coverage(runs.get(name, []), wanted).of for name in names}
    table = [["", *names]]
    for domain, instances in domains.items():
        listed = len(instances) <= _INSTANCES
        for instance in instances if listed else ():
            table.append([instance, *(percent(*of[name]({domain: [instance]})) for name in names)])
        if len(instances) > 1:
            title = f"{domain}, mean" if listed else f"{domain}, mean of {len(instances)}"
            table.append([title, *(percent(*of[name]({domain: instances})) for name in names)])
    if len(domains) > 1:
        table.append(["**mean over domains**", *(percent(*of[name](domains)) for name in names)])
    return table


def effort_table(rows: Sequence[Record]) -> Table:
    """What searches and trainings took: on starts that all solved, and where these are few on those of pairs.

    A contestant that solved nothing has no figure, and does not take the others' from them.
    """
    searches, trainings = searches_of(rows), trainings_of(rows)
    names = contestants_of([*trainings, *searches])
    runs = by_contestant(searches)
    solved = {name: sum(row["status"] == "solved" for row in own) for name, own in runs.items()}
    able = [name for name, number_solved in solved.items() if number_solved]
    common = solved_by_all(searches, able) if able else set()
    shared = {
        name: [row for row in runs.get(name, []) if (row["instance"], row["start"]) in common]
        if name in able
        else []
        for name in names
    }
    who = "all" if len(able) == len(runs) else "all that solve any"
    title = f"expansions, geometric mean ({len(common)} starts solved by {who})"
    table = [["", *names]]
    if common:
        table += [
            [title, *(number(geometric(row["expansions"] for row in shared[name])) for name in names)],
            ["plan length, mean (same starts)"]
            + [number(mean(row["plan_length"] for row in shared[name])) for name in names],
        ]
    table += _pairwise(runs, names, able, len(common))
    rates = (number(rate(runs.get(name, []))) for name in names)
    table.append(["evaluations per second, geometric mean", *rates])
    if trainings:
        times = (mean(run["seconds"] for run in trainings if run["contestant"] == name) for name in names)
        table.append(["training, mean seconds", *map(number, times)])
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
            found = ratio_to(runs.get(name, []), runs[best], metric)
            cells.append(UNKNOWN if found is None else f"{number(found[0], 2)} ({number(found[1])})")
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
    names, runs = contestants_of(searches), by_contestant(searches)
    table = [["", *names]]
    for domain in instances_by_domain(searches):
        wanted = starts_of(row for row in searches if row["domain"] == domain)
        cells = []
        for name in names:
            here = [row for row in runs[name] if row["domain"] == domain]
            found = whole_seeds([row for row in here if _counted(row)], wanted)
            begun = {row["seed"] for row in here}
            found = replace(found, begun=len(begun))
            means = [sum(row["evaluations"] for row in own) / len(own) for own in found.rows.values()]
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
    found = _compared(rows)
    names, begun = contestants_of(found), _seeds_begun(rows)
    table = [["", "states", *_SYMBOLIC, *names]]
    for place in dict.fromkeys(row["instance"] for row in found):
        here = [row for row in found if row["instance"] == place]
        symbolic = [number(here[0].get(f"mse_{name}"), 2) for name in _SYMBOLIC]
        cells = []
        for name in names:
            own = [row for row in here if row["contestant"] == name]
            note = _missing_seeds(own, begun[name]) or _other_states(own, here[0]["states"])
            cells.append(share(share_of([row["mse"] for row in own]), 2, note=note, within=POSITIVE))
        table.append([place, number(here[0]["states"]), *symbolic, *cells])
    return table


def _seeds_begun(rows: Sequence[Record]) -> dict[str, set[int]]:
    """By contestant the seeds that were compared, or were to be, with any data."""
    found: dict[str, set[int]] = {}
    for row in comparisons_of(rows):
        found.setdefault(row["contestant"], set()).add(row["seed"])
    return found


def _missing_seeds(own: Sequence[Record], begun: Collection[int]) -> str | None:
    there = {row["seed"] for row in own}
    return f"{len(there)} of {len(begun)} seeds" if there and len(there) < len(begun) else None


def _other_states(own: Sequence[Record], states: int) -> str | None:
    """Data that grew between two comparisons."""
    others = {row["states"] for row in own} - {states}
    return f"{' and '.join(number(other) for other in sorted(others))} states" if others else None


def calibration_table(rows: Sequence[Record]) -> Table:
    """Of estimates with a spread: how wide they are, how likely h* is, and how far shares are from levels."""
    table = [["", "", "mean spread", "negative log-likelihood", "greatest error of calibration"]]
    groups: dict[tuple[str, str], list[Record]] = {}
    for row in _compared(rows):
        if row.get("sigma") is not None:
            groups.setdefault((row["instance"], row["contestant"]), []).append(row)
    begun = _seeds_begun(rows)
    for place, runs in groups.items():
        figures = [[row[name] for row in runs] for name in ("sigma", "nll", "calibration_error")]
        cells = [share(share_of(values), 2) for values in figures]
        if note := _missing_seeds(runs, begun[place[1]]):
            cells[0] += f" ({note})"
        table.append([*place, *cells])
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


def percent(value: Share | None, note: str | None = None) -> str:
    """A mean of percents."""
    return share(value, note=note, within=PERCENT)


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
