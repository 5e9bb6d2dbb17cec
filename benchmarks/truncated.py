"""Bounds that teach: runs of suites/truncated.toml beside the tables of the paper.

Núñez-Molina, Asai, Mesejo and Fernández-Olivares, "On Using Admissible Bounds for Learning Forward Search
Heuristics" (arXiv 2308.11905). N is a Gaussian, N+clip the same with values below the bound raised to it, TN
the truncated Gaussian; sigma is learned or fixed, and the output is added to ff or stands alone. Published
figures stand in brackets: those of nlm are Tables 1 and 2, those of hgn and linear come from the authors' own
records. Theirs are from 400 problems of all sizes and 40,000 to 100,000 updates, and half of their large
blocks-world problems may have been in the training, so read them as a scale and not as a contest.

python benchmarks/truncated.py RUN ... [--table accuracy] [--table helps] [--figures FOLDER]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product, zip_longest
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from records import finish, note, table

from hstar.errors import InputError
from hstar.experiments.report import read_runs
from hstar.experiments.statistics import (
    Record,
    Share,
    calibration_of,
    geometric,
    mean,
    of_step,
    searches_of,
    share_of,
    starts_of,
    whole_seeds,
)
from hstar.experiments.tables import number, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MODELS = ("wl", "linear", "nlm", "hgn")
SETTINGS = tuple(f"{sigma}/{base}" for sigma, base in product(("learned", "fixed"), ("ff", "none")))
# The estimates as the paper calls them, and how a contestant of the suite that has them is named.
ESTIMATES = {"N": "{} gaussian {}", "N+clip": "{} gaussian {} + clip", "TN": "{} truncated {}"}
# Names of tables, and of domains in their files.
DOMAINS = {"blocksworld": "blocksworld-4ops", "ferry": "ferry", "gripper": "gripper", "visitall": "visitall"}

# Mean squared errors on large problems: by model and domain N, N+clip and TN, in the order of SETTINGS.
PUBLISHED_ERRORS: dict[tuple[str, str], tuple[tuple[float, ...], ...]] = {
    ("nlm", "blocksworld"): ((0.76, 3.26, 0.83, 2.97), (0.76, 2.91, 0.83, 2.74), (0.65, 2.71, 0.66, 2.44)),
    ("nlm", "ferry"): (
        (3.73, 141.05, 2.98, 118.59),
        (3.72, 10.44, 2.98, 10.50),
        (3.45, 8.63, 3.85, 9.58),
    ),
    ("nlm", "gripper"): ((3.65, 68.12, 3.69, 68.22), (3.65, 13.37, 3.69, 13.38), (3.70, 5.65, 3.72, 11.97)),
    ("nlm", "visitall"): ((7.67, 25.31, 6.49, 21.71), (7.60, 18.79, 6.35, 16.38), (5.30, 9.70, 6.62, 14.11)),
    ("hgn", "blocksworld"): ((2.28, 2.33, 2.58, 5.15), (2.28, 2.31, 2.58, 3.74), (1.55, 3.86, 6.50, 1.75)),
    ("hgn", "ferry"): (
        (8.9e7, 4.9e7, 3.0e5, 4.2e6),
        (8.9e7, 4.9e7, 2.4e5, 4.2e6),
        (2.3e7, 5.2e7, 1.7e7, 2.7e7),
    ),
    ("hgn", "gripper"): ((1.11, 59.2, 3.72, 9.41), (1.05, 58.5, 3.49, 2.45), (1.50, 7.49, 4.36, 2.98)),
    ("hgn", "visitall"): ((4.03, 0.31, 4.29, 0.30), (3.83, 0.30, 3.97, 0.30), (3.55, 0.29, 4.07, 0.34)),
    ("linear", "blocksworld"): ((6.47, 6.33, 6.95, 6.92), (6.45, 6.31, 6.88, 6.84), (6.65, 6.82, 7.83, 7.80)),
    ("linear", "ferry"): ((1.25, 1.07, 1.04, 1.00), (1.25, 1.07, 1.03, 1.00), (3.13, 3.03, 8.47, 8.51)),
    ("linear", "gripper"): ((0.54, 0.55, 0.55, 0.54), (0.54, 0.55, 0.55, 0.54), (0.67, 0.66, 1.22, 1.12)),
    ("linear", "visitall"): ((6.62, 1.97, 6.46, 1.95), (6.58, 1.95, 6.39, 1.94), (4.96, 2.86, 6.37, 2.27)),
}
PUBLISHED_SYMBOLIC = {"blocksworld": (22.8, 25.06), "ferry": (9.77, 11.10), "gripper": (9.93, 15.82)}
PUBLISHED_SYMBOLIC |= {"visitall": (13.9, 36.4)}
# Solved problems in percent and evaluations, in the order of DOMAINS.
PUBLISHED_PLANS: dict[str, tuple[tuple[float, float], ...]] = {
    "ff": ((13, 9309), (82, 5152), (96, 3918), (86, 3321)),
    "nlm gaussian learned/ff": ((84, 2690), (91, 3216), (100, 1642), (97, 2156)),
    "nlm gaussian learned/ff + clip": ((85, 2681), (91, 3117), (100, 1643), (98, 2148)),
    "nlm truncated learned/ff": ((88, 2060), (98, 2477), (100, 1637), (98, 1683)),
    "nlm gaussian fixed/none": ((79, 4118), (1, 9933), (0, 10000), (82, 3384)),
    "nlm gaussian fixed/none + clip": ((50, 6268), (57, 6675), (92, 2941), (100, 591)),
    "nlm truncated fixed/none": ((55, 5903), (58, 6475), (100, 1709), (100, 612)),
}
LIMIT = 10_000  # what a failed search counts in the paper

Errors = dict[tuple[str, str], list[float]]
"""Mean squared errors by domain and contestant, one for each seed."""


def errors_of(rows: Sequence[Record]) -> Errors:
    """Those of the run."""
    found: Errors = {}
    for row in of_step(rows, "accuracy"):
        if row["status"] == "compared":
            found.setdefault((row["domain"], row["contestant"]), []).append(row["mse"])
    return found


def _with(ours: Share | None, published: float | None) -> str:
    text = "" if ours is None else share(ours, 2)
    return text if published is None or not text else f"{text} ({number(published, 2)})"


def accuracy(rows: Sequence[Record]) -> str:
    """Mean squared errors on large problems, ours and in brackets the published ones (Table 1)."""
    errors, lines = errors_of(rows), []
    for title, domain in DOMAINS.items():
        compared = [row for row in of_step(rows, "accuracy") if row["domain"] == domain]
        for name, published in zip(("ff", "lmcut"), PUBLISHED_SYMBOLIC[title], strict=True):
            if compared:
                value = _with(Share(compared[0][f"mse_{name}"]), published)
                lines.append([title, name, "", "", value, "", ""])
        for name, told in (("wl", "wl, by regression"), ("wl, plans only", "the same, plans only")):
            if plain := share_of(errors.get((domain, name), [])):
                lines.append([title, told, "", "", _with(plain, None), "", ""])
        for model, (place, (word, pattern)) in product(MODELS, enumerate(ESTIMATES.items())):
            ours = [
                share_of(errors.get((domain, pattern.format(model, setting)), [])) for setting in SETTINGS
            ]
            theirs = PUBLISHED_ERRORS[model, title][place] if model != "wl" else (None,) * len(SETTINGS)
            cells = [_with(*pair) for pair in zip(ours, theirs, strict=True)]
            if any(cells):
                lines.append([title, model, word, *cells])
    return table(["domain", "model", "estimate", *SETTINGS], lines, words=(0, 1, 2))


def helps(rows: Sequence[Record]) -> str:
    """Errors of TN as shares of those of N and N+clip: geometric means over domains; how often TN wins."""
    errors, lines = errors_of(rows), []
    for model in MODELS:
        for setting in SETTINGS:
            cells = []
            for rival in ("N", "N+clip"):
                ratios = []
                for domain in DOMAINS.values():
                    means = [
                        mean(errors.get((domain, ESTIMATES[word].format(model, setting)), []))
                        for word in ("TN", rival)
                    ]
                    if means[0] is not None and means[1]:
                        ratios.append(means[0] / means[1])
                if ratios:
                    wins = sum(ratio < 1 for ratio in ratios)
                    cells += [number(geometric(ratios, least=1e-9), 2), f"{wins} of {len(ratios)}"]
            if cells:
                lines.append([model, setting, *cells])
    header = ["model", "setting", "TN / N", "domains with TN better", "TN / N+clip", "domains with TN better"]
    return table(header, lines, words=(0, 1))


def plans(rows: Sequence[Record]) -> str:
    """Percent of large problems solved, and evaluations; in brackets the published ones (Table 2)."""
    searches: dict[str, dict[str, list[Record]]] = {}
    for row in searches_of(rows):
        searches.setdefault(row["contestant"], {}).setdefault(row["domain"], []).append(row)
    most = {
        domain: len(starts_of(row for found in searches.values() for row in found.get(domain, [])))
        for domain in DOMAINS.values()
    }
    lines, known = [], list(DOMAINS.values())
    models = ["ff", *MODELS]
    for name in sorted(searches, key=lambda name: models.index(_computed(name)[0])):
        found = searches[name]
        domains, cells = {domain: found[domain] for domain in known if domain in found}, []
        for place, domain in enumerate(known):
            solved, counts = [], []
            here = domains.get(domain, [])
            whole = whole_seeds(here, starts_of(here))  # some have fewer problems, and say so
            for runs in whole.rows.values():
                done = [row["status"] == "solved" for row in runs]
                solved.append(100 * sum(done) / len(runs))
                taken = [
                    row["evaluations"] if found else LIMIT for row, found in zip(runs, done, strict=True)
                ]
                counts.append(sum(taken) / len(runs))
            text = f"{share(share_of(solved), 0)} %, {share(share_of(counts), 0)}" if solved else ""
            text += "" if whole.note is None else f" ({whole.note})"
            if solved and name in PUBLISHED_PLANS:
                percent, evaluations = PUBLISHED_PLANS[name][place]
                text += f" ({percent:g} %, {evaluations:,g})"
            cells.append(text)
        counted = [(len(starts_of(runs)), most[domain]) for domain, runs in domains.items()]
        numbers = [str(own) if own == all_of else f"{own} of {all_of}" for own, all_of in counted]
        told = numbers[0] if len(set(numbers)) == 1 else " / ".join(numbers)
        lines.append([name, told, *cells])
    return table(["heuristic", "problems of a domain", *DOMAINS], lines)


def _computed(contestant: str) -> tuple[str, str]:
    """The model of a contestant, and the symbolic heuristics that are computed for each state with it."""
    symbolic = [name for name, ends in (("ff", ("/ff", "+ ff")), ("lmcut", ())) if contestant.endswith(ends)]
    if " truncated " in contestant or contestant.endswith("+ clip"):
        symbolic.append("lmcut")
        symbolic += ["ff"] if "/ff +" in contestant else []
    return contestant.split()[0].rstrip(","), " and ".join(sorted(set(symbolic)))


def times(rows: Sequence[Record]) -> str:
    """Seconds of a training, and evaluations a second of processor time, over all searches of a domain."""
    trained: dict[str, dict[str, list[float]]] = {}
    searched: dict[tuple[str, str], dict[str, list[Record]]] = {}
    for row in rows:
        model, symbolic = _computed(row["contestant"])
        if row["step"] == "train":
            trained.setdefault(model, {}).setdefault(row["domain"], []).append(row["cpu_seconds"])
        elif row["step"] == "search" and row.get("cpu_time"):
            searched.setdefault((model, symbolic), {}).setdefault(row["domain"], []).append(row)
    lines = []
    for model, domains in trained.items():
        cells = [mean(domains.get(domain, [])) for domain in DOMAINS.values()]
        lines.append([model, "training, s", *("" if cell is None else number(cell) for cell in cells)])
    for (model, symbolic), runs in searched.items():
        name = f"{model} with {symbolic}" if symbolic else model
        rates = [_rate(runs.get(domain, [])) for domain in DOMAINS.values()]
        lines.append([name, "evaluations/s", *rates])
    return table(["model", "", *DOMAINS], lines, words=(0, 1))


def _rate(runs: Sequence[Record]) -> str:
    seconds = sum(row["cpu_time"] for row in runs)
    return number(sum(row["evaluations"] for row in runs) / seconds) if seconds else ""


def training_curves(axes: Axes, rows: Sequence[Record], domain: str) -> None:
    """Errors of nlm on held-out states by epoch, the mean over seeds (Figure 2)."""
    for colour, setting in zip(("C0", "C1", "C2", "C3"), SETTINGS, strict=True):
        for word, stroke in (("N", ":"), ("TN", "-")):
            name = ESTIMATES[word].format("nlm", setting)
            curves = [
                [point[2] for point in row["curve"]]
                for row in of_step(rows, "train")
                if (row["domain"], row["contestant"]) == (domain, name) and row.get("curve")
            ]
            means = [fmean(value for value in values if value is not None) for values in zip_longest(*curves)]
            axes.plot(
                range(1, len(means) + 1), means, stroke, color=colour, linewidth=1, label=f"{word}, {setting}"
            )
    axes.set(yscale="log", xlabel="epoch", ylabel="squared error, held out")


def calibration_curves(axes: Axes, rows: Sequence[Record], domain: str) -> None:
    """Shares of distances up to each quantile, on large problems; a right belief is on the diagonal."""
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    for colour, model in zip(("C0", "C1", "C2", "C3"), MODELS, strict=True):
        for word, stroke in (("N", ":"), ("TN", "-")):
            name = ESTIMATES[word].format(model, "learned/ff")
            here = [
                row
                for row in of_step(rows, "accuracy")
                if (row["domain"], row["contestant"]) == (domain, name)
            ]
            if points := calibration_of(here):
                levels, shares = zip(*points, strict=True)
                axes.plot(levels, shares, stroke, color=colour, linewidth=1, label=f"{model}, {word}")
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="level of the quantile", ylabel="share of distances up to it")
    axes.set_aspect("equal")


FIGURES = {"truncated_training": training_curves, "truncated_calibration": calibration_curves}


def draw(rows: Sequence[Record], folder: Path) -> None:
    """Each figure with a panel for each domain, as SVG."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "hstar", "svg.fonttype": "none"})
    folder.mkdir(parents=True, exist_ok=True)
    for name, curves in FIGURES.items():
        figure, panels = plt.subplots(1, len(DOMAINS), figsize=(13, 3.6), layout="constrained")
        for axes, (title, domain) in zip(panels, DOMAINS.items(), strict=True):
            curves(axes, rows, domain)
            axes.set_title(title, fontsize=9)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", fontsize=7)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        plt.close(figure)
        note(str(folder / f"{name}.svg"))


TABLES = {"accuracy": accuracy, "helps": helps, "plans": plans, "times": times}


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Runs of suites/truncated.toml beside the paper.")
    parser.add_argument("runs", type=Path, nargs="+", help="folders of results")
    parser.add_argument("--table", choices=list(TABLES), action="append", help="only this one; repeatable")
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="also draw curves as SVG here")
    options = parser.parse_args(words)
    rows = [row for run in read_runs(options.runs) for row in run.rows]
    found = {name: TABLES[name](rows) for name in options.table or TABLES}
    if missing := [name for name in options.table or () if not found[name]]:
        raise InputError(f"nothing for the table {missing[0]}", file=options.runs[0])
    print("\n\n".join(text for text in found.values() if text))
    if options.figures is not None:
        draw(rows, options.figures)
    return 0


if __name__ == "__main__":
    finish(main)
